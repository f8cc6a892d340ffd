package kernel

import (
	"fmt"

	"schedlab/core/sim"
)

// The ext class, sched_ext: a scheduler that was loaded from outside decides which task runs
// where, by callbacks, and the class keeps the tasks that it has handed over in dispatch
// queues (dsq.go). All tasks are of this class while a scheduler is loaded, and the fair
// class has none.

// An Ext is what a loaded scheduler calls: the kernel functions (kfuncs) for it, and what
// BPF programs can look up. Most make sense in a callback only.
type Ext struct {
	k   *Kernel
	ops ExtOps

	global dsq
	queues []dsq
	order  int64

	lag sim.Time // machine.Machine.ClockLag in this run

	idle, cores CPUSet   // CPUs that idle, and those whose whole core does
	caches      []CPUSet // by CPU: those that share its last-level cache; nil: no others
	idleLine    line

	// The callback that is under way.
	c        *cpu // that runs it
	locked   *cpu // whose run queue is locked; nil: none is
	callback Callback
	way      wakeWay
	about    int32 // the task that SelectCPU or Enqueue is called for
	inserted int   // tasks that Dispatch has inserted
}

// wakeWay is the way of a wakeup that callbacks are called in.
type wakeWay uint8

const (
	wayNone   wakeWay = iota // it is no wakeup
	wayLocal                 // to the waker's CPU
	wayRemote                // to another CPU, under its run queue's lock
	wayQueued                // through the call queue
)

// loadExt loads a scheduler. All tasks that come are its.
func (k *Kernel) loadExt(load func(*Ext) ExtOps) error {
	n := len(k.cpus)
	x := &Ext{k: k, global: k.newDSQ(0), idleLine: k.newLine(0)}
	x.idle = NewCPUSet(n, func(int) bool { return true })
	x.cores = NewCPUSet(n, func(int) bool { return true })
	x.caches = make([]CPUSet, n)
	for i := range k.cpus {
		k.cpus[i].rq.local = dsq{root: noTask}
		switch l := k.near[i].llc; {
		case l == nil:
		case l.cpus[0] == int16(i):
			x.caches[i] = NewCPUSet(n, func(cpu int) bool { return k.near[cpu].llc == l })
		default:
			x.caches[i] = x.caches[l.cpus[0]]
		}
	}
	k.ext = x
	if f := &k.m.ClockLag; f.Source != "" {
		boot := k.initial.Fork(uint32(n) + 1)
		x.lag = spread(f, int16(boot.Below(drawn)))
	}
	x.enter(&k.cpus[0], nil, ExtTimer, wayNone)
	x.ops = load(x)
	if x.ops.Timeout == 0 {
		x.ops.Timeout = maxTimeout
	}
	if x.ops.Timeout < sim.Millisecond || x.ops.Timeout > maxTimeout {
		return fmt.Errorf("scheduler %s: a watchdog of %s: want 1 ms to %s", x.ops.Name, x.ops.Timeout, maxTimeout)
	}
	k.q.At(x.ops.Timeout/2, evWatchdog, 0, 0)
	return nil
}

// enter begins a callback on c, with the run queue of locked locked. Costs of the callback itself are the caller's.
func (x *Ext) enter(c, locked *cpu, b Callback, way wakeWay) {
	x.c, x.locked, x.callback, x.way = c, locked, b, way
}

// call begins a callback that the scheduler has.
func (x *Ext) call(c, locked *cpu, b Callback, way wakeWay) {
	x.enter(c, locked, b, way)
	x.k.counters[ExtCalls+Counter(b)]++
	x.k.pay(c, TimeExt, CostExtCall)
}

// selectTaskRQExt chooses the CPU of the waking or new task t on c: the scheduler does, or without a
// callback of its own the kernel.
func (k *Kernel) selectTaskRQExt(c *cpu, id int32, f WakeFlags) int16 {
	x := k.ext
	t := &k.tasks[id]
	x.about = id
	if f.Sync {
		k.count(WakeupsSync)
	}
	if x.ops.SelectCPU == nil {
		x.enter(c, nil, ExtSelectCPU, wayNone)
		cpu, idle := x.SelectDefault(id, int(t.cpu), f)
		if idle {
			x.Insert(id, DSQLocal, SliceDefault, 0)
		}
		return int16(cpu)
	}
	x.call(c, nil, ExtSelectCPU, wayNone)
	cpu := x.ops.SelectCPU(id, int(t.cpu), f)
	if cpu < 0 || cpu >= len(k.cpus) {
		x.eject("select_cpu returned CPU %d for task %s: the machine has 0 to %d", cpu, t.spec.Name, len(k.cpus)-1)
		return t.cpu
	}
	if !t.allows(int16(cpu)) { // the kernel takes any that is allowed
		for cpu = range k.cpus {
			if t.allows(int16(cpu)) {
				break
			}
		}
	}
	return int16(cpu)
}

// enable tells the scheduler of a new task.
func (k *Kernel) enableExt(c *cpu, id int32) {
	e := &k.tasks[id].ext
	e.enabled = true
	if k.ext.ops.Enable != nil {
		k.ext.enter(c, nil, ExtTimer, wayNone)
		k.ext.ops.Enable(id)
	}
}

// disableExt tells it of one that has exited.
func (k *Kernel) disableExt(c *cpu, id int32) {
	if e := &k.tasks[id].ext; e.enabled {
		e.enabled = false
		if k.ext.ops.Disable != nil {
			k.ext.enter(c, nil, ExtTimer, wayNone)
			k.ext.ops.Disable(id)
		}
	}
}

// enqueueTaskExt is enqueue_task of the ext class: CPU by puts the woken task t on c's run queue, which it has locked.
func (k *Kernel) enqueueTaskExt(by, c *cpu, t int32, way wakeWay) {
	x := k.ext
	tk := &k.tasks[t]
	f := EnqWakeup
	if !tk.started {
		f = 0 // it is new
	}
	tk.cpu, tk.queued, tk.started = c.id, true, true
	k.account(c, func() { k.listAdd(&c.rq.runnable, t) })
	tk.ext.waitSince = c.rq.clock
	if x.ops.Runnable != nil {
		x.call(by, c, ExtRunnable, way)
		x.ops.Runnable(t, f)
	}
	x.enqueue(by, c, t, f, way)
}

// enqueue hands task t, on c's run queue, to where SelectCPU has put it, or to the scheduler.
func (x *Ext) enqueue(by, c *cpu, t int32, f EnqFlags, way wakeWay) {
	k := x.k
	e := &k.tasks[t].ext
	switch {
	case k.tasks[t].holds && k.rt(): // it can't migrate, and stays out of the scheduler's way
		e.to, e.toTimed, e.toFlags = DSQLocal, false, 0
	case e.to != inNoDSQ:
		k.count(ExtDirect)
	case x.ops.Enqueue == nil:
		e.to, e.toTimed, e.toFlags = DSQGlobal, false, 0
		if e.slice == 0 {
			e.slice = SliceDefault
		}
	default:
		x.call(by, c, ExtEnqueue, way)
		x.about = t
		x.ops.Enqueue(t, f)
	}
	d := e.to
	e.to = inNoDSQ
	if d == inNoDSQ {
		e.with = true // it has it now
		return
	}
	dst := c
	if d <= LocalOn(0) {
		dst = &k.cpus[LocalOn(0)-d]
		d = DSQLocal
	}
	if d != DSQLocal {
		x.put(by, x.queue(d, c), d, t, e.toFlags)
		return
	}
	if !k.movable(t, dst) {
		x.eject("task %s was inserted into the local queue of CPU %d, where it may not run", k.tasks[t].spec.Name, dst.id)
		dst = c
	}
	x.moveTo(by, dst, t, e.toFlags)
}

// dequeueTaskExt is dequeue_task: c's task t, which runs, goes to sleep or exits.
func (k *Kernel) dequeueTaskExt(c *cpu, t int32) {
	x := k.ext
	if x.ops.Stopping != nil {
		x.call(c, c, ExtStopping, wayNone)
		x.ops.Stopping(t, false)
	}
	if x.ops.Quiescent != nil {
		x.call(c, c, ExtQuiescent, wayNone)
		x.ops.Quiescent(t)
	}
	k.tasks[t].queued = false
	k.account(c, func() { k.listRemove(&c.rq.runnable, t) })
}

// updateCurrExt takes what c's task has run off its slice.
func (k *Kernel) updateCurrExt(r *rq) {
	if r.curr == noTask {
		return
	}
	e := &k.tasks[r.curr].ext
	if d := r.clock - e.since; d > 0 {
		e.since = r.clock
		if e.slice != SliceInf {
			e.slice = max(e.slice-d, 0)
		}
	}
}

// tickPreemptsExt is the class's tick.
func (k *Kernel) tickPreemptsExt(c *cpu) bool {
	if c.rq.curr == noTask {
		return false
	}
	if x := k.ext; x.ops.Tick != nil {
		x.call(c, c, ExtTick, wayNone)
		x.ops.Tick(c.rq.curr)
	}
	return k.tasks[c.rq.curr].ext.slice == 0
}

// maxDispatches is how often a CPU calls Dispatch in a row.
const maxDispatches = 32

// balanceExt sees that c has a task to run, if there is one: the one that ran while it has some of its slice left,
// else one from its local queue, the global queue, or the scheduler.
func (k *Kernel) balanceExt(c *cpu) {
	x := k.ext
	k.pay(c, TimePick, CostPick)
	k.unpin(c)
	x.enter(c, c, ExtDispatch, wayNone)
	if prev := k.running(&c.rq); prev != noTask && k.tasks[prev].ext.slice > 0 {
		k.pickExt(c, true)
		return
	}
	if c.rq.local.n > 0 || x.consume(c, DSQGlobal) || x.ops.Dispatch == nil {
		k.pickExt(c, false)
		return
	}
	c.dispatches = 0
	k.then(c, stExtDispatch)
}

// dispatchExt asks the scheduler, again and again as long as it inserts tasks and none is for c.
func (k *Kernel) dispatchExt(c *cpu) {
	x := k.ext
	prev := k.running(&c.rq)
	x.call(c, c, ExtDispatch, wayNone)
	x.inserted = 0
	x.ops.Dispatch(int(c.id), prev)
	if prev != noTask && k.tasks[prev].ext.slice > 0 {
		k.pickExt(c, true)
		return
	}
	inserted := x.inserted
	if c.rq.local.n > 0 || x.consume(c, DSQGlobal) || inserted == 0 {
		k.pickExt(c, false)
		return
	}
	if c.dispatches++; c.dispatches == maxDispatches {
		x.Kick(int(c.id), 0)
		k.pickExt(c, false)
		return
	}
	k.then(c, stExtDispatch)
}

// pickExt changes over from the task that ran on c, which is put back if it could run on, to the next one.
func (k *Kernel) pickExt(c *cpu, keep bool) {
	x := k.ext
	was, prev := c.rq.curr, k.running(&c.rq)
	next := x.first(&c.rq.local)
	if prev != noTask && (keep || next == noTask && !x.ops.EnqLast) {
		if k.tasks[prev].ext.slice == 0 {
			k.tasks[prev].ext.slice = SliceDefault
		}
		k.scheduleTail(c, prev)
		return
	}
	if prev != noTask {
		x.putPrev(c, prev, next)
	}
	switch {
	case next != noTask:
		if was == noTask {
			x.updateIdle(c, false)
		}
		x.setNext(c, next)
	case was != noTask:
		x.updateIdle(c, true)
	default: // what has claimed it had nothing for it
		k.charge(c, TimeExt, k.write(&x.idleLine, c.id))
		x.trackIdle(c, true)
	}
	k.scheduleTail(c, next)
}

// putPrev takes the CPU from task prev, which is still runnable.
func (x *Ext) putPrev(c *cpu, prev, next int32) {
	k := x.k
	e := &k.tasks[prev].ext
	if x.ops.Stopping != nil {
		x.call(c, c, ExtStopping, wayNone)
		x.ops.Stopping(prev, true)
	}
	e.waitSince = c.rq.clock
	if e.slice > 0 {
		e.toTimed = false
		x.put(c, &c.rq.local, LocalOn(int(c.id)), prev, EnqHead)
		return
	}
	var f EnqFlags
	if next == noTask {
		f = EnqLast
	}
	x.enqueue(c, c, prev, f, wayNone)
}

// setNext starts the turn of task next, the first one of c's local queue.
func (x *Ext) setNext(c *cpu, next int32) {
	k := x.k
	e := &k.tasks[next].ext
	x.take(next)
	k.pay(c, TimeExt, CostExtQueue)
	if e.slice == 0 {
		e.slice = SliceDefault
	}
	e.since = c.rq.clock
	if x.ops.Running != nil {
		x.call(c, c, ExtRunning, wayNone)
		x.ops.Running(next)
	}
	if k.base.ExtClock == ClockNowV1 { // after a callback that may have taken long, whether there is one or not
		k.unpin(c)
	}
}

// updateIdle notes that c goes idle, or ends to be.
func (x *Ext) updateIdle(c *cpu, idle bool) {
	k := x.k
	if k.base.ExtClock == ClockNowV1 {
		k.unpin(c)
	}
	if x.ops.UpdateIdle != nil {
		x.call(c, c, ExtUpdateIdle, wayNone)
		x.ops.UpdateIdle(int(c.id), idle)
		if !x.ops.KeepIdle {
			return
		}
	}
	k.charge(c, TimeExt, k.write(&x.idleLine, c.id))
	x.trackIdle(c, idle)
}

// maxTimeout is the longest time that the watchdog waits.
const maxTimeout = 30 * sim.Second

// watchdog looks for a task that has been runnable for too long, twice in that time.
func (k *Kernel) watchdog() {
	x := k.ext
	for i := range k.tasks {
		t := &k.tasks[i]
		if !t.queued || k.cpus[t.cpu].rq.curr == int32(i) || k.now-t.ext.waitSince <= x.ops.Timeout {
			continue
		}
		x.eject("task %s was runnable for %s on CPU %d and did not run", t.spec.Name, k.now-t.ext.waitSince, t.cpu)
		return
	}
	k.q.At(k.now+x.ops.Timeout/2, evWatchdog, 0, 0)
}

// eject ends the run because of what the scheduler did. A kernel would go on without it.
func (x *Ext) eject(format string, args ...any) {
	if k := x.k; k.status == Running {
		k.status = Ejected
		k.fault = fmt.Sprintf("at %s: the sched_ext scheduler %s was thrown out: %s", k.now, x.ops.Name, fmt.Sprintf(format, args...))
	}
}

// A kick is a CPU that is to look for work.
type kick struct {
	cpu   int16
	flags KickFlags
}

// kickCPUs is the interrupt that Kick sends to its own CPU: it tells the others.
func (k *Kernel) kickCPUs(c *cpu) {
	for _, kick := range c.kicks {
		dst := &k.cpus[kick.cpu]
		k.lockFor(c, &dst.rq.lock, TimeExt)
		curr := dst.rq.curr
		if kick.flags&KickIdle != 0 && curr != noTask {
			continue
		}
		if kick.flags&KickPreempt != 0 && curr != noTask {
			k.tasks[curr].ext.slice = 0
		}
		k.reschedCPU(c, dst, TimeExt)
		dst.rq.lock.heldUntil(c)
	}
	c.kicks = c.kicks[:0]
}

// extTimer is such a timer, in its interrupt.
func (k *Kernel) extTimer(c *cpu) {
	k.pay(c, TimeTimer, CostTimerExpire)
	if x := k.ext; x.ops.Timer != nil {
		x.call(c, nil, ExtTimer, wayNone)
		x.ops.Timer()
	}
}
