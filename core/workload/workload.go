// Package workload holds the benchmarks: their parameters under the names that
// their users know, and the task programs that the kernel model interprets. It also
// holds the backgrounds: what else runs beside a benchmark.
package workload

import (
	"fmt"
	"strings"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
	"schedlab/core/stats"
)

// A Kind is what a parameter's value looks like in a link.
type Kind uint8

// The kinds.
const (
	Int    Kind = iota // a decimal number in [Min, Max]
	Bool               // 0 or 1
	CPUs               // a CPU list as the kernel writes it: 0-3,8
	Choice             // one of Choices
)

// A Param is one parameter of a workload.
type Param struct {
	Key      string // its real name: that of the module's or program's option
	Label    string
	Unit     string // "" for a plain count
	Names    bool   // its numbers name something: there is nothing between two of them
	Help     string
	Kind     Kind
	Choices  []string // of a Choice, as links have them
	Def      int64    // of a CPUs parameter: the one CPU listed; of a Choice: its place in Choices
	Min, Max int64    // of a CPUs parameter: how many CPUs may be listed; of no matter to Bool and Choice
}

// Number tells whether the parameter's values are numbers, which have an order.
func (p *Param) Number() bool { return p.Kind == Int || p.Kind == Bool }

// A Value is a parameter's value: N for Int and Bool, and for Choice the place in Choices;
// CPUs, ascending, for CPUs.
type Value struct {
	N    int64
	CPUs []int
}

// Values are the values of a workload's parameters, in the order of Params.
type Values []Value

// A Metric is a figure that a run can be judged by.
type Metric struct {
	Key    string // how links name it
	Name   string // "elapsed"
	Unit   string // "ns"
	Better string // "lower" or "higher"
	Noun   string // an event of the workload in a word: "call"
	PerRun int64  // how many events the figure is for, to give it per event; 0 if it is for none
	// Events returns how many events there were in runs, of which s holds the sums: it may
	// look at histograms and counters. Nil: an event is what the first sample tells of.
	Events func(s *kernel.Snapshot) int64
	// Of returns its value for a run that is done, in thousandths of Unit.
	Of func(s *kernel.Snapshot) int64
}

// A Call says which CPUs a CPU calls.
type Call struct {
	From int
	To   []int
}

// A Sample says what one of a run's histograms of per-event samples is, in ps.
type Sample struct{ Key, Text string }

// A Workload is a benchmark.
type Workload struct {
	Key    string
	Title  string
	Brief  string // what it is, in a sentence
	Note   string // what of the real program is modelled, and what is not
	Params []Param
	// Length is the key of the parameter that makes a run longer and no figure per
	// event another one.
	Length string
	// Waits says that its tasks wait for each other most of the time, while CPUs idle.
	Waits bool
	// Samples are the histograms of a run; the first one is the workload's own.
	Samples []Sample

	// Metrics returns what a run with these values on a machine can be judged by: the first
	// one is the benchmark's own. Which keys there are does not depend on machine and values.
	Metrics func(m *machine.Machine, v Values) []Metric
	// Output is what the program itself prints of a run that took so long; nil: that is not
	// given here.
	Output func(v Values, elapsed sim.Time) string
	// Fit changes default values that a small machine can't have, or that would make
	// little sense on it, so that they pass Check. Nil: all fit.
	Fit func(m *machine.Machine, v Values)
	// Check says what is wrong with the values on a machine: the key of the
	// parameter at fault and what is allowed instead. An empty key: nothing.
	Check func(m *machine.Machine, v Values) (key, want string)
	// Longest returns about how long a run can last on a machine, in simulated time,
	// with the model's own constants: results are summed over CPUs and runs, so it
	// bounds how many runs there may be. Nil: any number.
	Longest func(m *machine.Machine, v Values) sim.Time
	// Calls says which CPU of a machine calls which, to be shown. Nil: none does.
	Calls func(m *machine.Machine, v Values) []Call
	// Build adds the workload's tasks to a kernel. The values have passed Check.
	Build func(k *kernel.Kernel, v Values) error
}

// Workloads is the catalogue, the default one first.
var Workloads = []*Workload{&ipistorm, &spinlock, &hackbench, &messaging, &schbench, &netperf, &tbench, &pgbench}

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

// Metric returns the workload's metric with this key; the first one if there is none.
func (w *Workload) Metric(m *machine.Machine, v Values, key string) Metric {
	list := w.Metrics(m, v)
	for _, m := range list {
		if m.Key == key {
			return m
		}
	}
	return list[0]
}

// Nouns is Noun in its plural.
func (m *Metric) Nouns() string {
	if strings.HasSuffix(m.Noun, "ch") {
		return m.Noun + "es"
	}
	return m.Noun + "s"
}

// Count returns how many events of the metric there were in runs with these sums.
func (m *Metric) Count(hists []stats.Hist, counters []int64) int64 {
	switch {
	case m.Events != nil:
		return m.Events(&kernel.Snapshot{Hists: hists, Counters: counters})
	case len(hists) > 0:
		return int64(hists[0].N)
	}
	return 0
}
