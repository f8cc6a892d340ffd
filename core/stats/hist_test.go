package stats

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// Every value is in the bin whose bounds hold it, and the bins follow each
// other without a gap.
func TestBins(t *testing.T) {
	next := int64(0)
	for i := range NumBins {
		lo, hi := BinBounds(i)
		if lo != next || hi < lo {
			t.Fatalf("bin %d is [%d, %d], want it to start at %d", i, lo, hi, next)
		}
		if Bin(lo) != i || Bin(hi) != i {
			t.Fatalf("bin %d is [%d, %d], but Bin gives %d and %d", i, lo, hi, Bin(lo), Bin(hi))
		}
		if width := hi - lo + 1; width > 1 && width > lo/32 {
			t.Fatalf("bin %d is [%d, %d]: wider than 1/32", i, lo, hi)
		}
		next = hi + 1
	}
	if next != math.MinInt64 { // one past the largest
		t.Errorf("the bins end before %d", next)
	}
	if Bin(-5) != 0 || Bin(math.MinInt64) != 0 {
		t.Error("a negative value is not in bin 0")
	}
}

func hist(values ...int64) *Hist {
	var h Hist
	for _, v := range values {
		h.Add(v)
	}
	return &h
}

// samples returns n values of all magnitudes.
func samples(r *rand.Rand, n int) []int64 {
	vs := make([]int64, n)
	for i := range vs {
		vs[i] = r.Int64() >> r.IntN(63)
	}
	return vs
}

func TestAdd(t *testing.T) {
	h := hist(3, 0, 1000, -7, 3)
	want := Hist{N: 5, Min: 0, Max: 1000, Sum: 1006, Bins: make([]uint32, Bin(1000)+1)}
	want.Bins[0], want.Bins[3], want.Bins[Bin(1000)] = 2, 2, 1
	if !reflect.DeepEqual(*h, want) {
		t.Errorf("got %+v, want %+v", *h, want)
	}
}

// Samples give the same histogram in any order and in any parts.
func TestMergeCommutes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		vs := samples(r, r.IntN(50))
		whole := hist(vs...)
		r.Shuffle(len(vs), func(i, j int) { vs[i], vs[j] = vs[j], vs[i] })
		cut := r.IntN(len(vs) + 1)
		merged := hist(vs[:cut]...)
		merged.Merge(hist(vs[cut:]...))
		other := hist(vs[cut:]...)
		other.Merge(hist(vs[:cut]...))
		if !reflect.DeepEqual(whole, merged) || !reflect.DeepEqual(whole, other) {
			t.Fatalf("%v cut at %d: whole %+v, merged %+v and %+v", vs, cut, whole, merged, other)
		}
	}
}

func TestResetForgets(t *testing.T) {
	h := hist(5, 1<<40)
	h.Reset()
	h.Add(1000)
	h.Add(1 << 30)
	if want := hist(1000, 1<<30); !reflect.DeepEqual(h, want) {
		t.Errorf("got %+v, want %+v", h, want)
	}
}

func TestSaturation(t *testing.T) {
	a := Hist{N: 3, Min: 7, Max: 7, Sum: math.MaxInt64 - 1, Bins: make([]uint32, 8)}
	a.Bins[7] = math.MaxUint32 - 1
	b := a
	b.Bins = slices.Clone(a.Bins)
	a.Add(7)
	a.Add(7)
	b.Merge(hist(7, 7))
	for _, h := range []Hist{a, b} {
		if h.Bins[7] != math.MaxUint32 || h.Sum != math.MaxInt64 || h.N != 5 {
			t.Errorf("got %+v, want the bin and the sum at their largest", h)
		}
	}
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		h        *Hist
		num, den uint64
		want     int64
	}{
		{hist(), 1, 2, 0},
		{hist(5), 1, 2, 5},
		{hist(5), 0, 1, 5},
		{hist(1, 2, 3), 1, 2, 2},
		{hist(1, 2, 3, 4), 1, 2, 2},
		{hist(1, 2, 3, 4), 3, 4, 3},
		{hist(1, 2, 3, 4), 4, 4, 4},
		{hist(1, 2, 3, 4), 9, 4, 4},
		{hist(1, 2, 3, 4), 1, 0, 0},
		{hist(1_000_003), 1, 2, 1_000_003}, // never outside [Min, Max]
		{&Hist{N: 10, Min: 3, Max: 3, Bins: []uint32{0, 0, 0, 5}}, 9, 10, 3},
	} {
		if got := c.h.Quantile(c.num, c.den); got != c.want {
			t.Errorf("%+v: quantile %d/%d is %d, want %d", *c.h, c.num, c.den, got, c.want)
		}
	}
}

// Quantiles ascend, and are within a bin's width of those of the samples.
func TestQuantileAgainstTheSamples(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		vs := samples(r, 1+r.IntN(300))
		h := hist(vs...)
		slices.Sort(vs)
		last := int64(0)
		for num := range uint64(101) {
			rank := max((uint64(len(vs))*num+99)/100, 1)
			exact, got := vs[rank-1], h.Quantile(num, 100)
			if got < last {
				t.Fatalf("quantile %d/100 is %d, below the one before, %d", num, got, last)
			}
			if Bin(got) != Bin(exact) {
				t.Fatalf("quantile %d/100 is %d, not in the bin of %d", num, got, exact)
			}
			last = got
		}
	}
}

func TestMean(t *testing.T) {
	if got := hist(1, 2, 5, 3).Mean(); got != 2 {
		t.Errorf("mean of 1, 2, 5, 3 is %d, want 2 (2.75 rounded down)", got)
	}
	if got := hist().Mean(); got != 0 {
		t.Errorf("mean of nothing is %d, want 0", got)
	}
}

func TestBinaryRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	list := []*Hist{hist(), hist(0), hist(math.MaxInt64), hist(0, math.MaxInt64, math.MaxInt64)}
	for range 100 {
		list = append(list, hist(samples(r, r.IntN(100))...))
	}
	var b []byte
	for _, h := range list {
		b = h.AppendBinary(b)
	}
	var got Hist // one for all, so that leftovers would show
	for i, h := range list {
		var err error
		if b, err = got.ConsumeBinary(b); err != nil {
			t.Fatalf("histogram %d, %+v: %v", i, h, err)
		}
		if got.N != h.N || got.Min != h.Min || got.Max != h.Max || got.Sum != h.Sum || !slices.Equal(got.Bins, h.Bins) {
			t.Fatalf("histogram %d: got %+v, want %+v", i, got, h)
		}
	}
	if len(b) != 0 {
		t.Errorf("%d bytes left over", len(b))
	}
}

// varints writes numbers as AppendBinary does.
func varints(vs ...uint64) (b []byte) {
	for _, v := range vs {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

func TestConsumeBinaryRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		b    []byte
	}{
		{"nothing", nil},
		{"cut short", hist(1, 2, 3).AppendBinary(nil)[:5]},
		{"minimum above the largest", varints(1, 1<<63, 0, 0, 1, 7, 1)},
		{"maximum above the largest", varints(2, 5, math.MaxInt64, 10, 2, 5, 1, 5, 1)},
		{"one sample with two values", varints(1, 5, 1, 11, 2, 5, 1, 1, 1)},
		{"too many bins", varints(1, 5, 0, 5, 1<<40, 5, 1)},
		{"no bins", varints(1, 5, 0, 5, 0)},
		{"empty bin", varints(1, 5, 0, 5, 1, 5, 0)},
		{"bin below the minimum", varints(2, 5, 1, 11, 3, 4, 1, 1, 1, 1, 0)},
		{"bin above the maximum", varints(1, 5, 0, 5, 1, 6, 1)},
		{"the same bin twice", varints(2, 5, 0, 10, 2, 5, 1, 0, 1)},
		{"maximum's bin missing", varints(1, 5, 3, 5, 1, 5, 1)},
		{"fewer counted than N", varints(3, 5, 0, 15, 1, 5, 2)},
		{"more counted than N", varints(1, 5, 0, 5, 1, 5, 2)},
		{"count above the largest", varints(1<<32, 0, 0, 0, 1, 0, 1<<32)},
		{"sum too small", varints(2, 5, 1, 10, 2, 5, 1, 1, 1)},
		{"sum too large", varints(2, 5, 1, 12, 2, 5, 1, 1, 1)},
	} {
		h := *hist(9, 99)
		if _, err := h.ConsumeBinary(c.b); err == nil {
			t.Errorf("%s: accepted as %+v", c.name, h)
		}
		if h.N != 0 || len(h.Bins) != 0 {
			t.Errorf("%s: leaves %+v, want it empty", c.name, h)
		}
	}
}

// Hostile bytes never panic or allocate much; what is accepted is a sound
// histogram that is written back with the same meaning.
func FuzzConsumeBinary(f *testing.F) {
	f.Add([]byte{0})
	f.Add(hist(0, 1, 5, 5, 1000, math.MaxInt64).AppendBinary(nil))
	f.Add(varints(1<<33, 7, 0, 7<<33, 1, 7, math.MaxUint32))
	f.Add(varints(math.MaxUint64, math.MaxInt64, 0, math.MaxInt64, 1, NumBins-1, math.MaxUint32))
	f.Fuzz(func(t *testing.T, b []byte) {
		var h, again Hist
		rest, err := h.ConsumeBinary(b)
		if cap(h.Bins) > 2*NumBins {
			t.Fatalf("room for %d bins", cap(h.Bins))
		}
		if err != nil {
			return
		}
		if !bytes.HasSuffix(b, rest) {
			t.Fatal("the rest is not what follows")
		}
		for q := range uint64(11) {
			if v := h.Quantile(q, 10); h.N > 0 && (v < h.Min || v > h.Max) {
				t.Fatalf("quantile %d/10 is %d, outside [%d, %d]", q, v, h.Min, h.Max)
			}
		}
		if _, err := again.ConsumeBinary(h.AppendBinary(nil)); err != nil || !reflect.DeepEqual(h, again) {
			t.Fatalf("%+v became %+v, %v", h, again, err)
		}
		h.Merge(&again)
		h.Add(12345)
	})
}

func TestAddDoesNotAllocate(t *testing.T) {
	h := hist(1 << 40)
	v := int64(1)
	if n := testing.AllocsPerRun(1000, func() { v = v * 3 % (1 << 40); h.Add(v) }); n != 0 {
		t.Errorf("%v allocations per Add, want 0", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	h := hist(1 << 40)
	v := int64(1)
	for b.Loop() {
		v = v * 3 & (1<<40 - 1)
		h.Add(v)
	}
}

func BenchmarkQuantile(b *testing.B) {
	h := hist(samples(rand.New(rand.NewPCG(7, 8)), 100000)...)
	for b.Loop() {
		h.Quantile(99, 100)
	}
}

func ExampleHist() {
	var h Hist
	for us := range int64(100) {
		h.Add(us * 1e6) // 0 to 99 µs, in picoseconds
	}
	fmt.Println("samples:", h.N, "smallest:", h.Min, "largest:", h.Max)
	fmt.Println("median, to 1/32:", h.Quantile(1, 2))
	lo, hi := BinBounds(Bin(49e6))
	fmt.Println("its bin:", lo, "to", hi)
	// Output:
	// samples: 100 smallest: 0 largest: 99000000
	// median, to 1/32: 48758784
	// its bin: 48234496 to 49283071
}
