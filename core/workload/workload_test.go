package workload

import (
	"testing"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
)

func newKernel(t *testing.T, m *machine.Machine) *kernel.Kernel {
	t.Helper()
	k, err := kernel.New(kernel.Config{Machine: m, Base: kernel.Bases[0], Costs: kernel.CostsOn(m), Check: true})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// with returns ipistorm's defaults with some changed.
func with(changes map[string]int64) Values {
	v := ipistorm.Defaults()
	for key, n := range changes {
		i := ipistorm.Param(key)
		if v[i].N = n; ipistorm.Params[i].Kind == CPUs {
			v[i] = Value{CPUs: []int{int(n)}}
		}
	}
	return v
}

// The modified module counts the offset over all CPUs, the public one over the
// listed CPUs only: with one sender it always hits CPU 0. A mask keeps the target
// among the CPUs whose numbers differ in its bits only.
func TestIpistormTarget(t *testing.T) {
	for _, c := range []struct {
		sender, offset, mask int64
		modified             bool
		senders, want        int
	}{
		{8, 8, 0, true, 1, 16},
		{8, 240, 0, true, 1, 8}, // once around
		{239, 8, 0, true, 1, 7},
		{8, 8, 0, false, 1, 0},
		{0, 5, 0, false, 1, 0},
		{3, 2, 0, false, 4, 1},
		{5, 1, 7, true, 1, 6},
		{7, 1, 7, true, 1, 0}, // wraps within its eight
		{15, 2, 7, true, 1, 9},
		{239, 1, 7, true, 1, 232},
		{239, 16, 16, true, 1, 15},
	} {
		v := with(map[string]int64{"offset": c.offset, "mask": c.mask, "modified": int64(b2i(c.modified))})
		v[paramSenders].CPUs = nil
		for i := range c.senders {
			v[paramSenders].CPUs = append(v[paramSenders].CPUs, int(c.sender)+i)
		}
		if got := target(int(c.sender), 240, v); got != c.want {
			t.Errorf("%+v: CPU %d", c, got)
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// run runs an ipistorm to its end.
func run(t *testing.T, m *machine.Machine, v Values) kernel.Snapshot {
	t.Helper()
	if key, want := ipistorm.Check(m, v); key != "" {
		t.Fatalf("%s: want %s", key, want)
	}
	k := newKernel(t, m)
	if err := ipistorm.Build(k, v); err != nil {
		t.Fatal(err)
	}
	status := kernel.Running
	for status == kernel.Running {
		status = k.Step(1000)
	}
	var s kernel.Snapshot
	k.Read(&s)
	if status != kernel.Done {
		t.Fatalf("status %d: %s", status, s.Fault)
	}
	return s
}

func TestIpistormCalls(t *testing.T) {
	m, _ := machine.Lookup("epyc-2x64")
	for _, c := range []struct {
		changes map[string]int64
		senders []int
		samples uint64 // calls
		sent    int64  // calls to one CPU each
		local   int64
	}{
		{map[string]int64{"numipi": 20}, nil, 20, 20, 0},
		{map[string]int64{"numipi": 20, "offset": 0}, nil, 20, 20, 20},
		{map[string]int64{"numipi": 20, "modified": 0, "offset": 5}, []int{0}, 20, 20, 20}, // CPU 0 calls CPU 0
		{map[string]int64{"numipi": 5, "single": 0}, nil, 5, 5 * 255, 0},
		{map[string]int64{"numipi": 5, "single": 0, "wait": 0}, nil, 5, 5 * 255, 0},
		{map[string]int64{"numipi": 20}, []int{0, 1, 2, 70}, 80, 80, 0},
		{map[string]int64{"numipi": 20, "modified": 0, "offset": 1}, []int{0, 1, 2, 3}, 80, 80, 0}, // a ring
		{map[string]int64{"numipi": 2, "single": 0}, []int{0, 1, 2, 70}, 8, 8 * 255, 0},
		{map[string]int64{"numipi": 20, "wait": 0}, []int{0, 8}, 40, 40, 0}, // 0 calls 8, which calls 16
	} {
		v := with(c.changes)
		if c.senders != nil {
			v[paramSenders].CPUs = c.senders
		}
		s := run(t, m, v)
		if s.Hists[0].N != c.samples || s.Counters[kernel.CallsSent] != c.sent || s.Counters[kernel.CallsLocal] != c.local {
			t.Errorf("%v from %v: %d samples, %d calls sent, %d of them local, want %d, %d, %d", c.changes, c.senders,
				s.Hists[0].N, s.Counters[kernel.CallsSent], s.Counters[kernel.CallsLocal], c.samples, c.sent, c.local)
		}
		if waits := v[paramWait].N == 1; waits && s.Hists[1].N != uint64(c.sent) {
			t.Errorf("%v from %v: %d deliveries, want %d", c.changes, c.senders, s.Hists[1].N, c.sent)
		}
	}
}

// A storm without a count goes on until its time is over, and its figure is the time
// of a call.
func TestIpistormTimeout(t *testing.T) {
	m, _ := machine.Lookup("epyc-2x64")
	v := with(map[string]int64{"numipi": 0, "timeout": 1, "delay": 1000})
	v[paramSenders].CPUs = []int{3, 4}
	s := run(t, m, v)
	if s.Elapsed < sim.Second || s.Elapsed > sim.Second+2*sim.Millisecond {
		t.Errorf("the storm lasted %s, want 1 s", s.Elapsed)
	}
	if n := s.Hists[0].N; n < 1900 || n > 2000 {
		t.Errorf("%d calls by two CPUs in 1 s with 1 ms between them", n)
	}
	if metric := ipistorm.Metric(m, v, ""); metric.PerRun != 1 || metric.Name != "time per call" {
		t.Errorf("metric %+v", metric)
	}
	if got := ipistorm.Metric(m, v, "").Of(&s); got < 1_000_000_000 || got > 1_060_000_000 {
		t.Errorf("%d ps a call, want a little more than 1 ms", got)
	}
	v[paramCalls].N = 5
	if s := run(t, m, v); s.Hists[0].N != 10 || ipistorm.Metric(m, v, "").Of(&s) > 1_100_000_000 {
		t.Errorf("%d calls of %d ps each, want the count to end the storm before its time is over", s.Hists[0].N, ipistorm.Metric(m, v, "").Of(&s))
	}
	v[paramCalls].N = 1_000_000 // for which there is no time
	if s := run(t, m, v); ipistorm.Metric(m, v, "").Of(&s) > 1_100_000_000 {
		t.Errorf("%d ps a call, though %d were made in %s", ipistorm.Metric(m, v, "").Of(&s), s.Hists[0].N, s.Elapsed)
	}
}

// Longest bounds runs whose figures are summed, and overflows for none.
func TestIpistormLongest(t *testing.T) {
	for _, m := range machine.Catalogue() {
		for _, c := range []map[string]int64{
			{}, {"numipi": 10_000_000}, {"numipi": 10_000_000, "delay": 1_000_000, "timeout": 60, "single": 0}, {"numipi": 0, "timeout": 60},
			{"numipi": 10_000_000, "single": 0},
		} {
			v := with(c)
			v[paramSenders].CPUs = nil
			for i := range m.CPUs {
				v[paramSenders].CPUs = append(v[paramSenders].CPUs, i)
			}
			d := ipistorm.Longest(m, v)
			if d < settling || d > sim.Never {
				t.Errorf("%s, %v: %d ps", m.Key, c, d)
			}
			if limit := settling + 62*sim.Second; v[paramTimeout].N > 0 && d > limit {
				t.Errorf("%s, %v: %s, though the storm ends after 60 s", m.Key, c, d)
			}
		}
	}
}

// Small machines get defaults that make sense there.
func TestIpistormFit(t *testing.T) {
	for _, m := range machine.Catalogue() {
		v := ipistorm.Defaults()
		ipistorm.Fit(m, v)
		if key, want := ipistorm.Check(m, v); key != "" {
			t.Errorf("%s: %s: want %s", m.Key, key, want)
		}
		if c := ipistorm.Calls(m, v); len(c) != 1 || c[0].From == c[0].To[0] {
			t.Errorf("%s: calls %v, want one from a CPU to another", m.Key, c)
		}
	}
}

// A delay makes the sender sleep between calls.
func TestIpistormDelay(t *testing.T) {
	m, _ := machine.Lookup("epyc-2x64")
	k := newKernel(t, m)
	if err := ipistorm.Build(k, with(map[string]int64{"numipi": 50, "delay": 100})); err != nil {
		t.Fatal(err)
	}
	for k.Step(1000) == kernel.Running {
	}
	var s kernel.Snapshot
	k.Read(&s)
	if s.Elapsed < 50*100*sim.Microsecond || s.Elapsed > 55*100*sim.Microsecond {
		t.Errorf("50 calls with a delay of 100 µs took %s; %s", s.Elapsed, s.Fault)
	}
	if s.Counters[kernel.SwitchesVoluntary] != 50 {
		t.Errorf("%d switches away from a sleeping task, want 50", s.Counters[kernel.SwitchesVoluntary])
	}
}

func TestIpistormCheck(t *testing.T) {
	m, _ := machine.Lookup("xeon-240")
	for _, c := range []struct {
		changes map[string]int64
		key     string
	}{
		{map[string]int64{}, ""},
		{map[string]int64{"cpulist": 239}, ""},
		{map[string]int64{"cpulist": 240}, "cpulist"},
		{map[string]int64{"single": 0}, ""},
		{map[string]int64{"numipi": 0}, "numipi"},
		{map[string]int64{"numipi": 0, "timeout": 1}, ""},
		{map[string]int64{"numipi": 10_000_000, "delay": 6}, ""},
		{map[string]int64{"numipi": 10_000_000, "delay": 7}, "numipi"},
	} {
		key, want := ipistorm.Check(m, with(c.changes))
		if key != c.key || (key != "") != (want != "") {
			t.Errorf("Check(%v) = %q, %q, want %q", c.changes, key, want, c.key)
		}
	}
}

// Every background fits every machine, and is tasks and nothing else.
func TestBackgrounds(t *testing.T) {
	for _, m := range machine.Catalogue() {
		for i := range Backgrounds {
			b := &Backgrounds[i]
			k := newKernel(t, m)
			for _, s := range b.Tasks(m) {
				if err := k.Spawn(s); err != nil {
					t.Errorf("%s on %s: %v", b.Key, m.Key, err)
				}
			}
			if b.Key == "" || b.Title == "" || b.Brief == "" || b.Note == "" {
				t.Errorf("%+v: a background has a key, a title, a brief and a note", b)
			}
		}
	}
}
