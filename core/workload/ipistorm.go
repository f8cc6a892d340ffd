package workload

import (
	"fmt"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// ipistorm is Anton Blanchard's public kernel module, with the fixed count of
// calls that the SM_IDLE threads added to it. What it does and what its parameters
// mean is from https://github.com/antonblanchard/ipistorm.
var ipistorm = Workload{
	Key:   "ipistorm",
	Title: "ipistorm: CPUs call a function on others, over and over",
	Brief: "A kernel thread on one CPU or several calls an empty function on another CPU, or on all, and waits for it: nothing but the remote call is timed.",
	Note: "Kernel threads pinned to the senders call an empty function on their targets: with smp_call_function_single, or on all other CPUs with " +
		"smp_call_function. They begin together, at a random moment within 4 s. Beside the time of a call, that of its way to the end of the function on the " +
		"target is sampled, which another public variant of the module reports (npiggin/ipistorm, there with a target that is kept busy). " +
		"The modified module ends after a count of calls, the public one after timeout seconds; here numipi=0 or timeout=0 leaves that end out.",
	Params: []Param{
		{Key: "numipi", Label: "Calls", Def: 100000, Min: 0, Max: 10_000_000, Help: "how many calls each sender makes; 0: as many as there is time for"},
		{Key: "timeout", Label: "Timeout", Unit: "s", Def: 0, Min: 0, Max: 60, Help: "after how long the senders stop; 0: when they have made their calls (the public module has 30)"},
		{Key: "single", Label: "Single target", Kind: Bool, Def: 1, Help: "1: each sender has one target; 0: it calls all other CPUs at once, which is that much more to simulate (the public module's default)"},
		{Key: "offset", Label: "Offset", Names: true, Def: 8, Min: 0, Max: 65535, Help: "target = sender + offset, wrapped at the number of CPUs (the public module has 1)"},
		{Key: "mask", Label: "Mask", Names: true, Def: 0, Min: 0, Max: 65535, Help: "bits of the CPU number that offset may change, such as 7; 0: all"},
		{Key: "delay", Label: "Delay", Unit: "µs", Def: 0, Min: 0, Max: 1_000_000, Help: "sleep between calls; 0: only cond_resched"},
		{Key: "wait", Label: "Wait", Kind: Bool, Def: 1, Help: "1: wait until the function has run"},
		{Key: "cpulist", Label: "Senders", Kind: CPUs, Def: 8, Min: 1, Max: 1 << 15, Help: "the CPUs that send"},
		{Key: "modified", Label: "Modified module", Kind: Bool, Def: 1, Help: "1: targets wrap at the number of all CPUs; 0: the public module's rule, at the number of listed ones"},
	},
	Length: "numipi",
	Samples: []Sample{
		{"call", "one call, from its first instruction to its return"},
		{"delivery", "from a call's first instruction to the end of its function on a target"},
	},
	Metrics: func(_ *machine.Machine, v Values) []Metric {
		m := Metric{Key: "elapsed", Name: "elapsed", Unit: "ns", Better: "lower", Noun: "call", PerRun: v[paramCalls].N, Of: elapsed}
		if v[paramTimeout].N > 0 { // which may come first, and then the elapsed time says nothing
			m.Name, m.PerRun = "time per call", 1
			senders := int64(len(v[paramSenders].CPUs))
			m.Of = func(s *kernel.Snapshot) int64 { return elapsed(s) * senders / max(int64(s.Hists[0].N), 1) }
		}
		return []Metric{m}
	},
	Fit: func(m *machine.Machine, v Values) {
		n := len(m.CPUs)
		if v[paramSenders].CPUs[0] >= n {
			v[paramSenders].CPUs = []int{0}
		}
		if v[paramOffset].N%int64(n) == 0 { // which would be a call to oneself
			v[paramOffset].N = 1
		}
	},
	Check: checkIpistorm,
	Calls: callsOfIpistorm,
	Longest: func(m *machine.Machine, v Values) sim.Time {
		senders := sim.Time(len(v[paramSenders].CPUs))
		targets := sim.Time(1)
		if v[paramSingle].N == 0 {
			targets = sim.Time(len(m.CPUs))
		}
		// A call with a walk and a wake-up in it, the others that it waits for, and the pause.
		call := 20*sim.Microsecond + senders*targets*sim.Microsecond + sim.Time(v[paramDelay].N)*sim.Microsecond*21/20
		var wake sim.Time
		for i := range m.Idle {
			if !m.Idle[i].Disabled {
				wake = max(wake, m.Idle[i].Wake.Hi)
			}
		}
		call += wake
		timeout, calls := sim.Time(v[paramTimeout].N)*sim.Second, sim.Time(v[paramCalls].N)
		if timeout > 0 && (calls == 0 || calls > timeout/call) {
			return settling + timeout + call
		}
		return settling + min(calls, sim.Never/2/call)*call
	},
	Build: buildIpistorm,
}

// The parameters' places in Params.
const (
	paramCalls = iota
	paramTimeout
	paramSingle
	paramOffset
	paramMask
	paramDelay
	paramWait
	paramSenders
	paramModified
)

// maxDelays is how long a run may sleep in all, µs: results are summed over CPUs
// and runs in picoseconds.
const maxDelays = 60_000_000

// settling is the longest that a storm waits before it begins: background
// tasks are then at a random point of their periods.
const settling = 4 * sim.Second

func checkIpistorm(m *machine.Machine, v Values) (key, want string) {
	n := len(m.CPUs)
	cpus := v[paramSenders].CPUs
	switch most := maxDelays / max(v[paramDelay].N, 1); {
	case cpus[len(cpus)-1] >= n:
		return "cpulist", fmt.Sprintf("CPUs of this machine: 0 to %d", n-1)
	case v[paramCalls].N == 0 && v[paramTimeout].N == 0:
		return "numipi", "at least 1, or a timeout: without either the storm has no end"
	case v[paramTimeout].N == 0 && v[paramCalls].N > most:
		return "numipi", fmt.Sprintf("at most %d with delay=%d: the delays of a run may add up to a minute", most, v[paramDelay].N)
	}
	return "", ""
}

// target returns the CPU that a sender calls, as the module finds it.
func target(sender, all int, v Values) int {
	to := sender + int(v[paramOffset].N)
	if mask := int(v[paramMask].N); mask != 0 {
		to = sender&^mask + to&mask
	}
	if v[paramModified].N == 0 {
		return to % len(v[paramSenders].CPUs)
	}
	return to % all
}

func callsOfIpistorm(m *machine.Machine, v Values) []Call {
	var calls []Call
	for _, sender := range v[paramSenders].CPUs {
		c := Call{From: sender}
		if v[paramSingle].N != 0 {
			c.To = []int{target(sender, len(m.CPUs), v)}
		} else {
			for to := range m.CPUs {
				if to != sender {
					c.To = append(c.To, to)
				}
			}
		}
		calls = append(calls, c)
	}
	return calls
}

func buildIpistorm(k *kernel.Kernel, v Values) error {
	sample := k.Metric()
	k.SampleDelivery()
	between := kernel.Op{Kind: kernel.OpResched}
	if v[paramDelay].N > 0 {
		between = kernel.Op{Kind: kernel.OpSleep, D: sim.Time(v[paramDelay].N) * sim.Microsecond}
	}
	senders := v[paramSenders].CPUs
	for _, sender := range senders {
		call := kernel.Op{Kind: kernel.OpCallAll, N: int32(v[paramWait].N)}
		if v[paramSingle].N != 0 {
			call.Kind, call.Obj = kernel.OpCall, int32(target(sender, k.CPUs(), v))
		}
		err := k.Spawn(kernel.TaskSpec{
			Name: fmt.Sprintf("ipistorm/%d", sender), CPUs: []int{sender}, Kthread: true, Like: 1,
			Prog: []kernel.Op{
				{Kind: kernel.OpSleep, D: settling / 2, N: 100},
				{Kind: kernel.OpBegin, N: int32(len(senders))},
				{Kind: kernel.OpStamp},
				call,
				{Kind: kernel.OpMark, Obj: int32(sample)},
				between,
				{Kind: kernel.OpLoop, Obj: 4, N: int32(v[paramCalls].N), D: sim.Time(v[paramTimeout].N) * sim.Second},
				{Kind: kernel.OpEnd, N: int32(len(senders))},
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
