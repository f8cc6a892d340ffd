package kernel

import "schedlab/core/sim"

// Dispatch queues hold the runnable tasks of the ext class that do not run. Each CPU runs
// tasks from its local queue alone; a CPU that runs out of them looks into the global queue and then asks the
// scheduler, which moves tasks over from its own queues. Those are first in, first out, or in the order
// of a virtual time that the scheduler gives.

// A dsq is a dispatch queue: a tree of tasks in the order in which they leave.
type dsq struct {
	root  int32 // noTask: it is empty
	n     int
	front int64 // key of the next task that comes to the head of a queue without virtual times
	back  int64 // and of the one that comes to its end
	timed bool  // ordered by virtual time
	lock  lock  // of a local queue unused: that of the run queue stands for it
}

// inNoDSQ is where a task is that is in no dispatch queue.
const inNoDSQ DSQ = -1 << 31

func (k *Kernel) newDSQ(home int) dsq {
	return dsq{root: noTask, lock: lock{holder: -1, line: k.newLine(home)}}
}

// An extEntity is a task's part in the ext class.
type extEntity struct {
	slice sim.Time // for how long it may still run
	vtime int64    // its scheduler's
	since sim.Time // up to where its run time is taken off the slice

	// Its place: in a queue, or with the scheduler, which got it by Enqueue.
	in    DSQ
	key   int64 // within the queue, with order where keys are equal
	order int64
	with  bool

	// What the callback that is under way wants with it.
	to        DSQ
	toTimed   bool
	toFlags   EnqFlags
	enabled   bool
	waitSince sim.Time // since when it has been runnable and has not run
}

// queue returns the dispatch queue d, where DSQLocal is that of c; nil: there is none.
func (x *Ext) queue(d DSQ, c *cpu) *dsq {
	switch {
	case d == DSQGlobal:
		return &x.global
	case d == DSQLocal:
		return &c.rq.local
	case d <= LocalOn(0):
		if cpu := int(LocalOn(0) - d); cpu < len(x.k.cpus) {
			return &x.k.cpus[cpu].rq.local
		}
	case d >= 0 && int(d) < len(x.queues):
		return &x.queues[d]
	}
	return nil
}

// put puts task t into queue d, which is q, for CPU by.
func (x *Ext) put(by *cpu, q *dsq, d DSQ, t int32, f EnqFlags) {
	k := x.k
	e := &k.tasks[t].ext
	if local := d <= LocalOn(0); local {
		k.pay(by, TimeExt, CostExtQueue)
	} else {
		k.lockFor(by, &q.lock, TimeExt)
		k.pay(by, TimeExt, CostExtQueue)
		q.lock.heldUntil(by)
	}
	switch {
	case e.toTimed:
		e.key, q.timed = e.vtime, true
	case f&(EnqHead|EnqPreempt) != 0:
		q.front--
		e.key = q.front
	default:
		e.key = q.back
		q.back++
	}
	x.order++
	e.order, e.in, e.with = x.order, d, false
	q.root = k.insert(q.root, t)
	q.n++
}

// take takes task t out of the queue that it is in.
func (x *Ext) take(t int32) {
	e := &x.k.tasks[t].ext
	q := x.queue(e.in, nil)
	q.root = x.k.remove(q.root, t)
	e.in = inNoDSQ
	if q.n--; q.n == 0 {
		q.timed, q.front, q.back = false, 0, 0
	}
}

// firstFor returns the first task of a queue's tree that may run on c; noTask: there is none.
func (x *Ext) firstFor(c *cpu, root int32) int32 {
	if root == noTask {
		return noTask
	}
	e := &x.k.tasks[root].fairEntity
	if t := x.firstFor(c, e.lo); t != noTask {
		return t
	}
	if x.k.movable(root, c) {
		return root
	}
	return x.firstFor(c, e.hi)
}

// movable tells whether the queued task t may come to run on c.
func (k *Kernel) movable(t int32, c *cpu) bool {
	tk := &k.tasks[t]
	return tk.cpu == c.id || tk.allows(c.id) && !(tk.holds && k.rt())
}

// first returns the first task of a queue.
func (x *Ext) first(q *dsq) int32 {
	t := q.root
	for t != noTask && x.k.tasks[t].lo != noTask {
		t = x.k.tasks[t].lo
	}
	return t
}

// consume moves the first task of queue d that may run on c to its local queue, and tells
// whether there was one. c holds its run queue's lock, which it lets go while it moves a task from
// another one.
func (x *Ext) consume(c *cpu, d DSQ) bool {
	k := x.k
	q := x.queue(d, c)
	if q.n == 0 {
		k.charge(c, TimeExt, k.read(&q.lock.line, c.id)) // it looks before it takes the lock
		return false
	}
	k.lockFor(c, &q.lock, TimeExt)
	k.pay(c, TimeExt, CostExtQueue)
	t := x.firstFor(c, q.root)
	if t != noTask {
		x.take(t)
	}
	q.lock.heldUntil(c)
	if t == noTask {
		return false
	}
	x.moveTo(c, c, t, 0)
	return true
}

// moveTo puts task t, which is in no queue, into the local queue of dst for CPU by, which
// dispatches. A task of another run queue changes over first: that run queue's clock is updated, and, since no lock is
// unpinned on the way, stays valid there.
func (x *Ext) moveTo(by, dst *cpu, t int32, f EnqFlags) {
	k := x.k
	tk := &k.tasks[t]
	if src := &k.cpus[tk.cpu]; src != dst {
		k.count(ExtMoves)
		k.count(Migrations)
		if src != by {
			k.lockFor(by, &src.rq.lock, TimeExt)
		}
		k.updateRQClock(by, src)
		k.pay(by, TimeExt, CostDequeue)
		k.account(src, func() { k.listRemove(&src.rq.runnable, t) })
		k.writeState(by, src, TimeExt)
		if src != by {
			src.rq.lock.heldUntil(by)
		}
		if dst != by {
			k.lockFor(by, &dst.rq.lock, TimeExt)
		}
		k.updateRQClock(by, dst)
		k.pay(by, TimeExt, CostEnqueue)
		tk.cpu = dst.id
		k.account(dst, func() { k.listAdd(&dst.rq.runnable, t) })
		k.writeState(by, dst, TimeExt)
		if dst != by {
			dst.rq.lock.heldUntil(by)
		}
	}
	tk.ext.toTimed = false
	x.put(by, &dst.rq.local, LocalOn(int(dst.id)), t, f)
	x.localFilled(by, dst, t, f)
}

// localFilled has dst look at its local queue, into which task t has come: if it idles, or if the
// task that runs there is to give way.
func (x *Ext) localFilled(by, dst *cpu, t int32, f EnqFlags) {
	switch curr := dst.rq.curr; {
	case curr == noTask:
		x.k.reschedCPU(by, dst, TimeExt)
	case f&EnqPreempt != 0 && curr != t:
		x.k.tasks[curr].ext.slice = 0
		x.k.reschedCPU(by, dst, TimeExt)
	}
}
