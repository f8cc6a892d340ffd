package kernel

import "schedlab/core/sim"

// The clock that schedulers go by. Reading the hardware's takes time, so the run queue's clock, which the
// kernel reads whenever it takes the queue's lock, can stand in for it: as long as it is valid. It becomes
// valid as it is updated and stops being so when the lock is unpinned. What a scheduler's read finds is the flag of
// the CPU that it runs on, whichever run queue is locked.
//
// The versions of that idea differ in what a read does that finds the clock invalid, and in what else ends its
// validity. A read through versions 1 to 4 makes it valid again, though no lock may be held; as merged it does not.
//
// Versions 1 to 3 read sched_clock() where the cached time is sched_clock_cpu()'s, and on x86 that one lags behind. They
// promise that time never goes back on a CPU, so they compare the cached time with the one that they gave last, and read the
// hardware where it is earlier: which it always is after an update, once they have read the hardware.

// An extClock is a run queue's cached clock.
type extClock struct {
	at    sim.Time // SCX_RQ_CLK: what it says
	valid bool
	prev  sim.Time // v1: the time that was given last; v4: what the clock said before it was last updated
}

// updateRQClock brings the clock of c's run queue up to what CPU by has got to.
func (k *Kernel) updateRQClock(by, c *cpu) {
	c.rq.clock = max(c.rq.clock, by.t)
	if k.ext == nil {
		return
	}
	k.count(ClockUpdates)
	if e := &c.rq.ext; k.base.ExtClock == ClockNowV4 {
		e.prev = e.at
	}
	at := c.rq.clock
	if k.base.ExtClock == ClockNowV1 {
		at -= k.ext.lag
	}
	c.rq.ext.set(at)
}

// unpin ends the validity of the cached clock, as the lock of c's run queue is given up or let go.
func (k *Kernel) unpin(c *cpu) { c.rq.ext.valid = false }

// set makes the clock say t, and valid.
func (e *extClock) set(t sim.Time) { e.at, e.valid = t, true }

// Now returns the time, as the scheduler reads it: from the hardware's clock, or as the kernel's ExtClock has it.
func (x *Ext) Now() sim.Time {
	k, c := x.k, x.c
	k.counters[ClockUses+Counter(x.callback)]++
	wakes := x.way != wayNone && (x.callback == ExtRunnable || x.callback == ExtEnqueue)
	if wakes {
		k.counters[ClockUsesLocal+Counter(x.way-wayLocal)]++
	}
	e := &c.rq.ext
	at := min(e.at, c.t) // another CPU's path may have got ahead of this one's
	stale := k.base.ExtClock == ClockNowV4 && e.at <= e.prev || k.base.ExtClock == ClockNowV1 && at < e.prev
	if k.base.ExtClock == ClockHardware || !e.valid || stale {
		return x.missed(e)
	}
	k.pay(c, TimeExt, CostClockCached)
	if wakes {
		k.counters[ClockHitsLocal+Counter(x.way-wayLocal)]++
	}
	if age := int64((c.t - at) / sim.Nanosecond); age > k.counters[ClockOldest] {
		k.counters[ClockOldest] = age
	}
	if k.base.ExtClock == ClockNowV1 {
		e.prev = at
	}
	return at
}

// missed reads the hardware's clock.
func (x *Ext) missed(e *extClock) sim.Time {
	k, c := x.k, x.c
	k.counters[ClockReads+Counter(x.callback)]++
	k.pay(c, TimeClockRead, CostClockRead)
	if k.base.ExtClock == ClockHardware {
		return c.t
	}
	switch {
	case e.valid:
		k.count(ClockMissRefreshed)
	case x.locked == nil:
		k.count(ClockMissUnlocked)
	case x.locked != c:
		k.count(ClockMissRemote)
	default:
		k.count(ClockMissUnpinned)
	}
	switch k.base.ExtClock {
	case ClockNowV1:
		e.set(c.t)
		e.prev = c.t
	case ClockNowV4:
		e.prev = e.at
		e.set(c.t)
	}
	return c.t
}

// Counters of the ext class's clock follow the others in the table of counters, the first three kinds once for
// each callback: ExtCalls + Counter(ExtRunnable) is how often Runnable was called.
const (
	ExtCalls   = Counter(numPlainCounters)          // calls of the callback
	ClockUses  = ExtCalls + Counter(NumCallbacks)   // times that the callback asked for
	ClockReads = ClockUses + Counter(NumCallbacks)  // of these: reads of the hardware
	numByCall  = ClockReads + Counter(NumCallbacks) // the first one after them
)

// The other counters of the ext class.
const (
	ClockMissUnpinned  = numByCall + iota // in a section of the own run queue, whose lock was unpinned since the clock was updated
	ClockMissRemote                       // in a section of another CPU's run queue: that one's clock is valid
	ClockMissUnlocked                     // outside of such sections
	ClockMissRefreshed                    // the cached time was earlier than the one given before (v1), or no later than the update before (v4)
	ClockUsesLocal                        // in Runnable and Enqueue, waking a task here
	ClockUsesRemote                       // waking one on another CPU, under its lock
	ClockUsesQueued                       // waking one from the CPU's call queue
	ClockHitsLocal                        // of ClockUsesLocal: from the cache
	ClockHitsRemote                       // of ClockUsesRemote
	ClockHitsQueued                       // of ClockUsesQueued
	ClockOldest                           // the greatest age of a cached time that was given, ns
	ClockUpdates                          // reads of the hardware by the kernel itself, to bring run queues' clocks up to date
	ExtDirect                             // tasks that SelectCPU inserted
	ExtMoves                              // tasks that dispatch moved to another CPU
	ExtKicks                              // CPUs that were kicked
	lastCounter

	NumCounters = int(lastCounter)
)

// A Callback is one of a scheduler's callbacks.
type Callback uint8

// The callbacks.
const (
	ExtSelectCPU Callback = iota
	ExtRunnable
	ExtEnqueue
	ExtDispatch
	ExtRunning
	ExtStopping
	ExtQuiescent
	ExtTick
	ExtUpdateIdle
	ExtTimer
	NumCallbacks = iota
)

// Callbacks names them, as the kernel does.
var Callbacks = [NumCallbacks]string{
	ExtSelectCPU: "select_cpu", ExtRunnable: "runnable", ExtEnqueue: "enqueue", ExtDispatch: "dispatch", ExtRunning: "running",
	ExtStopping: "stopping", ExtQuiescent: "quiescent", ExtTick: "tick", ExtUpdateIdle: "update_idle", ExtTimer: "timer",
}
