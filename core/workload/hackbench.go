package workload

import (
	"fmt"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// hackbench is the benchmark of that name in rt-tests, by its options.
var hackbench = Workload{
	Key:   "hackbench",
	Title: "hackbench: groups of senders and receivers pass messages",
	Brief: "Groups of senders write to all receivers of their group: many wakeups, many switches, and run queues as long as you like.",
	Note: "A group is fds senders and as many receivers, each with a pipe or a socket pair of its own that all senders of the group share. " +
		"In each loop a sender writes one message to each receiver. All sleep until the parent lets them go, which is where the time begins; it ends with the last one. " +
		"Forking before and reaping after it are not modelled. A pipe holds 16 pages, each as many whole messages as go into it. A socket takes messages until they fill " +
		"the sender's buffer of 212,992 bytes with what the kernel allocates for them, 768 bytes for one of 100. " +
		"Published runs are of 10,000 loops and more. Fewer will do for the time of a message once pipes and sockets can fill, which takes 33 loops with defaults; what builds up over seconds is not in them. scale gives the time that so many loops would take at the same pace. " +
		"Throughput is as Intel's test robot counts it: the bytes of one message from every task, receivers too, in each loop.",
	Params: []Param{
		{Key: "groups", Label: "Groups", Def: 10, Min: 1, Max: maxMessagers / 2, Help: "how many groups, -g"},
		{Key: "loops", Label: "Loops", Def: 100, Min: 1, Max: 1_000_000, Help: "messages from each sender to each receiver, -l"},
		{Key: "fds", Label: "File descriptors", Def: 20, Min: 1, Max: 100, Help: "senders, and receivers, of a group, -f"},
		{Key: "datasize", Label: "Data size", Unit: "B", Def: 100, Min: 1, Max: 4096, Help: "of a message, -s"},
		{Key: "pipe", Label: "Pipes", Kind: Bool, Def: 0, Help: "1: pipes, -p; 0: socket pairs"},
		{Key: "threads", Label: "Threads", Kind: Bool, Def: 0, Help: "1: threads of one process, -T; 0: processes, -P"},
		{Key: "load", Label: "Load", Unit: "%", Def: 0, Min: 0, Max: 800, Help: "groups as a part of the machine's CPUs, as Intel's test robot counts them; 0: as many as groups says"},
		{Key: "scale", Label: "Scale", Def: 0, Min: 0, Max: 1_000_000_000, Help: "loops of the run whose time is to be had; 0: the time as simulated (the robot has 30,000 × CPUs / groups)"},
	},
	Length:  "loops",
	Samples: []Sample{{"round", "one loop of a sender: a message to each receiver"}},
	Metrics: func(m *machine.Machine, v Values) []Metric { return hackbenchOf(len(m.CPUs), v).metrics(v[7].N) },
	Check: func(m *machine.Machine, v Values) (string, string) {
		g := hackbenchOf(len(m.CPUs), v)
		if most := maxMessagers / (2 * g.fds); g.groups > most {
			if v[6].N > 0 {
				return "load", fmt.Sprintf("at most %d on %d CPUs with fds=%d: %d tasks", most*100/int64(len(m.CPUs)), len(m.CPUs), g.fds, maxMessagers)
			}
			return "groups", fmt.Sprintf("at most %d with fds=%d: %d tasks", most, g.fds, maxMessagers)
		}
		if most := maxMessages / (g.groups * g.fds * g.fds); g.loops > most {
			return "loops", fmt.Sprintf("at most %d with %d groups and fds=%d: %d messages; scale=%d gives the time of so many loops", most, g.groups, g.fds, maxMessages, g.loops)
		}
		if v[7].N > 0 && v[7].N < g.loops {
			return "scale", fmt.Sprintf("0, or at least the %d loops that are simulated", g.loops)
		}
		return "", ""
	},
	Longest: func(m *machine.Machine, v Values) sim.Time { return hackbenchOf(len(m.CPUs), v).longest(len(m.CPUs)) },
	Build:   func(k *kernel.Kernel, v Values) error { return hackbenchOf(k.CPUs(), v).build(k) },
}

func hackbenchOf(cpus int, v Values) messagers {
	g := messagers{groups: v[0].N, loops: v[1].N, fds: v[2].N, bytes: v[3].N, pipe: v[4].N != 0, threads: v[5].N != 0}
	if load := v[6].N; load > 0 {
		g.groups = max(int64(cpus)*load/100, 1)
	}
	return g
}

// What a run may have.
const (
	maxMessagers = 20_000     // tasks
	maxMessages  = 20_000_000 // with which it takes ten seconds or so to simulate
)

// messagers are groups of tasks that pass messages, as hackbench and perf bench have them.
type messagers struct {
	groups, loops, fds, bytes int64
	pipe, threads             bool
}

func (g messagers) messages() int64 { return g.groups * g.fds * g.fds * g.loops }

// metrics judges runs of g, with times scaled to so many loops unless that is 0.
func (g messagers) metrics(scale int64) []Metric {
	time := Metric{Key: "time", Name: "time", Unit: "ns", Better: "lower", Noun: "message", PerRun: g.messages(), Of: elapsed}
	if scale > 0 && scale != g.loops {
		time.Name = fmt.Sprintf("time (scaled from %d to %d loops)", g.loops, scale)
		time.PerRun = time.PerRun / g.loops * scale
		time.Of = func(s *kernel.Snapshot) int64 { return mulDiv(elapsed(s), scale, g.loops) }
	}
	list := []Metric{
		time,
		{Key: "throughput", Name: "throughput", Unit: "KB/s", Better: "higher", Noun: "message", Of: func(s *kernel.Snapshot) int64 {
			// Bytes of one message from each task in each loop, whoever reads it.
			return perSecond(s, 2*g.groups*g.fds*g.loops*g.bytes, 1024)
		}},
		{Key: "cpu", Name: "CPU time per message", Unit: "ns", Better: "lower", Noun: "message", PerRun: 1, Of: func(s *kernel.Snapshot) int64 {
			sum := int64(0)
			for _, t := range s.Time {
				sum += t
			}
			return sum / g.messages()
		}},
	}
	for i := range list {
		list[i].Events = func(s *kernel.Snapshot) int64 {
			if len(s.Hists) == 0 {
				return 0
			}
			return int64(s.Hists[0].N) * g.fds // a round has a message for each receiver
		}
	}
	return list
}

// longest is how long a run can last: a few dozen microseconds for a message, shared by
// as many CPUs as there are, or senders.
func (g messagers) longest(cpus int) sim.Time {
	tasks := 2 * g.groups * g.fds
	per := 100*sim.Microsecond + sim.Time(g.bytes)*10*sim.Nanosecond
	return sim.Second + sim.Time(tasks)*per + sim.Time(g.messages())*per/sim.Time(min(int64(cpus), tasks/2))
}

// channel is what a receiver reads from.
func (g messagers) channel() kernel.ChannelSpec {
	if g.pipe {
		page := int32(max(4096/g.bytes, 1))
		return kernel.ChannelSpec{Kind: kernel.Pipe, Bytes: g.bytes, Capacity: 16 * page, Low: 15 * page}
	}
	// What a message takes of the sender's buffer: the power of two that holds it with its
	// trailer of 320 bytes, and a descriptor of 256.
	size := int64(512)
	for size < g.bytes+320 {
		size *= 2
	}
	c := int32(212_992 / (size + 256))
	return kernel.ChannelSpec{Kind: kernel.UnixStream, Bytes: g.bytes, Capacity: c, Low: c / 4}
}

func (g messagers) build(k *kernel.Kernel) error {
	round := k.Metric()
	ready := k.Channel(kernel.ChannelSpec{Kind: kernel.Pipe, Bytes: 1, Capacity: 65536, Low: 61440})
	start := k.Channel(kernel.ChannelSpec{Kind: kernel.Pipe, Bytes: 1, Capacity: 65536, Low: 61440})
	tasks := int32(2 * g.groups * g.fds)
	process := 0
	spawn := func(name string, work ...kernel.Op) error {
		if !g.threads || process == 0 {
			process++
		}
		prog := append([]kernel.Op{
			{Kind: kernel.OpWrite, Obj: int32(ready)},
			{Kind: kernel.OpPoll, Obj: int32(start), N: 1},
		}, work...)
		return k.Spawn(kernel.TaskSpec{Name: name, Process: process, Prog: append(prog, kernel.Op{Kind: kernel.OpEnd, N: tasks})})
	}
	spec := g.channel()
	fds, loops := int32(g.fds), int32(g.loops)
	for i := range g.groups {
		send := []kernel.Op{{Kind: kernel.OpStamp}}
		for f := range fds {
			ch := int32(k.Channel(spec))
			send = append(send, kernel.Op{Kind: kernel.OpWrite, Obj: ch})
			err := spawn(fmt.Sprintf("receiver/%d.%d", i, f),
				kernel.Op{Kind: kernel.OpRead, Obj: ch},
				kernel.Op{Kind: kernel.OpLoop, Obj: 1, N: loops * fds})
			if err != nil {
				return err
			}
		}
		send = append(send, kernel.Op{Kind: kernel.OpMark, Obj: int32(round)}, kernel.Op{Kind: kernel.OpLoop, Obj: fds + 2, N: loops})
		for f := range fds {
			if err := spawn(fmt.Sprintf("sender/%d.%d", i, f), send...); err != nil {
				return err
			}
		}
	}
	return k.Spawn(kernel.TaskSpec{Name: "parent", Prog: []kernel.Op{
		{Kind: kernel.OpRead, Obj: int32(ready)},
		{Kind: kernel.OpLoop, Obj: 1, N: tasks},
		{Kind: kernel.OpSleep, D: 100 * sim.Millisecond}, // until all have gone to sleep
		{Kind: kernel.OpBegin},
		{Kind: kernel.OpWrite, Obj: int32(start)},
	}})
}
