package sweep

import (
	"slices"

	"schedlab/core"
	"schedlab/core/stats"
	"schedlab/core/workload"
)

// An Effect is what a patch does at one point. N is 0 if nothing is known of it yet.
type Effect struct {
	// Baseline and Mean are the means of the baseline's runs and of the arm's,
	// of those that have finished in both, in the metric's unit.
	Baseline, Mean float64
	// Events is by how many events a run's figure divides to give the figure
	// per event; 0 if that is not known.
	Events int64
	stats.Comparison
}

// PerEvent returns the two means per event, or those of a run if it is not
// known how many events one has.
func (e *Effect) PerEvent() (baseline, mean float64) {
	n := float64(max(e.Events, 1))
	return e.Baseline / n, e.Mean / n
}

// A Table holds what is known of a sweep. It keeps no results, which are
// large.
type Table struct {
	Sweep Sweep

	effects  [][]Effect // by point, then arm
	finished []int      // runs, by point
}

// NewTable returns a table of which nothing is known yet.
func NewTable(s Sweep) *Table {
	t := &Table{Sweep: s, effects: make([][]Effect, len(s.points)), finished: make([]int, len(s.points))}
	for i := range t.effects {
		t.effects[i] = make([]Effect, len(s.Base.Arms))
	}
	return t
}

// Clone returns a copy, which does not change with the table: for who shows it
// while more is put in.
func (t *Table) Clone() *Table {
	c := &Table{Sweep: t.Sweep, effects: make([][]Effect, len(t.effects)), finished: slices.Clone(t.finished)}
	for i := range c.effects {
		c.effects[i] = slices.Clone(t.effects[i])
	}
	return c
}

// Put takes in what is known of a point: r is the result of its scenario, which need not
// be complete. Points may come in any order; of one point the result that has
// got furthest counts. Results of what the sweep does not have are dropped.
func (t *Table) Put(point int, r *core.Result) {
	if point < 0 || point >= len(t.effects) || len(r.Parts) != len(t.effects[point]) {
		return
	}
	finished := 0
	for arm := range r.Parts {
		n, _ := r.Finished(arm)
		finished += n
	}
	if finished == 0 || finished < t.finished[point] {
		return
	}
	t.finished[point] = finished
	for arm := 1; arm < len(r.Parts); arm++ {
		base, patched := r.Pairs(arm)
		t.effects[point][arm] = Effect{
			Baseline:   stats.Summarize(base).Mean,
			Mean:       stats.Summarize(patched).Mean,
			Events:     r.Metric().PerRun,
			Comparison: r.Compare(arm),
		}
	}
}

// Effect returns what is known of an arm, of which the first one is the
// baseline, at a point.
func (t *Table) Effect(point, arm int) *Effect { return &t.effects[point][arm] }

// Known returns at how many points there is an effect of an arm to show.
func (t *Table) Known(arm int) int {
	n := 0
	for p := range t.effects {
		if t.effects[p][arm].ImprovementPct.OK {
			n++
		}
	}
	return n
}

// Finished returns how many runs have finished, and how many there are to be.
func (t *Table) Finished() (n, of int) {
	for _, f := range t.finished {
		n += f
	}
	return n, len(t.finished) * len(t.Sweep.Base.Arms) * t.Sweep.Base.Runs
}

// Complete tells whether all runs of all points have finished.
func (t *Table) Complete() bool {
	n, of := t.Finished()
	return n == of
}

// Arm returns an arm's name.
func (t *Table) Arm(arm int) string { return core.ArmName(t.Sweep.Base.Arms[arm]) }

// Metric returns what the figures are, at the first point.
func (t *Table) Metric() workload.Metric {
	return metricOf(t.Sweep.points[0].Scenario)
}

// Size returns how many values the axes have; 1 for a second axis that is not there.
func (t *Table) Size() (nx, ny int) {
	nx, ny = len(t.Sweep.Axes[0].Values), 1
	if len(t.Sweep.Axes) > 1 {
		ny = len(t.Sweep.Axes[1].Values)
	}
	return nx, ny
}

// improvements returns the effects of an arm point by point.
func (t *Table) improvements(arm int) []stats.Number {
	values := make([]stats.Number, len(t.effects))
	for p := range values {
		values[p] = t.effects[p][arm].ImprovementPct
	}
	return values
}
