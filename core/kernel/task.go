package kernel

import (
	"fmt"
	"slices"

	"schedlab/core/sim"
)

// An OpKind is what an operation of a task's program does.
type OpKind uint8

// The operations.
const (
	OpCompute     OpKind = iota // compute for D, ±N %
	OpSpin                      // compute until D has passed, by looking at the clock
	OpSleep                     // sleep for D, ±N %
	OpCall                      // call a function on CPU Obj; N=1: wait until it has run
	OpCallAll                   // call a function on every other CPU; N=1: wait until it has run on all
	OpLoop                      // go back Obj operations, N times in all; N=0: for ever; D>0: until D of the measured window has passed at the latest
	OpLock                      // take lock Obj
	OpUnlock                    // give lock Obj back: nothing that takes time but computing may come between the two
	OpWrite                     // write a message to channel Obj
	OpRead                      // read from channel Obj: a message, or as many as there are up to N
	OpPoll                      // wait until one of the N channels from Obj on can be read, and take note of which
	OpEpoll                     // the same, by epoll
	OpRound                     // compute for D, ±N %, if the next OpPoll is a call, and not one of those that the last one has found
	OpPost                      // give event Obj
	OpAwait                     // take event Obj, or the task's own one if Obj is OwnEvent, once it is given
	OpEnlist                    // join the list of event Obj, whose members wait on their own events, and give Obj
	OpDismiss                   // give all on the list of event Obj their own events, and note the time at which it began with that for their OpMark N=1
	OpMutexLock                 // take mutex Obj
	OpMutexSpin                 // take mutex Obj, in user mode alone: by trying over and over
	OpMutexUnlock               // give back the mutex that was taken
	OpResched                   // cond_resched
	OpStamp                     // note the time, for OpMark, in place N: 0 or 1; AtFound: in the place of the channel that OpPoll took note of
	OpMark                      // add the time since OpStamp N, or that of AtFound, to metric Obj
	OpBegin                     // the measured window begins, when N tasks (at least one) have got here: the others spin
	OpEnd                       // the measured window, and with it the run, ends, when N tasks (at least one) have got here
)

// An Op is one operation.
type Op struct {
	Kind OpKind
	At   Addressing
	Obj  int32
	N    int32
	D    sim.Time
}

// Addressing says which object an operation is about.
type Addressing uint8

// The ways to say it.
const (
	AtObj   Addressing = iota // Obj
	AtFound                   // as many after Obj as the channel that OpPoll took note of is after the first one
	AtCPU                     // as many after Obj as the CPU that the task runs on
)

// A TaskSpec describes a task.
type TaskSpec struct {
	Name    string
	Prog    []Op
	CPUs    []int // the CPUs it may run on; nil: all. It starts on the first, or is forked by a parent that is somewhere
	Nice    int   // -20 to 19
	Like    int   // it draws the same random numbers as the task that is spawned as number Like, from 1; 0: its own
	Kthread bool  // runs in kernel mode: preempted only where it asks for it, but for PREEMPT_RT
	Parent  int   // which of the programs that fork tasks forks it: each is somewhere else
	Process int   // the address space that it runs in: tasks of the same number are threads of a process; 0: any
}

// maxProcess is the highest number of a process.
const maxProcess = 1 << 20

// maxLoops is how many loops a program may have.
const maxLoops = 4

// taskState is what a task is doing.
type taskState uint8

const (
	taskRunning  taskState = iota // runnable, or running
	taskSleeping                  // until its timer expires, or what it waits for has come
	taskLockWait                  // TASK_RTLOCK_WAIT: until a lock is free, on PREEMPT_RT
	taskExited
)

type task struct {
	fairEntity
	ext     extEntity
	waker   waker
	pelt    pelt
	spec    *TaskSpec
	allowed []bool // by CPU; nil: all
	state   taskState
	queued  bool // on cpu's fair class
	waking  bool // between its wakeup and its enqueueing
	cpu     int16
	recent  int16    // recent_used_cpu
	pinned  bool     // it may run on one CPU only
	ranTill sim.Time // when it was last switched away from: is its cache still warm?

	pc    int
	left  sim.Time // of the OpCompute that it is in
	till  sim.Time // when the OpSpin that it is in ends; 0: none
	rand  sim.Rand // what its program draws
	loops [maxLoops]struct{ pc, n int32 }
	depth int
	stamp [2]sim.Time
	marks []sim.Time // stamps by channel that it polls

	inSyscall bool    // it computes for a system call, or waits in one
	blocked   bool    // and has slept in it
	polls     bool    // and waits for one of several channels
	epolls    bool    // by epoll
	awaits    bool    // and waits for an event
	ready     []int32 // channels that the last poll has found and that are not taken yet
	found     int32   // the one that was taken last
	own       event
	enlisted  bool  // it is on an event's list
	mutex     int32 // that it has or wants; noTask: none

	call      desc // its own call descriptor
	callCPU   int16
	callWaits bool
	callSince sim.Time

	arrived    bool // where the measured window begins
	noPreempt  bool // it holds a spinlock, or spins for one, without PREEMPT_RT
	holds      bool // it holds a lock
	lockQueued bool // it is among a lock's waiters
	lockSpins  bool // and spins, on PREEMPT_RT
}

// Spawn adds a task, which becomes runnable when the simulation starts.
func (k *Kernel) Spawn(s TaskSpec) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("task %s: %s", s.Name, fmt.Sprintf(format, args...))
	}
	if len(s.Prog) == 0 {
		return bad("it has no program")
	}
	if s.Process < 0 || s.Process > maxProcess {
		return bad("process %d: want 0 to %d", s.Process, maxProcess)
	}
	if s.Parent < 0 || s.Parent >= maxParents {
		return bad("parent %d: want 0 to %d", s.Parent, maxParents-1)
	}
	if s.Nice < -20 || s.Nice > 19 {
		return bad("nice %d: want -20 to 19", s.Nice)
	}
	home := -1
	var allowed []bool
	if s.CPUs != nil {
		if len(s.CPUs) == 0 {
			return bad("it may run on no CPU")
		}
		home = s.CPUs[0]
		allowed = make([]bool, len(k.cpus))
		for _, c := range s.CPUs {
			if c < 0 || c >= len(k.cpus) {
				return bad("CPU %d: the machine has 0 to %d", c, len(k.cpus)-1)
			}
			allowed[c] = true
		}
	}
	// A loop must take time, or the simulation would stand still in it.
	loops, locked, mutexed, polls := 0, int32(-1), false, polled(s.Prog)
	for pc, op := range s.Prog {
		if locked >= 0 && op.Kind != OpCompute && op.Kind != OpUnlock && op.Kind != OpStamp && op.Kind != OpMark {
			return bad("operation %d: it holds a lock", pc)
		}
		if op.At == AtFound && polls == 0 {
			return bad("operation %d is about what a poll has found, and there is none", pc)
		}
		switch op.Kind {
		case OpLock, OpUnlock:
			if int(op.Obj) < 0 || int(op.Obj) >= len(k.locks) || (op.Kind == OpUnlock) != (locked >= 0) || op.Kind == OpUnlock && op.Obj != locked {
				return bad("operation %d is of lock %d, of %d, while it holds lock %d", pc, op.Obj, len(k.locks), locked)
			}
			locked = -1
			if op.Kind == OpLock {
				locked = op.Obj
			}
		case OpCompute, OpSpin, OpSleep, OpRound:
			if op.D < 0 || op.D > horizon || op.N < 0 || op.N > 100 {
				return bad("operation %d: a time of %s ± %d %%", pc, op.D, op.N)
			}
		case OpCall:
			if int(op.Obj) < 0 || int(op.Obj) >= len(k.cpus) {
				return bad("operation %d calls CPU %d: the machine has 0 to %d", pc, op.Obj, len(k.cpus)-1)
			}
		case OpCallAll:
			for i := range k.cpus {
				if allowed == nil || allowed[i] {
					k.prepareCallAll(i)
				}
			}
		case OpLoop:
			if loops++; loops > maxLoops {
				return bad("more than %d loops", maxLoops)
			}
			from := pc - int(op.Obj)
			if op.Obj < 1 || from < 0 || op.N < 0 || op.D < 0 {
				return bad("operation %d loops back %d operations %d times, for %s at most", pc, op.Obj, op.N, op.D)
			}
			timed := false
			for _, o := range s.Prog[from:pc] {
				timed = timed || o.takesTime()
			}
			if !timed {
				return bad("operation %d: the loop takes no time", pc)
			}
		case OpMark, OpStamp:
			if op.Kind == OpMark && (int(op.Obj) < 0 || int(op.Obj) >= len(k.metrics)) {
				return bad("operation %d: no metric %d", pc, op.Obj)
			}
			if op.N < 0 || op.N > 1 || op.At == AtCPU {
				return bad("operation %d: no stamp %d", pc, op.N)
			}
		case OpWrite, OpRead, OpPoll, OpEpoll, OpPost, OpAwait, OpEnlist, OpDismiss, OpMutexLock, OpMutexSpin, OpMutexUnlock:
			if op.Kind == OpMutexSpin && s.Kthread {
				return bad("operation %d spins in user mode, and this is a kernel thread", pc)
			}
			if op.Kind == OpMutexLock || op.Kind == OpMutexSpin || op.Kind == OpMutexUnlock {
				if mutexed == (op.Kind != OpMutexUnlock) {
					return bad("operation %d: it takes one mutex at a time, and gives it back", pc)
				}
				mutexed = !mutexed
			}
			all, about := k.objects(&op)
			if op.At == AtFound {
				about = max(int(polls), 1)
			}
			if op.Obj < 0 && about > 0 || int(op.Obj)+about > all {
				return bad("operation %d is about %d objects from %d on, and there are %d", pc, about, op.Obj, all)
			}
		case OpBegin:
			if op.N > 1 && k.barrier == nil {
				k.barrier, k.barrierLine = make([]int16, 0, op.N), k.newLine(home)
			}
		case OpResched, OpEnd:
		default:
			return bad("operation %d is of no known kind: %d", pc, op.Kind)
		}
	}
	if locked >= 0 || mutexed {
		return bad("it ends with a lock")
	}
	start := sim.Time(0)
	if home < 0 { // one after another
		parent := &k.parents[s.Parent]
		home = parent.cpu
		parent.forks++
		start = parent.forks * k.cost[CostFork]
	}
	id := uint32(len(k.tasks))
	k.pollsFrom(int32(id), s.Prog)
	for len(k.processes) <= s.Process {
		k.processes = append(k.processes, 0)
	}
	if s.Process > 0 {
		k.processes[s.Process]++
	}
	stream := id
	if s.Like > 0 {
		stream = uint32(s.Like - 1)
	}
	k.tasks = append(k.tasks, task{
		fairEntity: fairEntity{weight: niceWeight[s.Nice+20]},
		ext:        extEntity{in: inNoDSQ, to: inNoDSQ},
		spec:       &s, allowed: allowed, state: taskSleeping, cpu: int16(home),
		call:   desc{line: k.newLine(home), waiter: -1},
		own:    event{line: k.newLine(home)},
		mutex:  noTask,
		rand:   k.work.Fork(stream),
		recent: int16(home), pinned: len(s.CPUs) == 1 || len(k.cpus) == 1, waker: waker{last: noTask},
		marks: make([]sim.Time, polls),
	})
	k.armTimer(&k.cpus[home], id, start)
	return nil
}

// takesTime tells whether time passes in an operation, however it goes.
func (op *Op) takesTime() bool {
	switch op.Kind {
	case OpCall, OpCallAll, OpLock, OpWrite, OpRead:
		return true
	case OpCompute, OpSpin, OpSleep:
		return op.D > 0 && op.N < 100
	}
	return false
}

func (t *task) allows(cpu int16) bool { return t.allowed == nil || t.allowed[cpu] }

// vary returns d within ± percent.
func (t *task) vary(d sim.Time, percent int32) sim.Time {
	if percent == 0 {
		return d
	}
	w := d / 100 * sim.Time(percent)
	return t.rand.Between(d-w, d+w)
}

// runTask lets c's task go on with its program, until it must see what others did.
func (k *Kernel) runTask(c *cpu) {
	id := c.rq.curr
	t := &k.tasks[id]
	for k.status == Running {
		if t.till > 0 {
			t.left = max(t.till-c.t, 0)
			if t.left == 0 {
				t.till = 0
			}
		}
		if t.left > 0 {
			if !k.givesWay(c, t) { // it may have been asked to since it was switched to
				k.compute(c, t)
			}
			return
		}
		if t.inSyscall {
			if !k.act(c, t, &t.spec.Prog[t.pc]) {
				return
			}
			continue
		}
		if k.givesWay(c, t) {
			return
		}
		if t.pc == len(t.spec.Prog) {
			t.state = taskExited
			k.then(c, stBlock)
			return
		}
		op := &t.spec.Prog[t.pc]
		t.pc++
		switch op.Kind {
		case OpCompute, OpRound:
			if op.Kind == OpRound && len(t.ready) > 0 {
				continue
			}
			if t.left = t.vary(op.D, op.N); t.left > 0 {
				k.compute(c, t)
				return
			}
		case OpSpin:
			t.till = c.t + op.D
			continue
		case OpSleep:
			d := t.vary(op.D, op.N)
			t.state = taskSleeping
			k.pay(c, TimeTimer, CostTimerArm)
			k.armTimer(c, uint32(id), c.t+d)
			k.then(c, stBlock)
			return
		case OpCall:
			k.callStart(c, int16(op.Obj), op.N != 0)
			return
		case OpLock, OpUnlock:
			t.pc-- // until it is done
			s := stLock
			if op.Kind == OpUnlock {
				s = stUnlock
			}
			k.pay(c, TimeLockWait, CostSpinlock)
			k.then(c, s)
			return
		case OpCallAll:
			k.callAll(c, op.N != 0)
			return
		case OpLoop:
			t.loop(op, op.D > 0 && c.t-k.begin >= op.D)
		case OpResched:
			if c.needResched {
				k.then(c, stBlock)
				return
			}
		case OpWrite, OpRead, OpPoll, OpEpoll, OpPost, OpAwait, OpEnlist, OpDismiss, OpMutexLock, OpMutexUnlock:
			if !k.withoutKernel(c, t, op) {
				t.pc--
				t.inSyscall = true
				t.left = max(k.jitter(c, k.syscallCost(c, t, op)), 1) // or a program of calls that cost nothing would stand still in time
				if op.Kind == OpWrite || op.Kind == OpRead {
					k.refer(c, t, &k.channels[t.object(c, op)])
				}
			}
		case OpMutexSpin:
			if !k.spinForMutex(c, t, op) {
				t.pc--
				return
			}
		case OpStamp:
			*t.stampOf(op) = c.t
		case OpMark:
			if k.opened {
				k.metrics[op.Obj].Add(int64(c.t - *t.stampOf(op)))
			}
		case OpBegin, OpEnd:
			if c.t > k.now { // the edge is where the path has got to
				t.pc--
				k.then(c, stTask)
				return
			}
			if op.Kind == OpEnd {
				if k.ended++; k.ended >= op.N {
					k.closeWindow()
				}
				continue
			}
			if k.opened {
				continue // the last one has come
			}
			if !t.arrived {
				t.arrived = true
				k.arrived++
			}
			if k.arrived < op.N {
				t.pc--
				k.spinAtBarrier(c)
				return
			}
			k.openWindow()
			k.openBarrier(c)
		}
	}
}

// stampOf returns the stamp that t's operation is about.
func (t *task) stampOf(op *Op) *sim.Time {
	if op.At == AtFound {
		return &t.marks[t.found]
	}
	return &t.stamp[op.N]
}

// spinAtBarrier lets c's task spin until the last one of those that begin together
// comes. It gives way to others.
func (k *Kernel) spinAtBarrier(c *cpu) {
	if c.needResched {
		k.then(c, stBlock)
		return
	}
	k.barrier = append(k.barrier, c.id)
	k.write(&k.barrierLine, c.id)
	k.await(c, stTask, TimeKthread)
}

// leaveSpin takes c out of those that spin at the barrier or for a mutex, since it is to give way.
func (k *Kernel) leaveSpin(c *cpu) {
	list := &k.barrier
	if t := &k.tasks[c.rq.curr]; t.spec.Prog[t.pc].Kind == OpMutexSpin {
		list = &k.mutexes[t.mutex].spinners
	}
	if i := slices.Index(*list, c.id); i >= 0 {
		*list = slices.Delete(*list, i, i+1)
		if list != &k.barrier {
			k.coreChanged(c, c, true)
		}
	}
}

// openBarrier lets those go on that spin.
func (k *Kernel) openBarrier(c *cpu) {
	for _, i := range k.barrier {
		w := &k.cpus[i]
		k.rouse(w, 0, k.now+k.store(&k.barrierLine, c.id, i)+w.noise.Between(0, k.cost[CostRelax]))
	}
	k.barrier = k.barrier[:0]
}

// loop goes back, or on if the loop is through or its time is over.
func (t *task) loop(op *Op, over bool) {
	pc := int32(t.pc)
	if t.depth == 0 || t.loops[t.depth-1].pc != pc {
		t.loops[t.depth].pc, t.loops[t.depth].n = pc, op.N
		t.depth++
	}
	l := &t.loops[t.depth-1]
	if op.N > 0 {
		l.n--
		over = over || l.n == 0
	}
	if over {
		t.depth--
		return
	}
	t.pc -= int(op.Obj) + 1
}

func (k *Kernel) compute(c *cpu, t *task) {
	kind := TimeUser
	switch {
	case t.spec.Kthread:
		kind = TimeKthread
	case t.holds || t.inSyscall:
		kind = TimeSyscall
	}
	d := t.left
	if t.till == 0 {
		d = k.paced(c, d)
	}
	k.charge(c, kind, d)
	k.then(c, stComputed)
}

func (k *Kernel) computed(c *cpu) {
	k.tasks[c.rq.curr].left = 0
	k.runTask(c)
}

// givesWay lets c's task t give way where it is, if it is to and can be made to: on the way back to user mode.
func (k *Kernel) givesWay(c *cpu, t *task) bool {
	if !c.needResched || !k.preemptible(t) {
		return false
	}
	c.mode = modeNone
	if t.state != taskRunning { // on its way back from a wait that it was not woken from
		c.mode = modePreempt
	}
	k.schedule(c)
	return true
}

// preemptible tells whether t can be made to give way where it is: in user mode, or
// on PREEMPT_RT anywhere.
func (k *Kernel) preemptible(t *task) bool {
	return (!t.spec.Kthread && !t.inSyscall || k.rt()) && !t.noPreempt
}

// block calls schedule(): because the task sleeps, or because it gives way.
func (k *Kernel) block(c *cpu) {
	c.mode = modeNone
	k.schedule(c)
}
