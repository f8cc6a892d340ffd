package evidence

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"schedlab/core"
	"schedlab/core/scenario"
	"schedlab/core/sim"
	"schedlab/core/stats"
)

// Every row's change is judged by a tolerance, and each tolerance has a reason and is for something.
func TestTolerances(t *testing.T) {
	used := make([]bool, len(Tolerances))
	for _, table := range Matching("") {
		for _, f := range []FigureName{Mean, Median, Improvement, Min, PopulationSD, Ratio} {
			for i, tol := range Tolerances {
				prefix, open := strings.CutSuffix(tol.Key, "*")
				if tol.Figure == f && (tol.Key == table.Key || open && strings.HasPrefix(table.Key, prefix)) {
					used[i] = true
					break
				}
			}
		}
		if _, ok := ToleranceOf(table.Key, Improvement); !ok {
			t.Errorf("%s: nothing is written down for its change", table.Key)
		}
	}
	for i, tol := range Tolerances {
		if !used[i] {
			t.Errorf("the tolerance of %s, %s, is for nothing", tol.Key, tol.Figure)
		}
		n := 0
		for _, v := range []float64{tol.Percent, tol.Points, tol.Noise} {
			if v > 0 {
				n++
			}
		}
		if n != 1 || tol.Reason == "" {
			t.Errorf("the tolerance of %s, %s: %+v", tol.Key, tol.Figure, tol.Tolerance)
		}
	}
}

// resultOf makes a result of the runs of a baseline and an arm.
func resultOf(s scenario.Scenario, base, own []float64) *core.Result {
	s.Runs = len(base)
	r := core.NewResult(s)
	for arm, values := range [][]float64{base, own} {
		for run, v := range values {
			r.Put(&core.Part{Job: core.Job{Arm: arm, Run: run}, Done: true, Events: 1, Primary: int64(v * 1000)})
		}
	}
	return r
}

func TestVerdicts(t *testing.T) {
	row := Rows()[0] // hackbench: 430 → 442 ms, one group; ±8 % on the level, no change beyond 3 %
	states := *row
	states.States = []State{{Background: "quiet"}, {Background: "busy"}, {Background: "pair"}}
	out := *row
	out.NotModelled = "for a reason"
	used := *row
	used.Used = []Use{{Arm: 0, Figures: []FigureName{Mean}, For: "a constant"}}
	flat := func(v float64) []float64 { return []float64{v * 1e6, v * 1e6, v * 1e6} }
	for _, c := range []struct {
		name          string
		table         *Table
		runs          [][2]float64 // ms by state
		level, change Verdict
		kind          Kind
	}{
		{"as published", row, [][2]float64{{430, 431}}, Agrees, Agrees, Prediction},
		{"level at the edge", row, [][2]float64{{464, 465}}, Agrees, Agrees, Prediction},
		{"level beyond it", row, [][2]float64{{465, 466}}, Disagrees, Agrees, Prediction},
		{"a false change", row, [][2]float64{{430, 450}}, Agrees, Disagrees, Prediction},
		{"nothing moves", row, [][2]float64{{430, 430}}, Agrees, NoPower, Prediction},
		{"fitted", &used, [][2]float64{{430, 431}}, Agrees, Agrees, Calibration},
		{"left out", &out, [][2]float64{{430, 431}}, NotModelled, NotModelled, Prediction},
		{"two states of three", &states, [][2]float64{{430, 431}, {440, 441}, {600, 700}}, NotIdentified, NotIdentified, Prediction},
		{"all states", &states, [][2]float64{{430, 431}, {440, 441}, {440, 441}}, Agrees, Agrees, Prediction},
		{"one state of three", &states, [][2]float64{{430, 431}, {600, 700}, {600, 700}}, Agrees, Agrees, Prediction},
		{"no state of three", &states, [][2]float64{{300, 400}, {600, 700}, {600, 700}}, Disagrees, Disagrees, Prediction},
	} {
		trials := c.table.Trials(true)
		var results []*core.Result
		for i := range trials {
			results = append(results, resultOf(trials[i].Scenario, flat(c.runs[i][0]), flat(c.runs[i][1])))
		}
		got := map[string]Finding{}
		for _, f := range Judge(c.table, trials, results) {
			got[f.Arm+"/"+f.Figure] = f
		}
		level, change := got["baseline/"+string(Mean)], got["irq-nosync/"+string(Improvement)]
		if level.Verdict != c.level || change.Verdict != c.change || level.Kind != c.kind {
			t.Errorf("%s: %s (%s) and %s, want %s (%s) and %s", c.name, level.Verdict, level.Kind, change.Verdict, c.level, c.kind, c.change)
		}
		if c.level == NotIdentified && !strings.Contains(level.Note, "quiet, busy") {
			t.Errorf("%s: %q names not the states", c.name, level.Note)
		}
		if _, problems := scenario.Parse(level.Scenario); len(problems) > 0 || level.Scenario == "" {
			t.Errorf("%s: scenario %q: %v", c.name, level.Scenario, problems)
		}
	}
}

// What a table is judged by is the same before and after.
func TestFigures(t *testing.T) {
	loads := map[string]bool{}
	for _, table := range Matching("") {
		trials := table.Trials(true)
		r := core.NewResult(trials[0].Scenario)
		results := make([]*core.Result, len(trials))
		for i := range results {
			results[i] = r
		}
		var before, after []string
		for _, f := range Figures(table, r.Metric().Unit) {
			if f.Verdict != "" || f.Simulated.OK {
				t.Errorf("%s is judged before anything has run", f.ID)
			}
			if f.Figure != "distribution" { // which few runs do not show
				before = append(before, fmt.Sprint(f.ID, f.Kind, f.Published, f.Tolerance, f.Unit))
			}
		}
		for _, f := range Judge(table, trials, results) {
			after = append(after, fmt.Sprint(f.ID, f.Kind, f.Published, f.Tolerance, f.Unit))
		}
		if !slices.Equal(before, after) || len(before) == 0 {
			t.Errorf("%s: figures\n%q, judged\n%q", table.Key, before, after)
		}
		if name := table.Thread + "/" + table.Series + "/" + table.Load; table.Series != "" && (loads[name] || table.Load == "") {
			t.Errorf("%s: %q does not tell it from the others", table.Key, name)
		} else {
			loads[name] = true
		}
	}
}

// The least of ten runs is compared with the least of ten, however many are simulated.
func TestFiguresOfAsManyRuns(t *testing.T) {
	x := table(t, "sm-idle-xeon-240")
	s, _ := scenario.Parse(x.Scenario)
	base, own := make([]float64, manyRuns), make([]float64, manyRuns)
	for i := range base {
		base[i], own[i] = float64(5000+i%10)*100_000, float64(1000+i%10)*100_000
	}
	base[7] = 1000 * 100_000
	v, lo, hi, ok := tens(resultOf(s, base, own), x, 0, Min)
	if !ok || lo != 5000 || hi != 5000 || v != 5000-4000./50 {
		t.Errorf("least of ten: %v (%v to %v), %v", v, lo, hi, ok)
	}
	if _, _, _, ok := tens(resultOf(s, base[:100], own[:100]), x, 0, Min); ok {
		t.Error("a hundred runs are few")
	}
}

// Samples of the model itself are found unlikely at the stated rate, other ones more often.
func TestFitHoldsItsLevel(t *testing.T) {
	r := sim.NewRand(3, 0, sim.Workload)
	model := make([]float64, 500)
	value := func() float64 { // fast in two of five cases, else slow
		if r.Below(5) < 2 {
			return 1000 + float64(r.Below(400))
		}
		return 6500 + float64(r.Below(2500))
	}
	for i := range model {
		model[i] = value()
	}
	sample := func(value func() float64) []float64 {
		x := make([]float64, 10)
		for i := range x {
			x[i] = value()
		}
		return x
	}
	const tries = 60
	var own, other int
	for range tries {
		if f := fit(sample(value), model); f.P < stats.Alpha {
			own++
		}
		if f := fit(sample(func() float64 { return 3000 + float64(r.Below(2000)) }), model); f.P < stats.Alpha && f.PLikes < stats.Alpha {
			other++
		}
	}
	// At 5 % three of sixty are to be expected, and more than nine are as rare as one in a thousand.
	if own > 9 || other < tries {
		t.Errorf("of %d samples of the model %d were found unlikely, of others %d", tries, own, other)
	}
	if f := fit(sample(value), model); f.Runs != 500 || len(f.Power) != 3 || f.Power[0].Share < 0.9 {
		t.Errorf("%d runs, power %v: a model that is always slow should be found out", f.Runs, f.Power)
	}
}

func ExampleToleranceOf() {
	t, _ := ToleranceOf("irq-nosync-pgbench-12", Improvement)
	fmt.Println(t)
	// Output: ±10 points
}
