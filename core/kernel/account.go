package kernel

import "schedlab/core/sim"

// Info names a time kind or a counter.
type Info struct{ Key, Text string }

// A TimeKind is a kind of work that a CPU's time is charged to. Every
// picosecond of every CPU in the measured window is charged to one.
type TimeKind uint8

// The kinds of work.
const (
	TimeUser TimeKind = iota
	TimeKthread
	TimeSyscall
	TimeCall
	TimeCallWait
	TimeIRQ
	TimeFlush
	TimeSchedule
	TimePick
	TimeNewidle
	TimeBalance
	TimeSwitch
	TimeWakeup
	TimeExt
	TimeClockRead
	TimeTick
	TimeTimer
	TimeLockWait
	TimeIdleLoop
	TimeIdleExit
	TimePoll
	TimeIdle
	NumTimes = iota
)

// Times describes the time kinds.
var Times = [NumTimes]Info{
	TimeUser:      {"user", "tasks computing in user mode"},
	TimeKthread:   {"kthread", "kernel threads computing"},
	TimeSyscall:   {"syscall", "tasks computing in kernel mode"},
	TimeCall:      {"call", "sending remote function calls: set-up, push, signal, return"},
	TimeCallWait:  {"call_wait", "spinning until a remote function call has run"},
	TimeIRQ:       {"irq", "interrupt entry and exit"},
	TimeFlush:     {"flush", "emptying the call queue and running the functions"},
	TimeSchedule:  {"schedule", "schedule() without its pick: lock, clock, tail"},
	TimePick:      {"pick", "pick_next_task, with put_prev, set_next and the cheap newidle exit"},
	TimeNewidle:   {"newidle", "newidle balance passes"},
	TimeBalance:   {"balance", "periodic and nohz idle balance passes"},
	TimeSwitch:    {"switch", "context switches"},
	TimeWakeup:    {"wakeup", "waking tasks: placement, queueing, enqueueing"},
	TimeExt:       {"scx", "callbacks of the sched_ext scheduler, and its dispatch queues"},
	TimeClockRead: {"clock_read", "the sched_ext scheduler's reads of the hardware's clock"},
	TimeTick:      {"tick", "the tick's work"},
	TimeTimer:     {"timer", "timer expiry"},
	TimeLockWait:  {"lock_wait", "taking locks and spinning for them, those of run queues among them"},
	TimeIdleLoop:  {"idle_loop", "the idle loop awake: governor, tick stop and restart, entry and exit bookkeeping"},
	TimeIdleExit:  {"idle_exit", "coming out of an idle state"},
	TimePoll:      {"poll", "idle in the polling state"},
	TimeIdle:      {"idle", "asleep in an idle state"},
}

// A Counter counts something that happened in the measured window.
type Counter uint8

// The counters.
const (
	CallsSent Counter = iota
	CallsLocal
	CallsPolledPoll
	CallsPolledMwait
	CallsPolledBefore
	CallsIRQsOff
	CallsIdleEntry
	CallsAsleep
	CallsBusy
	CallsQueued
	IPIs
	PollWakes
	IdleReentries
	IdleFastReentries
	IdleNotified
	NewidleCalls
	NewidleCheap
	NewidleWalks1
	NewidleWalks2
	NewidleWalks3
	NewidleWalks4
	NewidleRoot
	AllPinnedRedos
	OverloadedSet
	OverloadedCleared
	OverloadedTime
	IdleWhileOverloaded
	BalancePasses
	ActiveBalances
	NohzKicks
	Migrations
	Wakeups
	WakeupsQueued
	WakeupsLocal
	WakeupsRemote
	WakeupsSync
	WakeAffineThis
	WakeAffinePrev
	PlacedPrev
	PlacedWaker
	PlacedCache
	PlacedFar
	IdleChecks
	IdleSearches
	IdleSearchesFound
	IdleCoresScanned
	SwitchesVoluntary
	SwitchesInvoluntary
	RTLockWaits
	RTLockLeftQueued
	Messages
	MessagesLost
	Ticks
	TickStops
	TickRestarts
	IdlePoll
	IdleSleep
	numPlainCounters = iota // those of the ext class follow (ext_clock.go)
)

// Counters describes the counters. The times among them are in nanoseconds.
var Counters = describeCounters([NumCounters]Info{
	CallsSent:           {"calls", "remote function calls that workloads made"},
	CallsLocal:          {"calls_local", "of these: to the caller's own CPU"},
	CallsPolledPoll:     {"calls_polled_poll", "target polling in the POLL state: no interrupt"},
	CallsPolledMwait:    {"calls_polled_mwait", "target asleep in MWAIT: the store wakes it, no interrupt"},
	CallsPolledBefore:   {"calls_polled_before", "target's polling flag set outside an idle state: no interrupt"},
	CallsIRQsOff:        {"calls_ipi_irqs_off", "interrupt that waited behind a section with interrupts off"},
	CallsIdleEntry:      {"calls_ipi_idle_entry", "interrupt into the idle loop outside of a sleeping state"},
	CallsAsleep:         {"calls_ipi_asleep", "interrupt that woke an idle state"},
	CallsBusy:           {"calls_ipi_busy", "interrupt into a running task"},
	CallsQueued:         {"calls_queued", "pushed behind another call, whose signal serves both"},
	IPIs:                {"ipis", "inter-processor interrupts sent, of any kind"},
	PollWakes:           {"poll_wakes", "signals given by setting a flag of a polling CPU, without an interrupt"},
	IdleReentries:       {"idle_reentries", "schedule() from the idle loop that stayed on the idle task"},
	IdleFastReentries:   {"idle_fast_reentries", "of these: by the SM_IDLE fast path"},
	IdleNotified:        {"idle_notified", "times a CPU left its idle loop to serve calls and went back without schedule()"},
	NewidleCalls:        {"newidle", "newidle balance calls"},
	NewidleCheap:        {"newidle_cheap", "of these: left at once, not overloaded or no time"},
	NewidleWalks1:       {"newidle_walks_1", "walks whose highest pass was the lowest domain"},
	NewidleWalks2:       {"newidle_walks_2", "walks whose highest pass was the second domain"},
	NewidleWalks3:       {"newidle_walks_3", "walks whose highest pass was the third domain"},
	NewidleWalks4:       {"newidle_walks_4", "walks whose highest pass was the fourth domain or above"},
	NewidleRoot:         {"newidle_root", "walks that reached the root domain and rewrote its overloaded flag"},
	AllPinnedRedos:      {"all_pinned_redos", "balance passes done again because nothing found could be moved"},
	OverloadedSet:       {"overloaded_set", "times the root domain's overloaded flag went up"},
	OverloadedCleared:   {"overloaded_cleared", "times it went down"},
	OverloadedTime:      {"overloaded_ns", "time for which it was up, ns"},
	IdleWhileOverloaded: {"idle_while_overloaded_ns", "CPU time idle while some run queue held two tasks or more, ns"},
	BalancePasses:       {"balance_passes", "periodic and nohz idle balance passes"},
	ActiveBalances:      {"active_balances", "running tasks that a balance pass had pushed to an idle CPU"},
	NohzKicks:           {"nohz_kicks", "idle CPUs asked to balance for all idle ones"},
	Migrations:          {"migrations", "tasks moved to another CPU"},
	Wakeups:             {"wakeups", "tasks woken"},
	WakeupsQueued:       {"wakeups_queued", "of these: through the target's call queue"},
	WakeupsLocal:        {"wakeups_local", "of these: on the waker's own CPU"},
	WakeupsRemote:       {"wakeups_remote", "of these: on another CPU, under its run queue's lock"},
	WakeupsSync:         {"wakeups_sync", "wakeups that took the waker to be about to sleep, when a CPU was chosen"},
	WakeAffineThis:      {"wake_affine_this", "choices between two CPUs for the waker's"},
	WakeAffinePrev:      {"wake_affine_prev", "choices between two CPUs for the one that the task was on"},
	PlacedPrev:          {"placed_prev", "woken tasks that went where they were"},
	PlacedWaker:         {"placed_waker", "woken tasks that went to the waker's CPU from another"},
	PlacedFar:           {"placed_far", "woken tasks that went to another CPU under another cache"},
	PlacedCache:         {"placed_cache", "woken tasks that went to another CPU under the cache where they were"},
	IdleChecks:          {"idle_checks", "looks at a CPU, whether it is idle, to place a task"},
	IdleSearches:        {"idle_searches", "searches through the CPUs of a last-level cache for an idle one"},
	IdleSearchesFound:   {"idle_searches_found", "of these: one was found"},
	IdleCoresScanned:    {"idle_cores_scanned", "cores looked at in searches for an idle one"},
	SwitchesVoluntary:   {"switches_voluntary", "context switches away from a task that went to sleep"},
	SwitchesInvoluntary: {"switches_involuntary", "context switches away from a task that could have run on"},
	RTLockWaits:         {"rtlock_waits", "times schedule() was called to wait for an rtlock, on PREEMPT_RT"},
	RTLockLeftQueued:    {"rtlock_left_queued", "of these: the task stayed on its run queue, which is a fault"},
	Messages:            {"messages", "messages written to pipes and sockets"},
	MessagesLost:        {"messages_lost", "messages that found a UDP socket's buffer full"},
	Ticks:               {"ticks", "ticks handled"},
	TickStops:           {"tick_stops", "ticks stopped by idle CPUs"},
	TickRestarts:        {"tick_restarts", "ticks restarted"},
	IdlePoll:            {"idle_poll", "entries into the polling state"},
	IdleSleep:           {"idle_sleep", "entries into sleeping states"},
	ClockMissUnpinned:   {"clock_miss_unpinned", "misses of the cached clock after the run queue's lock was unpinned, in dispatch and behind it"},
	ClockMissRemote:     {"clock_miss_remote", "misses under another run queue's lock: that one's clock is valid, and the lookup is of this CPU's"},
	ClockMissUnlocked:   {"clock_miss_unlocked", "misses where no run queue is locked"},
	ClockMissRefreshed:  {"clock_miss_refreshed", "misses because the cached time was earlier than the one given before (v1 to v3), or no later than the update before (v4)"},
	ClockUsesLocal:      {"clock_uses_local", "times asked for in runnable and enqueue, waking a task on the waker's CPU"},
	ClockUsesRemote:     {"clock_uses_remote", "the same, waking one on another CPU under its run queue's lock"},
	ClockUsesQueued:     {"clock_uses_queued", "the same, waking one from the call queue of its CPU"},
	ClockHitsLocal:      {"clock_hits_local", "of clock_uses_local: from the cached clock"},
	ClockHitsRemote:     {"clock_hits_remote", "of clock_uses_remote: from the cached clock"},
	ClockHitsQueued:     {"clock_hits_queued", "of clock_uses_queued: from the cached clock"},
	ClockOldest:         {"clock_oldest_ns", "the greatest age of a cached time that the scheduler was given, ns"},
	ClockUpdates:        {"clock_updates", "reads of the hardware's clock by the kernel itself, to update run queues' clocks: no cached clock saves these"},
	ExtDirect:           {"scx_direct", "woken tasks that select_cpu inserted into a dispatch queue itself"},
	ExtMoves:            {"scx_moves", "tasks that dispatch moved to another CPU's run queue"},
	ExtKicks:            {"scx_kicks", "CPUs kicked by the scheduler"},
})

// describeCounters adds those that there are one of for each callback.
func describeCounters(list [NumCounters]Info) [NumCounters]Info {
	for i, name := range Callbacks {
		n := Counter(i)
		list[ExtCalls+n] = Info{"scx_" + name, "calls of the scheduler's " + name}
		list[ClockUses+n] = Info{"clock_uses_" + name, "times that " + name + " asked for"}
		list[ClockReads+n] = Info{"clock_reads_" + name, "of these: reads of the hardware's clock"}
	}
	return list
}

// A ledger is work that a frame of a CPU has been charged with and that lies
// partly ahead of the simulation's time: a path charges its costs as it goes
// and the time they take passes afterwards. It is settled as the time passes,
// so an interrupt, or the edge of the measured window, can cut it anywhere.
type ledger struct {
	from sim.Time // where its first entry begins
	n    int
	e    []entry // n of them count
}

type entry struct {
	kind TimeKind
	d    sim.Time
}

func (l *ledger) add(k *Kernel, kind TimeKind, d sim.Time) {
	if l.n > 0 && l.e[l.n-1].kind == kind {
		l.e[l.n-1].d += d
		return
	}
	l.e = append(l.e[:l.n], entry{kind, d})
	l.n++
}

// settle charges what lies before t.
func (l *ledger) settle(k *Kernel, t sim.Time) {
	i := 0
	for ; i < l.n; i++ {
		e := &l.e[i]
		if l.from+e.d > t {
			k.time[e.kind] += t - l.from
			e.d -= t - l.from
			l.from = t
			break
		}
		k.time[e.kind] += e.d
		l.from += e.d
	}
	if i > 0 {
		copy(l.e, l.e[i:l.n])
		l.n -= i
	}
}

// settle charges all of c's time before t.
func (k *Kernel) settle(c *cpu, t sim.Time) {
	f := c.running()
	f.ledger.settle(k, t)
	if f.waiting && f.at < t {
		k.time[f.wait] += t - f.at
		f.at = t
		f.ledger.from = t
	}
}

// count adds to a counter.
func (k *Kernel) count(c Counter) { k.counters[c]++ }

// openWindow begins the measured window: what was measured before is forgotten.
func (k *Kernel) openWindow() {
	for i := range k.cpus {
		k.settle(&k.cpus[i], k.now)
	}
	k.settleState()
	k.time = [NumTimes]sim.Time{}
	k.counters = [NumCounters]int64{}
	k.overTime, k.idleOver = 0, 0
	for i := range k.metrics {
		k.metrics[i].Reset()
	}
	k.opened, k.begin = true, k.now
}

// closeWindow ends it, and with it the run.
func (k *Kernel) closeWindow() {
	for i := range k.cpus {
		k.settle(&k.cpus[i], k.now)
	}
	k.settleState()
	k.end = k.now
	k.status = Done
	k.checkAccount()
}

// settleState adds up the times that states of the whole machine have lasted.
func (k *Kernel) settleState() {
	d := k.now - k.stateSince
	k.stateSince = k.now
	if k.overloaded {
		k.overTime += d
	}
	if k.over > 0 {
		k.idleOver += d * sim.Time(k.idle)
	}
}
