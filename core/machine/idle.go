package machine

import (
	"fmt"
	"slices"
	"strings"
)

// EnabledIdle returns the names of the idle states that are enabled, shallowest first.
func (m *Machine) EnabledIdle() []string {
	var names []string
	for _, s := range m.Idle {
		if !s.Disabled {
			names = append(names, s.Name)
		}
	}
	return names
}

// WithIdle returns the machine with exactly the named idle states enabled. Beside its
// idle states it shares everything with m. The error names a state that m
// doesn't have, and those that it has.
func (m *Machine) WithIdle(enabled []string) (*Machine, error) {
	c := *m
	c.Idle = slices.Clone(m.Idle)
	var names []string
	for i := range c.Idle {
		s := &c.Idle[i]
		s.Disabled = !slices.Contains(enabled, s.Name)
		names = append(names, s.Name)
	}
	for _, name := range enabled {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("%s has no idle state %q; there are %s", m.Key, name, strings.Join(names, ", "))
		}
	}
	if len(enabled) == 0 {
		return nil, fmt.Errorf("%s needs an idle state that is enabled; there are %s", m.Key, strings.Join(names, ", "))
	}
	return &c, nil
}
