package kernel

import (
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// A parent is a program that forks tasks, one after another. Where it runs is not known: it is drawn.
type parent struct {
	cpu   int
	forks sim.Time // how many it has forked
}

// maxParents is how many there may be.
const maxParents = 4

// findIdlestCPU returns the CPU for a new task: domain by domain downwards it goes to the
// group with the most room, and stays in the one where it is if none has more.
func (k *Kernel) findIdlestCPU(c *cpu, t *task) int16 {
	at := t.cpu
	for level := len(k.m.Domains[at]) - 1; level >= 0; level-- {
		ds := k.m.Domains[at]
		if level >= len(ds) || !k.affine[ds[level].ID] {
			continue
		}
		d := ds[level]
		k.charge(c, TimeWakeup, k.jitter(c, sim.Time(len(d.CPUs))*k.cost[CostRQVisit]+sim.Time(len(d.Groups))*k.cost[CostGroupVisit]))
		if g := k.findIdlestGroup(d, t, d.GroupOf[at]); g != d.GroupOf[at] {
			at = k.findIdlestGroupCPU(d.Groups[g].CPUs, t)
		}
	}
	return at
}

// findIdlestGroup returns the group of d with the most idle CPUs and of those the one with the least utilisation, or if
// none has any, the one with the fewest tasks for its size. The local group is good enough unless another is better, and
// between nodes also as long as few tasks run there. Of equal ones the next after the local
// group wins: each CPU's ring of groups begins with its own.
func (k *Kernel) findIdlestGroup(d *machine.Domain, t *task, local int16) int16 {
	sums := k.groups[d.ID]
	best, bestUtil := local, int64(0)
	for i := range len(d.Groups) - 1 {
		g := (int(local) + 1 + i) % len(d.Groups)
		if t.allowsOf(d.Groups[g].CPUs) == 0 {
			continue
		}
		a, b := &sums[g], &sums[best]
		better := a.idle > b.idle
		switch {
		case a.idle == 0 && b.idle == 0:
			better = a.nr*len(d.Groups[best].CPUs) < b.nr*len(d.Groups[g].CPUs)
		case a.idle == b.idle && best != local:
			better = k.utilOf(d.Groups[g].CPUs) < bestUtil
		}
		if better {
			best, bestUtil = int16(g), k.utilOf(d.Groups[g].CPUs)
		}
	}
	if d.NUMA && sums[local].idle > 0 {
		few := sums[local].nr+1 <= min(k.numaSlack[d.ID], t.allowsOf(d.Groups[local].CPUs))
		if few && (k.base.NUMASpread == SpreadQuarter || sums[best].idle-sums[local].idle <= 2) {
			return local
		}
	}
	return best
}

// utilOf adds the utilisation of CPUs up, as it was last reckoned.
func (k *Kernel) utilOf(cpus []int16) (sum int64) {
	for _, x := range cpus {
		sum += k.cpus[x].rq.pelt.util
	}
	return sum
}

// allowsOf counts on how many of cpus t may run.
func (t *task) allowsOf(cpus []int16) (n int) {
	if t.allowed == nil {
		return len(cpus)
	}
	for _, x := range cpus {
		n += b2i(t.allows(x))
	}
	return n
}

// findIdlestGroupCPU returns the CPU among cpus in the shallowest idle state, of those the one that
// has idled least, or the one with the least load. The task may run on at least one.
func (k *Kernel) findIdlestGroupCPU(cpus []int16, t *task) int16 {
	best := int16(-1)
	for _, x := range cpus {
		if t.allows(x) && (best < 0 || k.idler(&k.cpus[x], &k.cpus[best])) {
			best = x
		}
	}
	return best
}

func (k *Kernel) idler(a, b *cpu) bool {
	switch {
	case a.idleCPU() != b.idleCPU():
		return a.idleCPU()
	case !a.idleCPU():
		return a.rq.pelt.load < b.rq.pelt.load
	}
	depth := func(c *cpu) int8 { return int8(b2i(c.idle.phase == idleAsleep)) * c.idle.state }
	if x, y := depth(a), depth(b); x != y {
		return x < y
	}
	return a.rq.idleStamp > b.rq.idleStamp
}
