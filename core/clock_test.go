package core

import (
	"testing"

	"schedlab/core/kernel"
)

// Every counter of the clock has its place, and no other has one.
func TestClockOf(t *testing.T) {
	counters := make([]int64, kernel.NumCounters)
	for i := range counters {
		counters[i] = int64(1000 + i)
	}
	c := ClockOf(counters)
	value := func(c kernel.Counter) int64 { return 1000 + int64(c) }
	for i, n := range c.Callbacks {
		cb := kernel.Counter(i)
		if want := (ClockCount{value(kernel.ExtCalls + cb), value(kernel.ClockUses + cb), value(kernel.ClockReads + cb)}); n != want {
			t.Errorf("%s: %+v, want %+v", kernel.Callbacks[i], n, want)
		}
	}
	for i, n := range []kernel.Counter{kernel.ClockMissUnpinned, kernel.ClockMissRemote, kernel.ClockMissUnlocked, kernel.ClockMissRefreshed} {
		if c.Misses[i] != value(n) {
			t.Errorf("misses, %s: %d, want %d", ClockCauses[i].Key, c.Misses[i], value(n))
		}
	}
	for i, want := range []ClockWay{
		{value(kernel.ClockUsesLocal), value(kernel.ClockHitsLocal)},
		{value(kernel.ClockUsesRemote), value(kernel.ClockHitsRemote)},
		{value(kernel.ClockUsesQueued), value(kernel.ClockHitsQueued)},
	} {
		if c.Ways[i] != want {
			t.Errorf("%s: %+v, want %+v", ClockWays[i].Key, c.Ways[i], want)
		}
	}
	for i := range kernel.NumCounters {
		n := kernel.Counter(i)
		if got, want := InClock(n), n >= kernel.ExtCalls && n < kernel.ClockOldest; got != want {
			t.Errorf("%s is among them: %v, want %v", kernel.Counters[i].Key, got, want)
		}
	}
	if c := ClockOf(nil); c != (Clock{}) || c.All.Saved().OK || c.Ways[0].Hit().OK {
		t.Errorf("of no counters: %+v", c)
	}
	if got := (ClockCount{Uses: 8, Reads: 6}).Saved(); !got.OK || got.V != 0.25 {
		t.Errorf("6 reads for 8 times: %+v saved, want a quarter", got)
	}
	if got := (ClockWay{Uses: 8, Hits: 6}).Hit(); !got.OK || got.V != 0.75 {
		t.Errorf("6 hits of 8: %+v", got)
	}
}

// What a run counts adds up: each time that was asked for is a read or came from the cache, and each read with a cached
// clock is a miss with a cause.
func TestClockAddsUp(t *testing.T) {
	r := mustRun(t, parse(t, "?m=apu-8&k=6.12&scx=lavd&w=messaging&group=2&nr_loops=2&thread=1&bg=quiet&runs=1&arm=&arm=scx-now-v1&arm=scx-now-v4&arm=scx-now&arm=scx-now-v1,scx-queued-wakeup"))
	for arm := range r.Parts {
		name := ArmName(r.Scenario.Arms[arm])
		c := ClockOf(r.Total(arm).Counters)
		if c.All.Calls == 0 || c.All.Uses == 0 {
			t.Errorf("%s: no callback has asked for the time: %+v", name, c.All)
		}
		misses := int64(0)
		for _, n := range c.Misses {
			misses += n
		}
		if want := c.All.Reads; arm > 0 && misses != want || arm == 0 && (misses != 0 || want != c.All.Uses) {
			t.Errorf("%s: %d misses, %d reads, %d times asked for", name, misses, c.All.Reads, c.All.Uses)
		}
		if arm > 0 && c.All.Saved().V <= 0 {
			t.Errorf("%s saves no read", name)
		}
		uses := int64(0)
		for _, w := range c.Ways {
			uses += w.Uses
		}
		wakes := c.Callbacks[kernel.ExtRunnable].Uses + c.Callbacks[kernel.ExtEnqueue].Uses
		if uses == 0 || uses > wakes {
			t.Errorf("%s: %d times asked for while waking a task, of %d in runnable and enqueue", name, uses, wakes)
		}
	}
}
