package kernel

import (
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// A Unit is what a cost constant counts.
type Unit string

// The units. Code is carried in cycles, so that a slower clock makes a slower
// kernel. What waits for caches of other cores or for memory is carried in
// picoseconds at the uncore's fastest, and slows down with it in a run.
const (
	Cycles      Unit = "cycles"
	Uncore      Unit = "ps of uncore"
	Picoseconds Unit = "ps"
)

// A Cost names one constant of the model.
type Cost uint8

// The constants.
const (
	CostCallSetup Cost = iota
	CostCallPush
	CostCallReturn
	CostRelax
	CostIPISend
	CostIRQEntry
	CostIRQExit
	CostFlush
	CostCallFunc
	CostFlushWake
	CostFlushExit
	CostIdleTop
	CostIdleEnter
	CostGovernor
	CostTickStop
	CostStateEnter
	CostReflect
	CostTickRestart
	CostIdleLeave
	CostScheduleHead
	CostClock
	CostPick
	CostScheduleTail
	CostDequeue
	CostEnqueue
	CostSwitch
	CostNewidle
	CostPass
	CostRQVisit
	CostGroupVisit
	CostDetachCheck
	CostMigrate
	CostNohzVisit
	CostWakeup
	CostIdleCheck
	CostIdleMiss
	CostIdleMask
	CostClearBit
	CostAndNot
	CostTick
	CostTimerArm
	CostTimerExpire
	CostSpinlock
	CostRTLock
	CostSwitchProcess
	CostSyscall
	CostBlock
	CostCopy
	CostPipeWrite
	CostPipeRead
	CostUnixWrite
	CostUnixRead
	CostTCPSend
	CostTCPReceive
	CostUDPSend
	CostUDPReceive
	CostPoll
	CostPollChannel
	CostEpoll
	CostFutex
	CostFork
	CostExtCall
	CostExtQueue
	CostClockRead
	CostClockCached
	NumCosts = iota
)

// Figures that were stated in nanoseconds are turned into cycles at 1.9 GHz.
const (
	at19     = " (as cycles at 1.9 GHz)"
	guess    = "no figure was found: a guess from the length of the path"
	idleIn   = "idle entry, from schedule() to the idle state, of about 700 ns in all" + at19
	idleOut  = "governor and tick at idle entry and exit, 200 to 400 ns" + at19
	turn     = "sender turnaround between two calls of 100 to 150 ns in all" + at19
	fixed    = "the fixed part of schedule() without its pick, 150 to 250 ns in all" + at19
	switched = "a list post: 1100 ns between threads"
)

// Costs describes every constant. Figures that are ranges or sums are split by
// the lengths of the paths.
var Costs = [NumCosts]CostInfo{
	CostCallSetup:     {"call_setup", "remote call: from the caller to the push", Cycles, 150, machine.Assumed, turn},
	CostCallPush:      {"call_push", "remote call: the push without its cache line", Cycles, 20, machine.Assumed, guess},
	CostCallReturn:    {"call_return", "remote call: from the callee's unlock, seen, back to the caller", Cycles, 85, machine.Assumed, turn},
	CostRelax:         {"relax", "spinning: from one look to the next, a pause instruction", Cycles, 140, machine.Cited, "a pause instruction takes about 140 cycles on Intel cores since Skylake"},
	CostIPISend:       {"ipi_send", "writing the interrupt controller's register", Uncore, 150_000, machine.Assumed, "IPI send 150 ns"},
	CostIRQEntry:      {"irq_entry", "interrupt entry in software", Cycles, 380, machine.Assumed, "IPI delivery and entry of about 600 ns, less the delivery" + at19},
	CostIRQExit:       {"irq_exit", "interrupt exit", Cycles, 520, machine.Assumed, "IPI handler exit 250 to 300 ns" + at19},
	CostFlush:         {"flush", "call queue: taking the list, without its cache line", Cycles, 60, machine.Assumed, guess},
	CostCallFunc:      {"call_func", "call queue: one function that does nothing, with its unlock", Cycles, 40, machine.Assumed, guess},
	CostFlushWake:     {"flush_wake", "call queue: one queued wakeup, without its enqueueing", Cycles, 150, machine.Assumed, guess},
	CostFlushExit:     {"flush_exit", "call queue: from the last function's unlock to interrupts on", Cycles, 80, machine.Assumed, guess},
	CostIdleTop:       {"idle_top", "idle loop: its top, until the polling flag is set", Cycles, 80, machine.Assumed, idleIn},
	CostIdleEnter:     {"idle_enter", "idle loop: from the polling flag to the first look at NEED_RESCHED", Cycles, 300, machine.Assumed, idleIn},
	CostGovernor:      {"governor", "idle loop: choosing a state", Cycles, 500, machine.Assumed, idleIn},
	CostTickStop:      {"tick_stop", "idle loop: stopping the tick", Cycles, 400, machine.Assumed, idleOut},
	CostStateEnter:    {"state_enter", "idle loop: from the choice into the state", Cycles, 400, machine.Assumed, idleIn},
	CostReflect:       {"reflect", "idle loop: from the state's end back to the loop", Cycles, 200, machine.Assumed, idleOut},
	CostTickRestart:   {"tick_restart", "idle loop: restarting the tick", Cycles, 400, machine.Assumed, idleOut},
	CostIdleLeave:     {"idle_leave", "idle loop: from NEED_RESCHED seen to the polling flag's clearing", Cycles, 150, machine.Assumed, idleOut},
	CostScheduleHead:  {"schedule_head", "schedule(): entry, RCU note, lock", Cycles, 150, machine.Assumed, fixed},
	CostClock:         {"clock", "updating a run queue's clock: one clock read", Picoseconds, 12_000, machine.Assumed, "rdtsc takes about 12 ns"},
	CostPick:          {"pick", "picking the next task: class shortcut, put and set, the cheap newidle exit", Cycles, 220, machine.Assumed, "pick, put and set idle and cheap newidle exit 80 to 150 ns" + at19},
	CostScheduleTail:  {"schedule_tail", "schedule(): callbacks, unlock, interrupts on", Cycles, 200, machine.Assumed, fixed},
	CostDequeue:       {"dequeue", "taking a task off a run queue", Cycles, 500, machine.Assumed, guess},
	CostEnqueue:       {"enqueue", "putting a task on a run queue", Cycles, 600, machine.Assumed, guess},
	CostSwitch:        {"switch", "context switch", Picoseconds, 1_100_000, machine.Cited, switched},
	CostNewidle:       {"newidle", "newidle balance: set-up, blocked averages, dropping and retaking the lock", Cycles, 500, machine.Assumed, guess},
	CostPass:          {"pass", "balance pass: what it costs beside its visits", Cycles, 150, machine.Assumed, guess},
	CostRQVisit:       {"rq_visit", "balance pass: looking at one run queue", Picoseconds, 30_000, machine.Assumed, "a few lines, most of them still in the CPU's own caches"},
	CostGroupVisit:    {"group_visit", "balance pass: summing up one group", Picoseconds, 30_000, machine.Assumed, guess},
	CostDetachCheck:   {"detach_check", "balance pass: looking whether one task can be moved", Cycles, 100, machine.Assumed, guess},
	CostMigrate:       {"migrate", "balance pass: moving one task", Cycles, 2000, machine.Assumed, guess},
	CostNohzVisit:     {"nohz_visit", "nohz idle balance and the update of blocked load: one idle CPU, without its passes", Cycles, 300, machine.Assumed, guess},
	CostWakeup:        {"wakeup", "waking a task, without its enqueueing", Cycles, 800, machine.Assumed, guess},
	CostIdleCheck:     {"idle_check", "idle search: looking at one CPU, without its run queue's cache line", Cycles, 30, machine.Assumed, guess},
	CostIdleMiss:      {"idle_miss", "idle search: a cache line that is elsewhere, after the first one: it comes while others do", Uncore, 30_000, machine.Assumed, "a few loads are under way at a time; " + guess},
	CostIdleMask:      {"idle_mask", "idle search: making the mask of the CPUs to look at", Cycles, 200, machine.Assumed, guess},
	CostClearBit:      {"clear_bit", "idle search for a core, before its patch: striking one thread out of the mask", Cycles, 15, machine.Assumed, "4 ns on POWER9, which is a guess (as cycles at 3.7 GHz)"},
	CostAndNot:        {"and_not", "idle search for a core, with its patch: striking one core out of the mask", Cycles, 40, machine.Assumed, "a walk through 32 words, for 2048 CPUs; " + guess},
	CostTick:          {"tick", "the tick's work", Cycles, 3000, machine.Assumed, guess},
	CostTimerArm:      {"timer_arm", "arming a timer", Cycles, 400, machine.Assumed, guess},
	CostSpinlock:      {"spinlock", "taking a spinlock or giving it back, without its cache line", Cycles, 20, machine.Assumed, guess},
	CostRTLock:        {"rtlock", "PREEMPT_RT: queueing for an rtlock, until schedule()", Cycles, 400, machine.Assumed, guess},
	CostSwitchProcess: {"switch_process", "context switch to another process, beyond one between threads", Picoseconds, 1_300_000, machine.Cited, "a list post: 2400 ns between processes, 1100 ns between threads"},
	CostSyscall:       {"syscall", "entering the kernel and leaving it", Cycles, 300, machine.Assumed, guess},
	CostBlock:         {"block", "going to sleep on a wait queue, until schedule(), and leaving the queue later", Cycles, 400, machine.Assumed, guess},
	CostCopy:          {"copy", "copying a KiB between user space and the kernel", Cycles, 250, machine.Assumed, "4 bytes a cycle, as for data in the second-level cache"},
	CostPipeWrite:     {"pipe_write", "writing a message to a pipe, without its copy and what waking takes", Cycles, 1600, machine.Assumed, guess},
	CostPipeRead:      {"pipe_read", "reading a message from a pipe, likewise", Cycles, 1400, machine.Assumed, guess},
	CostUnixWrite:     {"unix_write", "sending a message on an AF_UNIX socket, likewise: its buffer is allocated", Cycles, 4000, machine.Assumed, guess},
	CostUnixRead:      {"unix_read", "receiving a message from an AF_UNIX socket, likewise", Cycles, 3000, machine.Assumed, guess},
	CostTCPSend:       {"tcp_send", "sending on TCP over loopback, likewise: down the stack and up again in softirq", Cycles, 9000, machine.Assumed, guess},
	CostTCPReceive:    {"tcp_receive", "receiving from TCP, likewise", Cycles, 3000, machine.Assumed, guess},
	CostUDPSend:       {"udp_send", "sending on UDP over loopback, likewise", Cycles, 6500, machine.Assumed, guess},
	CostUDPReceive:    {"udp_receive", "receiving from UDP, likewise", Cycles, 2000, machine.Assumed, guess},
	CostPoll:          {"poll", "poll(), without what it looks at", Cycles, 500, machine.Assumed, guess},
	CostPollChannel:   {"poll_channel", "poll(): one file descriptor; epoll_wait(): one that is ready", Cycles, 120, machine.Assumed, guess},
	CostEpoll:         {"epoll", "epoll_wait(), without what it reports", Cycles, 600, machine.Assumed, guess},
	CostFutex:         {"futex", "a futex call, without sleeping or waking", Cycles, 600, machine.Assumed, guess},
	CostFork:          {"fork", "the time between two tasks of a program that begins", Cycles, 100_000, machine.Assumed, "some 20 µs for a thread and 60 for a process on common machines"},
	CostExtCall:       {"scx_call", "sched_ext: one callback, without its clock reads and what it has the kernel do", Cycles, 150, machine.Assumed, "some hundred instructions of BPF, compiled, and their map lookups; " + guess},
	CostExtQueue:      {"scx_queue", "sched_ext: putting a task into a dispatch queue or taking it out, without the queue's cache line", Cycles, 120, machine.Assumed, guess},
	CostClockRead: {"clock_read", "sched_ext: a scheduler's read of the hardware's clock", Picoseconds, 20_000, machine.Derived,
		"clock_gettime, which reads the same counter in order and makes nanoseconds of it in user mode, takes 12 ns on a Core i7-11800H, 20 on an EPYC 9274F and 23 on a Xeon Gold 5318Y, " +
			"https://github.com/dendibakh/perf-book/issues/84. That reads are dearer where all CPUs make them is not in the model: rdtsc kept its pace with a thread on each of 40 CPUs of a Xeon Silver 4114 and of 16 of a Ryzen 9, " +
			"https://github.com/sched-ext/scx/issues/858, and the patches name neither the hardware where they are slow nor a figure"},
	CostClockCached: {"clock_cached", "sched_ext: a scheduler's read of the run queue's cached clock", Cycles, 10, machine.Assumed, "two loads that hit; " + guess},
	CostTimerExpire: {"timer_expire", "expiring a timer", Cycles, 400, machine.Assumed, guess},
}

// CostInfo says what a constant is and where its value comes from.
type CostInfo struct {
	Key    string // how links change it: c.<key>=<ns>
	Text   string
	Unit   Unit
	Def    int64 // in Unit
	Basis  machine.Basis
	Source string
}

// MaxCost is the largest value that a scenario may give a cost.
const MaxCost = 100 * sim.Microsecond

// CostTable holds every constant as a time on one machine.
type CostTable [NumCosts]sim.Time

// LookupCost returns the cost with this key.
func LookupCost(key string) (Cost, bool) {
	for c := range Costs {
		if Costs[c].Key == key {
			return Cost(c), true
		}
	}
	return 0, false
}

// CostOn returns what cost c is on machine m, with the basis and the source of
// that value: the machine's own if it has one, else the general one.
func CostOn(m *machine.Machine, c Cost) machine.CostFigure {
	info := &Costs[c]
	for _, f := range m.Costs {
		if f.Key == info.Key {
			return f
		}
	}
	f := machine.CostFigure{Key: info.Key, Value: sim.Time(info.Def), Basis: info.Basis, Source: info.Source}
	if info.Unit == Cycles {
		f.Value = m.Cycles(info.Def)
	}
	return f
}

// CostsOn returns all costs on machine m.
func CostsOn(m *machine.Machine) (t CostTable) {
	for c := range t {
		t[c] = CostOn(m, Cost(c)).Value
	}
	return t
}
