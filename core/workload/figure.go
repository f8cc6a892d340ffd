package workload

import (
	"math"
	"math/bits"

	"schedlab/core/kernel"
	"schedlab/core/sim"
)

// Figures of runs, in thousandths of their units and in whole numbers.

// elapsed is the time that the measured window took, in ns.
func elapsed(s *kernel.Snapshot) int64 { return int64(s.Elapsed / sim.Picosecond) }

// mulDiv returns a × b / c, rounded down, for numbers that are not negative; the largest
// number if it is larger than that.
func mulDiv(a, b, c int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if c <= 0 || hi >= uint64(c) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(c))
	return int64(min(q, math.MaxInt64))
}

// perSecond returns n / per of what a run had, for each second that it took.
func perSecond(s *kernel.Snapshot, n, per int64) int64 {
	ns := int64(s.Elapsed / sim.Nanosecond)
	if ns <= 0 {
		return 0
	}
	return mulDiv(n, 1000*1_000_000_000, ns*per)
}

// quantile returns the value that num of den samples do not exceed, in µs.
func quantile(s *kernel.Snapshot, sample int, num, den uint64) int64 {
	if sample >= len(s.Hists) {
		return 0
	}
	return s.Hists[sample].Quantile(num, den) / 1000
}
