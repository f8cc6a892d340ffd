package scx

import (
	"fmt"
	"strings"
	"testing"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
)

func TestLookup(t *testing.T) {
	want := "lavd bpfland rusty simple central flatcg"
	var keys []string
	for i := range Schedulers {
		s := &Schedulers[i]
		keys = append(keys, s.Key)
		if got, err := Lookup(s.Key); got != s || err != nil {
			t.Errorf("%s: %v, %v", s.Key, got, err)
		}
		if s.Title == "" || s.Brief == "" || s.Note == "" || !strings.HasPrefix(s.Link, "https://") {
			t.Errorf("%s is not described", s.Key)
		}
	}
	if got := strings.Join(keys, " "); got != want {
		t.Errorf("there are %s, want %s", got, want)
	}
	if _, err := Lookup("fair"); err == nil || !strings.Contains(err.Error(), "bpfland") {
		t.Errorf("an unknown key: %v", err)
	}
}

// load returns a kernel that has a scheduler.
func load(t testing.TB, key, m, kern string, seed uint32, check bool) *kernel.Kernel {
	t.Helper()
	s, err := Lookup(key)
	if err != nil {
		t.Fatal(err)
	}
	mach, err := machine.Lookup(m)
	if err != nil {
		t.Fatal(err)
	}
	base, err := kernel.LookupBase(kern)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.New(kernel.Config{Machine: mach, Base: base, Costs: kernel.CostsOn(mach), Seed: seed, Check: check, Ext: s.Load, Budget: 20_000_000})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func spawn(t testing.TB, k *kernel.Kernel, s kernel.TaskSpec) {
	t.Helper()
	if err := k.Spawn(s); err != nil {
		t.Fatal(err)
	}
}

func finish(t testing.TB, k *kernel.Kernel) kernel.Snapshot {
	t.Helper()
	status := kernel.Running
	for status == kernel.Running {
		status = k.Step(1000)
	}
	var s kernel.Snapshot
	k.Read(&s)
	if status != kernel.Done {
		t.Fatalf("status %d after %d events: %s", status, s.Events, s.Fault)
	}
	return s
}

// mix spawns what there is: tasks that compute, tasks that pass messages, tasks that sleep, some of all nice values, some
// pinned, some kernel threads. factor is how many tasks there are for a hundred CPUs.
func mix(t testing.TB, k *kernel.Kernel, factor int) {
	t.Helper()
	n := max(k.CPUs()*factor/100, 7)
	var specs []kernel.TaskSpec
	for i := range n {
		s := kernel.TaskSpec{Name: fmt.Sprint("task/", i), Nice: i%40 - 20}
		switch i % 7 {
		case 0: // computes
			s.Prog = []kernel.Op{{Kind: kernel.OpCompute, D: 3 * sim.Millisecond, N: 50}}
		case 1: // sleeps
			s.Prog = []kernel.Op{{Kind: kernel.OpCompute, D: 20 * sim.Microsecond, N: 90}, {Kind: kernel.OpSleep, D: 100 * sim.Microsecond, N: 90}, {Kind: kernel.OpLoop, Obj: 2, N: 30}}
		case 2: // is pinned
			s.CPUs = []int{i % k.CPUs()}
			s.Prog = []kernel.Op{{Kind: kernel.OpCompute, D: sim.Millisecond}, {Kind: kernel.OpSleep, D: 50 * sim.Microsecond}, {Kind: kernel.OpLoop, Obj: 2, N: 3}}
		case 3: // is a kernel thread of a CPU
			s.CPUs, s.Kthread, s.Nice = []int{i * 3 % k.CPUs()}, true, 0
			s.Prog = []kernel.Op{{Kind: kernel.OpCompute, D: 5 * sim.Microsecond, N: 50}, {Kind: kernel.OpSleep, D: 300 * sim.Microsecond, N: 50}, {Kind: kernel.OpLoop, Obj: 2, N: 10}}
		case 4: // may run on some CPUs
			s.CPUs = []int{k.CPUs() - 1, i % k.CPUs()}
			s.Prog = []kernel.Op{{Kind: kernel.OpCompute, D: 500 * sim.Microsecond, N: 50}, {Kind: kernel.OpSleep, D: 30 * sim.Microsecond}, {Kind: kernel.OpLoop, Obj: 2, N: 4}}
		case 5: // sends messages to the next one
			ch := int32(k.Channel(kernel.ChannelSpec{Kind: kernel.Pipe, Bytes: 100, Capacity: 16, Low: 12}))
			s.Prog = []kernel.Op{{Kind: kernel.OpCompute, D: 3 * sim.Microsecond, N: 50}, {Kind: kernel.OpWrite, Obj: ch}, {Kind: kernel.OpLoop, Obj: 2, N: 60}}
			specs = append(specs, kernel.TaskSpec{Name: fmt.Sprint("reader/", i), Prog: []kernel.Op{{Kind: kernel.OpRead, Obj: ch}, {Kind: kernel.OpCompute, D: 4 * sim.Microsecond}, {Kind: kernel.OpLoop, Obj: 2, N: 60}}})
		case 6: // is one of a pair that goes back and forth
			there := int32(k.Channel(kernel.ChannelSpec{Kind: kernel.UnixStream, Bytes: 100, Capacity: 4, Low: 2}))
			back := int32(k.Channel(kernel.ChannelSpec{Kind: kernel.UnixStream, Bytes: 100, Capacity: 4, Low: 2}))
			s.Prog = []kernel.Op{{Kind: kernel.OpWrite, Obj: there}, {Kind: kernel.OpRead, Obj: back}, {Kind: kernel.OpLoop, Obj: 2, N: 60}}
			specs = append(specs, kernel.TaskSpec{Name: fmt.Sprint("echo/", i), Prog: []kernel.Op{{Kind: kernel.OpRead, Obj: there}, {Kind: kernel.OpWrite, Obj: back}, {Kind: kernel.OpLoop, Obj: 2, N: 60}}})
		}
		specs = append(specs, s)
	}
	specs = append(specs, kernel.TaskSpec{Name: "late", Prog: []kernel.Op{{Kind: kernel.OpSleep, D: 120 * sim.Millisecond}}})
	for _, s := range specs {
		s.Prog = append(append([]kernel.Op{{Kind: kernel.OpBegin}}, s.Prog...), kernel.Op{Kind: kernel.OpEnd, N: int32(len(specs))})
		for i := range s.Prog {
			if op := &s.Prog[i]; op.Kind == kernel.OpLoop && i-int(op.Obj) < 1 {
				op.Obj = int32(i - 1)
			}
		}
		spawn(t, k, s)
	}
}

// Every scheduler brings all kinds of tasks to their end, with few and with many, on small and on large machines, and
// reads the clock as often as the schedulers do that it stands for.
func TestSchedulers(t *testing.T) {
	type uses struct{ least, most int64 } // of the clock, in a call
	exactly := func(n int64) uses { return uses{n, n} }
	table := map[string]map[kernel.Callback]uses{
		"lavd": {kernel.ExtRunnable: {0, 1}, kernel.ExtEnqueue: {2, 3}, kernel.ExtDispatch: exactly(1), kernel.ExtRunning: exactly(2), kernel.ExtStopping: exactly(1),
			kernel.ExtQuiescent: exactly(1), kernel.ExtTick: {0, 1}, kernel.ExtUpdateIdle: exactly(1), kernel.ExtTimer: exactly(1)},
		"bpfland": {kernel.ExtRunnable: exactly(1), kernel.ExtRunning: exactly(2), kernel.ExtStopping: exactly(1), kernel.ExtQuiescent: exactly(1)},
		"rusty":   {kernel.ExtRunnable: exactly(1), kernel.ExtRunning: exactly(1), kernel.ExtStopping: exactly(1), kernel.ExtQuiescent: exactly(1), kernel.ExtTimer: exactly(1)},
		"simple":  {},
		"central": {kernel.ExtRunning: exactly(1), kernel.ExtTimer: exactly(1)},
		"flatcg":  {kernel.ExtDispatch: exactly(1)},
	}
	machines := []string{"vm-2", "laptop", "power9-smt8", "epyc-2x64"}
	for i := range Schedulers {
		key := Schedulers[i].Key
		sum := map[kernel.Callback][2]int64{}
		for j, m := range machines {
			factors := []int{20, 1000}
			if j >= 2 {
				factors = []int{25}
			}
			for _, factor := range factors {
				kern := "6.12"
				if factor < 100 { // there a cached clock can stand behind that of another CPU
					kern = "6.14"
				}
				k := load(t, key, m, kern, uint32(2+j), true)
				mix(t, k, factor)
				s := finish(t, k)
				for b := range kernel.Callback(kernel.NumCallbacks) {
					calls, used := s.Counters[kernel.ExtCalls+kernel.Counter(b)], s.Counters[kernel.ClockUses+kernel.Counter(b)]
					if u := table[key][b]; used < u.least*calls || used > u.most*calls {
						t.Errorf("%s on %s: %s was called %d times and read the clock %d times, want %d to %d in a call", key, m, kernel.Callbacks[b], calls, used, u.least, u.most)
					}
					sum[b] = [2]int64{sum[b][0] + calls, sum[b][1] + used}
				}
			}
		}
		for b, u := range table[key] {
			if sum[b][0] == 0 || sum[b][1] == 0 || u.least != u.most && (sum[b][1] == u.least*sum[b][0] || sum[b][1] == u.most*sum[b][0]) {
				t.Errorf("%s: %s was called %d times and read the clock %d times: is the test too easy?", key, kernel.Callbacks[b], sum[b][0], sum[b][1])
			}
		}
	}
}

// The same seed gives the same run, another one another.
func TestDeterminism(t *testing.T) {
	for i := range Schedulers {
		var first [2]string
		for n := range 4 {
			k := load(t, Schedulers[i].Key, "laptop", "6.12", uint32(n/2), false)
			mix(t, k, 300)
			s := finish(t, k)
			got := fmt.Sprint(s.Events, s.Counters, s.Time)
			if n%2 == 0 {
				first[n/2] = got
			} else if got != first[n/2] {
				t.Errorf("%s: two runs with seed %d differ", Schedulers[i].Key, n/2)
			}
		}
		if first[0] == first[1] {
			t.Errorf("%s: runs with different seeds are the same", Schedulers[i].Key)
		}
	}
}

// Schedulers that go by virtual time give tasks that compute CPU time by weight: 1024 against 335. There are six for
// each CPU. Of two on one, each would have every other turn, whatever they weigh: a CPU asks for the next task before
// the one that ran is back in a queue.
func TestFairness(t *testing.T) {
	for _, c := range []struct {
		key         string
		pinned      bool
		least, most int64 // how much more the heavier ones get, in percent
	}{
		{"simple", false, 270, 350}, {"simple", true, 270, 350},
		{"flatcg", false, 270, 350},
		{"rusty", false, 270, 350}, {"rusty", true, 270, 350},
		{"bpfland", false, 270, 350}, {"bpfland", true, 270, 350},
		{"lavd", false, 95, 350},
		{"central", false, 80, 125},
	} {
		k := load(t, c.key, "vm-2", "6.12", 1, true)
		for i := range 12 {
			done := int32(k.Metric())
			s := kernel.TaskSpec{Name: fmt.Sprint("hog/", i), Nice: i % 2 * 5}
			if c.pinned {
				s.CPUs = []int{i / 6}
			}
			s.Prog = []kernel.Op{{Kind: kernel.OpStamp}, {Kind: kernel.OpCompute, D: 100 * sim.Microsecond}, {Kind: kernel.OpMark, Obj: done}, {Kind: kernel.OpLoop, Obj: 3}}
			spawn(t, k, s)
		}
		spawn(t, k, kernel.TaskSpec{Name: "end", Nice: -20, Prog: []kernel.Op{{Kind: kernel.OpSleep, D: 100 * sim.Millisecond}, {Kind: kernel.OpBegin}, {Kind: kernel.OpSleep, D: 3 * sim.Second}, {Kind: kernel.OpEnd}}})
		s := finish(t, k)
		heavy, light := int64(0), int64(0)
		for i := 0; i < 12; i += 2 {
			heavy += int64(s.Hists[i].N)
			light += int64(s.Hists[i+1].N)
		}
		if got := heavy * 100 / max(light, 1); got < c.least || got > c.most {
			t.Errorf("%s, pinned %v: heavy tasks got %d %% of what light ones got (%d and %d turns), want %d to %d", c.key, c.pinned, got, heavy, light, c.least, c.most)
		}
	}
}

// Callbacks do not allocate once all tasks are known.
func TestAllocations(t *testing.T) {
	for i := range Schedulers {
		k := load(t, Schedulers[i].Key, "laptop", "6.12", 1, false)
		for j := range 40 {
			there := int32(k.Channel(kernel.ChannelSpec{Kind: kernel.UnixStream, Bytes: 100, Capacity: 4, Low: 2}))
			back := int32(k.Channel(kernel.ChannelSpec{Kind: kernel.UnixStream, Bytes: 100, Capacity: 4, Low: 2}))
			spawn(t, k, kernel.TaskSpec{Name: fmt.Sprint("a/", j), Prog: []kernel.Op{{Kind: kernel.OpWrite, Obj: there}, {Kind: kernel.OpRead, Obj: back}, {Kind: kernel.OpLoop, Obj: 2}}})
			spawn(t, k, kernel.TaskSpec{Name: fmt.Sprint("b/", j), Prog: []kernel.Op{{Kind: kernel.OpRead, Obj: there}, {Kind: kernel.OpWrite, Obj: back}, {Kind: kernel.OpLoop, Obj: 2}}})
		}
		k.Step(200_000)
		if n := testing.AllocsPerRun(20, func() { k.Step(2000) }); n > 0 {
			t.Errorf("%s: %.0f allocations in 2000 events", Schedulers[i].Key, n)
		}
	}
}

// Rusty's balance sends tasks to domains that have less to do, and the clock is read as they change over.
func TestRustyBalances(t *testing.T) {
	k := load(t, "rusty", "epyc-2x64", "6.12", 1, false)
	for i := range 4 * k.CPUs() { // by chance, some domains have more of those that compute
		s := kernel.TaskSpec{Name: fmt.Sprint("hog/", i), Prog: []kernel.Op{{Kind: kernel.OpCompute, D: 10 * sim.Second}}}
		if i%2 == 1 {
			s.Prog = []kernel.Op{{Kind: kernel.OpCompute, D: 10 * sim.Microsecond}, {Kind: kernel.OpSleep, D: 100 * sim.Millisecond, N: 50}, {Kind: kernel.OpLoop, Obj: 2}}
		}
		spawn(t, k, s)
	}
	spawn(t, k, kernel.TaskSpec{Name: "end", Prog: []kernel.Op{{Kind: kernel.OpBegin}, {Kind: kernel.OpSleep, D: 2500 * sim.Millisecond}, {Kind: kernel.OpEnd}}})
	s := finish(t, k)
	if n := s.Counters[kernel.ClockUses+kernel.Counter(kernel.ExtEnqueue)]; n < 5 || n > 2*rustyMoves {
		t.Errorf("%d tasks changed over to another domain", n)
	}
}
