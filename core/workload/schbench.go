package workload

import (
	"fmt"

	"schedlab/core/fitted"
	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// schbench is Chris Mason's benchmark of wakeup latency, by its options, as it was until
// 2022 and as it has been since 1.0. What it does is from
// https://git.kernel.org/pub/scm/linux/kernel/git/mason/schbench.git.
var schbench = Workload{
	Key:   "schbench",
	Title: "schbench: message threads wake workers, which compute",
	Brief: "How long does a worker that is woken wait for a CPU, and how long does a request take? Few switches, long computations: most of the time goes to the workers themselves.",
	Note: "A worker tells its message thread that it is done and sleeps on a futex; the message thread wakes all that have told so. A wakeup is measured from when it begins with that until the worker runs. " +
		"Version old (2019): a worker then computes for cputime; the message thread sleeps for sleeptime and up to a quarter more before it looks again. " +
		"Version new (1.0, 2023): a worker then has a request: it sleeps for sleep_usec, takes its CPU's mutex, multiplies matrices and gives the mutex back. The sleep belongs to the request. " +
		"The mutex is taken by trying over and over, so that a worker that is preempted with it lets others of its CPU spin. " +
		"A step of the multiplication takes so many cycles that a single worker on xeon-128-4n has the published latency; how cache misses grow with cache_footprint is not modelled. " +
		"The program's own 30 s are shortened by default.",
	Params: []Param{
		{Key: "version", Label: "Version", Kind: Choice, Choices: []string{"new", "old"}, Help: "new: 1.0 of 2023 and later; old: as it was in 2019"},
		{Key: "message-threads", Label: "Message threads", Def: 1, Min: 1, Max: 1000, Help: "how many, -m (the old version has 2)"},
		{Key: "threads", Label: "Workers", Def: 16, Min: 1, Max: 1000, Help: "of each message thread, -t (the new version has as many as there are CPUs)"},
		{Key: "load", Label: "Load", Unit: "‰", Def: 0, Min: 0, Max: 4000, Help: "message threads as a part of the machine's CPUs, as Intel's test robot counts them: 125 is its 12.5 %; 0: as many as message-threads says"},
		runtimeParam.with(1000, "what is measured, -r"),
		warmupParam.with(200, "before what is measured, -w"),
		{Key: "sleep_usec", Label: "Sleep", Unit: "µs", Def: 100, Min: 0, Max: 1_000_000, Help: "new: sleep at the beginning of a request, -s"},
		{Key: "operations", Label: "Operations", Def: 5, Min: 1, Max: 100, Help: "new: multiplications in a request, -n"},
		{Key: "cache_footprint", Label: "Cache footprint", Unit: "KB", Def: 256, Min: 1, Max: 4096, Help: "new: of the three matrices, -F"},
		{Key: "no-locking", Label: "No locking", Kind: Bool, Help: "new: 1: no mutex, -L"},
		{Key: "sleeptime", Label: "Sleep", Unit: "µs", Def: 30_000, Min: 0, Max: 1_000_000, Help: "old: sleep of the message thread, -s"},
		{Key: "cputime", Label: "CPU time", Unit: "µs", Def: 30_000, Min: 1, Max: 1_000_000, Help: "old: computing of a worker, -c"},
		{Key: "step", Label: "Step", Unit: "cycles/1000", Def: fitted.Value("schbench", "step"), Min: 1, Max: 1_000_000, Help: "new: of a multiplication, thousandths of a cycle: fitted, see above"},
	},
	Length: "runtime",
	Samples: []Sample{
		{"wakeup", "one wakeup of a worker, from when the message thread begins to wake those that wait until it runs"},
		{"request", "one request (old: one computation)"},
		{"select_idle_core", "one search for an idle core"},
	},
	Metrics: func(_ *machine.Machine, v Values) []Metric {
		requests := func(s *kernel.Snapshot) int64 { return events(s, schRequest) }
		var list []Metric
		for _, p := range []struct {
			key, name string
			sample    int
			num, den  uint64
		}{
			{"request90", "90th percentile of request latency", schRequest, 9, 10},
			{"request99", "99th percentile of request latency", schRequest, 99, 100},
			{"wakeup50", "50th percentile of wakeup latency", schWakeup, 1, 2},
			{"wakeup75", "75th percentile of wakeup latency", schWakeup, 3, 4},
			{"wakeup90", "90th percentile of wakeup latency", schWakeup, 9, 10},
			{"wakeup95", "95th percentile of wakeup latency", schWakeup, 95, 100},
			{"wakeup99", "99th percentile of wakeup latency", schWakeup, 99, 100},
			{"wakeup99.5", "99.5th percentile of wakeup latency", schWakeup, 995, 1000},
			{"wakeup99.9", "99.9th percentile of wakeup latency", schWakeup, 999, 1000},
		} {
			m := Metric{Key: p.key, Name: p.name, Unit: "µs", Better: "lower", Noun: "wakeup", Of: func(s *kernel.Snapshot) int64 {
				return quantile(s, p.sample, p.num, p.den)
			}}
			if p.sample == schRequest {
				m.Noun, m.Events = "request", requests
			}
			list = append(list, m)
			if p.key == "wakeup99" && schbenchOf(0, v).old { // the figure that it marks
				list[0], list[len(list)-1] = list[len(list)-1], list[0]
			}
		}
		list = append(list, Metric{Key: "idlecore", Name: "mean time of a search for an idle core", Unit: "ns", Better: "lower", Noun: "search", PerRun: 1,
			Events: func(s *kernel.Snapshot) int64 { return events(s, schIdleCore) },
			Of: func(s *kernel.Snapshot) int64 {
				if events(s, schIdleCore) == 0 {
					return 0
				}
				return int64(s.Hists[schIdleCore].Mean())
			}})
		return append(list, Metric{Key: "rps", Name: "requests per second", Unit: "requests/s", Better: "higher", Noun: "request", Events: requests,
			Of: func(s *kernel.Snapshot) int64 { return perSecond(s, requests(s), 1) }})
	},
	Fit: func(m *machine.Machine, v Values) { v[2].N = min(v[2].N, int64(len(m.CPUs))) },
	Check: func(m *machine.Machine, v Values) (string, string) {
		b := schbenchOf(len(m.CPUs), v)
		if most := maxWorkers / b.messengers; b.workers > most {
			return "threads", fmt.Sprintf("at most %d with %d message threads: %d workers", most, b.messengers, maxWorkers)
		}
		return "", ""
	},
	Longest: func(_ *machine.Machine, v Values) sim.Time { return longestWindow(v[5].N, v[4].N) },
	Build: func(k *kernel.Kernel, v Values) error {
		if err := schbenchOf(k.CPUs(), v).build(k); err != nil {
			return err
		}
		return window(k, v[5].N, v[4].N)
	},
}

const maxWorkers = 20_000

// The places of schbench's samples.
const (
	schWakeup = iota
	schRequest
	schIdleCore
)

// A schbenchRun is what there is to run.
type schbenchRun struct {
	old                   bool
	messengers, workers   int64 // message threads, and workers of each
	sleep, compute        sim.Time
	operations, footprint int64
	step                  int64 // of a multiplication, thousandths of a cycle
	locking               bool
}

func schbenchOf(cpus int, v Values) schbenchRun {
	b := schbenchRun{old: v[0].N == 1, messengers: v[1].N, workers: v[2].N, operations: v[7].N, footprint: v[8].N, step: v[12].N, locking: v[9].N == 0}
	if load := v[3].N; load > 0 {
		b.messengers = max(int64(cpus)*load/1000, 1)
	}
	b.sleep = sim.Time(v[6].N) * sim.Microsecond
	if b.old {
		b.sleep, b.compute = sim.Time(v[10].N)*sim.Microsecond, sim.Time(v[11].N)*sim.Microsecond
	}
	return b
}

// multiplication is how long it takes to multiply matrices of long integers, two
// and their product in the footprint, on a machine.
func (b *schbenchRun) multiplication(m *machine.Machine) sim.Time {
	n := int64(0)
	for (n+1)*(n+1)*3*8 <= b.footprint*1024 {
		n++
	}
	return m.Cycles(n * n * n * b.step / 1000)
}

// timerSlack is how much later a timer of user space may expire, so that it does with
// others. Few have others.
const timerSlack = 50 * sim.Microsecond

// glance is a look at the clock, and a few instructions.
const glance = 50 * sim.Nanosecond

func (b schbenchRun) build(k *kernel.Kernel) error {
	wakeup, request := int32(k.Metric()), int32(k.Metric())
	k.SampleIdleCore()
	work := []kernel.Op{{Kind: kernel.OpSpin, D: b.compute}}
	if !b.old {
		work = []kernel.Op{{Kind: kernel.OpCompute, D: b.multiplication(k.Machine()) * sim.Time(b.operations)}}
		if b.locking {
			first := int32(k.Mutex())
			for range k.CPUs() - 1 {
				k.Mutex()
			}
			work = []kernel.Op{{Kind: kernel.OpMutexSpin, At: kernel.AtCPU, Obj: first}, work[0], {Kind: kernel.OpMutexUnlock}}
		}
		if b.sleep > 0 {
			work = append([]kernel.Op{{Kind: kernel.OpSleep, D: b.sleep + timerSlack, N: 1}}, work...)
		}
	}
	for i := range b.messengers {
		done := int32(k.Event())
		messenger := []kernel.Op{
			{Kind: kernel.OpDismiss, Obj: done},
			{Kind: kernel.OpAwait, Obj: done},
			{Kind: kernel.OpCompute, D: glance},
		}
		if b.old && b.sleep > 0 {
			// From sleeptime to a quarter more.
			messenger = append(messenger, kernel.Op{Kind: kernel.OpSleep, D: b.sleep*9/8 + timerSlack, N: 11})
		}
		messenger = append(messenger, kernel.Op{Kind: kernel.OpLoop, Obj: int32(len(messenger))})
		if err := k.Spawn(kernel.TaskSpec{Name: fmt.Sprintf("message/%d", i), Process: 1, Prog: messenger}); err != nil {
			return err
		}
		worker := []kernel.Op{
			{Kind: kernel.OpEnlist, Obj: done},
			{Kind: kernel.OpAwait, Obj: int32(kernel.OwnEvent)},
			{Kind: kernel.OpMark, Obj: wakeup, N: 1},
			{Kind: kernel.OpStamp},
		}
		worker = append(append(worker, work...), kernel.Op{Kind: kernel.OpMark, Obj: request})
		worker = append(worker, kernel.Op{Kind: kernel.OpLoop, Obj: int32(len(worker))})
		for j := range b.workers {
			if err := k.Spawn(kernel.TaskSpec{Name: fmt.Sprintf("worker/%d.%d", i, j), Process: 1, Prog: worker}); err != nil {
				return err
			}
		}
	}
	return nil
}

// events returns how many samples there are of a kind.
func events(s *kernel.Snapshot, sample int) int64 {
	if sample >= len(s.Hists) {
		return 0
	}
	return int64(s.Hists[sample].N)
}
