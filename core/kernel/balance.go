package kernel

import (
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// newidle is a walk of newidle balance under way on a CPU.
type newidle struct {
	level  int
	start  sim.Time // of the pass
	spent  sim.Time
	passes int
	pulled bool
}

// newidleBalance looks for tasks on other CPUs before c goes idle, domain by
// domain upwards, as long as the CPU's usual idle time pays for it.
func (k *Kernel) newidleBalance(c *cpu) {
	k.count(NewidleCalls)
	c.nb = newidle{}
	if c.rq.wakePending > 0 {
		k.newidleDone(c)
		return
	}
	c.rq.idleStamp = max(c.rq.clock, 1)
	if !k.overloaded || len(c.rq.domains) == 0 || c.rq.avgIdle < c.rq.domains[0].maxCost {
		k.count(NewidleCheap)
		k.newidleDone(c)
		return
	}
	k.pay(c, TimeNewidle, CostNewidle)
	k.release(c, &c.rq.lock)
	k.then(c, stNewidleLevel)
}

// newidleLevel makes the pass over one domain.
func (k *Kernel) newidleLevel(c *cpu) {
	b := &c.nb
	if b.pulled || b.level == len(c.rq.domains) || c.rq.nrRunning() > 0 || c.rq.wakePending > 0 ||
		c.rq.avgIdle < b.spent+c.rq.domains[b.level].maxCost {
		k.newidleRelock(c)
		return
	}
	b.start = c.t
	b.passes++
	b.pulled = k.loadBalance(c, c, b.level, TimeNewidle) > 0
	k.then(c, stNewidlePassed)
}

func (k *Kernel) newidlePassed(c *cpu) {
	b := &c.nb
	d := c.t - b.start
	s := &c.rq.domains[b.level]
	s.maxCost = max(s.maxCost, d)
	b.spent += d
	b.level++
	k.newidleLevel(c)
}

func (k *Kernel) newidleRelock(c *cpu) {
	b := &c.nb
	if b.passes > 0 {
		k.count(NewidleWalks0 + Counter(min(b.passes, 4)-1))
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
	}
	k.newidleDone(c)
}

func (k *Kernel) newidleDone(c *cpu) {
	next := noTask
	if c.rq.nrRunning() > 0 {
		next = k.pickEEVDF(c)
	}
	k.scheduleTail(c, next)
}

// found is what a balance pass reads of a group.
type found struct {
	group
	weight int
}

// loadBalance is one pass over the domain at this level of CPU dst, made by CPU c,
// which pulls tasks to dst. It returns how many it moved. A pass is charged for
// each run queue and each group in the domain, though it reads the groups' sums.
//
// A pass over the root domain rewrites its overloaded flag from what it sees. When
// none of the busiest CPU's tasks may run on dst the pass is made again without
// that CPU, and the second pass rewrites the flag without it too.
func (k *Kernel) loadBalance(c, dst *cpu, level int, kind TimeKind) (moved int) {
	d := k.m.Domains[dst.id][level]
	root := level == len(k.m.Domains[dst.id])-1
	var without [8]int16 // CPUs left out
	nw := 0
	for {
		k.pay(c, kind, CostPass)
		k.charge(c, kind, k.jitter(sim.Time(len(d.CPUs)-nw)*k.cost[CostRQVisit]+sim.Time(len(d.Groups))*k.cost[CostGroupVisit]))
		busiest := k.findBusiest(d, dst, without[:nw], root)
		if busiest < 0 {
			return 0
		}
		src := k.findBusiestQueue(d, busiest, without[:nw])
		if src < 0 {
			return 0
		}
		var pinned bool
		tries := 1 // passes that failed before the cache stops to matter
		if d.SMT {
			tries = 0
		} else if d.NUMA {
			tries = 2
		}
		ds := &dst.rq.domains[level]
		moved, pinned = k.detachTasks(c, dst, &k.cpus[src], ds.failed > tries, kind)
		if moved > 0 {
			ds.failed = 0
		} else if kind != TimeNewidle {
			ds.failed++
		}
		if !pinned || nw == len(without) {
			return moved
		}
		without[nw] = src
		nw++
		k.count(AllPinnedRedos)
	}
}

// read returns what the pass sees of group g.
func (k *Kernel) readGroup(d *machine.Domain, g int, without []int16) found {
	f := found{k.groups[d.ID][g], len(d.Groups[g].CPUs)}
	for _, x := range without {
		if d.GroupOf[x] == int16(g) {
			n := k.cpus[x].rq.nrRunning()
			f.nr -= n
			f.over -= b2i(n >= 2)
			f.idle -= b2i(k.cpus[x].idleCPU())
			f.weight--
		}
	}
	return f
}

// findBusiest returns the group to pull from, or -1 if the domain is in balance
// for dst.
func (k *Kernel) findBusiest(d *machine.Domain, dst *cpu, without []int16, root bool) int {
	local := int(d.GroupOf[dst.id])
	here := k.readGroup(d, local, without)
	over := here.over
	busiest := -1
	var most found
	for g := range d.Groups {
		if g == local {
			continue
		}
		f := k.readGroup(d, g, without)
		over += f.over
		if f.weight == 0 {
			continue
		}
		// An overloaded group beats one with room; among overloaded ones the
		// fullest, among the others the one with the fewest idle CPUs.
		if busiest < 0 || f.busier(&most) {
			busiest, most = g, f
		}
	}
	if root {
		k.setOverloaded(over > 0)
	}
	if busiest < 0 || most.nr <= 1 {
		return -1
	}
	if most.overloaded() {
		if here.overloaded() && here.nr*most.weight >= most.nr*here.weight {
			return -1
		}
		return busiest
	}
	// Groups of siblings or of whole caches are evened out by tasks, not by load.
	evens := d.Level > 0
	if evens && !here.overloaded() && most.nr > here.nr+1 {
		return busiest
	}
	if !dst.idleCPU() || most.weight > 1 && here.idle <= most.idle+1 {
		return -1
	}
	return busiest
}

func (f *found) overloaded() bool { return f.nr > f.weight }

func (f *found) busier(o *found) bool {
	if f.overloaded() != o.overloaded() {
		return f.overloaded()
	}
	if f.overloaded() {
		return f.nr*o.weight > o.nr*f.weight
	}
	if f.idle != o.idle {
		return f.idle < o.idle
	}
	return f.nr > o.nr
}

// findBusiestQueue returns the CPU of the group with the most tasks, if it has
// one to spare, else -1.
func (k *Kernel) findBusiestQueue(d *machine.Domain, g int, without []int16) int16 {
	busiest, most := int16(-1), 1
	if k.groups[d.ID][g].over == 0 {
		return -1
	}
next:
	for _, x := range d.Groups[g].CPUs {
		if n := k.cpus[x].rq.nrRunning(); n > most {
			for _, w := range without {
				if w == x {
					continue next
				}
			}
			busiest, most = x, n
		}
	}
	return busiest
}

// detachTasks moves a task from src to dst, and tells whether all that could be
// moved are pinned elsewhere. A task with a warm cache stays unless hot ones may go.
func (k *Kernel) detachTasks(c, dst, src *cpu, hot bool, kind TimeKind) (moved int, pinned bool) {
	k.lockBriefly(c, &src.rq.lock, kind)
	pinned = true
	take := noTask
	for _, t := range src.rq.fair {
		k.pay(c, kind, CostDetachCheck)
		tk := &k.tasks[t]
		if !tk.allows(dst.id) {
			continue
		}
		pinned = false
		if t == src.rq.curr || !hot && c.t-tk.ranTill < k.base.MigrationCost {
			continue
		}
		take = t
		break
	}
	if take == noTask {
		return 0, pinned
	}
	k.pay(c, kind, CostMigrate)
	k.dequeue(src, take)
	k.lockBriefly(c, &dst.rq.lock, kind)
	k.enqueue(dst, take)
	k.count(Migrations)
	dst.rq.clock = max(dst.rq.clock, c.t)
	if k.wakePreempts(dst, take) {
		k.reschedCPU(c, dst, kind)
	}
	return 1, false
}

// lockBriefly charges for a lock that is taken and given up within the pass: its
// line, and the wait for a holder whose section ends at a known time.
func (k *Kernel) lockBriefly(c *cpu, l *lock, kind TimeKind) {
	if l.freeAt > c.t {
		k.charge(c, TimeLockWait, l.freeAt-c.t)
	}
	k.charge(c, kind, k.write(&l.line, c.id))
}

// nohz is what the kernel knows of the CPUs whose tick is stopped.
type nohz struct {
	next   sim.Time // before which nobody is asked to balance for them
	kicked bool
}

// nohzKick is the busy CPU's part in nohz idle balance: with two tasks, or with
// another busy CPU in the cache domain, it asks an idle CPU to balance for all
// that have stopped their ticks.
func (k *Kernel) nohzKick(c *cpu) {
	if c.rq.curr == noTask || k.nohz.kicked || c.t < k.nohz.next {
		return
	}
	if c.rq.nrRunning() < 2 && k.busyInLLC(c) < 2 {
		return
	}
	for i := range k.cpus {
		t := &k.cpus[i]
		if t == c || !t.tick.stopped || !t.idleCPU() {
			continue
		}
		k.count(NohzKicks)
		k.nohz.kicked = true
		if k.push(c, t, call{callNohz, uint32(c.id)}, TimeTick) {
			k.signal(c, t, TimeTick, false)
		}
		return
	}
}

// busyInLLC returns how many CPUs that share c's last-level cache are busy, and
// counts no further than to 2.
func (k *Kernel) busyInLLC(c *cpu) int {
	for i := len(k.m.Domains[c.id]) - 1; i >= 0; i-- {
		if d := k.m.Domains[c.id][i]; d.LLC {
			n := 0
			for g := range d.Groups {
				n += len(d.Groups[g].CPUs) - k.groups[d.ID][g].idle
			}
			return n
		}
	}
	return 1
}

// rebalance is a balance softirq under way on a CPU.
type rebalance struct {
	nohz  bool
	cpu   int // for which it balances
	level int
}

// softirqStart runs the balance softirq: for the CPU itself, or for all idle
// CPUs whose ticks are stopped.
func (k *Kernel) softirqStart(c *cpu) {
	c.soft = rebalance{nohz: c.softirq&softNohz != 0, cpu: int(c.id)}
	c.softirq = 0
	if c.soft.nohz {
		c.soft.cpu = 0
		k.nohz.next = k.now + k.base.Jiffy()
	}
	k.then(c, stSoftirq)
}

// softirqRun makes the next pass that is due.
func (k *Kernel) softirqRun(c *cpu) {
	s := &c.soft
	for s.cpu < len(k.cpus) {
		dst := &k.cpus[s.cpu]
		if s.level == 0 && s.nohz {
			if dst != c && (!dst.tick.stopped || !dst.idleCPU()) {
				s.cpu++
				continue
			}
			k.pay(c, TimeBalance, CostNohzVisit)
		}
		if s.level == 0 {
			k.decay(dst, c.t)
			dst.rq.nextBalance = c.t + sim.Second
		}
		for s.level < len(dst.rq.domains) {
			ds := &dst.rq.domains[s.level]
			every := ds.interval
			if !dst.idleCPU() {
				every *= sim.Time(k.base.BusyFactor)
			}
			every = max(every/k.base.Jiffy()*k.base.Jiffy(), k.base.Jiffy())
			due := ds.last + every
			if c.t >= due {
				ds.last = c.t
				due = c.t + every
				k.count(BalancePasses)
				ds.balanced(k.loadBalance(c, dst, s.level, TimeBalance) == 0, len(k.m.Domains[dst.id][s.level].CPUs))
				dst.rq.nextBalance = min(dst.rq.nextBalance, due)
				s.level++
				k.then(c, stSoftirqPassed)
				return
			}
			dst.rq.nextBalance = min(dst.rq.nextBalance, due)
			s.level++
		}
		s.level = 0
		if !s.nohz {
			break
		}
		s.cpu++
	}
	k.softirqEnd(c)
}

// balanced sets the interval of the next periodic pass over a domain: its weight in
// ms, doubled after a pass that moved nothing.
func (d *domainState) balanced(idle bool, weight int) {
	d.interval = sim.Time(weight) * sim.Millisecond
	if idle {
		d.interval *= 2
	}
}

// softirqPassed goes on after a pass; a CPU that balances for others stops as soon
// as it has work of its own.
func (k *Kernel) softirqPassed(c *cpu) {
	if c.soft.nohz && c.needResched {
		k.softirqEnd(c)
		return
	}
	k.softirqRun(c)
}

func (k *Kernel) softirqEnd(c *cpu) {
	if c.depth == 1 {
		k.then(c, stIRQReturn)
		return
	}
	k.idleFlushed(c)
}

// decay lets the remembered costs of newidle passes shrink, once a second.
func (k *Kernel) decay(c *cpu, now sim.Time) {
	if now < c.rq.nextDecay {
		return
	}
	c.rq.nextDecay = now + sim.Second
	sum := sim.Time(0)
	for i := range c.rq.domains {
		d := &c.rq.domains[i]
		d.maxCost = d.maxCost * 253 / 256
		sum += d.maxCost
	}
	c.rq.maxIdleCost = max(k.base.MigrationCost, sum)
}
