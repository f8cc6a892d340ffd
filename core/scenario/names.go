package scenario

import (
	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/patch"
	"schedlab/core/scx"
	"schedlab/core/workload"
)

// Machines lists the values that m may have.
func Machines() []string {
	return names(machine.Catalogue(), func(m *machine.Machine) string { return m.Key })
}

// Kernels lists the values that k may have.
func Kernels() []string {
	return names(kernel.Bases, func(b kernel.Base) string { return b.Key })
}

// Workloads lists the values that w may have.
func Workloads() []string {
	return names(workload.Workloads, func(w *workload.Workload) string { return w.Key })
}

// Schedulers lists the values that scx may have.
func Schedulers() []string {
	return names(scx.Schedulers, func(s scx.Scheduler) string { return s.Key })
}

// Metrics lists the values that metric may have in the scenario, its workload's own
// figure first.
func Metrics(s Scenario) []string {
	return names(s.Figures(), func(m workload.Metric) string { return m.Key })
}

// Backgrounds lists the values that bg may have.
func Backgrounds() []string {
	return names(workload.Backgrounds, func(b workload.Background) string { return b.Key })
}

// Patches lists the patches that an arm may have. Their parts are allowed too.
func Patches() []string {
	return names(patch.Patches, func(p patch.Patch) string { return p.Key })
}

// Costs lists the constants that c.<cost> may change.
func Costs() []string {
	return names(kernel.Costs[:], func(c kernel.CostInfo) string { return c.Key })
}

func names[T any](list []T, key func(T) string) []string {
	keys := make([]string, len(list))
	for i := range list {
		keys[i] = key(list[i])
	}
	return keys
}
