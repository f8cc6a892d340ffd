package scx

import (
	"slices"

	"schedlab/core/kernel"
	"schedlab/core/sim"
)

// central decides for all CPUs on one.
var central = Scheduler{
	Key:   "central",
	Title: "scx_central: one CPU decides for all",
	Link:  "https://github.com/sched-ext/scx/blob/main/scheds/c/README.md",
	Brief: "CPUs that run out of tasks tell the central one, which hands them tasks from one queue, without a slice: a timer ends turns.",
	Note: "As in Linux 6.12 and scx 1.0.6 to 1.0.8, from its documentation. CPU 0 is the central one. Wakeups are steered there. Turns end after 20 ms, by a timer of 1 ms, if somebody " +
		"waits. Pinned kernel threads go first on their CPU. Assumed: the timer reads the clock once each time; the central CPU's own task keeps its turn while that CPU decides for others; a task that it hands over takes the CPU that has " +
		"asked for one at once; a task that may not run on the CPU that asks goes to a queue that all CPUs " +
		"look into, and an idle CPU is told. There is no limit to how many tasks are handed over at a time.",
	Load: func(x *kernel.Ext) kernel.ExtOps {
		c := &centralSched{x: x, fallback: x.CreateDSQ()}
		c.asks = make([]bool, len(x.Machine().CPUs))
		c.since = make([]sim.Time, len(x.Machine().CPUs))
		for i := range c.since {
			c.since[i], c.asks[i] = notRunning, i != centralCPU // all idle
		}
		x.StartTimer(centralTimer)
		return kernel.ExtOps{
			Name:      "central",
			SelectCPU: c.selectCPU,
			Enqueue:   c.enqueue,
			Dispatch:  c.dispatch,
			Running:   c.running,
			Stopping:  func(kernel.TaskID, bool) { c.since[x.CPU()] = notRunning },
			Timer:     c.timer,
			Enable:    func(t kernel.TaskID) { c.held = grow(c.held, t) },
			Holds:     func(t kernel.TaskID) bool { return c.held[t] },
		}
	},
}

const (
	centralCPU   = 0
	centralTimer = sim.Millisecond
	centralTurn  = 20 * sim.Millisecond

	notRunning sim.Time = -1
)

type centralSched struct {
	x        *kernel.Ext
	waiting  ring
	held     []bool // by task: it is in waiting
	fallback kernel.DSQ
	asks     []bool     // by CPU: it has run out of tasks
	since    []sim.Time // by CPU: when its task began to run
	over     bool       // the turn of the central CPU's task has ended
}

func (c *centralSched) running(kernel.TaskID) {
	cpu := c.x.CPU()
	c.since[cpu] = c.x.Now()
	if cpu == centralCPU {
		c.over = false
	}
}

// selectCPU steers wakeups to the central CPU.
func (c *centralSched) selectCPU(t kernel.TaskID, prev int, _ kernel.WakeFlags) int {
	if c.x.Allows(t, centralCPU) {
		return centralCPU
	}
	return prev
}

// enqueue keeps a task until the central CPU hands it to one, and tells that CPU, unless it is a task whose
// turn has ended and no CPU is without one.
func (c *centralSched) enqueue(t kernel.TaskID, f kernel.EnqFlags) {
	if c.x.Pinned(t) && c.x.Kthread(t) {
		c.x.Insert(t, kernel.DSQLocal, kernel.SliceInf, kernel.EnqPreempt)
		return
	}
	c.waiting.push(t)
	c.held[t] = true
	if f&kernel.EnqWakeup != 0 || slices.Contains(c.asks, true) {
		c.x.Kick(centralCPU, kernel.KickPreempt)
	}
}

func (c *centralSched) dispatch(cpu int, prev kernel.TaskID) {
	if cpu != centralCPU {
		if !c.x.MoveToLocal(c.fallback) {
			c.asks[cpu] = true
			c.x.Kick(centralCPU, kernel.KickPreempt)
		}
		return
	}
	for to := range c.asks {
		if c.waiting.n == 0 {
			break
		}
		if c.asks[to] && c.hand(to) {
			c.asks[to] = false
		}
	}
	if prev != kernel.NoTask && !c.over {
		c.x.SetSlice(prev, kernel.SliceInf) // it was disturbed in its turn
		return
	}
	if !c.x.MoveToLocal(c.fallback) {
		c.hand(centralCPU)
	}
}

// hand gives a CPU the first waiting task that may run there.
func (c *centralSched) hand(cpu int) bool {
	for c.waiting.n > 0 {
		t := c.waiting.pop()
		c.held[t] = false
		if c.x.Allows(t, cpu) {
			f := kernel.EnqPreempt // whatever runs there has had its turn, or it would not have asked
			if cpu == centralCPU {
				f = 0 // it is about to choose anyway
			}
			c.x.Insert(t, kernel.LocalOn(cpu), kernel.SliceInf, f)
			return true
		}
		c.x.Insert(t, c.fallback, kernel.SliceInf, 0)
		if to := c.x.PickIdle(t, nil, false); to >= 0 {
			c.x.Kick(to, kernel.KickIdle)
		}
	}
	return false
}

// timer ends the turns of tasks that have run for long enough, where others wait.
func (c *centralSched) timer() {
	now := c.x.Now()
	for cpu, since := range c.since {
		if since == notRunning || now-since < centralTurn {
			continue
		}
		if c.waiting.n > 0 || c.x.Queued(c.fallback) > 0 || c.x.Queued(kernel.LocalOn(cpu)) > 0 {
			c.over = c.over || cpu == centralCPU
			c.x.Kick(cpu, kernel.KickPreempt)
		}
	}
	c.x.StartTimer(centralTimer)
}

// A ring is a queue of tasks, first in, first out.
type ring struct {
	buf     []kernel.TaskID
	head, n int
}

func (r *ring) push(t kernel.TaskID) {
	if r.n == len(r.buf) {
		buf := make([]kernel.TaskID, max(2*r.n, 64))
		for i := range r.n {
			buf[i] = r.buf[(r.head+i)%r.n]
		}
		r.buf, r.head = buf, 0
	}
	r.buf[(r.head+r.n)%len(r.buf)] = t
	r.n++
}

func (r *ring) pop() kernel.TaskID {
	t := r.buf[r.head]
	r.head = (r.head + 1) % len(r.buf)
	r.n--
	return t
}
