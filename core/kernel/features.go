package kernel

import (
	"fmt"

	"schedlab/core/sim"
)

// Model is the version of the model. Results of different versions may
// differ; results of one version never do. Raise it with every change that
// changes a result.
const Model = 1

// IdleMode says what schedule() does when the idle loop calls it again.
type IdleMode uint8

// The idle modes.
const (
	IdleFull IdleMode = iota // pick_next_task, with its newidle balance, like any other schedule()
	IdleFast                 // SM_IDLE: with nothing queued, stay on the idle task and return
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
}

// A Preemption model, as the kernel's configuration names it.
type Preemption string

// The preemption models.
const (
	PreemptVoluntary Preemption = "voluntary"
	PreemptRT        Preemption = "rt"
)

// Tunables are the numbers of a kernel's configuration and of its scheduler.
type Tunables struct {
	HZ            int64
	Preemption    Preemption
	BaseSlice     sim.Time // EEVDF's base slice, scaled
	MigrationCost sim.Time // sysctl_sched_migration_cost
	BusyFactor    int64    // how much rarer a busy CPU balances
}

// Jiffy is the length of a tick.
func (t *Tunables) Jiffy() sim.Time { return sim.Second / sim.Time(t.HZ) }

// A Base is a kernel that patches apply to.
type Base struct {
	Key   string // how links name it
	Title string
	Note  string // what was assumed about its configuration
	Features
	Tunables
}

// Bases lists the kernels, the default one first.
var Bases = []Base{{
	Key:   "6.11",
	Title: "Linux 6.11: EEVDF, HZ=250, PREEMPT_VOLUNTARY",
	Note:  "HZ and the preemption model are assumed: the threads do not state them.",
	Tunables: Tunables{
		HZ:            250,
		Preemption:    PreemptVoluntary,
		BaseSlice:     3 * sim.Millisecond,
		MigrationCost: 500 * sim.Microsecond,
		BusyFactor:    16,
	},
}}

// LookupBase returns the kernel with this key.
func LookupBase(key string) (Base, error) {
	for _, b := range Bases {
		if b.Key == key {
			return b, nil
		}
	}
	return Base{}, fmt.Errorf("no kernel %q", key)
}
