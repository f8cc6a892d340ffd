package workload

import (
	"fmt"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// netperf is the network benchmark of that name over loopback, as Intel's test robot runs it: many
// pairs at once, whose results are summed.
var netperf = Workload{
	Key:   "netperf",
	Title: "netperf: pairs of processes exchange messages over loopback",
	Brief: "Each pair plays ping-pong (RR) or streams one way (STREAM) over TCP or UDP on 127.0.0.1: two switches and two wakeups from softirq a transaction, or a pipeline.",
	Note: "A pair is a netperf and a netserver, each a process of its own, which block in send and receive. RR: a request of one byte and a response of one. " +
		"STREAM: netperf sends without pause; netserver receives as many messages at once as go into its buffer of 128 KB. What TCP has under way is bounded by window. " +
		"A UDP socket holds three messages of the largest size, and what finds it full is lost: the throughput is that of the sender, as netperf prints it first. " +
		"Sending goes down the network stack and, on the same CPU and in softirq, up again to the receiver's socket. Acknowledgements, segmentation and the control connections are not modelled. " +
		"The robot runs 300 s; here it is a fraction of a second by default.",
	Params: []Param{
		{Key: "test", Label: "Test", Kind: Choice, Choices: []string{"TCP_RR", "UDP_RR", "TCP_STREAM", "UDP_STREAM"}, Help: "what a pair does, -t"},
		{Key: "nr_threads", Label: "Pairs", Def: 1, Min: 1, Max: 10_000, Help: "how many at once"},
		{Key: "load", Label: "Load", Unit: "%", Def: 0, Min: 0, Max: 800, Help: "pairs as a part of the machine's CPUs, as the robot counts them; 0: as many as nr_threads says"},
		runtimeParam.with(100, "what is measured, -l"),
		warmupParam.with(20, "before what is measured"),
		{Key: "send_size", Label: "Send size", Unit: "B", Def: 0, Min: 0, Max: 65_507, Help: "STREAM: of a message, -m; 0: 16384 for TCP, 65507 for UDP"},
		{Key: "request", Label: "Request", Unit: "B", Def: 1, Min: 1, Max: 65_507, Help: "RR: size of a request, the first number of -r"},
		{Key: "response", Label: "Response", Unit: "B", Def: 1, Min: 1, Max: 65_507, Help: "RR: size of a response, the second one"},
		{Key: "window", Label: "Window", Unit: "KB", Def: 2560, Min: 64, Max: 8192, Help: "TCP_STREAM: what may be under way; the kernel lets it grow to some MB, and how far is assumed"},
	},
	Length:  "runtime",
	Waits:   true,
	Samples: []Sample{{"transaction", "one transaction: a request and its response (STREAM: one send)"}},
	Metrics: func(_ *machine.Machine, v Values) []Metric {
		t := netperfOf(1, v)
		throughput := Metric{Key: "throughput", Name: "total throughput", Unit: "transactions/s", Better: "higher", Noun: "transaction",
			Of: func(s *kernel.Snapshot) int64 { return perSecond(s, int64(s.Hists[0].N), 1) }}
		if t.stream {
			throughput.Unit, throughput.Noun = "Mbit/s", "send"
			throughput.Of = func(s *kernel.Snapshot) int64 { return perSecond(s, int64(s.Hists[0].N)*t.size*8, 1_000_000) }
		}
		return []Metric{
			throughput,
			{Key: "latency99", Name: "99th percentile of the time of a " + throughput.Noun, Unit: "µs", Better: "lower", Noun: throughput.Noun,
				Of: func(s *kernel.Snapshot) int64 { return quantile(s, 0, 99, 100) }},
		}
	},
	Check: func(m *machine.Machine, v Values) (string, string) {
		t := netperfOf(len(m.CPUs), v)
		if t.pairs > 10_000 {
			return "load", fmt.Sprintf("at most %d on %d CPUs: 10,000 pairs", 10_000*100/len(m.CPUs), len(m.CPUs))
		}
		return tooLong(v[3].N, t.pairs, "pairs")
	},
	Longest: func(_ *machine.Machine, v Values) sim.Time { return longestWindow(v[4].N, v[3].N) },
	Build: func(k *kernel.Kernel, v Values) error {
		if err := netperfOf(k.CPUs(), v).build(k); err != nil {
			return err
		}
		return window(k, v[4].N, v[3].N)
	},
}

// tooLong says what is wrong with a run time if so many who are busy all the time make a
// run that takes minutes to simulate.
func tooLong(runtime, busy int64, who string) (key, want string) {
	if most := max(100_000/busy, 1); runtime > most {
		return "runtime", fmt.Sprintf("at most %d ms with %d %s", most, busy, who)
	}
	return "", ""
}

// A netperfRun is what there is to run.
type netperfRun struct {
	pairs             int64
	kind              kernel.ChannelKind
	stream            bool
	size              int64 // of a message of a stream, or of a request
	response          int64
	capacity, receive int64 // messages that may be under way, and that are received at once
}

func netperfOf(cpus int, v Values) netperfRun {
	t := netperfRun{pairs: v[1].N, kind: kernel.TCP, stream: v[0].N >= 2, size: v[6].N, response: v[7].N, capacity: 1, receive: 1}
	if load := v[2].N; load > 0 {
		t.pairs = max(int64(cpus)*load/100, 1)
	}
	if v[0].N%2 == 1 {
		t.kind = kernel.UDP
	}
	if !t.stream {
		return t
	}
	t.size = v[5].N
	switch {
	case t.kind == kernel.TCP:
		if t.size == 0 {
			t.size = 16_384
		}
		t.capacity = max(v[8].N*1024/t.size, 1)
		t.receive = max(128*1024/t.size, 1)
	default:
		if t.size == 0 {
			t.size = 65_507
		}
		// What a datagram takes of the receiver's buffer of 212,992 bytes: itself, the memory
		// that it is rounded up to, and its descriptor.
		size := int64(512)
		for size < t.size+320 && size < 4096 {
			size *= 2
		}
		if t.size+320 > size {
			size = (t.size + 320 + 4095) / 4096 * 4096
		}
		t.capacity = max(212_992/(size+256), 1)
	}
	return t
}

func (t netperfRun) build(k *kernel.Kernel) error {
	transaction := int32(k.Metric())
	channel := func(bytes int64) int32 {
		// TCP lets a writer go on when a third of the buffer is free.
		return int32(k.Channel(kernel.ChannelSpec{Kind: t.kind, Bytes: bytes, Capacity: int32(t.capacity), Low: int32(t.capacity * 2 / 3)}))
	}
	for i := range t.pairs {
		out := channel(t.size)
		client := []kernel.Op{{Kind: kernel.OpStamp}, {Kind: kernel.OpWrite, Obj: out}}
		server := []kernel.Op{{Kind: kernel.OpRead, Obj: out, N: int32(t.receive)}}
		if !t.stream {
			back := channel(t.response)
			client = append(client, kernel.Op{Kind: kernel.OpRead, Obj: back})
			server = append(server, kernel.Op{Kind: kernel.OpWrite, Obj: back})
		}
		client = append(client, kernel.Op{Kind: kernel.OpMark, Obj: transaction})
		err := pair(k, i, "netperf", client, "netserver", server)
		if err != nil {
			return err
		}
	}
	return nil
}

// pair adds two processes that do what they do for ever.
func pair(k *kernel.Kernel, i int64, client string, asks []kernel.Op, server string, answers []kernel.Op) error {
	for j, t := range []kernel.TaskSpec{{Name: server, Prog: answers}, {Name: client, Prog: asks}} {
		t.Name = fmt.Sprintf("%s/%d", t.Name, i)
		t.Process = int(2*i) + j + 1
		t.Parent = 1 - j // the server's daemon forks the one, the script the other
		t.Prog = append(t.Prog, kernel.Op{Kind: kernel.OpLoop, Obj: int32(len(t.Prog))})
		if err := k.Spawn(t); err != nil {
			return err
		}
	}
	return nil
}
