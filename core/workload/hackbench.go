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
	Note: "A group is num-fds senders and as many receivers, each with a pipe or a socket pair of its own that all senders of the group share. " +
		"In each loop a sender writes one message to each receiver. All sleep until the parent lets them go, which is where the time begins; it ends with the last one. " +
		"Forking before and reaping after it are not modelled.",
	Params: []Param{
		{Key: "groups", Label: "Groups", Def: 10, Min: 1, Max: 1000, Help: "how many groups, -g"},
		{Key: "loops", Label: "Loops", Def: 100, Min: 1, Max: 100_000, Help: "messages from each sender to each receiver, -l"},
		{Key: "fds", Label: "File descriptors", Def: 20, Min: 1, Max: 100, Help: "senders, and receivers, of a group, -f"},
		{Key: "datasize", Label: "Data size", Unit: "B", Def: 100, Min: 1, Max: 4096, Help: "of a message, -s"},
		{Key: "pipe", Label: "Pipes", Kind: Bool, Def: 0, Help: "1: pipes, -p; 0: socket pairs"},
		{Key: "threads", Label: "Threads", Kind: Bool, Def: 0, Help: "1: threads of one process, -T; 0: processes, -P"},
	},
	Length:  "loops",
	Samples: []Sample{{"round", "one loop of a sender: a message to each receiver"}},
	Metrics: func(v Values) []Metric {
		messages := v[0].N * v[1].N * v[2].N * v[2].N
		return []Metric{
			{Key: "time", Name: "time", Unit: "ns", Better: "lower", Noun: "message", PerRun: messages, Of: elapsed},
		}
	},
	Check: func(_ *machine.Machine, v Values) (string, string) {
		return "", ""
	},
	Build: func(k *kernel.Kernel, v Values) error {
		round := k.Metric()
		groups, loops, fds := int(v[0].N), int32(v[1].N), int(v[2].N)
		spec := kernel.ChannelSpec{Kind: kernel.UnixStream, Bytes: v[3].N, Capacity: int32(max(212992/(512+256), 1))}
		spec.Low = spec.Capacity / 4
		if v[4].N != 0 {
			page := int32(max(4096/v[3].N, 1))
			spec = kernel.ChannelSpec{Kind: kernel.Pipe, Bytes: v[3].N, Capacity: 16 * page, Low: 15 * page}
		}
		ready := k.Channel(kernel.ChannelSpec{Kind: kernel.Pipe, Bytes: 1, Capacity: 65536, Low: 61440})
		start := k.Channel(kernel.ChannelSpec{Kind: kernel.Pipe, Bytes: 1, Capacity: 65536, Low: 61440})
		tasks := groups * fds * 2
		begin := []kernel.Op{
			{Kind: kernel.OpWrite, Obj: int32(ready)},
			{Kind: kernel.OpPoll, Obj: int32(start), N: 1},
		}
		process := 0
		spawn := func(name string, work ...kernel.Op) error {
			if v[5].N == 0 || process == 0 {
				process++
			}
			prog := append(append([]kernel.Op{}, begin...), work...)
			return k.Spawn(kernel.TaskSpec{Name: name, Process: process, Prog: append(prog, kernel.Op{Kind: kernel.OpEnd, N: int32(tasks)})})
		}
		for g := range groups {
			var send []kernel.Op
			send = append(send, kernel.Op{Kind: kernel.OpStamp})
			for f := range fds {
				ch := k.Channel(spec)
				send = append(send, kernel.Op{Kind: kernel.OpWrite, Obj: int32(ch)})
				err := spawn(fmt.Sprintf("receiver/%d.%d", g, f),
					kernel.Op{Kind: kernel.OpRead, Obj: int32(ch)},
					kernel.Op{Kind: kernel.OpLoop, Obj: 1, N: loops * int32(fds)})
				if err != nil {
					return err
				}
			}
			send = append(send, kernel.Op{Kind: kernel.OpMark, Obj: int32(round)},
				kernel.Op{Kind: kernel.OpLoop, Obj: int32(fds + 2), N: loops})
			for f := range fds {
				if err := spawn(fmt.Sprintf("sender/%d.%d", g, f), send...); err != nil {
					return err
				}
			}
		}
		return k.Spawn(kernel.TaskSpec{Name: "hackbench", Prog: []kernel.Op{
			{Kind: kernel.OpRead, Obj: int32(ready)},
			{Kind: kernel.OpLoop, Obj: 1, N: int32(tasks)},
			{Kind: kernel.OpSleep, D: 100 * sim.Millisecond},
			{Kind: kernel.OpBegin},
			{Kind: kernel.OpWrite, Obj: int32(start)},
		}})
	},
}
