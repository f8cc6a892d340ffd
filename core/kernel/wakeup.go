package kernel

// waking is a wakeup under way on a CPU.
type waking struct {
	task   int32
	target int16
	ret    step // where its caller goes on
	waited bool // for the task to be off its CPU
}

// wakeFlags is what a waker says of its wakeup.
type wakeFlags struct {
	sync bool // it is about to sleep
}

// wakeUp begins try_to_wake_up for task id on c, whose path goes on with ret.
func (k *Kernel) wakeUp(c *cpu, id int32, flags wakeFlags, ret step) {
	t := &k.tasks[id]
	if t.state != taskSleeping && t.state != taskLockWait {
		k.broken("task %s is woken and does not sleep", t.spec.Name)
		return
	}
	k.count(Wakeups)
	k.pay(c, TimeWakeup, CostWakeup)
	t.state = taskRunning
	if t.queued { // on its way to schedule(): it will find that it need not sleep
		k.then(c, ret)
		return
	}
	t.waking = true
	c.wake = waking{task: id, target: k.selectTaskRQ(c, t), ret: ret}
	if c.wake.target != t.cpu {
		k.count(Migrations)
	}
	k.then(c, stWakePlace)
}

// selectTaskRQ chooses the CPU of a waking task: the one it ran on if that is
// idle, else an idle one that shares the cache with it, else the one it ran on.
// The waker plays no part yet: wakeups come from timers, or from a lock that is given back.
func (k *Kernel) selectTaskRQ(c *cpu, t *task) int16 {
	prev := t.cpu
	if r := &k.cpus[prev].rq; k.cpus[prev].idleCPU() || r.curr != noTask && &k.tasks[r.curr] == t {
		return prev // idle, or still busy with switching away from t
	}
	ds := k.m.Domains[prev]
	for i := len(ds) - 1; i >= 0; i-- {
		d := ds[i]
		if !d.LLC {
			continue
		}
		for _, g := range d.Groups {
			for _, x := range g.CPUs {
				k.charge(c, TimeWakeup, k.cost[CostIdleCheck])
				if t.allows(x) && k.cpus[x].idleCPU() {
					return x
				}
			}
		}
		break
	}
	return prev
}

// wakePlace hands the task to the target: through its call queue if the target
// shares no cache with the waker or has nothing to run, else under its lock.
func (k *Kernel) wakePlace(c *cpu) {
	// On PREEMPT_RT there is no TTWU_QUEUE: wakeups never go through the call queue. So
	// the waker waits while the task is still being switched away from, and chooses then.
	if t := &k.tasks[c.wake.task]; k.rt() {
		if t.cpu != c.id && k.cpus[t.cpu].rq.curr == c.wake.task {
			k.pay(c, TimeWakeup, CostRelax)
			c.wake.waited = true
			k.then(c, stWakePlace)
			return
		}
		if c.wake.waited {
			c.wake.waited, c.wake.target = false, k.selectTaskRQ(c, t)
			k.counters[Migrations] += int64(b2i(c.wake.target != t.cpu))
		}
	}
	target := &k.cpus[c.wake.target]
	if target != c && !k.rt() && (k.m.CPUs[c.id].LLC != k.m.CPUs[target.id].LLC || k.queueWithinCache(target, c.wake.task)) {
		k.count(WakeupsQueued)
		k.account(target, func() { target.rq.wakePending++ })
		if k.push(c, target, call{kind: callWake, ref: uint32(c.wake.task)}, TimeWakeup) {
			k.then(c, stWakeSignal)
			return
		}
		k.then(c, c.wake.ret)
		return
	}
	if k.acquire(c, &target.rq.lock, stWakeLocked) {
		k.wakeLocked(c)
	}
}

// queueWithinCache tells whether task id is woken through its target's call queue though
// the waker shares the cache with it.
func (k *Kernel) queueWithinCache(target *cpu, id int32) bool {
	if k.base.QueueIdle {
		return target.rq.nrRunning() == 0
	}
	return target.rq.curr == id && target.rq.nrRunning() <= 1 // it is still being switched away from
}

func (k *Kernel) wakeSignal(c *cpu) {
	k.signal(c, &k.cpus[c.wake.target], TimeWakeup, false)
	k.then(c, c.wake.ret)
}

func (k *Kernel) wakeLocked(c *cpu) {
	target, id := &k.cpus[c.wake.target], c.wake.task
	target.rq.clock = max(target.rq.clock, c.t)
	k.pay(c, TimeWakeup, CostEnqueue)
	k.tasks[id].waking = false
	k.activate(target, id, c.t)
	if k.wakePreempts(target, id) {
		k.reschedCPU(c, target, TimeWakeup)
	}
	k.release(c, &target.rq.lock)
	k.then(c, c.wake.ret)
}
