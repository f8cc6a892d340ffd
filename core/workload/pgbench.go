package workload

import (
	"fmt"

	"schedlab/core/fitted"
	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// pgbench is PostgreSQL's benchmark with its select-only script, as mmtests runs it.
var pgbench = Workload{
	Key:   "pgbench",
	Title: "pgbench: a few threads put queries to many PostgreSQL backends",
	Brief: "Threads of pgbench share out the clients and wait in poll for any of them; each client has a backend process, which waits, computes and answers over TCP.",
	Note: "Read-only (-S), on a database that fits into memory, over TCP on 127.0.0.1. A pgbench thread polls the sockets of its clients; it reads each answer that has come and sends that client's next query. " +
		"A backend waits for a query (since 9.6 in epoll, whose wakeups lose their sync promise; before in a blocking read), computes and answers. " +
		"What the two sides compute is set: thread_ns to the plateau of about 78,000 transactions a second that two threads reach on the E5-2699 v3 with 48 clients, backend_ns to its 12 clients without a patch, both with bg=housekeeping. " +
		"round_ns is what a thread computes for each call of poll, beside what it computes for each answer that the call has found: a thread that is behind finds several, and so gets cheaper the more clients it has. Measured with PostgreSQL 15's pgbench, clients and server on one CPU of an EPYC: 1.65 µs of user time a round where a transaction took the thread 8.3 µs of user and system time, so a fifth of the 25.5 µs that it takes a thread here. That a round takes longer with more clients (some 0.04 µs each there) is left out. " +
		"Locks of the database are not modelled. The published run with one client (68.5 transactions a second, one in 15 ms) looks like an artefact: nothing here explains it.",
	Params: []Param{
		{Key: "clients", Label: "Clients", Def: 12, Min: 1, Max: 10_000, Help: "how many, -c"},
		{Key: "jobs", Label: "Threads", Def: 0, Min: 0, Max: 1000, Help: "of pgbench, -j; 0: as many as the machine has NUMA nodes and no more than clients, as mmtests has it"},
		{Key: "version", Label: "PostgreSQL", Kind: Choice, Choices: []string{"14", "9.5"}, Help: "14 stands for 9.6 and later, whose backends wait in epoll, 9.5 for earlier ones, which block in a read"},
		runtimeParam.with(200, "what is measured, -T"),
		warmupParam.with(50, "before what is measured"),
		{Key: "thread_ns", Label: "Thread's work", Unit: "ns", Def: fitted.Value("pgbench", "thread_ns"), Min: 1, Max: 10_000_000, Help: "computing of a pgbench thread for a transaction, beside its system calls: fitted, see above"},
		{Key: "backend_ns", Label: "Backend's work", Unit: "ns", Def: fitted.Value("pgbench", "backend_ns"), Min: 1, Max: 10_000_000, Help: "computing of a backend for a query, beside its system calls, ±10 %: fitted, see above"},
		{Key: "round_ns", Label: "Thread's round", Unit: "ns", Def: 5_100, Min: 0, Max: 10_000_000, Help: "computing of a pgbench thread before each poll, beside the call: measured, see above"},
	},
	Length:  "runtime",
	Waits:   true,
	Samples: []Sample{{"transaction", "one transaction, from its query until the thread has read the answer"}},
	Metrics: func(_ *machine.Machine, v Values) []Metric {
		latency := func(key, name string, of func(s *kernel.Snapshot) int64) Metric {
			return Metric{Key: key, Name: name, Unit: "µs", Better: "lower", Noun: "transaction", Of: of}
		}
		return []Metric{
			{Key: "tps", Name: "transactions per second", Unit: "transactions/s", Better: "higher", Noun: "transaction",
				Of: func(s *kernel.Snapshot) int64 { return perSecond(s, int64(s.Hists[0].N), 1) }},
			latency("latency", "mean latency", func(s *kernel.Snapshot) int64 { return s.Hists[0].Mean() / 1000 }),
			latency("latency90", "90th percentile of latency", func(s *kernel.Snapshot) int64 { return quantile(s, 0, 9, 10) }),
			latency("latency99", "99th percentile of latency", func(s *kernel.Snapshot) int64 { return quantile(s, 0, 99, 100) }),
		}
	},
	Fit: func(m *machine.Machine, v Values) { v[0].N = min(v[0].N, int64(2*len(m.CPUs))) },
	Check: func(m *machine.Machine, v Values) (string, string) {
		if v[1].N > v[0].N {
			return "jobs", fmt.Sprintf("at most %d: each thread has a client", v[0].N)
		}
		return tooLong(v[3].N, min(v[0].N, pgbenchJobs(m, v)*8), "busy clients")
	},
	Longest: func(_ *machine.Machine, v Values) sim.Time { return longestWindow(v[4].N, v[3].N) },
	Build:   buildPgbench,
}

// pgbenchJobs is how many threads there are.
func pgbenchJobs(m *machine.Machine, v Values) int64 {
	if v[1].N > 0 {
		return v[1].N
	}
	return min(int64(len(m.Nodes)), v[0].N)
}

func buildPgbench(k *kernel.Kernel, v Values) error {
	transaction := int32(k.Metric())
	clients, threads := int32(v[0].N), int32(pgbenchJobs(k.Machine(), v))
	// Their channels lie side by side: first the queries, then the answers.
	channels := func(bytes int64) (first int32) {
		for i := range clients {
			id := k.Channel(kernel.ChannelSpec{Kind: kernel.TCP, Bytes: bytes, Capacity: 1})
			if i == 0 {
				first = int32(id)
			}
		}
		return first
	}
	queries, answers := channels(60), channels(80)
	for i := range clients {
		// A backend says that it is ready, and so gets its first query.
		backend := []kernel.Op{{Kind: kernel.OpWrite, Obj: answers + i}}
		if v[2].N == 0 {
			backend = append(backend, kernel.Op{Kind: kernel.OpEpoll, Obj: queries + i})
		}
		backend = append(backend,
			kernel.Op{Kind: kernel.OpRead, Obj: queries + i},
			kernel.Op{Kind: kernel.OpCompute, D: sim.Time(v[6].N) * sim.Nanosecond, N: 10},
			kernel.Op{Kind: kernel.OpLoop, Obj: int32(len(backend)) + 2})
		if err := k.Spawn(kernel.TaskSpec{Name: fmt.Sprintf("postgres/%d", i), Parent: 1, Process: int(i) + 2, Prog: backend}); err != nil {
			return err
		}
	}
	for i := range threads {
		first, next := i*clients/threads, (i+1)*clients/threads
		err := k.Spawn(kernel.TaskSpec{Name: fmt.Sprintf("pgbench/%d", i), Process: 1, Prog: []kernel.Op{
			{Kind: kernel.OpRound, D: sim.Time(v[7].N) * sim.Nanosecond, N: 10},
			{Kind: kernel.OpPoll, Obj: answers + first, N: next - first},
			{Kind: kernel.OpRead, At: kernel.AtFound, Obj: answers + first},
			{Kind: kernel.OpMark, At: kernel.AtFound, Obj: transaction},
			{Kind: kernel.OpCompute, D: sim.Time(v[5].N) * sim.Nanosecond, N: 10},
			{Kind: kernel.OpStamp, At: kernel.AtFound},
			{Kind: kernel.OpWrite, At: kernel.AtFound, Obj: queries + first},
			{Kind: kernel.OpLoop, Obj: 7},
		}})
		if err != nil {
			return err
		}
	}
	return window(k, v[4].N, v[3].N)
}
