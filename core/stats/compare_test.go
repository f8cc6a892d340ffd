package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

func TestSummarize(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Summary
	}{
		{nil, Summary{}},
		{[]float64{7}, Summary{N: 1, Min: 7, Max: 7, Median: 7, Mean: 7}},
		{[]float64{3, 1}, Summary{N: 2, Min: 1, Max: 3, Median: 2, Mean: 2, SD: math.Sqrt2, PSD: 1, CV: Number{math.Sqrt2 / 2, true}}},
		{[]float64{2, 4, 4, 4, 5, 5, 7, 9}, Summary{N: 8, Min: 2, Max: 9, Median: 4.5, Mean: 5, SD: math.Sqrt(32. / 7), PSD: 2, CV: Number{math.Sqrt(32./7) / 5, true}}},
		{[]float64{0, 0}, Summary{N: 2}},
		{[]float64{-1, 1}, Summary{N: 2, Min: -1, Max: 1, SD: math.Sqrt2, PSD: 1}},
		{[]float64{-3, -1}, Summary{N: 2, Min: -3, Max: -1, Median: -2, Mean: -2, SD: math.Sqrt2, PSD: 1, CV: Number{math.Sqrt2 / 2, true}}},
	} {
		got := Summarize(c.values)
		w := c.want
		if got.N != w.N || got.Min != w.Min || got.Max != w.Max || got.Median != w.Median || got.Mean != w.Mean ||
			!near(got.SD, w.SD) || !near(got.PSD, w.PSD) || got.CV.OK != w.CV.OK || !near(got.CV.V, w.CV.V) {
			t.Errorf("%v: %+v, want %+v", c.values, got, w)
		}
	}
}

func ok(v float64) Number { return Number{v, true} }

func TestCompare(t *testing.T) {
	ten := func(v float64, step float64) []float64 { // v, v+step, …
		vs := make([]float64, 10)
		for i := range vs {
			vs[i] = v + float64(i)*step
		}
		return vs
	}
	for _, c := range []struct {
		name        string
		base, arm   []float64
		better      Better
		mean, med   Number
		ci          Interval
		p           float64
		significant bool
		warnings    []string // a part of each
	}{
		{"nothing", nil, nil, Lower, Number{}, Number{}, Interval{}, 1, false, []string{"no pair"}},
		{"one run", []float64{100}, []float64{25}, Lower, ok(75), ok(75), Interval{}, 1, false, []string{"at least 6", "at least 4"}},
		{"one run, higher is better", []float64{100}, []float64{125}, Higher, ok(25), ok(25), Interval{}, 1, false, []string{"at least 6", "at least 4"}},
		{"two runs", []float64{100, 300}, []float64{50, 50}, Lower, ok(75), ok(75), Interval{}, 1. / 3, false, []string{"at least 6", "at least 4"}},
		{"five runs", []float64{1, 2, 3, 4, 5}, []float64{11, 12, 13, 14, 15}, Higher, ok(100 * (13./3 - 1)), ok(100 * (13./3 - 1)), Interval{}, 2. / 252, true, []string{"at least 6"}},
		{"worse", []float64{10}, []float64{20}, Lower, ok(-100), ok(-100), Interval{}, 1, false, []string{"at least 6", "at least 4"}},
		{"all equal", ten(5, 0), ten(5, 0), Lower, ok(0), ok(0), Interval{0, 0, true}, 1, false, []string{"all runs of both arms are equal"}},
		{"no spread, but a difference", ten(4, 0), ten(1, 0), Lower, ok(75), ok(75), Interval{75, 75, true}, 2. / 184756, true, nil},
		{"all zero", ten(0, 0), ten(0, 0), Lower, ok(0), ok(0), Interval{0, 0, true}, 1, false, []string{"equal"}},
		{"from zero", ten(0, 0), ten(1, 0), Higher, Number{}, Number{}, Interval{}, 2. / 184756, true, []string{"no percentage", "10 of 10 baseline runs are 0"}},
		{"to zero", ten(1, 0), ten(0, 0), Lower, ok(100), ok(100), Interval{100, 100, true}, 2. / 184756, true, nil},
		{"one zero", ten(0, 1), ten(0, 2), Higher, ok(100), ok(100), Interval{100, 100, true}, -1, false, nil},
		{"a surplus is left out", ten(1, 0), []float64{1}, Lower, ok(0), ok(0), Interval{}, 1, false, []string{"at least 6", "at least 4", "equal"}},
	} {
		got := Compare(c.base, c.arm, c.better)
		if got.ImprovementPct.OK != c.mean.OK || !near(got.ImprovementPct.V, c.mean.V) || got.ImprovementMedianPct.OK != c.med.OK || !near(got.ImprovementMedianPct.V, c.med.V) {
			t.Errorf("%s: improvement %v of means and %v of medians, want %v and %v", c.name, got.ImprovementPct, got.ImprovementMedianPct, c.mean, c.med)
		}
		// The "one zero" row has a change of 0 in its first pair and of 100 in the others.
		if got.CI95.OK != c.ci.OK || !near(got.CI95.Lo, c.ci.Lo) || !near(got.CI95.Hi, c.ci.Hi) {
			t.Errorf("%s: interval %v, want %v", c.name, got.CI95, c.ci)
		}
		if c.p >= 0 && !near(got.P, c.p) {
			t.Errorf("%s: p = %v, want %v", c.name, got.P, c.p)
		}
		if got.Significant != c.significant {
			t.Errorf("%s: significant is %v with p = %v", c.name, got.Significant, got.P)
		}
		match := len(got.Warnings) == len(c.warnings)
		for i := range min(len(got.Warnings), len(c.warnings)) {
			match = match && strings.Contains(got.Warnings[i], c.warnings[i])
		}
		if !match {
			t.Errorf("%s: warnings %q, want %q", c.name, got.Warnings, c.warnings)
		}
	}
}

// With six runs the interval is all of the paired changes, whatever the order of
// the runs, and the arguments stay as they were.
func TestCompareIsPaired(t *testing.T) {
	base := []float64{60, 10, 50, 20, 40, 30}
	arm := []float64{30, 9, 40, 18, 30, 27} // 50, 10, 20, 10, 25, 10 % less
	keep := slices.Clone(arm)
	got := Compare(base, arm, Lower).CI95
	if !got.OK || !near(got.Lo, 10) || !near(got.Hi, 50) {
		t.Errorf("interval %v, want 10 to 50", got)
	}
	if !slices.Equal(arm, keep) {
		t.Errorf("the arm was changed to %v", arm)
	}
}

// The interval is the published one for a median (as in the tables of the
// sign test): at n = 10 the 2nd and 9th of the changes, at n = 20 the 6th and 15th.
func TestIntervalIsOfOrderStatistics(t *testing.T) {
	for _, c := range []struct {
		n      int
		lo, hi float64
	}{{6, 1, 6}, {8, 1, 8}, {10, 2, 9}, {20, 6, 15}} {
		base, arm := make([]float64, c.n), make([]float64, c.n)
		for i := range c.n {
			base[i], arm[i] = 100, 100+float64(i+1)
		}
		got := Compare(base, arm, Higher).CI95
		if math.Abs(got.Lo-c.lo) > 1+1e-9 || math.Abs(got.Hi-c.hi) > 1+1e-9 || got.Hi-got.Lo > c.hi-c.lo+1e-9 {
			t.Errorf("n = %d: %v, want about %v to %v and no wider", c.n, got, c.lo, c.hi)
		}
	}
}

// No figure is ever NaN or infinite, p is a probability, and swapping the arms
// changes neither p nor, but for the sign, who is better.
func FuzzCompare(f *testing.F) {
	f.Add(uint64(1), uint8(10), uint8(10), uint8(3))
	f.Add(uint64(2), uint8(1), uint8(2), uint8(0))
	f.Add(uint64(3), uint8(60), uint8(60), uint8(1))
	f.Fuzz(func(t *testing.T, seed uint64, n, m, spread uint8) {
		r := rand.New(rand.NewPCG(seed, 0))
		draw := func(n uint8) []float64 {
			vs := make([]float64, n%64)
			for i := range vs {
				vs[i] = float64(r.IntN(1 + int(spread)))
			}
			return vs
		}
		base, arm := draw(n), draw(m)
		k := min(len(base), len(arm))
		for _, better := range []Better{Lower, Higher} {
			c := Compare(base, arm, better)
			d := Compare(arm, base, better)
			for _, v := range []float64{c.ImprovementPct.V, c.ImprovementMedianPct.V, c.CI95.Lo, c.CI95.Hi, c.P} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%v against %v: %+v", base, arm, c)
				}
			}
			if c.P < 0 || c.P > 1 || !near(c.P, d.P) || c.Significant != (c.P < Alpha) {
				t.Fatalf("%v against %v: p = %v one way, %v the other", base, arm, c.P, d.P)
			}
			if c.ImprovementPct.OK && d.ImprovementPct.OK && c.ImprovementPct.V*d.ImprovementPct.V > 0 {
				t.Fatalf("%v against %v: both better, %v and %v", base, arm, c.ImprovementPct, d.ImprovementPct)
			}
			if c.N != k || c.CI95.OK && k < MinRunsInterval || c.Significant && k < MinRunsTest {
				t.Fatalf("%v against %v: too much is claimed of %d runs: %+v", base, arm, k, c)
			}
		}
		for _, vs := range [][]float64{base, arm} {
			s := Summarize(vs)
			if s.N > 0 && !(s.Min <= s.Median && s.Median <= s.Max && s.Min <= s.Mean && s.Mean <= s.Max && s.PSD <= s.SD) {
				t.Fatalf("%v: %+v", vs, s)
			}
		}
	})
}

// The page compares at every render, up to 1000 runs.
func BenchmarkCompare(b *testing.B) {
	for _, n := range []int{10, 25, 50, 1000} {
		for _, ties := range []bool{false, true} {
			b.Run(fmt.Sprintf("n=%d/ties=%v", n, ties), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 1))
				base, arm := make([]float64, n), make([]float64, n)
				for i := range n {
					base[i], arm[i] = r.Float64(), r.Float64()
					if ties {
						base[i], arm[i] = math.Floor(base[i]*20), math.Floor(arm[i]*20)
					}
				}
				for b.Loop() {
					Compare(base, arm, Lower)
				}
			})
		}
	}
}

// The ten runs that were published for SM_IDLE on a 240-CPU machine.
func ExampleCompare() {
	base := []float64{158490995, 113086433, 737869191, 302454894, 731262790, 677283357, 729767478, 830949261, 399824606, 743681976}
	arm := []float64{128060992, 115646768, 132734621, 150330954, 113143538, 169875051, 145010400, 151589193, 162165800, 159963320}
	c := Compare(base, arm, Lower)
	fmt.Printf("improvement of the means %.1f %%, of the medians %.1f %%\n", c.ImprovementPct.V, c.ImprovementMedianPct.V)
	fmt.Printf("paired changes %.1f to %.1f %%, p = %.4f, significant: %v\n", c.CI95.Lo, c.CI95.Hi, c.P, c.Significant)
	// Output:
	// improvement of the means 73.7 %, of the medians 79.0 %
	// paired changes 19.2 to 82.0 %, p = 0.0039, significant: true
}
