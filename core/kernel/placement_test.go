package kernel

import (
	"fmt"
	"testing"

	"schedlab/core/machine"
	"schedlab/core/sim"
)

// shaped returns a machine like the small one in another shape.
func shaped(t testing.TB, topology machine.Topology) *machine.Machine {
	t.Helper()
	m := *small(t)
	m.CPUs, m.Nodes = topology.CPUs(), topology.Nodes()
	if err := m.Build(); err != nil {
		t.Fatal(err)
	}
	return &m
}

// twoCaches has two caches of four cores with two threads: CPUs 0 to 3 and 8 to 11 share
// one, and x and x+8 a core.
var twoCaches = machine.Topology{Sockets: 1, NodesPerSocket: 1, LLCsPerNode: 2, CoresPerLLC: 4, ThreadsPerCore: 2}

// placing returns an unchecked kernel of this base at rest, but for tasks that run on the busy CPUs.
func placing(t testing.TB, m *machine.Machine, key string, busy ...int) *Kernel {
	t.Helper()
	k, err := New(Config{Machine: m, Base: base(t, key), Costs: CostsOn(m), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range busy {
		occupy(t, k, x)
	}
	return k
}

// occupy lets a new task run on CPU x.
func occupy(t testing.TB, k *Kernel, x int) int32 {
	t.Helper()
	id := int32(len(k.tasks))
	spawn(t, k, hog(fmt.Sprint("on ", x), x))
	k.tasks[id].state = taskRunning
	k.enqueue(&k.cpus[x], id)
	k.setCurr(&k.cpus[x], id)
	return id
}

// sleeper returns a task that sleeps and was on CPU prev.
func sleeper(t testing.TB, k *Kernel, prev int, allowed []int) int32 {
	t.Helper()
	id := int32(len(k.tasks))
	s := hog("sleeper", prev)
	s.CPUs = allowed
	spawn(t, k, s)
	k.tasks[id].cpu, k.tasks[id].recent = int16(prev), int16(prev)
	return id
}

// Every generation finds the CPU that it should, at the price that it should.
func TestSelectIdleSibling(t *testing.T) {
	const wide, narrow = sim.Second, 0 // idle times that let SIS_PROP look at all CPUs, and at least
	clustered := machine.Topology{Sockets: 1, NodesPerSocket: 1, LLCsPerNode: 1, CoresPerLLC: 8, CoresPerCluster: 4, ThreadsPerCore: 1}
	for _, c := range []struct {
		what         string
		key          string
		exit         bool // 5.4 with the patch
		busy         []int
		cores        bool // some core was seen idle
		idle         sim.Time
		scan         int // SIS_UTIL
		prev, target int16
		allowed      []int
		want         int16
		checks       int64
		scanned      int64 // cores looked at
		coresAfter   bool
		topology     machine.Topology
	}{
		{what: "the target", key: "5.4", target: 0, prev: 3, cores: true, want: 0, checks: 1, coresAfter: true},
		{what: "the target", key: "6.11", target: 0, prev: 3, cores: true, want: 0, checks: 1, coresAfter: true},
		{what: "prev", key: "5.4", busy: []int{0}, target: 0, prev: 3, want: 3, checks: 2},
		{what: "prev", key: "6.11", busy: []int{0}, target: 0, prev: 3, want: 3, checks: 2},
		{what: "prev under another cache is not looked at", key: "6.1", busy: []int{0}, target: 0, prev: 5, scan: 8, want: 1, checks: 2},

		{what: "core, before the patch", key: "5.4", busy: []int{1, 2, 8}, target: 1, prev: 1, cores: true, want: 3, checks: 1 + 6, scanned: 3, coresAfter: true},
		{what: "core, with the patch", key: "5.4", exit: true, busy: []int{1, 2, 8}, target: 1, prev: 1, cores: true, want: 3, checks: 1 + 1 + 1 + 2, scanned: 3, coresAfter: true},
		{what: "no core, then a CPU", key: "5.4", busy: []int{1, 2, 3, 8}, target: 1, prev: 1, cores: true, idle: wide, want: 9, checks: 1 + 8 + 5, scanned: 4},
		{what: "no core, then a CPU, with the patch", key: "5.4", exit: true, busy: []int{1, 2, 3, 8}, target: 1, prev: 1, cores: true, idle: wide, want: 9, checks: 1 + 5 + 5, scanned: 4},
		{what: "three CPUs, then a thread", key: "5.4", busy: []int{1, 2, 3, 8}, target: 1, prev: 1, idle: narrow, want: 9, checks: 1 + 3 + 2},
		{what: "CPUs that it may not use count too", key: "5.4", busy: []int{1}, target: 1, prev: 1, allowed: []int{1, 0}, idle: narrow, want: 1, checks: 1 + 1 + 1},
		{what: "nothing", key: "5.4", busy: []int{0, 1, 2, 3, 8, 9, 10, 11}, target: 1, prev: 1, cores: true, idle: wide, want: 1, checks: 1 + 8 + 8 + 2, scanned: 4},

		{what: "core", key: "5.18", busy: []int{1, 2, 8}, target: 1, prev: 1, cores: true, want: 3, checks: 1 + 2 + 2, scanned: 2, coresAfter: true},
		{what: "the first idle CPU of a search for a core", key: "5.18", busy: []int{1, 2, 3, 8}, target: 1, prev: 1, cores: true, want: 10, checks: 1 + 2 + 1 + 2 + 1, scanned: 4},
		{what: "a thread of prev", key: "5.18", busy: []int{1}, target: 1, prev: 1, want: 9, checks: 1 + 2},
		{what: "a thread of prev, but not prev", key: "6.11", busy: []int{1}, target: 1, prev: 1, scan: 8, want: 9, checks: 1 + 1},
		{what: "no thread of prev under another cache", key: "5.18", busy: []int{1, 5}, target: 1, prev: 5, idle: wide, want: 2, checks: 1 + 1},
		{what: "a CPU", key: "5.18", busy: []int{1, 9, 2, 10}, target: 1, prev: 1, idle: wide, want: 3, checks: 1 + 2 + 2},
		{what: "three CPUs", key: "5.18", busy: []int{1, 9, 2, 10, 3, 8}, target: 1, prev: 1, idle: narrow, want: 1, checks: 1 + 2 + 3},
		{what: "only CPUs that it may use count", key: "5.18", busy: []int{1}, target: 1, prev: 1, allowed: []int{1, 0}, idle: narrow, want: 0, checks: 1 + 1 + 1},

		{what: "two CPUs", key: "6.1", busy: []int{1, 9, 2, 10, 3, 8}, target: 1, prev: 1, scan: 2, want: 1, checks: 1 + 2 + 2},
		{what: "no CPU", key: "6.1", busy: []int{1, 9, 2, 10}, target: 1, prev: 1, scan: 0, want: 1, checks: 1 + 2},
		{what: "no core either", key: "6.1", busy: []int{1}, target: 1, prev: 1, cores: true, scan: 0, want: 1, checks: 1, coresAfter: true},
		{what: "the limit does not hold for cores", key: "6.1", busy: []int{1, 2, 3}, target: 1, prev: 1, cores: true, scan: 1, want: 8, checks: 1 + 2 + 1 + 2, scanned: 3, coresAfter: true},
		{what: "the last CPU", key: "6.1", busy: []int{1, 9, 2, 10, 3, 8}, target: 1, prev: 1, scan: 8, want: 11, checks: 1 + 2 + 6},
		{what: "one of two", key: "6.1", busy: []int{1}, target: 1, prev: 1, scan: 8, allowed: []int{1, 11}, want: 11, checks: 1 + 1 + 1},

		{what: "prev in another cluster", key: "6.1", busy: []int{1}, target: 1, prev: 5, scan: 8, want: 5, checks: 2, topology: clustered, coresAfter: true, cores: true},
		{what: "first the target's cluster", key: "6.11", busy: []int{1}, target: 1, prev: 5, scan: 8, want: 2, checks: 1 + 1 + 1, topology: clustered},
		{what: "then the others, beginning after the target", key: "6.11", busy: []int{0, 1, 2, 3, 5}, target: 1, prev: 5, scan: 8, want: 4, checks: 1 + 1 + 3 + 1 + 1, topology: clustered},
		{what: "prev, if nothing is found", key: "6.11", busy: []int{0, 1, 2, 3}, target: 1, prev: 5, scan: 3, want: 5, checks: 1 + 1 + 3, topology: clustered},
	} {
		if c.topology.Sockets == 0 {
			c.topology = twoCaches
		}
		k := placing(t, shaped(t, c.topology), c.key, c.busy...)
		if c.exit {
			k.base.IdleCoreExit = true
		}
		waker := &k.cpus[4]
		l := k.near[c.target].llc
		l.idleCores, l.idleScan = c.cores, c.scan
		waker.rq.avgIdle, waker.rq.scan = c.idle, scanner{cost: sim.Microsecond, idle: c.idle, idleFrom: k.jiffies(waker.t)}
		id := sleeper(t, k, int(c.prev), c.allowed)
		name := c.key + ", " + c.what
		if got := k.selectIdleSibling(waker, &k.tasks[id], c.prev, c.target); got != c.want {
			t.Errorf("%s: CPU %d, want %d", name, got, c.want)
		}
		if got := k.counters[IdleChecks]; got != c.checks {
			t.Errorf("%s: %d checks, want %d", name, got, c.checks)
		}
		if got := k.counters[IdleCoresScanned]; got != c.scanned {
			t.Errorf("%s: %d cores, want %d", name, got, c.scanned)
		}
		if l.idleCores != c.coresAfter {
			t.Errorf("%s: idle cores afterwards: %v", name, l.idleCores)
		}
	}
}

// A CPU that the task used before is the third choice. What it remembers then differs: since
// 5.14 it is the CPU that it was on, before that only when this choice was made.
func TestRecentUsedCPU(t *testing.T) {
	for _, c := range []struct {
		key    string
		recent int16
		taken  bool
		checks int64 // before the search
		then   int16
	}{
		{"5.4", 2, true, 3, 1}, {"5.18", 2, true, 3, 1}, {"6.11", 2, true, 3, 1},
		{"5.4", 0, false, 2, 0}, {"5.18", 0, false, 2, 1}, // it is the target
		{"5.18", 3, false, 3, 1},  // busy
		{"5.18", 5, false, 2, 1},  // under another cache
		{"5.4", 10, false, 3, 10}, // where it may not run
	} {
		k := placing(t, shaped(t, twoCaches), c.key, 0, 1, 3)
		k.near[0].llc = nil // no search
		waker := &k.cpus[4]
		tk := &k.tasks[sleeper(t, k, 1, []int{1, 0, 2, 3, 5})]
		tk.recent = c.recent
		got := k.selectIdleSibling(waker, tk, 1, 0)
		if taken := got == c.recent && got != 0; taken != c.taken || k.counters[IdleChecks] != c.checks || tk.recent != c.then {
			t.Errorf("%+v: CPU %d after %d checks, remembers %d", c, got, k.counters[IdleChecks], tk.recent)
		}
	}
}

// A kernel thread of one CPU may have what it wakes run there, but an interrupt on top
// of it may not.
func TestKthreadStacks(t *testing.T) {
	for _, c := range []struct {
		key       string
		interrupt bool
		want      int16
	}{{"5.18", false, 1}, {"6.11", false, 1}, {"5.18", true, 9}, {"5.4", false, 9}} {
		k := placing(t, shaped(t, twoCaches), c.key, 0)
		w := occupy(t, k, 1)
		s := *k.tasks[w].spec
		s.Kthread = true
		k.tasks[w].spec = &s
		k.near[0].llc.idleCores = false
		k.cpus[1].depth = uint8(b2i(c.interrupt))
		k.cpus[1].rq.avgIdle, k.cpus[1].rq.scan = 0, scanner{}
		id := sleeper(t, k, 1, []int{1, 9})
		if got := k.selectIdleSibling(&k.cpus[1], &k.tasks[id], 1, 1); got != c.want {
			t.Errorf("%+v: CPU %d", c, got)
		}
	}
}

// SIS_PROP lets a pass look at one CPU less than idle time allows, and at three at least.
func TestScanLimit(t *testing.T) {
	for _, c := range []struct {
		key        string
		idle, cost sim.Time
		jiffies    int64 // since the last wakeup of a task here
		want       int64
	}{
		{"5.4", 512 * sim.Microsecond, 999 * sim.Nanosecond, 0, 8},
		{"5.4", 512 * sim.Microsecond, 999 * sim.Nanosecond, 9, 8}, // 5.4 does not age it
		{"5.4", 1024 * sim.Microsecond, 999 * sim.Nanosecond, 0, 16},
		{"5.4", 256 * sim.Microsecond, 999 * sim.Nanosecond, 0, 4},
		{"5.4", 0, 999 * sim.Nanosecond, 0, 4},
		{"5.18", 4 * sim.Microsecond, 999 * sim.Nanosecond, 0, 32},
		{"5.18", 4 * sim.Microsecond, 999 * sim.Nanosecond, 1, 16},
		{"5.18", 4 * sim.Microsecond, 999 * sim.Nanosecond, 2, 8},
		{"5.18", 4 * sim.Microsecond, 999 * sim.Nanosecond, 3, 4},
		{"5.18", sim.Second, 999 * sim.Nanosecond, 100, 4},
	} {
		k := placing(t, shaped(t, twoCaches), c.key)
		w := &k.cpus[4]
		w.t = sim.Second
		w.rq.avgIdle = c.idle
		w.rq.scan = scanner{cost: c.cost, idle: c.idle, idleFrom: k.jiffies(w.t) - c.jiffies}
		if got := k.scanLimit(w, k.near[0].llc); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// A pass that ends teaches how much passes cost, and uses up idle time; one that gives up does not.
func TestScanCost(t *testing.T) {
	for _, key := range []string{"5.4", "5.18"} {
		for _, ends := range []bool{true, false} {
			k := placing(t, shaped(t, twoCaches), key, 0, 1, 2, 3, 8, 9, 10)
			w := &k.cpus[4]
			w.rq.avgIdle, w.rq.scan = sim.Second, scanner{cost: 100 * sim.Nanosecond, idle: sim.Second, idleFrom: k.jiffies(w.t)}
			if !ends {
				w.rq.avgIdle, w.rq.scan.idle = 0, 0
			}
			before := w.rq.scan
			id := sleeper(t, k, 0, nil)
			start := w.t
			got := k.selectIdleCPUProp(w, &k.tasks[id], k.near[0].llc, 0)
			took := w.t - start
			s := w.rq.scan
			switch {
			case ends != (got == 11):
				t.Errorf("%s: CPU %d", key, got)
			case !ends && s != before:
				t.Errorf("%s: a pass that gave up changed %+v to %+v", key, before, s)
			case ends && (s.cost <= before.cost || s.cost > before.cost+took/8):
				t.Errorf("%s: after a pass of %s the cost went from %s to %s", key, took, before.cost, s.cost)
			case ends && (s.idle < before.idle) != (key == "5.18"):
				t.Errorf("%s: idle time went from %s to %s", key, before.idle, s.idle)
			}
		}
	}
}

// A wakeup that ends an idle time leaves half of avg_idle for searches.
func TestWakeAvgIdle(t *testing.T) {
	k, c := resting(t, small(t), 3)
	c.rq.idleStamp = c.t - 100*sim.Microsecond
	k.tasks = append(k.tasks, task{spec: &TaskSpec{}, fairEntity: fairEntity{weight: nice0}, rand: k.work})
	k.activate(c, c, 0, wayLocal)
	if s := c.rq.scan; s.idle != c.rq.avgIdle/2 || s.idleFrom != k.jiffies(c.t) {
		t.Errorf("%s of %s at jiffy %d", s.idle, c.rq.avgIdle, s.idleFrom)
	}
}

// SIS_UTIL: the busier the CPUs of a cache, the fewer are looked at.
func TestIdleScan(t *testing.T) {
	for _, c := range []struct {
		key  string
		util int64
		kind TimeKind
		want int
	}{
		{"6.11", 0, TimeBalance, 8},
		{"6.11", 256, TimeBalance, 7}, // 1 − (1.17/4)² = 0.914
		{"6.11", 512, TimeBalance, 5}, // 0.658
		{"6.11", 768, TimeBalance, 1}, // 0.230
		{"6.11", 850, TimeBalance, 0}, // 0.057
		{"6.11", 2000, TimeBalance, 0},
		{"6.11", 512, TimeNewidle, 99}, // only the periodic passes
		{"5.18", 512, TimeBalance, 99},
	} {
		k := placing(t, shaped(t, twoCaches), c.key)
		for _, x := range k.near[0].llc.cpus {
			k.cpus[x].rq.pelt.util = c.util
		}
		for _, l := range []*llc{k.near[0].llc, k.near[4].llc} {
			l.idleScan = 99
		}
		for _, d := range k.m.Domains[0] {
			k.updateIdleScan(d, &pass{dst: &k.cpus[0], kind: c.kind})
		}
		if got := k.near[0].llc.idleScan; got != c.want || k.near[4].llc.idleScan != 99 {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// A core is idle when its last thread goes idle, and on machines without SMT never.
func TestUpdateIdleCore(t *testing.T) {
	for _, c := range []struct {
		busy []int
		smt  bool
		want bool
	}{{nil, true, true}, {[]int{9}, true, false}, {[]int{2, 3}, true, true}, {nil, false, false}} {
		m := shaped(t, twoCaches)
		if !c.smt {
			m = shaped(t, machine.Topology{Sockets: 1, NodesPerSocket: 1, LLCsPerNode: 1, CoresPerLLC: 8, ThreadsPerCore: 1})
		}
		k := placing(t, m, "6.11", c.busy...)
		l := k.near[1].llc
		l.idleCores = false
		k.updateIdleCore(&k.cpus[1])
		if l.idleCores != c.want {
			t.Errorf("%+v: %v", c, l.idleCores)
		}
	}
}

// The patch saves the checks after the first busy thread and trades a bit per thread for
// one operation per core; the search finds the same core.
func TestIdleCoreExit(t *testing.T) {
	m := lookup(t, "power9-smt8")
	for first := range 9 { // the first busy thread; 8: none
		var busy []int
		if first < 8 {
			busy = []int{first}
		}
		for _, exit := range []bool{false, true} {
			for _, only := range []Cost{CostClearBit, CostAndNot} {
				k := placing(t, m, "5.4", busy...)
				k.base.IdleCoreExit = exit
				for c := range k.cost {
					k.cost[c] = 0
				}
				k.cost[only] = sim.Microsecond
				w := &k.cpus[0] // whose own lines cost next to nothing
				id := sleeper(t, k, 0, nil)
				x := k.selectIdleCore(w, &k.tasks[id], k.near[0].llc, 0)
				if want := int16(b2i(first < 8) * -1); x != want {
					t.Errorf("busy %v, exit %v: CPU %d", busy, exit, x)
				}
				checks, bits, masks := int64(8), sim.Time(8), sim.Time(0)
				if exit {
					checks, bits, masks = int64(min(first+1, 8)), 0, 1
				}
				if got := k.counters[IdleChecks]; got != checks {
					t.Errorf("busy %v, exit %v: %d checks, want %d", busy, exit, got, checks)
				}
				want := bits
				if only == CostAndNot {
					want = masks
				}
				if got := (w.t + sim.Microsecond/2) / sim.Microsecond; got < want*3/4 || got > want*5/4 || want == 0 && got != 0 {
					t.Errorf("busy %v, exit %v: %s for %d of %s", busy, exit, w.t, want, Costs[only].Key)
				}
			}
		}
	}
}

// An idle check costs a transfer the first time after the run queue has changed.
func TestStateLine(t *testing.T) {
	k := placing(t, small(t), "6.11")
	hit := k.m.Line[machine.SameCPU].Mid
	s := &k.cpus[3].rq.state
	read := func(cpu int16) sim.Time { return k.readState(s, cpu) }
	for _, c := range []struct {
		what string
		cost sim.Time
		miss bool
	}{
		{"the owner reads", read(3), false},
		{"another reads", read(1), true},
		{"and again", read(1), false},
		{"a third", read(12), true},
		{"the second still has it", read(1), false},
	} {
		if (c.cost > hit) != c.miss {
			t.Errorf("%s: %s", c.what, c.cost)
		}
	}
	c := &k.cpus[1]
	k.writeState(c, &k.cpus[3], TimeWakeup)
	if read(1) > hit || read(12) <= hit || read(3) <= hit {
		t.Error("a write leaves others' copies good, or takes the writer's")
	}
}

// The histogram of core searches holds each of them.
func TestSampleIdleCore(t *testing.T) {
	for _, key := range []string{"5.4", "6.11"} {
		k := placing(t, shaped(t, twoCaches), key, 1, 2)
		k.SampleIdleCore()
		k.opened = true
		id := sleeper(t, k, 1, nil)
		start := k.cpus[4].t
		k.selectIdleSibling(&k.cpus[4], &k.tasks[id], 1, 1)
		h := &k.metrics[k.idleCore]
		if h.N != 1 || h.Max <= 0 || h.Max >= int64(k.cpus[4].t-start) {
			t.Errorf("%s: %d samples up to %d, of %s", key, h.N, h.Max, k.cpus[4].t-start)
		}
	}
}

// New tasks spread over the machine: over sockets, caches, cores, then threads.
func TestNewTasksSpread(t *testing.T) {
	for _, c := range []struct{ tasks, perCache, perCore int }{{4, 1, 1}, {8, 2, 1}, {16, 4, 2}, {12, 4, 2}} {
		k := newKernel(t, small(t), Features{}, 0)
		for i := range c.tasks {
			s := hog(fmt.Sprint(i), 0)
			s.CPUs = nil
			spawn(t, k, s)
		}
		for k.now < 2*sim.Millisecond && k.Step(1) == Running {
		}
		caches, cores := map[int16]int{}, map[int16]int{}
		for i := range k.tasks {
			x := k.m.CPUs[k.tasks[i].cpu]
			caches[x.LLC]++
			cores[x.Core]++
		}
		for _, n := range caches {
			if n > c.perCache {
				t.Errorf("%d tasks: by cache %v", c.tasks, caches)
			}
		}
		for _, n := range cores {
			if n > c.perCore {
				t.Errorf("%d tasks: by core %v", c.tasks, cores)
			}
		}
	}
	// Only where they may run. (A third one would stay on CPU 0, since its node has as many
	// idle CPUs as the other: that the task may not use them is not looked at.)
	k := newKernel(t, small(t), Features{}, 0)
	for range 2 {
		s := hog("", 0)
		s.CPUs = []int{0, 5, 14}
		spawn(t, k, s)
	}
	for k.now < 2*sim.Millisecond && k.Step(1) == Running {
	}
	if a, b := k.tasks[0].cpu, k.tasks[1].cpu; a != 0 || b != 5 && b != 14 {
		t.Errorf("on CPUs %d and %d", a, b)
	}
}
