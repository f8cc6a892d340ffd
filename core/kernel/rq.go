package kernel

import "schedlab/core/sim"

// noTask is the idle task, where a task is named by its index.
const noTask int32 = -1

// An rq is a CPU's run queue: the fair class, the clock, and what the balancer
// remembers about the CPU.
type rq struct {
	lock     lock
	clock    sim.Time
	curr     int32    // the task that runs; noTask: the idle task
	runnable taskList // the runnable tasks, curr included
	tree     int32    // of the runnable tasks without curr: its root
	minV     int64    // a virtual time near those of all tasks, to measure them from
	load     int64    // summed weight

	offsets int64 // EEVDF: summed offset of the runnable tasks

	next, last int32 // CFS: buddies; noTask: none

	expired bool // curr has used up its slice and others wait

	state stateLine
	scan  scanner
	pelt  rqPelt

	local dsq // of the ext class: the tasks that run here next
	ext   extClock

	wakePending int // wakeups on their way through the call queue

	// What newidle balance goes by.
	avgIdle     sim.Time
	idleStamp   sim.Time // when the CPU last ran out of tasks; 0: it has not
	maxIdleCost sim.Time
	domains     []domainState
	nextBalance sim.Time
	nextDecay   sim.Time
}

// A domainState is what a CPU remembers of one of its scheduling domains.
type domainState struct {
	maxCost  sim.Time // of a newidle pass
	last     sim.Time // the last periodic pass
	interval sim.Time
	failed   int // periodic passes in a row that found a busiest CPU and moved nothing
}

// A group is the sum over one group of CPUs of a domain. A balance pass is
// charged for the walk over the CPUs and reads the sums.
type group struct {
	nr   int // runnable tasks
	idle int // idle CPUs
	over int // CPUs with two runnable tasks or more
}

func (c *cpu) initRQ(k *Kernel) {
	r := &c.rq
	r.curr, r.tree, r.next, r.last = noTask, noTask, noTask, noTask
	r.runnable.first, r.runnable.last = noTask, noTask
	r.lock.holder = -1
	r.lock.line = k.newLine(int(c.id))
	// avg_idle starts at its cap, which is twice the floor of max_idle_balance_cost,
	// and only task wakeups pull it down. How far is unknown: assumed anything from
	// a tenth of the cap up.
	r.maxIdleCost = k.base.MigrationCost
	r.avgIdle = k.initial.Between(2*r.maxIdleCost/10, 2*r.maxIdleCost)
	r.domains = make([]domainState, len(k.m.Domains[c.id]))
	for i, d := range k.m.Domains[c.id] {
		// Earlier passes took up to about half again what one takes now.
		pass := k.cost[CostRQVisit]*sim.Time(len(d.CPUs)) + k.cost[CostGroupVisit]*sim.Time(len(d.Groups))
		r.domains[i] = domainState{
			maxCost:  k.initial.Between(pass, pass*3/2),
			interval: sim.Time(len(d.CPUs)) * sim.Millisecond,
		}
		r.domains[i].last = -k.initial.Between(0, r.domains[i].interval)
		for g := range d.Groups {
			if d.GroupOf[c.id] == int16(g) {
				k.groups[d.ID][g].idle++
			}
		}
	}
	k.idle++
	r.nextBalance = k.initial.Between(0, k.base.Jiffy()*64)
	r.nextDecay = k.initial.Between(0, sim.Second)
}

// nrRunning returns how many tasks are runnable on c.
func (r *rq) nrRunning() int { return r.runnable.n }

// idleCPU tells whether c is idle as the scheduler sees it: nothing runs, is
// queued, or is on its way.
func (c *cpu) idleCPU() bool {
	return c.rq.curr == noTask && c.rq.nrRunning() == 0 && c.rq.wakePending == 0
}

// account keeps the group sums right over a change of c's run queue.
func (k *Kernel) account(c *cpu, change func()) {
	nr, idle := c.rq.nrRunning(), c.idleCPU()
	change()
	dn, dover, didle := c.rq.nrRunning()-nr, b2i(c.rq.nrRunning() >= 2)-b2i(nr >= 2), b2i(c.idleCPU())-b2i(idle)
	if dn == 0 && didle == 0 {
		return
	}
	if dover != 0 || didle != 0 {
		k.settleState()
		k.over += dover
		k.idle += didle
	}
	for _, d := range k.m.Domains[c.id] {
		g := &k.groups[d.ID][d.GroupOf[c.id]]
		g.nr += dn
		g.over += dover
		g.idle += didle
	}
	if dover > 0 {
		k.setOverloaded(true)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (k *Kernel) setOverloaded(v bool) {
	if k.overloaded == v {
		return
	}
	k.settleState()
	k.overloaded = v
	if v {
		k.count(OverloadedSet)
	} else {
		k.count(OverloadedCleared)
	}
}

// setCurr makes task t, or noTask, the one that runs on c.
func (k *Kernel) setCurr(c *cpu, t int32) {
	r := &c.rq
	was := r.curr
	if prev := k.running(r); prev != noTask && k.ext == nil {
		r.tree = k.insert(r.tree, prev)
	}
	k.account(c, func() { r.curr = t })
	if now := k.running(r); now != noTask {
		if k.ext == nil {
			r.tree = k.remove(r.tree, now)
		}
		k.listRemove(&r.runnable, now)
		k.listAdd(&r.runnable, now)
	}
	if busy := t != noTask; busy != (was != noTask) {
		k.coreChanged(c, c, busy)
	}
}

// activate has CPU by put the woken task t on c's run queue, whose lock it holds.
func (k *Kernel) activate(by, c *cpu, t int32, way wakeWay) {
	now := by.t
	if c.rq.idleStamp != 0 {
		// Only a wakeup ends an idle period for avg_idle: EWMA of 1/8, capped.
		d := max(now-c.rq.idleStamp, 0)
		c.rq.avgIdle += (d - c.rq.avgIdle) / 8
		c.rq.avgIdle = min(c.rq.avgIdle, 2*c.rq.maxIdleCost)
		c.rq.idleStamp = 0
		c.rq.idleEnded(k, now)
	}
	if k.ext != nil {
		k.enqueueTaskExt(by, c, t, way)
		return
	}
	k.enqueue(c, t)
}

// enqueue adds a task to c's fair class, at its clock.
func (k *Kernel) enqueue(c *cpu, t int32) {
	k.updateCurr(c)
	tk := &k.tasks[t]
	k.loadEnqueued(c, tk)
	tk.cpu = c.id
	tk.queued = true
	k.place(c, tk)
	k.account(c, func() { k.listAdd(&c.rq.runnable, t) })
	c.rq.load += tk.weight
	if k.base.Policy == EEVDF {
		c.rq.offsets += c.rq.offset(&tk.fairEntity)
	}
	if t != c.rq.curr {
		c.rq.tree = k.insert(c.rq.tree, t)
	}
}

// dequeue takes a task off c's fair class, at its clock.
func (k *Kernel) dequeue(c *cpu, t int32) {
	if k.ext != nil {
		k.dequeueTaskExt(c, t)
		return
	}
	k.updateCurr(c)
	tk := &k.tasks[t]
	k.loadDequeued(c, tk)
	tk.queued = false
	c.rq.clearBuddy(t)
	if t != c.rq.curr {
		c.rq.tree = k.remove(c.rq.tree, t)
	}
	if k.base.Policy == EEVDF {
		tk.lag = c.rq.avgV() - tk.v
		c.rq.offsets -= c.rq.offset(&tk.fairEntity)
	}
	k.account(c, func() { k.listRemove(&c.rq.runnable, t) })
	c.rq.load -= tk.weight
	if k.base.Policy == CFS {
		k.leaveCFS(c, tk)
	}
}

// A lock is a ticket lock: waiters get it in the order of their arrival.
// A critical section that passes no event is charged at once, so a lock can be
// free in the books and still be held until freeAt.
type lock struct {
	holder  int16 // -1: none
	freeAt  sim.Time
	waiters []waiter
	line    line
}

type waiter struct {
	cpu   int16
	depth uint8
}

// acquire takes l for c and returns true, or lets c wait and go on with s, the
// lock held, and returns false.
func (k *Kernel) acquire(c *cpu, l *lock, s step) bool {
	switch {
	case l.holder >= 0:
		l.waiters = append(l.waiters, waiter{c.id, c.depth})
		k.await(c, s, TimeLockWait)
		return false
	case l.freeAt > c.t:
		l.holder = c.id
		k.charge(c, TimeLockWait, l.freeAt-c.t+k.write(&l.line, c.id))
		k.then(c, s)
		return false
	}
	l.holder = c.id
	k.charge(c, TimeLockWait, k.write(&l.line, c.id))
	return true
}

// release gives l up at c's time, to the first waiter if there is one.
func (k *Kernel) release(c *cpu, l *lock) {
	if k.check && l.holder != c.id {
		k.broken("CPU %d releases a lock that CPU %d holds", c.id, l.holder)
	}
	l.holder, l.freeAt = -1, c.t
	if len(l.waiters) == 0 {
		return
	}
	w := l.waiters[0]
	l.waiters = l.waiters[:copy(l.waiters, l.waiters[1:])]
	l.holder = w.cpu
	k.rouse(&k.cpus[w.cpu], w.depth, c.t+k.write(&l.line, w.cpu))
}
