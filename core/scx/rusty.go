package scx

import (
	"schedlab/core/kernel"
	"schedlab/core/sim"
)

// rusty has a queue for each last-level cache.
var rusty = Scheduler{
	Key:   "rusty",
	Title: "scx_rusty: a domain for each last-level cache",
	Link:  "https://github.com/sched-ext/scx/blob/main/scheds/rust/scx_rusty/README.md",
	Brief: "A task belongs to the CPUs of one last-level cache and waits for them in their queue by its deadline. CPUs without work take tasks from others of the node.",
	Note: "As in scx 1.0.6 to 1.0.8 with default options, from its README, its options and its pull requests. Slices are 20 ms, and 1 ms while all CPUs are busy: that is found out " +
		"every 100 ms, as is which domains are less than 90 % busy, whose idle CPUs get tasks of others of the node at once. Simplified: what the program in user space does is done by a timer " +
		"that takes no time but one read of the clock; a CPU counts as idle from when it finds nothing to run; the load average halves twice between two balances, which come every 2 s; the balance between nodes " +
		"goes by domains, at a threshold of 17 %, like that within a node at 5 %. Assumed: the unit of run times in deadlines, a microsecond; a new task runs for a slice on average; " +
		"and with a synchronous wakeup the whole machine is asked for idle CPUs. Left out: memory policies.",
	Load: func(x *kernel.Ext) kernel.ExtOps {
		m := x.Machine()
		r := &rustySched{x: x, slice: rustySliceUnder, smt: m.SMT(), cpus: make([]rustyCPU, len(m.CPUs))}
		all := llcs(m)
		r.domains = make([]rustyDomain, len(all))
		for i := range all {
			r.domains[i].llc = all[i]
			r.domains[i].dsq = x.CreateDSQ()
		}
		for range m.Nodes {
			none := func(int) bool { return false }
			r.direct = append(r.direct, kernel.NewCPUSet(len(m.CPUs), none))
			r.kick = append(r.kick, kernel.NewCPUSet(len(m.CPUs), none))
		}
		for i := range m.CPUs {
			r.cpus[i].idle = true
			r.cpus[i].next = int(m.CPUs[i].LLC) + 1
			r.direct[m.CPUs[i].Node].Add(i)
			r.kick[m.CPUs[i].Node].Add(i)
		}
		x.StartTimer(rustyTune)
		return kernel.ExtOps{
			Name:      "rusty",
			SelectCPU: r.selectCPU,
			Enqueue:   r.enqueue,
			Dispatch:  r.dispatch,
			Runnable:  r.runnable,
			Running:   r.running,
			Stopping:  r.stopping,
			Quiescent: r.quiescent,
			Enable:    r.enable,
			Timer:     r.timer,
			Disable:   func(t kernel.TaskID) { r.tasks[t].gone = true },
			Timeout:   10 * sim.Second,
		}
	},
}

const (
	rustySliceUnder = 20 * sim.Millisecond
	rustySliceOver  = sim.Millisecond
	rustyTune       = 100 * sim.Millisecond
	rustyBalance    = 20 // tunings between two balances
	rustyDirect     = 90 // percent busy below which others' tasks may use a domain's idle CPUs
	rustyGreedy     = 1  // tasks that a queue of the node has at least when others take from it
	rustyAcross     = 17 // percent that domains must be off to balance between nodes
	rustyWithin     = 5  // and within one
	rustyMoves      = 64 // tasks that are sent in either at most
)

type rustyTask struct {
	domain, target int
	everywhere     bool // it may run on all CPUs
	gone           bool
	vtime          int64
	since          sim.Time // it began to run
	sum, avg       sim.Time // run time until it sleeps
	request        int64
	blocks, wakes  frequency

	runnable bool
	at       sim.Time // since when, or up to when duty has it
	duty     int64    // for how long it has been runnable since the last balance, ns
	load     int64    // its average
}

type rustyDomain struct {
	llc
	vtime int64 // the latest virtual time of those that have begun to run
	// What its tasks are runnable for, ns: since the last balance, and on average; plain, and by weight.
	duty, load [2]int64
	plan       int64 // its load, with what the balance that is under way sends
}

type rustyCPU struct {
	next    int // the domain to take a task from next
	idle    bool
	stopped sim.Time // when its last task stopped
	idled   sim.Time // since the last tuning, up to stopped
}

type rustySched struct {
	x            *kernel.Ext
	tasks        []rustyTask
	domains      []rustyDomain
	cpus         []rustyCPU
	smt          bool
	slice        sim.Time
	direct, kick []kernel.CPUSet // by node: CPUs whose domains take others' tasks, at once or when they are told of them
	place        int             // the domain to look at first for the next new task
	tuned        sim.Time
	tunings      int
	full         bool // all CPUs are busy
}

// enable chooses a new task's domain: the next one that has a CPU for it.
func (r *rustySched) enable(t kernel.TaskID) {
	r.tasks = grow(r.tasks, t)
	k := &r.tasks[t]
	*k = rustyTask{everywhere: true, avg: rustySliceUnder}
	for i := range r.cpus {
		if !r.x.Allows(t, i) {
			k.everywhere = false
			break
		}
	}
	for i := range r.domains {
		d := (r.place + i) % len(r.domains)
		if r.allows(t, d) {
			k.domain, k.target, r.place = d, d, d+1
			break
		}
	}
	k.vtime = r.domains[k.domain].vtime
}

// allows tells whether a task may run on some CPU of a domain.
func (r *rustySched) allows(t kernel.TaskID, domain int) bool {
	if r.tasks[t].everywhere {
		return true
	}
	for _, cpu := range r.domains[domain].list {
		if r.x.Allows(t, cpu) {
			return true
		}
	}
	return false
}

func (r *rustySched) domainOf(cpu int) int { return int(r.x.Machine().CPUs[cpu].LLC) }

func (r *rustySched) selectCPU(t kernel.TaskID, prev int, f kernel.WakeFlags) int {
	cpu := r.pickIdle(t, prev, f.Sync)
	if cpu >= 0 {
		r.x.Insert(t, kernel.DSQLocal, r.slice, 0)
		return cpu
	}
	d := &r.domains[r.tasks[t].domain]
	if d.cpus.Has(prev) {
		return prev
	}
	n := len(d.list)
	for i, from := 0, int(r.x.Rand(int64(n))); i < n; i++ {
		if cpu := d.list[(from+i)%n]; r.x.Allows(t, cpu) {
			return cpu
		}
	}
	return prev
}

// pickIdle claims an idle CPU for a task, in the documented order; -1: there is none.
func (r *rustySched) pickIdle(t kernel.TaskID, prev int, sync bool) int {
	x, k := r.x, &r.tasks[t]
	d := &r.domains[k.domain]
	if sync {
		if cpu := pickSync(x, &r.domains[r.domainOf(x.CPU())].llc, t, prev); cpu >= 0 {
			return cpu
		}
	}
	direct := r.direct[d.node]
	own := d.cpus.Has(prev)
	if r.smt {
		if (own || k.everywhere && direct.Has(prev)) && x.Allows(t, prev) && x.CoreIdle(prev) && x.ClaimIdle(prev) {
			return prev
		}
		if cpu := x.PickIdle(t, d.cpus, true); cpu >= 0 {
			return cpu
		}
	}
	if own && x.Allows(t, prev) && x.ClaimIdle(prev) {
		return prev
	}
	if cpu := x.PickIdle(t, d.cpus, false); cpu >= 0 {
		return cpu
	}
	if !k.everywhere {
		return -1
	}
	if r.smt {
		if cpu := x.PickIdle(t, direct, true); cpu >= 0 {
			return cpu
		}
	}
	return x.PickIdle(t, direct, false)
}

// enqueue puts a task into its domain's queue. A task that the balance has sent to another domain changes
// over first. A CPU that may have gone idle meanwhile is told: one of the domain, or where all of that are busy another of the node.
func (r *rustySched) enqueue(t kernel.TaskID, f kernel.EnqFlags) {
	x, k := r.x, &r.tasks[t]
	moved := k.target != k.domain
	if moved {
		r.move(t, x.Now())
	}
	d := &r.domains[k.domain]
	k.vtime = max(k.vtime, d.vtime-int64(r.slice))
	x.InsertVTime(t, d.dsq, r.slice, k.vtime+k.request, f)
	cpu := -1
	switch {
	case moved || !d.cpus.Has(x.CPUOf(t)):
		cpu = x.PickIdle(t, d.cpus, false)
	case k.everywhere:
		cpu = x.PickIdle(t, r.kick[d.node], false)
	}
	if cpu >= 0 {
		x.Kick(cpu, kernel.KickIdle)
	}
}

// move changes a task over to the domain where it is to be. What it has been runnable for up to now stays with
// the old one, its load average comes with it.
func (r *rustySched) move(t kernel.TaskID, now sim.Time) {
	r.account(t, now)
	k := &r.tasks[t]
	from, to := &r.domains[k.domain], &r.domains[k.target]
	for i := range from.load {
		l := r.loadOf(t, i)
		from.load[i] -= l
		to.load[i] += l
	}
	k.vtime += to.vtime - from.vtime // it keeps its place among the others
	k.domain = k.target
}

// account adds what a task has been runnable for up to now to its duty and its domain's.
func (r *rustySched) account(t kernel.TaskID, now sim.Time) {
	k := &r.tasks[t]
	if k.runnable {
		d := int64(max(now-k.at, 0) / sim.Nanosecond)
		k.duty += d
		duty := &r.domains[k.domain].duty
		duty[0] += d
		duty[1] += d * r.x.Weight(t) / 100
	}
	k.at = now
}

// dispatch takes a task of the CPU's domain, else one of another domain of the node.
func (r *rustySched) dispatch(cpu int, prev kernel.TaskID) {
	c := &r.cpus[cpu]
	own := r.domainOf(cpu)
	if r.x.MoveToLocal(r.domains[own].dsq) {
		return
	}
	n := len(r.domains)
	for range n {
		i := c.next % n
		c.next = i + 1
		d := &r.domains[i]
		if i != own && d.node == r.domains[own].node && r.x.Queued(d.dsq) >= rustyGreedy && r.x.MoveToLocal(d.dsq) {
			return
		}
	}
	c.idle = prev == kernel.NoTask
}

func (r *rustySched) runnable(t kernel.TaskID, f kernel.EnqFlags) {
	now, k := r.x.Now(), &r.tasks[t]
	k.runnable, k.at, k.sum = true, now, 0
	if waker := r.x.Current(); waker != kernel.NoTask && f&kernel.EnqWakeup != 0 {
		r.tasks[waker].wakes.happens(now)
	}
}

func (r *rustySched) quiescent(t kernel.TaskID) {
	now, k := r.x.Now(), &r.tasks[t]
	r.account(t, now)
	k.runnable = false
	k.blocks.happens(now)
}

func (r *rustySched) running(t kernel.TaskID) {
	now, k := r.x.Now(), &r.tasks[t]
	k.since = now
	d := &r.domains[k.domain]
	d.vtime = max(d.vtime, k.vtime)
	if c := &r.cpus[r.x.CPU()]; c.idle {
		c.idle = false
		c.idled += max(now-c.stopped, 0)
		c.stopped = now
	}
}

func (r *rustySched) stopping(t kernel.TaskID, _ bool) {
	now, k := r.x.Now(), &r.tasks[t]
	ran, w := max(now-k.since, 0), r.x.Weight(t)
	k.sum += ran
	k.avg = average(k.avg, k.sum)
	k.vtime += byWeight(ran, w)
	k.request = request(k.avg, w, k.blocks.rate, k.wakes.rate)
	r.cpus[r.x.CPU()].stopped = now
}

// timer does what the program in user space does: it tunes, and now and then it balances.
func (r *rustySched) timer() {
	now := r.x.Now()
	r.tune(now)
	if r.tunings++; r.tunings == rustyBalance {
		r.tunings = 0
		r.balance(now)
	}
	r.x.StartTimer(rustyTune)
}

// tune looks how busy CPUs were since it last did.
func (r *rustySched) tune(now sim.Time) {
	span := max(now-r.tuned, 1)
	r.tuned, r.full = now, true
	for i := range r.domains {
		d := &r.domains[i]
		idled := sim.Time(0)
		for _, cpu := range d.list {
			c := &r.cpus[cpu]
			if c.idle {
				c.idled += max(now-c.stopped, 0)
				c.stopped = now
			}
			idled += min(c.idled, span)
			c.idled = 0
		}
		all := span * sim.Time(len(d.list))
		busy := int64((all - idled) / (all/100 + 1))
		r.full = r.full && idled < all/100_000+1
		for _, cpu := range d.list {
			set(r.direct[d.node], cpu, busy < rustyDirect)
			set(r.kick[d.node], cpu, idled >= all/100_000+1)
		}
	}
	r.slice = rustySliceUnder
	if r.full {
		r.slice = rustySliceOver
	}
}

// set puts a CPU into a set or takes it out.
func set(s kernel.CPUSet, cpu int, in bool) {
	if in {
		s.Add(cpu)
	} else {
		s.Drop(cpu)
	}
}

// balance brings load averages up to date, and sends tasks from domains that have more than their part to
// those that have less: between nodes where that is much, then within each.
func (r *rustySched) balance(now sim.Time) {
	by := 0
	if r.full { // weights matter as long as not all can have what they want
		by = 1
	}
	for i := range r.tasks {
		if k := &r.tasks[i]; !k.gone {
			r.account(kernel.TaskID(i), now)
			k.load, k.duty = decayed(k.load, k.duty), 0
		}
	}
	part := int64(0)
	for i := range r.domains {
		d := &r.domains[i]
		for j := range d.load {
			d.load[j], d.duty[j] = decayed(d.load[j], d.duty[j]), 0
		}
		d.plan = d.load[by]
		part += d.plan
	}
	part /= int64(len(r.domains))
	for i := range r.tasks { // those that were sent before and have not come through enqueue since
		if k := &r.tasks[i]; !k.gone && k.target != k.domain {
			l := r.loadOf(kernel.TaskID(i), by)
			r.domains[k.domain].plan -= l
			r.domains[k.target].plan += l
		}
	}
	for _, percent := range []int64{rustyAcross, rustyWithin} {
		for range rustyMoves {
			if !r.push(part, part*percent/100, percent == rustyAcross, by) {
				break
			}
		}
	}
}

// decayed is a load average at a balance: it halves in a second, and they are two apart.
func decayed(load, duty int64) int64 { return load/4 + duty/4*3 }

func (r *rustySched) loadOf(t kernel.TaskID, by int) int64 {
	l := r.tasks[t].load
	if by == 1 {
		l = l * r.x.Weight(t) / 100
	}
	return l
}

// push sends one task on its way, and tells whether there was one: from the first domain that has more than its part
// by limit to the first other that has less by as much and takes one of its tasks.
func (r *rustySched) push(part, limit int64, across bool, by int) bool {
	for from := range r.domains {
		d := &r.domains[from]
		if d.plan-part <= limit {
			continue
		}
		for to := range r.domains {
			e := &r.domains[to]
			if part-e.plan <= limit || (d.node != e.node) != across {
				continue
			}
			if t := r.choose(from, to, d.plan-part, part-e.plan, by); t != kernel.NoTask {
				l := r.loadOf(t, by)
				r.tasks[t].target = to
				d.plan -= l
				e.plan += l
				return true
			}
		}
	}
	return false
}

// choose returns the task of a domain whose load comes next to what is to go to another: half of what the one has too much
// or the other too little.
func (r *rustySched) choose(from, to int, more, less int64, by int) kernel.TaskID {
	want, best, off := min(more, less)/2, kernel.NoTask, int64(0)
	for i := range r.tasks {
		t := kernel.TaskID(i)
		if k := &r.tasks[i]; k.gone || k.domain != from || k.target != from || !r.allows(t, to) {
			continue
		}
		l := r.loadOf(t, by)
		if o := max(l-want, want-l); l > 0 && l < more+less && (best == kernel.NoTask || o < off) {
			best, off = t, o
		}
	}
	return best
}
