package workload

import (
	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// tbench is the network half of dbench: what a file server's traffic does to the network
// stack, without files. The sizes of its packets are from https://github.com/sahlberg/dbench.
var tbench = Workload{
	Key:   "tbench",
	Title: "tbench: clients replay a file server's traffic over loopback",
	Brief: "Each client asks its server process over TCP on 127.0.0.1 and waits for the answer: every wakeup comes from softirq.",
	Note: "A client sends a request of some dozen bytes, or one that carries data, and waits for the answer of its own server process, which does nothing but answer. " +
		"The program replays a recorded script of half a million requests; here eleven go round in about its proportions: seven without data, three reads and one write. " +
		"All reads and writes are of one size, which is assumed: the script has some of 512 bytes and some of 64 KB. Reading the script is a microsecond of computing, assumed. " +
		"A packet is sent and received at once, where the program reads its first four bytes on their own.",
	Params: []Param{
		{Key: "clients", Label: "Clients", Def: 4, Min: 1, Max: 10_000, Help: "how many, the program's argument"},
		runtimeParam.with(100, "what is measured, -t"),
		warmupParam.with(20, "before what is measured"),
		{Key: "size", Label: "Data size", Unit: "B", Def: 16_384, Min: 1, Max: 65_536, Help: "of a read or a write"},
		{Key: "think", Label: "Client's work", Unit: "ns", Def: 1000, Min: 1, Max: 1_000_000, Help: "computing before each request"},
	},
	Length:  "runtime",
	Waits:   true,
	Samples: []Sample{{"request", "one request, until its answer"}},
	Metrics: func(_ *machine.Machine, v Values) []Metric {
		return []Metric{
			{Key: "throughput", Name: "throughput", Unit: "MB/s", Better: "higher", Noun: "request", Of: func(s *kernel.Snapshot) int64 {
				return perSecond(s, mulDiv(int64(s.Hists[0].N), tbenchData*v[3].N, int64(len(tbenchScript))), 1<<20)
			}},
			{Key: "latency99", Name: "99th percentile of the time of a request", Unit: "µs", Better: "lower", Noun: "request",
				Of: func(s *kernel.Snapshot) int64 { return quantile(s, 0, 99, 100) }},
		}
	},
	Fit: func(m *machine.Machine, v Values) { v[0].N = min(v[0].N, int64(len(m.CPUs))) },
	Check: func(_ *machine.Machine, v Values) (string, string) {
		return tooLong(v[1].N, v[0].N, "clients")
	},
	Longest: func(_ *machine.Machine, v Values) sim.Time { return longestWindow(v[2].N, v[1].N) },
	Build: func(k *kernel.Kernel, v Values) error {
		request := int32(k.Metric())
		for i := range v[0].N {
			// One connection, of whose messages each kind has a channel here: channels have messages
			// of one size. Client and server go through the same script, so they never wait at different ones.
			channel := func(bytes int64) int32 {
				return int32(k.Channel(kernel.ChannelSpec{Kind: kernel.TCP, Bytes: bytes, Capacity: 1}))
			}
			ask, tell, askData, tellData := channel(60), channel(60), channel(51+v[3].N), channel(4+v[3].N)
			var client, server []kernel.Op
			for _, what := range tbenchScript {
				out, back := ask, tell
				switch what {
				case 'r':
					back = tellData
				case 'w':
					out = askData
				}
				client = append(client, kernel.Op{Kind: kernel.OpCompute, D: sim.Time(v[4].N) * sim.Nanosecond, N: 20}, kernel.Op{Kind: kernel.OpStamp},
					kernel.Op{Kind: kernel.OpWrite, Obj: out}, kernel.Op{Kind: kernel.OpRead, Obj: back}, kernel.Op{Kind: kernel.OpMark, Obj: request})
				server = append(server, kernel.Op{Kind: kernel.OpRead, Obj: out}, kernel.Op{Kind: kernel.OpWrite, Obj: back})
			}
			if err := pair(k, i, "tbench", client, "tbench_srv", server); err != nil {
				return err
			}
		}
		return window(k, v[2].N, v[1].N)
	},
}

// tbenchScript is what a client asks for: nothing to speak of, reads and writes.
const (
	tbenchScript = "--r--r-w-r-"
	tbenchData   = 4 // requests with data in it
)
