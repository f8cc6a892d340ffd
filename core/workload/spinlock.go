package workload

import (
	"fmt"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// spinlock is our own: a lock and tasks that take it in turn, to see what a kernel
// makes of their waiting.
var spinlock = Workload{
	Key:   "spinlock",
	Title: "spinlock: tasks take one spinlock of the kernel in turn",
	Brief: "Tasks that share CPUs take one kernel spinlock over and over: on PREEMPT_RT they sleep for it, which is where SM_IDLE v1 goes wrong.",
	Note: "No published benchmark: made to look at one mechanism. Tasks are pinned to the first CPUs, in turn; each takes the lock, holds it, gives it back and computes, loops times. " +
		"Without PREEMPT_RT who waits spins and nobody who holds the lock is preempted. With it the first in line spins while the holder runs, the others sleep, and holders can be preempted. " +
		"A lock that is given back is anybody's: who runs can take it again before the one that is woken for it. Priority inheritance is not modelled: all tasks are alike.",
	Params: []Param{
		{Key: "tasks", Label: "Tasks", Def: 8, Min: 1, Max: 256, Help: "how many take the lock"},
		{Key: "cpus", Label: "CPUs", Def: 4, Min: 1, Max: 256, Help: "on how many CPUs they are"},
		{Key: "loops", Label: "Loops", Def: 2000, Min: 1, Max: 1_000_000, Help: "how often each takes it"},
		{Key: "hold", Label: "Hold", Unit: "µs", Def: 10, Min: 0, Max: 1000, Help: "for how long, ± 50 %"},
		{Key: "gap", Label: "Gap", Unit: "µs", Def: 10, Min: 0, Max: 1000, Help: "computing until the next time, ± 50 %"},
	},
	Length:  "loops",
	Samples: []Sample{{"wait", "one acquisition, from asking for the lock to having it"}},
	Metrics: func(_ *machine.Machine, v Values) []Metric {
		return []Metric{{Key: "elapsed", Name: "elapsed", Unit: "ns", Better: "lower", Noun: "acquisition", PerRun: v[0].N * v[2].N, Of: elapsed}}
	},
	Fit: func(m *machine.Machine, v Values) { v[1].N = min(v[1].N, int64(len(m.CPUs))) },
	Check: func(m *machine.Machine, v Values) (string, string) {
		if n := int64(len(m.CPUs)); v[1].N > n {
			return "cpus", fmt.Sprintf("at most %d: the machine has no more", n)
		}
		return "", ""
	},
	Longest: func(_ *machine.Machine, v Values) sim.Time {
		// As if all took turns for everything, with a switch or two each time.
		return sim.Time(v[0].N*v[2].N) * (sim.Time(v[3].N+v[4].N)*sim.Microsecond*3/2 + 20*sim.Microsecond)
	},
	Build: func(k *kernel.Kernel, v Values) error {
		lock, wait := k.Lock(), k.Metric()
		tasks := v[0].N
		for i := range tasks {
			err := k.Spawn(kernel.TaskSpec{
				Name: fmt.Sprintf("spinlock/%d", i), CPUs: []int{int(i % v[1].N)},
				Prog: []kernel.Op{
					{Kind: kernel.OpBegin, N: int32(tasks)},
					{Kind: kernel.OpStamp},
					{Kind: kernel.OpLock, Obj: int32(lock)},
					{Kind: kernel.OpMark, Obj: int32(wait)},
					{Kind: kernel.OpCompute, D: sim.Time(v[3].N) * sim.Microsecond, N: 50},
					{Kind: kernel.OpUnlock, Obj: int32(lock)},
					{Kind: kernel.OpCompute, D: sim.Time(v[4].N) * sim.Microsecond, N: 50},
					{Kind: kernel.OpLoop, Obj: 6, N: int32(v[2].N)},
					{Kind: kernel.OpEnd, N: int32(tasks)},
				},
			})
			if err != nil {
				return err
			}
		}
		return nil
	},
}
