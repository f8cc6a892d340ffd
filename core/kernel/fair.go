package kernel

import "schedlab/core/sim"

// The fair class: who runs on a CPU. What its two policies have in common is here, and
// EEVDF as 6.10 and 6.11 have it, without delayed dequeue: a task is eligible if it
// has received no more than its share, and of the eligible ones the earliest
// virtual deadline runs. The other one is in cfs.go.
//
// Virtual times are picoseconds at the weight of nice 0.

// niceWeight is the weight of each nice level from -20 to 19: the well-known
// geometric table, in which a level is worth about 10 % of CPU time.
var niceWeight = [40]int64{
	88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,
	9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586, 1277,
	1024, 820, 655, 526, 423, 335, 272, 215, 172, 137,
	110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
}

const nice0 = 1024

// fairEntity is a task's part in the fair class.
type fairEntity struct {
	weight   int64
	v        int64    // virtual run time
	deadline int64    // virtual
	lag      int64    // virtual time that it was owed when it left the queue
	since    sim.Time // up to where its run time is in v
	started  bool     // it has been on a queue before
	parity   int64    // the deadline until which it runs undisturbed while eligible; 0: none
	treeNode
	listNode

	// For CFS.
	ran   sim.Time // since it was last chosen
	home  int16    // the CPU whose queue it was last on
	slept bool     // it left that to sleep: v is in that queue's time; else, off a queue, it counts from it
}

func (e *fairEntity) virtual(d sim.Time) int64 { return int64(d) * nice0 / e.weight }

// avgV returns the load-weighted mean of the virtual run times, rounded down.
func (r *rq) avgV() int64 {
	if r.load == 0 {
		return r.minV
	}
	q := r.offsets / r.load
	if r.offsets < 0 && r.offsets%r.load != 0 {
		q--
	}
	return r.minV + q
}

// offset is what a task adds to the queue's offsets: virtual time since minV times weight,
// which is 1024 times the real time that it is away from there. While tasks run, minV is
// the mean, so that this is the time that a task is owed or owes: some slices, which place sees to
// when it joins, or as long as another one ran at a stretch. An int64 holds two and a half hours
// of it, summed up over the queue: a thousand tasks that owe nine seconds each.
func (r *rq) offset(e *fairEntity) int64 { return (e.v - r.minV) * e.weight }

// place gives a task that joins c's queue its virtual time: where its lag is what
// it was when it left, within two slices or a tick.
func (k *Kernel) place(c *cpu, tk *task) {
	e := &tk.fairEntity
	if k.base.Policy == CFS {
		k.placeCFS(c, e)
		return
	}
	avg := c.rq.avgV()
	limit := e.virtual(max(2*k.base.BaseSlice, k.base.Jiffy()))
	lag := min(max(e.lag, -limit), limit)
	if c.rq.load > 0 {
		lag += lag * e.weight / c.rq.load
	}
	e.v = avg - lag
	slice := e.virtual(k.base.BaseSlice)
	if !e.started {
		e.started = true
		slice /= 2
	}
	e.deadline = e.v + slice
	e.parity = 0
}

// updateCurr brings the run time of c's task up to its clock. With EEVDF a task that has
// used up its slice while others wait must give way.
func (k *Kernel) updateCurr(c *cpu) {
	r := &c.rq
	if k.ext != nil {
		k.updateCurrExt(r)
		return
	}
	t := k.running(r)
	if t == noTask {
		return
	}
	e := &k.tasks[t].fairEntity
	before := e.v
	if d := r.clock - e.since; d > 0 {
		e.v += e.virtual(d)
		e.ran += d
		e.since = r.clock
	}
	if k.base.Policy == CFS {
		k.updateMinV(r)
		return
	}
	r.offsets += (e.v - before) * e.weight
	// minV only has to stay near the tasks' times and to go forward.
	if m := r.avgV(); m > r.minV {
		r.offsets -= (m - r.minV) * r.load
		r.minV = m
	}
	if e.v >= e.deadline {
		e.deadline = e.v + e.virtual(k.base.BaseSlice)
		e.parity = 0
		r.expired = r.nrRunning() > 1
	}
}

// running returns the task that runs if it is queued, as it is until it goes to sleep. It is not
// in the tree.
func (k *Kernel) running(r *rq) int32 {
	if r.curr == noTask || !k.tasks[r.curr].queued {
		return noTask
	}
	return r.curr
}

// first returns the first of all queued tasks with a virtual time of at most limit; noTask: there is none.
func (k *Kernel) first(r *rq, limit int64) int32 {
	t := k.earliest(r.tree, limit)
	if curr := k.running(r); curr != noTask && k.tasks[curr].v <= limit && (t == noTask || k.before(curr, t)) {
		return curr
	}
	return t
}

// pickFair returns the task that c should run: noTask if it has none.
func (k *Kernel) pickFair(c *cpu) int32 {
	if k.base.Policy == CFS {
		return k.pickCFS(c)
	}
	return k.pickEEVDF(c)
}

// tickPreempts tells whether c's task, whose time is up to date, must give way at a tick.
func (k *Kernel) tickPreempts(c *cpu) bool {
	if k.ext != nil {
		return k.tickPreemptsExt(c)
	}
	if k.base.Policy == CFS {
		return k.tickPreemptsCFS(c)
	}
	return c.rq.expired
}

// pickEEVDF returns the eligible task with the earliest deadline, or the one that runs if
// it may run on.
func (k *Kernel) pickEEVDF(c *cpu) int32 {
	r := &c.rq
	avg := r.avgV()
	if t := k.running(r); t != noTask {
		if e := &k.tasks[t].fairEntity; e.parity == e.deadline && e.v <= avg {
			return t // RUN_TO_PARITY
		}
	}
	best := k.first(r, avg)
	if best == noTask && r.nrRunning() > 0 {
		k.broken("CPU %d has %d runnable tasks and none is eligible", c.id, r.nrRunning())
		best = r.runnable.first
	}
	return best
}

// setNext starts task t's turn on c.
func (k *Kernel) setNext(c *cpu, t int32) {
	e := &k.tasks[t].fairEntity
	e.since, e.ran = c.rq.clock, 0
	e.parity = e.deadline
	c.rq.expired = false
}

// wakePreempts tells whether the task t, just queued on c, should run at once.
func (k *Kernel) wakePreempts(c *cpu, t int32) bool {
	if c.rq.curr == noTask {
		return true
	}
	if k.ext != nil {
		return false // unless it was inserted so
	}
	k.updateCurr(c)
	if k.base.Policy == CFS {
		return k.wakePreemptsCFS(c, t)
	}
	return c.rq.expired || k.pickEEVDF(c) == t
}
