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
const Model = 2

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
	IdleReentry IdleMode
	PreemptTest PreemptTest
	CallSignal  CallSignal
}

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
	QueueIdle     bool     // wakeups of CPUs with nothing to run go through their call queue, as since 6.0
	MigrationCost sim.Time // sysctl_sched_migration_cost
	BusyFactor    int64    // how much rarer a busy CPU balances
}

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
	Features
	Tunables
}

// Bases lists the kernels, the default one first.
var Bases = []Base{{
	Key:      "6.11",
	Title:    "Linux 6.11: EEVDF, HZ=250, PREEMPT_VOLUNTARY",
	Brief:    "The kernel that the patches of the SM_IDLE threads apply to: EEVDF without delayed dequeue, and the polling shortcut for remote calls.",
	Note:     "HZ and the preemption model are assumed: the threads do not state them. " + rtNote,
	Tunables: eevdf,
}, {
	Key:      "6.10",
	Title:    "Linux 6.10: EEVDF, HZ=250, PREEMPT_VOLUNTARY",
	Brief:    "The kernel of the weeks in which the first version of SM_IDLE was posted: in this model the same as 6.11.",
	Note:     "HZ and the preemption model are assumed. None of the differences to 6.11 is modelled. " + rtNote,
	Tunables: eevdf,
}, {
	Key:      "6.1",
	Title:    "Linux 6.1: CFS, HZ=250, PREEMPT_VOLUNTARY",
	Brief:    "CFS in the last long-term kernel that has it, the one of Debian 12: tasks share a CPU by another rule, the idle loop is the same.",
	Note:     cfsNote,
	Tunables: cfs(true),
}, {
	Key:   "5.18",
	Title: "Linux 5.18: CFS, HZ=250, PREEMPT_VOLUNTARY",
	Brief: "The kernel of the patch against sync wakeups from interrupts: CFS, and wakeups that queue on another CPU under the same cache only while the task is still being switched away from.",
	Note:  cfsNote, Tunables: cfs(false),
}}

const rtNote = "With rt=1 it is configured with PREEMPT_RT as mainline has it since 6.12, before which that was a patch set of its own, with lazy preemption in some versions: spinlocks are rtlocks, " +
	"kernel threads and holders of such locks can be preempted, and wakeups do not use the call queue. That interrupts and softirqs run in threads then is not modelled, nor is priority inheritance."

const cfsNote = "HZ and the preemption model are assumed. The fair class is CFS with its buddies; the idle loop, remote calls, balancing and the governor are those of 6.11, " +
	"of which the governor's rules differ somewhat from those of this kernel. No patch of the catalogue is known to apply. " + rtNote

// The fair class's numbers, as they are on machines of eight CPUs or more.
var eevdf = Tunables{
	HZ:            250,
	Preemption:    PreemptVoluntary,
	BaseSlice:     3 * sim.Millisecond,
	MigrationCost: 500 * sim.Microsecond,
	BusyFactor:    16,
	QueueIdle:     true,
}

func cfs(queueIdle bool) Tunables {
	t := eevdf
	t.Policy, t.QueueIdle = CFS, queueIdle
	t.CFS = CFSTunables{24 * sim.Millisecond, 3 * sim.Millisecond, 4 * sim.Millisecond}
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
