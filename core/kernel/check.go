package kernel

import "schedlab/core/sim"

// checkState walks the whole state and breaks the run at the first contradiction.
// Checking mode calls it after every event.
func (k *Kernel) checkState() {
	if k.status == Broken {
		return
	}
	var over, idle int
	var onQueues, undelivered uint64
	for i := range k.cpus {
		c := &k.cpus[i]
		over += b2i(c.rq.nrRunning() >= 2)
		idle += b2i(c.idleCPU())
		onQueues += uint64(c.rq.nrRunning())
		undelivered += uint64(len(c.callq) + len(c.batch))
		if len(c.batch) > 0 {
			undelivered -= k.served(c)
		}
		k.checkCPU(c)
	}
	if over != k.over || idle != k.idle {
		k.broken("%d run queues hold two tasks and %d CPUs are idle, but the books say %d and %d", over, idle, k.over, k.idle)
	}
	if k.sent-k.handled != undelivered {
		k.broken("%d calls were sent and %d served, but %d are on queues", k.sent, k.handled, undelivered)
	}
	k.checkCalls()
	k.checkLocks()
	k.checkObjects()
	k.checkGroups()
	if k.ext == nil {
		k.checkLoads()
	} else {
		k.checkExt()
	}
	k.checkPlacement()
	k.checkTasks(onQueues)
}

// served returns how many entries of c's batch have been served.
func (k *Kernel) served(c *cpu) (n uint64) {
	for i := range c.batch {
		n += uint64(b2i(c.servedEntry(i)))
	}
	return n
}

func (c *cpu) servedEntry(i int) bool {
	e := c.batch[i]
	return e.kind < c.batchCls || e.kind == c.batchCls && i < c.batchPos
}

// checkCalls sees that a descriptor is locked from its call until that is served,
// and that who waits for one does.
func (k *Kernel) checkCalls() {
	entries, locked := 0, 0
	under := func(c *cpu, e call) {
		if e.kind != callSync && e.kind != callAsync {
			return
		}
		entries++
		if !k.desc(c, e).locked {
			k.broken("a call waits on CPU %d, and its descriptor is free", c.id)
		}
	}
	holds := func(d *desc, id int16) {
		locked += b2i(d.locked)
		if d.waiter >= 0 && (!d.locked || !k.cpus[d.waiter].frame[0].waiting || id >= 0 && d.waiter != id) {
			k.broken("CPU %d is to be told of a call, and does not wait for it", d.waiter)
		}
	}
	for i := range k.cpus {
		c := &k.cpus[i]
		for _, e := range c.callq {
			under(c, e)
		}
		for j, e := range c.batch {
			if !c.servedEntry(j) {
				under(c, e)
			}
		}
		holds(&c.async, c.id)
		for j := range c.all {
			holds(&c.all[j], c.id)
		}
	}
	for i := range k.tasks {
		holds(&k.tasks[i].call, -1)
	}
	if entries != locked {
		k.broken("%d descriptors are locked, and %d calls wait", locked, entries)
	}
	for _, i := range k.barrier {
		if !k.cpus[i].frame[0].waiting {
			k.broken("CPU %d is in the barrier, and does not wait", i)
		}
	}
	for i := range k.mutexes {
		m := &k.mutexes[i]
		for _, c := range m.spinners {
			if !k.cpus[c].frame[0].waiting || m.owner == noTask {
				k.broken("CPU %d spins for mutex %d, and does not wait or could have it", c, i)
			}
		}
	}
}

func (k *Kernel) checkCPU(c *cpu) {
	f := c.running()
	if !f.waiting && f.at < k.now && k.status == Running {
		k.broken("CPU %d should have gone on at %s", c.id, f.at)
	}
	k.checkQueue(c)
	if t := c.rq.curr; t != noTask && (k.tasks[t].cpu != c.id || k.tasks[t].state == taskRunning && !k.tasks[t].queued && !k.tasks[t].waking) {
		k.broken("task %s runs on CPU %d and is not on its queue", k.tasks[t].spec.Name, c.id)
	}
	for _, buddy := range []int32{c.rq.next, c.rq.last} {
		if buddy != noTask && (!k.tasks[buddy].queued || k.tasks[buddy].cpu != c.id) {
			k.broken("task %s is a buddy on CPU %d and not on its queue", k.tasks[buddy].spec.Name, c.id)
		}
	}
	if l := &c.rq.lock; len(l.waiters) > 0 && l.holder < 0 {
		k.broken("CPUs wait for the lock of CPU %d, which nobody holds", c.id)
	}
	// An idle CPU that has something to do must have been told, or be about to be.
	dozing := c.idle.phase == idleAsleep || c.idle.phase == idlePolling && c.depth == 0
	calls := c.called() && k.base.CallSignal != SignalIPI // it will serve its calls
	if told := c.signals > 0 || c.pending != 0; dozing && !told && (len(c.callq) > 0 && !calls || k.ready(c) > 0 && !c.needResched) {
		k.broken("CPU %d idles with %d calls and %d tasks waiting, and nobody has told it", c.id, len(c.callq), k.ready(c))
	}
	if c.polling && k.m.NoPollingFlag || c.notified && k.base.CallSignal != SignalNotify {
		k.broken("CPU %d has a flag up that its kernel does not have", c.id)
	}
	if c.signals < 0 || c.rq.wakePending < 0 {
		k.broken("CPU %d was signalled %d times too often", c.id, -c.signals)
	}
}

// ready returns how many tasks c could run at once.
func (k *Kernel) ready(c *cpu) int {
	if k.ext != nil {
		return c.rq.local.n
	}
	return c.rq.nrRunning()
}

// checkQueue compares what c's run queue knows of its tasks with a walk over them: their list
// and their sums, and the tree of those that wait.
func (k *Kernel) checkQueue(c *cpu) {
	r := &c.rq
	var load, offsets int64
	newer, n := noTask, 0
	for t := r.runnable.first; t != noTask; t = k.tasks[t].older {
		tk := &k.tasks[t]
		if tk.newer != newer { // a walk on might never end
			k.broken("the list of CPU %d is broken at task %s", c.id, tk.spec.Name)
			return
		}
		newer = t
		n++
		load += tk.weight
		offsets += r.offset(&tk.fairEntity)
		if tk.cpu != c.id || !tk.queued {
			k.broken("task %s is on the queue of CPU %d and thinks otherwise", tk.spec.Name, c.id)
		}
		if !tk.allows(c.id) {
			k.broken("task %s is on CPU %d, where it may not run", tk.spec.Name, c.id)
		}
		if tk.state != taskRunning && t != r.curr {
			k.broken("task %s is blocked and on the queue of CPU %d", tk.spec.Name, c.id)
		}
	}
	if r.runnable.last != newer || n != r.runnable.n {
		k.broken("the list of CPU %d has %d tasks up to %d, but the books say %d up to %d", c.id, n, newer, r.runnable.n, r.runnable.last)
	}
	if load != r.load && k.ext == nil {
		k.broken("the weights on CPU %d sum to %d, but the books say %d", c.id, load, r.load)
	}
	if offsets != r.offsets && k.base.Policy == EEVDF && k.ext == nil {
		k.broken("the offsets on CPU %d sum to %d, but the books say %d", c.id, offsets, r.offsets)
	}
	if k.ext != nil {
		return
	}
	last, n := noTask, 0
	k.checkTree(c, r.tree, &last, &n)
	if want := r.runnable.n - b2i(k.running(r) != noTask); n != want {
		k.broken("%d tasks wait on CPU %d, and its tree holds %d", want, c.id, n)
	}
}

// checkTree walks the tree of c's queue below root in its order, in which last is the task
// before it and n how many there were.
func (k *Kernel) checkTree(c *cpu, root int32, last *int32, n *int) {
	if root == noTask {
		return
	}
	e := &k.tasks[root].fairEntity
	least := e.v
	for _, child := range []int32{e.lo, e.hi} {
		if child == noTask {
			continue
		}
		if rank(child) <= rank(root) { // a walk on might never end
			k.broken("the tree of CPU %d is upside down: task %d is above %d", c.id, root, child)
			return
		}
		least = min(least, k.tasks[child].least)
	}
	if least != e.least {
		k.broken("the least virtual time below task %d on CPU %d is %d, but the books say %d", root, c.id, least, e.least)
	}
	k.checkTree(c, e.lo, last, n)
	if tk := &k.tasks[root]; root == c.rq.curr || !tk.queued || tk.cpu != c.id {
		k.broken("task %s does not wait on CPU %d and is in its tree", tk.spec.Name, c.id)
	}
	if *last != noTask && !k.before(*last, root) {
		k.broken("the tree of CPU %d is out of order: task %d is before %d", c.id, *last, root)
	}
	*last = root
	*n++
	k.checkTree(c, e.hi, last, n)
}

// checkLocks sees that locks have one owner each, that who waits for one is among its
// waiters, and that nobody waits for what is free.
func (k *Kernel) checkLocks() {
	if len(k.locks) == 0 {
		return
	}
	waiters, owners := 0, 0
	for i := range k.locks {
		l := &k.locks[i]
		waiters += len(l.waiters)
		owners += b2i(l.owner != noTask)
		for _, id := range l.waiters {
			t := &k.tasks[id]
			if op := &t.spec.Prog[min(t.pc, len(t.spec.Prog)-1)]; !t.lockQueued || id == l.owner || op.Kind != OpLock || int(op.Obj) != i {
				k.broken("task %s is among the waiters of lock %d and does not wait for it", t.spec.Name, i)
			}
		}
		if len(l.waiters) == 0 {
			continue
		}
		first := &k.tasks[l.waiters[0]]
		if l.owner == noTask && (first.state != taskRunning || first.lockSpins) {
			k.broken("lock %d is free, and its first waiter %s does not know", i, first.spec.Name)
		}
		if first.lockSpins && (!first.onCPU(k) || !k.tasks[l.owner].onCPU(k)) {
			k.broken("task %s spins for lock %d while it or the holder is not running", first.spec.Name, i)
		}
	}
	for i := range k.tasks {
		t := &k.tasks[i]
		owners -= b2i(t.holds || t.lockQueued && k.locks[t.spec.Prog[t.pc].Obj].owner == int32(i))
		waiters -= b2i(t.lockQueued && k.locks[t.spec.Prog[t.pc].Obj].owner != int32(i))
		if t.state == taskLockWait && !t.lockQueued {
			k.broken("task %s sleeps for a lock that it does not wait for", t.spec.Name)
		}
	}
	if waiters != 0 || owners != 0 {
		k.broken("the books have %d more waiters and %d more owners of locks than there are", waiters, owners)
	}
}

// checkObjects sees that channels hold what they can, and that whoever sleeps in a system call
// is where a waker will find it.
func (k *Kernel) checkObjects() {
	expected := 0
	waits := func(id int32, what string) {
		expected++
		if t := &k.tasks[id]; t.state != taskSleeping || !t.inSyscall {
			k.broken("task %s is among those that wait for a %s and does not", t.spec.Name, what)
		}
	}
	for i := range k.channels {
		ch := &k.channels[i]
		if ch.n < 0 || ch.head < 0 || ch.head+ch.n > ch.Capacity {
			k.broken("channel %d holds %d messages of at most %d", i, ch.n, ch.Capacity)
		}
		if rules := &channelRules[ch.Kind]; !rules.exclusive && (ch.n > 0 && len(ch.readers) > 0 || ch.n <= ch.Low && len(ch.writers) > 0) {
			k.broken("channel %d holds %d messages, and %d readers and %d writers wait", i, ch.n, len(ch.readers), len(ch.writers))
		}
		for _, id := range ch.readers {
			waits(id, "message")
		}
		for _, id := range ch.writers {
			waits(id, "place")
		}
	}
	for i := range k.gates {
		for _, id := range k.gates[i].waiters {
			waits(id, "event")
		}
	}
	for i := range k.mutexes {
		for _, id := range k.mutexes[i].waiters {
			waits(id, "mutex")
		}
	}
	for i := range k.cpus {
		n := &k.cpus[i].note
		for _, id := range n.tasks[n.pos:max(len(n.tasks)-n.polling, n.pos)] { // to be woken
			if t := &k.tasks[id]; t.state == taskSleeping && !t.polls && !t.awaits {
				expected++
			}
		}
	}
	for i := range k.tasks {
		t := &k.tasks[i]
		if t.state == taskSleeping && t.inSyscall && !t.polls && !(t.awaits && EventID(t.spec.Prog[t.pc].Obj) == OwnEvent) {
			expected--
		}
	}
	if expected != 0 {
		k.broken("%d tasks that sleep in a system call are not where a waker will find them", -expected)
	}
}

// checkGroups compares the group sums that balance passes read with the walk that
// they are charged for.
func (k *Kernel) checkGroups() {
	for _, d := range k.m.All {
		for g := range d.Groups {
			var sum group
			for _, x := range d.Groups[g].CPUs {
				n := k.cpus[x].rq.nrRunning()
				sum.nr += n
				sum.over += b2i(n >= 2)
				sum.idle += b2i(k.cpus[x].idleCPU())
			}
			if sum != k.groups[d.ID][g] {
				k.broken("group %d of domain %d holds %+v, but the books say %+v", g, d.ID, sum, k.groups[d.ID][g])
			}
		}
	}
}

// checkExt sees that each task of the ext class that waits to run is in one dispatch queue, or that its scheduler says
// that it has it.
func (k *Kernel) checkExt() {
	x := k.ext
	waiting := 0
	for i := range k.tasks {
		t, id := &k.tasks[i], int32(i)
		running := t.queued && k.cpus[t.cpu].rq.curr == id
		switch in := t.ext.in != inNoDSQ; {
		case in && (!t.queued || running || t.ext.with):
			k.broken("task %s is in dispatch queue %d and does not wait there to run", t.spec.Name, t.ext.in)
		case in:
			waiting++
			if t.ext.in <= LocalOn(0) && t.ext.in != LocalOn(int(t.cpu)) {
				k.broken("task %s of CPU %d is in the local queue %d", t.spec.Name, t.cpu, t.ext.in)
			}
		case t.queued && !running && (!t.ext.with || x.ops.Holds == nil || !x.ops.Holds(id)):
			k.broken("the sched_ext scheduler %s has forgotten task %s: it is runnable, and neither in a dispatch queue nor said to be with the scheduler", x.ops.Name, t.spec.Name)
		}
	}
	waiting -= k.checkDSQ(&x.global)
	for i := range x.queues {
		waiting -= k.checkDSQ(&x.queues[i])
	}
	for i := range k.cpus {
		waiting -= k.checkDSQ(&k.cpus[i].rq.local)
	}
	if waiting != 0 {
		k.broken("%d tasks more are in dispatch queues than these hold", waiting)
	}
}

// checkDSQ compares a queue's number of tasks with a walk over its tree and returns it.
func (k *Kernel) checkDSQ(q *dsq) int {
	n := k.countDSQ(q.root)
	if n != q.n {
		k.broken("a dispatch queue holds %d tasks, and its books say %d", n, q.n)
	}
	return n
}

func (k *Kernel) countDSQ(root int32) int {
	if root == noTask {
		return 0
	}
	e := &k.tasks[root].fairEntity
	if e.lo != noTask && !k.before(e.lo, root) || e.hi != noTask && !k.before(root, e.hi) {
		k.broken("task %s is out of order in its dispatch queue", k.tasks[root].spec.Name)
	}
	return k.countDSQ(e.lo) + 1 + k.countDSQ(e.hi)
}

// checkTasks sees that every task is in one place.
func (k *Kernel) checkTasks(onQueues uint64) {
	var queued uint64
	for i := range k.tasks {
		t := &k.tasks[i]
		queued += uint64(b2i(t.queued))
		if t.state == taskRunning && !t.queued && !t.waking {
			k.broken("task %s is runnable and on no queue", t.spec.Name)
		}
		if t.waking && (t.queued || t.state != taskRunning) {
			k.broken("task %s is being woken and was not asleep", t.spec.Name)
		}
	}
	if queued != onQueues {
		k.broken("%d tasks are queued, and the queues hold %d", queued, onQueues)
	}
}

// checkAccount sees that every picosecond of every CPU was charged once.
func (k *Kernel) checkAccount() {
	var sum sim.Time
	for _, t := range k.time {
		sum += t
	}
	if want := (k.now - k.begin) * sim.Time(len(k.cpus)); sum != want {
		k.broken("the time account sums to %d ps, and the CPUs' time is %d ps", sum, want)
	}
}
