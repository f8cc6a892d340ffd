package patch

import "schedlab/core/kernel"

// ext are patches to sched_ext: its wakeups, and the clock of its schedulers. Those of the clock are versions of
// one series, of which 6.14 has the last.
var ext = []Patch{
	{
		Key:   "scx-queued-wakeup",
		Title: "scx queued wakeups v2: sched_ext: Implement SCX_OPS_ALLOW_QUEUED_WAKEUP",
		Link:  "https://lore.kernel.org/lkml/Z64s-7xN6WcsbRhQ@slm.duckdns.org/",
		Brief: "A sched_ext scheduler may have its tasks woken through the call queue of their CPU, as those of the fair class are.",
		Story: "A wakeup for a CPU under another cache, or for an idle one, is put into that CPU's call queue, so that the waker need not take the run queue's lock there. " +
			"For tasks of the ext class that was off, since a scheduler may count on being asked for a CPU at each wakeup, which such a wakeup skips when the task is still being switched away from. " +
			"A scheduler can now say by a flag that it copes. Here the one that is loaded says so, whichever it is. " +
			"Its runnable and enqueue then run on the CPU whose run queue is locked, where a cached clock is found valid.",
		Fate:     "Merged in 6.15, as a flag that schedulers set for themselves.",
		Bases:    []string{"6.12", "6.14"},
		NeedsExt: true,
		Parts: []Part{
			{"queue", "Tasks of the ext class are woken through the call queue where those of other classes are.",
				func(f *kernel.Features) { f.ExtQueuedWakeups = true }},
		},
	},
	{
		Key:   "scx-now-v1",
		Title: "scx clock v1: sched_ext: Support high-performance monotonically non-decreasing clock",
		Link:  "https://lore.kernel.org/lkml/20241116160126.29454-1-changwoo@igalia.com/",
		Brief: "A sched_ext scheduler has the time from its CPU's run queue while that one's clock is valid, else it reads the hardware, which makes it valid again.",
		Story: "A scheduler asks for the time in most of its callbacks, and each time read the hardware's counter, though the kernel has just read it to update the run queue's clock. " +
			"scx_bpf_clock_get_ns() gives it that clock, which an update makes valid and which ends to be so when the run queue's lock is unpinned, after running and before update_idle. " +
			"A miss reads the hardware and keeps what it found, so that the next call finds the clock valid. Whose run queue is looked up is the CPU's on which the callback runs: " +
			"a task woken on another CPU under that one's lock makes the other's clock valid, and misses. On one CPU the time never goes back: the last one given is kept, and where the cached time is earlier the hardware is read. " +
			"The hardware's time here is sched_clock(), the run queue's sched_clock_cpu(), which on x86 lags behind it by an offset that is fixed at boot. So the first read after each update of the clock finds it earlier, and reads the hardware; v4 reads the same clock as the run queue.",
		Fate:     "Replaced by v4, after v2 and v3 with the same rules; the shares of reads that its post says are saved stand unchanged in that of v4.",
		Show:     "?v=1&m=laptop&k=6.12&scx=lavd&w=messaging&group=20&nr_loops=10&thread=1&metric=clock_reads&arm=&arm=scx-now-v1&arm=scx-now-v4&arm=scx-now&bg=housekeeping",
		Bases:    []string{"6.12"},
		Excludes: []string{"scx-now-v4", "scx-now", "scx-ktime"},
		NeedsExt: true,
		Parts: []Part{
			{"clock", "The run queue's clock is given while it is valid: until the lock is unpinned, running has been called or update_idle is; a miss makes it valid.",
				func(f *kernel.Features) { f.ExtClock = kernel.ClockNowV1 }},
		},
	},
	{
		Key:   "scx-now-v4",
		Title: "scx clock v4: sched_ext: Support high-performance monotonically non-decreasing clock",
		Link:  "https://lore.kernel.org/lkml/20241209061531.257531-1-changwoo@igalia.com/",
		Brief: "As v1, but running and update_idle leave the clock valid, and a clock that an update has not taken further is not given.",
		Story: "The function is scx_bpf_now_ns() now. The clock stays valid after running and before update_idle; what ends it is that the run queue's lock is unpinned. A miss still reads the hardware and makes the clock valid. " +
			"So that the time does not go back, the run queue keeps what its clock said before it was last updated: a clock that is not later than that is not given, and the hardware is read instead.",
		Fate:     "Replaced by later versions, of which v8 was merged: scx-now here.",
		Show:     "?v=1&m=laptop&k=6.12&scx=lavd&w=messaging&group=20&nr_loops=10&thread=1&metric=clock_reads&arm=&arm=scx-now-v4&bg=housekeeping",
		Bases:    []string{"6.12"},
		Excludes: []string{"scx-now-v1", "scx-now", "scx-ktime"},
		NeedsExt: true,
		Parts: []Part{
			{"clock", "The run queue's clock is given while it is valid, until the lock is unpinned, if its last update has taken it further; a miss makes it valid.",
				func(f *kernel.Features) { f.ExtClock = kernel.ClockNowV4 }},
		},
	},
	{
		Key:   "scx-now",
		Title: "scx_bpf_now, clock v8: sched_ext: Support high-performance monotonically non-decreasing clock",
		Link:  "https://lore.kernel.org/lkml/20250109131456.7055-1-changwoo@igalia.com/",
		Brief: "As merged: the run queue's clock while it is valid, else a read of the hardware, which leaves it as it is.",
		Story: "The function is scx_bpf_now() now. An update of the run queue's clock makes it valid; unpinning the lock, or unloading the scheduler, ends that. " +
			"A miss reads the hardware and does not make the clock valid, so that in dispatch and running, which come after the lock was unpinned, each call reads. " +
			"No last time is kept to compare with: that the time on one CPU does not go back rests on the clock's being updated at the beginning of each section.",
		Fate:     "Merged in 6.14 (3a9910b5904d): that kernel has it.",
		Bases:    []string{"6.12"},
		Excludes: []string{"scx-now-v1", "scx-now-v4", "scx-ktime"},
		NeedsExt: true,
		Parts: []Part{
			{"clock", "The run queue's clock is given while it is valid, until the lock is unpinned; a miss leaves it invalid.",
				func(f *kernel.Features) { f.ExtClock = kernel.ClockNow }},
		},
	},
	{
		Key:   "scx-ktime",
		Title: "scx without the cached clock: bpf_ktime_get_ns() as before, for the comparison and not posted",
		Link:  "https://lore.kernel.org/lkml/20250109131456.7055-1-changwoo@igalia.com/",
		Brief: "The scheduler goes on reading the hardware's clock each time, as one does that was built before 6.14.",
		Story: "6.14 has scx_bpf_now(), and a scheduler that knows of it uses it. This one calls bpf_ktime_get_ns() as it did on 6.12, " +
			"and so reads the hardware each time that it wants to know the time: the difference is what the cached clock does on that kernel.",
		Fate:     "Not a patch: what schedulers did, and what those that are not built anew still do.",
		Bases:    []string{"6.14"},
		Excludes: []string{"scx-now-v1", "scx-now-v4", "scx-now"},
		NeedsExt: true,
		Parts: []Part{
			{"hardware", "Every time that the scheduler asks for is a read of the hardware.",
				func(f *kernel.Features) { f.ExtClock = kernel.ClockHardware }},
		},
	},
}
