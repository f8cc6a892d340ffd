package stats

import (
	"fmt"
	"math"
	"slices"

	moremath "github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// Better says which way a metric points.
type Better string

// The ways.
const (
	Lower  Better = "lower"
	Higher Better = "higher"
)

// A Number is a figure that may not exist, as a percentage of nothing. Only
// if OK is V meant; V is never NaN or infinite.
type Number struct {
	V  float64
	OK bool
}

// number is v, if there is such a number.
func number(v float64) Number {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Number{}
	}
	return Number{v, true}
}

// A Summary describes the runs of one arm. All but N is without meaning if N is
// 0, and SD is without meaning (0) if N is 1.
type Summary struct {
	N                      int
	Min, Max, Median, Mean float64
	SD                     float64 // sample standard deviation (n − 1)
	PSD                    float64 // population standard deviation (n), which some posters print
	CV                     Number  // SD as a fraction of the mean; not OK if N < 2 or the mean is 0
}

// Summarize summarizes finite values, in any order.
func Summarize(values []float64) Summary {
	n := len(values)
	if n == 0 {
		return Summary{}
	}
	sample := moremath.Sample{Xs: values}
	s := Summary{N: n, Mean: sample.Mean(), Median: median(values), SD: sample.StdDev()}
	s.Min, s.Max = sample.Bounds()
	s.PSD = s.SD * math.Sqrt(float64(n-1)/float64(n))
	if n > 1 {
		s.CV = number(s.SD / math.Abs(s.Mean))
	}
	return s
}

// median returns the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2 // exact, where a general quantile would interpolate with thirds
}

// Alpha is the level of significance, and 1 − Alpha the confidence of intervals.
const Alpha = 0.05

// The fewest runs of each arm with which an interval and a significant
// difference are possible at all.
const (
	MinRunsInterval = 6 // 1 − 2·2⁻⁶ = 97 %, but 1 − 2·2⁻⁵ = 94 %
	MinRunsTest     = 4 // 2/C(8,4) = 0.03, but 2/C(6,3) = 0.1
)

// A Comparison sets an arm against the baseline. Percentages are positive when the arm is better.
type Comparison struct {
	N                    int    // pairs of runs
	ImprovementPct       Number // of the means
	ImprovementMedianPct Number // of the medians

	// CI95 is the interval that holds the median of the paired percentage
	// changes with a confidence of at least 95 %, whatever their
	// distribution. It need not hold ImprovementPct, which is another figure.
	// Not OK with fewer than MinRunsInterval runs.
	CI95 Interval

	P           float64 // Mann–Whitney's, two-sided; 1 if there is nothing to test
	Significant bool    // P < Alpha
	Warnings    []string
}

// An Interval is a closed interval that may not exist.
type Interval struct {
	Lo, Hi float64
	OK     bool
}

// Compare compares the per-run figures of an arm with those of the baseline, all of
// them finite. The runs are paired: base[i] and arm[i] drew the same random
// numbers. If one has more runs than the other, the surplus is left out.
func Compare(base, arm []float64, better Better) Comparison {
	n := min(len(base), len(arm))
	base, arm = base[:n], arm[:n]
	c := Comparison{N: n, P: 1}
	warn := func(format string, args ...any) { c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...)) }
	if n == 0 {
		warn("no pair of runs has finished")
		return c
	}

	c.ImprovementPct = Improvement(moremath.Mean(base), moremath.Mean(arm), better)
	c.ImprovementMedianPct = Improvement(median(base), median(arm), better)
	if !c.ImprovementPct.OK {
		warn("no percentage: the mean that it would be a part of is 0")
	}

	changes, undefined := make([]float64, 0, n), 0
	for i := range n {
		if change := Improvement(base[i], arm[i], better); change.OK {
			changes = append(changes, change.V)
		} else {
			undefined++
		}
	}
	switch {
	case n < MinRunsInterval:
		warn("a 95 %% interval needs at least %d runs; there are %d", MinRunsInterval, n)
	case undefined > 0:
		warn("no 95 %% interval: %d of %d baseline runs are 0, and a change from 0 is no percentage", undefined, n)
	default:
		s := benchmath.AssumeNothing.Summary(benchmath.NewSample(changes, &benchmath.DefaultThresholds), 1-Alpha)
		lo, hi := number(s.Lo), number(s.Hi)
		c.CI95 = Interval{lo.V, hi.V, lo.OK && hi.OK}
	}

	if n < MinRunsTest {
		warn("a significant difference needs at least %d runs; there are %d", MinRunsTest, n)
	}
	if allEqual(base, arm) {
		warn("all runs of both arms are equal: there is nothing to test")
		return c
	}
	test := benchmath.AssumeNothing.Compare(
		benchmath.NewSample(slices.Clone(base), &benchmath.DefaultThresholds), // it sorts what it gets
		benchmath.NewSample(slices.Clone(arm), &benchmath.DefaultThresholds))
	if p := number(test.P); p.OK {
		c.P = min(max(p.V, 0), 1)
	}
	c.Significant = c.P < Alpha
	if i := c.CI95; c.Significant && i.OK && i.Lo <= 0 && i.Hi >= 0 {
		warn("the Mann–Whitney test tells the arms apart, but the interval of the paired changes has 0 in it: some runs gain and others lose")
	}
	return c
}

// Improvement returns by what percentage new is better than old: 0 if they are equal, even at 0.
func Improvement(old, new float64, better Better) Number {
	switch {
	case old == new:
		return Number{0, true}
	case old == 0:
		return Number{}
	case better == Higher:
		return number(100 * (new/old - 1))
	}
	return number(100 * (1 - new/old))
}

func allEqual(samples ...[]float64) bool {
	for _, s := range samples {
		for _, v := range s {
			if v != samples[0][0] {
				return false
			}
		}
	}
	return true
}
