package kernel

import (
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// wakeFlags say how a task is woken.
type wakeFlags struct {
	sync bool // WF_SYNC: the waker is about to sleep
}

// waking is a wakeup under way on a CPU.
type waking struct {
	task   int32
	target int16
	flags  wakeFlags
	ret    step // where its caller goes on
}

// A waker is what a task, or the idle task of a CPU, remembers of whom it has woken.
type waker struct {
	last  int32    // last_wakee; noTask: nobody yet
	flips int32    // wakee_flips
	since sim.Time // wakee_flip_decay_ts
}

// wakeUp begins try_to_wake_up for task id on c, whose path goes on with ret. The caller
// has interrupts off: a CPU has one wakeup under way.
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
		k.unpin(&k.cpus[t.cpu])
		k.then(c, ret)
		return
	}
	t.waking = true
	c.wake = waking{task: id, flags: flags, ret: ret}
	k.then(c, stWakeSelect)
}

// wakeSelect chooses the task's CPU. While the task is still being switched away from,
// kernels since 5.8 hand it to that very CPU if they may; else the waker waits.
func (k *Kernel) wakeSelect(c *cpu) {
	w := &c.wake
	t := &k.tasks[w.task]
	prev := t.cpu
	if r := &k.cpus[prev].rq; prev != c.id && r.curr == w.task {
		if k.base.WakeQueue != QueueNever && k.wakesByQueue(c, &k.cpus[prev], w.task) {
			w.target = prev
			k.count(PlacedPrev)
			k.wakePlace(c)
			return
		}
		// A look takes time whatever a pause does, or time would stand still here.
		k.charge(c, TimeWakeup, max(k.jitter(c, k.cost[CostRelax]), k.m.Line[machine.SameCPU].Lo, 1))
		k.then(c, stWakeSelect)
		return
	}
	if k.ext != nil && !t.started {
		k.enableExt(c, w.task)
	}
	switch w.target = prev; {
	case t.pinned:
	case k.ext != nil:
		w.target = k.selectTaskRQExt(c, w.task, WakeFlags{Sync: w.flags.sync, Fork: !t.started})
	case t.started:
		w.target = k.selectTaskRQFair(c, w.task, w.flags)
	default:
		w.target = k.findIdlestCPU(c, t)
	}
	switch {
	case w.target == prev:
		k.count(PlacedPrev)
	case w.target == c.id:
		k.count(PlacedWaker)
	case k.sharesCache(w.target, prev):
		k.count(PlacedCache)
	default:
		k.count(PlacedFar)
	}
	if w.target != prev {
		k.count(Migrations)
		if k.ext == nil {
			k.removeLoad(t)
		}
	}
	k.then(c, stWakePlace)
}

// selectTaskRQFair chooses the CPU of the waking task id: first whether to aim at the
// waker's CPU or at the one it was on, then an idle one around that.
func (k *Kernel) selectTaskRQFair(c *cpu, id int32, flags wakeFlags) int16 {
	t := &k.tasks[id]
	sync := flags.sync && !(c.rq.curr != noTask && k.tasks[c.rq.curr].state == taskExited)
	if k.base.SyncInTaskOnly && !c.inTask() {
		sync = false
	}
	if sync {
		k.count(WakeupsSync)
	}
	k.waker(c).record(id, c.t)
	affine := !k.wakeWide(c, t) && t.allows(c.id)
	target := t.cpu
	if affine && c.id != t.cpu {
		if d := k.affineDomain(c.id, t.cpu); d != nil {
			target = k.wakeAffine(c, t, d, sync)
		}
	}
	x := k.selectIdleSibling(c, t, t.cpu, target)
	if affine && k.base.IdleSearch == SearchPasses && c.rq.curr != noTask {
		k.tasks[c.rq.curr].recent = c.id
	}
	return x
}

// inTask tells whether c's path is that of a task, or of the idle loop, and not of an
// interrupt or a softirq.
func (c *cpu) inTask() bool { return c.depth == 0 && !c.soft.running && !c.bh }

// waker returns what c's task remembers of whom it has woken.
func (k *Kernel) waker(c *cpu) *waker {
	if c.rq.curr == noTask {
		return &c.idleWaker
	}
	return &k.tasks[c.rq.curr].waker
}

// record notes that task id is woken at time now. Flips between wakees are halved
// when more than a second has passed since they last were.
func (w *waker) record(id int32, now sim.Time) {
	if now > w.since+sim.Second {
		w.flips >>= 1
		w.since = now
	}
	if w.last != id {
		w.last = id
		w.flips++
	}
}

// wakeWide tells whether the waker and t are a master and one of many slaves, which would
// not fit into one last-level cache.
func (k *Kernel) wakeWide(c *cpu, t *task) bool {
	master, slave := int(k.waker(c).flips), int(t.waker.flips)
	if master < slave {
		master, slave = slave, master
	}
	size := 1
	if l := k.near[c.id].llc; l != nil {
		size = len(l.cpus)
	}
	return slave >= size && master >= slave*size
}

// affineDomain returns the lowest domain of CPU this that holds prev, if tasks are woken
// across it: not between nodes too far apart.
func (k *Kernel) affineDomain(this, prev int16) *machine.Domain {
	for _, d := range k.m.Domains[this] {
		if d.GroupOf[prev] >= 0 {
			if k.affine[d.ID] {
				return d
			}
			return nil
		}
	}
	return nil
}

// wakeAffine aims the wakeup of t at the waker's CPU or at the one that t was on.
func (k *Kernel) wakeAffine(c *cpu, t *task, d *machine.Domain, sync bool) int16 {
	target := k.wakeAffineIdle(c, t, sync)
	if target < 0 {
		target = k.wakeAffineWeight(c, t, d, sync)
	}
	if target == c.id {
		k.count(WakeAffineThis)
		return target
	}
	k.count(WakeAffinePrev)
	return t.cpu
}

// wakeAffineIdle decides by who is idle, or returns -1.
func (k *Kernel) wakeAffineIdle(c *cpu, t *task, sync bool) int16 {
	prev := t.cpu
	if k.looksIdle(c, c.id) && k.sharesCache(c.id, prev) {
		if k.looksIdle(c, prev) {
			return prev
		}
		return c.id
	}
	if sync && c.rq.nrRunning() == 1 {
		return c.id
	}
	if k.base.IdleSearch >= SearchOnePass && k.looksIdle(c, prev) { // since 5.11
		return prev
	}
	return -1
}

// wakeAffineWeight decides by what the two CPUs' loads would be, with some preference for
// the waker's. It returns that one or -1.
func (k *Kernel) wakeAffineWeight(c *cpu, t *task, d *machine.Domain, sync bool) int16 {
	this, prev := k.wakeLoad(&c.rq), k.wakeLoad(&k.cpus[t.cpu].rq)
	if sync { // the waker is about to go
		w := int64(nice0) // the idle task's, which nothing ever updates
		if c.rq.curr != noTask {
			w = k.tasks[c.rq.curr].pelt.load
		}
		if w > this {
			return c.id
		}
		this -= w
	}
	this = (this + t.pelt.load) * 100
	prev = (prev - t.pelt.load) * (100 + (k.imbalancePct(d)-100)/2)
	if sync {
		prev++
	}
	if this < prev {
		return c.id
	}
	return -1
}

// wakeLoad is a run queue's load as wakeups compare it: in 5.4 that of queued tasks alone.
func (k *Kernel) wakeLoad(r *rq) int64 {
	if k.base.IdleSearch == SearchPasses {
		return r.pelt.queuedLoad
	}
	return r.pelt.load
}

// wakePlace hands the task to the target: through its call queue or under its lock.
func (k *Kernel) wakePlace(c *cpu) {
	target := &k.cpus[c.wake.target]
	if k.wakesByQueue(c, target, c.wake.task) {
		k.count(WakeupsQueued)
		k.account(target, func() { target.rq.wakePending++ })
		k.writeState(c, target, TimeWakeup)
		if k.push(c, target, call{kind: callWake, ref: uint32(c.wake.task)}, TimeWakeup) {
			k.then(c, stWakeSignal)
			return
		}
		k.then(c, c.wake.ret)
		return
	}
	if target == c {
		k.count(WakeupsLocal)
	} else {
		k.count(WakeupsRemote)
	}
	if k.acquire(c, &target.rq.lock, stWakeLocked) {
		k.wakeLocked(c)
	}
}

// wakesByQueue tells whether task id is woken through the target's call queue: if it shares no
// cache with the waker, or for WakeQueue's reason. PREEMPT_RT has no TTWU_QUEUE, and new tasks
// do not go that way.
func (k *Kernel) wakesByQueue(c, target *cpu, id int32) bool {
	if target == c || k.rt() || !k.tasks[id].started || k.ext != nil && !k.base.ExtQueuedWakeups {
		return false
	}
	return !k.sharesCache(c.id, target.id) || k.queueWithinCache(target, id)
}

// queueWithinCache tells whether task id is woken through its target's call queue though
// the waker shares the cache with it.
func (k *Kernel) queueWithinCache(target *cpu, id int32) bool {
	switch k.base.WakeQueue {
	case QueueIdle:
		return target.rq.nrRunning() == 0
	case QueueDescheduling:
		return target.rq.curr == id && target.rq.nrRunning() <= 1
	}
	return false
}

func (k *Kernel) wakeSignal(c *cpu) {
	k.signal(c, &k.cpus[c.wake.target], TimeWakeup, false)
	k.then(c, c.wake.ret)
}

func (k *Kernel) wakeLocked(c *cpu) {
	target, id := &k.cpus[c.wake.target], c.wake.task
	k.updateRQClock(c, target)
	k.pay(c, TimeWakeup, CostEnqueue)
	k.writeState(c, target, TimeWakeup)
	k.tasks[id].waking = false
	way := wayLocal
	if target != c {
		way = wayRemote
	}
	k.activate(c, target, id, way)
	if k.wakePreempts(target, id) {
		k.reschedCPU(c, target, TimeWakeup)
	}
	k.unlockRQ(c, target)
	k.then(c, c.wake.ret)
}
