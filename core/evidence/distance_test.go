package evidence

import (
	"math"
	"slices"
	"testing"

	"schedlab/core/sim"
)

// The distance is what one finds by looking at every value of both samples.
func TestDistance(t *testing.T) {
	r := sim.NewRand(7, 0, sim.Workload)
	for range 500 {
		sample := func(n int) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = float64(r.Below(20)) // with ties
			}
			slices.Sort(x)
			return x
		}
		a, b := sample(1+int(r.Below(10))), sample(1+int(r.Below(60)))
		upTo := func(x []float64, v float64) float64 {
			n := 0
			for n < len(x) && x[n] <= v {
				n++
			}
			return float64(n) / float64(len(x))
		}
		want := 0.
		for _, v := range slices.Concat(a, b) {
			want = max(want, math.Abs(upTo(a, v)-upTo(b, v)))
		}
		if got := distance(a, b); got != want {
			t.Fatalf("the distance of %v and %v is %v, want %v", a, b, got, want)
		}
	}
}

func BenchmarkFit(b *testing.B) {
	model := make([]float64, manyRuns)
	for i := range model {
		model[i] = float64(1000 + i*7919%8000)
	}
	published := Tables[1].PerEvent(0)
	for b.Loop() {
		fit(published, model)
	}
}
