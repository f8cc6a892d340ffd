package sim

import (
	"fmt"
	"testing"
)

func ExampleQueue() {
	var q Queue
	q.At(20*Nanosecond, 'b', 1, 0)
	dropped := q.At(15*Nanosecond, 'x', 1, 0)
	q.At(10*Nanosecond, 'a', 0, 0)
	q.At(20*Nanosecond, 'c', 2, 0) // the same time as b, but later in sequence
	q.Cancel(dropped)
	for ev, ok := q.Next(); ok; ev, ok = q.Next() {
		fmt.Printf("%s %c\n", ev.At, ev.Kind)
	}
	// Output:
	// 10 ns a
	// 20 ns b
	// 20 ns c
}

func TestNanosecondsRoundTrip(t *testing.T) {
	for _, c := range []struct {
		t    Time
		text string
	}{{0, "0"}, {1, "0.001"}, {1500, "1.5"}, {-1500, "-1.5"}, {1130 * Nanosecond, "1130"}, {123456789, "123456.789"}} {
		if got := c.t.Nanoseconds(); got != c.text {
			t.Errorf("Time(%d).Nanoseconds() = %s, want %s", c.t, got, c.text)
		}
		if c.t < 0 {
			continue
		}
		if got, ok := ParseNanoseconds(c.text); !ok || got != c.t {
			t.Errorf("ParseNanoseconds(%s) = %d %v, want %d", c.text, got, ok, c.t)
		}
	}
	for _, bad := range []string{"", ".", ".5", "1.", "1.2345", "1e3", "-1", "1.2.3", "99999999999999999999", "9223372036854775807", "0x1", " 1"} {
		if got, ok := ParseNanoseconds(bad); ok {
			t.Errorf("ParseNanoseconds(%q) = %d, want a refusal", bad, got)
		}
	}
}

// These are the values that every link's result rests on.
func TestRandIsFrozen(t *testing.T) {
	for _, c := range []struct {
		seed, run uint32
		s         Stream
		want      uint64
	}{
		{0, 0, Workload, 0x6db3c43c477e0c8c},
		{1, 0, Noise, 0xa523fcfc9a6c6000},
		{1, 9, Initial, 0xa719a6d6a769804f},
		{1<<32 - 1, 999, Ties, 0xca36bfde71e4b24d},
	} {
		r := NewRand(c.seed, c.run, c.s)
		if got := r.Uint64(); got != c.want {
			t.Errorf("seed %d, run %d, stream %d begins with %#x, want %#x", c.seed, c.run, c.s, got, c.want)
		}
	}
	r := NewRand(1, 0, Workload)
	f := r.Fork(7)
	if got, want := f.Uint64(), uint64(0xe7f6f1569a56b357); got != want {
		t.Errorf("fork 7 begins with %#x, want %#x", got, want)
	}
}

// No two streams begin alike, and forking draws nothing.
func TestStreamsAreSeparate(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint32(20) {
		for run := range uint32(20) {
			for s := Workload; s <= Ties; s++ {
				r := NewRand(seed, run, s)
				before := r
				for _, r := range []Rand{r, r.Fork(0), r.Fork(1), r.Fork(1 << 20)} {
					v := r.Uint64()
					if seen[v] {
						t.Fatalf("seed %d, run %d: stream %d, or a fork of it, begins like another", seed, run, s)
					}
					seen[v] = true
				}
				if r != before {
					t.Fatal("forking changed the stream")
				}
			}
		}
	}
}

func TestBelowCoversItsRange(t *testing.T) {
	r := NewRand(7, 7, Ties)
	var n [10]int
	for range 10000 {
		n[r.Below(10)]++
	}
	for v, c := range n {
		if c < 850 || c > 1150 {
			t.Errorf("%d came %d times of 10000, want about 1000", v, c)
		}
	}
	if v := r.Below(0); v != 0 {
		t.Errorf("Below(0) = %d, want 0", v)
	}
}
