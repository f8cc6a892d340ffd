package core

import (
	"bytes"
	"math"
	"reflect"
	"runtime"
	"testing"

	"schedlab/core/scenario"
	"schedlab/core/stats"
)

// partsOf returns parts to encode: of a simulation, and odd ones.
func partsOf(t testing.TB) []Part {
	s, problems := scenario.Parse("?numipi=300&runs=1&bg=quiet")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var parts []Part
	if _, err := Run(s, func(p *Part) bool { parts = append(parts, *p); return true }); err != nil {
		t.Fatal(err)
	}
	var h stats.Hist
	h.Add(math.MaxInt64)
	return append(parts,
		Part{},
		Part{Job: Job{7, 999}, Fault: "task 7 is on two run queues: \x00é"},
		Part{
			Job: Job{math.MaxInt32, math.MaxInt32}, Done: true, Events: math.MaxUint64, Primary: math.MinInt64, Elapsed: math.MaxInt64,
			Hists: make([]stats.Hist, maxHists), Counters: []int64{math.MinInt64, 0, -1}, Time: []int64{math.MaxInt64},
		},
		Part{Hists: []stats.Hist{{}, h}, Counters: make([]int64, 300)},
	)
}

// same tells whether two parts are the same but for room and for nil slices.
func same(a, b *Part) bool {
	bytesOf := func(p *Part) []byte { b, _ := p.AppendBinary(nil); return b }
	x, y := *a, *b
	x.Hists, y.Hists = nil, nil
	if len(a.Hists) != len(b.Hists) || !bytes.Equal(bytesOf(a), bytesOf(b)) {
		return false
	}
	for i := range a.Hists {
		h, k := a.Hists[i], b.Hists[i]
		if len(h.Bins) == 0 && len(k.Bins) == 0 {
			h.Bins, k.Bins = nil, nil
		}
		if !reflect.DeepEqual(h, k) {
			return false
		}
	}
	return reflect.DeepEqual(x, y)
}

func TestPartBinary(t *testing.T) {
	for i, p := range partsOf(t) {
		b, err := p.AppendBinary([]byte("before"))
		if err != nil || !bytes.HasPrefix(b, []byte("before")) {
			t.Fatalf("part %d: %v", i, err)
		}
		b = b[len("before"):]
		q := Part{Fault: "old"}
		if err := q.UnmarshalBinary(b); err != nil || !same(&p, &q) {
			t.Errorf("part %d: %+v became %+v, %v", i, p, q, err)
		}
		for n := range b { // cut short
			if q.UnmarshalBinary(b[:n:n]) == nil {
				t.Errorf("part %d: its first %d of %d bytes are one too", i, n, len(b))
			}
		}
		if !same(&p, &q) {
			t.Errorf("part %d: bad bytes changed it to %+v", i, q)
		}
		if q.UnmarshalBinary(append(b, 0)) == nil {
			t.Errorf("part %d: bytes after it go unnoticed", i)
		}
	}
}

// TestPartBinaryUnfit: what can't be read again is not written.
func TestPartBinaryUnfit(t *testing.T) {
	for _, p := range []Part{{Job: Job{Arm: -1}}, {Job: Job{Run: -1}}, {Hists: make([]stats.Hist, maxHists+1)}} {
		if b, err := p.AppendBinary(nil); err == nil || b != nil {
			t.Errorf("%+v: %x, %v", p, b, err)
		}
	}
	b, _ := (&Part{}).AppendBinary(nil)
	b[0]++
	if new(Part).UnmarshalBinary(b) == nil {
		t.Error("another format goes unnoticed")
	}
}

// TestPartBinarySmall: hostile lengths allocate nothing to speak of.
func TestPartBinarySmall(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}
	head := []byte{partFormat, 0, 0, 0, 0, 0, 0}
	for _, b := range [][]byte{
		append(bytes.Clone(head), huge...),
		append(append(bytes.Clone(head), 0), huge...),
		append(append(bytes.Clone(head), 0, 0, 0), huge...),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := new(Part).UnmarshalBinary(b)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; err == nil || n > 1<<20 {
			t.Errorf("%x: %v, %d bytes allocated", b, err, n)
		}
	}
}

func FuzzPartBinary(f *testing.F) {
	for _, p := range partsOf(f) {
		b, _ := p.AppendBinary(nil)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var p, again Part
		if p.UnmarshalBinary(b) != nil {
			return
		}
		c, err := p.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalBinary(c); err != nil || !same(&p, &again) {
			t.Fatalf("%+v became %+v, %v", p, again, err)
		}
	})
}
