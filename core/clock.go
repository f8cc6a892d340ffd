package core

import (
	"schedlab/core/kernel"
	"schedlab/core/stats"
)

// A Clock says from where a sched_ext scheduler has had the time, in some runs of an arm.
type Clock struct {
	Callbacks [kernel.NumCallbacks]ClockCount // by kernel.Callback
	All       ClockCount                      // of all callbacks
	Misses    [len(ClockCauses)]int64         // of the cached clock, by cause
	Ways      [len(ClockWays)]ClockWay        // in runnable and enqueue, by how the task is woken
}

// A ClockCount is of one callback, or of all.
type ClockCount struct {
	Calls int64
	Uses  int64 // times asked for
	Reads int64 // of these: reads of the hardware's clock
}

// Saved is the share of the times asked for that needed no read of the hardware; not OK if none was asked for.
func (c ClockCount) Saved() stats.Number { return share(c.Uses-c.Reads, c.Uses) }

// A ClockWay is of the times asked for while tasks are woken in one way.
type ClockWay struct {
	Uses int64
	Hits int64 // of these: from the cached clock
}

// Hit is the share of the times that came from the cached clock; not OK if none was asked for.
func (w ClockWay) Hit() stats.Number { return share(w.Hits, w.Uses) }

func share(n, of int64) stats.Number {
	if of == 0 {
		return stats.Number{}
	}
	return stats.Number{V: float64(n) / float64(of), OK: true}
}

// ClockCauses name the causes of misses, and ClockWays the ways of waking a task.
var (
	ClockCauses = [...]kernel.Info{
		{Key: "unpinned", Text: "the run queue's lock was unpinned since the clock was updated: in dispatch and behind it"},
		{Key: "remote", Text: "another CPU's run queue is locked: its clock is valid, and the lookup is of this CPU's"},
		{Key: "unlocked", Text: "no run queue is locked: in select_cpu and timers"},
		{Key: "refreshed", Text: "the cached time is earlier than the one given before (v1 to v3), or an update has not taken the clock further (v4)"},
	}
	ClockWays = [...]kernel.Info{
		{Key: "local", Text: "waking a task here"},
		{Key: "remote lock", Text: "waking one on another CPU, under its run queue's lock"},
		{Key: "wake list", Text: "waking one from its CPU's call queue"},
	}
)

// ClockOf returns the Clock that a Part's counters tell of.
func ClockOf(counters []int64) (c Clock) {
	at := func(c kernel.Counter, i int) int64 { return at(counters, int(c)+i) }
	for i := range c.Callbacks {
		n := ClockCount{at(kernel.ExtCalls, i), at(kernel.ClockUses, i), at(kernel.ClockReads, i)}
		c.Callbacks[i] = n
		c.All.Calls += n.Calls
		c.All.Uses += n.Uses
		c.All.Reads += n.Reads
	}
	for i := range c.Misses {
		c.Misses[i] = at(kernel.ClockMissUnpinned, i)
	}
	for i := range c.Ways {
		c.Ways[i] = ClockWay{at(kernel.ClockUsesLocal, i), at(kernel.ClockHitsLocal, i)}
	}
	return c
}

// InClock tells whether a Clock has a counter: then no list of counters needs it.
func InClock(c kernel.Counter) bool {
	return c >= kernel.ExtCalls && c < kernel.ClockUsesLocal+kernel.Counter(2*len(ClockWays))
}
