package workload

import (
	"fmt"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// messaging is "perf bench sched messaging", by its options: hackbench as perf has it.
var messaging = Workload{
	Key:   "messaging",
	Title: "messaging: perf bench sched messaging, hackbench as perf has it",
	Brief: "20 senders and 20 receivers a group pass messages of 100 bytes over sockets or pipes: what the scx clock patches were measured under.",
	Note: "As hackbench, with 20 senders and receivers a group and messages of 100 bytes. All sleep until the parent lets them go, which is where the time begins; it ends with the last one. " +
		"Forking before and reaping after it are not modelled, though perf times the reaping too.",
	Params: []Param{
		{Key: "group", Label: "Groups", Def: 10, Min: 1, Max: maxMessagers / 40, Help: "how many groups, -g"},
		{Key: "nr_loops", Label: "Loops", Def: 100, Min: 1, Max: 50_000, Help: "messages from each sender to each receiver, -l"},
		{Key: "pipe", Label: "Pipes", Kind: Bool, Def: 0, Help: "1: pipes, -p; 0: socket pairs"},
		{Key: "thread", Label: "Threads", Kind: Bool, Def: 0, Help: "1: threads of one process, -t; 0: processes"},
	},
	Length:  "nr_loops",
	Samples: hackbench.Samples,
	Metrics: func(_ *machine.Machine, v Values) []Metric {
		list := messagingOf(v).metrics(0)
		return []Metric{list[0], list[2]}
	},
	Output: func(v Values, elapsed sim.Time) string {
		who := "processes"
		if v[3].N != 0 {
			who = "threads"
		}
		ms := elapsed / sim.Millisecond
		return fmt.Sprintf("# 20 sender and receiver %s per group\n# %d groups == %d %s run\n\n%14s: %d.%03d [sec]\n", who, v[0].N, 40*v[0].N, who, "Total time", ms/1000, ms%1000)
	},
	Check: func(_ *machine.Machine, v Values) (string, string) {
		if most := maxMessages / (v[0].N * 400); v[1].N > most {
			return "nr_loops", fmt.Sprintf("at most %d with %d groups: %d messages", most, v[0].N, maxMessages)
		}
		return "", ""
	},
	Longest: func(m *machine.Machine, v Values) sim.Time { return messagingOf(v).longest(len(m.CPUs)) },
	Build:   func(k *kernel.Kernel, v Values) error { return messagingOf(v).build(k) },
}

func messagingOf(v Values) messagers {
	return messagers{groups: v[0].N, loops: v[1].N, fds: 20, bytes: 100, pipe: v[2].N != 0, threads: v[3].N != 0}
}
