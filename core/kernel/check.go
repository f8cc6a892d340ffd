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
		over += b2i(len(c.rq.fair) >= 2)
		idle += b2i(c.idleCPU())
		onQueues += uint64(len(c.rq.fair))
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
	k.checkGroups()
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
	var load int64
	for _, t := range c.rq.fair {
		tk := &k.tasks[t]
		load += tk.weight
		if tk.cpu != c.id || !tk.queued {
			k.broken("task %s is on the queue of CPU %d and thinks otherwise", tk.spec.Name, c.id)
		}
		if !tk.allows(c.id) {
			k.broken("task %s is on CPU %d, where it may not run", tk.spec.Name, c.id)
		}
		if tk.state != taskRunning && t != c.rq.curr {
			k.broken("task %s is blocked and on the queue of CPU %d", tk.spec.Name, c.id)
		}
	}
	if load != c.rq.load {
		k.broken("the weights on CPU %d sum to %d, but the books say %d", c.id, load, c.rq.load)
	}
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
	if told := c.signals > 0 || c.pending != 0; dozing && !told && (len(c.callq) > 0 && !calls || len(c.rq.fair) > 0 && !c.needResched) {
		k.broken("CPU %d idles with %d calls and %d tasks waiting, and nobody has told it", c.id, len(c.callq), len(c.rq.fair))
	}
	if c.polling && k.m.NoPollingFlag || c.notified && k.base.CallSignal != SignalNotify {
		k.broken("CPU %d has a flag up that its kernel does not have", c.id)
	}
	if c.signals < 0 || c.rq.wakePending < 0 {
		k.broken("CPU %d was signalled %d times too often", c.id, -c.signals)
	}
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
