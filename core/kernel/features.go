package kernel

import (
	"fmt"
	"math/bits"
	"strings"

	"schedlab/core/sim"
)

// Model is the version of the model. Results of different versions may
// differ; results of one version never do. Raise it with every change that
// changes a result.
const Model = 5

// IdleMode says what schedule() does when the idle loop calls it again.
type IdleMode uint8

// The idle modes.
const (
	IdleFull      IdleMode = iota // pick_next_task, with its newidle balance, like any other schedule()
	IdleFast                      // SM_IDLE: with nothing queued, stay on the idle task and return
	IdleNoNewidle                 // pick_next_task, but without a newidle balance if the idle task ran before
)

// CallSignal says how a remote function call makes a polling CPU look at its queue.
type CallSignal uint8

// The signals.
const (
	SignalResched CallSignal = iota // NEED_RESCHED is set: no interrupt, but a schedule() follows
	SignalNotify                    // TIF_NOTIFY_IPI, a flag of its own, is set: no interrupt, and no schedule()
	SignalIPI                       // an interrupt is sent, as to any other CPU
	SignalWakeups                   // as before 5.8: queued wakeups set NEED_RESCHED, calls send an interrupt
)

// PreemptTest says how schedule() tells that a task was preempted rather than
// gone to sleep.
type PreemptTest uint8

// The tests.
const (
	PreemptMask    PreemptTest = iota // mode & mask, where the mask is all ones but on PREEMPT_RT
	PreemptAbove                      // mode > SM_NONE
	PreemptExactly                    // mode == SM_PREEMPT
)

// Features are the switches that patches set. The zero value is the kernel
// before any patch.
type Features struct {
	IdleReentry    IdleMode
	PreemptTest    PreemptTest
	CallSignal     CallSignal
	NohzAnyway     bool // who is asked by its NEED_RESCHED flag to balance for idle CPUs does so
	IdleCoreExit   bool // the search for an idle core leaves a core at its first busy thread, and strikes it out at one go
	SyncInTaskOnly bool // a sync wakeup counts as one only if the waker is a task and no interrupt

	ExtClock         ExtClock // where a sched_ext scheduler has the time from
	ExtQueuedWakeups bool     // tasks of the ext class are woken through the call queue too, where others are
}

// ExtClock is where a sched_ext scheduler has the time from.
type ExtClock uint8

// The clocks: bpf_ktime_get_ns, and the versions of the run queue's cached clock.
const (
	ClockHardware ExtClock = iota // every read is one of the hardware
	ClockNowV1                    // scx_bpf_clock_get_ns, v1 to v3
	ClockNowV4                    // scx_bpf_now_ns, v4
	ClockNow                      // scx_bpf_now, as merged in 6.14
)

// A Preemption model, as the kernel's configuration names it.
type Preemption string

// The preemption models.
const (
	PreemptVoluntary Preemption = "voluntary"
	PreemptRT        Preemption = "rt"
)

// A Policy is how the fair class chooses whom to run.
type Policy uint8

// The policies.
const (
	EEVDF Policy = iota
	CFS
)

// String returns the policy's name.
func (p Policy) String() string {
	if p == CFS {
		return "CFS"
	}
	return "EEVDF"
}

// Tunables are the numbers of a kernel's configuration and of its scheduler.
type Tunables struct {
	HZ            int64
	Preemption    Preemption
	Policy        Policy
	BaseSlice     sim.Time // EEVDF's base slice, as scaled for eight CPUs or more
	CFS           CFSTunables
	WakeQueue     WakeQueue
	IdleSearch    IdleSearch
	MigrationCost sim.Time // sysctl_sched_migration_cost
	BusyFactor    int64    // how much rarer a busy CPU balances
	ImbalancePct  Imbalance
	NUMASpread    NUMASpread
	IdleCoreFirst bool // since 6.6: of a group's idle CPUs the first whose core is idle balances for it, not just the first
	ExtByCache    bool // since 6.13: sched_ext's own choice of an idle CPU looks under the cache of the last one first
	PipeRoomOnly  bool // since 6.14: who reads from a full pipe wakes its writer only when a page has come free
}

// A WakeQueue says which wakeups of tasks on CPUs that share the waker's last-level cache
// go through the CPU's call queue all the same. All others do.
type WakeQueue uint8

// The rules.
const (
	QueueNever        WakeQueue = iota // before 5.8
	QueueDescheduling                  // of tasks still being switched away from, where nothing else runs
	QueueIdle                          // since 6.0: where nothing runs
)

// NUMASpread says how uneven nodes may be while few tasks run. Where a node has several last-level caches that
// is as many tasks as it has of them.
type NUMASpread uint8

// The rules.
const (
	SpreadEvenly  NUMASpread = iota // before 5.6: not at all
	SpreadQuarter                   // 5.18: by two tasks, while no more run than a quarter of a node's CPUs; new tasks stay until then
	SpreadEighth                    // since 6.0: an eighth, and new tasks stay while idle CPUs differ by no more than two
)

// An IdleSearch is a generation of the search for an idle CPU.
type IdleSearch uint8

// The generations, oldest first.
const (
	SearchPasses  IdleSearch = iota // 5.4: for an idle core, then for an idle CPU as long as it pays (SIS_PROP), then among the target's threads
	SearchOnePass                   // 5.18: one pass, which looks for a core if there is one; SIS_PROP in another unit
	SearchUtil                      // 6.1: SIS_UTIL: how far the pass goes depends on the load
	SearchCluster                   // 6.8: and it looks through the target's cluster first
)

// Imbalance is how much fuller a domain's busiest group must be to count as such, in percent.
type Imbalance struct{ SMT, LLC, Other int64 }

// CFSTunables are those of CFS, as scaled for eight CPUs or more.
type CFSTunables struct {
	Latency           sim.Time // the period in which each of up to eight tasks runs once
	MinGranularity    sim.Time
	WakeupGranularity sim.Time
}

// Jiffy is the length of a tick.
func (t *Tunables) Jiffy() sim.Time { return sim.Second / sim.Time(t.HZ) }

// A Base is a kernel that patches apply to.
type Base struct {
	Key   string // how links name it
	Title string
	Brief string // what it is, in a sentence
	Note  string // what was assumed about its configuration

	SchedExt bool // it has sched_ext
	Features
	Tunables
}

// Bases lists the kernels, the default one first.
var Bases = []Base{{
	Key:      "6.11",
	Title:    "Linux 6.11: EEVDF, HZ=250, PREEMPT_VOLUNTARY",
	Brief:    "The kernel that the patches of the SM_IDLE threads apply to: EEVDF without delayed dequeue, and the polling shortcut for remote calls.",
	Note:     "HZ and the preemption model are assumed: the threads do not state them. " + placeNote + rtNote,
	Features: coreExit,
	Tunables: eevdf,
}, {
	Key:      "6.14",
	Title:    "Linux 6.14: sched_ext with its cached clock, EEVDF, HZ=250, PREEMPT_VOLUNTARY",
	Brief:    "The kernel in which sched_ext schedulers have the time from the run queue's cached clock where that is valid, by scx_bpf_now().",
	Note:     extNote + "Here a scheduler that is loaded uses scx_bpf_now(). HZ and the preemption model are assumed. " + placeNote + rtNote,
	SchedExt: true,
	Features: Features{IdleCoreExit: true, IdleReentry: IdleFast, PreemptTest: PreemptExactly, NohzAnyway: true, ExtClock: ClockNow},
	Tunables: linux614(),
}, {
	Key:      "6.12",
	Title:    "Linux 6.12: sched_ext, EEVDF, HZ=250, PREEMPT_VOLUNTARY",
	Brief:    "The first kernel with sched_ext, and with SM_IDLE: schedulers that are loaded read the hardware's clock each time.",
	Note:     extNote + "HZ and the preemption model are assumed. " + placeNote + rtNote,
	SchedExt: true,
	Features: Features{IdleCoreExit: true, IdleReentry: IdleFast, PreemptTest: PreemptExactly},
	Tunables: eevdf,
}, {
	Key:      "6.10",
	Title:    "Linux 6.10: EEVDF, HZ=250, PREEMPT_VOLUNTARY",
	Brief:    "The kernel of the weeks in which the first version of SM_IDLE was posted: in this model the same as 6.11.",
	Note:     "HZ and the preemption model are assumed. None of the differences to 6.11 is modelled. " + placeNote + rtNote,
	Features: coreExit,
	Tunables: eevdf,
}, {
	Key:      "6.1",
	Title:    "Linux 6.1: CFS, HZ=250, PREEMPT_VOLUNTARY",
	Brief:    "CFS in the last long-term kernel that has it, the one of Debian 12: tasks share a CPU by another rule, the idle loop is the same.",
	Note:     cfsNote + placeNote + rtNote,
	Features: coreExit,
	Tunables: cfs(QueueIdle, SearchUtil),
}, {
	Key:   "5.18",
	Title: "Linux 5.18: CFS, HZ=250, PREEMPT_VOLUNTARY",
	Brief: "The kernel of the patch against sync wakeups from interrupts: CFS, and wakeups that queue on another CPU under the same cache only while the task is still being switched away from.",
	Note:  cfsNote + placeNote + rtNote, Features: coreExit, Tunables: linux518(),
}, {
	Key:   "5.4",
	Title: "Linux 5.4: CFS, HZ=250, PREEMPT_VOLUNTARY",
	Brief: "The kernel of the select_idle_core patch: CFS, an idle search in three passes, and remote calls that always interrupt.",
	Note: cfsNote + "The queue for wakeups, which is one of its own in this kernel, is the one for calls here: " +
		"what is pushed behind an entry of the other kind is served with that. " + placeNote + rtNote,
	Features: Features{CallSignal: SignalWakeups}, Tunables: linux54(),
}}

const extNote = "While a sched_ext scheduler is loaded it decides on all tasks, and the fair class, with its balancing, on none. " +
	"The fair class is that of 6.11: delayed dequeue, which came with 6.12, is not modelled. "

const placeNote = "A waking task's CPU is chosen as in this kernel (a new one's as in 5.18 or later, in any, but for how long it stays on its node), with the load and the utilisation of PELT: task groups, utilisation clamps, estimated utilisation (UTIL_EST), NUMA balancing and CPUs of different capacity are not modelled. " +
	"Pipes of kernels before 5.5 wake their writers as later ones do. "

const rtNote = "With rt=1 it is configured with PREEMPT_RT as mainline has it since 6.12, before which that was a patch set of its own, with lazy preemption in some versions: spinlocks are rtlocks, " +
	"kernel threads and holders of such locks can be preempted, and wakeups do not use the call queue. That interrupts and softirqs run in threads then is not modelled, nor is priority inheritance."

const cfsNote = "HZ and the preemption model are assumed. The fair class is CFS with its buddies; the idle loop, balancing and the governor are those of 6.11, " +
	"of which the governor's and the balancer's rules differ somewhat from those of this kernel. "

// coreExit is what the kernels since 5.6 have of the patches in the catalogue.
var coreExit = Features{IdleCoreExit: true}

// The fair class's numbers, as they are on machines of eight CPUs or more.
var eevdf = Tunables{
	HZ:            250,
	Preemption:    PreemptVoluntary,
	BaseSlice:     3 * sim.Millisecond,
	WakeQueue:     QueueIdle,
	IdleSearch:    SearchCluster,
	MigrationCost: 500 * sim.Microsecond,
	BusyFactor:    16,
	ImbalancePct:  Imbalance{110, 117, 117},
	NUMASpread:    SpreadEighth,
	IdleCoreFirst: true,
}

func cfs(queue WakeQueue, search IdleSearch) Tunables {
	t := eevdf
	t.Policy, t.WakeQueue, t.IdleSearch, t.IdleCoreFirst = CFS, queue, search, false
	t.CFS = CFSTunables{24 * sim.Millisecond, 3 * sim.Millisecond, 4 * sim.Millisecond}
	return t
}

func linux614() Tunables {
	t := eevdf
	t.ExtByCache, t.PipeRoomOnly = true, true
	return t
}

func linux518() Tunables {
	t := cfs(QueueDescheduling, SearchOnePass)
	t.NUMASpread = SpreadQuarter
	return t
}

func linux54() Tunables {
	t := cfs(QueueNever, SearchPasses)
	t.NUMASpread = SpreadEvenly
	t.BusyFactor, t.ImbalancePct.Other = 32, 125
	return t
}

// scaleTo makes the fair class's numbers those of a machine with n CPUs. The kernel
// multiplies them by one more than the binary logarithm of n, up to 4.
func (t *Tunables) scaleTo(n int) {
	factor := sim.Time(bits.Len(uint(min(n, 8))))
	for _, v := range []*sim.Time{&t.BaseSlice, &t.CFS.Latency, &t.CFS.MinGranularity, &t.CFS.WakeupGranularity} {
		*v = *v * factor / 4
	}
}

// WithRT returns the kernel with PREEMPT_RT configured.
func (b Base) WithRT() Base {
	b.Preemption = PreemptRT
	b.Title = strings.Replace(b.Title, "PREEMPT_VOLUNTARY", "PREEMPT_RT", 1)
	return b
}

// LookupBase returns the kernel with this key.
func LookupBase(key string) (Base, error) {
	for _, b := range Bases {
		if b.Key == key {
			return b, nil
		}
	}
	return Base{}, fmt.Errorf("no kernel %q", key)
}
