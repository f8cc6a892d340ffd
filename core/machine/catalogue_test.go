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
		{"xeon-128-4n", 128, "SMT 2/2 MC 32/16 NUMA 64/2 NUMA 128/2", 64 + 4 + 2 + 1, []int16{8, 72}, 226},
		{"xeon-e5-2699v3", 72, "SMT 2/2 MC 36/18 NUMA 72/2", 36 + 2 + 1, []int16{8, 44}, 110},
		{"epyc-2x128", 512, "SMT 2/2 MC 16/8 PKG 256/16 NUMA 512/2", 256 + 32 + 2 + 1, []int16{8, 264}, 786},
		{"epyc-1x32", 64, "SMT 2/2 MC 8/4 PKG 64/8", 32 + 8 + 1, []int16{8, 40}, 74},
		{"icx-2x32", 128, "SMT 2/2 MC 64/32 NUMA 128/2", 64 + 2 + 1, []int16{8, 72}, 194},
		{"kunpeng-920", 128, "CLS 4/4 MC 32/8 NUMA 64/2 NUMA 128/2", 32 + 4 + 2 + 1, []int16{8, 9, 10, 11}, 228},
		{"laptop", 16, "SMT 2/2 MC 16/8", 8 + 1, []int16{8, 9}, 18},
		{"apu-8", 8, "SMT 2/2 MC 8/4", 4 + 1, []int16{6, 7}, 10},
		{"vm-2", 2, "MC 2/2", 1, []int16{0, 1}, 2},
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
		eight := min(8, c.cpus-1)
		if got := m.Domains[eight][0].CPUs; !slices.Equal(got, c.siblings) {
			t.Errorf("%s: siblings of CPU %d are %v, want %v", c.key, eight, got, c.siblings)
		}
		rq := 0
		for _, d := range m.Domains[eight] {
			rq += len(d.CPUs)
		}
		if rq != c.rq {
			t.Errorf("%s: a walk visits %d run queues, want %d", c.key, rq, c.rq)
		}
		if m.Key != c.key || m.Title == "" || m.Note == "" {
			t.Errorf("%s: key %q, title %q, note %q", c.key, m.Key, m.Title, m.Note)
		}
	}
	if n := len(Catalogue()); n != 12 {
		t.Errorf("%d machines, but this test knows 12", n)
	}
}

// The published ipistorm runs call from CPU 8 to CPU 16.
func TestDistance(t *testing.T) {
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
		{"xeon-128-4n", 0, 15, SameLLC},
		{"xeon-128-4n", 0, 16, SameSocket},
		{"xeon-128-4n", 31, 32, OtherSocket},
		{"epyc-2x128", 7, 8, SameSocket}, // 8 and 15 are on the same die
		{"epyc-2x128", 127, 128, OtherSocket},
		{"epyc-1x32", 0, 3, SameLLC},
		{"epyc-1x32", 3, 4, SameSocket},
		{"epyc-1x32", 3, 35, SameCore},
		{"kunpeng-920", 0, 3, SameLLC}, // of a cluster
		{"kunpeng-920", 3, 4, SameLLC},
		{"kunpeng-920", 31, 32, SameSocket},
		{"kunpeng-920", 63, 64, OtherSocket},
		{"laptop", 0, 1, SameCore},
		{"laptop", 0, 15, SameLLC},
		{"apu-8", 6, 7, SameCore},
		{"apu-8", 0, 7, SameLLC},
		{"vm-2", 0, 1, SameLLC},
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

// What the published runs had switched off is off; what they need is on. The latencies
// are those of the drivers' tables, in µs.
func TestIdleStates(t *testing.T) {
	for _, c := range []struct{ key, states string }{
		{"epyc-2x64", "POLL 0/0, C1 1/2, (C2 400/800)"},
		{"xeon-240", "POLL 0/0, C1 1/1, (C1E 2/4), (C6 290/800)"},
		{"power9-smt8", "snooze 0/0, stop0_lite 1/10, stop0 2/20, stop1 5/50, stop2 10/100"},
		{"xeon-128-4n", "POLL 0/0, C1 1/1, C1E 4/4, C6 170/600"},
		{"xeon-e5-2699v3", "POLL 0/0, C1 2/2, C1E 10/20, C3 33/100, C6 133/400"},
		{"epyc-2x128", "POLL 0/0, C1 1/2, C2 400/800"},
		{"epyc-1x32", "POLL 0/0, C1 1/2, C2 400/800"},
		{"icx-2x32", "POLL 0/0, C1 1/1, C1E 4/4, C6 170/600"},
		{"kunpeng-920", "WFI 1/1"},
		{"laptop", "POLL 0/0, C1 1/2, C2 18/36, C3 350/700"},
		{"apu-8", "POLL 0/0, C1 1/2, C2 18/36, C3 350/700"},
		{"vm-2", "HLT 1/1"},
	} {
		m, err := Lookup(c.key)
		if err != nil {
			t.Fatal(err)
		}
		var states []string
		for _, s := range m.Idle {
			state := fmt.Sprintf("%s %d/%d", s.Name, s.Exit/us, s.Residency/us)
			if s.Disabled {
				state = "(" + state + ")"
			}
			states = append(states, state)
			if s.Wake.Hi > max(s.Exit, 10*us) {
				t.Errorf("%s: %s takes up to %v, but its table says %v", c.key, s.Name, s.Wake.Hi, s.Exit)
			}
		}
		if got := strings.Join(states, ", "); got != c.states {
			t.Errorf("%s: %s, want %s", c.key, got, c.states)
		}
	}
}

// An idle CPU of an arm64 server or a virtual machine needs an interrupt; every other machine
// has a state that a store ends.
func TestWakingWithoutAnInterrupt(t *testing.T) {
	needs := []string{"kunpeng-920", "vm-2"}
	for _, m := range Catalogue() {
		store := slices.ContainsFunc(m.Idle, func(s IdleState) bool { return s.Polling || s.Monitor })
		if store == slices.Contains(needs, m.Key) {
			t.Errorf("%s: a store wakes a CPU: %v", m.Key, store)
		}
	}
}

// The median times of a cache line between CPUs as the measurements print them, in ns.
func TestLinesAsMeasured(t *testing.T) {
	for _, c := range []struct {
		key                    string
		core, llc, socket, far sim.Time // 0: no such pair
	}{
		{"epyc-2x64", 10, 23, 100, 195},
		{"epyc-1x32", 10, 23, 100, 0},
		{"xeon-240", 8, 51, 0, 108},
		{"xeon-128-4n", 8, 51, 51, 108},
		{"icx-2x32", 8, 51, 0, 108},
		{"xeon-e5-2699v3", 8, 45, 0, 127},
		{"kunpeng-920", 0, 36, 80, 190},
		{"vm-2", 0, 51, 0, 0},
	} {
		m, err := Lookup(c.key)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []sim.Time{c.core, c.llc, c.socket, c.far} {
			d := SameCore + Distance(i)
			if got := m.Line[d].Mid; want > 0 && got != want*ns {
				t.Errorf("%s, %v: %v, want %v", c.key, d, got, want*ns)
			}
		}
	}
}

func TestMulticast(t *testing.T) {
	for _, c := range []struct {
		key    string
		n      int
		groups [][]int // CPUs of the first group, of the second and so on
		all    int
	}{
		{"epyc-2x64", 16, [][]int{{0, 1, 2, 3, 4, 5, 6, 7, 128, 129, 130, 131, 132, 133, 134, 135}, {8, 9, 10, 11, 12, 13, 14, 15, 136, 137, 138, 139, 140, 141, 142, 143}}, 16},
		{"xeon-240", 16, nil, 2 * 8}, // the last one of a socket has 8
		{"xeon-e5-2699v3", 16, nil, 2 * 3},
		{"power9-smt8", 1, [][]int{{0}, {1}}, 160},
		{"kunpeng-920", 1, [][]int{{0}, {1}}, 128},
		{"laptop", 1, [][]int{{0}, {1}}, 16},
		{"vm-2", 128, [][]int{{0, 1}}, 1},
	} {
		m, err := Lookup(c.key)
		if err != nil {
			t.Fatal(err)
		}
		groups := make([][]int, c.all)
		for cpu := range m.CPUs {
			g := m.MulticastGroup(cpu)
			if g < 0 || g >= c.all {
				t.Fatalf("%s: CPU %d is in group %d; there are %d", c.key, cpu, g, c.all)
			}
			groups[g] = append(groups[g], cpu)
		}
		if m.Multicast.N != c.n {
			t.Errorf("%s: a write reaches %d CPUs, want %d", c.key, m.Multicast.N, c.n)
		}
		for i, want := range c.groups {
			if !slices.Equal(groups[i], want) {
				t.Errorf("%s: group %d is %v, want %v", c.key, i, groups[i], want)
			}
		}
	}
}

// What holds for every machine, whatever its figures.
func TestEveryMachine(t *testing.T) {
	for _, m := range Catalogue() {
		if err := m.Check(); err != nil {
			t.Error(err)
		}
		if strings.Count(m.Brief, ". ") > 0 || !strings.HasSuffix(m.Brief, ".") || len(m.Brief) > 160 {
			t.Errorf("%s: %q is not one short sentence", m.Key, m.Brief)
		}
		if m.Brief == m.Note || m.Title == "" || m.Note == "" || !strings.HasSuffix(m.Note, ".") {
			t.Errorf("%s: title %q, note %q", m.Key, m.Title, m.Note)
		}
		var names []string
		for _, s := range m.Idle {
			if slices.Contains(names, s.Name) || s.Name == "" || strings.ContainsAny(s.Name, ", ") {
				t.Errorf("%s: an idle state is called %q", m.Key, s.Name)
			}
			names = append(names, s.Name)
		}
		groups, sockets := make(map[int]int), make(map[int]int16)
		for cpu, c := range m.CPUs {
			g := m.MulticastGroup(cpu)
			groups[g]++
			if s, ok := sockets[g]; ok && s != c.Socket {
				t.Errorf("%s: multicast group %d is in sockets %d and %d", m.Key, g, s, c.Socket)
			}
			sockets[g] = c.Socket
			if other := m.Domains[cpu][0]; other.SMT && m.Multicast.N%len(other.CPUs) == 0 && m.MulticastGroup(int(other.CPUs[0])) != g {
				t.Errorf("%s: CPU %d and its sibling are in different multicast groups", m.Key, cpu)
			}
			if (c.Cluster != 0) != (m.Key == "kunpeng-920") {
				t.Errorf("%s: CPU %d is in cluster %d", m.Key, cpu, c.Cluster)
			}
		}
		for g, n := range groups {
			if g < 0 || g >= len(groups) || n > m.Multicast.N {
				t.Errorf("%s: multicast group %d of %d has %d CPUs", m.Key, g, len(groups), n)
			}
		}
		for d := range Distance(NumDistances) {
			if unused := strings.Contains(m.Line[d].Source, "never used"); unused == m.occurs(d) {
				t.Errorf("%s: %v, of which the figure is %q, occurs: %v", m.Key, d, m.Line[d].Source, m.occurs(d))
			}
		}
	}
}

// occurs tells whether two CPUs are at this distance.
func (m *Machine) occurs(d Distance) bool {
	for a := range m.CPUs {
		if slices.ContainsFunc([]int{0, len(m.CPUs) / 2, len(m.CPUs) - 1}, func(b int) bool { return m.Distance(a, b) == d }) {
			return true
		}
	}
	// The two that were here before keep a figure that is never used.
	return m.Key == "xeon-240" && d == SameSocket || m.Key == "power9-smt8" && d == SameLLC
}

func TestWithIdle(t *testing.T) {
	for _, c := range []struct {
		key, enabled string // names with blanks between them
		want         string // "" if wrong
		problem      string
	}{
		{"epyc-2x64", "C2 POLL", "POLL C2", ""},
		{"epyc-2x64", "POLL C1 C2", "POLL C1 C2", ""},
		{"xeon-240", "C1", "C1", ""},
		{"power9-smt8", "snooze", "snooze", ""},
		{"vm-2", "HLT", "HLT", ""},
		{"laptop", "C3 C3", "C3", ""},
		{"epyc-2x64", "", "", "epyc-2x64 needs an idle state that is enabled; there are POLL, C1, C2"},
		{"epyc-2x64", "C1 C6", "", `epyc-2x64 has no idle state "C6"; there are POLL, C1, C2`},
		{"vm-2", "POLL", "", `vm-2 has no idle state "POLL"; there are HLT`},
	} {
		m, err := Lookup(c.key)
		if err != nil {
			t.Fatal(err)
		}
		before := slices.Clone(m.Idle)
		got, err := m.WithIdle(strings.Fields(c.enabled))
		if !slices.Equal(m.Idle, before) {
			t.Fatalf("%s: the shared machine has changed", c.key)
		}
		if c.want == "" {
			if err == nil || err.Error() != c.problem {
				t.Errorf("%s with %q: error %v, want %s", c.key, c.enabled, err, c.problem)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s with %q: %v", c.key, c.enabled, err)
			continue
		}
		if names := strings.Join(got.EnabledIdle(), " "); names != c.want {
			t.Errorf("%s with %q: %s, want %s", c.key, c.enabled, names, c.want)
		}
		if err := got.Check(); err != nil {
			t.Errorf("%s with %q: %v", c.key, c.enabled, err)
		}
		if got.All[0] != m.All[0] || got.MulticastGroup(1) != m.MulticastGroup(1) || len(got.Idle) != len(m.Idle) {
			t.Errorf("%s with %q: more than the idle states differs", c.key, c.enabled)
		}
	}
}

// With the states that it has enabled, a machine is what it was.
func TestWithIdleAsItIs(t *testing.T) {
	for _, m := range Catalogue() {
		got, err := m.WithIdle(m.EnabledIdle())
		if err != nil {
			t.Error(err)
		} else if !slices.Equal(got.Idle, m.Idle) {
			t.Errorf("%s: %v, want %v", m.Key, got.Idle, m.Idle)
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
		{"polling without a flag", func(m *Machine) { m.NoPollingFlag = true }, "no flag to say so"},
		{"no multicast", func(m *Machine) { m.Multicast.N = 0 }, "multicast of 0"},
		{"multicast without source", func(m *Machine) { m.Multicast.Source = "" }, "multicast: no source"},
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
	if want := `no machine "epyc"; there are epyc-2x64, xeon-240, power9-smt8, xeon-128-4n, xeon-e5-2699v3, epyc-2x128, epyc-1x32, icx-2x32, kunpeng-920, laptop, apu-8, vm-2`; err == nil || err.Error() != want {
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
