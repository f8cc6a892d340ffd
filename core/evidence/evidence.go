// Package evidence holds published figures as data and sets the model's results
// beside them. Nothing else in the project but its tests knows what was
// published, save the sources of machine figures that were fitted or chosen by it: a
// table's Used says which figures those are, and they are no predictions.
package evidence

import (
	"fmt"
	"slices"
	"strings"

	"schedlab/core"
	"schedlab/core/scenario"
	"schedlab/core/sim"
	"schedlab/core/stats"
	"schedlab/core/workload"
)

// Tables lists the published tables of ipistorm, some with their runs. Rows has the others.
var Tables = slices.Concat(ipistorm)

// A Table is one table of a post.
type Table struct {
	Key      string
	Thread   string // what was discussed
	Title    string
	Series   string // of which tables it is one: those of a benchmark at other loads; "" if it stands alone
	Load     string // what tells it from the others of its series
	Source   string // Message-ID of the post on the linux-kernel list
	Scenario string // link of the scenario that models the runs; its arms don't matter
	Note     string // what was assumed about the figures
	Better   stats.Better
	Tries    int   // runs of each kernel that its figures need, where few won't do
	Pooled   int   // figures are those of single events of all runs together: samples of this number, from 1, of the workload
	Whole    bool  // figures are those of whole runs, in the unit of the scenario's metric, not per event
	PerRun   int64 // events in a run of Runs, to give the figure per event; 0 if not known
	Arms     []Arm // the first one is the baseline
	Used     []Use // what of it was used to fit a constant

	States      []State // backgrounds that its runs may have had; nil: that of the scenario
	NotModelled string  // why the model is not to be judged by it
	AnyMachine  bool    // the post does not say on what: the scenario's is one of those it may have been
}

// An Arm is one kernel of a table.
type Arm struct {
	Title   string   // as printed
	Patches []string // schedlab's keys of what was applied
	Runs    []int64  // figures of single runs as printed, nil if none were
	Printed []Figure // statistics as printed
}

// A FigureName names a statistic over the runs of an arm.
type FigureName string

// The figures that a comparison has.
const (
	Min               FigureName = "min"
	Median            FigureName = "median"
	Mean              FigureName = "mean"
	Max               FigureName = "max"
	PopulationSD      FigureName = "population sd"
	Spread            FigureName = "max / min"
	Ratio             FigureName = "mean / baseline mean"
	Improvement       FigureName = "improvement of means"
	ImprovementMedian FigureName = "improvement of medians"
)

// unit returns the unit of the figure, given that of a single event.
func (n FigureName) unit(event string) string {
	switch n {
	case Spread, Ratio:
		return ""
	case Improvement, ImprovementMedian:
		return "%"
	}
	return event
}

// A Figure is a statistic as printed.
type Figure struct {
	Name  FigureName
	Value float64
}

// A Use says which figures and runs (counted from 1) of a table a constant was fitted to.
type Use struct {
	Arm     int
	Figures []FigureName
	Runs    []int
	For     string // which constant, and how
}

// Find returns the tables that s models: those of its machine, kernel, scheduler and workload with the same
// parameters. The number of events in a run may differ, since figures are
// compared per event, and so may arms, background, runs, seed and constants.
func Find(s scenario.Scenario) []*Table {
	var found []*Table
	for _, t := range slices.Concat(Tables, Rows()) {
		// Most are of something else, and parsing takes time.
		if !strings.Contains(t.Scenario, "&w="+s.Workload+"&") {
			continue
		}
		m, _ := scenario.Parse(t.Scenario)
		w, err := workload.Lookup(s.Workload)
		if err != nil || s.Metric != m.Metric || s.Machine != m.Machine && !t.AnyMachine || s.Kernel != m.Kernel || s.Scheduler != m.Scheduler || s.Workload != m.Workload || s.Idle != nil || s.RT || len(s.Params) != len(m.Params) {
			continue
		}
		same := true
		for i, p := range m.Params {
			if w.Params[i].Key != w.Length {
				same = same && s.Params[i].N == p.N && slices.Equal(s.Params[i].CPUs, p.CPUs)
			}
		}
		if same {
			found = append(found, t)
		}
	}
	return found
}

// PerEvent returns the published runs of an arm per event ("ns per call"); nil
// if there are none or the number of events is not known.
func (t *Table) PerEvent(arm int) []float64 {
	if t.PerRun == 0 {
		return nil
	}
	var values []float64
	for _, v := range t.Arms[arm].Runs {
		values = append(values, float64(v)/float64(t.PerRun))
	}
	return values
}

// Arm returns the index of the published arm with these patches, or -1.
func (t *Table) Arm(patches []string) int {
	return slices.IndexFunc(t.Arms, func(a Arm) bool { return slices.Equal(a.Patches, patches) })
}

// A Row sets one figure of the model beside the published one.
type Row struct {
	Arm       string // core.ArmName of its patches
	Figure    FigureName
	Unit      string // "ns per event", "%" or none
	Published stats.Number
	Simulated stats.Number // not OK if the result has no such arm, or none of its runs has finished
	Used      string       // which constant was fitted to this figure: then it is no prediction
}

// Compare sets r beside a table, arm by arm: the statistics over the runs per
// event, then ratio and improvement against the baseline. Figures that can be had neither from
// the published runs nor from the printed statistics are left out. Whether r
// models the table is for Find to say.
func Compare(r *core.Result, t *Table) []Row {
	return t.rows(r.Metric().Unit, func(patches []string) []float64 { return t.simulated(r, patches) })
}

// rows lists the figures of a table, given the unit of what a run measures and the simulated runs of an arm.
func (t *Table) rows(unit string, simulated func(patches []string) []float64) []Row {
	var rows []Row
	event := unit + " per event"
	if t.Whole {
		event = unit
	}
	base := arm{t.PerEvent(0), simulated(nil)}
	for i, a := range t.Arms {
		own := arm{t.PerEvent(i), simulated(a.Patches)}
		for _, name := range []FigureName{Min, Median, Mean, Max, PopulationSD, Spread, Ratio, Improvement, ImprovementMedian} {
			if i == 0 && (name == Ratio || name == Improvement || name == ImprovementMedian) {
				continue
			}
			row := Row{
				Arm: core.ArmName(a.Patches), Figure: name, Unit: name.unit(event), Used: t.used(i, name),
				Published: figure(name, base.published, own.published, t.Better),
				Simulated: figure(name, base.simulated, own.simulated, t.Better),
			}
			if !row.Published.OK {
				row.Published = a.printed(name, t.Whole)
			}
			if row.Published.OK {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// arm holds an arm's runs per event.
type arm struct{ published, simulated []float64 }

// simulated returns the finished runs of the result's arm with these patches, per event
// if the table's figures are; or the events of all of them, shortest first.
func (t *Table) simulated(r *core.Result, patches []string) []float64 {
	i := slices.IndexFunc(r.Scenario.Arms, func(p []string) bool { return slices.Equal(p, patches) })
	if i < 0 || i >= len(r.Parts) {
		return nil
	}
	if t.Pooled > 0 {
		return pooled(r.Parts[i], t.Pooled-1)
	}
	values := r.Primaries(i)
	if n := r.Metric().PerRun; n > 0 && !t.Whole {
		for i := range values {
			values[i] /= float64(n)
		}
	}
	return values
}

// pooled returns the samples of finished runs, in ns, as exactly as histograms have them.
func pooled(runs []core.Part, sample int) (values []float64) {
	var all stats.Hist
	for i := range runs {
		if p := &runs[i]; p.Done && p.Fault == "" && sample < len(p.Hists) {
			all.Merge(&p.Hists[sample])
		}
	}
	for i := range all.N {
		values = append(values, float64(all.Quantile(2*i+1, 2*all.N))/float64(sim.Nanosecond))
	}
	if n := len(values); n > 0 {
		values[0], values[n-1] = float64(all.Min)/float64(sim.Nanosecond), float64(all.Max)/float64(sim.Nanosecond)
	}
	return values
}

func (t *Table) used(arm int, name FigureName) string {
	for _, u := range t.Used {
		if u.Arm == arm && slices.Contains(u.Figures, name) {
			return u.For
		}
	}
	return ""
}

// printed returns a printed statistic: if figures are not of whole runs, one that depends
// on no unit.
func (a *Arm) printed(name FigureName, whole bool) stats.Number {
	for _, f := range a.Printed {
		if f.Name == name && (whole || name.unit("event") != "event") {
			return stats.Number{V: f.Value, OK: true}
		}
	}
	return stats.Number{}
}

// figure computes a figure of an arm's runs; not OK if there are none.
func figure(name FigureName, base, own []float64, better stats.Better) stats.Number {
	if len(own) == 0 {
		return stats.Number{}
	}
	s := stats.Summarize(own)
	switch name {
	case Min:
		return stats.Number{V: s.Min, OK: true}
	case Median:
		return stats.Number{V: s.Median, OK: true}
	case Mean:
		return stats.Number{V: s.Mean, OK: true}
	case Max:
		return stats.Number{V: s.Max, OK: true}
	case PopulationSD:
		return stats.Number{V: s.PSD, OK: true}
	case Spread:
		if s.Min == 0 {
			return stats.Number{}
		}
		return stats.Number{V: s.Max / s.Min, OK: true}
	}
	b := stats.Summarize(base)
	if b.N == 0 || b.Mean == 0 {
		return stats.Number{}
	}
	switch name {
	case Ratio:
		return stats.Number{V: s.Mean / b.Mean, OK: true}
	case Improvement:
		return stats.Improvement(b.Mean, s.Mean, better)
	case ImprovementMedian:
		return stats.Improvement(b.Median, s.Median, better)
	}
	panic(fmt.Sprintf("no figure %q", name))
}
