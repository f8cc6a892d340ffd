// Package report writes a result, or a sweep, for people and for programs: as
// text to paste into a mail, as JSON and as CSV.
//
// All forms say that the figures are simulated, by which version of the model, and
// with which background. Only finished runs count; a result that was
// cancelled says how many there are. What an integer of the model is in the
// report's unit is printed exactly, not through floating point, so that the
// kinds of time sum to the CPUs' time in the report too.
package report

import (
	"fmt"
	"slices"
	"strings"

	"schedlab/core"
	"schedlab/core/evidence"
	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/scenario"
	"schedlab/core/scx"
	"schedlab/core/sim"
	"schedlab/core/stats"
	"schedlab/core/workload"
)

// A question is what was asked.
type question struct {
	link                      string
	machine, kernel, workload string // for people
	scheduler                 string // "" if none is loaded
	parameters, changes       string
	cautions                  []string
	background                string
	seed                      uint32
	model                     int
}

func newQuestion(s scenario.Scenario) question {
	q := question{
		link:       s.Query(),
		machine:    s.Machine,
		kernel:     s.Kernel,
		workload:   s.Workload,
		parameters: strings.Join(parameters(s), " "),
		changes:    strings.Join(s.Changes(), "; "),
		cautions:   evidence.Cautions(s),
		background: s.Background,
		seed:       s.Seed,
		model:      core.Model,
	}
	if m, err := machine.Lookup(s.Machine); err == nil {
		q.machine = m.Title
	}
	if k, err := s.Base(); err == nil {
		q.kernel = k.Title
	}
	if w, err := workload.Lookup(s.Workload); err == nil {
		q.workload = w.Title
	}
	if x, err := scx.Lookup(s.Scheduler); err == nil {
		q.scheduler = x.Title
	}
	return q
}

// A view is what all forms of a report need of a result. The names in it (of
// counters, machine, …) stand beside the figures so that the tests can fix them.
type view struct {
	question
	loaded          string // key of the sched_ext scheduler, "" if there is none
	digest          string // 16 hex digits; "" if the result is not complete
	metric          workload.Metric
	samples         []workload.Sample
	perRun          int64 // events in a run; 0 if not known
	cpus            int
	events          uint64
	complete        bool
	counters, times []kernel.Info
	arms            []armView
	warnings        []string
	published       []*evidence.Table
	compare         func(*evidence.Table) []evidence.Row
	output          func(*core.Part) string // what the program itself prints; nil: that is not known
}

// An armView is one arm; comparison is without meaning for the first one.
type armView struct {
	name         string
	patches      []string
	finished, of int
	runs         []*core.Part // the finished ones
	total        core.Part    // of those
	summary      stats.Summary
	comparison   stats.Comparison
	kernelFault  string // what its kernel did wrong
}

// allWarnings are the warnings with what text puts beside the verdict.
func (v *view) allWarnings() []string {
	list := slices.Clone(v.warnings)
	for i := range v.arms {
		if fault := v.arms[i].kernelFault; fault != "" {
			list = append(list, v.arms[i].name+": "+fault)
		}
	}
	return list
}

func newView(r *core.Result) *view {
	s := r.Scenario
	v := &view{
		question:  newQuestion(s),
		loaded:    s.Scheduler,
		metric:    r.Metric(),
		samples:   r.Samples(),
		perRun:    r.Metric().PerRun,
		complete:  r.Complete(),
		counters:  kernel.Counters[:],
		times:     kernel.Times[:],
		published: evidence.Find(s),
		compare:   func(t *evidence.Table) []evidence.Row { return evidence.Compare(r, t) },
	}
	if m, err := machine.Lookup(s.Machine); err == nil {
		v.cpus = len(m.CPUs)
	}
	if w, err := workload.Lookup(s.Workload); err == nil && w.Output != nil {
		v.output = func(p *core.Part) string { return w.Output(s.Params, sim.Time(p.Elapsed)) }
	}
	if v.complete {
		v.digest = fmt.Sprintf("%016x", r.Digest())
	}
	for i := range r.Parts {
		v.addArm(r, i)
	}
	return v
}

// maxFaults is how many runs of an arm that broke are told of one by one.
const maxFaults = 10

func (v *view) addArm(r *core.Result, i int) {
	a := armView{total: r.Total(i), summary: stats.Summarize(r.Primaries(i))}
	if i < len(r.Scenario.Arms) {
		a.patches = r.Scenario.Arms[i]
	}
	a.name = core.ArmName(a.patches)
	a.finished, a.of = r.Finished(i)
	if a.finished < a.of {
		v.warnings = append(v.warnings, fmt.Sprintf("%s: runs finished %d of %d", a.name, a.finished, a.of))
	}
	faults := 0
	for j := range r.Parts[i] {
		p := &r.Parts[i][j]
		if p.Done {
			a.runs = append(a.runs, p)
		}
		if p.Fault == "" {
			continue
		}
		if faults++; faults <= maxFaults {
			v.warnings = append(v.warnings, fmt.Sprintf("%s, run %d: %s", a.name, j+1, p.Fault))
		}
	}
	if faults > maxFaults {
		v.warnings = append(v.warnings, fmt.Sprintf("%s: … and %d runs more", a.name, faults-maxFaults))
	}
	a.kernelFault = r.KernelFault(i)
	if i > 0 {
		a.comparison = r.Compare(i)
	}
	v.events += a.total.Events
	v.arms = append(v.arms, a)
}

// parameters lists a workload's parameters as links have them: "numipi=100000".
func parameters(s scenario.Scenario) []string {
	w, err := workload.Lookup(s.Workload)
	if err != nil {
		return nil
	}
	var list []string
	for i := range min(len(w.Params), len(s.Params)) {
		list = append(list, w.Params[i].Key+"="+scenario.FormatValue(&w.Params[i], s.Params[i]))
	}
	return list
}

// thousandths writes v thousandths exactly, with up to three decimals.
func thousandths(v int64) string { return sim.Time(v).Nanoseconds() }

// at returns values[i], or 0 beyond its end.
func at(values []int64, i int) int64 {
	if i < len(values) {
		return values[i]
	}
	return 0
}
