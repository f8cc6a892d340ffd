package patch

import "schedlab/core/kernel"

// placement are patches to where a waking task goes.
var placement = []Patch{
	{
		Key:   "select-idle-core",
		Title: "select_idle_core: sched/fair: Optimize select_idle_core()",
		Link:  "https://lore.kernel.org/lkml/20191206081654.GA22330@linux.vnet.ibm.com/",
		Brief: "The search for a core whose threads are all idle leaves a core at its first busy thread.",
		Story: "A wakeup on a machine with SMT first looks for a core that is idle altogether. It looked at every thread of a core, even when the first one was busy, " +
			"and struck each of them one by one out of the mask of CPUs still to be looked at. " +
			"It now stops at the first busy thread and strikes the whole core out at one go. Which core is found stays the same.",
		Fate:     "Merged in 5.6 (60588bfa223f).",
		Bases:    []string{"5.4"},
		NeedsSMT: true,
		Parts: []Part{
			{"exit", "A core is left at its first busy thread, and its threads are struck out of the mask together.",
				func(f *kernel.Features) { f.IdleCoreExit = true }},
		},
	},
	{
		Key:   "irq-nosync",
		Title: "No sync from interrupts: sched/fair: no sync wakeup from interrupt context",
		Link:  "https://lore.kernel.org/lkml/20220711224704.1672831-1-libo.chen@oracle.com/",
		Brief: "A wakeup counts as sync only if a task makes it: one that an interrupt or a softirq makes no longer pulls the woken task to its CPU.",
		Story: "A sync wakeup says that the waker is about to sleep, so that its CPU is a good place for the task it wakes. " +
			"When an interrupt makes the wakeup, for a network packet for instance, the task that it interrupted has nothing to do with it and runs on, and the woken tasks pile up behind it. " +
			"The hint now counts only in the context of a task.",
		Fate: "Taken into the scheduler's tree and out of it again before a release: what is sent over loopback is received in a softirq on top of the sender, " +
			"which really is the waker, and lost by it.",
		Bases:    []string{"5.18", "6.1", "6.10", "6.11", "6.12", "6.14"},
		FairOnly: true,
		Parts: []Part{
			{"task", "The sync hint of a wakeup counts only if the waker is a task, not an interrupt or a softirq.",
				func(f *kernel.Features) { f.SyncInTaskOnly = true }},
		},
	},
}
