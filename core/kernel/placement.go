package kernel

import (
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// Which idle CPU a waking task gets. The CPU that the wakeup aims at comes first, then the
// one the task was on, then one that it used before, if they share the last-level cache
// with that CPU; then that cache's CPUs are searched. What is searched, in which order and
// how far differs by generation (IdleSearch).
//
// A search sees the machine as it was when the search began, and is charged for each
// look. What other CPUs do while it lasts it does not see: so two wakers can choose the same
// CPU, as they can in the kernel, where only what was looked at earlier can have changed.

// near is what the search needs to know of the surroundings of a CPU.
type near struct {
	llc     *llc    // nil: no other CPU shares the last-level cache
	pos     int     // of the CPU in llc.cpus
	threads []int16 // of the core
	cluster []int16 // of the CPU's cluster; nil: it is in none
	inside  int     // of the CPU in cluster
}

// An llc is what the CPUs of a last-level cache have in common.
type llc struct {
	domain    *machine.Domain
	cpus      []int16
	idleCores bool // some core was seen idle since a search has found none
	idleScan  int  // how many CPUs a search looks at; SIS_UTIL
}

// A scanner is what a CPU remembers of its searches; SIS_PROP.
type scanner struct {
	cost     sim.Time // avg_scan_cost
	idle     sim.Time // wake_avg_idle: what is left of avg_idle since the last wakeup of a task here
	idleFrom int64    // wake_stamp: the jiffy up to which idle is aged
}

// initPlacement finds the surroundings of each CPU. On a machine at rest all cores are idle.
func (k *Kernel) initPlacement() {
	n := len(k.m.CPUs)
	ids := make([]int16, n)
	cores := 0
	k.near = make([]near, n)
	byDomain := make([]*llc, len(k.m.All))
	for i := range k.near {
		a := &k.near[i]
		ids[i] = int16(i)
		a.threads = ids[i : i+1]
		cores = max(cores, int(k.m.CPUs[i].Core)+1)
		var top *machine.Domain
		for _, d := range k.m.Domains[i] {
			if d.SMT {
				a.threads = d.CPUs
				k.smt = true
			}
			if d.LLC {
				top = d
			}
		}
		if top == nil {
			continue
		}
		if byDomain[top.ID] == nil {
			byDomain[top.ID] = &llc{domain: top, cpus: top.CPUs, idleCores: true, idleScan: len(top.CPUs)}
		}
		a.llc, a.pos = byDomain[top.ID], index(top.CPUs, int16(i))
		if g := top.Groups[top.GroupOf[i]]; g.Child != nil && !g.Child.SMT {
			a.cluster, a.inside = g.CPUs, index(g.CPUs, int16(i))
			k.clusters = true
		}
	}
	k.seen = make([]uint32, cores)
	k.affine = make([]bool, len(k.m.All))
	for _, d := range k.m.All {
		k.affine[d.ID] = k.m.Affine(d)
	}
	words := (n + 63) / 64
	bits := make([]uint64, n*words)
	hidden := k.initial.Fork(uint32(n))
	for i := range k.cpus {
		r := &k.cpus[i].rq
		r.state = stateLine{line: k.newLine(i), readers: bits[i*words : (i+1)*words]}
		// What searches have cost so far is not known: up to what one through the
		// whole cache would cost now.
		r.scan.idle = r.avgIdle
		if l := k.near[i].llc; l != nil {
			all := sim.Time(len(l.cpus)) * k.cost[CostIdleCheck]
			r.scan.cost = hidden.Between(all/8, all)
		}
	}
}

func index(cpus []int16, cpu int16) int {
	for i, x := range cpus {
		if x == cpu {
			return i
		}
	}
	return -1
}

// sharesCache tells whether two CPUs have the same last-level cache.
func (k *Kernel) sharesCache(a, b int16) bool { return k.m.CPUs[a].LLC == k.m.CPUs[b].LLC }

// sharesCluster tells whether two CPUs that share the last-level cache are in one cluster,
// or in none.
func (k *Kernel) sharesCluster(a, b int16) bool {
	x, y := k.near[a].cluster, k.near[b].cluster
	if len(x) == 0 || len(y) == 0 {
		return len(x) == len(y)
	}
	return x[0] == y[0]
}

// looksIdle is an idle check of CPU x by c.
func (k *Kernel) looksIdle(c *cpu, x int16) bool {
	k.count(IdleChecks)
	k.pay(c, TimeWakeup, CostIdleCheck)
	d := k.readState(&k.cpus[x].rq.state, c.id)
	if miss := d > k.m.Line[machine.SameCPU].Mid; miss && k.scan.on {
		// A search runs ahead of its loads: they are under way together.
		if k.scan.missed {
			d = min(d, k.jitter(c, k.cost[CostIdleMiss]))
		}
		k.scan.missed = true
	}
	k.charge(c, TimeWakeup, d)
	return k.cpus[x].idleCPU()
}

// selectIdleSibling returns the CPU for task t, which was on prev and which the wakeup
// aims at target: an idle one that shares target's cache if one is found, else target.
func (k *Kernel) selectIdleSibling(c *cpu, t *task, prev, target int16) int16 {
	gen := k.base.IdleSearch
	if k.looksIdle(c, target) {
		return target
	}
	// Where there are clusters, an idle CPU outside of target's is second choice.
	spare, other := int16(-1), int16(-1)
	clusters := gen >= SearchCluster && k.clusters
	if prev != target && k.sharesCache(prev, target) && k.looksIdle(c, prev) {
		if !clusters || k.sharesCluster(prev, target) {
			return prev
		}
		spare = prev
	}
	if gen >= SearchOnePass && prev == c.id && c.inTask() && c.rq.curr != noTask && c.rq.nrRunning() <= 1 {
		// A kernel thread of one CPU may have its work done on that CPU.
		if w := &k.tasks[c.rq.curr]; w.spec.Kthread && w.pinned {
			return prev
		}
	}
	recent := t.recent
	if gen >= SearchOnePass {
		t.recent = prev
	}
	if recent != prev && recent != target && k.sharesCache(recent, target) && k.looksIdle(c, recent) && t.allows(recent) {
		if !clusters || k.sharesCluster(recent, target) {
			t.recent = prev
			return recent
		}
		other = recent
	}
	l := k.near[target].llc
	if l == nil {
		return target
	}
	k.count(IdleSearches)
	k.scan.on, k.scan.missed = true, false
	x := k.searchLLC(c, t, l, prev, target)
	k.scan.on = false
	switch {
	case x >= 0:
		k.count(IdleSearchesFound)
		return x
	case spare >= 0:
		return spare
	case other >= 0:
		return other
	}
	return target
}

// searchLLC returns an idle CPU of l for task t, or -1.
func (k *Kernel) searchLLC(c *cpu, t *task, l *llc, prev, target int16) int16 {
	if k.base.IdleSearch == SearchPasses {
		x := k.selectIdleCore(c, t, l, target)
		if x < 0 {
			x = k.selectIdleCPUProp(c, t, l, target)
		}
		if x < 0 {
			x = k.selectIdleSMT(c, t, target)
		}
		return x
	}
	cores := k.smt && l.idleCores
	if k.smt && !cores && k.sharesCache(prev, target) {
		if x := k.selectIdleSMT(c, t, prev); x >= 0 {
			return x
		}
	}
	if k.base.IdleSearch >= SearchUtil && l.idleScan == 0 {
		k.pay(c, TimeWakeup, CostIdleMask)
		return -1
	}
	if cores {
		start := c.t
		x := k.selectIdleCores(c, t, l, target)
		k.sampleIdleCore(c, start)
		return x
	}
	return k.selectIdleCPU(c, t, l, target)
}

// selectIdleSMT looks for an idle thread of x's core.
func (k *Kernel) selectIdleSMT(c *cpu, t *task, x int16) int16 {
	if !k.smt {
		return -1
	}
	for _, y := range k.near[x].threads {
		if y == x && k.base.IdleSearch >= SearchCluster || !t.allows(y) { // since 6.4 not at x again
			continue
		}
		if k.looksIdle(c, y) {
			return y
		}
	}
	return -1
}

// selectIdleCore is 5.4's search for a core whose threads are all idle.
func (k *Kernel) selectIdleCore(c *cpu, t *task, l *llc, target int16) int16 {
	if !k.smt || !l.idleCores {
		return -1
	}
	start := c.t
	k.pay(c, TimeWakeup, CostIdleMask)
	k.unsee()
	found := int16(-1)
	for i := range l.cpus {
		x := l.from(k.near[target].pos + i)
		if !t.allows(x) || k.see(x) {
			continue
		}
		if k.coreLooksIdle(c, t, x, nil) {
			found = x
			break
		}
	}
	if found < 0 {
		l.idleCores = false
	}
	k.sampleIdleCore(c, start)
	return found
}

// selectIdleCores is the pass since 5.12 when there are idle cores: it looks for one, and
// notes the first idle CPU on its way.
func (k *Kernel) selectIdleCores(c *cpu, t *task, l *llc, target int16) int16 {
	k.pay(c, TimeWakeup, CostIdleMask)
	k.unsee()
	idle := int16(-1)
	if cl := k.near[target].cluster; k.base.IdleSearch >= SearchCluster && cl != nil {
		for i := range cl {
			x := cl[(k.near[target].inside+1+i)%len(cl)]
			if t.allows(x) && !k.see(x) && k.coreLooksIdle(c, t, x, &idle) {
				return x
			}
		}
	}
	for i := range l.cpus {
		x := l.from(k.near[target].pos + 1 + i)
		if t.allows(x) && !k.see(x) && k.coreLooksIdle(c, t, x, &idle) {
			return x
		}
	}
	l.idleCores = false
	return idle
}

// coreLooksIdle checks the threads of x's core. Before the patch it checks all of them and
// strikes each out of the mask of those to be looked at; with it, it stops at the first busy
// one and strikes out the core. Who also wants any idle CPU that t may use goes on until
// one is found.
func (k *Kernel) coreLooksIdle(c *cpu, t *task, x int16, idle *int16) bool {
	k.count(IdleCoresScanned)
	all := true
	for _, y := range k.near[x].threads {
		if !k.base.IdleCoreExit {
			k.pay(c, TimeWakeup, CostClearBit)
		}
		if !k.looksIdle(c, y) {
			all = false
			if k.base.IdleCoreExit && (idle == nil || *idle >= 0) {
				break
			}
			continue
		}
		if idle != nil && *idle < 0 && t.allows(y) {
			*idle = y
		}
	}
	if k.base.IdleCoreExit {
		k.pay(c, TimeWakeup, CostAndNot)
	}
	return all
}

// unsee and see let a search look at each core once: see tells whether it has been at x's,
// and notes that it is.
func (k *Kernel) unsee() {
	if k.search++; k.search == 0 {
		clear(k.seen)
		k.search = 1
	}
}

func (k *Kernel) see(x int16) bool {
	s := &k.seen[k.m.CPUs[x].Core]
	if *s == k.search {
		return true
	}
	*s = k.search
	return false
}

// from returns the i-th CPU of the cache, beginning anew after the last one.
func (l *llc) from(i int) int16 {
	if i >= len(l.cpus) {
		i -= len(l.cpus)
	}
	return l.cpus[i]
}

// selectIdleCPU is the pass since 5.12 when there is no idle core: it looks at as many of
// the CPUs that t may use as SIS_PROP or SIS_UTIL allow.
func (k *Kernel) selectIdleCPU(c *cpu, t *task, l *llc, target int16) int16 {
	k.pay(c, TimeWakeup, CostIdleMask)
	if k.base.IdleSearch == SearchOnePass {
		return k.selectIdleCPUProp(c, t, l, target)
	}
	nr := l.idleScan
	if cl := k.near[target].cluster; k.base.IdleSearch >= SearchCluster && cl != nil {
		for i := range cl {
			x := cl[(k.near[target].inside+1+i)%len(cl)]
			if !t.allows(x) {
				continue
			}
			if nr--; nr < 0 {
				return -1
			}
			if k.looksIdle(c, x) {
				return x
			}
		}
	}
	for i := range l.cpus {
		x := l.from(k.near[target].pos + 1 + i)
		if !t.allows(x) || k.base.IdleSearch >= SearchCluster && k.near[target].cluster != nil && k.sharesCluster(x, target) {
			continue
		}
		if nr--; nr < 0 {
			return -1
		}
		if k.looksIdle(c, x) {
			return x
		}
	}
	return -1
}

// selectIdleCPUProp is the pass under SIS_PROP: what searches usually cost is to be in
// proportion to how long the waker's CPU usually idles. A pass that gives up at its limit
// leaves no trace in that, one that ends does.
func (k *Kernel) selectIdleCPUProp(c *cpu, t *task, l *llc, target int16) int16 {
	s := &c.rq.scan
	old := k.base.IdleSearch == SearchPasses
	nr := k.scanLimit(c, l)
	k.pay(c, TimeWakeup, CostClock)
	start, found := c.t, int16(-1)
	first := k.near[target].pos
	if !old {
		first++
	}
	for i := range l.cpus {
		x := l.from(first + i)
		if !old && !t.allows(x) { // 5.4 counts those too
			continue
		}
		if nr--; nr == 0 {
			return -1
		}
		if t.allows(x) && k.looksIdle(c, x) {
			found = x
			break
		}
	}
	k.pay(c, TimeWakeup, CostClock)
	d := c.t - start
	if !old {
		s.idle -= min(s.idle, d)
	}
	s.cost += (d - s.cost) / 8
	return found
}

// scanLimit returns one more than how many CPUs a pass under SIS_PROP looks at.
func (k *Kernel) scanLimit(c *cpu, l *llc) int64 {
	s := &c.rq.scan
	idle := c.rq.avgIdle / 512
	if k.base.IdleSearch >= SearchOnePass {
		// A busy CPU's last idle time foretells nothing: it is halved each jiffy.
		now := k.jiffies(c.t)
		if n := now - s.idleFrom; n > 0 {
			s.idleFrom = now
			s.idle >>= min(n, 63)
		}
		idle = s.idle
	}
	cost := s.cost + sim.Nanosecond
	if span := sim.Time(len(l.cpus)) * idle; span > 4*cost {
		return int64(span / cost)
	}
	return 4
}

// jiffies counts the jiffies that have begun up to t.
func (k *Kernel) jiffies(t sim.Time) int64 {
	j := k.base.Jiffy()
	return int64((t - k.cpus[0].tick.phase + j) / j)
}

// idleEnded tells the searches by c that a task wakeup has ended its idle time.
func (r *rq) idleEnded(k *Kernel, now sim.Time) {
	r.scan.idle, r.scan.idleFrom = r.avgIdle/2, k.jiffies(now)
}

// updateIdleCore notes that c, about to run its idle task, makes its core an idle one.
func (k *Kernel) updateIdleCore(c *cpu) {
	l := k.near[c.id].llc
	if !k.smt || l == nil || l.idleCores {
		return
	}
	for _, x := range k.near[c.id].threads {
		if x == c.id {
			continue
		}
		k.pay(c, TimeSchedule, CostIdleCheck)
		k.charge(c, TimeSchedule, k.readState(&k.cpus[x].rq.state, c.id))
		if !k.cpus[x].idleCPU() {
			return
		}
	}
	l.idleCores = true
}

// updateIdleScan sets how far searches through the cache go, after a balance pass over the
// domain d that was not for a CPU about to idle. The busier the cache, the less: with u the
// mean utilisation and p the imbalance that the domain allows, it is 1 − (p·u)² of the CPUs, so none
// from about 85 % on.
func (k *Kernel) updateIdleScan(d *machine.Domain, p *pass) {
	l := k.near[p.dst.id].llc
	if k.base.IdleSearch < SearchUtil || p.kind == TimeNewidle || l == nil || l.domain != d {
		return
	}
	sum := int64(0)
	for _, x := range l.cpus {
		sum += min(k.cpus[x].rq.pelt.util, capacity)
	}
	n, pct := int64(len(l.cpus)), k.imbalancePct(d)
	u := sum / n
	busy := min(u*u*pct*pct/(10000*capacity), capacity)
	l.idleScan = int(n * (capacity - busy) / capacity)
}

// imbalancePct returns how much fuller than another a group of the domain must be, in percent.
func (k *Kernel) imbalancePct(d *machine.Domain) int64 {
	switch {
	case d.SMT:
		return k.base.ImbalancePct.SMT
	case d.LLC:
		return k.base.ImbalancePct.LLC
	}
	return k.base.ImbalancePct.Other
}

// SampleIdleCore adds a histogram of how long the searches for an idle core take.
func (k *Kernel) SampleIdleCore() MetricID {
	k.idleCore = k.Metric()
	return k.idleCore
}

func (k *Kernel) sampleIdleCore(c *cpu, start sim.Time) {
	if k.opened && k.idleCore >= 0 {
		k.metrics[k.idleCore].Add(int64(c.t - start))
	}
}

// checkPlacement sees that searches go no further than their cache, and that the readers of
// run queues' state are known.
func (k *Kernel) checkPlacement() {
	for i := range k.near {
		if l := k.near[i].llc; l != nil && (l.idleScan < 0 || l.idleScan > len(l.cpus)) {
			k.broken("a search for an idle CPU may look at %d CPUs of %d", l.idleScan, len(l.cpus))
		}
		s := &k.cpus[i].rq.state
		if s.owner < 0 || s.reader >= 0 && s.readers[k.m.CPUs[s.reader].Core>>6]>>(k.m.CPUs[s.reader].Core&63)&1 == 0 {
			k.broken("the state line of CPU %d has a reader that nobody knows", i)
		}
	}
}
