package patch

import "schedlab/core/kernel"

// Patches is the catalogue, oldest first within a thread.
var Patches = []Patch{
	{
		Key:   "sm-idle-v1",
		Title: "SM_IDLE v1: sched/core: Introduce SM_IDLE and an idle re-entry fast-path in __schedule()",
		Link:  "https://lore.kernel.org/lkml/20240710090210.41856-3-kprateek.nayak@amd.com/",
		Story: "An idle CPU that a remote function call woke by its polling flag goes through all of schedule() before it idles again, though no task was queued. " +
			"The idle loop now calls schedule() in a mode of its own, and with an empty run queue schedule() stays on the idle task without picking anew, so without a newidle balance. " +
			"Every mode above SM_NONE now counts as a preemption.",
		Fate:     "Replaced by v2: on PREEMPT_RT a task that waits for an rtlock counted as preempted and stayed queued.",
		Bases:    []string{"6.11"},
		Excludes: []string{"sm-idle-v2"},
		Parts: []Part{
			{"fast", "With nothing queued, re-entry from idle skips pick_next_task and the newidle balance.",
				func(f *kernel.Features) { f.IdleReentry = kernel.IdleFast }},
			{"above", "A task counts as preempted in every mode above SM_NONE, so in SM_RTLOCK_WAIT too.",
				func(f *kernel.Features) { f.PreemptTest = kernel.PreemptAbove }},
		},
	},
	{
		Key:   "sm-idle-v2",
		Title: "SM_IDLE v2: sched/core: Introduce SM_IDLE and an idle re-entry fast-path in __schedule()",
		Link:  "https://lore.kernel.org/lkml/20240809092240.6921-1-kprateek.nayak@amd.com/",
		Story: "An idle CPU that a remote function call woke by its polling flag goes through all of schedule() before it idles again, though no task was queued. " +
			"The idle loop now calls schedule() in a mode of its own, and with an empty run queue schedule() stays on the idle task without picking anew, so without a newidle balance. " +
			"A task counts as preempted in the mode SM_PREEMPT only.",
		Fate:     "Merged in 6.12.",
		Bases:    []string{"6.11"},
		Excludes: []string{"sm-idle-v1"},
		Parts: []Part{
			{"fast", "With nothing queued, re-entry from idle skips pick_next_task and the newidle balance.",
				func(f *kernel.Features) { f.IdleReentry = kernel.IdleFast }},
			{"exact", "A task counts as preempted in the mode SM_PREEMPT only.",
				func(f *kernel.Features) { f.PreemptTest = kernel.PreemptExactly }},
		},
	},
}
