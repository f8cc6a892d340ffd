package scx

import "schedlab/core/kernel"

// simple is the example of a scheduler: one queue for all CPUs.
var simple = Scheduler{
	Key:   "simple",
	Title: "scx_simple: one queue by weighted virtual time",
	Link:  "https://github.com/sched-ext/scx/blob/main/scheds/c/README.md",
	Brief: "A task gets an idle CPU at once, or waits for any CPU in one queue in the order of weighted virtual time.",
	Note: "As in Linux 6.12 and scx 1.0.6 to 1.0.8, in its default mode (not FIFO), from its documentation. Nothing is left out. It reads no clock: run time " +
		"is what a task has used of its slice of 20 ms. Tasks that may run on some CPUs only wait in the same queue, where other CPUs pass them over.",
	Load: func(x *kernel.Ext) kernel.ExtOps {
		w := &weighted{x: x, queue: x.CreateDSQ()}
		return kernel.ExtOps{
			Name:      "simple",
			SelectCPU: func(t kernel.TaskID, prev int, f kernel.WakeFlags) int { return selectIdle(x, t, prev, f) },
			Enqueue:   w.enqueue,
			Dispatch:  func(int, kernel.TaskID) { x.MoveToLocal(w.queue) },
			Running:   w.running,
			Stopping:  w.stopping,
			Enable:    w.enable,
		}
	},
}
