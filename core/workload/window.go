package workload

import (
	"schedlab/core/kernel"
	"schedlab/core/sim"
)

// Benchmarks that run for a time have a measured window after a warm-up, both of which
// the main program sleeps through.

// Params that such benchmarks have in common. Published runs are a minute long or so:
// shorter ones have the same rates, and fewer events to tell their tails from.
var (
	warmupParam  = Param{Key: "warmuptime", Label: "Warm-up", Unit: "ms", Def: 100, Min: 0, Max: 60_000, Help: "before what is measured"}
	runtimeParam = Param{Key: "runtime", Label: "Run time", Unit: "ms", Def: 1000, Min: 1, Max: 60_000, Help: "what is measured"}
)

// with returns the parameter with another default and help.
func (p Param) with(def int64, help string) Param {
	p.Def, p.Help = def, help
	return p
}

// window adds the main program, which ends the run.
func window(k *kernel.Kernel, warmup, runtime int64) error {
	return k.Spawn(kernel.TaskSpec{Name: "main", Prog: []kernel.Op{
		{Kind: kernel.OpSleep, D: sim.Time(warmup) * sim.Millisecond},
		{Kind: kernel.OpBegin},
		{Kind: kernel.OpSleep, D: sim.Time(runtime) * sim.Millisecond},
		{Kind: kernel.OpEnd},
	}})
}

// longestWindow is how long such a run can last: on crowded CPUs the main program may have
// to wait for its turn.
func longestWindow(warmup, runtime int64) sim.Time {
	return sim.Time(warmup+runtime)*sim.Millisecond + 10*sim.Second
}
