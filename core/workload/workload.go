// Package workload holds the benchmarks: their parameters under the names that
// their users know, and the task programs that the kernel model interprets.
package workload

import (
	"fmt"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// A Kind is what a parameter's value looks like in a link.
type Kind uint8

// The kinds.
const (
	Int  Kind = iota // a decimal number in [Min, Max]
	Bool             // 0 or 1
	CPUs             // a CPU list as the kernel writes it: 0-3,8
)

// A Param is one parameter of a workload.
type Param struct {
	Key      string // its real name: that of the module's or program's option
	Label    string
	Unit     string // "" for a plain count
	Help     string
	Kind     Kind
	Def      int64 // of a CPUs parameter: the one CPU listed
	Min, Max int64 // of a CPUs parameter: how many CPUs may be listed
}

// A Value is a parameter's value: N for Int and Bool, CPUs, ascending, for CPUs.
type Value struct {
	N    int64
	CPUs []int
}

// Values are the values of a workload's parameters, in the order of Params.
type Values []Value

// A Metric says what a run's primary figure is.
type Metric struct {
	Name   string // "elapsed"
	Unit   string // "ns"
	Better string // "lower" or "higher"
	Event  string // what one per-event sample is: "one call, round trip"
	Noun   string // such an event in a word: "call"
	Events string // the parameter that says how many events a run has, to give the figure per event; "" if none does
}

// A Workload is a benchmark.
type Workload struct {
	Key    string
	Title  string
	Note   string // what of the real program is modelled, and what is not
	Params []Param
	Metric Metric

	// Check says what is wrong with the values on a machine: the key of the
	// parameter at fault and what is allowed instead. An empty key: nothing.
	Check func(m *machine.Machine, v Values) (key, want string)
	// Longest returns about how long a run can last, in simulated time, with the
	// model's own constants: results are summed over CPUs and runs, so it bounds
	// how many runs there may be. Nil: any number.
	Longest func(v Values) sim.Time
	// Build adds the workload's tasks to a kernel. The values have passed Check.
	Build func(k *kernel.Kernel, v Values) error
	// Primary returns the primary figure of a run that is done, in thousandths
	// of Metric.Unit.
	Primary func(s *kernel.Snapshot, v Values) int64
}

// Workloads is the catalogue, the default one first.
var Workloads = []*Workload{&ipistorm}

// Lookup returns the workload with this key.
func Lookup(key string) (*Workload, error) {
	for _, w := range Workloads {
		if w.Key == key {
			return w, nil
		}
	}
	return nil, fmt.Errorf("no workload %q", key)
}

// Defaults returns the default values.
func (w *Workload) Defaults() Values {
	v := make(Values, len(w.Params))
	for i := range w.Params {
		if p := &w.Params[i]; p.Kind == CPUs {
			v[i].CPUs = []int{int(p.Def)}
		} else {
			v[i].N = p.Def
		}
	}
	return v
}

// Param returns the index of the parameter with this key, or -1.
func (w *Workload) Param(key string) int {
	for i := range w.Params {
		if w.Params[i].Key == key {
			return i
		}
	}
	return -1
}
