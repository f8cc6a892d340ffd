package sim

import "math/bits"

// A Stream is a source of randomness with one purpose. Streams are separate
// so that drawing once more from one shifts no other: all arms of a scenario
// then see the same machine, the same starting state and the same workload,
// and a difference between them is the patch's.
type Stream uint32

// The streams.
const (
	Workload Stream = iota + 1 // what the tasks do
	Noise                      // what the hardware adds: line latencies, step jitter
	Initial                    // the state that earlier work left behind
	Ties                       // choices that the model leaves open
)

// Rand is a pseudo-random stream: splitmix64, which needs one word of state
// and passes BigCrush. It is ours because the result of a link may never
// change with a Go release. The zero value is a valid stream.
type Rand struct{ s uint64 }

// NewRand returns the stream s of run number run under seed.
func NewRand(seed, run uint32, s Stream) Rand {
	r := Rand{uint64(seed)<<32 | uint64(run)}
	r.s = r.Uint64() ^ uint64(s)*0xd1342543de82ef95
	r.s = r.Uint64()
	return r
}

// Fork returns the n-th stream of its own that belongs to r. It draws nothing from r.
func (r Rand) Fork(n uint32) Rand {
	r.s ^= (uint64(n) + 1) * 0xa0761d6478bd642f
	r.s = r.Uint64()
	return r
}

// Uint64 returns 64 random bits.
func (r *Rand) Uint64() uint64 {
	r.s += 0x9e3779b97f4a7c15
	z := r.s
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Below returns a number in [0, n), or 0 if n ≤ 0. The bias is below n/2⁶⁴.
func (r *Rand) Below(n int64) int64 {
	if n <= 0 {
		return 0
	}
	hi, _ := bits.Mul64(r.Uint64(), uint64(n))
	return int64(hi)
}

// Between returns a time in [lo, hi].
func (r *Rand) Between(lo, hi Time) Time {
	return lo + Time(r.Below(int64(hi-lo)+1))
}
