package kernel

import (
	"testing"

	"schedlab/core/sim"
)

func base(t testing.TB, key string) Base {
	t.Helper()
	b, err := LookupBase(key)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// cfsKernel returns a checked kernel with CFS.
func cfsKernel(t testing.TB) *Kernel {
	t.Helper()
	m := small(t)
	k, err := New(Config{Machine: m, Base: base(t, "6.1"), Costs: CostsOn(m), Seed: 1, Check: true, Budget: 20_000_000})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// queue puts tasks with these virtual times, in milliseconds from the queue's own, on CPU 3,
// and lets the first one run.
func queue(t *testing.T, ms ...int64) (*Kernel, *cpu) {
	t.Helper()
	k := cfsKernel(t)
	c := &k.cpus[3]
	for i, v := range ms {
		spawn(t, k, hog("", 3))
		tk := &k.tasks[i]
		tk.state, tk.started, tk.slept, tk.home = taskRunning, true, true, 3
		tk.v = c.rq.minV + v*int64(sim.Millisecond)
		k.enqueue(c, int32(i))
	}
	if len(ms) > 0 {
		k.setNext(c, 0)
		k.setCurr(c, 0)
	}
	return k, c
}

// A sleeper is placed at most half a latency before its queue's virtual time, a new task
// a slice after it, and who moves keeps its distance from the queue's.
func TestPlaceCFS(t *testing.T) {
	const ms = int64(sim.Millisecond)
	k, c := queue(t, 0, 5)
	c.rq.minV = 1000 * ms
	other := &k.cpus[9]
	other.rq.minV = 400 * ms
	for _, e := range []struct {
		name string
		fairEntity
		want int64
	}{
		{"long sleeper", fairEntity{started: true, slept: true, home: 3, v: 10 * ms}, 988},
		{"short sleeper", fairEntity{started: true, slept: true, home: 3, v: 995 * ms}, 995},
		{"sleeper ahead", fairEntity{started: true, slept: true, home: 3, v: 1007 * ms}, 1007},
		{"moved", fairEntity{started: true, home: 9, v: -10 * ms}, 990},
		{"moved sleeper", fairEntity{started: true, slept: true, home: 9, v: 300 * ms}, 988},
		{"new", fairEntity{}, 1008}, // one of three: a slice of 24 ms / 3
	} {
		f := e.fairEntity
		f.weight = nice0
		k.placeCFS(c, &f)
		if f.v != e.want*ms || f.home != 3 || f.slept || !f.started {
			t.Errorf("%s: placed at %d ms, want %d: %+v", e.name, f.v/ms, e.want, f)
		}
	}
}

// A waking task preempts who has run more than the wakeup granularity further, measured
// in the waking task's virtual time, and is the next to run then.
func TestWakePreemptsCFS(t *testing.T) {
	for _, c := range []struct {
		curr, woken int64 // ms
		nice        int
		want        bool
	}{{0, 0, 0, false}, {4, 0, 0, false}, {5, 0, 0, true}, {0, 5, 0, false}, {5, 0, 5, false}, {13, 0, 5, true}, {2, 0, -5, true}} {
		k, cpu := queue(t, c.curr, c.woken)
		k.tasks[1].weight = niceWeight[20+c.nice]
		if got := k.wakePreempts(cpu, 1); got != c.want || (cpu.rq.next == 1) != c.want {
			t.Errorf("%+v: preempts: %v, next %d", c, got, cpu.rq.next)
		}
		if cpu.rq.last != noTask {
			t.Errorf("%+v: a last buddy on a queue that is not crowded", c)
		}
	}
	k, cpu := queue(t, 9, 0, 1, 1, 1, 1, 1, 1)
	if !k.wakePreempts(cpu, 1) || cpu.rq.last != 0 {
		t.Errorf("on a crowded queue the preempted task is not the last buddy: %d", cpu.rq.last)
	}
}

// The least virtual time runs, but for a buddy that is not too far ahead of it.
func TestPickCFS(t *testing.T) {
	for _, c := range []struct {
		v          []int64 // ms
		next, last int32
		want       int32
	}{
		{[]int64{3, 1, 2}, noTask, noTask, 1},
		{[]int64{1, 1, 2}, noTask, noTask, 0}, // the first of equals
		{[]int64{3, 1, 2}, 2, noTask, 2},
		{[]int64{3, 1, 6}, 2, noTask, 1}, // 5 ms ahead is too far
		{[]int64{3, 1, 2}, noTask, 0, 0},
		{[]int64{3, 1, 2}, 2, 0, 2},
		{[]int64{3, 1, 9}, 2, 0, 0},
	} {
		k, cpu := queue(t, c.v...)
		cpu.rq.next, cpu.rq.last = c.next, c.last
		if got := k.pickFair(cpu); got != c.want {
			t.Errorf("%+v: picked %d", c, got)
		} else if cpu.rq.next == got || cpu.rq.last == got {
			t.Errorf("%+v: the picked task is still a buddy", c)
		}
	}
}

// At a tick a task gives way when its slice is over, or when it has run for the least time and is
// a slice ahead of another one.
func TestTickPreemptsCFS(t *testing.T) {
	const ms = sim.Millisecond
	for _, c := range []struct {
		v    []int64
		ran  sim.Time
		want bool
	}{
		{[]int64{0}, 100 * ms, false}, // alone
		{[]int64{0, 0}, 12 * ms, false},
		{[]int64{0, 0}, 12*ms + 1, true}, // half of the period
		{[]int64{0, 0, 0, 0}, 6*ms + 1, true},
		{[]int64{13, 0}, 4 * ms, true},
		{[]int64{13, 0}, 2 * ms, false}, // not yet the least time
		{[]int64{11, 0}, 4 * ms, false},
		{make([]int64, 20), 3*ms + 1, true}, // the period is stretched: 3 ms each
		{make([]int64, 20), 3 * ms, false},
	} {
		k, cpu := queue(t, c.v...)
		k.tasks[0].ran = c.ran
		if got := k.tickPreempts(cpu); got != c.want {
			t.Errorf("%d tasks at %v ms, ran %s: gives way: %v", len(c.v), c.v[0], c.ran, got)
		}
	}
}

// A queue's virtual time never goes back, whatever comes and goes.
func TestMinVNeverGoesBack(t *testing.T) {
	k := cfsKernel(t)
	for i := range 6 {
		spawn(t, k, TaskSpec{Name: "x", CPUs: []int{3, 4}, Nice: 3 * i, Prog: []Op{
			{Kind: OpCompute, D: 3 * sim.Millisecond, N: 90}, {Kind: OpSleep, D: 7 * sim.Millisecond, N: 90}, {Kind: OpLoop, Obj: 2},
		}})
	}
	last := make([]int64, len(k.cpus))
	for k.now < 2*sim.Second && k.Step(1) == Running {
		for i := range k.cpus {
			if v := k.cpus[i].rq.minV; v < last[i] {
				t.Fatalf("CPU %d: from %d to %d", i, last[i], v)
			} else {
				last[i] = v
			}
		}
	}
	if k.status != Running || last[3] == 0 {
		t.Errorf("status %d, virtual time %d: %s", k.status, last[3], k.fault)
	}
}

// Under 5.18 a wakeup within the cache uses the call queue only while its task is still being
// switched away from, under 6.1 whenever the target has nothing to run.
func TestQueueWithinCache(t *testing.T) {
	for _, c := range []struct {
		key         string
		nr          int
		descheduled bool
		want        bool
	}{
		{"6.1", 0, false, true}, {"6.1", 1, false, false}, {"6.11", 0, false, true}, {"6.11", 1, true, false},
		{"5.18", 0, false, false}, {"5.18", 0, true, true}, {"5.18", 1, true, true}, {"5.18", 2, true, false},
	} {
		k := cfsKernel(t)
		k.base = base(t, c.key)
		target := &k.cpus[3]
		for i := range c.nr + 1 {
			spawn(t, k, hog("", 3))
			k.tasks[i].state = taskRunning
		}
		for i := range c.nr {
			k.enqueue(target, int32(i+1))
		}
		if c.descheduled {
			k.setCurr(target, 0)
		}
		if got := k.queueWithinCache(target, 0); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Small machines have shorter slices.
func TestScaleTo(t *testing.T) {
	for n, want := range map[int]CFSTunables{
		1:   {6 * sim.Millisecond, 750 * sim.Microsecond, sim.Millisecond},
		2:   {12 * sim.Millisecond, 1500 * sim.Microsecond, 2 * sim.Millisecond},
		7:   {18 * sim.Millisecond, 2250 * sim.Microsecond, 3 * sim.Millisecond},
		8:   {24 * sim.Millisecond, 3 * sim.Millisecond, 4 * sim.Millisecond},
		512: {24 * sim.Millisecond, 3 * sim.Millisecond, 4 * sim.Millisecond},
	} {
		got := base(t, "6.1").Tunables
		got.scaleTo(n)
		if got.CFS != want || got.BaseSlice != want.MinGranularity {
			t.Errorf("%d CPUs: %+v, slice %s", n, got.CFS, got.BaseSlice)
		}
	}
}
