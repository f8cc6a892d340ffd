package workload

import (
	"fmt"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// ipistorm is Anton Blanchard's public kernel module, with the fixed count of
// calls that the SM_IDLE threads added to it.
var ipistorm = Workload{
	Key:   "ipistorm",
	Title: "ipistorm: one CPU calls a function on another, over and over",
	Note: "A kernel thread pinned to the sender calls an empty function on the target with smp_call_function_single. The storm begins at a random moment " +
		"within 4 s. The public module's timeout and mask, several senders, and calls to several CPUs at once are not modelled.",
	Params: []Param{
		{Key: "numipi", Label: "Calls", Def: 100000, Min: 1, Max: 10_000_000, Help: "how many calls the sender makes"},
		{Key: "single", Label: "Single target", Kind: Bool, Def: 1, Help: "1: one target; 0 (everyone at once) is not modelled"},
		{Key: "offset", Label: "Offset", Def: 8, Min: 0, Max: 65535, Help: "target = sender + offset"},
		{Key: "delay", Label: "Delay", Unit: "µs", Def: 0, Min: 0, Max: 1_000_000, Help: "sleep between calls; 0: only cond_resched"},
		{Key: "wait", Label: "Wait", Kind: Bool, Def: 1, Help: "1: wait until the function has run"},
		{Key: "cpulist", Label: "Sender", Kind: CPUs, Def: 8, Min: 1, Max: 1, Help: "the CPU that sends"},
		{Key: "modified", Label: "Modified module", Kind: Bool, Def: 1, Help: "1: offset counts from the sender over all CPUs; 0: the public module's rule, over the listed CPUs only"},
	},
	Metric: Metric{Name: "elapsed", Unit: "ns", Better: "lower", Event: "one call, from its first instruction to its return", Noun: "call", Events: "numipi"},
	Check: func(m *machine.Machine, v Values) (string, string) {
		n := len(m.CPUs)
		if c := v[5].CPUs[0]; c >= n {
			return "cpulist", fmt.Sprintf("a CPU of this machine: 0 to %d", n-1)
		}
		if v[1].N == 0 {
			return "single", "1: calls to several CPUs at once are not modelled yet"
		}
		if most := maxDelays / max(v[3].N, 1); v[0].N > most {
			return "numipi", fmt.Sprintf("at most %d with delay=%d: the delays of a run may add up to a minute", most, v[3].N)
		}
		return "", ""
	},
	Longest: func(v Values) sim.Time {
		const call = 20 * sim.Microsecond // with a walk in every one
		return settling + sim.Time(v[0].N)*(call+sim.Time(v[3].N)*sim.Microsecond*21/20)
	},
	Build:   buildIpistorm,
	Primary: func(s *kernel.Snapshot, _ Values) int64 { return int64(s.Elapsed / sim.Picosecond) },
}

// maxDelays is how long a run may sleep in all, µs: results are summed over CPUs
// and runs in picoseconds.
const maxDelays = 60_000_000

// settling is the longest that a storm waits before it begins: background
// tasks are then at a random point of their periods.
const settling = 4 * sim.Second

func buildIpistorm(k *kernel.Kernel, v Values) error {
	sender := v[5].CPUs[0]
	target := sender + int(v[2].N)
	if v[6].N != 0 {
		target %= k.CPUs()
	} else {
		target %= len(v[5].CPUs)
	}
	sample := k.Metric()
	between := kernel.Op{Kind: kernel.OpResched}
	if v[3].N > 0 {
		between = kernel.Op{Kind: kernel.OpSleep, D: sim.Time(v[3].N) * sim.Microsecond}
	}
	return k.Spawn(kernel.TaskSpec{
		Name: fmt.Sprintf("ipistorm/%d", sender), CPUs: []int{sender}, Kthread: true,
		Prog: []kernel.Op{
			{Kind: kernel.OpSleep, D: settling / 2, N: 100},
			{Kind: kernel.OpBegin},
			{Kind: kernel.OpStamp},
			{Kind: kernel.OpCall, Obj: int16(target), N: int32(v[4].N)},
			{Kind: kernel.OpMark, Obj: int16(sample)},
			between,
			{Kind: kernel.OpLoop, Obj: 4, N: int32(v[0].N)},
			{Kind: kernel.OpEnd},
		},
	})
}
