package kernel

import "schedlab/core/sim"

// A cpu is one CPU: what it runs, and all of the kernel's per-CPU state.
type cpu struct {
	id int16
	rq rq

	// Control flow. Frame 0 is the task or the idle loop, frame 1 an interrupt
	// on top of it and then its softirqs, frame 2 an interrupt on top of those.
	// The running frame's costs are charged at t, which runs ahead of the
	// simulation's time within a path.
	frame   [3]frame
	depth   uint8
	t       sim.Time
	irqsOff [3]bool // by frame
	pending uint8
	softirq uint8
	noise   sim.Rand // jitter of what c does

	// The flags word of the current task: TIF_POLLING_NRFLAG, TIF_NEED_RESCHED, and
	// TIF_NOTIFY_IPI where the kernel has it.
	flags       line
	polling     bool
	needResched bool
	notified    bool
	signals     int // for the call queue, and by interrupt: decided on or on their way

	// The call queue and the batch that is being flushed.
	callq    []call
	callLine line
	batch    []call
	batchPos int
	batchCls callKind
	async    desc   // the descriptor of calls that nobody waits for
	all      []desc // those of calls to all other CPUs, by target; nil if no task here makes such calls
	first    []bool // by target: its queue was empty when such a call was pushed

	idle idleState
	menu menu
	tick tick

	tcp tcpTimers

	// The ext class.
	kicks      []kick // CPUs to tell to look for work, at the next irqWork
	extTimers  int    // timers of the scheduler that have expired
	extFound   int16  // where the next search for an idle CPU begins
	dispatches int    // calls of Dispatch in the schedule() that runs

	tickDue bool
	due     []uint32 // tasks whose sleep is over
	duePos  int

	mode      schedMode // of the schedule() that runs
	voluntary bool      // and whether the task that ran has left its queue in it
	nb        newidle
	pass      pass
	pushed    int32 // the task that it has taken off the queue for that
	pushTo    int16 // the CPU that the stopper is to push its task to; -1: none
	soft      rebalance
	wake      waking
	note      notice

	mm        int   // the address space that is loaded
	idleWaker waker // the idle task's

	bh      bool // a softirq runs on top of the task that caused it, at depth 0
	blocked bool // the idle loop is to update the blocked load of idle CPUs
}

// A frame is a flow of control on a CPU: the step that it goes on with, and when.
type frame struct {
	step    step
	waiting bool     // until another CPU or an interrupt wakes it
	wait    TimeKind // what the waiting is charged to
	woken   bool     // while an interrupt ran on top
	wokenAt sim.Time
	at      sim.Time // when it goes on; if waiting, since when
	ev      sim.Handle
	ledger  ledger
}

// Interrupts, as bits of cpu.pending in the order of their priority.
const (
	irqCall uint8 = 1 << iota
	irqResched
	irqWork
	irqTimer
)

// Softirqs, as bits of cpu.softirq.
const (
	softBalance uint8 = 1 << iota
	softNohz
)

// A step is a point at which a path goes on after time has passed.
type step uint8

const (
	stIdlePolling step = iota
	stIdleCheck
	stIdleChosen
	stIdleState
	stIdleWoken
	stIdleBack
	stIdleFlush
	stIdleSchedule
	stIdleAgain
	stFlush
	stSchedule
	stScheduleLocked
	stNewidleLevel
	stPassWalked
	stNewidleLocked
	stScheduled
	stTask
	stComputed
	stBlock
	stCallPush
	stCallSignal
	stCallDone
	stCallLocked
	stCallLocal
	stLock
	stUnlock
	stUnlocked
	stChannelLocked
	stNotify
	stCallAllPush
	stCallAllSignal
	stCallAllWait
	stIRQ
	stIRQReturn
	stTimer
	stTickLocked
	stNohzKick
	stWakeSelect
	stWakePlace
	stWakeSignal
	stWakeLocked
	stFlushWakeLocked
	stSoftirq
	stSoftirqEnded
	stExtDispatch
)

func (k *Kernel) initCPU(i int, phase sim.Time) {
	c := &k.cpus[i]
	c.id, c.pushTo, c.pushed = int16(i), -1, noTask
	c.noise = k.noise.Fork(uint32(i))
	c.flags, c.callLine, c.async.line = k.newLine(i), k.newLine(i), k.newLine(i)
	c.async.waiter = -1
	c.idleWaker.last = noTask
	c.initRQ(k)
	c.initIdle(k, phase)
}

func (c *cpu) running() *frame { return &c.frame[c.depth] }

// charge lets d pass on c, for work of this kind.
func (k *Kernel) charge(c *cpu, kind TimeKind, d sim.Time) {
	c.running().ledger.add(k, kind, d)
	c.t += d
}

// pay charges cost n with jitter: no path takes the same time twice.
func (k *Kernel) pay(c *cpu, kind TimeKind, n Cost) {
	k.charge(c, kind, k.jitter(c, k.cost[n]))
}

// jitter returns d within ±25 %.
func (k *Kernel) jitter(c *cpu, d sim.Time) sim.Time {
	return d*3/4 + (d/2*sim.Time(c.noise.Uint64()>>54))>>10
}

// then lets c's path go on with s once the time that it was charged with has passed.
func (k *Kernel) then(c *cpu, s step) {
	f := c.running()
	f.step, f.at = s, c.t
	f.ev = k.q.At(c.t, evRun, uint16(c.id), 0)
}

// await lets c's path go on with s when it is woken. The time until then is of
// this kind.
func (k *Kernel) await(c *cpu, s step, kind TimeKind) {
	f := c.running()
	f.step, f.at, f.waiting, f.wait = s, c.t, true, kind
}

// rouse ends the waiting of c's frame at time t, or as soon as what the frame
// was charged with before has passed. A frame that does not wait is left alone.
func (k *Kernel) rouse(c *cpu, depth uint8, t sim.Time) {
	k.rouseWith(c, depth, t, TimeIdleExit, 0)
}

// rouseWith is rouse, with work that the frame does before it goes on.
func (k *Kernel) rouseWith(c *cpu, depth uint8, t sim.Time, kind TimeKind, d sim.Time) {
	f := &c.frame[depth]
	if !f.waiting {
		return
	}
	if depth != c.depth {
		if !f.woken || t < f.wokenAt {
			f.woken, f.wokenAt = true, t
		}
		return
	}
	t = max(t, f.at)
	f.waiting = false
	f.ledger.add(k, f.wait, t-f.at)
	if d > 0 {
		f.ledger.add(k, kind, d)
	}
	f.at = t + d
	f.ev = k.q.At(f.at, evRun, uint16(c.id), 0)
}

// run lets c's running frame go on.
func (k *Kernel) run(c *cpu) {
	f := c.running()
	f.ledger.settle(k, k.now)
	if k.check && (f.ledger.n != 0 || f.waiting || f.at != k.now) {
		k.broken("CPU %d goes on at the wrong time: its path was charged until %s", c.id, f.at)
	}
	f.ledger.from = k.now
	c.t = k.now
	switch f.step {
	case stIdlePolling:
		k.idlePoll(c)
	case stIdleCheck:
		k.idleCheck(c)
	case stIdleChosen:
		k.idleChosen(c)
	case stIdleState:
		k.idleStateEnter(c)
	case stIdleWoken:
		k.idleStateLeave(c)
	case stIdleBack:
		k.idleBack(c)
	case stIdleFlush:
		k.idleFlush(c)
	case stIdleSchedule:
		k.idleSchedule(c)
	case stIdleAgain:
		k.idleAgain(c)
	case stFlush:
		k.flushEntry(c)
	case stSchedule:
		k.schedule(c)
	case stScheduleLocked:
		k.scheduleLocked(c)
	case stNewidleLevel:
		k.newidleLevel(c)
	case stPassWalked:
		k.passWalked(c)
	case stNewidleLocked:
		k.newidleLocked(c)
	case stScheduled:
		k.scheduled(c)
	case stTask:
		k.runTask(c)
	case stComputed:
		k.computed(c)
	case stBlock:
		k.block(c)
	case stCallPush:
		k.callPush(c)
	case stCallSignal:
		k.callSignal(c)
	case stCallDone:
		k.callDone(c)
	case stCallLocked:
		k.callLocked(c)
	case stCallLocal:
		k.callLocalDone(c)
	case stLock:
		k.lockTry(c)
	case stUnlock:
		k.unlockTask(c)
	case stUnlocked:
		k.unlocked(c)
	case stChannelLocked:
		if k.channelLocked(c) {
			k.runTask(c)
		}
	case stNotify:
		k.notifyNext(c)
	case stCallAllPush:
		k.callAllPush(c)
	case stCallAllSignal:
		k.callAllSignal(c)
	case stCallAllWait:
		k.callAllWait(c)
	case stIRQ:
		k.irq(c)
	case stIRQReturn:
		k.irqReturn(c)
	case stTimer:
		k.timer(c)
	case stTickLocked:
		k.tickLocked(c)
	case stNohzKick:
		k.nohzKick(c)
		k.irqExit(c)
	case stWakeSelect:
		k.wakeSelect(c)
	case stWakePlace:
		k.wakePlace(c)
	case stWakeSignal:
		k.wakeSignal(c)
	case stWakeLocked:
		k.wakeLocked(c)
	case stFlushWakeLocked:
		k.flushWakeLocked(c)
	case stSoftirq:
		k.softirqRun(c)
	case stSoftirqEnded:
		k.softirqEnded(c)
	case stExtDispatch:
		k.dispatchExt(c)
	}
}

// raise makes an interrupt pending on c, and lets it in if c takes interrupts.
func (k *Kernel) raise(c *cpu, irq uint8) {
	c.pending |= irq
	if !c.irqsOff[c.depth] {
		k.interrupt(c)
		return
	}
	k.idleInterrupted(c)
}

// irqsOn lets interrupts in on c, whose path has said how it goes on. It must be
// at an event's time.
func (k *Kernel) irqsOn(c *cpu) {
	c.irqsOff[c.depth] = false
	if c.pending != 0 {
		k.interrupt(c)
	}
}

// interrupt puts an interrupt on top of what c does. What was charged to the
// frame below and has not passed yet passes when the interrupt has returned.
func (k *Kernel) interrupt(c *cpu) {
	k.settle(c, k.now)
	f := c.running()
	if !f.waiting {
		k.q.Cancel(f.ev)
	}
	f.at -= k.now // what is left
	c.depth++
	c.irqsOff[c.depth] = true
	c.t = k.now
	c.running().ledger.n, c.running().ledger.from = 0, k.now
	k.irqEnter(c)
}

// resume goes back to the frame that was interrupted.
func (k *Kernel) resume(c *cpu) {
	if c.idle.phase == idlePolling && c.needResched {
		k.pollUntil(c, k.now+k.cost[CostRelax]) // the interrupt's own doing
	}
	c.depth--
	f := c.running()
	if c.depth == 0 && f.waiting && c.needResched { // who spins gives way, if it may
		switch {
		case f.step == stLock && k.rt():
			k.tasks[c.rq.curr].lockSpins = false
			f.woken, f.wokenAt = true, k.now
		case f.step == stTask:
			k.leaveSpin(c)
			f.woken, f.wokenAt = true, k.now
		}
	}
	f.at += k.now
	f.ledger.from = k.now
	if !f.waiting {
		f.ev = k.q.At(f.at, evRun, uint16(c.id), 0)
	} else if f.woken {
		f.woken = false
		k.rouse(c, c.depth, max(f.wokenAt, k.now))
	}
	if c.pending != 0 && !c.irqsOff[c.depth] {
		k.interrupt(c)
	}
}

// abandon drops what the interrupted task still had to do and returns how much it
// was: schedule() takes its place.
func (k *Kernel) abandon(c *cpu) (left sim.Time) {
	c.depth = 0
	f := &c.frame[0]
	left = f.at
	f.ledger.n, f.ledger.from = 0, k.now
	f.woken = false
	return left
}
