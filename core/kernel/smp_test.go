package kernel

import (
	"fmt"
	"slices"
	"testing"

	"schedlab/core/sim"
)

// family are the designs for calls to idle CPUs that poll.
var family = []struct {
	name string
	Features
}{
	{"baseline", Features{}},
	{"sm-idle", fast},
	{"skip-newidle", Features{IdleReentry: IdleNoNewidle}},
	{"notify-ipi", Features{CallSignal: SignalNotify}},
	{"always-ipi", Features{CallSignal: SignalIPI}},
}

// What each design spares a CPU that is called while it idles, with a pair of tasks
// elsewhere that makes newidle balance walk.
func TestFamilySkipsItsSteps(t *testing.T) {
	for _, key := range []string{"epyc-2x64", "xeon-240"} {
		for _, f := range family {
			k := newKernel(t, lookup(t, key), f.Features, 3)
			spawn(t, k, storm(40, 300, 1))
			last := len(k.cpus) - 1
			spawn(t, k, hog("a", last))
			spawn(t, k, hog("b", last))
			s := finish(t, k)
			c := func(n Counter) int64 { return s.Counters[n] }
			polled := c(CallsPolledPoll) + c(CallsPolledMwait) + c(CallsPolledBefore)
			what := fmt.Sprintf("%s, %s", key, f.name)
			if f.CallSignal == SignalIPI {
				if polled != 0 || c(IPIs) < 300 {
					t.Errorf("%s: %d calls by flag and %d interrupts, want every call to interrupt", what, polled, c(IPIs))
				}
				if c(IdleReentries) > 5 { // but for ticks
					t.Errorf("%s: %d times through schedule(), though no call asked for it", what, c(IdleReentries))
				}
				continue
			}
			if polled < 50 {
				t.Fatalf("%s: %d calls by flag: the test shows nothing", what, polled)
			}
			switch f.name {
			case "baseline":
				if c(NewidleRoot) < polled/2 || c(IdleReentries) < polled-1 {
					t.Errorf("%s: %d walks and %d times through schedule() in %d calls by flag", what, c(NewidleRoot), c(IdleReentries), polled)
				}
			case "sm-idle":
				if c(NewidleCalls) > 5 || c(IdleFastReentries) < polled-1 {
					t.Errorf("%s: %d newidle balances, %d fast re-entries in %d calls by flag", what, c(NewidleCalls), c(IdleFastReentries), polled)
				}
			case "skip-newidle":
				if c(NewidleCalls) > 5 || c(IdleFastReentries) != 0 || c(IdleReentries) < polled-1 || s.Time[TimePick] == 0 {
					t.Errorf("%s: %d newidle balances and %d times through schedule() in %d calls by flag, %d ps of picking", what, c(NewidleCalls), c(IdleReentries), polled, s.Time[TimePick])
				}
			case "notify-ipi":
				if c(IdleReentries) > 5 || c(IdleNotified) < polled-1 {
					t.Errorf("%s: %d times through schedule() and %d around it in %d calls by flag", what, c(IdleReentries), c(IdleNotified), polled)
				}
			}
		}
	}
}

// A task that is woken through the call queue runs whatever signals the queue.
func TestFamilyWakes(t *testing.T) {
	for _, f := range family {
		k := newKernel(t, small(t), f.Features, 1)
		spawn(t, k, storm(3, 2000, 1))
		// A hog on CPU 9 makes the sleeper move to, and be woken on, other CPUs.
		spawn(t, k, hog("hog", 9))
		spawn(t, k, TaskSpec{Name: "sleeper", CPUs: []int{9, 10, 11, 12}, Prog: []Op{
			{Kind: OpSleep, D: 50 * sim.Microsecond}, {Kind: OpCompute, D: 10 * sim.Microsecond}, {Kind: OpLoop, Obj: 2},
		}})
		s := finish(t, k)
		if n := s.Counters[Wakeups]; n < 10 {
			t.Errorf("%s: %d wakeups while calls storm, want a few", f.name, n)
		}
	}
}

// The idle balance that a busy CPU asks an idle one for is cancelled by the flag
// that carries the request, unless that is a flag of its own.
func TestNotifyLetsTheKickThrough(t *testing.T) {
	kicked := func(f Features) int64 {
		k := newKernel(t, lookup(t, "epyc-2x64"), f, 1)
		spawn(t, k, hog("a", 17))
		spawn(t, k, hog("b", 17))
		spawn(t, k, TaskSpec{Name: "window", CPUs: []int{0}, Prog: []Op{
			{Kind: OpBegin}, {Kind: OpSleep, D: 100 * sim.Millisecond}, {Kind: OpEnd},
		}})
		s := finish(t, k)
		if s.Counters[NohzKicks] < 3 {
			t.Fatalf("%d kicks: the test shows nothing", s.Counters[NohzKicks])
		}
		return s.Counters[BalancePasses]
	}
	if before, after := kicked(Features{}), kicked(Features{CallSignal: SignalNotify}); after < before+50 {
		t.Errorf("%d balance passes with a flag for calls, %d without: want many more", after, before)
	}
}

// callAll is a task on CPU 0 that calls all other CPUs n times and ends the run.
func callAll(n, wait int32) TaskSpec {
	return TaskSpec{Name: "all", CPUs: []int{0}, Kthread: true, Prog: []Op{
		{Kind: OpSleep, D: 10 * sim.Millisecond},
		{Kind: OpBegin},
		{Kind: OpCallAll, N: wait},
		{Kind: OpLoop, Obj: 1, N: n},
		{Kind: OpEnd},
	}}
}

// A call to all others reaches each of them once, by interrupts that do not ask
// whether the target polls.
func TestCallAll(t *testing.T) {
	for _, key := range []string{"epyc-2x64", "power9-smt8"} {
		for _, f := range family {
			for wait := range int32(2) {
				k := newKernel(t, lookup(t, key), f.Features, 2)
				spawn(t, k, callAll(3, wait))
				delivery := k.SampleDelivery()
				s := finish(t, k)
				others := int64(len(k.cpus) - 1)
				what := fmt.Sprintf("%s, %s, wait %d", key, f.name, wait)
				if s.Counters[CallsSent] != 3*others {
					t.Errorf("%s: %d calls sent, want %d", what, s.Counters[CallsSent], 3*others)
				}
				if n := int64(s.Hists[delivery].N); wait == 1 && n != 3*others || wait == 0 && n < 2*others {
					t.Errorf("%s: %d functions have run, want %d", what, n, 3*others)
				}
				if s.Counters[PollWakes] != 0 {
					t.Errorf("%s: %d targets signalled by a flag, want none", what, s.Counters[PollWakes])
				}
				if wait == 1 && s.Counters[IPIs] != 3*others {
					t.Errorf("%s: %d interrupts, want one a target", what, s.Counters[IPIs])
				}
			}
		}
	}
}

// On a machine of two CPUs all others are one, which is called like any single target.
func TestCallAllOfOne(t *testing.T) {
	m := *small(t)
	m.CPUs = slices.Clone(m.CPUs[:2])
	m.Nodes = m.Nodes[:1]
	m.Nodes[0] = m.Nodes[0][:1]
	if err := m.Build(); err != nil {
		t.Fatal(err)
	}
	k := newKernel(t, &m, Features{}, 1)
	spawn(t, k, callAll(100, 1))
	s := finish(t, k)
	if s.Counters[PollWakes] == 0 || s.Counters[CallsSent] != 100 {
		t.Errorf("%d of %d calls by a flag, want some", s.Counters[PollWakes], s.Counters[CallsSent])
	}
}

// Tasks that begin together do: none leaves the barrier before the last has come,
// and the window closes when the last is through.
func TestBarrier(t *testing.T) {
	k := newKernel(t, small(t), Features{}, 1)
	early := k.Metric()
	for cpu := range 4 {
		spawn(t, k, TaskSpec{Name: fmt.Sprint(cpu), CPUs: []int{cpu}, Kthread: true, Prog: []Op{
			{Kind: OpSleep, D: sim.Time(1+cpu) * sim.Millisecond},
			{Kind: OpStamp},
			{Kind: OpBegin, N: 4},
			{Kind: OpMark, Obj: int32(early)},
			{Kind: OpCompute, D: sim.Time(1+cpu) * sim.Millisecond},
			{Kind: OpEnd, N: 4},
		}})
	}
	s := finish(t, k)
	if s.Elapsed < 4*sim.Millisecond || s.Elapsed > 5*sim.Millisecond {
		t.Errorf("a window of %s, want the 4 ms of the longest task", s.Elapsed)
	}
	if h := &s.Hists[early]; h.N != 4 || sim.Time(h.Max) < 2900*sim.Microsecond {
		t.Errorf("%d tasks have passed the barrier, the first after %s: want 4 and 3 ms", h.N, sim.Time(h.Max))
	}
}

// A loop ends at its count or when its time is over, whichever comes first.
func TestLoopTimeout(t *testing.T) {
	for _, c := range []struct {
		n    int32
		d    sim.Time
		want int64
	}{{50, 0, 50}, {0, sim.Millisecond, 10}, {5, sim.Millisecond, 5}, {50, sim.Millisecond, 10}} {
		k := newKernel(t, small(t), Features{}, 1)
		id := k.Metric()
		spawn(t, k, TaskSpec{Name: "loop", CPUs: []int{0}, Kthread: true, Prog: []Op{
			{Kind: OpBegin}, {Kind: OpStamp}, {Kind: OpCompute, D: 100 * sim.Microsecond}, {Kind: OpMark, Obj: int32(id)},
			{Kind: OpLoop, Obj: 3, N: c.n, D: c.d}, {Kind: OpEnd},
		}})
		if s := finish(t, k); int64(s.Hists[id].N) != c.want {
			t.Errorf("N=%d, D=%s: %d times round, want %d", c.n, c.d, s.Hists[id].N, c.want)
		}
	}
}

// A call is delivered after it was begun and before it returns, if that waits.
func TestDelivery(t *testing.T) {
	k := newKernel(t, small(t), Features{}, 1)
	call := k.Metric()
	delivery := k.SampleDelivery()
	s := storm(3, 200, 1)
	s.Prog = []Op{s.Prog[0], s.Prog[1], {Kind: OpStamp}, s.Prog[2], {Kind: OpMark, Obj: int32(call)}, {Kind: OpLoop, Obj: 3, N: 200}, {Kind: OpEnd}}
	spawn(t, k, s)
	r := finish(t, k)
	c, d := &r.Hists[call], &r.Hists[delivery]
	if c.N != 200 || d.N != 200 || d.Min <= 0 || d.Sum >= c.Sum || d.Max >= c.Max {
		t.Errorf("%d calls of %d ps in all, %d delivered in %d", c.N, c.Sum, d.N, d.Sum)
	}
}

// Without a polling flag every signal to an idle CPU is an interrupt.
func TestNoPollingFlag(t *testing.T) {
	for _, f := range family {
		k := newKernel(t, lookup(t, "kunpeng-920"), f.Features, 1)
		spawn(t, k, storm(16, 300, 1))
		if s := finish(t, k); s.Counters[PollWakes] != 0 || s.Counters[IPIs] < 300 {
			t.Errorf("%s: %d signals by flag, %d by interrupt", f.name, s.Counters[PollWakes], s.Counters[IPIs])
		}
	}
}

// A call to all others pays for one write where there is a shorthand for it, else
// for one each multicast group.
func TestCallAllWrites(t *testing.T) {
	sent := func(shorthand bool, group int) sim.Time {
		m := *lookup(t, "epyc-2x64")
		m.Shorthand, m.Multicast.N = shorthand, group
		if err := m.Build(); err != nil {
			t.Fatal(err)
		}
		k := newKernel(t, &m, Features{}, 1)
		spawn(t, k, callAll(20, 1))
		return sim.Time(finish(t, k).Time[TimeCall])
	}
	one, groups, each := sent(true, 16), sent(false, 16), sent(false, 1)
	write := CostsOn(lookup(t, "epyc-2x64"))[CostIPISend]
	if d := groups - one; d < 20*15*write*9/10 || d > 20*15*write*12/10 {
		t.Errorf("16 groups take %s longer than one write, want 20 calls of 15 writes of %s", d, write)
	}
	if d := each - groups; d < 20*239*write*9/10 || d > 20*239*write*12/10 {
		t.Errorf("255 writes take %s longer than 16, want 20 calls of 239 writes of %s", d, write)
	}
}
