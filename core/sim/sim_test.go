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

// Streams must not depend on each other, on the number of draws before, or on
// the platform: these are the values that every link's result rests on.
func TestRandIsFrozen(t *testing.T) {
	want := map[Stream]uint64{}
	for _, c := range []struct {
		s Stream
		v uint64
	}{{Workload, 0}, {Noise, 0}, {Initial, 0}, {Ties, 0}} {
		r := NewRand(1, 0, c.s)
		want[c.s] = r.Uint64()
	}
	seen := map[uint64]bool{}
	for seed := range uint32(20) {
		for run := range uint32(20) {
			for s := Workload; s <= Ties; s++ {
				r := NewRand(seed, run, s)
				v := r.Uint64()
				if seen[v] {
					t.Fatalf("seed %d run %d stream %d starts like another stream", seed, run, s)
				}
				seen[v] = true
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
