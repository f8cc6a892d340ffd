package scx

import (
	"schedlab/core/kernel"
	"schedlab/core/sim"
)

// flatcg is a scheduler of cgroups, of which there is one here.
var flatcg = Scheduler{
	Key:   "flatcg",
	Title: "scx_flatcg: a flattened hierarchy of cgroups, here of one",
	Link:  "https://github.com/sched-ext/scx/blob/main/scheds/c/README.md",
	Brief: "Each CPU serves one cgroup for a while, then the one that has had the least for its share: all tasks here are in the same.",
	Note: "As in Linux 6.12 and scx 1.0.6 to 1.0.8, from its documentation, as far as a single cgroup shows it: the weights of cgroups, and how they change when cgroups " +
		"come and go, are left out. What remains is a queue by weighted virtual time, and a clock that is read each time a CPU looks for work, to see whether " +
		"the turn of its cgroup, 20 ms, is over. Assumed: a kernel thread that may run on one CPU only waits in that CPU's own queue, and other tasks of that kind with all others, where other CPUs pass them over.",
	Load: func(x *kernel.Ext) kernel.ExtOps {
		g := &flatGroup{weighted: weighted{x: x, queue: x.CreateDSQ()}}
		g.since = make([]sim.Time, len(x.Machine().CPUs))
		return kernel.ExtOps{
			Name:      "flatcg",
			SelectCPU: func(t kernel.TaskID, prev int, f kernel.WakeFlags) int { return selectIdle(x, t, prev, f) },
			Enqueue: func(t kernel.TaskID, f kernel.EnqFlags) {
				if x.Pinned(t) && x.Kthread(t) {
					x.Insert(t, kernel.DSQLocal, kernel.SliceDefault, f)
					return
				}
				g.enqueue(t, f)
			},
			Dispatch: g.dispatch,
			Running:  g.running,
			Stopping: g.stopping,
			Enable:   g.enable,
		}
	},
}

// groupSlice is how long a CPU serves a cgroup.
const groupSlice = 20 * sim.Millisecond

// A flatGroup is the cgroup.
type flatGroup struct {
	weighted
	since []sim.Time // by CPU: since when it serves the cgroup
	used  int64      // by which cgroups are chosen: what CPUs have served it for
}

// dispatch serves the cgroup while its turn on the CPU lasts and it has tasks. Then the next one's
// begins, which is the same.
func (g *flatGroup) dispatch(cpu int, _ kernel.TaskID) {
	now := g.x.Now()
	turn := now - g.since[cpu]
	if turn < groupSlice && g.x.MoveToLocal(g.queue) {
		return
	}
	g.used += int64(min(max(turn, 0), groupSlice))
	g.since[cpu] = now
	if turn >= groupSlice {
		g.x.MoveToLocal(g.queue)
	}
}
