// Package report writes a result for people and for programs: as text to
// paste into a mail, as JSON and as CSV.
//
// All three say that the figures are simulated, by which version of the model, and
// with which background. Only finished runs count; a result that was
// cancelled says how many there are. What an integer of the model is in the
// report's unit is printed exactly, not through floating point, so that the
// kinds of time sum to the CPUs' time in the report too.
package report

import (
	"fmt"
	"strconv"
	"strings"

	"schedlab/core"
	"schedlab/core/evidence"
	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
	"schedlab/core/stats"
	"schedlab/core/workload"
)

// A view is what all forms of a report need of a result. The names in it (of
// counters, machine, …) stand beside the figures so that the tests can fix them.
type view struct {
	link                      string
	machine, kernel, workload string // for people
	parameters, changedCosts  string
	cautions                  []string
	background                string
	seed                      uint32
	model                     int
	digest                    string // 16 hex digits; "" if the result is not complete
	metric                    workload.Metric
	perRun                    int64 // events in a run; 0 if not known
	cpus                      int
	events                    uint64
	complete                  bool
	counters, times           []kernel.Info
	arms                      []armView
	warnings                  []string
	published                 []*evidence.Table
	compare                   func(*evidence.Table) []evidence.Row
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
}

func newView(r *core.Result) *view {
	s := r.Scenario
	v := &view{
		link:       s.Query(),
		machine:    s.Machine,
		kernel:     s.Kernel,
		workload:   s.Workload,
		background: s.Background,
		seed:       s.Seed,
		model:      core.Model,
		metric:     r.Metric(),
		perRun:     r.PerRun(),
		complete:   r.Complete(),
		counters:   kernel.Counters[:],
		times:      kernel.Times[:],
		published:  evidence.Find(s),
		compare:    func(t *evidence.Table) []evidence.Row { return evidence.Compare(r, t) },
	}
	if m, err := machine.Lookup(s.Machine); err == nil {
		v.machine, v.cpus = m.Title, len(m.CPUs)
	}
	if k, err := kernel.LookupBase(s.Kernel); err == nil {
		v.kernel = k.Title
	}
	if w, err := workload.Lookup(s.Workload); err == nil {
		v.workload = w.Title
		v.parameters = parameters(w, s.Params)
	}
	var costs []string
	for _, c := range s.Costs {
		costs = append(costs, c.Key+"="+c.Value.Nanoseconds()+" ns")
	}
	v.changedCosts = strings.Join(costs, " ")
	v.cautions = evidence.Cautions(s)
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
	if i > 0 {
		a.comparison = r.Compare(i)
	}
	v.events += a.total.Events
	v.arms = append(v.arms, a)
}

// parameters writes a workload's parameters as its users give them: "numipi=100000 single=1".
func parameters(w *workload.Workload, values workload.Values) string {
	var list []string
	for i := range min(len(w.Params), len(values)) {
		value := strconv.FormatInt(values[i].N, 10)
		if w.Params[i].Kind == workload.CPUs {
			value = strings.Trim(strings.ReplaceAll(fmt.Sprint(values[i].CPUs), " ", ","), "[]")
		}
		list = append(list, w.Params[i].Key+"="+value)
	}
	return strings.Join(list, " ")
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
