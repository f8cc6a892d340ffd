package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func (m *Machine) checkDomains() error {
	if len(m.Domains) != len(m.CPUs) {
		return fmt.Errorf("domains of %d CPUs, of %d", len(m.Domains), len(m.CPUs))
	}
	for id, d := range m.All {
		if d.ID != id {
			return fmt.Errorf("domain %d has the ID %d", id, d.ID)
		}
		if err := m.checkDomain(d); err != nil {
			return fmt.Errorf("domain %d (%s): %w", id, d.Name, err)
		}
	}
	for cpu, list := range m.Domains {
		for i, d := range list {
			if d.ID >= len(m.All) || m.All[d.ID] != d {
				return fmt.Errorf("CPU %d: its domain %d (%s) is not the shared one", cpu, i, d.Name)
			}
			if d.GroupOf[cpu] < 0 {
				return fmt.Errorf("CPU %d is not in its own domain %d (%s)", cpu, i, d.Name)
			}
			if i > 0 && d.Groups[d.GroupOf[cpu]].Child != list[i-1] {
				return fmt.Errorf("CPU %d: its group in domain %d (%s) is not its domain below", cpu, i, d.Name)
			}
		}
		if len(m.CPUs) > 1 && (len(list) == 0 || len(list[len(list)-1].CPUs) != len(m.CPUs)) {
			return fmt.Errorf("CPU %d: no domain spans the machine", cpu)
		}
	}
	return nil
}

// checkDomain checks that the groups are a partition of the span, in order.
func (m *Machine) checkDomain(d *Domain) error {
	var all []int16
	first := int16(-1)
	for i, g := range d.Groups {
		if len(g.CPUs) == 0 || g.CPUs[0] <= first {
			return fmt.Errorf("group %d is empty or out of order", i)
		}
		first = g.CPUs[0]
		if g.Child == nil && len(g.CPUs) > 1 || g.Child != nil && (!slices.Equal(g.Child.CPUs, g.CPUs) || g.Child.Level >= d.Level) {
			return fmt.Errorf("group %d is neither one CPU nor a domain below", i)
		}
		for _, c := range g.CPUs {
			if int(d.GroupOf[c]) != i {
				return fmt.Errorf("CPU %d: group %d, not %d", c, i, d.GroupOf[c])
			}
		}
		all = append(all, g.CPUs...)
	}
	slices.Sort(all)
	if len(d.Groups) < 2 || !slices.Equal(all, d.CPUs) {
		return fmt.Errorf("its groups are not a partition of its CPUs")
	}
	outside := 0
	for _, g := range d.GroupOf {
		if g < 0 {
			outside++
		}
	}
	if len(d.GroupOf) != len(m.CPUs) || outside != len(m.CPUs)-len(d.CPUs) {
		return fmt.Errorf("GroupOf holds %d of %d CPUs, %d of them outside", len(d.GroupOf), len(m.CPUs), outside)
	}
	return nil
}

// bare returns a machine that passes Check, with these CPUs and nodes.
func bare(cpus []CPU, nodes [][]int) *Machine {
	f := exactly(ns, Assumed, "test")
	m := &Machine{Key: "test", KHz: 1e6, Uncore: Scale{100, 100, Assumed, "test"}, CPUs: cpus, Nodes: nodes, Multicast: Count{1, Assumed, "test"},
		Idle: []IdleState{{Name: "POLL", Polling: true, Wake: f, Basis: Assumed, Source: "test"}}}
	for d := range NumDistances {
		m.Line[d], m.IPI[d] = f, f
	}
	return m
}

// shape describes a CPU's domains: "SMT 2/2 MC 16/8" is two groups of one CPU
// within eight groups.
func shape(m *Machine, cpu int) string {
	var s []string
	for _, d := range m.Domains[cpu] {
		s = append(s, fmt.Sprintf("%s %d/%d", d.Name, len(d.CPUs), len(d.Groups)))
	}
	return strings.Join(s, " ")
}

func TestDomainsOfRegularMachines(t *testing.T) {
	for _, c := range []struct {
		topology Topology
		want     string
	}{
		{Topology{1, 1, 1, 1, 0, 1, ThreadsLast}, ""},
		{Topology{1, 1, 1, 1, 0, 2, ThreadsLast}, "SMT 2/2"},
		{Topology{1, 1, 1, 2, 0, 1, ThreadsLast}, "MC 2/2"},
		{Topology{1, 1, 4, 1, 0, 1, ThreadsLast}, "PKG 4/4"},
		{Topology{4, 1, 1, 1, 0, 1, ThreadsLast}, "NUMA 4/4"},
		{Topology{2, 1, 1, 18, 0, 2, ThreadsLast}, "SMT 2/2 MC 36/18 NUMA 72/2"},
		{Topology{2, 2, 1, 16, 0, 2, ThreadsLast}, "SMT 2/2 MC 32/16 NUMA 64/2 NUMA 128/2"},
		{Topology{4, 1, 2, 8, 0, 2, ThreadsLast}, "SMT 2/2 MC 16/8 PKG 32/2 NUMA 128/4"},
		{Topology{2, 1, 10, 1, 0, 8, ThreadsAdjacent}, "SMT 8/8 PKG 80/10 NUMA 160/2"},
		{Topology{1, 1, 1, 8, 4, 1, ThreadsLast}, "CLS 4/4 MC 8/2"},
		{Topology{1, 1, 1, 8, 4, 2, ThreadsLast}, "SMT 2/2 CLS 8/4 MC 16/2"},
		{Topology{1, 1, 2, 4, 4, 1, ThreadsLast}, "CLS 4/4 PKG 8/2"},         // MC is the cluster
		{Topology{1, 1, 2, 4, 1, 2, ThreadsLast}, "SMT 2/2 MC 8/4 PKG 16/2"}, // the cluster is SMT, as on x86
	} {
		m := bare(c.topology.CPUs(), c.topology.Nodes())
		if err := m.Build(); err != nil {
			t.Errorf("%+v: %v", c.topology, err)
			continue
		}
		if err := m.checkDomains(); err != nil {
			t.Errorf("%+v: %v", c.topology, err)
		}
		for cpu := range m.CPUs {
			if got := shape(m, cpu); got != c.want {
				t.Errorf("%+v, CPU %d: %s, want %s", c.topology, cpu, got, c.want)
				break
			}
		}
	}
}

// A hybrid machine: two cores with two threads, three with one.
func TestDomainsOfAnIrregularMachine(t *testing.T) {
	m := bare([]CPU{{Core: 0}, {Core: 0, Thread: 1}, {Core: 1}, {Core: 2}, {Core: 3}, {Core: 4}, {Core: 4, Thread: 1}}, [][]int{{10}})
	if err := m.Build(); err != nil {
		t.Fatal(err)
	}
	if err := m.checkDomains(); err != nil {
		t.Fatal(err)
	}
	if got, want := shape(m, 0), "SMT 2/2 MC 7/5"; got != want {
		t.Errorf("CPU 0: %s, want %s", got, want)
	}
	if got, want := shape(m, 2), "MC 7/5"; got != want {
		t.Errorf("CPU 2: %s, want %s", got, want)
	}
	mc := m.Domains[2][0]
	if mc != m.Domains[0][1] || mc.Level != 1 {
		t.Errorf("the MC domain is not shared, or its level is %d, want 1", mc.Level)
	}
	if want := []int16{0, 0, 1, 2, 3, 4, 4}; !slices.Equal(mc.GroupOf, want) {
		t.Errorf("GroupOf = %v, want %v", mc.GroupOf, want)
	}
}

// A machine of which a part has clusters: a core beside them is in none.
func TestDomainsWithSomeClusters(t *testing.T) {
	m := bare([]CPU{{Cluster: 1}, {Core: 1, Cluster: 1}, {Core: 2, Cluster: 2}, {Core: 3, Cluster: 2}, {Core: 4}, {Core: 5}}, [][]int{{10}})
	if err := m.Build(); err != nil {
		t.Fatal(err)
	}
	if err := m.checkDomains(); err != nil {
		t.Fatal(err)
	}
	for cpu, want := range []string{"CLS 2/2 MC 6/4", "CLS 2/2 MC 6/4", "CLS 2/2 MC 6/4", "CLS 2/2 MC 6/4", "MC 6/4", "MC 6/4"} {
		if got := shape(m, cpu); got != want {
			t.Errorf("CPU %d: %s, want %s", cpu, got, want)
		}
	}
	if d := m.Domains[0][0]; d.SMT || d.NUMA || !d.LLC {
		t.Errorf("CLS: SMT %v, NUMA %v, LLC %v", d.SMT, d.NUMA, d.LLC)
	}
}

func TestDomainsThatDoNotNest(t *testing.T) {
	for _, c := range []struct {
		name  string
		cpus  []CPU
		nodes [][]int
		want  string
	}{
		{"ring of four nodes", []CPU{{}, {Node: 1, LLC: 1, Core: 1}, {Node: 2, LLC: 2, Core: 2}, {Node: 3, LLC: 3, Core: 3}},
			[][]int{{10, 20, 30, 20}, {20, 10, 20, 30}, {30, 20, 10, 20}, {20, 30, 20, 10}}, "overlap but differ"},
		{"cache across nodes", []CPU{{}, {Node: 1, Core: 1}, {Node: 1, LLC: 1, Core: 2}},
			[][]int{{10, 20}, {20, 10}}, "not in its PKG"},
		{"cluster across caches", []CPU{{Cluster: 1}, {Core: 1, LLC: 1, Cluster: 1}}, [][]int{{10}}, "not in its MC"},
		{"core across clusters", []CPU{{Cluster: 1}, {Thread: 1, Cluster: 2}}, [][]int{{10}}, "not in its CLS"},
		{"core across caches", []CPU{{}, {Thread: 1, LLC: 1}}, [][]int{{10}}, "not in its MC"},
	} {
		err := bare(c.cpus, c.nodes).Build()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// Any topology builds, and two CPUs first meet in the domain that their
// distance says.
func FuzzTopology(f *testing.F) {
	f.Add(uint8(2), uint8(1), uint8(8), uint8(8), uint8(0), uint8(2), false)
	f.Add(uint8(2), uint8(2), uint8(1), uint8(3), uint8(2), uint8(8), true)
	f.Add(uint8(1), uint8(1), uint8(1), uint8(1), uint8(3), uint8(1), true)
	f.Fuzz(func(t *testing.T, sockets, nodes, llcs, cores, clusters, threads uint8, adjacent bool) {
		part := func(n uint8, most int) int { return 1 + int(n)%most }
		top := Topology{Sockets: part(sockets, 4), NodesPerSocket: part(nodes, 4), LLCsPerNode: part(llcs, 4), CoresPerLLC: part(cores, 5), ThreadsPerCore: part(threads, 8)}
		if n := int(clusters) % 4; n > 0 {
			top.CoresPerCluster = top.CoresPerLLC
			top.CoresPerLLC *= n
		}
		if adjacent {
			top.Numbering = ThreadsAdjacent
		}
		m := bare(top.CPUs(), top.Nodes())
		if err := m.Build(); err != nil {
			t.Fatal(err)
		}
		if err := m.checkDomains(); err != nil {
			t.Fatal(err)
		}
		step := 1 + len(m.CPUs)/17
		for a := 0; a < len(m.CPUs); a += step {
			for b := range m.CPUs {
				if a == b {
					continue
				}
				var meet *Domain
				for _, d := range m.Domains[a] {
					if d.GroupOf[b] >= 0 {
						meet = d
						break
					}
				}
				d := m.Distance(a, b)
				if d != m.Distance(b, a) || meet.SMT != (d == SameCore) || meet.LLC != (d <= SameLLC) || meet.NUMA != (m.CPUs[a].Node != m.CPUs[b].Node) {
					t.Fatalf("%+v: CPUs %d and %d at %v meet in %s", top, a, b, d, meet.Name)
				}
			}
		}
	})
}
