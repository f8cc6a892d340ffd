package kernel

// The tree of a run queue's tasks, without the one that runs. It is ordered by what its policy
// chooses by, virtual time or deadline, and by the tasks' numbers where that is equal. Each
// subtree knows its least virtual time, so that the first of those tasks that are eligible is
// found on one way down.
//
// It is a treap: in the order of its keys from left to right, and in that of the
// tasks' hashed numbers from top to bottom. That keeps it as flat as a random tree without
// any state of its own, and its shape, like its contents, does not depend on the order
// in which tasks came. The links are numbers of tasks and live in the tasks: nothing is
// allocated. Whoever changes a task's key takes it out first.

// A treeNode is a task's place in the tree.
type treeNode struct {
	lo, hi int32 // the subtrees before and after it; noTask: none
	least  int64 // virtual time in the subtree
}

// rank is a task's place from top to bottom: the finalizer of MurmurHash3, under which no
// two numbers have the same.
func rank(t int32) uint32 {
	x := uint32(t)
	x = (x ^ x>>16) * 0x85ebca6b
	x = (x ^ x>>13) * 0xc2b2ae35
	return x ^ x>>16
}

func (k *Kernel) key(t int32) int64 {
	if k.ext != nil {
		return k.tasks[t].ext.key
	}
	if k.base.Policy == CFS {
		return k.tasks[t].v
	}
	return k.tasks[t].deadline
}

// before tells whether task a comes before task b.
func (k *Kernel) before(a, b int32) bool {
	ka, kb := k.key(a), k.key(b)
	if ka == kb && k.ext != nil {
		return k.tasks[a].ext.order < k.tasks[b].ext.order
	}
	return ka < kb || ka == kb && a < b
}

// sum brings up to date what root knows of its subtree.
func (k *Kernel) sum(root int32) {
	e := &k.tasks[root].fairEntity
	e.least = e.v
	if e.lo != noTask {
		e.least = min(e.least, k.tasks[e.lo].least)
	}
	if e.hi != noTask {
		e.least = min(e.least, k.tasks[e.hi].least)
	}
}

// insert puts task t into a tree and returns its new root.
func (k *Kernel) insert(root, t int32) int32 {
	if root == noTask || rank(t) < rank(root) {
		e := &k.tasks[t].fairEntity
		e.lo, e.hi = k.split(root, t)
		k.sum(t)
		return t
	}
	e := &k.tasks[root].fairEntity
	if k.before(t, root) {
		e.lo = k.insert(e.lo, t)
	} else {
		e.hi = k.insert(e.hi, t)
	}
	e.least = min(e.least, k.tasks[t].v)
	return root
}

// split takes a tree apart into what is before task t and what is after it.
func (k *Kernel) split(root, t int32) (left, right int32) {
	if root == noTask {
		return noTask, noTask
	}
	e := &k.tasks[root].fairEntity
	if k.before(root, t) {
		left = root
		e.hi, right = k.split(e.hi, t)
	} else {
		right = root
		left, e.lo = k.split(e.lo, t)
	}
	k.sum(root)
	return left, right
}

// remove takes task t out of the tree that it is in and returns its new root.
func (k *Kernel) remove(root, t int32) int32 {
	e := &k.tasks[root].fairEntity
	switch {
	case root == t:
		return k.join(e.lo, e.hi)
	case k.before(t, root):
		e.lo = k.remove(e.lo, t)
	default:
		e.hi = k.remove(e.hi, t)
	}
	k.sum(root)
	return root
}

// join makes one tree of two, of which the left one comes before the right one.
func (k *Kernel) join(left, right int32) int32 {
	if left == noTask {
		return right
	}
	if right == noTask {
		return left
	}
	root := left
	if rank(left) < rank(right) {
		e := &k.tasks[left].fairEntity
		e.hi = k.join(e.hi, right)
	} else {
		root = right
		e := &k.tasks[right].fairEntity
		e.lo = k.join(left, e.lo)
	}
	k.sum(root)
	return root
}

// earliest returns the first task of a tree with a virtual time of at most limit; noTask:
// there is none.
func (k *Kernel) earliest(root int32, limit int64) int32 {
	if root == noTask || k.tasks[root].least > limit {
		return noTask
	}
	for {
		e := &k.tasks[root].fairEntity
		switch {
		case e.lo != noTask && k.tasks[e.lo].least <= limit:
			root = e.lo
		case e.v <= limit:
			return root
		default:
			root = e.hi // where the least one is
		}
	}
}
