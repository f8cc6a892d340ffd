package kernel

import (
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// A pass is a look at one scheduling domain of CPU dst, made by the CPU that holds
// it, which pulls tasks to dst if the domain is out of balance. It is charged for
// each run queue and each group that it looks at, and reads the groups' sums when
// that time has passed.
//
// A pass over the root domain rewrites its overloaded flag from what it sees. When
// none of the busiest CPU's tasks may run on dst the pass is made again without
// that CPU, and then rewrites the flag without it too.
type pass struct {
	dst     *cpu
	level   int
	idle    bool // dst is idle, or about to be
	kind    TimeKind
	without [8]int16 // CPUs left out: more are not looked for
	out     int      // how many of them
	want    int      // how many tasks even the two groups out
	moved   bool
	uneven  bool // it has found a CPU to pull from, whatever came of it
}

// passStart makes the pass over the domain at this level of dst. What it was made
// for goes on with passDone.
func (k *Kernel) passStart(c, dst *cpu, level int, kind TimeKind) {
	c.pass = pass{dst: dst, level: level, kind: kind, idle: kind == TimeNewidle || dst.idleCPU()}
	k.passWalk(c)
}

func (k *Kernel) passWalk(c *cpu) {
	p := &c.pass
	d := k.m.Domains[p.dst.id][p.level]
	k.pay(c, p.kind, CostPass)
	n := sim.Time(len(d.CPUs) - p.out)
	k.charge(c, p.kind, k.jitter(c, n*k.cost[CostRQVisit]+sim.Time(len(d.Groups))*k.cost[CostGroupVisit]))
	k.then(c, stPassWalked)
}

// passWalked acts on what the walk has seen.
func (k *Kernel) passWalked(c *cpu) {
	p := &c.pass
	d := k.m.Domains[p.dst.id][p.level]
	ds := &p.dst.rq.domains[p.level]
	k.updateIdleScan(d, p)
	g := k.findBusiestGroup(d, p)
	src := int16(-1)
	if g >= 0 {
		src = k.findBusiestQueue(d, g, p)
	}
	if src < 0 {
		ds.failed = 0
		k.passDone(c)
		return
	}
	pinned := false
	if k.cpus[src].rq.nrRunning() > 1 {
		pinned = k.moveTasks(c, d, &k.cpus[src])
	}
	p.uneven = !pinned
	switch {
	case p.moved:
		ds.failed = 0
	case !pinned:
		if p.kind != TimeNewidle {
			ds.failed++
		}
		if ds.failed > niceTries(d)+2 {
			k.activeBalance(c, &k.cpus[src])
			ds.failed = niceTries(d) + 1
		}
	default:
		ds.failed = 0
		p.without[p.out] = src
		if p.out++; p.out < len(p.without) && k.othersLeft(d, p) {
			k.count(AllPinnedRedos)
			k.passWalk(c)
			return
		}
	}
	k.passDone(c)
}

func (k *Kernel) passDone(c *cpu) {
	if c.pass.kind == TimeNewidle {
		k.newidlePassed(c)
		return
	}
	k.rebalancePassed(c)
}

// leaves tells whether the pass leaves CPU x out.
func (p *pass) leaves(x int16) bool {
	for _, w := range p.without[:p.out] {
		if w == x {
			return true
		}
	}
	return false
}

// othersLeft tells whether the domain has CPUs outside dst's group that are not
// left out.
func (k *Kernel) othersLeft(d *machine.Domain, p *pass) bool {
	n := len(d.CPUs) - len(d.Groups[d.GroupOf[p.dst.id]].CPUs)
	for _, w := range p.without[:p.out] {
		if d.GroupOf[w] != d.GroupOf[p.dst.id] {
			n--
		}
	}
	return n > 0
}

// found is what a pass reads of a group: its sums over the CPUs not left out.
type found struct {
	group
	weight int
}

func (k *Kernel) readGroup(d *machine.Domain, g int, p *pass) found {
	f := found{k.groups[d.ID][g], len(d.Groups[g].CPUs)}
	for _, x := range p.without[:p.out] {
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

// overloaded tells whether the group has more tasks than CPUs.
func (f *found) overloaded() bool { return f.nr > f.weight }

// busier orders groups: an overloaded one beats one with room; of overloaded ones
// the fullest, of the others the one with the fewest idle CPUs comes first.
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

// findBusiestGroup returns the group to pull from, or -1 if the domain is in
// balance for the pass's CPU.
func (k *Kernel) findBusiestGroup(d *machine.Domain, p *pass) int {
	local := int(d.GroupOf[p.dst.id])
	here := k.readGroup(d, local, p)
	over := here.over
	busiest := -1
	p.want = 1
	var most found
	for i := range len(d.Groups) - 1 { // in the order of the CPU's ring of groups, which begins with its own
		g := (local + 1 + i) % len(d.Groups)
		f := k.readGroup(d, g, p)
		over += f.over
		if f.weight > 0 && (busiest < 0 || f.busier(&most)) {
			busiest, most = g, f
		}
	}
	if p.level == len(k.m.Domains[p.dst.id])-1 {
		k.setOverloaded(over > 0)
	}
	if busiest < 0 || most.nr <= 1 {
		return -1
	}
	if most.overloaded() {
		if here.overloaded() && here.nr*most.weight >= most.nr*here.weight {
			return -1
		}
		p.want = (most.nr*here.weight - here.nr*most.weight) / (here.weight + most.weight)
		return busiest
	}
	if here.overloaded() || !p.idle {
		return -1
	}
	// Both have room: even out the tasks where the level below prefers that to
	// packing, or where groups are single CPUs; else the idle CPUs.
	surplus := most.nr - here.nr
	if most.weight > 1 && (d.Level == 0 || surplus <= 1) {
		if here.idle <= most.idle+1 {
			return -1
		}
		surplus = here.idle - most.idle
	}
	// Between nodes a surplus of two is tolerated while few tasks run here, if at all.
	if d.NUMA && surplus <= 2 && here.nr+1 <= k.numaSlack[d.ID] {
		return -1
	}
	if surplus/2 < 1 {
		return -1
	}
	return busiest
}

// newNUMASlack returns how many tasks a node may run before an imbalance of two between
// the nodes of d counts, by the kernel's rule.
func (k *Kernel) newNUMASlack(d *machine.Domain) int {
	node := d.Groups[0].CPUs
	llcs := map[int16]bool{}
	for _, c := range node {
		llcs[k.m.CPUs[c].LLC] = true
	}
	switch {
	case k.base.NUMASpread == SpreadEvenly:
		return 0
	case len(llcs) > 1:
		return len(llcs)
	case k.base.NUMASpread == SpreadQuarter:
		return max(len(node)/4, 1)
	}
	return max(len(node)/8, 1)
}

// findBusiestQueue returns the CPU of the group with the most tasks, else -1. Where the
// groups have room it may be one that runs a task and no more: that can only be pushed.
func (k *Kernel) findBusiestQueue(d *machine.Domain, g int, p *pass) int16 {
	f := k.readGroup(d, g, p)
	busiest, most := int16(-1), b2i(f.overloaded())
	for _, x := range d.Groups[g].CPUs {
		if n := k.cpus[x].rq.nrRunning(); n > most && !p.leaves(x) {
			busiest, most = x, n
		}
	}
	return busiest
}

// A taskList holds the runnable tasks of a CPU, the one first that was chosen to run or came last. The
// balancer looks at them from the other end, for whose cache is cold.
type taskList struct {
	first, last int32 // noTask: none
	n           int
}

// A listNode is a task's place in the list.
type listNode struct{ newer, older int32 }

// listAdd puts task t first.
func (k *Kernel) listAdd(l *taskList, t int32) {
	k.tasks[t].listNode = listNode{noTask, l.first}
	if l.first == noTask {
		l.last = t
	} else {
		k.tasks[l.first].newer = t
	}
	l.first = t
	l.n++
}

func (k *Kernel) listRemove(l *taskList, t int32) {
	n := k.tasks[t].listNode
	if n.newer == noTask {
		l.first = n.older
	} else {
		k.tasks[n.newer].older = n.older
	}
	if n.older == noTask {
		l.last = n.newer
	} else {
		k.tasks[n.older].newer = n.newer
	}
	l.n--
}

// nrMigrate is how many tasks a pass looks at, at most, while it holds the lock of the CPU that
// it pulls from: sysctl_sched_nr_migrate.
const nrMigrate = 32

// moveTasks moves tasks from src to the pass's CPU, if some may go, and tells whether all that
// it looked at are pinned elsewhere. It moves as many as even the two groups out, but no more
// than even the two CPUs out: groups need not be as full as their fullest CPU, or as
// empty as dst. One is always moved, for the groups are out of balance.
func (k *Kernel) moveTasks(c *cpu, d *machine.Domain, src *cpu) (pinned bool) {
	p := &c.pass
	dst := p.dst
	from, to := &src.rq, &dst.rq
	k.lockBriefly(c, &from.lock)
	// A task whose cache is warm stays, but for threads of a core, which share it,
	// and after enough passes that moved nothing.
	hot := d.SMT || to.domains[p.level].failed > niceTries(d)
	looks, want := nrMigrate, max(1, min(p.want, (from.runnable.n-to.runnable.n)/2))
	// PREEMPT_RT wants short passes.
	if k.rt() {
		looks = nrMigrate / 4
		if p.kind == TimeNewidle {
			want = 1
		}
	}
	pinned = true
	var moved [nrMigrate]int32
	n := 0
	for looks = min(looks, from.runnable.n); looks > 0 && n < want; looks-- {
		t := from.runnable.last
		tk := &k.tasks[t]
		k.pay(c, p.kind, CostDetachCheck)
		pins := !tk.allows(dst.id) || tk.holds && k.rt() // who holds an rtlock does not migrate
		pinned = pinned && pins
		if pins || t == from.curr || !hot && c.t-tk.ranTill < k.base.MigrationCost {
			k.listRemove(&from.runnable, t) // so that the next pass looks at others
			k.listAdd(&from.runnable, t)
			continue
		}
		k.pay(c, p.kind, CostMigrate)
		from.clock = max(from.clock, c.t)
		k.dequeue(src, t)
		k.writeState(c, src, p.kind)
		moved[n] = t
		n++
	}
	from.lock.heldUntil(c)
	if n == 0 {
		return pinned
	}
	if dst != c {
		k.lockBriefly(c, &to.lock)
	}
	to.clock = max(to.clock, c.t)
	for _, t := range moved[:n] {
		k.enqueue(dst, t)
		k.writeState(c, dst, p.kind)
		k.count(Migrations)
		if k.wakePreempts(dst, t) {
			k.reschedCPU(c, dst, p.kind)
		}
	}
	p.moved = true
	return false
}

// niceTries is for how many passes that moved nothing a task's warm cache is respected.
func niceTries(d *machine.Domain) int {
	switch {
	case d.SMT:
		return 0
	case d.NUMA:
		return 2
	}
	return 1
}

// activeBalance has src push its running task to the pass's CPU, after passes that found
// it there and could not pull it: by the stopper, a task that comes before all others.
func (k *Kernel) activeBalance(c, src *cpu) {
	curr, dst := src.rq.curr, c.pass.dst
	if src.pushTo >= 0 || src == c || curr == noTask || !k.tasks[curr].allows(dst.id) {
		return
	}
	k.count(ActiveBalances)
	src.pushTo = dst.id
	k.pay(c, c.pass.kind, CostWakeup)
	k.reschedCPU(c, src, c.pass.kind)
}

// stopper is the stopper's work on c, on top of the task that it has preempted: it takes that
// off the queue, if the CPU to push it to still idles.
func (k *Kernel) stopper(c *cpu) {
	dst := &k.cpus[c.pushTo]
	k.pay(c, TimeSwitch, CostSwitch) // to it; who comes next pays for the way back
	k.pay(c, TimeBalance, CostDetachCheck)
	c.pushTo = -1
	id := c.rq.curr
	if id == noTask || !dst.idleCPU() {
		return
	}
	if t := &k.tasks[id]; !t.queued || t.state != taskRunning || !t.allows(dst.id) || t.holds && k.rt() {
		return
	}
	c.pushed, c.pushTo = id, dst.id
	k.pay(c, TimeBalance, CostMigrate)
	k.dequeue(c, id)
	k.writeState(c, c, TimeBalance)
	k.tasks[id].waking = true // until it is on the other queue
}

// pushOn puts the task that c has switched away from on the queue that it is pushed to.
func (k *Kernel) pushOn(c *cpu) {
	id, dst := c.pushed, &k.cpus[c.pushTo]
	c.pushed, c.pushTo = noTask, -1
	k.lockFor(c, &dst.rq.lock, TimeBalance)
	dst.rq.clock = max(dst.rq.clock, c.t)
	k.tasks[id].waking = false
	k.enqueue(dst, id)
	k.writeState(c, dst, TimeBalance)
	k.count(Migrations)
	if k.wakePreempts(dst, id) {
		k.reschedCPU(c, dst, TimeBalance)
	}
	dst.rq.lock.heldUntil(c)
}

// lockBriefly charges for a lock that is taken and given up within a pass: its
// line, and the wait for a section that is known to end later. A holder that does
// not know yet when it will be done is not waited for.
func (k *Kernel) lockBriefly(c *cpu, l *lock) { k.lockFor(c, l, c.pass.kind) }

func (k *Kernel) lockFor(c *cpu, l *lock, kind TimeKind) {
	if l.freeAt > c.t {
		k.charge(c, TimeLockWait, l.freeAt-c.t)
	}
	k.charge(c, kind, k.write(&l.line, c.id))
}

// heldUntil lets others wait for l until c's time.
func (l *lock) heldUntil(c *cpu) { l.freeAt = max(l.freeAt, c.t) }
