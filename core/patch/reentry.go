package patch

import "schedlab/core/kernel"

// reentry are designs for one problem: an idle CPU that polls is called by setting its
// NEED_RESCHED flag, so that it goes through schedule() for nothing. The figures that
// were posted for those outside the SM_IDLE threads have no place in the project, so
// that the model can't be fitted to them.
var reentry = []Patch{
	{
		Key:   "always-ipi",
		Title: "Always IPI: no polling shortcut in send_call_function_single_ipi(), a trial that was described and not posted",
		Link:  "https://lore.kernel.org/lkml/20240119084548.2788-1-kprateek.nayak@amd.com/",
		Brief: "Calls and queued wakeups always interrupt their target, so a polling CPU serves them without schedule(), but pays for an interrupt.",
		Story: "Since 5.8 (b2a02fc43a1f) a remote call to an idle CPU that polls its flags sets NEED_RESCHED there and sends no interrupt. " +
			"Taking that back, every signal for a call queue is an interrupt, whether or not the target polls, and the idle loop no longer empties the queue itself. " +
			"Task wakeups that travel through the queue are signalled the same way: this takes their polling shortcut away too, which they had long before 5.8.",
		Fate:     "Tried in the threads as a measure of the problem and not proposed: wakeups pay for the interrupt, so that tbench and netperf lose.",
		Bases:    []string{"6.10", "6.11", "6.12", "6.14"},
		Excludes: []string{"notify-ipi"},
		Parts: []Part{
			{"ipi", "Every signal for a call queue is an interrupt, and only its handler empties the queue.",
				func(f *kernel.Features) { f.CallSignal = kernel.SignalIPI }},
		},
	},
	{
		Key:   "skip-newidle",
		Title: "Skip newidle: sched/fair: Skip newidle_balance() when an idle CPU is woken up to process an IPI",
		Link:  "https://lore.kernel.org/lkml/20240119084548.2788-1-kprateek.nayak@amd.com/",
		Brief: "Where the idle task ran before and nothing is queued, schedule() picks it again without looking for work on other CPUs.",
		Story: "An idle CPU that was called picks its next task through the fair class, which looks for work on other CPUs before it lets the CPU idle again. " +
			"If the idle task is what ran before, that newidle balance is left out; the pick itself stays.",
		Fate:     "Not merged: an idle CPU that keeps its tick, and one whose idle balance was cancelled by NEED_RESCHED, count on newidle balance. A flag of its own for calls was asked for instead.",
		Bases:    []string{"6.10", "6.11"},
		Excludes: []string{"sm-idle-v1", "sm-idle-v2"},
		Parts: []Part{
			{"skip", "Without a queued task, a pick that follows the idle task makes no newidle balance.",
				func(f *kernel.Features) { f.IdleReentry = kernel.IdleNoNewidle }},
		},
	},
	{
		Key:   "notify-ipi",
		Title: "TIF_NOTIFY_IPI v2: sched/core: Use TIF_NOTIFY_IPI to notify an idle CPU in TIF_POLLING mode of pending IPI",
		Link:  "https://lore.kernel.org/lkml/20240613181613.4329-4-kprateek.nayak@amd.com/",
		Brief: "A flag of its own brings a polling CPU out of idle for calls, so that it goes to schedule() only if one of them has queued a task.",
		Story: "A remote call sets the new flag TIF_NOTIFY_IPI on an idle CPU that polls, in place of NEED_RESCHED. " +
			"The CPU leaves its idle state, empties its call queue and goes back to idle; it calls schedule() only if NEED_RESCHED is set too, by a wakeup among the calls for instance. " +
			"So the idle balance that another CPU asks for by a call is no longer cancelled by the flag that carried the call.",
		Fate:     "Not merged: it needs a flag in every architecture, and its review led to SM_IDLE, which needs none.",
		Bases:    []string{"6.10", "6.11"},
		Excludes: []string{"always-ipi"},
		Parts: []Part{
			{"flag", "A polling CPU is called by a flag that does not ask for schedule().",
				func(f *kernel.Features) { f.CallSignal = kernel.SignalNotify }},
		},
	},
	{
		Key:   "nohz-csd",
		Title: "nohz_csd_func: sched/core: Remove the unnecessary need_resched() check in nohz_csd_func()",
		Link:  "https://lore.kernel.org/lkml/20240710090210.41856-3-kprateek.nayak@amd.com/",
		Brief: "An idle CPU that is asked to balance for all idle ones does so, though the request came by its NEED_RESCHED flag.",
		Story: "A busy CPU asks an idle one to balance for all that have stopped their ticks, by a remote call. If the target polls, the call sets NEED_RESCHED there, and the call's function took that for work of the target's own and gave up. " +
			"So a polling CPU that was asked never balanced; what it did do was a newidle balance on its way back through schedule(), which SM_IDLE takes away. The test is gone, and a pass in which the CPU stays idle goes on though the flag is up.",
		Fate:     "The first patch of the series that SM_IDLE is the second one of; merged later than that, in 6.13.",
		Show:     "?v=1&m=xeon-128-4n&w=hackbench&loops=50&pipe=1&load=25&bg=housekeeping&arm=&arm=sm-idle-v2&arm=nohz-csd,sm-idle-v2",
		Bases:    []string{"6.1", "6.10", "6.11", "6.12"},
		FairOnly: true,
		Parts: []Part{
			{"anyway", "Who is asked to balance for idle CPUs does not give up because its NEED_RESCHED flag is up.",
				func(f *kernel.Features) { f.NohzAnyway = true }},
		},
	},
	{
		Key:   "sm-idle-v1",
		Title: "SM_IDLE v1: sched/core: Introduce SM_IDLE and an idle re-entry fast-path in __schedule()",
		Link:  "https://lore.kernel.org/lkml/20240710090210.41856-3-kprateek.nayak@amd.com/",
		Brief: "With an empty run queue, schedule() from the idle loop stays on the idle task, without a pick and its newidle balance; on PREEMPT_RT its test for preemption is wrong.",
		Story: "An idle CPU that a remote function call woke by its polling flag goes through all of schedule() before it idles again, though no task was queued. " +
			"The idle loop now calls schedule() in a mode of its own, and with an empty run queue schedule() stays on the idle task without picking anew, so without a newidle balance. " +
			"Every mode above SM_NONE now counts as a preemption.",
		Fate:     "Replaced by v2: on PREEMPT_RT a task that waits for an rtlock counted as preempted and stayed queued.",
		Show:     "?v=1&rt=1&w=spinlock&arm=&arm=sm-idle-v1&arm=sm-idle-v2",
		Bases:    []string{"6.10", "6.11"},
		Excludes: []string{"sm-idle-v2", "skip-newidle"},
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
		Brief: "With an empty run queue, schedule() from the idle loop stays on the idle task, without a pick and its newidle balance.",
		Story: "An idle CPU that a remote function call woke by its polling flag goes through all of schedule() before it idles again, though no task was queued. " +
			"The idle loop now calls schedule() in a mode of its own, and with an empty run queue schedule() stays on the idle task without picking anew, so without a newidle balance. " +
			"A task counts as preempted in the mode SM_PREEMPT only.",
		Fate:     "Merged in 6.12.",
		Bases:    []string{"6.10", "6.11"},
		Excludes: []string{"sm-idle-v1", "skip-newidle"},
		Parts: []Part{
			{"fast", "With nothing queued, re-entry from idle skips pick_next_task and the newidle balance.",
				func(f *kernel.Features) { f.IdleReentry = kernel.IdleFast }},
			{"exact", "A task counts as preempted in the mode SM_PREEMPT only.",
				func(f *kernel.Features) { f.PreemptTest = kernel.PreemptExactly }},
		},
	},
}
