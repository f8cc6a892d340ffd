package sim

import (
	"fmt"
	"sort"
	"testing"
)

// reference is the obvious queue: sorted by (time, sequence).
type reference []refEvent

type refEvent struct {
	ev  Event
	seq int
	h   Handle
}

func (r *reference) next() (Event, bool) {
	if len(*r) == 0 {
		return Event{}, false
	}
	sort.SliceStable(*r, func(i, j int) bool { return (*r)[i].ev.At < (*r)[j].ev.At })
	ev := (*r)[0].ev
	*r = (*r)[1:]
	return ev, true
}

// drive runs a program of bytes against the queue and the reference.
func drive(t *testing.T, prog []byte) {
	var q Queue
	var ref reference
	var now Time
	var stale []Handle
	seq := uint32(0)
	for i := 0; i+1 < len(prog); i += 2 {
		op, x := prog[i], Time(prog[i+1])
		switch op % 4 {
		case 0, 1:
			d := x << (op / 4 % 48) // near, far and equal times
			seq++
			h := q.At(now+d, op, uint16(x), seq)
			ref = append(ref, refEvent{Event{now + d, seq, uint16(x), op}, int(seq), h})
		case 2:
			if len(ref) == 0 {
				continue
			}
			k := int(x) % len(ref)
			q.Cancel(ref[k].h)
			stale = append(stale, ref[k].h)
			ref = append(ref[:k:k], ref[k+1:]...)
		case 3:
			got, ok := q.Next()
			want, wantOK := ref.next()
			if got != want || ok != wantOK {
				t.Fatalf("step %d: Next = %v %v, want %v %v", i, got, ok, want, wantOK)
			}
			if ok {
				now = got.At
			}
			for _, h := range stale {
				q.Cancel(h) // must do nothing, also where the slot is in use again
			}
		}
		if q.Len() != len(ref) {
			t.Fatalf("step %d: Len = %d, want %d", i, q.Len(), len(ref))
		}
	}
	for {
		got, ok := q.Next()
		want, wantOK := ref.next()
		if got != want || ok != wantOK {
			t.Fatalf("at the end: Next = %v %v, want %v %v", got, ok, want, wantOK)
		}
		if !ok {
			return
		}
	}
}

func TestQueueAgainstReference(t *testing.T) {
	r := NewRand(1, 0, Ties)
	for range 300 {
		prog := make([]byte, 2*r.Below(400))
		for i := range prog {
			prog[i] = byte(r.Uint64())
		}
		drive(t, prog)
	}
}

func FuzzQueue(f *testing.F) {
	f.Add([]byte{0, 5, 0, 5, 2, 0, 3, 0, 1, 5, 3, 0})
	f.Fuzz(drive)
}

func TestQueueTakesNoTimeFromThePast(t *testing.T) {
	var q Queue
	q.At(100, 1, 0, 0)
	q.Next()
	q.At(50, 2, 0, 0)
	if ev, _ := q.Next(); ev.At != 100 || ev.Kind != 2 {
		t.Errorf("an event in the past happened at %d as kind %d, want at 100 as kind 2", ev.At, ev.Kind)
	}
}

func TestQueueAllocatesNothingInSteadyState(t *testing.T) {
	var q Queue
	r := NewRand(1, 0, Noise)
	for range 1000 {
		q.At(r.Between(0, Microsecond), 0, 0, 0)
	}
	hold := func() {
		ev, _ := q.Next()
		h := q.At(ev.At+r.Between(1, Microsecond), 0, 0, 0)
		q.Cancel(h)
		q.At(ev.At+r.Between(1, Microsecond), 0, 0, 0)
	}
	hold()
	if n := testing.AllocsPerRun(10000, hold); n != 0 {
		t.Errorf("%v allocations per event, want 0", n)
	}
}

// BenchmarkQueue is the hold model: each event that happens adds another. It
// shows what part of the cost of a simulated event is the queue's.
func BenchmarkQueue(b *testing.B) {
	for _, pending := range []int{64, 1000, 100_000} {
		b.Run(fmt.Sprintf("pending=%d", pending), func(b *testing.B) {
			var q Queue
			r := NewRand(1, 0, Noise)
			for range pending {
				q.At(r.Between(0, Microsecond), 0, 0, 0)
			}
			b.ReportAllocs()
			for b.Loop() {
				ev, _ := q.Next()
				q.At(ev.At+r.Between(1, Microsecond), 0, 0, 0)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mev/s")
		})
	}
}
