// Package scenario holds one question to the simulator (which machine, kernel,
// workload and patches, how many runs, which seed) and the link that says it.
//
// A link is a relative query, so that it works under any path:
//
//	?v=1&model=1&m=epyc-2x64&w=ipistorm&arm=&arm=sm-idle-v2&runs=10&seed=1
//
// Its keys, in the order in which Query writes them:
//
//	v         version of this schema
//	model     version of the model that the link was made with
//	m, k, w   machine, kernel, workload
//	…         the workload's parameters, under their own names
//	arm       once per arm: a comma list of patches or parts (patch.part); empty is the kernel unpatched
//	bg        background: what else runs on the machine
//	runs      runs per arm, 1 to 1000
//	seed      of the random streams, an unsigned 32-bit number
//	c.<cost>  a changed constant of the model, in nanoseconds
//	check     1: look for broken invariants after every event
//
// All but v and model may be left out, and Query leaves out what has its
// default. The defaults belong to the schema's version: a link that was ever
// published keeps its meaning.
package scenario

import (
	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/patch"
	"schedlab/core/sim"
	"schedlab/core/workload"
)

// Limits of a scenario.
const (
	Version = 1        // of the link's schema
	MaxRuns = 1000     // per arm
	MaxArms = 8        //
	MaxLink = 16 << 10 // bytes of a link
)

// A Scenario is one question. It always means the current version of the
// model. Valid ones come from Default and Parse; Resolve tells whether one
// that was changed since still is.
type Scenario struct {
	Machine    string
	Kernel     string
	Workload   string
	Params     workload.Values // in the order of the workload's Params
	Arms       [][]string      // patch keys of each arm; the first arm is the baseline of all comparisons
	Background string
	Runs       int // per arm
	Seed       uint32
	Costs      []Cost // changed constants, in the order of kernel.Costs
	Check      bool   // look for broken invariants after every event
}

// A Cost is a changed constant of the model: its key in kernel.Costs and its
// value on the scenario's machine.
type Cost struct {
	Key   string
	Value sim.Time
}

// Default returns the scenario of the empty link. Never change it under the
// same Version: published links leave out what equals it.
func Default() Scenario {
	s := Scenario{
		Machine:    "epyc-2x64",
		Kernel:     "6.11",
		Workload:   "ipistorm",
		Arms:       [][]string{nil, {"sm-idle-v2"}},
		Background: "busy",
		Runs:       10,
		Seed:       1,
	}
	s.Params = s.defaultParams()
	return s
}

// Resolved is a scenario with its keys looked up: all that a run needs.
type Resolved struct {
	Machine    *machine.Machine
	Workload   *workload.Workload
	Kernels    []kernel.Base // by arm: the kernel with the arm's patches applied
	Background *workload.Background
	Costs      kernel.CostTable // of the machine, with the scenario's changes
}

// Resolve looks up what s names. The error, if s is not valid, is a Problem.
//
// Valid is what Parse has nothing to say against: there is one set of rules,
// whether a scenario comes from a link or from a program.
func (s Scenario) Resolve() (Resolved, error) {
	if _, problems := Parse(s.Query()); len(problems) > 0 {
		return Resolved{}, problems[0]
	}
	var r Resolved
	r.Machine, _ = machine.Lookup(s.Machine)
	r.Workload, _ = workload.Lookup(s.Workload)
	r.Background, _ = workload.LookupBackground(s.Background)
	if len(s.Params) != len(r.Workload.Params) {
		return Resolved{}, problem("w", s.Workload, "a value for each of the workload's parameters")
	}
	if len(s.Arms) == 0 {
		return Resolved{}, problem("arm", "", "at least one arm")
	}
	base, _ := kernel.LookupBase(s.Kernel)
	for _, arm := range s.Arms {
		k, _ := patch.Apply(base, arm)
		r.Kernels = append(r.Kernels, k)
	}
	r.Costs = kernel.CostsOn(r.Machine)
	for _, c := range s.Costs {
		i, _ := kernel.LookupCost(c.Key)
		r.Costs[i] = c.Value
	}
	return r, nil
}

// defaultParams returns the values that the workload's parameters have on the
// scenario's machine when a link leaves them out: the workload's own, and
// where a small machine can't have those, the first of a few plain values
// that it can.
func (s Scenario) defaultParams() workload.Values {
	w, err := workload.Lookup(s.Workload)
	if err != nil {
		return nil
	}
	values := w.Defaults()
	m, err := machine.Lookup(s.Machine)
	if err != nil || w.Check == nil {
		return values
	}
	next := make([]int, len(values)) // the candidate to try next, by parameter
	for {
		key, _ := w.Check(m, values)
		i := w.Param(key)
		if i < 0 {
			return values
		}
		candidates := plainValues(&w.Params[i])
		if next[i] == len(candidates) {
			return values // the workload fits no such machine: a test sees to it that there is none
		}
		values[i] = candidates[next[i]]
		next[i]++
	}
}

// plainValues lists values that parameter p may fall back to, best first.
func plainValues(p *workload.Param) []workload.Value {
	if p.Kind == workload.CPUs {
		var v workload.Value
		for cpu := range max(p.Min, 1) {
			v.CPUs = append(v.CPUs, int(cpu))
		}
		return []workload.Value{v}
	}
	var list []workload.Value
	for _, n := range []int64{0, 1, p.Min, p.Max} {
		if p.Kind == workload.Bool && n <= 1 || p.Kind == workload.Int && p.Min <= n && n <= p.Max {
			list = append(list, workload.Value{N: n})
		}
	}
	return list
}
