package scx

import (
	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// lavd goes by how critical latency is for a task.
var lavd = Scheduler{
	Key:   "lavd",
	Title: "scx_lavd: virtual deadlines by how critical latency is",
	Link:  "https://github.com/sched-ext/scx/blob/main/scheds/rust/scx_lavd/README.md",
	Brief: "A task that waits for others and wakes others often, and runs shortly, has an early deadline, and may take the CPU from one that is less critical.",
	Note: "As in scx 1.0.6 to 1.0.8 in performance mode, from its README, its later description, and its pull requests up to December 2024. There is a queue for each last-level cache in the order of virtual deadlines, " +
		"on a logical clock that goes slower under overload. Latency criticality is from how often a task waits and wakes others, how shortly it runs, and its weight; a task that has had more than its part of the CPU has " +
		"a deadline up to twice as far. The slice gives all runnable tasks a turn in 20 ms, within 0.5 and 5 ms. A critical task looks at two CPUs by chance and preempts the less critical of them, if either is and will not " +
		"stop sooner by itself. Assumed: statistics every 20 ms; only tasks above the middle between average and highest criticality preempt, and a CPU is preempted once in a minimum slice; boosts of weight are one for a wakeup and for a pinned task, two for a kernel thread; a task that has had more than its part gives way at a tick to those that wait. " +
		"Left out: core compaction and power modes (it matters below full load), frequency, kinds of cores, longer slices for tasks that use them up, and what came later: criticality that wakers and wakees give each other, and lock holders.",
	Load: func(x *kernel.Ext) kernel.ExtOps {
		m := x.Machine()
		l := &lavdSched{x: x, smt: m.SMT(), cpus: make([]lavdCPU, len(m.CPUs)), load: 1000, slice: lavdSliceMax}
		all := llcs(m)
		for i := range all {
			all[i].dsq = x.CreateDSQ()
		}
		l.domains = all
		l.near = nearest(m, all)
		for i := range l.cpus {
			l.cpus[i].idle = true
		}
		x.StartTimer(lavdStats)
		return kernel.ExtOps{
			Name:       "lavd",
			SelectCPU:  l.selectCPU,
			Enqueue:    l.enqueue,
			Dispatch:   l.dispatch,
			Runnable:   l.runnable,
			Running:    l.running,
			Stopping:   l.stopping,
			Quiescent:  l.quiescent,
			Tick:       l.tick,
			UpdateIdle: l.updateIdle,
			KeepIdle:   true,
			Enable:     l.enable,
			Timer:      l.timer,
			Timeout:    30 * sim.Second,
		}
	},
}

const (
	lavdLatency  = 20 * sim.Millisecond // in which each runnable task has a turn
	lavdSliceMin = 500 * sim.Microsecond
	lavdSliceMax = 5 * sim.Millisecond
	lavdRunMax   = lavdSliceMax          // run time from which on it makes no difference to a deadline
	lavdLongest  = 20 * sim.Millisecond  // run time from which on a task is not critical for running shortly
	lavdLagMax   = 100 * sim.Millisecond // of service that a task has missed by sleeping, and still counts
	lavdStats    = 20 * sim.Millisecond
)

type lavdTask struct {
	waits, wakes frequency
	since        sim.Time // it began to run
	acc, avg     sim.Time // run time since it slept, and on average
	service      int64    // run time by weight
	critical     int64    // how critical latency is for it
	greedy       bool     // it has had more than its part
	known        bool     // it has run
	stops        sim.Time // when it is expected to stop if it runs at once
}

type lavdCPU struct {
	critical int64    // of its task
	stops    sim.Time // when that is expected to
	kicked   sim.Time // when it was last preempted
	idle     bool
	idleAt   sim.Time
	idled    sim.Time // since the last statistics, up to idleAt
}

type lavdSched struct {
	x       *kernel.Ext
	tasks   []lavdTask
	cpus    []lavdCPU
	domains []llc
	near    [][]int // by domain: the others, nearest first
	smt     bool

	// The logical clock, of which a second takes load thousandths of one.
	clock   sim.Time
	clockAt sim.Time
	load    int64

	// Statistics: those in use, and what they are made from next.
	slice               sim.Time
	service             int64 // average of those that have run
	threshold           int64 // criticality from which on a task preempts
	sumService, started int64
	sumCritical         int64
	maxCritical         int64
	statsAt             sim.Time
}

// nearest returns for each domain the others: those of its node, then those of its socket, then all.
func nearest(m *machine.Machine, domains []llc) [][]int {
	near := make([][]int, len(domains))
	for i := range domains {
		for far := range 3 {
			for n := 1; n < len(domains); n++ {
				j := (i + n) % len(domains)
				a, b := m.CPUs[domains[i].list[0]], m.CPUs[domains[j].list[0]]
				d := 2
				switch {
				case a.Node == b.Node:
					d = 0
				case a.Socket == b.Socket:
					d = 1
				}
				if d == far {
					near[i] = append(near[i], j)
				}
			}
		}
	}
	return near
}

func (l *lavdSched) enable(t kernel.TaskID) {
	l.tasks = grow(l.tasks, t)
	l.tasks[t] = lavdTask{service: l.service, avg: lavdSliceMax}
}

func (l *lavdSched) domainOf(cpu int) int { return int(l.x.Machine().CPUs[cpu].LLC) }

// selectCPU looks for an idle CPU: in the domain where the task was, an idle core before a thread of a busy one and the CPU
// where it was before others, then in the other domains.
func (l *lavdSched) selectCPU(t kernel.TaskID, prev int, _ kernel.WakeFlags) int {
	cpu := l.pickIdle(t, prev)
	if cpu < 0 {
		return prev
	}
	l.x.Insert(t, kernel.DSQLocal, l.slice, 0)
	return cpu
}

func (l *lavdSched) pickIdle(t kernel.TaskID, prev int) int {
	x := l.x
	if !x.AnyIdle() {
		return -1
	}
	own := l.domainOf(prev)
	may := x.Allows(t, prev)
	if l.smt {
		if may && x.CoreIdle(prev) && x.ClaimIdle(prev) {
			return prev
		}
		if cpu := x.PickIdle(t, l.domains[own].cpus, true); cpu >= 0 {
			return cpu
		}
	}
	if may && x.ClaimIdle(prev) {
		return prev
	}
	if cpu := x.PickIdle(t, l.domains[own].cpus, false); cpu >= 0 {
		return cpu
	}
	for _, d := range l.near[own] {
		if cpu := x.PickIdle(t, l.domains[d].cpus, false); cpu >= 0 {
			return cpu
		}
	}
	return -1
}

// enqueue puts a task into its domain's queue by its deadline. If it is critical it then looks for a CPU to
// preempt. A CPU that has gone idle meanwhile is told.
func (l *lavdSched) enqueue(t kernel.TaskID, f kernel.EnqFlags) {
	x, k := l.x, &l.tasks[t]
	l.advance(x.Now())
	w := x.Weight(t)
	k.service = max(k.service, l.service-int64(lavdLagMax))
	penalty := lavdPenalty(k.service, l.service, k.known)
	k.greedy = penalty > 1000
	boost := int64(1)
	if f&kernel.EnqWakeup != 0 {
		boost++
	}
	if x.Pinned(t) {
		boost++
	}
	if x.Kthread(t) {
		boost += 2
	}
	k.critical = lavdCritical(k.waits.rate, k.wakes.rate, k.avg, w*boost)
	domain := &l.domains[l.domainOf(x.CPUOf(t))]
	x.InsertVTime(t, domain.dsq, l.slice, int64(l.clock)+lavdDeadline(k.acc, penalty, k.critical), f)
	k.stops = x.Now() + min(k.avg, l.slice)
	if x.AnyIdle() {
		if cpu := x.PickIdle(t, domain.cpus, false); cpu >= 0 {
			x.Kick(cpu, kernel.KickIdle)
			return
		}
	}
	if f&kernel.EnqWakeup != 0 && !k.greedy && k.critical > l.threshold {
		l.preempt(t, domain, x.Now())
	}
}

// advance brings the logical clock up to now.
func (l *lavdSched) advance(now sim.Time) {
	if d := now - l.clockAt; d > 0 {
		l.clock += d * 1000 / sim.Time(l.load)
		l.clockAt = now
	}
}

// lavdCritical is how critical latency is for a task: more so the more often it waits for others and wakes others, the
// shorter it runs and the more it weighs.
func lavdCritical(waits, wakes int64, avg sim.Time, weight int64) int64 {
	short := int64(max(lavdLongest-avg, 0)/lavdSliceMin) + 1
	c := log2((waits+1)*(wakes+1)) + log2(short*weight+1)
	return c * c
}

// lavdPenalty is by how much farther the deadline of a task is that has had more service than others do on average, in
// thousandths. Of a task that has never run the worst is assumed.
func lavdPenalty(service, average int64, known bool) int64 {
	if !known {
		return 2000
	}
	if average <= 0 || service <= average {
		return 1000
	}
	if service/2 >= average {
		return 2000
	}
	return 1000 + (service-average)/(average/1000+1)
}

// lavdDeadline is how far the deadline of a task is.
func lavdDeadline(acc sim.Time, penalty, critical int64) int64 {
	return int64(lavdRunMax+min(acc, lavdRunMax)) / 1000 * penalty / max(critical, 1)
}

// preempt takes a CPU of the domain from the less critical of two tasks that are found by chance, if they are
// less critical than t and will not stop sooner.
func (l *lavdSched) preempt(t kernel.TaskID, domain *llc, now sim.Time) {
	x, k, victim := l.x, &l.tasks[t], -1
	for range 2 {
		cpu := domain.list[x.Rand(int64(len(domain.list)))]
		c := &l.cpus[cpu]
		if x.Allows(t, cpu) && x.RunningOn(cpu) != kernel.NoTask && c.critical < k.critical && c.stops > k.stops && now-c.kicked >= lavdSliceMin &&
			(victim < 0 || c.critical < l.cpus[victim].critical) {
			victim = cpu
		}
	}
	if victim >= 0 {
		l.cpus[victim].kicked = now
		x.Kick(victim, kernel.KickPreempt)
	}
}

// dispatch takes a task of the CPU's domain, else one of another domain, else what ran runs on.
func (l *lavdSched) dispatch(cpu int, prev kernel.TaskID) {
	now := l.x.Now()
	l.advance(now)
	own := l.domainOf(cpu)
	if l.x.MoveToLocal(l.domains[own].dsq) {
		return
	}
	for _, d := range l.near[own] {
		if q := l.domains[d].dsq; l.x.Queued(q) > 0 && l.x.MoveToLocal(q) {
			return
		}
	}
	if prev != kernel.NoTask {
		l.x.SetSlice(prev, l.slice)
		l.cpus[cpu].stops = now + min(l.tasks[prev].avg, l.slice)
	}
}

func (l *lavdSched) runnable(_ kernel.TaskID, f kernel.EnqFlags) {
	if waker := l.x.Current(); waker != kernel.NoTask && f&kernel.EnqWakeup != 0 {
		l.tasks[waker].wakes.happens(l.x.Now())
	}
}

func (l *lavdSched) running(t kernel.TaskID) {
	k := &l.tasks[t]
	k.since, k.known = l.x.Now(), true
	c := &l.cpus[l.x.CPU()]
	c.critical, c.stops = k.critical, l.x.Now()+min(k.avg, l.slice)
	l.sumService += k.service
	l.sumCritical += k.critical
	l.maxCritical = max(l.maxCritical, k.critical)
	l.started++
}

func (l *lavdSched) stopping(t kernel.TaskID, _ bool) {
	k := &l.tasks[t]
	ran := max(l.x.Now()-k.since, 0)
	k.acc += ran
	k.avg = average(k.avg, k.acc)
	k.service += byWeight(ran, l.x.Weight(t))
}

// quiescent: it has gone to sleep.
func (l *lavdSched) quiescent(t kernel.TaskID) {
	k := &l.tasks[t]
	k.acc = 0
	k.waits.happens(l.x.Now())
}

// tick has a task give way that has had more than its part, if others wait and it has run for a while.
func (l *lavdSched) tick(t kernel.TaskID) {
	if l.x.Queued(l.domains[l.domainOf(l.x.CPU())].dsq) == 0 {
		return
	}
	if k := &l.tasks[t]; l.x.Now()-k.since >= lavdSliceMin && k.greedy {
		l.x.SetSlice(t, 0)
	}
}

// updateIdle keeps account of how long CPUs idle.
func (l *lavdSched) updateIdle(cpu int, idle bool) {
	now, c := l.x.Now(), &l.cpus[cpu]
	if idle {
		c.critical, c.stops = 0, 0
	} else {
		c.idled += max(now-c.idleAt, 0)
	}
	c.idle, c.idleAt = idle, now
}

// timer makes the statistics anew.
func (l *lavdSched) timer() {
	now := l.x.Now()
	l.advance(now)
	span := max(now-l.statsAt, 1)
	l.statsAt = now
	n := sim.Time(len(l.cpus))
	idled, running := sim.Time(0), int64(0)
	for i := range l.cpus {
		c := &l.cpus[i]
		if c.idle {
			c.idled += max(now-c.idleAt, 0)
			c.idleAt = now
		} else {
			running++
		}
		idled += min(c.idled, span)
		c.idled = 0
	}
	queued := int64(0)
	for i := range l.domains {
		queued += int64(l.x.Queued(l.domains[i].dsq))
	}
	busy := 1000 - int64(idled/(span*n/1000+1))
	l.load = max(busy+queued*1000/int64(n), 1000)
	l.slice = average(l.slice, lavdSlice(int64(n), running+queued))
	if l.started > 0 {
		l.service = average(l.service, l.sumService/l.started)
		mean := l.sumCritical / l.started
		l.threshold = average(l.threshold, mean+(l.maxCritical-mean)/2)
	}
	l.sumService, l.sumCritical, l.maxCritical, l.started = 0, 0, 0, 0
	l.x.StartTimer(lavdStats)
}

// lavdSlice is the slice with which so many runnable tasks all have a turn in the latency aimed at.
func lavdSlice(cpus, runnable int64) sim.Time {
	return min(max(lavdLatency*sim.Time(cpus)/sim.Time(max(runnable, 1)), lavdSliceMin), lavdSliceMax)
}
