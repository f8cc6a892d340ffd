package evidence

import (
	"math"
	"slices"

	"schedlab/core/sim"
)

// How likely published runs are under the model: as a sample of its runs, of which there must be
// many more. Two tests that see different things: the greatest distance between the two distribution functions
// (Kolmogorov–Smirnov's, for one sample), and the likelihood, which falls where a value is one that the
// model hardly ever has. Their distributions are those of samples of the model's own, so that ties and steps
// do no harm.

// A Fit is the outcome of these tests.
type Fit struct {
	Runs   int        // of the model
	D      float64    // the greatest distance
	P      float64    // of a distance as great, or greater, under the model
	PLikes float64    // of a likelihood as small, or smaller
	Shift  [3]float64 // of the quartiles: the model's over the published, − 1
	Power  []Power
}

// A Power is how often a test at 5 % would have found out a wrong model.
type Power struct {
	Wrong string
	Share float64
}

// draws is how many samples the tests' distributions are made from.
const draws = 4000

// fit tests whether published values are a sample of the model's.
func fit(published, model []float64) Fit {
	ref := slices.Sorted(slices.Values(model))
	own := slices.Sorted(slices.Values(published))
	n := len(own)
	f := Fit{Runs: len(ref), D: distance(own, ref)}
	r := sim.NewRand(1, 0, sim.Ties)
	h := newDensity(ref, own)
	ds, ls := make([]float64, draws), make([]float64, draws)
	x := make([]float64, n)
	sample := func(value func(i int) float64) (d, l float64) {
		for i := range x {
			x[i] = value(i)
		}
		slices.Sort(x)
		return distance(x, ref), h.likelihood(x)
	}
	for i := range ds {
		ds[i], ls[i] = sample(func(int) float64 { return ref[r.Below(int64(len(ref)))] })
	}
	slices.Sort(ds)
	slices.Sort(ls)
	below, _ := slices.BinarySearch(ds, f.D-1e-12)
	f.P = float64(draws-below+1) / (draws + 1)
	l := h.likelihood(own)
	upTo, _ := slices.BinarySearch(ls, l+1e-9)
	f.PLikes = float64(upTo+1) / (draws + 1)
	for i, q := range []float64{0.25, 0.5, 0.75} {
		f.Shift[i] = quantile(ref, q)/quantile(own, q) - 1
	}

	// Wrong models that have the model's range.
	critical, rare := ds[draws*95/100], ls[draws*5/100]
	lo, hi := quantile(ref, 0.02), quantile(ref, 0.98)
	near := func(v float64) float64 { return v * float64(9500+r.Below(1001)) / 10000 }
	for _, wrong := range []struct {
		name  string
		value func(int) float64
	}{
		{"always slow", func(int) float64 { return near(hi) }},
		{"a fair coin between fast and slow", func(int) float64 { return near([]float64{lo, hi}[r.Below(2)]) }},
		{"uniform between fast and slow", func(int) float64 { return lo + (hi-lo)*float64(r.Below(10001))/10000 }},
	} {
		found := 0
		const tries = 500
		for range tries {
			if d, l := sample(wrong.value); d > critical || l < rare {
				found++
			}
		}
		f.Power = append(f.Power, Power{wrong.name, float64(found) / tries})
	}
	return f
}

// weakest returns the wrong model that the tests find out least often.
func (f *Fit) weakest() Power {
	return slices.MinFunc(f.Power, func(a, b Power) int {
		switch {
		case a.Share < b.Share:
			return -1
		case a.Share > b.Share:
			return 1
		}
		return 0
	})
}

// distance returns the greatest distance between the distribution functions of two sorted samples, of
// which the second may be large: it is where a value of the first one is, or just before.
func distance(a, b []float64) (d float64) {
	n, m := float64(len(a)), float64(len(b))
	for i := 0; i < len(a); {
		before, v := i, a[i]
		for i < len(a) && a[i] == v {
			i++
		}
		below, found := slices.BinarySearch(b, v)
		upTo := below
		for found && upTo < len(b) && b[upTo] == v {
			upTo++
		}
		d = max(d, math.Abs(float64(before)/n-float64(below)/m), math.Abs(float64(i)/n-float64(upTo)/m))
	}
	return d
}

// quantile returns the q-quantile of a sorted sample, one of its values.
func quantile(sorted []float64, q float64) float64 {
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// A density is how often the model has values, in bins that are a quarter of an octave wide.
type density struct {
	first int
	log   []float64 // of the share of a bin
	least float64   // of an empty one
}

func bin(v float64) int { return int(math.Floor(4 * math.Log2(v))) }

// newDensity counts the values of ref, in bins that hold those of others too: an empty one counts as half a value.
func newDensity(ref, others []float64) density {
	lo, hi := bin(min(ref[0], others[0])), bin(max(ref[len(ref)-1], others[len(others)-1]))
	h := density{first: lo, log: make([]float64, hi-lo+1)}
	for _, v := range ref {
		h.log[bin(v)-lo]++
	}
	for i, n := range h.log {
		h.log[i] = math.Log((n + 0.5) / (float64(len(ref)) + 0.5*float64(len(h.log))))
	}
	h.least = slices.Min(h.log)
	return h
}

// likelihood returns the logarithm of a sample's likelihood, divided by its size. What lies outside of
// all bins counts like an empty one.
func (h density) likelihood(sample []float64) (sum float64) {
	for _, v := range sample {
		if i := bin(v) - h.first; i >= 0 && i < len(h.log) {
			sum += h.log[i]
		} else {
			sum += h.least
		}
	}
	return sum / float64(len(sample))
}
