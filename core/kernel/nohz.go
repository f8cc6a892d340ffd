package kernel

import "schedlab/core/sim"

// The balance softirq: each CPU's periodic passes, and nohz idle balance, in which
// one idle CPU makes them for all that have stopped their ticks.

// nohz is what the kernel knows of the CPUs whose tick is stopped.
type nohz struct {
	next        sim.Time // before which nobody is asked to balance for them
	nextBlocked sim.Time // before which their blocked load is not updated
	kicked      bool
}

// wantsKick tells whether the busy CPU c, at its tick, should ask an idle one to
// balance: with two tasks, or with another busy CPU in its cache domain.
func (k *Kernel) wantsKick(c *cpu) bool {
	return c.rq.curr != noTask && !k.nohz.kicked && c.t >= k.nohz.next &&
		(c.rq.nrRunning() >= 2 || k.busyInLLC(c) > 1)
}

// nohzKick asks the first idle CPU with a stopped tick, at most once a jiffy.
func (k *Kernel) nohzKick(c *cpu) {
	if k.now < k.nohz.next { // another CPU was first
		return
	}
	k.nohz.next = k.nextJiffy(c, k.now)
	for i := range k.cpus {
		t := &k.cpus[i]
		if t == c || !t.tick.stopped || !t.idleCPU() {
			continue
		}
		k.count(NohzKicks)
		k.nohz.kicked = true
		if k.push(c, t, call{kind: callNohz, ref: uint32(c.id)}, TimeTick) {
			k.signal(c, t, TimeTick, false)
		}
		return
	}
}

// busyInLLC returns how many CPUs that share c's last-level cache are busy.
func (k *Kernel) busyInLLC(c *cpu) int {
	ds := k.m.Domains[c.id]
	for i := len(ds) - 1; i >= 0; i-- {
		if d := ds[i]; d.LLC {
			n := len(d.CPUs)
			for g := range d.Groups {
				n -= k.groups[d.ID][g].idle
			}
			return n
		}
	}
	return 1
}

// rebalance is a balance softirq under way on a CPU.
type rebalance struct {
	running bool
	nohz    bool
	cpu     int // for which it balances
	level   int
}

// softirqStart runs the balance softirq, with interrupts on, until softirqEnded.
func (k *Kernel) softirqStart(c *cpu) {
	c.soft = rebalance{running: true, nohz: c.softirq&softNohz != 0, cpu: int(c.id)}
	c.softirq = 0
	if c.soft.nohz {
		c.soft.cpu = 0
	}
	k.then(c, stSoftirq)
	k.irqsOn(c)
}

// softirqRun makes the next pass that is due.
func (k *Kernel) softirqRun(c *cpu) {
	s := &c.soft
	for s.cpu < len(k.cpus) {
		dst := &k.cpus[s.cpu]
		if s.level == 0 {
			if s.nohz {
				if dst != c && (!dst.tick.stopped || !dst.idleCPU()) {
					s.cpu++
					continue
				}
				k.pay(c, TimeBalance, CostNohzVisit)
			}
			k.decay(dst, c.t)
			k.updateBlocked(dst, c.t)
			dst.rq.nextBalance = c.t + sim.Second
		}
		for s.level < len(dst.rq.domains) {
			ds := &dst.rq.domains[s.level]
			every := ds.interval
			if !dst.idleCPU() {
				every *= sim.Time(k.base.BusyFactor)
			}
			every = max(every/k.base.Jiffy()*k.base.Jiffy(), k.base.Jiffy())
			if due := ds.last + every; c.t < due {
				dst.rq.nextBalance = min(dst.rq.nextBalance, due)
				s.level++
				continue
			}
			ds.last = c.t
			dst.rq.nextBalance = min(dst.rq.nextBalance, c.t+every)
			if !k.shouldBalance(dst, s.level) {
				break // and not at the levels above either
			}
			k.count(BalancePasses)
			k.passStart(c, dst, s.level, TimeBalance)
			return
		}
		s.level = 0
		if !s.nohz {
			break
		}
		s.cpu++
	}
	k.softirqEnd(c)
}

// shouldBalance tells whether dst is the one CPU of its group that makes the
// periodic passes over the domain: the first idle one, since 6.6 above the threads of a core
// the first whose core is idle; if none is idle, the first.
func (k *Kernel) shouldBalance(dst *cpu, level int) bool {
	d := k.m.Domains[dst.id][level]
	thread := int16(-1)
	cpus := d.Groups[d.GroupOf[dst.id]].CPUs
	for _, x := range cpus {
		if !k.cpus[x].idleCPU() {
			continue
		}
		if k.base.IdleCoreFirst && !d.SMT && !k.coreIdle(x) {
			if thread < 0 {
				thread = x
			}
			continue
		}
		return x == dst.id
	}
	if thread >= 0 {
		return thread == dst.id
	}
	return cpus[0] == dst.id
}

// coreIdle tells whether all threads of x's core are idle.
func (k *Kernel) coreIdle(x int16) bool {
	ds := k.m.Domains[x]
	if len(ds) == 0 || !ds[0].SMT {
		return true
	}
	for _, y := range ds[0].CPUs {
		if !k.cpus[y].idleCPU() {
			return false
		}
	}
	return true
}

// rebalancePassed goes on after a pass. A CPU that balances for others stops as soon
// as it has work of its own.
func (k *Kernel) rebalancePassed(c *cpu) {
	p := &c.pass
	ds := &p.dst.rq.domains[p.level]
	ds.interval = sim.Time(len(k.m.Domains[p.dst.id][p.level].CPUs)) * sim.Millisecond
	if !p.moved && !p.uneven {
		ds.interval *= 2
	}
	c.soft.level++
	if c.soft.nohz && c.needResched && !(k.base.NohzAnyway && c.idleCPU()) {
		k.softirqEnd(c)
		return
	}
	k.then(c, stSoftirq)
}

// softirqEnd ends the softirq once what it was charged with has passed.
func (k *Kernel) softirqEnd(c *cpu) { k.then(c, stSoftirqEnded) }

// softirqEnded goes back to what the softirq was run from.
func (k *Kernel) softirqEnded(c *cpu) {
	c.soft.running = false
	if c.depth > 0 {
		k.irqReturn(c)
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
