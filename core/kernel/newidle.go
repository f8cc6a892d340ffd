package kernel

import "schedlab/core/sim"

// newidle is a walk of newidle balance under way on a CPU.
type newidle struct {
	level  int
	start  sim.Time // of the pass; of the first one, of the walk
	spent  sim.Time
	passes int
}

// newidleBalance looks for tasks on other CPUs before c goes idle, domain by
// domain upwards, as long as the CPU's usual idle time pays for it.
func (k *Kernel) newidleBalance(c *cpu) {
	k.count(NewidleCalls)
	c.nb = newidle{start: c.t}
	if c.rq.wakePending > 0 {
		k.newidleDone(c)
		return
	}
	// Every call restarts the idle time that the next task wakeup will record.
	c.rq.idleStamp = max(c.rq.clock, 1)
	if !k.overloaded || len(c.rq.domains) == 0 || c.rq.avgIdle < c.rq.domains[0].maxCost {
		k.count(NewidleCheap)
		k.blockedKick(c)
		k.newidleDone(c)
		return
	}
	k.pay(c, TimeNewidle, CostNewidle)
	k.updateBlocked(c, c.t)
	k.release(c, &c.rq.lock)
	k.then(c, stNewidleLevel)
}

// newidleLevel makes the pass over the next domain, if there is time for it.
func (k *Kernel) newidleLevel(c *cpu) {
	b := &c.nb
	if b.level == len(c.rq.domains) || c.rq.nrRunning() > 0 || c.rq.wakePending > 0 ||
		c.rq.avgIdle < b.spent+c.rq.domains[b.level].maxCost {
		k.newidleRelock(c)
		return
	}
	k.passStart(c, c, b.level, TimeNewidle)
}

// newidlePassed notes what the pass has cost.
func (k *Kernel) newidlePassed(c *cpu) {
	b := &c.nb
	d := c.t - b.start
	s := &c.rq.domains[b.level]
	s.maxCost = max(s.maxCost, d)
	b.spent += d
	b.start = c.t
	b.passes++
	b.level++
	if c.t > k.now { // a task was looked at or moved
		k.then(c, stNewidleLevel)
		return
	}
	k.newidleLevel(c)
}

func (k *Kernel) newidleRelock(c *cpu) {
	b := &c.nb
	if b.passes > 0 {
		k.count(NewidleWalks1 + Counter(min(b.passes, 4)-1))
		if b.passes == len(c.rq.domains) {
			k.count(NewidleRoot)
		}
	}
	if k.acquire(c, &c.rq.lock, stNewidleLocked) {
		k.newidleLocked(c)
	}
}

func (k *Kernel) newidleLocked(c *cpu) {
	c.rq.maxIdleCost = max(c.rq.maxIdleCost, c.nb.spent)
	if c.rq.nrRunning() > 0 {
		c.rq.idleStamp = 0
	} else {
		k.blockedKick(c)
	}
	k.newidleDone(c)
}

func (k *Kernel) newidleDone(c *cpu) {
	next := noTask
	if c.rq.nrRunning() > 0 {
		next = k.pickFair(c)
	}
	k.scheduleTail(c, next)
}

// blockedKick lets c, when it is back in its idle loop, update the blocked load of all
// CPUs that have stopped their ticks, if that is due and c's idle times pay for it.
func (k *Kernel) blockedKick(c *cpu) {
	if c.rq.avgIdle >= k.base.MigrationCost && c.t >= k.nohz.nextBlocked {
		c.blocked = true
	}
}

// blockedUpdate is that update, at the top of the idle loop.
func (k *Kernel) blockedUpdate(c *cpu) {
	c.blocked = false
	if c.needResched || c.t < k.nohz.nextBlocked {
		return
	}
	k.nohz.nextBlocked = c.t + blockedPeriod
	n := sim.Time(0)
	for i := range k.cpus {
		if t := &k.cpus[i]; t != c && t.tick.stopped && t.idleCPU() {
			n++
			k.updateBlocked(t, c.t)
		}
	}
	k.charge(c, TimeBalance, k.jitter(c, n*k.cost[CostNohzVisit]))
}

// blockedPeriod is the time between updates of blocked load: PELT's half-life, 32 ms.
const blockedPeriod = 32 * sim.Millisecond
