package kernel

// Spinlocks that tasks take in kernel mode. Without PREEMPT_RT who wants one that is
// held spins, in the order of arrival and without being preempted, and so does nobody
// preempt the holder. With PREEMPT_RT it is an rtlock: the first in line spins as long
// as the holder runs, all others sleep in a state of their own and are woken when it
// is their turn, and holders can be preempted.

// A LockID names a lock.
type LockID int16

// A spinlock is such a lock.
type spinlock struct {
	owner   int32   // noTask: free
	waiters []int32 // in the order of arrival; the owner is none of them
	line    line
}

// Lock adds a lock, which OpLock and OpUnlock take and give back.
func (k *Kernel) Lock() LockID {
	k.locks = append(k.locks, spinlock{owner: noTask, line: k.newLine(0)})
	return LockID(len(k.locks) - 1)
}

func (k *Kernel) rt() bool { return k.base.Preemption == PreemptRT }

// lockTry is c's task at a lock: it takes it or waits for it.
func (k *Kernel) lockTry(c *cpu) {
	id := c.rq.curr
	t := &k.tasks[id]
	l := &k.locks[t.spec.Prog[t.pc].Obj]
	if l.owner == id { // handed over while it spun
		k.lockTaken(c, t, l)
		return
	}
	k.charge(c, TimeLockWait, k.write(&l.line, c.id))
	if l.owner == noTask {
		l.owner = id
		for i, w := range l.waiters {
			if w == id {
				l.waiters = append(l.waiters[:i], l.waiters[i+1:]...)
				break
			}
		}
		k.lockTaken(c, t, l)
		return
	}
	if !t.lockQueued {
		t.lockQueued = true
		l.waiters = append(l.waiters, id)
	}
	if !k.rt() {
		t.noPreempt = true
		k.await(c, stLock, TimeLockWait)
		return
	}
	if l.waiters[0] == id && k.tasks[l.owner].onCPU(k) {
		if c.needResched { // it is preempted, and spins on when it runs again
			k.block(c)
			return
		}
		t.lockSpins = true
		k.await(c, stLock, TimeLockWait)
		return
	}
	// schedule_rtlock: the state first, then schedule() in a mode of its own.
	k.count(RTLockWaits)
	k.pay(c, TimeLockWait, CostRTLock)
	t.state = taskLockWait
	c.mode = modeRTLockWait
	k.schedule(c)
}

// onCPU tells whether t is what its CPU runs.
func (t *task) onCPU(k *Kernel) bool {
	r := &k.cpus[t.cpu].rq
	return r.curr != noTask && &k.tasks[r.curr] == t
}

func (k *Kernel) lockTaken(c *cpu, t *task, l *spinlock) {
	t.state, t.lockQueued, t.lockSpins = taskRunning, false, false
	t.noPreempt = !k.rt()
	t.holds = true
	t.pc++
	k.runTask(c)
}

// unlockTask gives l back. Without PREEMPT_RT it is the first waiter's from now on;
// with it, it is free, and the first waiter is told.
func (k *Kernel) unlockTask(c *cpu) {
	t := &k.tasks[c.rq.curr]
	l := &k.locks[t.spec.Prog[t.pc].Obj]
	t.pc++
	t.holds, t.noPreempt = false, false
	k.charge(c, TimeLockWait, k.write(&l.line, c.id))
	l.owner = noTask
	if len(l.waiters) == 0 {
		k.then(c, stTask)
		return
	}
	id := l.waiters[0]
	w := &k.tasks[id]
	switch {
	case !k.rt():
		l.waiters = l.waiters[:copy(l.waiters, l.waiters[1:])]
		l.owner = id
		k.lockRouse(c, l, w)
	case w.lockSpins: // in the state of a waiter, so it is woken all the same
		k.pay(c, TimeWakeup, CostWakeup)
		w.state = taskRunning
		k.lockRouse(c, l, w)
	case w.state == taskLockWait:
		c.irqsOff[0] = true
		k.wakeUp(c, id, wakeFlags{}, stUnlocked)
		return
	}
	k.then(c, stTask)
}

// lockRouse ends the spinning of w, whose CPU sees l's line change.
func (k *Kernel) lockRouse(c *cpu, l *spinlock, w *task) {
	w.lockSpins = false
	spinner := &k.cpus[w.cpu]
	k.rouse(spinner, 0, c.t+k.transfer(&l.line, c.id, w.cpu)+spinner.noise.Between(0, k.cost[CostRelax]))
}

// unlocked is c's task after it has woken another one.
func (k *Kernel) unlocked(c *cpu) {
	k.then(c, stTask)
	k.irqsOn(c)
}

// lockHolderLeaves lets who spins on a lock of t's, which is switched away from, look
// again: it will sleep.
func (k *Kernel) lockHolderLeaves(c *cpu, id int32) {
	for i := range k.locks {
		l := &k.locks[i]
		if l.owner != id || len(l.waiters) == 0 {
			continue
		}
		if w := &k.tasks[l.waiters[0]]; w.lockSpins {
			k.lockRouse(c, l, w)
		}
	}
}
