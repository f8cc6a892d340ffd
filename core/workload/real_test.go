package workload

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"testing"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// A real is what a kernel did in runs of hackbench: means over them, with the least and the most.
type real struct {
	n                                  int
	switches, wakeups, migrations      span // per message
	own, inPrevLLC, moved, preemptions span // % of the wakeups, the last one of the switches
}

type span struct{ sum, min, max float64 }

func (s *span) add(n int, v float64) {
	if n == 0 {
		s.min, s.max = v, v
	}
	s.sum += v
	s.min, s.max = min(s.min, v), max(s.max, v)
}

func (r *real) text() string {
	out := ""
	for _, s := range []*span{&r.switches, &r.wakeups, &r.migrations} {
		out += fmt.Sprintf(" %.3f (%.2f–%.2f) |", s.sum/float64(r.n), s.min, s.max)
	}
	for _, s := range []*span{&r.own, &r.inPrevLLC, &r.moved, &r.preemptions} {
		out += fmt.Sprintf(" %.0f (%.0f–%.0f) |", s.sum/float64(r.n), s.min, s.max)
	}
	return out
}

// realCounts reads what Debian's 6.1 did in a virtual machine: core/kernel/testdata/real says how.
func realCounts(t *testing.T) map[string]*real {
	f, err := os.Open("../kernel/testdata/real/counts.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	found := map[string]*real{}
	for _, row := range rows[1:] {
		get := func(name string) float64 {
			v, err := strconv.ParseFloat(row[at[name]], 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		if row[at["clock"]] != "icount-20" || row[at["tasks"]] != "process" || get("loops") == 1 || get("traced") != 1 {
			continue
		}
		key := row[at["topology"]] + " " + row[at["channel"]] + " " + row[at["groups"]]
		r := found[key]
		if r == nil {
			r = &real{}
			found[key] = r
		}
		messages, wakeups := get("messages"), get("wakeups")
		r.switches.add(r.n, (get("voluntary")+get("involuntary"))/messages) // away from tasks: those from idle are not counted here
		r.wakeups.add(r.n, wakeups/messages)
		r.migrations.add(r.n, get("migrations")/messages)
		r.own.add(r.n, 100*get("self")/wakeups)
		r.inPrevLLC.add(r.n, 100*get("in_prev_llc")/wakeups)
		r.moved.add(r.n, 100*get("moved")/wakeups)
		r.preemptions.add(r.n, 100*get("involuntary")/(get("voluntary")+get("involuntary")))
		r.n++
	}
	return found
}

// TestBesideRealKernel runs what a real Linux 6.1 ran and with -v prints what both did. Counts of
// hackbench differ two- and threefold between runs of the real one, so what it holds to
// is what was the same in all of them: most woken tasks stay under the cache where they were, and wakeups on
// the waker's own CPU and preemptions grow with the groups.
func TestBesideRealKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("it is compared once")
	}
	base, _ := kernel.LookupBase("6.1")
	counts := realCounts(t)
	const us = sim.Microsecond
	for _, topology := range []struct {
		name  string
		shape machine.Topology
	}{
		{"2x2x2", machine.Topology{Sockets: 2, NodesPerSocket: 1, LLCsPerNode: 1, CoresPerLLC: 2, ThreadsPerCore: 2}},
		{"1x8x1", machine.Topology{Sockets: 1, NodesPerSocket: 1, LLCsPerNode: 1, CoresPerLLC: 8, ThreadsPerCore: 1}},
	} {
		m := *lookup(t, "icx-2x32")
		m.CPUs, m.Nodes, m.Sharing = topology.shape.CPUs(), topology.shape.Nodes(), machine.Sharing{}
		if err := m.Build(); err != nil {
			t.Fatal(err)
		}
		for _, pipe := range []int64{1, 0} {
			channel := map[int64]string{1: "pipe", 0: "socket"}[pipe]
			var own, preempted []float64
			for _, groups := range []int64{1, 2, 4} {
				got := &real{}
				// The guest's eight CPUs share one clock, so that all of it takes some seven times as long.
				costs := kernel.CostsOn(&m)
				for _, c := range []struct {
					key string
					d   sim.Time
				}{{"pipe_write", 10 * us}, {"pipe_read", 10 * us}, {"unix_write", 20 * us}, {"unix_read", 20 * us},
					{"switch", 10 * us}, {"wakeup", 3 * us}, {"enqueue", 3 * us}, {"dequeue", 2 * us}, {"ipi_send", 3 * us}, {"irq_entry", 3 * us}, {"irq_exit", 3 * us}} {
					i, ok := kernel.LookupCost(c.key)
					if !ok {
						t.Fatal(c.key)
					}
					costs[i] = c.d
				}
				for run := range uint32(8) {
					k, err := kernel.New(kernel.Config{Machine: &m, Base: base, Costs: costs, Seed: 1, Run: run})
					if err != nil {
						t.Fatal(err)
					}
					v := set(t, &hackbench, &m, fmt.Sprintf("groups=%d fds=5 loops=%d pipe=%d", groups, 1000/groups, pipe))
					if err := hackbench.Build(k, v); err != nil {
						t.Fatal(err)
					}
					for k.Step(10_000) == kernel.Running {
					}
					var s kernel.Snapshot
					k.Read(&s)
					count := func(c kernel.Counter) float64 { return float64(s.Counters[c]) }
					wakeups, voluntary, involuntary := count(kernel.Wakeups), count(kernel.SwitchesVoluntary), count(kernel.SwitchesInvoluntary)
					got.switches.add(got.n, (voluntary+involuntary)/25_000)
					got.wakeups.add(got.n, wakeups/25_000)
					got.migrations.add(got.n, count(kernel.Migrations)/25_000)
					got.own.add(got.n, 100*count(kernel.WakeupsLocal)/wakeups)
					got.inPrevLLC.add(got.n, 100*(1-count(kernel.PlacedFar)/wakeups))
					got.moved.add(got.n, 100*(1-count(kernel.PlacedPrev)/wakeups))
					got.preemptions.add(got.n, 100*involuntary/(voluntary+involuntary))
					got.n++
				}
				key := fmt.Sprintf("%s %s %d", topology.name, channel, groups)
				t.Logf("| %s | real  |%s", key, counts[key].text())
				t.Logf("| %s | model |%s", key, got.text())
				own = append(own, got.own.sum)
				preempted = append(preempted, got.preemptions.sum)
				if got.inPrevLLC.sum/float64(got.n) < 88 {
					t.Errorf("%s: %.0f %% of the woken tasks stay under their cache", key, got.inPrevLLC.sum/float64(got.n))
				}
			}
			if own[0] >= own[2] || preempted[0] >= preempted[2] {
				t.Errorf("%s, %s: wakeups on the own CPU %.0f, preemptions %.0f: want more with more groups", topology.name, channel, own, preempted)
			}
		}
	}
}
