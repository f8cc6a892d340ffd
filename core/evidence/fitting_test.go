package evidence

import (
	"strings"
	"testing"

	"schedlab/core"
	"schedlab/core/scenario"
)

// The search finds the factor under which a figure is the published one, and says where there is none. The model is stood in for by
// a figure that is proportional to the first constant.
func TestFittingFinds(t *testing.T) {
	for _, f := range Fittings {
		table := Matching(f.Table)[0]
		published := table.Arms[0].Printed[0].Value
		if f.Up == (table.Better == "higher") {
			t.Errorf("%s: dearer constants make %s better", f.Key, f.Table)
		}
		if used := table.used(0, Mean); used == "" {
			t.Errorf("%s: %s does not say that it was used", f.Key, f.Table)
		}
		for _, c := range []struct {
			at float64 // factor under which the stand-in is as published
			ok bool
		}{{1.3, true}, {0.7, true}, {9, false}} {
			steps := 0
			got, err := f.Fit(func(s scenario.Scenario) (*core.Result, error) {
				steps++
				x := factorOf(&f, s) / c.at
				if !f.Up {
					x = 1 / x
				}
				v := published * x
				return resultOf(s, []float64{v, v, v}, nil), nil
			})
			if (err == nil) != c.ok {
				t.Errorf("%s, at %.1f: %v", f.Key, c.at, err)
			}
			if c.ok && (got.Factor < c.at-0.01 || got.Factor > c.at+0.01 || got.Steps != steps || steps > 16 || len(got.Values) != len(f.Keys)) {
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
	plain, _ := scenario.Parse(Matching(f.Table)[0].Scenario)
	was := f.scaled(plain, 1000)
	a, b := valueOf(was, f.Keys[0]), valueOf(s, f.Keys[0])
	return parse(b) / parse(a)
}
