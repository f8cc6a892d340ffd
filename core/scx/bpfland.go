package scx

import (
	"schedlab/core/kernel"
	"schedlab/core/sim"
)

// bpfland puts interactive tasks first.
var bpfland = Scheduler{
	Key:   "bpfland",
	Title: "scx_bpfland: deadlines by virtual time, interactive tasks first",
	Link:  "https://github.com/sched-ext/scx/blob/main/scheds/rust/scx_bpfland/README.md",
	Brief: "A task gets an idle CPU near where it was, or waits by its deadline in one of two queues: that of interactive tasks, which sleep often, is served first.",
	Note: "As in scx 1.0.7 and 1.0.8, from its README and the descriptions of its pull requests up to the rework of November 2024 (#899), whose deadlines it has: virtual time, and a part that is " +
		"short for tasks that are blocked and wake others often. That description also drops the queue of interactive tasks, which the README still has: it is kept here. A task is interactive if it gives up " +
		"its CPU as often as all do on average, or ten times a second. A slice is 20 ms, divided by one and the tasks that wait, 1 ms at least. Assumed: the deadline is as in scx_rusty; " +
		"how often a task gives up its CPU is looked at every 100 ms, the whole machine is one primary domain, and of the two times that a task's start is noted by, one sees that the queue of the " +
		"others is served every 5 ms by each CPU. Left out: the frequency control of energy profiles, which reads the clock a third time, since the frequency is not modelled.",
	Load: func(x *kernel.Ext) kernel.ExtOps {
		b := &bpflandSched{x: x, interactive: x.CreateDSQ(), shared: x.CreateDSQ(), threshold: 1, caches: llcs(x.Machine()), cpus: make([]bpflandCPU, len(x.Machine().CPUs)), smt: x.Machine().SMT()}
		return kernel.ExtOps{
			Name:      "bpfland",
			SelectCPU: b.selectCPU,
			Enqueue:   b.enqueue,
			Dispatch:  b.dispatch,
			Runnable:  b.runnable,
			Running:   b.running,
			Stopping:  b.stopping,
			Quiescent: b.quiescent,
			Enable:    b.enable,
			Timeout:   5 * sim.Second,
		}
	},
}

const (
	bpflandSlice    = 20 * sim.Millisecond
	bpflandSliceMin = sim.Millisecond
	bpflandLag      = 20 * sim.Millisecond  // of virtual time that a sleeper saves up
	bpflandSum      = sim.Second            // run time until a task sleeps that is counted
	bpflandStarving = 5 * sim.Millisecond   // for which the shared queue waits at most
	bpflandWindow   = 100 * sim.Millisecond // in which voluntary switches are counted
	bpflandMaxRate  = 10                    // voluntary switches a second that are always enough
)

type bpflandTask struct {
	vtime         int64
	since         sim.Time // it began to run
	sum, avg      sim.Time // run time until it sleeps
	blocks, wakes frequency

	switches    int64 // voluntary ones, since the window began
	window      sim.Time
	rate        int64 // of them in a second
	interactive bool
}

// A bpflandCPU is what it knows of a CPU. Tasks of the shared queue that may run on one CPU only depend on that one.
type bpflandCPU struct {
	served   sim.Time // when a task of the shared queue last began to run
	starving bool     // that was too long ago
}

type bpflandSched struct {
	x                   *kernel.Ext
	interactive, shared kernel.DSQ
	tasks               []bpflandTask
	caches              []llc
	smt                 bool
	now                 int64 // the latest virtual time of those that have begun to run
	threshold           int64 // voluntary switches a second from which on a task is interactive
	cpus                []bpflandCPU
}

func (b *bpflandSched) enable(t kernel.TaskID) {
	b.tasks = grow(b.tasks, t)
	b.tasks[t] = bpflandTask{vtime: b.now}
}

// selectCPU looks for an idle CPU: that of the waker or the one before for a synchronous wakeup, else idle
// cores before threads of busy ones, and each time the CPU before, those that share its cache, and all others.
func (b *bpflandSched) selectCPU(t kernel.TaskID, prev int, f kernel.WakeFlags) int {
	cpu := b.pickIdle(t, prev, f.Sync)
	if cpu < 0 {
		return prev
	}
	b.x.Insert(t, kernel.DSQLocal, bpflandSlice, 0)
	return cpu
}

func (b *bpflandSched) pickIdle(t kernel.TaskID, prev int, sync bool) int {
	x, m := b.x, b.x.Machine()
	if sync {
		if cpu := pickSync(x, &b.caches[m.CPUs[x.CPU()].LLC], t, prev); cpu >= 0 {
			return cpu
		}
	}
	cache := b.caches[m.CPUs[prev].LLC].cpus
	if b.smt {
		if x.CoreIdle(prev) && x.Allows(t, prev) && x.ClaimIdle(prev) {
			return prev
		}
		if cpu := x.PickIdle(t, cache, true); cpu >= 0 {
			return cpu
		}
		if cpu := x.PickIdle(t, nil, true); cpu >= 0 {
			return cpu
		}
	}
	if x.Allows(t, prev) && x.ClaimIdle(prev) {
		return prev
	}
	if cpu := x.PickIdle(t, cache, false); cpu >= 0 {
		return cpu
	}
	return x.PickIdle(t, nil, false)
}

// enqueue puts a task into its queue, and tells a CPU that has gone idle meanwhile. Kernel threads of one CPU
// need not wait for others.
func (b *bpflandSched) enqueue(t kernel.TaskID, f kernel.EnqFlags) {
	x, k := b.x, &b.tasks[t]
	if x.Kthread(t) && x.Pinned(t) {
		x.Insert(t, kernel.DSQLocal, bpflandSlice, f)
		return
	}
	w := x.Weight(t)
	k.vtime = max(k.vtime, b.now-int64(bpflandLag))
	q := b.shared
	if k.interactive {
		q = b.interactive
	}
	x.InsertVTime(t, q, bpflandSlice, k.vtime+request(k.avg, w, k.blocks.rate, k.wakes.rate), f)
	if !x.AnyIdle() {
		return
	}
	if cpu := x.PickIdle(t, nil, false); cpu >= 0 {
		x.Kick(cpu, kernel.KickIdle)
	}
}

// dispatch takes an interactive task, else another one, else what ran runs on.
func (b *bpflandSched) dispatch(cpu int, prev kernel.TaskID) {
	first, second := b.interactive, b.shared
	if b.cpus[cpu].starving {
		first, second = second, first
	}
	if !b.x.MoveToLocal(first) && !b.x.MoveToLocal(second) && prev != kernel.NoTask {
		b.x.SetSlice(prev, b.slice())
	}
}

// slice returns how long a task may run that begins to.
func (b *bpflandSched) slice() sim.Time {
	return bpflandSliceFor(b.x.Queued(b.interactive) + b.x.Queued(b.shared))
}

func bpflandSliceFor(waiting int) sim.Time {
	return max(bpflandSlice/sim.Time(waiting+1), bpflandSliceMin)
}

func (b *bpflandSched) runnable(t kernel.TaskID, f kernel.EnqFlags) {
	now := b.x.Now()
	b.tasks[t].sum = 0
	if waker := b.x.Current(); waker != kernel.NoTask && f&kernel.EnqWakeup != 0 {
		b.tasks[waker].wakes.happens(now)
	}
}

func (b *bpflandSched) quiescent(t kernel.TaskID) { b.tasks[t].blocks.happens(b.x.Now()) }

func (b *bpflandSched) running(t kernel.TaskID) {
	k := &b.tasks[t]
	k.since = b.x.Now()
	b.now = max(b.now, k.vtime)
	b.x.SetSlice(t, b.slice())
	c := &b.cpus[b.x.CPU()]
	switch now := b.x.Now(); {
	case !k.interactive:
		c.served, c.starving = now, false
	case now-c.served > bpflandStarving:
		c.starving = true
	}
}

func (b *bpflandSched) stopping(t kernel.TaskID, runnable bool) {
	k, now := &b.tasks[t], b.x.Now()
	ran := max(now-k.since, 0)
	k.sum = min(k.sum+ran, bpflandSum)
	k.avg = average(k.avg, k.sum)
	k.vtime += byWeight(ran, b.x.Weight(t))
	if !runnable {
		k.switches++
	}
	if k.window == 0 {
		k.window = now
	}
	if d := now - k.window; d >= bpflandWindow {
		k.rate = average(k.rate, k.switches*int64(sim.Second/sim.Microsecond)/int64(d/sim.Microsecond))
		k.switches, k.window = 0, now
		b.threshold = min(max(average(b.threshold, k.rate), 1), bpflandMaxRate)
		k.interactive = k.rate >= b.threshold
	}
}
