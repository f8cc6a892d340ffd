// Package scenario holds one question to the simulator (which machine, kernel,
// workload and patches, how many runs, which seed) and the link that says it.
//
// A link is a relative query, so that it works under any path:
//
//	?v=1&model=2&m=epyc-2x64&w=ipistorm&arm=&arm=sm-idle-v2&runs=10&seed=1
//
// Its keys, in the order in which Query writes them:
//
//	v         version of this schema
//	model     version of the model that the link was made with
//	m, k, w   machine, kernel, workload
//	rt        1: the kernel is configured with PREEMPT_RT
//	scx       the sched_ext scheduler that is loaded; left out, none is
//	…         the workload's parameters, under their own names
//	metric    what runs are judged by, if not by the workload's own figure
//	arm       once per arm: a comma list of patches or parts (patch.part); empty is the kernel unpatched
//	idle      the machine's idle states that are enabled, a comma list: POLL,C1
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
	"strings"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/patch"
	"schedlab/core/scx"
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
	RT         bool   // the kernel is configured with PREEMPT_RT
	Scheduler  string // the sched_ext scheduler that is loaded; "": none
	Workload   string
	Params     workload.Values // in the order of the workload's Params
	Metric     string          // what runs are judged by, a key of Figures; "": the first one
	Arms       [][]string      // patch keys of each arm; the first arm is the baseline of all comparisons
	Idle       []string        // names of the idle states that are enabled; nil: those of the machine
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

// Base returns the unpatched kernel.
func (s Scenario) Base() (kernel.Base, error) {
	b, err := kernel.LookupBase(s.Kernel)
	if err == nil && s.RT {
		b = b.WithRT()
	}
	return b, err
}

// Changes lists what s changes about its machine, as who reads a result must know:
// "rq_visit 50 ns", "idle states POLL, C1 only".
func (s Scenario) Changes() []string {
	var list []string
	if s.Idle != nil {
		list = append(list, "idle states "+strings.Join(s.Idle, ", ")+" only")
	}
	for _, c := range s.Costs {
		list = append(list, c.Key+" "+c.Value.Nanoseconds()+" ns")
	}
	return list
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
	Scheduler  *scx.Scheduler   // nil: none is loaded
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
	if s.Idle != nil {
		r.Machine, _ = r.Machine.WithIdle(s.Idle)
	}
	r.Workload, _ = workload.Lookup(s.Workload)
	r.Background, _ = workload.LookupBackground(s.Background)
	if s.Scheduler != "" {
		r.Scheduler, _ = scx.Lookup(s.Scheduler)
	}
	if len(s.Params) != len(r.Workload.Params) {
		return Resolved{}, problem("w", s.Workload, "a value for each of the workload's parameters")
	}
	if len(s.Arms) == 0 {
		return Resolved{}, problem("arm", "", "at least one arm")
	}
	base, _ := s.Base()
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
// scenario's machine when a link leaves them out.
func (s Scenario) defaultParams() workload.Values {
	w, err := workload.Lookup(s.Workload)
	if err != nil {
		return nil
	}
	values := w.Defaults()
	if m, err := machine.Lookup(s.Machine); err == nil && w.Fit != nil {
		w.Fit(m, values)
	}
	return values
}
