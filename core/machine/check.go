package machine

import (
	"fmt"
	"slices"

	"schedlab/core/sim"
)

// Check says what is wrong with the data of a machine: a figure out of order or
// without provenance, an idle state out of order, a thread listed twice. It
// returns nil for a sound machine. (Domains follow from the data.)
func (m *Machine) Check() error {
	if len(m.CPUs) == 0 || len(m.CPUs) > 1<<15 {
		return fmt.Errorf("%s: %d CPUs; 1 to 32768 are allowed", m.Key, len(m.CPUs))
	}
	if m.KHz <= 0 {
		return fmt.Errorf("%s: a clock of %d kHz; it must be positive", m.Key, m.KHz)
	}
	for _, check := range []func() error{m.checkFigures, m.checkIdle, m.checkCPUs} {
		if err := check(); err != nil {
			return fmt.Errorf("%s: %w", m.Key, err)
		}
	}
	return nil
}

func (f *Figure) check() error {
	if f.Lo < 0 || f.Lo > f.Mid || f.Mid > f.Hi {
		return fmt.Errorf("%v, %v, %v: low, middle and high must ascend", f.Lo, f.Mid, f.Hi)
	}
	return checkProvenance(f.Basis, f.Source)
}

func checkProvenance(b Basis, source string) error {
	switch b {
	case Measured, Cited, Derived, Assumed:
	default:
		return fmt.Errorf("basis %q: must be measured, cited, derived or assumed", b)
	}
	if source == "" {
		return fmt.Errorf("no source given")
	}
	return nil
}

func (m *Machine) checkFigures() error {
	for d := range Distance(NumDistances) {
		if err := m.Line[d].check(); err != nil {
			return fmt.Errorf("cache line, %v: %w", d, err)
		}
		if err := m.IPI[d].check(); err != nil {
			return fmt.Errorf("interrupt, %v: %w", d, err)
		}
		if d > 0 && m.Line[d].Mid < m.Line[d-1].Mid {
			return fmt.Errorf("cache line, %v: nearer than %v", d, d-1)
		}
	}
	if f := m.ClockLag; f != (Figure{}) {
		if err := f.check(); err != nil {
			return fmt.Errorf("clock lag: %w", err)
		}
	}
	if u := m.Uncore; u.Lo < 1 || u.Lo > u.Hi || u.Hi > 1000 {
		return fmt.Errorf("uncore from %d to %d %%: must ascend within 1 to 1000", u.Lo, u.Hi)
	}
	if err := checkProvenance(m.Uncore.Basis, m.Uncore.Source); err != nil {
		return fmt.Errorf("uncore: %w", err)
	}
	for _, p := range [][]int64{m.Sharing.User, m.Sharing.Kernel} {
		if len(p) == 0 {
			continue
		}
		if err := checkProvenance(m.Sharing.Basis, m.Sharing.Source); err != nil {
			return fmt.Errorf("sharing of cores: %w", err)
		}
		if p[0] != 100 || !slices.IsSorted(p) || p[len(p)-1] > 10000 {
			return fmt.Errorf("sharing of cores: %d; percentages for one thread, which is 100, two and more are wanted, and may not fall", p)
		}
	}
	if m.Multicast.N < 1 {
		return fmt.Errorf("multicast of %d: a write reaches one CPU or more", m.Multicast.N)
	}
	if err := checkProvenance(m.Multicast.Basis, m.Multicast.Source); err != nil {
		return fmt.Errorf("multicast: %w", err)
	}
	for i, c := range m.Costs {
		if c.Value < 0 {
			return fmt.Errorf("cost %s: %v; it must not be negative", c.Key, c.Value)
		}
		if err := checkProvenance(c.Basis, c.Source); err != nil {
			return fmt.Errorf("cost %s: %w", c.Key, err)
		}
		if slices.ContainsFunc(m.Costs[:i], func(o CostFigure) bool { return o.Key == c.Key }) {
			return fmt.Errorf("cost %s is given twice", c.Key)
		}
	}
	return nil
}

func (m *Machine) checkIdle() error {
	exit, residency := sim.Time(-1), sim.Time(-1)
	enabled := false
	for _, s := range m.Idle {
		if err := s.Wake.check(); err != nil {
			return fmt.Errorf("idle state %s, wake: %w", s.Name, err)
		}
		if err := checkProvenance(s.Basis, s.Source); err != nil {
			return fmt.Errorf("idle state %s: %w", s.Name, err)
		}
		if s.Exit <= exit || s.Residency <= residency {
			return fmt.Errorf("idle state %s: latency and residency must rise from state to state", s.Name)
		}
		if m.NoPollingFlag && (s.Polling || s.Monitor) {
			return fmt.Errorf("idle state %s: it looks at its flags, and the machine has no flag to say so", s.Name)
		}
		if s.Polling && s.Monitor {
			return fmt.Errorf("idle state %s: either polls or waits on a monitor", s.Name)
		}
		exit, residency = s.Exit, s.Residency
		enabled = enabled || !s.Disabled
	}
	if !enabled {
		return fmt.Errorf("no idle state is enabled")
	}
	return nil
}

func (m *Machine) checkCPUs() error {
	for i, row := range m.Nodes {
		if len(row) != len(m.Nodes) || row[i] != localNode {
			return fmt.Errorf("node %d: one distance to each of %d nodes, 10 to itself, is wanted", i, len(m.Nodes))
		}
		for j, d := range row {
			if i != j && d <= localNode || d != m.Nodes[j][i] {
				return fmt.Errorf("nodes %d and %d: a distance of %d; it must be above 10 and the same both ways", i, j, d)
			}
		}
	}
	seen := make(map[[2]int16]int)
	for i, c := range m.CPUs {
		if c.Node < 0 || int(c.Node) >= len(m.Nodes) {
			return fmt.Errorf("CPU %d: node %d; there are %d", i, c.Node, len(m.Nodes))
		}
		thread := [2]int16{c.Core, c.Thread}
		if j, twice := seen[thread]; twice {
			return fmt.Errorf("CPUs %d and %d are both thread %d of core %d", j, i, c.Thread, c.Core)
		}
		seen[thread] = i
	}
	return nil
}
