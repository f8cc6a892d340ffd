package core

import (
	"fmt"
	"strings"

	"schedlab/core/kernel"
	"schedlab/core/stats"
	"schedlab/core/workload"
)

// ArmName names an arm after its patches: "baseline" if it has none.
func ArmName(patches []string) string {
	if len(patches) == 0 {
		return "baseline"
	}
	return strings.Join(patches, "+")
}

// Finished returns how many runs of an arm have finished, and how many there are to be.
func (r *Result) Finished(arm int) (n, of int) {
	for i := range r.Parts[arm] {
		if r.Parts[arm][i].Done {
			n++
		}
	}
	return n, len(r.Parts[arm])
}

// Complete tells whether all runs of all arms have finished.
func (r *Result) Complete() bool {
	for arm := range r.Parts {
		if n, of := r.Finished(arm); n < of {
			return false
		}
	}
	return true
}

// Primaries returns the primary figures of an arm's finished runs, in the
// metric's unit, run by run.
func (r *Result) Primaries(arm int) []float64 {
	var values []float64
	for i := range r.Parts[arm] {
		if p := &r.Parts[arm][i]; p.Done {
			values = append(values, primary(p))
		}
	}
	return values
}

// Pairs returns the primary figures of those runs that have finished both in the
// baseline, arm 0, and in arm, run by run.
func (r *Result) Pairs(arm int) (base, patched []float64) {
	for i := range r.Parts[arm] {
		b, p := &r.Parts[0][i], &r.Parts[arm][i]
		if b.Done && p.Done {
			base = append(base, primary(b))
			patched = append(patched, primary(p))
		}
	}
	return base, patched
}

func primary(p *Part) float64 { return float64(p.Primary) / 1000 }

// KernelFault says what an arm's kernel has done wrong, though it went on; "" if
// nothing is known.
func (r *Result) KernelFault(arm int) string {
	n := int64(0)
	for i := range r.Parts[arm] {
		if c := r.Parts[arm][i].Counters; int(kernel.RTLockLeftQueued) < len(c) {
			n += c[kernel.RTLockLeftQueued]
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("this kernel is broken: %d times schedule() left a task that waited for an rtlock on its run queue, where it is picked again though it can't go on. "+
		"Its figures are those of a fault; check=1 stops at the first one", n)
}

// Compare compares an arm with the baseline, arm 0, by the runs that both have finished.
func (r *Result) Compare(arm int) stats.Comparison {
	base, patched := r.Pairs(arm)
	return stats.Compare(base, patched, stats.Better(r.Metric().Better))
}

// Metric returns what the primary figures are; the zero Metric if the
// scenario's workload or machine is not known.
func (r *Result) Metric() workload.Metric { return r.Scenario.Figure() }

// Samples says what the histograms of a part are; nil if the scenario's workload is
// not known.
func (r *Result) Samples() []workload.Sample {
	w, err := workload.Lookup(r.Scenario.Workload)
	if err != nil {
		return nil
	}
	return w.Samples
}

// Total adds up the finished runs of an arm: events, elapsed time, histograms,
// counters and time account. Primary is left at 0, for runs are not pooled; Done tells
// whether the arm is complete.
func (r *Result) Total(arm int) Part {
	t := r.sum(arm, func(p *Part) bool { return p.Done })
	n, of := r.Finished(arm)
	t.Done = n == of
	return t
}

// SoFar adds up all that is known of an arm, like Total, with the runs that have not
// finished: for a page that shows results as they come.
func (r *Result) SoFar(arm int) Part {
	return r.sum(arm, func(*Part) bool { return true })
}

func (r *Result) sum(arm int, counts func(*Part) bool) Part {
	t := Part{
		Job:      Job{Arm: arm},
		Counters: make([]int64, kernel.NumCounters),
		Time:     make([]int64, kernel.NumTimes),
	}
	for i := range r.Parts[arm] {
		p := &r.Parts[arm][i]
		if !counts(p) {
			continue
		}
		t.Events += p.Events
		t.Elapsed += p.Elapsed
		oldest := max(t.Counters[kernel.ClockOldest], at(p.Counters, int(kernel.ClockOldest)))
		t.Counters = addTo(t.Counters, p.Counters)
		t.Counters[kernel.ClockOldest] = oldest // the one counter that is no sum
		t.Time = addTo(t.Time, p.Time)
		for len(t.Hists) < len(p.Hists) {
			t.Hists = append(t.Hists, stats.Hist{})
		}
		for j := range p.Hists {
			t.Hists[j].Merge(&p.Hists[j])
		}
	}
	return t
}

func at(v []int64, i int) int64 {
	if i < len(v) {
		return v[i]
	}
	return 0
}

// addTo adds v to sum, which grows if it must.
func addTo(sum, v []int64) []int64 {
	for i, x := range v {
		if i == len(sum) {
			sum = append(sum, 0)
		}
		sum[i] += x
	}
	return sum
}
