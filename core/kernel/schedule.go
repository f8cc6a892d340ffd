package kernel

// schedMode is the mode in which schedule() is called.
type schedMode int8

const (
	modeIdle       schedMode = -1 // SM_IDLE: from the idle loop, in a kernel that has it
	modeNone       schedMode = 0  // SM_NONE: the task gives way or goes to sleep
	modePreempt    schedMode = 1  // SM_PREEMPT: the task is made to give way
	modeRTLockWait schedMode = 2  // SM_RTLOCK_WAIT: the task waits for a lock, on PREEMPT_RT alone
)

// preempted tells whether schedule() takes the task that ran for preempted. One
// that is preempted stays queued, whatever its state says.
func (k *Kernel) preempted(mode schedMode) bool {
	switch k.base.PreemptTest {
	case PreemptExactly:
		return mode == modePreempt
	case PreemptAbove:
		return mode > modeNone
	}
	if k.base.Preemption == PreemptRT {
		return mode&1 != 0 // the mask that PREEMPT_RT narrows
	}
	return mode != modeNone
}

// idleMode is the mode in which the idle loop calls schedule().
func (k *Kernel) idleMode() schedMode {
	if k.base.IdleReentry == IdleFast {
		return modeIdle
	}
	return modeNone
}

// schedule begins __schedule: interrupts off, then the run queue's lock.
func (k *Kernel) schedule(c *cpu) {
	c.irqsOff[c.depth] = true
	if k.acquire(c, &c.rq.lock, stScheduleLocked) {
		k.scheduleLocked(c)
	}
}

// scheduleLocked looks at the task that ran and picks the one that will.
func (k *Kernel) scheduleLocked(c *cpu) {
	k.pay(c, TimeSchedule, CostScheduleHead)
	k.updateClock(c)
	c.voluntary = false
	if c.pushTo >= 0 {
		k.stopper(c)
	}
	if prev := c.rq.curr; prev != noTask {
		k.updateCurr(c)
		t := &k.tasks[prev]
		if t.state != taskRunning && !k.preempted(c.mode) {
			k.pay(c, TimeSchedule, CostDequeue)
			k.dequeue(c, prev)
			c.voluntary = true
		} else if c.mode == modeRTLockWait && t.state != taskRunning {
			k.count(RTLockLeftQueued)
		}
	} else if c.mode == modeIdle && c.rq.nrRunning() == 0 && k.ext == nil {
		k.count(IdleFastReentries)
		k.scheduleTail(c, noTask)
		return
	}
	k.pickNextTask(c)
}

// pickNextTask is pick_next_task. The fair class looks for work elsewhere before
// it gives the CPU to the idle task.
func (k *Kernel) pickNextTask(c *cpu) {
	if k.ext != nil {
		k.balanceExt(c)
		return
	}
	k.pay(c, TimePick, CostPick)
	if c.rq.nrRunning() > 0 {
		k.scheduleTail(c, k.pickFair(c))
		return
	}
	if c.rq.curr == noTask && k.base.IdleReentry == IdleNoNewidle {
		k.scheduleTail(c, noTask)
		return
	}
	k.newidleBalance(c)
}

// scheduleTail clears NEED_RESCHED, switches if the task changes, gives up the
// lock and lets interrupts in.
func (k *Kernel) scheduleTail(c *cpu, next int32) {
	c.needResched = false
	k.charge(c, TimeSchedule, k.write(&c.flags, c.id))
	prev := c.rq.curr
	if next == noTask && !(prev == noTask && c.mode == modeIdle && k.ext == nil) {
		k.updateIdleCore(c)
	}
	if next == prev {
		if next == noTask {
			k.count(IdleReentries)
		}
		c.rq.expired = false
	} else {
		if prev != noTask {
			t := &k.tasks[prev]
			t.ranTill = c.t
			if t.holds {
				k.lockHolderLeaves(c, prev)
			}
			if c.voluntary {
				k.count(SwitchesVoluntary)
			} else {
				k.count(SwitchesInvoluntary)
			}
		}
		if k.ext == nil {
			if next != noTask {
				k.setNext(c, next)
			}
			k.loadSwitched(c, prev, next)
		}
		k.setCurr(c, next)
		k.writeState(c, c, TimeSchedule)
		k.switchTo(c, next)
		if c.pushed != noTask {
			k.pushOn(c)
		}
	}
	if k.ext != nil {
		if next == noTask && c.rq.local.n > 0 { // the last task of c was enqueued here again
			c.needResched = true
		}
		if prev != noTask && prev != next && k.tasks[prev].state == taskExited {
			k.disableExt(c, prev)
		}
	}
	k.unlockRQ(c, c)
	k.pay(c, TimeSchedule, CostScheduleTail)
	k.then(c, stScheduled)
}

// switchTo is the context switch to task next. The idle task borrows the address space that
// is loaded, so that coming back from it to the same process is cheap.
func (k *Kernel) switchTo(c *cpu, next int32) {
	k.pay(c, TimeSwitch, CostSwitch)
	if next == noTask {
		return
	}
	if mm := k.tasks[next].spec.Process; mm != 0 && mm != c.mm {
		c.mm = mm
		k.pay(c, TimeSwitch, CostSwitchProcess)
	}
}

// scheduled is c past schedule(), with interrupts on.
func (k *Kernel) scheduled(c *cpu) {
	switch {
	case c.rq.curr != noTask:
		k.then(c, stTask)
	case c.needResched:
		c.mode = k.idleMode()
		k.then(c, stSchedule)
	default:
		k.idleAgain(c)
		return
	}
	k.irqsOn(c)
}

// updateClock brings c's run-queue clock up to date.
func (k *Kernel) updateClock(c *cpu) {
	k.pay(c, TimeSchedule, CostClock)
	k.updateRQClock(c, c)
}

// unlockRQ has CPU by give up the lock of c's run queue.
func (k *Kernel) unlockRQ(by, c *cpu) {
	k.unpin(c)
	k.release(by, &c.rq.lock)
}

// reschedCPU makes target call schedule() soon: by its flag alone if it is c or
// polls, else by an interrupt.
func (k *Kernel) reschedCPU(c, target *cpu, kind TimeKind) {
	if target.needResched {
		return
	}
	if target == c {
		target.needResched = true
		return
	}
	if target.polling {
		k.pollWake(c, target, kind, &target.needResched)
		return
	}
	target.needResched = true
	target.signals++
	k.charge(c, kind, k.write(&target.flags, c.id))
	k.count(IPIs)
	k.pay(c, kind, CostIPISend)
	k.q.At(c.t+k.flight(c, target), evResched, uint16(target.id), 0)
}
