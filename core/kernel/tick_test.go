package kernel

import (
	"slices"
	"testing"

	"schedlab/core/sim"
)

// The first of the timers is always the one that expires next.
func TestTimers(t *testing.T) {
	r := sim.NewRand(1, 0, sim.Workload)
	var h timers
	var want []sim.Time
	for range 20_000 {
		if len(want) > 0 && r.Below(int64(200+len(want))) < int64(len(want)) {
			h.drop()
			want = want[1:]
		} else {
			at := r.Between(0, 500)
			h.add(at)
			i, _ := slices.BinarySearch(want, at)
			want = slices.Insert(want, i, at)
		}
		if len(h) != len(want) || len(h) > 0 && h[0] != want[0] {
			t.Fatalf("%d timers from %v on, want %d from %v on", len(h), h[:min(len(h), 1)], len(want), want[:min(len(want), 1)])
		}
	}
}

// A timer is gone from the CPU's when its task is woken, and no other is.
func TestTimersAreServedInOrder(t *testing.T) {
	k := newKernel(t, small(t), Features{}, 0)
	for i := range 40 {
		spawn(t, k, TaskSpec{Name: "sleeper", CPUs: []int{3}, Prog: []Op{
			{Kind: OpSleep, D: sim.Time(1+i%7) * 100 * sim.Microsecond, N: int32(i % 3 * 45)}, {Kind: OpLoop, Obj: 1}}})
	}
	for k.now < 20*sim.Millisecond && k.Step(1) == Running {
		c := &k.cpus[3]
		var asleep int
		for i := range k.tasks {
			asleep += b2i(k.tasks[i].state == taskSleeping)
		}
		if n := len(c.tick.timers); n != asleep {
			t.Fatalf("at %s: %d tasks sleep, and there are %d timers", k.now, asleep, n)
		}
	}
	if k.status != Running {
		t.Error(k.fault)
	}
}
