package kernel

import (
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// What the kernel and a sched_ext scheduler are to each other: the callbacks that a scheduler has (ExtOps), and the functions
// that it calls (methods of Ext).

// A TaskID names a task; NoTask: the idle task, or none.
type TaskID = int32

// NoTask is the idle task, or none.
const NoTask TaskID = noTask

// ExtOps is what a scheduler is to sched_ext: struct sched_ext_ops. A callback that is nil it
// does not have. Callbacks are plain functions that run to their end: what they do by way of the Ext that
// they were loaded with is charged to the CPU that runs them. They must not use the wall clock, random
// numbers of their own, or the order of a map.
type ExtOps struct {
	Name    string
	Timeout sim.Time // after which the watchdog takes a runnable task that has not run for forgotten; 0: 30 s
	EnqLast bool     // SCX_OPS_ENQ_LAST: Enqueue also gets the last runnable task of a CPU, which else runs on

	// KeepIdle says that the kernel goes on tracking which CPUs are idle though there is an UpdateIdle.
	KeepIdle bool

	// SelectCPU chooses the CPU of a waking or a new task, which was on prev. No run queue is locked. A task
	// that may run on one CPU only does not come here.
	SelectCPU func(t TaskID, prev int, f WakeFlags) int
	// Enqueue takes over a runnable task, unless SelectCPU has already inserted it into a dispatch queue.
	Enqueue func(t TaskID, f EnqFlags)
	// Dispatch is called for a CPU that runs out of tasks in its local queue. prev is the task that ran there, if
	// it still could, else NoTask.
	Dispatch func(cpu int, prev TaskID)

	Runnable  func(t TaskID, f EnqFlags)
	Running   func(t TaskID)
	Stopping  func(t TaskID, runnable bool)
	Quiescent func(t TaskID)
	Tick      func(t TaskID)
	// UpdateIdle is told that a CPU goes idle, or ends to be.
	UpdateIdle func(cpu int, idle bool)
	// Enable is told of a new task before anything else happens to it, Disable of one that has exited.
	Enable, Disable func(t TaskID)
	// Timer is called when the time that was given to StartTimer is over, on that CPU.
	Timer func()
	// Holds tells whether the scheduler itself keeps a runnable task that is in no dispatch queue. Without it
	// none may be: checking mode breaks such a run.
	Holds func(t TaskID) bool
}

// WakeFlags say how a task is woken.
type WakeFlags struct {
	Sync bool // the waker is about to sleep
	Fork bool // it is a new task
}

// EnqFlags say how a task is enqueued, and what inserting it into a local queue does.
type EnqFlags uint8

// The flags.
const (
	EnqWakeup  EnqFlags = 1 << iota // it has been woken
	EnqLast                         // it is the last one of its CPU (see ExtOps.EnqLast)
	EnqHead                         // for Insert: at the head of the queue
	EnqPreempt                      // for Insert: at the head, and in a local queue the task that runs there gives way
)

// KickFlags say how Kick tells a CPU to look for work.
type KickFlags uint8

// The flags.
const (
	KickIdle    KickFlags = 1 << iota // only if it is idle
	KickPreempt                       // the task that runs there has used up its slice
)

// A DSQ names a dispatch queue.
type DSQ int32

// The dispatch queues that every kernel has: that of the CPU, which its tasks run from, and
// one that all CPUs look into before they ask the scheduler.
const (
	DSQGlobal DSQ = -1
	DSQLocal  DSQ = -2
)

// LocalOn is the local queue of a CPU.
func LocalOn(cpu int) DSQ { return DSQ(-3 - cpu) }

// SliceDefault is how long a task runs that nobody has given a slice, and SliceInf one without end.
const (
	SliceDefault = 20 * sim.Millisecond
	SliceInf     = sim.Never
)

// Machine returns the machine: which CPUs share cores, caches and nodes.
func (x *Ext) Machine() *machine.Machine { return x.k.m }

// CPU returns the CPU that runs the callback.
func (x *Ext) CPU() int { return int(x.c.id) }

// Current returns the task that runs on that CPU, or that an interrupt there has interrupted.
func (x *Ext) Current() TaskID { return x.c.rq.curr }

// Rand returns a random number below n.
func (x *Ext) Rand(n int64) int64 { return x.c.noise.Below(n) }

// RunningOn returns the task that runs on a CPU.
func (x *Ext) RunningOn(cpu int) TaskID { return x.k.cpus[cpu].rq.curr }

// CPUOf returns the CPU whose run queue t is on, or was last.
func (x *Ext) CPUOf(t TaskID) int { return int(x.k.tasks[t].cpu) }

// Allows tells whether t may run on a CPU.
func (x *Ext) Allows(t TaskID, cpu int) bool { return x.k.tasks[t].allows(int16(cpu)) }

// Pinned tells whether t may run on one CPU only.
func (x *Ext) Pinned(t TaskID) bool { return x.k.tasks[t].pinned }

// Kthread tells whether t is a kernel thread.
func (x *Ext) Kthread(t TaskID) bool { return x.k.tasks[t].spec.Kthread }

// Weight returns t's weight, of which 100 is usual: 1 to 10000.
func (x *Ext) Weight(t TaskID) int64 {
	return min(max((x.k.tasks[t].weight*100+nice0/2)/nice0, 1), 10000)
}

// Slice returns for how long t may still run.
func (x *Ext) Slice(t TaskID) sim.Time { return x.k.tasks[t].ext.slice }

// SetSlice sets it. At 0 the task that runs gives way at the next tick, or when it is kicked.
func (x *Ext) SetSlice(t TaskID, d sim.Time) { x.k.tasks[t].ext.slice = max(d, 0) }

// VTime returns t's virtual time, which its scheduler keeps.
func (x *Ext) VTime(t TaskID) int64 { return x.k.tasks[t].ext.vtime }

// SetVTime sets it, for a task that is in no queue.
func (x *Ext) SetVTime(t TaskID, v int64) { x.k.tasks[t].ext.vtime = v }

// CreateDSQ adds a dispatch queue: when the scheduler is loaded.
func (x *Ext) CreateDSQ() DSQ {
	x.queues = append(x.queues, x.k.newDSQ(0))
	return DSQ(len(x.queues) - 1)
}

// Queued returns how many tasks are in a dispatch queue.
func (x *Ext) Queued(d DSQ) int {
	q := x.queue(d, x.c)
	if q == nil {
		x.eject("there is no dispatch queue %d", d)
		return 0
	}
	if d >= DSQGlobal {
		x.k.charge(x.c, TimeExt, x.k.read(&q.lock.line, x.c.id))
	}
	return q.n
}

// Insert puts t, with this slice (0: what it has left), at the end of a dispatch queue: t is what SelectCPU or Enqueue is called
// for, or in Dispatch any task that Enqueue has been given and that is in no queue.
func (x *Ext) Insert(t TaskID, d DSQ, slice sim.Time, f EnqFlags) { x.insert(t, d, slice, f, false) }

// InsertVTime puts it into a queue of the scheduler's that is ordered by virtual time: a queue has either kind of
// tasks alone. The task takes on that time.
func (x *Ext) InsertVTime(t TaskID, d DSQ, slice sim.Time, v int64, f EnqFlags) {
	if d < 0 {
		x.eject("task %s was inserted by virtual time into queue %d, which has none", x.k.tasks[t].spec.Name, d)
		return
	}
	x.k.tasks[t].ext.vtime = v
	x.insert(t, d, slice, f, true)
}

func (x *Ext) insert(t TaskID, d DSQ, slice sim.Time, f EnqFlags, timed bool) {
	if t < 0 || int(t) >= len(x.k.tasks) {
		x.eject("task %d was inserted, and there is none", t)
		return
	}
	e := &x.k.tasks[t].ext
	q := x.queue(d, x.c)
	switch name := x.k.tasks[t].spec.Name; {
	case q == nil:
		x.eject("task %s was inserted into dispatch queue %d, which there is not", name, d)
		return
	case q.n > 0 && q.timed != timed:
		x.eject("task %s was inserted into dispatch queue %d, whose tasks are ordered in the other way", name, d)
		return
	case x.callback == ExtDispatch && !e.with:
		return // somebody else has it: sched_ext drops such
	case x.callback != ExtDispatch && (x.callback != ExtSelectCPU && x.callback != ExtEnqueue || t != x.about || e.to != inNoDSQ):
		x.eject("task %s was inserted by %s, where that can't be", name, Callbacks[x.callback])
		return
	}
	if slice > 0 {
		e.slice = slice
	}
	e.slice = max(e.slice, 1)
	if x.callback != ExtDispatch {
		e.to, e.toTimed, e.toFlags = d, timed, f
		return
	}
	x.inserted++
	dst := x.c
	if d <= LocalOn(0) {
		dst = &x.k.cpus[LocalOn(0)-d]
		d = DSQLocal
	}
	if d != DSQLocal {
		e.toTimed = timed
		x.put(x.c, q, d, t, f)
		return
	}
	if !x.k.movable(t, dst) {
		x.eject("task %s was dispatched to CPU %d, where it may not run", x.k.tasks[t].spec.Name, dst.id)
		return
	}
	x.moveTo(x.c, dst, t, f)
}

// MoveToLocal moves the first task of a queue that may run here to the CPU's local queue, in
// Dispatch, and tells whether there was one.
func (x *Ext) MoveToLocal(d DSQ) bool {
	if d < DSQGlobal || x.queue(d, x.c) == nil || x.callback != ExtDispatch {
		x.eject("%s moved a task from dispatch queue %d to a local one", Callbacks[x.callback], d)
		return false
	}
	return x.consume(x.c, d)
}

// Kick makes a CPU look for work, by an interrupt that this CPU sends to itself.
func (x *Ext) Kick(cpu int, f KickFlags) {
	if cpu < 0 || cpu >= len(x.k.cpus) {
		x.eject("CPU %d was kicked: the machine has 0 to %d", cpu, len(x.k.cpus)-1)
		return
	}
	x.k.count(ExtKicks)
	if len(x.c.kicks) == 0 {
		x.k.pay(x.c, TimeExt, CostIPISend)
		x.c.pending |= irqWork
	}
	for i := range x.c.kicks {
		if k := &x.c.kicks[i]; k.cpu == int16(cpu) && k.flags&KickIdle == f&KickIdle {
			k.flags |= f
			return
		}
	}
	x.c.kicks = append(x.c.kicks, kick{int16(cpu), f})
}

// StartTimer calls Timer in time d, on the CPU that runs the callback; while the scheduler is loaded, on CPU 0.
func (x *Ext) StartTimer(d sim.Time) {
	at := max(d, sim.Microsecond)
	if x.k.events > 0 { // else the scheduler is being loaded, and what the CPU was charged with lies ahead
		at += x.c.t
	}
	x.c.tick.timers.add(at)
	x.k.q.At(at, evExtTimer, uint16(x.c.id), 0)
}
