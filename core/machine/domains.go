package machine

import (
	"cmp"
	"fmt"
	"slices"
)

// A level is one way to split the machine into spans: CPUs with the same id
// from span are together.
type level struct {
	name           string
	span           func(CPU) int
	smt, llc, numa bool
}

// levels returns the scheduler's topology levels, smallest first: threads of a
// core, CPUs of a cluster where there are any, CPUs of a last-level cache, CPUs of a
// node (which the kernel calls the package, whatever the node is), then one level
// for every distance between nodes. It fails if the nodes within some distance of each
// other overlap without being the same, as in a ring: such spans can't be shared.
func levels(cpus []CPU, nodes [][]int) ([]level, error) {
	ls := []level{{name: "SMT", span: func(c CPU) int { return int(c.Core) }, smt: true, llc: true}}
	if slices.ContainsFunc(cpus, func(c CPU) bool { return c.Cluster != 0 }) {
		ls = append(ls, level{name: "CLS", span: clusterSpan, llc: true})
	}
	ls = append(ls,
		level{name: "MC", span: func(c CPU) int { return int(c.LLC) }, llc: true},
		level{name: "PKG", span: func(c CPU) int { return int(c.Node) }})
	var distances []int
	for i, row := range nodes {
		for j, d := range row {
			if i != j {
				distances = append(distances, d)
			}
		}
	}
	slices.Sort(distances)
	for _, d := range slices.Compact(distances) {
		first := make([]int, len(nodes)) // by node: the first node within d, which names the span
		for n := range nodes {
			first[n] = slices.IndexFunc(nodes[n], func(x int) bool { return x <= d })
		}
		for a := range nodes {
			for b := range nodes {
				if (nodes[a][b] <= d) != (first[a] == first[b]) {
					return nil, fmt.Errorf("nodes %d and %d: the nodes within distance %d overlap but differ; only distances that nest are modelled", a, b, d)
				}
			}
		}
		ls = append(ls, level{name: "NUMA", span: func(c CPU) int { return first[c.Node] }, numa: true})
	}
	return ls, nil
}

// clusterSpan is a CPU's cluster, or its core if it is in none.
func clusterSpan(c CPU) int {
	if c.Cluster == 0 {
		return -1 - int(c.Core)
	}
	return int(c.Cluster)
}

// Build checks the machine and fills in Domains, All and the multicast groups. As in the kernel, a
// level whose span equals that of the level below, or that has one CPU, is
// dropped: so POWER9, whose last-level cache belongs to one core, has no MC,
// and a socket with one cache has no PKG. It fails if the spans of two levels
// don't nest.
func (m *Machine) Build() error {
	if err := m.Check(); err != nil {
		return err
	}
	ls, err := levels(m.CPUs, m.Nodes)
	if err != nil {
		return err
	}
	m.buildMulticast()
	m.All, m.Domains = nil, make([][]*Domain, len(m.CPUs))
	for _, l := range ls {
		var spans [][]int16 // in the order of their first CPU
		index := make(map[int]int)
		for cpu, c := range m.CPUs {
			id := l.span(c)
			i, ok := index[id]
			if !ok {
				i = len(spans)
				index[id], spans = i, append(spans, nil)
			}
			spans[i] = append(spans[i], int16(cpu))
		}
		for _, span := range spans {
			if err := m.addDomain(l, span); err != nil {
				return err
			}
		}
	}
	return nil
}

// buildMulticast numbers the multicast groups.
func (m *Machine) buildMulticast() {
	order := make([]int, len(m.CPUs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &m.CPUs[a], &m.CPUs[b]
		return cmp.Or(cmp.Compare(x.Socket, y.Socket), cmp.Compare(x.Core, y.Core), cmp.Compare(x.Thread, y.Thread))
	})
	m.multicast = make([]int, len(m.CPUs))
	group, size := -1, 0
	for i, cpu := range order {
		if i == 0 || size == m.Multicast.N || m.CPUs[cpu].Socket != m.CPUs[order[i-1]].Socket {
			group, size = group+1, 0
		}
		m.multicast[cpu] = group
		size++
	}
}

// addDomain puts a domain with this span on top of those that its CPUs have.
func (m *Machine) addDomain(l level, span []int16) error {
	d := &Domain{ID: len(m.All), Name: l.name, CPUs: span, NUMA: l.numa, LLC: l.llc, SMT: l.smt}
	d.GroupOf = make([]int16, len(m.CPUs))
	for i := range d.GroupOf {
		d.GroupOf[i] = -1
	}
	for _, cpu := range span {
		if d.GroupOf[cpu] >= 0 {
			continue
		}
		g := Group{CPUs: []int16{cpu}}
		if below := m.Domains[cpu]; len(below) > 0 {
			g.Child = below[len(below)-1]
			g.CPUs = g.Child.CPUs
			d.Level = max(d.Level, g.Child.Level+1)
		}
		for _, c := range g.CPUs {
			if _, in := slices.BinarySearch(span, c); !in {
				return fmt.Errorf("CPU %d is in the %s of CPU %d but not in its %s", c, g.Child.Name, cpu, l.name)
			}
			d.GroupOf[c] = int16(len(d.Groups))
		}
		d.Groups = append(d.Groups, g)
	}
	if len(d.Groups) < 2 {
		return nil
	}
	m.All = append(m.All, d)
	for _, cpu := range span {
		m.Domains[cpu] = append(m.Domains[cpu], d)
	}
	return nil
}
