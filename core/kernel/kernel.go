// Package kernel models the parts of the Linux kernel that decide when a CPU
// runs what: the idle loop and its governor, remote function calls, schedule(), the fair class,
// locks, load balancing, the tick. It is a discrete-event model: each CPU is a state
// machine, and a kernel path is a function named after what it models, which
// charges its costs to the CPU as it goes. A path runs until it must see what
// others did meanwhile and goes on as an event at that time.
//
// The package knows no workload, no machine and no published figure: a workload
// is a set of task programs (Op), a machine is data, a patch is a switch in
// Features, and every cost is an entry of Costs.
package kernel

import (
	"fmt"

	"schedlab/core/machine"
	"schedlab/core/sim"
	"schedlab/core/stats"
)

// Status is what a Step leaves behind.
type Status uint8

// The statuses.
const (
	Running  Status = iota
	Done            // the measured window has ended
	Exceeded        // the budget of events or the horizon is reached: Snapshot.Fault says which
	Ejected         // the sched_ext scheduler was thrown out: Snapshot.Fault says why
	Broken          // an invariant of the model does not hold: Snapshot.Fault says which
)

// horizon is the longest time that an operation may name, in a simulation that
// ends long before.
const horizon = 1_000_000 * sim.Second

// Config is what a Kernel is made from.
type Config struct {
	Machine   *machine.Machine
	Base      Base
	Costs     CostTable
	Seed, Run uint32
	Ext       func(*Ext) ExtOps // the sched_ext scheduler that is loaded; nil: none
	Check     bool              // walk the whole state after every event
	Budget    uint64            // events before the run counts as Exceeded; 0: no limit

	// Horizon is the simulated time at which the run counts as Exceeded. Times are
	// summed over CPUs, so it is at most sim.Never divided by their number, which is
	// also the default.
	Horizon sim.Time
}

// A MetricID names a histogram of per-event samples.
type MetricID int16

// A Kernel is one simulated machine running one simulated kernel.
type Kernel struct {
	m    *machine.Machine
	base Base
	cost CostTable

	uncore int64 // percent: how slow what lies between the cores is in this run

	q      sim.Queue
	now    sim.Time
	events uint64
	budget uint64

	horizon sim.Time
	check   bool
	status  Status
	fault   string

	cpus  []cpu
	tasks []task
	locks []spinlock

	channels []channel
	gates    []event
	mutexes  []mutex

	ext *Ext // nil: no scheduler is loaded, and all tasks are of the fair class

	processes []int32 // by TaskSpec.Process: its tasks; of 0 none are counted

	busy    []int16 // by machine.CPU.Core: threads that run a task
	parents [maxParents]parent
	scan    struct{ on, missed bool } // whether an idle search is under way, and has waited for a cache line

	noise, initial, work sim.Rand

	numaSlack  []int     // by machine.Domain.ID
	groups     [][]group // by machine.Domain.ID, then group
	overloaded bool      // root domain: some run queue went from one task to two since the flag was last rewritten
	over       int       // run queues that hold two tasks or more
	idle       int       // idle CPUs
	nohz       nohz

	barrier     []int16 // CPUs whose tasks spin until others have come to begin with them
	arrived     int32   // tasks that have come
	barrierLine line
	ended       int32   // tasks that have got to the end of the measured window
	signalOrder []int16 // CPUs in the order in which a call to all is signalled; nil if nobody makes any

	near     []near // by CPU
	smt      bool   // some core has more than one thread
	clusters bool
	affine   []bool   // by machine.Domain.ID: tasks are woken across it
	seen     []uint32 // by core: the last search that has looked at it
	search   uint32

	metrics       []stats.Hist
	delivery      MetricID // of the calls' delivery times; -1: nobody wants to know
	idleCore      MetricID // of the times of searches for an idle core; -1: nobody wants to know
	time          [NumTimes]sim.Time
	counters      [NumCounters]int64
	stateSince    sim.Time // since when overTime and idleOver are not yet added up
	overTime      sim.Time
	idleOver      sim.Time
	opened        bool
	begin, end    sim.Time
	sent, handled uint64 // calls and queued wakeups: every one is delivered once
}

// New returns a machine at rest: every CPU asleep in its idle loop with the
// tick stopped, as it is found at a random moment. What earlier work left
// behind (avg_idle, balance costs, idle history, the phase of the ticks) is
// drawn from the stream of initial state.
func New(cfg Config) (*Kernel, error) {
	if cfg.Machine == nil {
		return nil, fmt.Errorf("no machine")
	}
	if cfg.Base.HZ < 1 || cfg.Base.HZ > 10000 {
		return nil, fmt.Errorf("HZ=%d: want 1 to 10000", cfg.Base.HZ)
	}
	k := &Kernel{
		m: cfg.Machine, base: cfg.Base, cost: cfg.Costs,
		budget: cfg.Budget, check: cfg.Check,
		noise:   sim.NewRand(cfg.Seed, cfg.Run, sim.Noise),
		initial: sim.NewRand(cfg.Seed, cfg.Run, sim.Initial),
		work:    sim.NewRand(cfg.Seed, cfg.Run, sim.Workload),

		delivery: -1,
		idleCore: -1,
	}
	k.base.scaleTo(len(k.m.CPUs))
	k.uncore = k.m.Uncore.Lo + k.noise.Below(k.m.Uncore.Hi-k.m.Uncore.Lo+1)
	for c := range Costs {
		if Costs[c].Unit == Uncore {
			k.cost[c] = k.cost[c] * sim.Time(k.uncore) / 100
		}
	}
	k.groups = make([][]group, len(k.m.All))
	for _, d := range k.m.All {
		k.groups[d.ID] = make([]group, len(d.Groups))
		k.numaSlack = append(k.numaSlack, k.newNUMASlack(d))
	}
	k.initCores()
	k.horizon = sim.Never / sim.Time(len(k.m.CPUs))
	if cfg.Horizon > 0 {
		k.horizon = min(k.horizon, cfg.Horizon)
	}
	phase := k.initial.Between(0, k.base.Jiffy()-1)
	k.nohz.next = phase
	k.cpus = make([]cpu, len(k.m.CPUs))
	for i := range k.cpus {
		k.initCPU(i, phase)
	}
	k.initPlacement()
	for i := range k.parents {
		k.parents[i].cpu = int(k.initial.Below(int64(len(k.cpus))))
	}
	if cfg.Ext != nil {
		if !k.base.SchedExt {
			return nil, fmt.Errorf("kernel %s has no sched_ext", k.base.Key)
		}
		if err := k.loadExt(cfg.Ext); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// Machine returns the machine.
func (k *Kernel) Machine() *machine.Machine { return k.m }

// CPUs returns how many CPUs the machine has.
func (k *Kernel) CPUs() int { return len(k.cpus) }

// Metric adds a histogram of per-event samples, which OpMark fills.
func (k *Kernel) Metric() MetricID {
	k.metrics = append(k.metrics, stats.Hist{})
	return MetricID(len(k.metrics) - 1)
}

// The kinds of events.
const (
	evRun      uint8 = iota // the CPU's running frame goes on
	evCall                  // a call interrupt arrives
	evResched               // a reschedule interrupt arrives
	evTick                  // the tick is due
	evTimer                 // the sleep of task Arg is over
	evTCP                   // a timer of TCP's expires, unless it was put off
	evExtTimer              // a timer of the sched_ext scheduler expires
	evWatchdog              // the watchdog of the ext class looks for forgotten tasks
)

// Step simulates up to n events and says how things stand.
func (k *Kernel) Step(n int) Status {
	for range n {
		if k.status != Running {
			break
		}
		ev, ok := k.q.Next()
		if !ok {
			k.broken("nothing is left to happen, and the measured window has not ended")
			break
		}
		if k.events++; k.events > k.budget && k.budget > 0 {
			k.status, k.fault = Exceeded, fmt.Sprintf("stopped at %s after %d events, which is as many as a run may have", k.now, k.budget)
			break
		}
		if ev.At > k.horizon {
			k.status, k.fault = Exceeded, fmt.Sprintf("stopped at %s of simulated time, which is as long as a run may last here", k.horizon)
			break
		}
		k.now = ev.At
		c := &k.cpus[ev.CPU]
		switch ev.Kind {
		case evRun:
			k.run(c)
		case evCall:
			k.callArrives(c, ev.Arg != 0)
		case evResched:
			c.signals--
			k.raise(c, irqResched)
		case evTick:
			c.tickDue = true
			k.raise(c, irqTimer)
		case evTimer:
			c.due = append(c.due, ev.Arg)
			k.raise(c, irqTimer)
		case evTCP:
			k.tcpExpires(c)
		case evExtTimer:
			c.extTimers++
			k.raise(c, irqTimer)
		case evWatchdog:
			k.watchdog()
		}
		if k.check {
			k.checkState()
		}
	}
	return k.status
}

// broken stops the run because the model contradicts itself.
func (k *Kernel) broken(format string, args ...any) {
	if k.status != Broken {
		k.status = Broken
		k.fault = fmt.Sprintf("at %s: %s", k.now, fmt.Sprintf(format, args...))
	}
}

// A Snapshot is what can be read between steps.
type Snapshot struct {
	Events   uint64
	Now      sim.Time
	Elapsed  sim.Time // of the measured window so far
	Hists    []stats.Hist
	Counters []int64
	Time     []int64 // ps by TimeKind, summed over CPUs: CPUs × Elapsed in all
	Fault    string
}

// Read fills s, reusing its slices. The time account is complete up to the
// current time: reading does not change the run.
func (k *Kernel) Read(s *Snapshot) {
	s.Events, s.Now, s.Fault = k.events, k.now, k.fault
	s.Elapsed = 0
	s.Hists, s.Counters, s.Time = s.Hists[:0], s.Counters[:0], s.Time[:0]
	if k.opened && k.status != Done {
		s.Elapsed = k.now - k.begin
		for i := range k.cpus {
			k.settle(&k.cpus[i], k.now)
		}
		k.settleState()
		k.checkAccount()
		s.Fault = k.fault
	} else if k.opened {
		s.Elapsed = k.end - k.begin
	}
	for c, n := range k.counters {
		switch Counter(c) {
		case OverloadedTime:
			n = int64(k.overTime / sim.Nanosecond)
		case IdleWhileOverloaded:
			n = int64(k.idleOver / sim.Nanosecond)
		}
		if !k.opened {
			n = 0
		}
		s.Counters = append(s.Counters, n)
	}
	for _, t := range k.time {
		if !k.opened {
			t = 0
		}
		s.Time = append(s.Time, int64(t))
	}
	for i := range k.metrics {
		if i == cap(s.Hists) {
			s.Hists = append(s.Hists, stats.Hist{})
		}
		s.Hists = s.Hists[:i+1]
		s.Hists[i].Reset()
		s.Hists[i].Merge(&k.metrics[i])
	}
}
