package kernel

import (
	"testing"

	"schedlab/core/machine"
	"schedlab/core/sim"
)

// Flips count changes of the wakee, and are halved when a second has passed.
func TestRecordWakee(t *testing.T) {
	w := waker{last: noTask}
	for i, c := range []struct {
		id    int32
		at    sim.Time
		flips int32
	}{
		{7, 0, 1}, {7, 0, 1}, {8, 0, 2}, {7, 0, 3}, {7, sim.Second, 3},
		{7, sim.Second + 1, 1},                   // halved
		{7, sim.Second + 2, 1},                   // not again
		{8, 100 * sim.Second, 1},                 // halved once, however long it was, and one more
		{9, 100*sim.Second + sim.Millisecond, 2}, //
	} {
		if w.record(c.id, c.at); w.flips != c.flips {
			t.Errorf("after wakeup %d: %d flips, want %d", i, w.flips, c.flips)
		}
	}
}

// A master that wakes many slaves, more than fit under a cache, is not followed by them.
func TestWakeWide(t *testing.T) {
	for _, c := range []struct {
		waker, wakee int32
		want         bool
	}{
		{0, 0, false}, {1000, 7, false}, {7, 1000, false},
		{63, 8, false}, {64, 8, true}, {8, 64, true}, {64, 9, false}, {72, 9, true}, {8, 8, false},
	} {
		k := placing(t, shaped(t, twoCaches), "6.11", 4) // eight CPUs share a cache
		id := sleeper(t, k, 1, nil)
		k.waker(&k.cpus[4]).flips, k.tasks[id].waker.flips = c.waker, c.wakee
		if got := k.wakeWide(&k.cpus[4], &k.tasks[id]); got != c.want {
			t.Errorf("waker %d, wakee %d: %v", c.waker, c.wakee, got)
		}
	}
}

// Who is idle decides first. The waker is on CPU 4; 5 shares its cache, 1 does not.
func TestWakeAffineIdle(t *testing.T) {
	for _, c := range []struct {
		what string
		key  string
		prev int
		busy []int
		sync bool
		want int16
	}{
		{"an interrupt on an idle CPU, prev idle", "6.11", 5, nil, false, 5},
		{"an interrupt on an idle CPU, prev busy", "6.11", 5, []int{5}, false, 4},
		{"prev idle under another cache", "6.11", 1, nil, false, 1},
		{"prev busy under another cache", "6.11", 1, []int{1}, false, -1},
		{"an idle waker's sync says nothing", "6.11", 1, []int{1}, true, -1},
		{"the waker goes", "6.11", 1, []int{4}, true, 4},
		{"the waker goes, prev under the same cache", "5.4", 5, []int{4}, true, 4},
		{"the waker goes, but others wait", "6.11", 1, []int{4, 4, 1}, true, -1},
		{"the waker stays, prev idle", "6.11", 1, []int{4}, false, 1},
		{"the waker stays, prev idle: not asked yet", "5.4", 1, []int{4}, false, -1},
		{"all busy", "5.18", 1, []int{1, 4}, false, -1},
	} {
		k := placing(t, shaped(t, twoCaches), c.key, c.busy...)
		id := sleeper(t, k, c.prev, nil)
		if got := k.wakeAffineIdle(&k.cpus[4], &k.tasks[id], c.sync); got != c.want {
			t.Errorf("%s, %s: CPU %d, want %d", c.key, c.what, got, c.want)
		}
	}
}

// Else the loads decide. Those of the waker's CPU are compared at 100, of prev at half of
// the domain's imbalance more.
func TestWakeAffineWeight(t *testing.T) {
	for _, c := range []struct {
		key                      string
		this, prev, task, waking int64 // loads of the two CPUs, the wakee and the waker
		sync                     bool
		pull                     bool
	}{
		{"6.11", 1024, 3000, 500, 1024, false, true}, // 152400 < 270000
		{"6.11", 2000, 3000, 500, 1024, false, true}, // 250000 < 270000
		{"6.11", 2200, 3000, 500, 1024, false, false},
		{"6.11", 2200, 3000, 500, 1024, true, true}, // 167600
		{"6.11", 1000, 500, 500, 1024, true, true},  // the waker is more than all
		{"6.11", 1024, 500, 0, 1024, true, true},    // 0 < 54001
		{"6.11", 1024, 0, 0, 1024, true, true},      // 0 < 1: the odd one for sync
		{"6.11", 1025, 0, 0, 1024, true, false},
		{"6.11", 0, 0, 0, 1024, false, false},
		{"6.11", 100, 50, 500, 1024, false, false}, // prev's load is less than its own share
		{"6.11", 1070, 1000, 0, 1024, false, true}, // 107000 < 108000
		{"6.11", 1080, 1000, 0, 1024, false, false},
		{"5.4", 1110, 1000, 0, 1024, false, true}, // 111000 < 112000, above the caches
		{"5.4", 1120, 1000, 0, 1024, false, false},
	} {
		k := placing(t, shaped(t, twoCaches), c.key, 4)
		id := sleeper(t, k, 1, nil)
		k.tasks[id].pelt.load = c.task
		k.tasks[k.cpus[4].rq.curr].pelt.load = c.waking
		for x, load := range map[int]int64{4: c.this, 1: c.prev} {
			p := &k.cpus[x].rq.pelt
			p.load, p.queuedLoad = load, 1<<40
			if c.key == "5.4" {
				p.load, p.queuedLoad = 1<<40, load
			}
		}
		d := k.affineDomain(4, 1)
		got := k.wakeAffineWeight(&k.cpus[4], &k.tasks[id], d, c.sync)
		if (got == 4) != c.pull || got >= 0 && got != 4 {
			t.Errorf("%+v: CPU %d", c, got)
		}
	}
}

// Tasks are not woken across nodes farther apart than the reclaim distance.
func TestAffineDomain(t *testing.T) {
	for _, c := range []struct {
		machine    string
		this, prev int16
		want       string
	}{
		{"epyc-2x64", 0, 128, "SMT"}, {"epyc-2x64", 0, 7, "MC"}, {"epyc-2x64", 0, 8, "PKG"},
		{"epyc-2x64", 0, 64, "NUMA"}, // Zen: 32 is not too far
		{"xeon-240", 0, 60, "NUMA"},  // 21
		{"power9-smt8", 0, 8, "PKG"},
		{"power9-smt8", 0, 80, ""}, // 32
	} {
		k := placing(t, lookup(t, c.machine), "6.11")
		got := ""
		if d := k.affineDomain(c.this, c.prev); d != nil {
			got = d.Name
		}
		if got != c.want {
			t.Errorf("%s: from CPU %d to %d: %q, want %q", c.machine, c.prev, c.this, got, c.want)
		}
	}
}

// The whole choice, and what counts as sync in it.
func TestSelectTaskRQFair(t *testing.T) {
	for _, c := range []struct {
		what      string
		key       string
		sync      bool
		interrupt bool
		patched   bool
		exiting   bool
		allowed   []int
		want      int16
	}{
		{what: "prev is idle", key: "6.11", want: 1},
		{what: "sync", key: "6.11", sync: true, want: 5}, // an idle CPU near the waker's
		{what: "sync from an interrupt", key: "6.11", sync: true, interrupt: true, want: 5},
		{what: "sync from an interrupt, patched", key: "6.11", sync: true, interrupt: true, patched: true, want: 1},
		{what: "sync from a task, patched", key: "6.11", sync: true, patched: true, want: 5},
		{what: "sync from a task that exits", key: "6.11", sync: true, exiting: true, want: 1},
		{what: "where it may not run", key: "6.11", sync: true, allowed: []int{1, 0}, want: 1},
	} {
		k := placing(t, shaped(t, machine.Topology{Sockets: 1, NodesPerSocket: 1, LLCsPerNode: 2, CoresPerLLC: 4, ThreadsPerCore: 1}), c.key, 4)
		k.base.SyncInTaskOnly = c.patched
		w := &k.cpus[4]
		w.depth = uint8(b2i(c.interrupt))
		if c.exiting {
			k.tasks[w.rq.curr].state = taskExited
		}
		id := sleeper(t, k, 1, c.allowed)
		if got := k.selectTaskRQFair(w, id, wakeFlags{sync: c.sync}); got != c.want {
			t.Errorf("%s, %s: CPU %d, want %d", c.key, c.what, got, c.want)
		}
		if got, want := k.counters[WakeupsSync], int64(b2i(c.want == 5 || c.allowed != nil)); got != want {
			t.Errorf("%s, %s: %d sync wakeups", c.key, c.what, got)
		}
	}
}

// A softirq that runs on top of its task, or at the end of the idle loop, is no task.
func TestInTask(t *testing.T) {
	for _, c := range []struct {
		set  func(*cpu)
		want bool
	}{
		{func(*cpu) {}, true},
		{func(c *cpu) { c.depth = 1 }, false},
		{func(c *cpu) { c.soft.running = true }, false},
		{func(c *cpu) { c.bh = true }, false},
	} {
		var x cpu
		if c.set(&x); x.inTask() != c.want {
			t.Errorf("%+v", c)
		}
	}
}

// In 5.4 calls interrupt whoever polls, and wakeups do not.
func TestCallsInterruptIn54(t *testing.T) {
	k := placing(t, small(t), "5.4")
	spawn(t, k, storm(5, 100, 1))
	// CPU 4 shares no cache with CPU 0, and is woken by it.
	spawn(t, k, TaskSpec{Name: "woken", CPUs: []int{4}, Prog: []Op{{Kind: OpSleep, D: sim.Millisecond}, {Kind: OpLoop, Obj: 1}}})
	s := finish(t, k)
	if n := s.Counters[CallsPolledPoll] + s.Counters[CallsPolledMwait] + s.Counters[CallsPolledBefore]; n != 0 || s.Counters[IPIs] < 100 {
		t.Errorf("%d of %d calls came without an interrupt; %d interrupts", n, s.Counters[CallsSent], s.Counters[IPIs])
	}
	for _, c := range []struct {
		base string
		kind TimeKind
		want bool
	}{{"5.4", TimeCall, false}, {"5.4", TimeTick, false}, {"5.4", TimeWakeup, true}, {"5.18", TimeCall, true}} {
		k.base = base(t, c.base)
		if got := k.pollable(c.kind); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
