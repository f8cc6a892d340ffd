package evidence

import (
	"cmp"
	"strings"
	"testing"

	"schedlab/core"
	"schedlab/core/fitted"
	"schedlab/core/scenario"
	"schedlab/core/sim"
	"schedlab/core/workload"
)

// The search finds the factor under which a figure is the published one, and says where there is none. The model is stood in for by
// a figure that is proportional to the first constant.
func TestFittingFinds(t *testing.T) {
	for _, f := range Fittings {
		table := Matching(f.Table)[0]
		if used := table.used(f.Arm, cmp.Or(f.Figure, Mean)); used == "" {
			t.Errorf("%s: %s does not say that it was used", f.Key, f.Table)
		}
		if f.Reckon != nil || table.Pooled > 0 {
			continue
		}
		published := f.published(table)
		if f.Up == (table.Better == "higher") {
			t.Errorf("%s: dearer constants make %s better", f.Key, f.Table)
		}
		for _, c := range []struct {
			at float64 // factor under which the stand-in is as published
			ok bool
		}{{1.3, true}, {0.7, true}, {9, false}} {
			steps := 0
			got, err := f.Fit(nil, func(s scenario.Scenario) (*core.Result, error) {
				steps++
				x := factorOf(&f, s) / c.at // 1 with the constants as they are
				if !f.Up {
					x = 1 / x
				}
				v := published * x * float64(max(table.PerRun, 1))
				return resultOf(s, []float64{v, v, v}, nil), nil
			})
			if (err == nil) != c.ok {
				t.Errorf("%s, at %.1f: %v", f.Key, c.at, err)
			}
			if c.ok && (got.Factor < c.at-0.01 || got.Factor > c.at+0.01 || got.Steps != steps || steps > 16 || len(got.Constants) != len(f.From)) {
				t.Errorf("%s, at %.1f: %+v in %d steps", f.Key, c.at, got, steps)
			}
			if !c.ok && !strings.Contains(err.Error(), f.Key) {
				t.Errorf("%s: %v", f.Key, err)
			}
		}
	}
}

// factorOf returns by what the first constant of a fitting is scaled in s.
func factorOf(f *Fitting, s scenario.Scenario) float64 {
	c := f.From[0]
	if w, _ := workload.Lookup(s.Workload); c.Of == "" && f.Of == w.Key {
		return float64(s.Params[w.Param(c.Key)].N) / float64(c.Value)
	}
	for _, cost := range s.Costs {
		if cost.Key == c.Key {
			return float64(cost.Value) / float64(sim.Time(c.Value)*sim.Nanosecond)
		}
	}
	return 1
}

// The file has the constants of the fittings, in their order, and all that is reckoned from posted figures alone is what they give.
func TestConstantsFile(t *testing.T) {
	file := fitted.Constants()
	for i := range Fittings {
		f := &Fittings[i]
		for _, c := range f.From {
			if len(file) == 0 || file[0].Of != f.Of || file[0].Key != c.Key || file[0].Unit != c.Unit || file[0].Fitting != f.Key {
				t.Fatalf("%s: the file does not go on with %s of %s", f.Key, c.Key, f.Of)
			}
			file = file[1:]
		}
		if f.Reckon == nil {
			continue
		}
		got, err := f.Fit(nil, func(s scenario.Scenario) (*core.Result, error) { return resultOf(s, []float64{1, 1, 1}, nil), nil })
		if want := fitted.Value(f.Of, f.From[0].Key); err != nil || got.Constants[0].Value != want {
			t.Errorf("%s: %+v, %v; the file has %d", f.Key, got.Constants, err, want)
		}
	}
	if len(file) > 0 {
		t.Errorf("nothing fits %+v", file)
	}
}

// What has no place in a scenario is not left out in silence.
func TestFitTakesAll(t *testing.T) {
	robot := Matching("sm-idle-robot-hackbench-hackbench-pipe-process-%25")[0].Trials(true)[0].Scenario
	if s, err := with(robot, Beginnings()); err != nil || len(s.Costs) != 8 {
		t.Errorf("%d costs, %v", len(s.Costs), err)
	}
	if _, err := with(robot, []fitted.Constant{{Of: "xeon-128-4n", Key: "sharing", Value: 150, Unit: "%"}}); err == nil || !strings.Contains(err.Error(), "sharing of xeon-128-4n") {
		t.Errorf("another sharing: %v", err)
	}
}

// The file is what the fittings give. This takes ten minutes.
func TestFitAnew(t *testing.T) {
	if !*full {
		t.Skip("with -full only")
	}
	all := Beginnings()
	for i := range Fittings {
		got, err := Fittings[i].Fit(all, func(s scenario.Scenario) (*core.Result, error) { return core.Run(s, nil) })
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range got.Constants {
			if want := fitted.Value(c.Of, c.Key); c.Value != want {
				t.Errorf("%s: %s of %s is %d, and %d in the file", c.Fitting, c.Key, c.Of, c.Value, want)
			}
		}
		all = append(all, got.Constants...)
	}
}
