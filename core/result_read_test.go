package core

import (
	"reflect"
	"slices"
	"testing"

	"schedlab/core/kernel"
	"schedlab/core/scenario"
	"schedlab/core/stats"
)

// half is a result of two arms and three runs, of which the baseline has
// finished the first two and the patched arm the last two.
func half() *Result {
	h := func(v int64) []stats.Hist {
		var h stats.Hist
		h.Add(v)
		return []stats.Hist{h}
	}
	part := func(arm, run int, done bool, v int64) Part {
		p := Part{Job: Job{arm, run}, Done: done, Events: uint64(v), Elapsed: 10 * v, Hists: h(v),
			Counters: make([]int64, kernel.NumCounters), Time: make([]int64, kernel.NumTimes)}
		p.Counters[0], p.Time[0] = v, 2*v
		if done {
			p.Primary = 1000 * v
		}
		return p
	}
	return &Result{Scenario: scenario.Default(), Parts: [][]Part{
		{part(0, 0, true, 100), part(0, 1, true, 200), part(0, 2, false, 7)},
		{{Job: Job{1, 0}}, part(1, 1, true, 50), part(1, 2, true, 60)},
	}}
}

func TestUnfinishedRunsDoNotCount(t *testing.T) {
	r := half()
	if got, want := r.Primaries(0), []float64{100, 200}; !slices.Equal(got, want) {
		t.Errorf("baseline: %v, want %v", got, want)
	}
	if got, want := r.Primaries(1), []float64{50, 60}; !slices.Equal(got, want) {
		t.Errorf("patched: %v, want %v", got, want)
	}
	base, patched := r.Pairs(1)
	if !slices.Equal(base, []float64{200}) || !slices.Equal(patched, []float64{50}) {
		t.Errorf("pairs: %v and %v, want 200 and 50", base, patched)
	}
	if c := r.Compare(1); c.N != 1 || c.ImprovementPct != (stats.Number{V: 75, OK: true}) {
		t.Errorf("comparison of one pair: %+v", c)
	}
	if n, of := r.Finished(0); n != 2 || of != 3 || r.Complete() {
		t.Errorf("%d of %d finished, complete is %v", n, of, r.Complete())
	}
	t0 := r.Total(0)
	if t0.Done || t0.Events != 300 || t0.Elapsed != 3000 || t0.Counters[0] != 300 || t0.Time[0] != 600 || t0.Hists[0].N != 2 {
		t.Errorf("total: %+v", t0)
	}
	if s := r.SoFar(0); s.Events != 307 || s.Hists[0].N != 3 {
		t.Errorf("so far: %+v", s)
	}
	for arm := range r.Parts {
		for run := range r.Parts[arm] {
			r.Parts[arm][run].Done = true
		}
	}
	if !r.Complete() || !r.Total(1).Done {
		t.Error("all runs are done, but the result is not complete")
	}
}

// Adding up leaves the parts as they are.
func TestTotalCopies(t *testing.T) {
	r, want := half(), half()
	total := r.Total(0)
	total.Counters[0]++
	total.Hists[0].Add(1)
	if !reflect.DeepEqual(r, want) {
		t.Error("the result has changed")
	}
}

func TestTotalOfNothing(t *testing.T) {
	total := (&Result{Scenario: scenario.Default(), Parts: [][]Part{{{}}}}).Total(0)
	if len(total.Counters) != kernel.NumCounters || len(total.Time) != kernel.NumTimes || total.Done {
		t.Errorf("total of a run not heard of: %+v", total)
	}
}

func TestArmName(t *testing.T) {
	for _, c := range []struct {
		patches []string
		want    string
	}{{nil, "baseline"}, {[]string{"a"}, "a"}, {[]string{"a", "b.c"}, "a+b.c"}} {
		if got := ArmName(c.patches); got != c.want {
			t.Errorf("%v: %s, want %s", c.patches, got, c.want)
		}
	}
}

func TestMetric(t *testing.T) {
	r := &Result{Scenario: scenario.Default()}
	if got := r.Metric().PerRun; got != 100000 {
		t.Errorf("%d calls a run, want ipistorm's numipi, 100000", got)
	}
	r.Scenario.Workload = "none"
	if got := r.Metric(); got.Key != "" || got.Of != nil {
		t.Errorf("unknown workload: metric %+v", got)
	}
}
