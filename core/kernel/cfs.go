package kernel

import (
	"math"

	"schedlab/core/sim"
)

// CFS, as 5.18 and 6.1 have it: the task that has run least runs, in virtual time, which
// goes by faster the less a task weighs. A queue's own virtual time, minV, follows the
// least of its tasks and never goes back; a task that has slept is placed a little
// before it. Two buddies come first as long as that is not too unfair: the task
// that has just preempted another one at its wakeup, and, on a crowded queue, that other one.

// crowded is how many tasks a period is for: with more it is stretched.
const crowded = 8

// placeCFS gives a task that joins c's queue its virtual time.
func (k *Kernel) placeCFS(c *cpu, e *fairEntity) {
	minV := c.rq.minV
	switch {
	case !e.started:
		e.started = true
		e.v = minV + e.virtual(k.sliceCFS(c, e, 1)) // a new task waits for its turn
	case !e.slept: // it was moved, its time counted from the queue's
		e.v += minV
	default:
		if e.home != c.id {
			e.v += minV - k.cpus[e.home].rq.minV
		}
		e.v = max(e.v, minV-int64(k.base.CFS.Latency/2))
	}
	e.home, e.slept = c.id, false
}

// leaveCFS notes where task tk, which leaves c's queue, stands, and brings the queue's time forward.
func (k *Kernel) leaveCFS(c *cpu, tk *task) {
	if tk.slept = tk.state != taskRunning; !tk.slept {
		tk.v -= c.rq.minV
	}
	k.updateMinV(&c.rq)
}

// sliceCFS is how long a task may run at a stretch, with more tasks joining c's queue: its
// share of the period. A new task on an idle CPU counts the one that made it.
func (k *Kernel) sliceCFS(c *cpu, e *fairEntity, more int) sim.Time {
	t := &k.base.CFS
	nr, load := c.rq.nrRunning()+more, c.rq.load+int64(more)*e.weight
	if c.rq.nrRunning() == 0 {
		nr, load = nr+1, load+nice0
	}
	period := t.Latency
	if nr > crowded {
		period = sim.Time(nr) * t.MinGranularity
	}
	return max(period*sim.Time(e.weight)/sim.Time(load), t.MinGranularity)
}

// updateMinV brings the queue's virtual time forward.
func (k *Kernel) updateMinV(r *rq) {
	least := int64(math.MaxInt64)
	if r.tree != noTask {
		least = k.tasks[r.tree].least
	}
	if t := k.running(r); t != noTask {
		least = min(least, k.tasks[t].v)
	}
	if least < math.MaxInt64 {
		r.minV = max(r.minV, least)
	}
}

// behind tells whether a has run so much more than b that b, waking up, preempts it.
func (k *Kernel) behind(a, b int32) bool {
	e := &k.tasks[b].fairEntity
	return k.tasks[a].v-e.v > e.virtual(k.base.CFS.WakeupGranularity)
}

// pickCFS returns the task that c should run: noTask if it has none.
func (k *Kernel) pickCFS(c *cpu) int32 {
	r := &c.rq
	left := k.first(r, math.MaxInt64)
	if left == noTask {
		return noTask
	}
	pick := left
	switch {
	case r.next != noTask && !k.behind(r.next, left):
		pick = r.next
	case r.last != noTask && !k.behind(r.last, left):
		pick = r.last
	}
	r.clearBuddy(pick)
	return pick
}

// wakePreemptsCFS tells whether task t, just queued on c, preempts the one that runs, and
// makes buddies of the two.
func (k *Kernel) wakePreemptsCFS(c *cpu, t int32) bool {
	// The first one to preempt stays the buddy.
	if c.needResched || !k.tasks[c.rq.curr].queued || !k.behind(c.rq.curr, t) {
		return false
	}
	c.rq.next = t
	if c.rq.nrRunning() >= crowded {
		c.rq.last = c.rq.curr
	}
	return true
}

// tickPreemptsCFS tells whether c's task has had its slice, or is far ahead of another one.
func (k *Kernel) tickPreemptsCFS(c *cpu) bool {
	r := &c.rq
	if k.running(r) == noTask || r.nrRunning() < 2 {
		return false
	}
	e := &k.tasks[r.curr].fairEntity
	slice := k.sliceCFS(c, e, 0)
	if e.ran > slice {
		r.clearBuddy(r.curr)
		return true
	}
	if e.ran < k.base.CFS.MinGranularity {
		return false
	}
	return e.v-k.tasks[r.tree].least > int64(slice)
}

// clearBuddy forgets that t is a buddy.
func (r *rq) clearBuddy(t int32) {
	if r.next == t {
		r.next = noTask
	}
	if r.last == t {
		r.last = noTask
	}
}
