package kernel

import "schedlab/core/sim"

// The idle loop. In its own words:
//
//	set the polling flag, enter idle
//	until NEED_RESCHED: interrupts off, let the governor choose, clear the flag, and
//	    in the state set it again if the state looks at it; idle; clear it; interrupts on; set it
//	leave idle (which restarts the tick), clear the polling flag
//	flush the call queue with interrupts off
//	schedule() in the idle mode, and again while NEED_RESCHED
//
// With TIF_NOTIFY_IPI either flag ends the loop, and there is no schedule() without NEED_RESCHED.

// called tells whether c is wanted out of its idle loop.
func (c *cpu) called() bool { return c.needResched || c.notified }

// idlePhase is where in the idle loop a CPU is.
type idlePhase uint8

const (
	idleAway    idlePhase = iota // not in the loop: in schedule(), or running a task
	idleAwake                    // in the loop
	idlePolling                  // in the POLL state
	idleAsleep                   // in a sleeping state
)

type idleState struct {
	phase idlePhase
	state int8     // of machine.Machine.Idle
	since sim.Time // when it was entered

	entered  bool     // the governor has not learnt from the state yet
	spell    sim.Time // how long the CPU was in it
	timedOut bool     // the POLL state ended by its limit
}

// longestIdle is how long a CPU of a machine at rest can have idled: housekeeping that comes about
// every second wakes each.
const longestIdle = sim.Second

// initIdle puts c to sleep in the deepest state, the tick stopped. Which CPU has idled least, by
// which a new task's CPU is chosen, is hidden state like any other: it is drawn.
func (c *cpu) initIdle(k *Kernel, phase sim.Time) {
	idle := k.initial.Fork(uint32(len(k.cpus)) + 2 + uint32(c.id))
	c.rq.idleStamp = -idle.Between(1, longestIdle)
	c.idle.phase = idleAsleep
	for i := range k.m.Idle {
		if !k.m.Idle[i].Disabled {
			c.idle.state = int8(i)
		}
	}
	s := &k.m.Idle[c.idle.state]
	c.tick = tick{phase: phase, stopped: true}
	c.menu.init(k)
	c.irqsOff[0] = true
	c.polling = s.Monitor
	if s.Polling { // a machine that can only poll
		c.idle.phase, c.irqsOff[0], c.polling = idlePolling, false, true
		k.charge(c, TimePoll, horizon)
		k.then(c, stIdleWoken)
		return
	}
	k.await(c, stIdleWoken, TimeIdle)
}

// idleEnter begins the loop.
func (k *Kernel) idleEnter(c *cpu) {
	c.idle.phase = idleAwake
	k.pay(c, TimeIdleLoop, CostIdleTop)
	if c.blocked {
		k.blockedUpdate(c)
	}
	k.then(c, stIdlePolling)
}

// idlePoll sets the polling flag: from here on a signal needs no interrupt.
func (k *Kernel) idlePoll(c *cpu) {
	c.polling = !k.m.NoPollingFlag
	k.charge(c, TimeIdleLoop, k.write(&c.flags, c.id))
	k.pay(c, TimeIdleLoop, CostIdleEnter)
	k.then(c, stIdleCheck)
}

// idleCheck looks at NEED_RESCHED, and chooses a state if it is clear.
func (k *Kernel) idleCheck(c *cpu) {
	k.charge(c, TimeIdleLoop, k.read(&c.flags, c.id))
	if c.called() {
		k.idleLeave(c)
		return
	}
	c.irqsOff[0] = true
	k.pay(c, TimeIdleLoop, CostGovernor)
	state, stop := k.menuSelect(c)
	c.idle.state = int8(state)
	if stop && !c.tick.stopped {
		k.pay(c, TimeIdleLoop, CostTickStop)
		k.tickStop(c)
	}
	k.then(c, stIdleChosen)
}

// idleChosen takes the polling flag down and looks at NEED_RESCHED once more, on
// the way into the driver. Until the state sets the flag again, a signal needs an
// interrupt.
func (k *Kernel) idleChosen(c *cpu) {
	c.polling = false
	k.charge(c, TimeIdleLoop, k.write(&c.flags, c.id))
	if c.called() {
		k.then(c, stIdleBack)
		k.irqsOn(c)
		return
	}
	k.pay(c, TimeIdleLoop, CostStateEnter)
	k.then(c, stIdleState)
}

// idleStateEnter enters the chosen state, unless something has happened meanwhile.
func (k *Kernel) idleStateEnter(c *cpu) {
	s := &k.m.Idle[c.idle.state]
	c.idle.since = k.now
	c.idle.entered = true
	c.polling = s.Polling || s.Monitor
	k.charge(c, TimeIdleLoop, k.write(&c.flags, c.id))
	if s.Polling {
		k.count(IdlePoll)
		d := k.pollLimit()
		if c.called() {
			d = k.cost[CostRelax]
		}
		c.idle.phase = idlePolling
		k.charge(c, TimePoll, d)
		k.then(c, stIdleWoken)
		k.irqsOn(c)
		return
	}
	if c.called() || c.pending != 0 {
		k.then(c, stIdleWoken)
		return
	}
	k.count(IdleSleep)
	c.idle.phase = idleAsleep
	k.await(c, stIdleWoken, TimeIdle)
}

// pollLimit is how long the POLL state spins at most: a sixteenth of a tick, or
// the target residency of the next enabled state if that is 10 µs or more and less.
func (k *Kernel) pollLimit() sim.Time {
	limit := k.base.Jiffy() / 16
	for i := range k.m.Idle {
		if s := &k.m.Idle[i]; !s.Polling && !s.Disabled && s.Residency >= 10*sim.Microsecond {
			return min(limit, s.Residency)
		}
	}
	return limit
}

// idleSignalled tells c, whose flags word was just written to and whose copy of it
// is gone at time seen, and returns how the signal met it.
func (k *Kernel) idleSignalled(c *cpu, seen sim.Time) Counter {
	path := c.pollPath()
	switch path {
	case CallsPolledPoll:
		k.pollUntil(c, seen+c.noise.Between(0, k.cost[CostRelax]))
	case CallsPolledMwait:
		k.idleRouse(c, seen)
	}
	return path
}

// pollPath is the way of a call that finds c polling.
func (c *cpu) pollPath() Counter {
	switch c.idle.phase {
	case idlePolling:
		return CallsPolledPoll
	case idleAsleep:
		return CallsPolledMwait
	}
	return CallsPolledBefore
}

// pollUntil lets the POLL state of c end at t. It is charged up to its limit
// ahead of time.
func (k *Kernel) pollUntil(c *cpu, t sim.Time) {
	f := &c.frame[0]
	left := t - k.now
	if c.depth == 0 {
		k.settle(c, k.now)
		if f.at <= t {
			return
		}
		k.q.Cancel(f.ev)
		f.at = t
		f.ev = k.q.At(t, evRun, uint16(c.id), 0)
	} else {
		if f.at <= left {
			return
		}
		f.at = left
	}
	f.ledger.n = 0
	f.ledger.add(k, TimePoll, left)
}

// idleRouse brings c out of its sleeping state: what wakes it reaches it at t.
func (k *Kernel) idleRouse(c *cpu, t sim.Time) {
	c.idle.phase = idleAwake
	w := &k.m.Idle[c.idle.state].Wake
	// The ends of the range are the rare ones: the mean of two draws.
	k.rouseWith(c, 0, t, TimeIdleExit, spread(w, int16((c.noise.Below(drawn)+c.noise.Below(drawn))/2)))
}

// idleInterrupted tells c that an interrupt is pending that it does not take yet.
// A sleeping state ends by it.
func (k *Kernel) idleInterrupted(c *cpu) {
	if c.idle.phase == idleAsleep {
		k.idleRouse(c, k.now)
	}
}

// idleStateLeave is c out of its state, back in the driver. Every state takes the
// polling flag down on its way out, and it is set again only after interrupts have
// been let in.
func (k *Kernel) idleStateLeave(c *cpu) {
	c.idle.spell = k.now - c.idle.since
	c.idle.timedOut = c.idle.phase == idlePolling && !c.called()
	c.idle.phase = idleAwake
	c.polling = false
	k.charge(c, TimeIdleLoop, k.write(&c.flags, c.id))
	k.pay(c, TimeIdleLoop, CostReflect)
	k.then(c, stIdleBack)
	k.irqsOn(c)
}

// idleBack is c back in the loop.
func (k *Kernel) idleBack(c *cpu) {
	if c.idle.entered { // learnt late, when it is known whether a tick was what woke the CPU
		c.idle.entered = false
		k.menuReflect(c)
	}
	c.polling = !k.m.NoPollingFlag
	k.charge(c, TimeIdleLoop, k.write(&c.flags, c.id))
	k.idleCheck(c)
}

// idleLeave leaves the loop for schedule().
func (k *Kernel) idleLeave(c *cpu) {
	if c.tick.stopped {
		k.pay(c, TimeIdleLoop, CostTickRestart)
		k.tickRestart(c)
	}
	k.pay(c, TimeIdleLoop, CostIdleLeave)
	k.then(c, stIdleFlush)
}

// idleFlush clears the polling flag and serves the call queue: unless calls
// always come by interrupt, whose handler then does.
func (k *Kernel) idleFlush(c *cpu) {
	c.idle.phase = idleAway
	c.polling, c.notified = false, false
	k.charge(c, TimeIdleLoop, k.write(&c.flags, c.id))
	c.irqsOff[0] = true
	if len(c.callq) == 0 || k.base.CallSignal == SignalIPI {
		k.idleFlushed(c)
		return
	}
	k.flush(c)
}

func (k *Kernel) idleFlushed(c *cpu) {
	if c.softirq != 0 {
		k.softirqStart(c)
		return
	}
	if !c.needResched { // it was only to look at its queue
		k.count(IdleNotified)
		k.then(c, stIdleAgain)
		return
	}
	c.mode = k.idleMode()
	k.then(c, stIdleSchedule)
}

// idleAgain is c back at the top of its loop, with interrupts on.
func (k *Kernel) idleAgain(c *cpu) {
	k.idleEnter(c)
	k.irqsOn(c)
}

// idleSchedule lets interrupts in for a moment and calls schedule().
func (k *Kernel) idleSchedule(c *cpu) {
	if c.pending != 0 {
		k.then(c, stSchedule)
		k.irqsOn(c)
		return
	}
	k.schedule(c)
}
