package core

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"schedlab/core/stats"
)

const (
	partFormat = 1 // the first byte of a Part's bytes
	partDone   = 1 // bits of its state
	partLimit  = 2
	maxHists   = 16 // of a Part: a histogram takes 8 KB, however few bytes tell of it
)

// AppendBinary appends p to b: one byte of format, then varints, for Parts on
// their way between workers. It fails if p has more histograms than
// UnmarshalBinary takes, or a negative job.
//
// The form is unsigned varints for arm, run, state (bit 0 done, bit 1 limit) and events; signed
// ones for the primary figure and the elapsed time; then, each behind its
// length, the histograms, the counters, the time account (signed varints) and
// the fault's bytes.
func (p *Part) AppendBinary(b []byte) ([]byte, error) {
	if p.Arm < 0 || p.Run < 0 || len(p.Hists) > maxHists {
		return b, fmt.Errorf("a part of run %d of arm %d with %d histograms has no binary form", p.Run, p.Arm, len(p.Hists))
	}
	b = append(b, partFormat)
	b = binary.AppendUvarint(b, uint64(p.Arm))
	b = binary.AppendUvarint(b, uint64(p.Run))
	state := uint64(0)
	if p.Done {
		state |= partDone
	}
	if p.Limit {
		state |= partLimit
	}
	b = binary.AppendUvarint(b, state)
	b = binary.AppendUvarint(b, p.Events)
	b = binary.AppendVarint(b, p.Primary)
	b = binary.AppendVarint(b, p.Elapsed)
	b = binary.AppendUvarint(b, uint64(len(p.Hists)))
	for i := range p.Hists {
		b = p.Hists[i].AppendBinary(b)
	}
	for _, list := range [][]int64{p.Counters, p.Time} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, v := range list {
			b = binary.AppendVarint(b, v)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(p.Fault)))
	return append(b, p.Fault...), nil
}

var errPart = errors.New("not a part of a result: the bytes are damaged or cut short")

// UnmarshalBinary sets p to the Part whose bytes AppendBinary gave. Other bytes
// are an error, which leaves p as it was; they can't make it allocate more than
// a few times their own size and maxHists histograms. p's old slices are not
// reused, since a Result may hold them.
func (p *Part) UnmarshalBinary(b []byte) error {
	if len(b) == 0 || b[0] != partFormat {
		return errPart
	}
	d := decoder{b: b[1:]}
	var q Part
	q.Arm = int(d.uint(math.MaxInt32))
	q.Run = int(d.uint(math.MaxInt32))
	state := d.uint(partDone | partLimit)
	q.Done, q.Limit = state&partDone != 0, state&partLimit != 0
	q.Events = d.uint(math.MaxUint64)
	q.Primary = d.int()
	q.Elapsed = d.int()
	if n := d.uint(maxHists); n > 0 {
		q.Hists = make([]stats.Hist, n)
	}
	for i := range q.Hists {
		d.hist(&q.Hists[i])
	}
	q.Counters = d.ints()
	q.Time = d.ints()
	q.Fault = string(d.rest(d.len()))
	if d.bad || len(d.b) > 0 {
		return errPart
	}
	*p = q
	return nil
}

// A decoder reads numbers from b. Once bad, it gives zeros.
type decoder struct {
	b   []byte
	bad bool
}

// rest drops the first n bytes and returns them; a negative n stands for bytes that
// were no number.
func (d *decoder) rest(n int) []byte {
	if d.bad || n < 0 || n > len(d.b) {
		d.bad, d.b = true, nil
		return nil
	}
	head := d.b[:n]
	d.b = d.b[n:]
	return head
}

// uint reads a number that is at most most.
func (d *decoder) uint(most uint64) uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v > most {
		n = -1
	}
	d.rest(n)
	if d.bad {
		return 0
	}
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		n = -1
	}
	d.rest(n)
	if d.bad {
		return 0
	}
	return v
}

// len reads the length of what takes at least a byte a piece.
func (d *decoder) len() int { return int(d.uint(uint64(len(d.b)))) }

func (d *decoder) ints() []int64 {
	n := d.len()
	if n == 0 {
		return nil
	}
	list := make([]int64, n)
	for i := range list {
		list[i] = d.int()
	}
	return list
}

func (d *decoder) hist(h *stats.Hist) {
	if d.bad {
		return
	}
	rest, err := h.ConsumeBinary(d.b)
	d.b, d.bad = rest, err != nil
}
