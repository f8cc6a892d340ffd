package sim

import "math/bits"

// An Event is something that happens to a CPU at a time. What Kind and Arg
// mean is the owner's business.
type Event struct {
	At   Time
	Arg  uint32
	CPU  uint16
	Kind uint8
}

// A Handle names a pending event, to cancel it. The zero Handle names none.
type Handle struct{ slot, gen uint32 }

// A Queue yields events in the order of (time, sequence): the earliest first,
// and of those at the same time the one that was added first.
//
// It is a radix heap. Time only moves forward, so an event is kept in the
// bucket numbered by the highest bit in which its time differs from the last
// time that was handed out; the lowest bucket in use holds the earliest event.
// When that bucket holds several, they move to lower buckets, in order. A
// bucket is a list that is added to at its end, so equal times, which always
// share a bucket, keep their sequence without storing it. An event moves at
// most once a bit, and in a scheduler's mix of near and far times far less.
//
// Events are values in one slab: in steady state nothing is allocated. The
// zero Queue is ready to use.
type Queue struct {
	nodes []node // the first `buckets` are the buckets' heads, in rings
	free  uint32 // a chain of unused nodes by next; 0: none
	used  uint64 // bit b: bucket b is not empty
	last  Time
	n     int
}

type node struct {
	ev         Event
	next, prev uint32
	gen        uint32 // even: free; odd: pending
}

const buckets = 64 // times are not negative, so they differ in 63 bits

func (q *Queue) init() {
	q.nodes = make([]node, buckets, 4*buckets)
	for b := range q.nodes {
		q.nodes[b].next, q.nodes[b].prev = uint32(b), uint32(b)
	}
}

// bucket returns the bucket of a pending event at time t. It stays the right
// one while last moves, for last changes only in bits below every used bucket.
func (q *Queue) bucket(t Time) uint32 {
	return uint32(bits.Len64(uint64(t^q.last))) & (buckets - 1)
}

// Len returns how many events are pending.
func (q *Queue) Len() int { return q.n }

// At adds an event. A time that has passed counts as the time of the last event
// handed out: nothing can happen in the past.
func (q *Queue) At(t Time, kind uint8, cpu uint16, arg uint32) Handle {
	if q.nodes == nil {
		q.init()
	}
	if t < q.last {
		t = q.last
	}
	i := q.free
	if i == 0 {
		i = uint32(len(q.nodes))
		q.nodes = append(q.nodes, node{})
	} else {
		q.free = q.nodes[i].next
	}
	nd := &q.nodes[i]
	nd.ev = Event{t, arg, cpu, kind}
	nd.gen++
	q.link(i, q.bucket(t))
	q.n++
	return Handle{i, nd.gen}
}

func (q *Queue) link(i, b uint32) {
	head := &q.nodes[b]
	nd := &q.nodes[i]
	nd.next, nd.prev = b, head.prev
	q.nodes[head.prev].next = i
	head.prev = i
	q.used |= 1 << b
}

func (q *Queue) unlink(i uint32, b uint32) {
	nd := &q.nodes[i]
	q.nodes[nd.prev].next = nd.next
	q.nodes[nd.next].prev = nd.prev
	if q.nodes[b].next == b {
		q.used &^= 1 << b
	}
}

func (q *Queue) release(i uint32) {
	nd := &q.nodes[i]
	nd.gen++
	nd.next = q.free
	q.free = i
	q.n--
}

// Cancel takes a pending event out of the queue. A handle whose event has
// happened or was cancelled names nothing any more, and Cancel does nothing.
func (q *Queue) Cancel(h Handle) {
	if h.slot == 0 || q.nodes[h.slot].gen != h.gen {
		return
	}
	q.unlink(h.slot, q.bucket(q.nodes[h.slot].ev.At))
	q.release(h.slot)
}

// Next takes out the earliest event. It returns false if there is none.
func (q *Queue) Next() (Event, bool) {
	if q.used == 0 {
		return Event{}, false
	}
	b := uint32(bits.TrailingZeros64(q.used))
	i := q.nodes[b].next
	if b != 0 && q.nodes[b].prev != i {
		q.spread(b)
		b = 0
		i = q.nodes[0].next
	}
	ev := q.nodes[i].ev
	q.unlink(i, b)
	q.release(i)
	q.last = ev.At
	return ev, true
}

// spread moves the events of bucket b to lower buckets, the earliest to bucket 0.
func (q *Queue) spread(b uint32) {
	first := q.nodes[b].next
	least := q.nodes[first].ev.At
	for i := q.nodes[first].next; i != b; i = q.nodes[i].next {
		least = min(least, q.nodes[i].ev.At)
	}
	q.last = least
	q.nodes[b].next, q.nodes[b].prev = b, b
	q.used &^= 1 << b
	for i := first; i != b; {
		next := q.nodes[i].next
		q.link(i, q.bucket(q.nodes[i].ev.At))
		i = next
	}
}
