package workload

import (
	"fmt"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// A Background is what else runs on the machine: a list of tasks, and nothing
// but tasks, so that whatever state it leaves in the kernel comes out of the
// kernel's own rules.
type Background struct {
	Key   string // how links name it
	Title string
	Brief string // what it does to a result, in a sentence
	Note  string // its tasks
	Tasks func(*machine.Machine) []kernel.TaskSpec
}

// LookupBackground returns the background with this key.
func LookupBackground(key string) (*Background, error) {
	for i := range Backgrounds {
		if Backgrounds[i].Key == key {
			return &Backgrounds[i], nil
		}
	}
	return nil, fmt.Errorf("no background %q", key)
}

// Backgrounds lists them, the default one first.
//
// What ran beside the published experiments is not known. These are assumptions,
// in round numbers, from a machine where nothing runs to one where a pair of
// tasks shares a CPU for good.
var Backgrounds = []Background{
	{
		Key:   "busy",
		Title: "Busy: two jobs pinned to one CPU that come and go",
		Brief: "At some times a run queue holds two tasks and newidle balance walks for them, at others not: runs can be fast or slow.",
		Note: "Two jobs are pinned to the machine's last CPU. Each computes for 2 s and sleeps for 1 s, ±50 %, so that at some times two tasks " +
			"wait for one CPU and at others none does.",
		Tasks: func(m *machine.Machine) []kernel.TaskSpec { return jobs(m, breaks) },
	},
	{
		Key:   "quiet",
		Title: "Quiet: nothing but the workload",
		Brief: "Nothing is ever overloaded, so newidle balance leaves at once: what is left of a difference hangs on a race of some tens of nanoseconds.",
		Note:  "No other task exists.",
		Tasks: func(*machine.Machine) []kernel.TaskSpec { return nil },
	},
	{
		Key:   "housekeeping",
		Title: "Housekeeping: a worker on every CPU, a few daemons",
		Brief: "Little work that comes and goes everywhere, as on an idle server: now and then two tasks meet, and a few calls find their target busy.",
		Note: "On every CPU a kernel thread works for 5 µs about every second. Eight daemons that may run anywhere work for 200 µs about " +
			"every 100 ms.",
		Tasks: housekeeping,
	},
	{
		Key:   "pair",
		Title: "Pair: two endless jobs pinned to one CPU",
		Brief: "The overloaded flag is always up, so that a CPU which re-enters idle through schedule() walks over all run queues.",
		Note:  "Two jobs that never sleep are pinned to the machine's last CPU, so that there is always a run queue with two tasks.",
		Tasks: func(m *machine.Machine) []kernel.TaskSpec { return jobs(m) },
	},
	{
		Key:   "mixed",
		Title: "Mixed: housekeeping, and two jobs pinned to one CPU that come and go",
		Brief: "An idle server on which one CPU is overloaded at times.",
		Note:  "The tasks of housekeeping and those of busy.",
		Tasks: func(m *machine.Machine) []kernel.TaskSpec { return append(housekeeping(m), jobs(m, breaks)...) },
	},
}

// breaks are the pauses between a job's turns.
var breaks = kernel.Op{Kind: kernel.OpSleep, D: sim.Second, N: 50}

func housekeeping(m *machine.Machine) []kernel.TaskSpec {
	tasks := make([]kernel.TaskSpec, 0, len(m.CPUs)+8)
	for cpu := range m.CPUs {
		tasks = append(tasks, kernel.TaskSpec{
			Name: fmt.Sprintf("kworker/%d", cpu), CPUs: []int{cpu}, Kthread: true,
			Prog: periodic(5*sim.Microsecond, kernel.Op{Kind: kernel.OpSleep, D: sim.Second, N: 10}),
		})
	}
	for i := range 8 {
		tasks = append(tasks, kernel.TaskSpec{
			Name: fmt.Sprintf("daemon/%d", i),
			Prog: periodic(200*sim.Microsecond, kernel.Op{Kind: kernel.OpSleep, D: 100 * sim.Millisecond, N: 50}),
		})
	}
	return tasks
}

// jobs are two tasks pinned to the last CPU, which compute for 2 s between pauses.
func jobs(m *machine.Machine, pause ...kernel.Op) []kernel.TaskSpec {
	last := len(m.CPUs) - 1
	var tasks []kernel.TaskSpec
	for i := range 2 {
		tasks = append(tasks, kernel.TaskSpec{
			Name: fmt.Sprintf("job/%d", i), CPUs: []int{last},
			Prog: periodic(2*sim.Second, pause...),
		})
	}
	return tasks
}

// periodic is the program of a task that works and pauses for ever, after a
// first pause of random length.
func periodic(work sim.Time, pause ...kernel.Op) []kernel.Op {
	var prog []kernel.Op
	if len(pause) > 0 {
		prog = append(prog, kernel.Op{Kind: kernel.OpSleep, D: pause[0].D / 2, N: 100})
	}
	prog = append(prog, kernel.Op{Kind: kernel.OpCompute, D: work, N: 50})
	prog = append(prog, pause...)
	return append(prog, kernel.Op{Kind: kernel.OpLoop, Obj: int32(1 + len(pause))})
}
