package kernel

import (
	"fmt"
	"strings"
	"testing"

	"schedlab/core/machine"
	"schedlab/core/sim"
)

// small is a machine of 2 sockets × 2 caches × 2 cores × 2 threads: small enough
// to check after every event, large enough to have every level.
func small(t testing.TB) *machine.Machine {
	t.Helper()
	model, err := machine.Lookup("epyc-2x64")
	if err != nil {
		t.Fatal(err)
	}
	m := *model
	topology := machine.Topology{Sockets: 2, NodesPerSocket: 1, LLCsPerNode: 2, CoresPerLLC: 2, ThreadsPerCore: 2}
	m.Key, m.CPUs, m.Nodes = "small", topology.CPUs(), topology.Nodes()
	if err := m.Build(); err != nil {
		t.Fatal(err)
	}
	return &m
}

func lookup(t testing.TB, key string) *machine.Machine {
	t.Helper()
	m, err := machine.Lookup(key)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// newKernel returns a checked kernel of the first base with these features.
func newKernel(t testing.TB, m *machine.Machine, f Features, run uint32) *Kernel {
	t.Helper()
	base := Bases[0]
	base.Features = f
	k, err := New(Config{Machine: m, Base: base, Costs: CostsOn(m), Seed: 1, Run: run, Check: true, Budget: 20_000_000})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func spawn(t testing.TB, k *Kernel, s TaskSpec) {
	t.Helper()
	if err := k.Spawn(s); err != nil {
		t.Fatal(err)
	}
}

// finish runs k to its end.
func finish(t testing.TB, k *Kernel) Snapshot {
	t.Helper()
	status := Running
	for status == Running {
		status = k.Step(1000)
	}
	var s Snapshot
	k.Read(&s)
	if status != Done {
		t.Fatalf("status %d after %d events: %s", status, s.Events, s.Fault)
	}
	return s
}

// fast is the feature that SM_IDLE turns on, with the preemption test of its
// merged version.
var fast = Features{IdleReentry: IdleFast, PreemptTest: PreemptExactly}

// storm is a task on CPU 0 that calls target n times and ends the run.
func storm(target int32, n, wait int32) TaskSpec {
	return TaskSpec{Name: "storm", CPUs: []int{0}, Kthread: true, Prog: []Op{
		{Kind: OpSleep, D: 10 * sim.Millisecond},
		{Kind: OpBegin},
		{Kind: OpCall, Obj: target, N: wait},
		{Kind: OpResched},
		{Kind: OpLoop, Obj: 2, N: n},
		{Kind: OpEnd},
	}}
}

// hog computes for ever on one CPU.
func hog(name string, cpu int) TaskSpec {
	return TaskSpec{Name: name, CPUs: []int{cpu}, Prog: []Op{
		{Kind: OpCompute, D: sim.Second}, {Kind: OpLoop, Obj: 1},
	}}
}

// Every path by which a call can reach its target is served, and each call
// counts for one path.
func TestCallsTakeOnePathEach(t *testing.T) {
	paths := []Counter{CallsLocal, CallsPolledPoll, CallsPolledMwait, CallsPolledBefore, CallsIRQsOff, CallsIdleEntry, CallsAsleep, CallsBusy, CallsQueued}
	for _, machineKey := range []string{"epyc-2x64", "xeon-240", "power9-smt8", "small"} {
		m := small(t)
		if machineKey != "small" {
			m = lookup(t, machineKey)
		}
		for _, f := range []Features{{}, fast} {
			for target := range int32(16) {
				for wait := range int32(2) {
					k := newKernel(t, m, f, uint32(target))
					if target == 5 {
						spawn(t, k, hog("hog", 5))
					}
					spawn(t, k, storm(target, 100, wait))
					s := finish(t, k)
					var sum int64
					for _, p := range paths {
						sum += s.Counters[p]
					}
					if s.Counters[CallsSent] != 100 {
						t.Errorf("%s, target %d, wait %d: %d calls sent, want 100", machineKey, target, wait, s.Counters[CallsSent])
					}
					// A call that nobody waits for can still be on its way at the end.
					if missing := s.Counters[CallsSent] - sum; missing < 0 || missing > int64(1-wait) {
						t.Errorf("%s, target %d, wait %d: %d calls counted by their paths, want 100", machineKey, target, wait, sum)
					}
					if target == 0 && s.Counters[CallsLocal] != 100 {
						t.Errorf("%s: %d calls to the own CPU stayed on it, want 100", machineKey, s.Counters[CallsLocal])
					}
					if target == 5 && s.Counters[CallsBusy] < 90 {
						t.Errorf("%s: %d calls interrupted the task on their target, want most of 100", machineKey, s.Counters[CallsBusy])
					}
				}
			}
		}
	}
}

// Only idle states that wait on a monitor and the polling state are woken
// without an interrupt: POWER9 has the latter only.
func TestOnlyMonitorsSleepWithTheFlagUp(t *testing.T) {
	k := newKernel(t, lookup(t, "power9-smt8"), Features{}, 0)
	spawn(t, k, storm(9, 50, 1))
	s := finish(t, k)
	if s.Counters[CallsPolledMwait] != 0 {
		t.Errorf("%d calls were polled by a machine without MWAIT", s.Counters[CallsPolledMwait])
	}
	if s.Counters[CallsAsleep] == 0 {
		t.Error("no call woke a sleeping CPU by an interrupt; the first one should")
	}
}

// The fast path changes what the published table says that it changes.
func TestFastReentrySkipsThePick(t *testing.T) {
	for _, c := range []struct {
		f             Features
		fast, newidle bool
	}{
		{Features{}, false, true},
		{fast, true, false},
		{Features{PreemptTest: PreemptExactly}, false, true},
		{Features{IdleReentry: IdleFast}, true, false},
	} {
		k := newKernel(t, small(t), c.f, 0)
		spawn(t, k, storm(5, 200, 1))
		s := finish(t, k)
		if s.Counters[IdleReentries] == 0 {
			t.Fatalf("%+v: nothing re-entered idle", c.f)
		}
		if got := s.Counters[IdleFastReentries] == s.Counters[IdleReentries]; got != c.fast {
			t.Errorf("%+v: %d of %d re-entries were fast", c.f, s.Counters[IdleFastReentries], s.Counters[IdleReentries])
		}
		if got := s.Counters[NewidleCalls] > 0; got != c.newidle {
			t.Errorf("%+v: %d newidle balance calls", c.f, s.Counters[NewidleCalls])
		}
		if got := s.Time[TimePick] > 0; got != c.newidle {
			t.Errorf("%+v: %d ps were spent picking", c.f, s.Time[TimePick])
		}
	}
}

// A stale overloaded flag without a pair of tasks costs one full walk: the walk
// reaches the root domain and takes the flag down.
func TestStaleOverloadedCostsOneWalk(t *testing.T) {
	for _, m := range []*machine.Machine{small(t), lookup(t, "epyc-2x64"), lookup(t, "xeon-240")} {
		k := newKernel(t, m, Features{}, 0)
		spawn(t, k, storm(5, 300, 1))
		for !k.opened && k.status == Running {
			k.Step(1)
		}
		k.setOverloaded(true)
		k.cpus[5].rq.avgIdle = 2 * k.cpus[5].rq.maxIdleCost
		before := k.counters
		s := finish(t, k)
		if n := s.Counters[NewidleRoot] - before[NewidleRoot]; n != 1 {
			t.Errorf("%s: %d full walks, want 1", m.Key, n)
		}
		for _, c := range []Counter{NewidleWalks1, NewidleWalks2, NewidleWalks3, NewidleWalks4} {
			want := int64(0)
			if int(c-NewidleWalks1) == min(len(m.Domains[5]), 4)-1 {
				want = 1
			}
			if s.Counters[c] != want {
				t.Errorf("%s: %s = %d, want %d", m.Key, Counters[c].Key, s.Counters[c], want)
			}
		}
		if k.overloaded {
			t.Errorf("%s: the flag is still up", m.Key)
		}
	}
}

// Without time for it, walks stop below the root and the flag stays up.
func TestShortIdleKeepsTheFlagUp(t *testing.T) {
	m := lookup(t, "epyc-2x64")
	k := newKernel(t, m, Features{}, 0)
	spawn(t, k, storm(16, 300, 1))
	for !k.opened && k.status == Running {
		k.Step(1)
	}
	k.setOverloaded(true)
	r := &k.cpus[16].rq
	r.avgIdle = r.domains[0].maxCost + r.domains[1].maxCost + 1 // pays for two levels at their old costs
	s := finish(t, k)
	if s.Counters[NewidleRoot] != 0 || !k.overloaded {
		t.Errorf("%d walks reached the root; overloaded = %v, want none and true", s.Counters[NewidleRoot], k.overloaded)
	}
	if walks := s.Counters[NewidleWalks1] + s.Counters[NewidleWalks2]; walks < 30 {
		t.Errorf("%d short walks in 300 calls, want many", walks)
	}
}

// A pinned pair on another node keeps the flag up; each walk then reaches the root.
func TestPinnedPairKeepsTheFlagUp(t *testing.T) {
	m := lookup(t, "epyc-2x64")
	k := newKernel(t, m, Features{}, 0)
	last := len(m.CPUs) - 1
	spawn(t, k, hog("here", 2)) // else the nodes would look uneven, and the redo take the flag down
	spawn(t, k, hog("a", last))
	spawn(t, k, hog("b", last))
	spawn(t, k, storm(16, 300, 1))
	s := finish(t, k)
	if !k.overloaded {
		t.Error("the flag is down though two tasks share a CPU")
	}
	if s.Counters[NewidleRoot] < 100 {
		t.Errorf("%d walks reached the root, want one at every second call or so", s.Counters[NewidleRoot])
	}
	if k.opened && s.Counters[Migrations] != 0 {
		t.Errorf("%d migrations of pinned tasks", s.Counters[Migrations])
	}
}

// Tasks pinned to one CPU of a crowded core can't be moved: the pass over the cores is
// made once more, without that CPU.
func TestPinnedTasksCostARedo(t *testing.T) {
	k := newKernel(t, small(t), Features{}, 0)
	for i := range 3 {
		spawn(t, k, hog(fmt.Sprint("hog", i), 1))
	}
	spawn(t, k, storm(8, 300, 1)) // CPU 8 shares its cache with CPU 1, and its core with the sender
	s := finish(t, k)
	passes := s.Counters[NewidleWalks2] + s.Counters[NewidleWalks3] + s.Counters[NewidleWalks4]
	if passes == 0 || s.Counters[AllPinnedRedos] < passes {
		t.Errorf("%d passes were made again in %d walks, want at least one each", s.Counters[AllPinnedRedos], passes)
	}
}

// An idle CPU takes a task that waits elsewhere, if it may run there.
func TestNewidlePullsAWaitingTask(t *testing.T) {
	k := newKernel(t, small(t), Features{}, 0)
	free := hog("free", 1)
	free.CPUs = []int{1, 2, 3, 4, 5, 6, 7}
	spawn(t, k, hog("pinned", 1))
	spawn(t, k, free)
	spawn(t, k, TaskSpec{Name: "ticker", CPUs: []int{2}, Prog: []Op{ // goes idle often
		{Kind: OpCompute, D: 10 * sim.Microsecond}, {Kind: OpSleep, D: 1300 * sim.Microsecond}, {Kind: OpLoop, Obj: 2}}})
	spawn(t, k, TaskSpec{Name: "clock", CPUs: []int{0}, Prog: []Op{
		{Kind: OpSleep, D: 50 * sim.Millisecond}, {Kind: OpBegin}, {Kind: OpSleep, D: 500 * sim.Millisecond}, {Kind: OpEnd}}})
	s := finish(t, k)
	if user := sim.Time(s.Time[TimeUser]); user < 2*s.Elapsed*95/100 {
		t.Errorf("two tasks with CPUs to spare ran for %s in %s", user, s.Elapsed)
	}
	if k.over != 0 {
		t.Errorf("%d CPUs hold two tasks at the end", k.over)
	}
}

// A kernel thread runs on until it asks, a user task gives way at the tick.
func TestKthreadsAreNotPreempted(t *testing.T) {
	for _, kthread := range []bool{false, true} {
		k := newKernel(t, small(t), Features{}, 0)
		first := hog("first", 3)
		first.Kthread = kthread
		spawn(t, k, first)
		spawn(t, k, hog("second", 3))
		for k.now < 300*sim.Millisecond && k.Step(1) == Running {
		}
		if preempted := k.counters[SwitchesInvoluntary] > 0; preempted == kthread {
			t.Errorf("kthread %v: %d involuntary switches", kthread, k.counters[SwitchesInvoluntary])
		}
	}
}

// v1's preemption test takes a task that waits for an rtlock on PREEMPT_RT for
// preempted: it stays queued though it is blocked, which the checks must see.
func TestRTLockWaitTakenForPreempted(t *testing.T) {
	for _, c := range []struct {
		name string
		test PreemptTest
		rt   bool
		want bool
	}{
		{"before", PreemptMask, true, false},
		{"v1", PreemptAbove, true, true},
		{"v2", PreemptExactly, true, false},
	} {
		k := newKernel(t, small(t), Features{PreemptTest: c.test}, 0)
		if c.rt {
			k.base.Preemption = PreemptRT
		}
		if got := k.preempted(modeRTLockWait); got != c.want {
			t.Errorf("%s: waiting for an rtlock counts as preempted: %v, want %v", c.name, got, c.want)
		}
		for mode, want := range map[schedMode]bool{modeNone: false, modePreempt: true} {
			if got := k.preempted(mode); got != want {
				t.Errorf("%s: mode %d counts as preempted: %v, want %v", c.name, mode, got, want)
			}
		}
		// The wait as the lock would do it: the state first, then schedule().
		spawn(t, k, hog("waiter", 3))
		spawn(t, k, hog("other", 3))
		for k.cpus[3].rq.curr == noTask || k.cpus[3].depth != 0 || k.cpus[3].frame[0].step != stComputed || k.cpus[3].rq.nrRunning() < 2 {
			if k.Step(1) != Running {
				t.Fatal(k.fault)
			}
		}
		w := &k.cpus[3]
		k.q.Cancel(w.frame[0].ev)
		k.settle(w, k.now)
		w.t, w.frame[0].ledger.n, w.frame[0].ledger.from = k.now, 0, k.now
		k.tasks[w.rq.curr].state = taskSleeping
		w.mode = modeRTLockWait
		k.schedule(w)
		k.Step(20)
		if broken := k.status == Broken; broken != c.want || broken && !strings.Contains(k.fault, "blocked and on the queue") {
			t.Errorf("%s: fault %q; want one about a blocked task on a queue: %v", c.name, k.fault, c.want)
		}
	}
}

// The checks see what they are there for.
func TestChecksSeeDamage(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(k *Kernel)
		want   string
	}{
		{"a task on no queue", func(k *Kernel) { k.tasks[1].queued = false }, "thinks otherwise"},
		{"a lost call", func(k *Kernel) { k.sent++ }, "calls were sent"},
		{"a call that nobody signalled", func(k *Kernel) { k.cpus[7].callq = append(k.cpus[7].callq, call{kind: callAsync}); k.sent++ }, "nobody has told it"},
		{"a wrong group sum", func(k *Kernel) { k.groups[len(k.groups)-1][0].nr++ }, "the books say"},
		{"a wrong count of idle CPUs", func(k *Kernel) { k.idle-- }, "the books say"},
		{"a wrong load", func(k *Kernel) { k.cpus[3].rq.load++ }, "weights"},
		{"a list that lacks a task", func(k *Kernel) { l := &k.cpus[3].rq.runnable; k.tasks[l.first].older = noTask }, "the books say 2"},
		{"a list that goes in circles", func(k *Kernel) { l := &k.cpus[3].rq.runnable; k.tasks[l.last].older = l.first }, "list of CPU 3 is broken"},
		{"a wrong sum of offsets", func(k *Kernel) { k.cpus[3].rq.offsets++ }, "offsets"},
		{"a virtual time that the tree does not know of", func(k *Kernel) { k.tasks[1].v--; k.cpus[3].rq.offsets -= nice0 }, "least virtual time"},
		{"a task that waits outside the tree", func(k *Kernel) { k.cpus[3].rq.tree = noTask }, "its tree holds 0"},
		{"a tree out of order", func(k *Kernel) { k.tasks[1].lo = 1 }, "tree"},
		{"a blocked task on a queue", func(k *Kernel) { k.tasks[1].state = taskSleeping }, "blocked"},
		{"a load that nobody counts", func(k *Kernel) { k.tasks[1].pelt.attached = false }, "does not count its load"},
		{"a load above its weight", func(k *Kernel) { k.tasks[1].pelt.load = nice0 + 1 }, "has a load"},
		{"a search beyond its cache", func(k *Kernel) { k.near[3].llc.idleScan = 5 }, "may look at"},
		{"a task where it may not run", func(k *Kernel) { k.tasks[1].allowed[3] = false }, "may not run"},
		{"time not accounted for", func(k *Kernel) { k.openWindow(); k.time[TimeUser]++; k.checkAccount() }, "time account"},
		{"a lock that nobody holds", func(k *Kernel) { l := &k.cpus[2].rq.lock; l.waiters = append(l.waiters, waiter{}) }, "nobody holds"},
	} {
		k := newKernel(t, small(t), Features{}, 0)
		spawn(t, k, hog("a", 3))
		spawn(t, k, hog("b", 3))
		k.Step(300)
		k.checkState()
		if k.status != Running {
			t.Fatalf("%s: broken before the damage: %s", c.name, k.fault)
		}
		if k.tasks[1].state != taskRunning || k.cpus[3].rq.curr == 1 {
			for k.cpus[3].rq.curr == 1 || k.cpus[3].rq.nrRunning() < 2 {
				if k.Step(1) != Running {
					t.Fatal(k.fault)
				}
			}
		}
		c.damage(k)
		k.checkState()
		if k.status != Broken || !strings.Contains(k.fault, c.want) {
			t.Errorf("%s: fault %q, want one that says %q", c.name, k.fault, c.want)
		}
	}
}

// Reading a snapshot at any moment changes nothing, and the time account is whole
// at any moment.
func TestReadingChangesNothing(t *testing.T) {
	run := func(read bool) Snapshot {
		k := newKernel(t, small(t), fast, 3)
		spawn(t, k, hog("a", 3))
		spawn(t, k, storm(5, 200, 1))
		var s Snapshot
		for k.Step(7) == Running {
			if read {
				k.Read(&s)
				var sum sim.Time
				for _, x := range s.Time {
					sum += sim.Time(x)
				}
				if want := s.Elapsed * sim.Time(len(k.cpus)); sum != want {
					t.Fatalf("at %s: the account sums to %d ps, want %d", s.Now, sum, want)
				}
			}
		}
		return finish(t, k)
	}
	if a, b := fmt.Sprint(run(false)), fmt.Sprint(run(true)); a != b {
		t.Errorf("reading changed the run:\n%s\n%s", a, b)
	}
}

func TestSpawnRefuses(t *testing.T) {
	k := newKernel(t, small(t), Features{}, 0)
	ok := []Op{{Kind: OpCompute, D: 1}}
	for _, c := range []struct {
		s    TaskSpec
		want string
	}{
		{TaskSpec{}, "no program"},
		{TaskSpec{Prog: ok, Nice: 20}, "nice 20"},
		{TaskSpec{Prog: ok, Nice: -21}, "nice -21"},
		{TaskSpec{Prog: ok, CPUs: []int{}}, "no CPU"},
		{TaskSpec{Prog: ok, CPUs: []int{0, 16}}, "CPU 16"},
		{TaskSpec{Prog: ok, CPUs: []int{-1}}, "CPU -1"},
		{TaskSpec{Prog: []Op{{Kind: OpCall, Obj: 16}}}, "calls CPU 16"},
		{TaskSpec{Prog: []Op{{Kind: OpCompute, D: -1}}}, "a time of"},
		{TaskSpec{Prog: []Op{{Kind: OpSleep, D: 1, N: 101}}}, "a time of"},
		{TaskSpec{Prog: []Op{{Kind: OpStamp}, {Kind: OpLoop, Obj: 1}}}, "takes no time"},
		{TaskSpec{Prog: []Op{{Kind: OpCompute, D: 1}, {Kind: OpLoop, Obj: 2}}}, "loops back"},
		{TaskSpec{Prog: []Op{{Kind: OpMark}}}, "no metric 0"},
	} {
		if err := k.Spawn(c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Spawn(%+v) = %v, want an error that says %q", c.s, err, c.want)
		}
	}
}
