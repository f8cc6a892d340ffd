package stats

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
)

// The shape of a Hist: values below 2·perOctave have a bin each, and above, each
// octave (from a power of two to the next) is split into perOctave bins of
// equal width. So no bin is wider than 1/perOctave of its values.
const (
	octaveBits = 5
	perOctave  = 1 << octaveBits

	// NumBins is how many bins there can be: Bin(math.MaxInt64) + 1.
	NumBins = (63 - octaveBits + 1) * perOctave
)

// Hist is a log-linear histogram of integers from 0: a bin is at most 1/32 as
// wide as the values in it. All histograms have the same bins, so any two can
// be merged or drawn on one axis. The zero value is empty and ready.
//
// Everything in it is an integer, and adding and merging commute, so the same
// samples give the same Hist in whatever order they come. What can't be
// counted any more stays at its largest value instead of wrapping round: a bin
// at 4,294,967,295, Sum at math.MaxInt64.
type Hist struct {
	N             uint64   // samples
	Min, Max, Sum int64    // of the samples themselves, not of their bins; 0 if there are none
	Bins          []uint32 // samples by Bin, up to Bin(Max) and no further; empty if there are none
}

// Bin returns the bin of v: 0 to NumBins-1. Negative values belong to bin 0.
func Bin(v int64) int {
	if v < 2*perOctave {
		return int(max(v, 0))
	}
	shift := bits.Len64(uint64(v)) - octaveBits - 1
	return shift<<octaveBits + int(v>>shift)
}

// BinBounds returns the smallest and the largest value of bin i, which must be from 0
// to NumBins-1.
func BinBounds(i int) (lo, hi int64) {
	if i < 2*perOctave {
		return int64(i), int64(i)
	}
	shift := i>>octaveBits - 1
	lo = int64(i&(perOctave-1)|perOctave) << shift
	return lo, lo + (1<<shift - 1)
}

// Add counts v. A negative v counts as 0. It allocates only when v is above all that
// the histogram has seen, and then seldom.
func (h *Hist) Add(v int64) {
	v = max(v, 0)
	i := Bin(v)
	if i >= len(h.Bins) {
		h.grow(i + 1)
	}
	if h.Bins[i] < math.MaxUint32 {
		h.Bins[i]++
	}
	if h.N == 0 || v < h.Min {
		h.Min = v
	}
	h.Max = max(h.Max, v)
	h.N++
	h.Sum = addSaturating(h.Sum, v)
}

// grow extends Bins to n with empty bins, with room to the end of the octave.
func (h *Hist) grow(n int) {
	old := len(h.Bins)
	if n > cap(h.Bins) {
		h.Bins = slices.Grow(h.Bins, (n+perOctave-1)/perOctave*perOctave-old)
	}
	h.Bins = h.Bins[:n]
	clear(h.Bins[old:])
}

// Merge adds all samples of o.
func (h *Hist) Merge(o *Hist) {
	if o.N == 0 {
		return
	}
	if len(o.Bins) > len(h.Bins) {
		h.grow(len(o.Bins))
	}
	for i, c := range o.Bins {
		h.Bins[i] = uint32(min(uint64(h.Bins[i])+uint64(c), math.MaxUint32))
	}
	if h.N == 0 || o.Min < h.Min {
		h.Min = o.Min
	}
	h.Max = max(h.Max, o.Max)
	h.N += o.N
	h.Sum = addSaturating(h.Sum, o.Sum)
}

// Reset empties h and keeps its memory.
func (h *Hist) Reset() { *h = Hist{Bins: h.Bins[:0]} }

func addSaturating(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Mean returns the mean of the samples, rounded down; 0 if there are none.
func (h *Hist) Mean() int64 {
	if h.N == 0 {
		return 0
	}
	return int64(uint64(h.Sum) / h.N)
}

// Quantile returns the value that the fraction num/den of the samples does not
// exceed: Quantile(1, 2) is the median, Quantile(999, 1000) the 99.9th
// percentile. The samples of a bin are taken to be spread evenly over it, so
// the error is below a bin's width. Fractions of 1 and above give Max; an
// empty histogram and den = 0 give 0.
func (h *Hist) Quantile(num, den uint64) int64 {
	if h.N == 0 || den == 0 {
		return 0
	}
	if num >= den {
		return h.Max
	}
	hi, lo := bits.Mul64(h.N, num)
	rank, rest := bits.Div64(hi, lo, den) // hi < den, since num < den
	if rest > 0 {
		rank++
	}
	rank = max(rank, 1) // the sample sought, counted from 1
	for i, c := range h.Bins {
		if rank > uint64(c) {
			rank -= uint64(c)
			continue
		}
		first, last := BinBounds(i)
		hi, lo := bits.Mul64(uint64(last-first)+1, 2*rank-1)
		offset, _ := bits.Div64(hi, lo, 2*uint64(c)) // the middle of the rank's share of the bin
		return min(max(first+int64(offset), h.Min), h.Max)
	}
	return h.Max // a full bin has lost count
}

// Octaves counts the samples between powers of two of unit: element 0 those below
// 1, element i those from 2^(i-1) to 2^i. A bin that a power of two lies in counts half
// on either side.
func (h *Hist) Octaves(unit int64) []uint64 {
	var list []uint64
	add := func(v int64, n uint64) {
		i := bits.Len64(uint64(v / unit))
		for len(list) <= i {
			list = append(list, 0)
		}
		list[i] += n
	}
	for i, n := range h.Bins {
		lo, hi := BinBounds(i)
		add(lo, uint64(n)-uint64(n/2))
		add(hi, uint64(n/2))
	}
	for len(list) > 0 && list[len(list)-1] == 0 {
		list = list[:len(list)-1]
	}
	return list
}

// AppendBinary appends h to b, for a Part on its way between workers: a few
// bytes per bin that is not empty. ConsumeBinary reads it.
//
// The form is a sequence of unsigned varints: N and, unless that is 0, Min,
// Max − Min, Sum, the number of bins that are not empty, and of each of those
// its distance from the one before (at first from bin 0) and its count.
func (h *Hist) AppendBinary(b []byte) []byte {
	b = binary.AppendUvarint(b, h.N)
	if h.N == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(h.Min))
	b = binary.AppendUvarint(b, uint64(h.Max-h.Min))
	b = binary.AppendUvarint(b, uint64(h.Sum))
	filled := 0
	for _, c := range h.Bins {
		if c != 0 {
			filled++
		}
	}
	b = binary.AppendUvarint(b, uint64(filled))
	last := 0
	for i, c := range h.Bins {
		if c != 0 {
			b = binary.AppendUvarint(b, uint64(i-last))
			b = binary.AppendUvarint(b, uint64(c))
			last = i
		}
	}
	return b
}

var errHist = errors.New("not a histogram: the bytes are damaged or cut short")

// ConsumeBinary sets h to the histogram at the start of b, reusing its memory, and
// returns the bytes that follow. Bytes that no histogram could have written
// are an error, after which h is empty; they can't make it allocate more than
// the largest histogram does (8 KB).
func (h *Hist) ConsumeBinary(b []byte) (rest []byte, err error) {
	h.Reset()
	bad := false
	next := func(most uint64) uint64 { // the next number, if it is at most that
		v, n := binary.Uvarint(b)
		if n <= 0 || v > most {
			bad, b = true, nil
			return 0
		}
		b = b[n:]
		return v
	}

	h.N = next(math.MaxUint64)
	if h.N == 0 {
		if bad {
			return nil, errHist
		}
		return b, nil
	}
	h.Min = int64(next(math.MaxInt64))
	h.Max = h.Min + int64(next(uint64(math.MaxInt64-h.Min)))
	h.Sum = int64(next(math.MaxInt64))
	filled := next(NumBins)
	h.grow(Bin(h.Max) + 1)
	var counted uint64
	i, full := 0, false
	for k := range filled {
		step := next(uint64(len(h.Bins) - 1 - i))
		count := next(math.MaxUint32)
		i += int(step)
		if bad || count == 0 || k > 0 && step == 0 || k == 0 && i != Bin(h.Min) {
			bad = true
			break
		}
		h.Bins[i] = uint32(count)
		counted += count
		full = full || count == math.MaxUint32
	}
	if bad || i != len(h.Bins)-1 || counted != h.N && !(full && counted < h.N) || !h.sumFits() {
		h.Reset()
		return nil, errHist
	}
	return b, nil
}

// sumFits tells whether N samples from Min to Max, both of them among the
// samples, can have the sum Sum.
func (h *Hist) sumFits() bool {
	if h.N == 1 && h.Min != h.Max {
		return false
	}
	total := func(most, least int64) uint64 { // one of least, all others of most
		hi, lo := bits.Mul64(h.N-1, uint64(most))
		lo, carry := bits.Add64(lo, uint64(least), 0)
		if hi+carry > 0 {
			return math.MaxInt64
		}
		return min(lo, math.MaxInt64)
	}
	sum := uint64(h.Sum)
	return total(h.Min, h.Max) <= sum && sum <= total(h.Max, h.Min)
}
