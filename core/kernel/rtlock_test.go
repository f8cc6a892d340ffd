package kernel

import (
	"fmt"
	"strings"
	"testing"

	"schedlab/core/sim"
)

// contend runs tasks that take one lock in turn, two on a CPU, and returns the kernel
// at the end.
func contend(t *testing.T, f Features, rt, check bool) (*Kernel, Status, Snapshot) {
	t.Helper()
	base := Bases[0]
	base.Features = f
	if rt {
		base.Preemption = PreemptRT
	}
	m := small(t)
	k, err := New(Config{Machine: m, Base: base, Costs: CostsOn(m), Seed: 1, Check: check, Budget: 5_000_000})
	if err != nil {
		t.Fatal(err)
	}
	id, wait := k.Lock(), k.Metric()
	for i := range 6 {
		spawn(t, k, TaskSpec{Name: fmt.Sprint(i), CPUs: []int{i % 3}, Prog: []Op{
			{Kind: OpBegin, N: 6},
			{Kind: OpStamp},
			{Kind: OpLock, Obj: int32(id)},
			{Kind: OpMark, Obj: int32(wait)},
			{Kind: OpCompute, D: 20 * sim.Microsecond, N: 50},
			{Kind: OpUnlock, Obj: int32(id)},
			{Kind: OpCompute, D: 20 * sim.Microsecond, N: 50},
			{Kind: OpLoop, Obj: 6, N: 500},
			{Kind: OpEnd, N: 6},
		}})
	}
	status := Running
	for status == Running {
		status = k.Step(1000)
	}
	var s Snapshot
	k.Read(&s)
	return k, status, s
}

// v1 of SM_IDLE leaves tasks that wait for an rtlock on their run queues, where they
// are picked again and again; before it, in v2, and without PREEMPT_RT nobody does.
func TestRTLock(t *testing.T) {
	v1 := Features{IdleReentry: IdleFast, PreemptTest: PreemptAbove}
	var good Snapshot
	for _, c := range []struct {
		name string
		Features
		rt, fault bool
	}{
		{"before", Features{}, true, false},
		{"v2", fast, true, false},
		{"v1", v1, true, true},
		{"v1 without RT", v1, false, false},
		{"before without RT", Features{}, false, false},
	} {
		_, status, s := contend(t, c.Features, c.rt, false)
		if status != Done || s.Hists[0].N != 3000 {
			t.Fatalf("%s: status %d, %d acquisitions: %s", c.name, status, s.Hists[0].N, s.Fault)
		}
		if left := s.Counters[RTLockLeftQueued]; (left > 0) != c.fault {
			t.Errorf("%s: %d waiters left on their queues", c.name, left)
		}
		if waits := s.Counters[RTLockWaits]; (waits > 0) != c.rt {
			t.Errorf("%s: %d waits that go to schedule()", c.name, waits)
		}
		switch c.name {
		case "before":
			good = s
		case "v2":
			if d := s.Elapsed - good.Elapsed; d > good.Elapsed/10 || -d > good.Elapsed/10 {
				t.Errorf("v2 takes %s, and before it took %s", s.Elapsed, good.Elapsed)
			}
		case "v1":
			if got, was := s.Counters[SwitchesInvoluntary], good.Counters[SwitchesInvoluntary]; got < 2*was {
				t.Errorf("%d involuntary switches with the fault, %d without", got, was)
			}
			if got, was := s.Counters[RTLockWaits], good.Counters[RTLockWaits]; got < 2*was {
				t.Errorf("%d calls of schedule() for a lock with the fault, %d without", got, was)
			}
		}
		if _, status, s := contend(t, c.Features, c.rt, true); (status == Broken) != c.fault || c.fault && !strings.Contains(s.Fault, "blocked and on the queue") {
			t.Errorf("%s: checked, status %d: %q", c.name, status, s.Fault)
		}
	}
}

// A lock is one task's at a time: the time in it adds up.
func TestLockExcludes(t *testing.T) {
	for _, rt := range []bool{false, true} {
		_, _, s := contend(t, Features{}, rt, true)
		// 3000 turns of 20 µs ± 50 %, which can't overlap.
		if s.Elapsed < 3000*19*sim.Microsecond {
			t.Errorf("PREEMPT_RT %v: 3000 turns of 20 µs took %s", rt, s.Elapsed)
		}
	}
}

// On PREEMPT_RT kernel threads give way and wakeups do not use the call queue.
func TestRTPreempts(t *testing.T) {
	k := newKernel(t, small(t), Features{}, 0)
	k.base.Preemption = PreemptRT
	first := hog("first", 3)
	first.Kthread = true
	spawn(t, k, first)
	spawn(t, k, hog("second", 3))
	for k.now < 300*sim.Millisecond && k.Step(1) == Running {
	}
	if k.status != Running || k.counters[SwitchesInvoluntary] == 0 || k.counters[WakeupsQueued] != 0 {
		t.Errorf("%d involuntary switches, %d queued wakeups; %s", k.counters[SwitchesInvoluntary], k.counters[WakeupsQueued], k.fault)
	}
}
