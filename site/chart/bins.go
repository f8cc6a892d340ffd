package chart

import (
	"math"

	"schedlab/core/stats"
)

// Bins are equally wide on a logarithmic axis, and shared by all curves of a
// picture.
type Bins struct {
	Lo    float64 // where the first one begins, in the samples' unit
	Ratio float64 // of a bin's end to its beginning
	N     int
}

// finest is how many bins an octave has at most: a bin is then about as wide as those of a
// stats.Hist, of which it must not show the seams.
const finest = 24

// NewBins returns bins from lo to hi, 0 < lo < hi, for an axis of width pixels: at least five
// pixels each.
func NewBins(lo, hi, width float64) Bins {
	octaves := math.Log2(hi / lo)
	n := int(math.Ceil(min(octaves*finest, width/5)))
	n = max(n, 1)
	return Bins{Lo: lo, Ratio: math.Exp2(octaves / float64(n)), N: n}
}

// Edge returns where bin i begins, which is where bin i-1 ends.
func (b Bins) Edge(i int) float64 { return b.Lo * math.Pow(b.Ratio, float64(i)) }

// Shares returns which fraction of h's samples is in each bin. Samples beyond
// the bins are in none. Those within a bin of h are taken to be spread evenly
// over it.
func (b Bins) Shares(h *stats.Hist) []float64 {
	shares := make([]float64, b.N)
	bin, edge := -1, b.Lo // the bin that ends at edge; -1 is all before the first one
	for i, c := range h.Bins {
		if c == 0 {
			continue
		}
		first, last := stats.BinBounds(i)
		// No sample lies beyond the smallest or the largest one.
		lo := max(float64(first), float64(h.Min))
		hi := max(min(float64(last), float64(h.Max))+1, lo+1)
		perUnit := float64(c) / float64(h.N) / (hi - lo)
		for lo < hi && bin < b.N {
			end := min(hi, edge)
			if bin >= 0 && end > lo {
				shares[bin] += perUnit * (end - lo)
			}
			lo = max(lo, end)
			if edge <= hi {
				bin++
				edge = b.Edge(bin + 1)
			} else {
				break
			}
		}
	}
	return shares
}
