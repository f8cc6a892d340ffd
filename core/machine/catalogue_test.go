package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"schedlab/core/sim"
)

func TestCatalogue(t *testing.T) {
	for _, c := range []struct {
		key      string
		cpus     int
		domains  string // of every CPU
		all      int    // domains in all
		siblings []int16
		rq       int // run queues that a walk up all levels visits
	}{
		{"epyc-2x64", 256, "SMT 2/2 MC 16/8 PKG 128/8 NUMA 256/2", 128 + 16 + 2 + 1, []int16{8, 136}, 402},
		{"xeon-240", 240, "SMT 2/2 MC 120/60 NUMA 240/2", 120 + 2 + 1, []int16{8, 128}, 362},
		{"power9-smt8", 160, "SMT 8/8 PKG 80/10 NUMA 160/2", 20 + 2 + 1, []int16{8, 9, 10, 11, 12, 13, 14, 15}, 248},
	} {
		m, err := Lookup(c.key)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := m.checkDomains(); err != nil {
			t.Errorf("%s: %v", c.key, err)
		}
		if len(m.CPUs) != c.cpus || len(m.All) != c.all {
			t.Errorf("%s: %d CPUs and %d domains, want %d and %d", c.key, len(m.CPUs), len(m.All), c.cpus, c.all)
		}
		for cpu := range m.CPUs {
			if got := shape(m, cpu); got != c.domains {
				t.Errorf("%s, CPU %d: %s, want %s", c.key, cpu, got, c.domains)
			}
			for i, d := range m.Domains[cpu] {
				if d.Level != i {
					t.Errorf("%s, CPU %d: domain %d has level %d", c.key, cpu, i, d.Level)
				}
			}
		}
		if got := m.Domains[8][0].CPUs; !slices.Equal(got, c.siblings) {
			t.Errorf("%s: siblings of CPU 8 are %v, want %v", c.key, got, c.siblings)
		}
		rq := 0
		for _, d := range m.Domains[8] {
			rq += len(d.CPUs)
		}
		if rq != c.rq {
			t.Errorf("%s: a walk visits %d run queues, want %d", c.key, rq, c.rq)
		}
		if m.Key != c.key || m.Title == "" || m.Note == "" {
			t.Errorf("%s: key %q, title %q, note %q", c.key, m.Key, m.Title, m.Note)
		}
	}
	if n := len(Catalogue()); n != 3 {
		t.Errorf("%d machines, but this test knows 3", n)
	}
}

// The seeds call from CPU 8 to CPU 16.
func TestDistanceOfTheSeeds(t *testing.T) {
	for _, c := range []struct {
		key  string
		a, b int
		want Distance
	}{
		{"epyc-2x64", 8, 16, SameSocket},
		{"epyc-2x64", 8, 15, SameLLC},
		{"epyc-2x64", 8, 136, SameCore},
		{"epyc-2x64", 63, 64, OtherSocket},
		{"epyc-2x64", 63, 191, SameCore},
		{"epyc-2x64", 0, 191, SameSocket},
		{"xeon-240", 8, 16, SameLLC},
		{"xeon-240", 59, 60, OtherSocket},
		{"xeon-240", 0, 120, SameCore},
		{"power9-smt8", 8, 16, SameSocket},
		{"power9-smt8", 8, 15, SameCore},
		{"power9-smt8", 79, 80, OtherSocket},
		{"power9-smt8", 3, 3, SameCPU},
	} {
		m, err := Lookup(c.key)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Distance(c.a, c.b); got != c.want {
			t.Errorf("%s: CPUs %d and %d: %v, want %v", c.key, c.a, c.b, got, c.want)
		}
	}
}

// What the published runs had switched off is off; what they need is on.
func TestIdleStatesOfTheSeeds(t *testing.T) {
	for _, c := range []struct{ key, enabled, disabled string }{
		{"epyc-2x64", "POLL C1", "C2"},
		{"xeon-240", "POLL C1", "C1E C6"},
		{"power9-smt8", "snooze stop0_lite stop0 stop1 stop2", ""},
	} {
		m, err := Lookup(c.key)
		if err != nil {
			t.Fatal(err)
		}
		var enabled, disabled []string
		for _, s := range m.Idle {
			if s.Disabled {
				disabled = append(disabled, s.Name)
			} else {
				enabled = append(enabled, s.Name)
			}
		}
		if strings.Join(enabled, " ") != c.enabled || strings.Join(disabled, " ") != c.disabled {
			t.Errorf("%s: %v on and %v off, want %s and %s", c.key, enabled, disabled, c.enabled, c.disabled)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*Machine)
		want  string
	}{
		{"sound", func(m *Machine) {}, ""},
		{"no CPU", func(m *Machine) { m.CPUs = nil }, "0 CPUs; 1 to 32768"},
		{"no clock", func(m *Machine) { m.KHz = 0 }, "clock of 0 kHz"},
		{"figure out of order", func(m *Machine) { m.Line[SameLLC].Lo = 2 * ns }, "cache line, same LLC"},
		{"negative figure", func(m *Machine) { m.IPI[SameCPU].Lo = -1 }, "interrupt, same CPU"},
		{"farther is nearer", func(m *Machine) { m.Line[OtherSocket] = exactly(0, Assumed, "test") }, "nearer than same socket"},
		{"no basis", func(m *Machine) { m.IPI[OtherSocket].Basis = "" }, `basis ""`},
		{"no source", func(m *Machine) { m.Line[SameCPU].Source = "" }, "no source"},
		{"cost without source", func(m *Machine) { m.Costs = []CostFigure{{"rq_visit", 1, Derived, ""}} }, "cost rq_visit: no source"},
		{"negative cost", func(m *Machine) { m.Costs = []CostFigure{{"rq_visit", -1, Derived, "test"}} }, "must not be negative"},
		{"cost twice", func(m *Machine) {
			m.Costs = []CostFigure{{"rq_visit", 1, Derived, "test"}, {"rq_visit", 2, Derived, "test"}}
		}, "given twice"},
		{"idle states out of order", func(m *Machine) { m.Idle = append(m.Idle, m.Idle[0]) }, "must rise"},
		{"all states off", func(m *Machine) { m.Idle[0].Disabled = true }, "no idle state is enabled"},
		{"two ways to wait", func(m *Machine) { m.Idle[0].Monitor = true }, "either polls or"},
		{"state without basis", func(m *Machine) { m.Idle[0].Basis = "hearsay" }, `basis "hearsay"`},
		{"node out of range", func(m *Machine) { m.CPUs[1].Node = 1 }, "CPU 1: node 1; there are 1"},
		{"thread twice", func(m *Machine) { m.CPUs[1].Thread = 0 }, "CPUs 0 and 1 are both thread 0 of core 0"},
		{"one-way distance", func(m *Machine) { m.Nodes = [][]int{{10, 20}, {21, 10}} }, "the same both ways"},
		{"far from itself", func(m *Machine) { m.Nodes = [][]int{{11}} }, "10 to itself"},
	} {
		m := bare([]CPU{{}, {Thread: 1}}, [][]int{{10}})
		c.spoil(m)
		err := m.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestLookupNamesWhatThereIs(t *testing.T) {
	_, err := Lookup("epyc")
	if want := `no machine "epyc"; there are epyc-2x64, xeon-240, power9-smt8`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestCycles(t *testing.T) {
	for _, c := range []struct {
		key    string
		cycles int64
		want   sim.Time
	}{
		{"epyc-2x64", 3400, 1000 * ns},
		{"xeon-240", 1900, 1000 * ns},
		{"xeon-240", 1, 526 * ps},
		{"power9-smt8", 37, 10 * ns},
		{"power9-smt8", 0, 0},
	} {
		m, err := Lookup(c.key)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Cycles(c.cycles); got != c.want {
			t.Errorf("%s: %d cycles take %v, want %v", c.key, c.cycles, got, c.want)
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	for b.Loop() {
		if _, err := Lookup("power9-smt8"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		if err := epyc2x64().Build(); err != nil {
			b.Fatal(err)
		}
	}
}

// The ladder of domains above CPU 8 of the EPYC machine.
func ExampleLookup() {
	m, err := Lookup("epyc-2x64")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range m.Domains[8] {
		own := d.Groups[d.GroupOf[8]]
		fmt.Printf("%-4s %3d CPUs in %d groups, CPU 8 in one of %d\n", d.Name, len(d.CPUs), len(d.Groups), len(own.CPUs))
	}
	fmt.Println("8 → 16:", m.Distance(8, 16))
	// Output:
	// SMT    2 CPUs in 2 groups, CPU 8 in one of 1
	// MC    16 CPUs in 8 groups, CPU 8 in one of 2
	// PKG  128 CPUs in 8 groups, CPU 8 in one of 16
	// NUMA 256 CPUs in 2 groups, CPU 8 in one of 128
	// 8 → 16: same socket
}
