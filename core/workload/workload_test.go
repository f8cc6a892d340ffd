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
// listed CPUs only: with one sender it always hits CPU 0.
func TestIpistormTarget(t *testing.T) {
	m, _ := machine.Lookup("xeon-240")
	for _, c := range []struct {
		changes map[string]int64
		local   bool // the target is the sender
	}{
		{map[string]int64{}, false},
		{map[string]int64{"offset": 0}, true},
		{map[string]int64{"offset": 240}, true}, // once around
		{map[string]int64{"modified": 0}, false},
		{map[string]int64{"modified": 0, "cpulist": 0}, true}, // CPU 0 calls CPU 0
		{map[string]int64{"modified": 0, "cpulist": 0, "offset": 5}, true},
	} {
		c.changes["numipi"] = 20
		k := newKernel(t, m)
		if err := ipistorm.Build(k, with(c.changes)); err != nil {
			t.Fatal(err)
		}
		for k.Step(1000) == kernel.Running {
		}
		var s kernel.Snapshot
		k.Read(&s)
		if s.Fault != "" || s.Counters[kernel.CallsSent] != 20 {
			t.Fatalf("%v: %d calls sent, want 20; %s", c.changes, s.Counters[kernel.CallsSent], s.Fault)
		}
		if got := s.Counters[kernel.CallsLocal] == 20; got != c.local {
			t.Errorf("%v: %d of 20 calls stayed on the sender's CPU", c.changes, s.Counters[kernel.CallsLocal])
		}
		if s.Hists[0].N != 20 {
			t.Errorf("%v: %d samples, want one a call", c.changes, s.Hists[0].N)
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
		{map[string]int64{"single": 0}, "single"},
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
			if b.Key == "" || b.Title == "" || b.Note == "" {
				t.Errorf("%+v: a background has a key, a title and a note", b)
			}
		}
	}
}
