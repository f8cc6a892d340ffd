package evidence

import (
	"fmt"
	"strings"
	"testing"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/scenario"
	"schedlab/core/workload"
)

// TestClockReads simulates what was posted on the clock of sched_ext: with -v it prints which share of the reads of the
// hardware's clock each version saves, on four machines, beside what was posted, and from which callbacks. With -full in runs
// as long as the rows have them, else in short ones on two machines.
func TestClockReads(t *testing.T) {
	versions := [][]string{nil, {"scx-now-v1"}, {"scx-now-v4"}, {"scx-now"}}
	machines := ClockMachines
	if !*full {
		machines = machines[:2]
	}
	type result struct {
		saved [4]float64 // percent, by version: against the first arm
		own   [4]float64 // the share of the times asked for in the arm itself
		all   [4]float64 // as saved, with the reads that the kernel makes for its run queues' clocks
		text  string
	}
	results := make([][]result, len(clockRows()))
	t.Run("simulate", func(t *testing.T) {
		for i, row := range clockRows() {
			results[i] = make([]result, len(machines))
			for j, m := range machines {
				t.Run(row.Key+" on "+m, func(t *testing.T) {
					t.Parallel()
					s, _ := scenario.Parse(row.Scenario)
					s.Machine, s.Arms, s.Runs = m, versions, 3
					if !*full {
						w, _ := workload.Lookup(s.Workload)
						s.Params[w.Param("group")].N, s.Params[w.Param("nr_loops")].N, s.Runs = 4, 3, 1
					}
					r, err := core.Run(s, nil)
					if err != nil || !r.Complete() {
						t.Fatalf("%s: %v", s.Query(), err)
					}
					x := &results[i][j]
					var reads [4]float64 // an event, of scheduler and kernel
					for arm := range versions {
						total := r.Total(arm)
						clock := core.ClockOf(total.Counters)
						if clock.All.Uses == 0 {
							t.Fatalf("%s never asks for the time", s.Scheduler)
						}
						if arm > 0 {
							x.saved[arm] = r.Compare(arm).ImprovementPct.V
						}
						x.own[arm] = 100 * clock.All.Saved().V
						metric := r.Metric()
						events := metric.Count(total.Hists, total.Counters)
						reads[arm] = float64(clock.All.Reads+total.Counters[kernel.ClockUpdates]) / float64(max(events, 1))
						x.all[arm] = 100 - 100*reads[arm]/reads[0]
						x.text += callbacks(core.ArmName(versions[arm]), &clock, events)
						x.text += fmt.Sprintf("  %-11s the kernel's own reads %.1f\n", core.ArmName(versions[arm]), 1000*float64(total.Counters[kernel.ClockUpdates])/float64(max(events, 1)))
						// What must hold, whatever the machine.
						switch {
						case arm == 0 && clock.All.Reads != clock.All.Uses:
							t.Errorf("without the cached clock there are %d reads for %d times", clock.All.Reads, clock.All.Uses)
						case arm > 0 && (x.own[arm] <= 0 || x.own[arm] >= 100):
							t.Errorf("%s saves %.1f %% of the reads", core.ArmName(versions[arm]), x.own[arm])
						}
					}
				})
			}
		}
	})
	if t.Failed() {
		return
	}
	for i, row := range clockRows() {
		for j, m := range machines {
			t.Logf("%s on %s:\n%s", row.Key, m, results[i][j].text)
		}
	}
	t.Log("reads saved, % against the first kernel (in brackets of the times asked for on the same; of all reads with the kernel's own)")
	for i, row := range clockRows() {
		for j, m := range machines {
			x := &results[i][j]
			line := fmt.Sprintf("| %s | %s | published %.0f |", strings.TrimPrefix(row.Key, "scx-now-v1-"), m, row.Arms[1].Printed[0].Value)
			for arm := 1; arm < len(versions); arm++ {
				line += fmt.Sprintf(" %s %.1f (%.1f; %.1f) |", versions[arm][0], x.saved[arm], x.own[arm], x.all[arm])
			}
			t.Log(line)
		}
	}
	// Whether the order in which they were posted comes out: said, not held to.
	for j, m := range machines {
		for i := 1; i < len(results); i++ {
			if before, own := results[i-1][j].own[1], results[i][j].own[1]; before <= own {
				t.Logf("%s: v1 saves %.1f %% with %s and %.1f %% with %s, which was posted to save less",
					m, before, clockRows()[i-1].Key, own, clockRows()[i].Key)
			}
		}
	}
}

// callbacks writes the table of an arm's clock, for each thousand messages.
func callbacks(name string, c *core.Clock, messages int64) string {
	var b strings.Builder
	per := func(n int64) float64 { return 1000 * float64(n) / float64(max(messages, 1)) }
	line := func(cb string, n core.ClockCount) {
		if n != (core.ClockCount{}) {
			fmt.Fprintf(&b, "  %-11s %-11s calls %9.1f  asked %9.1f  reads %9.1f  saved %5.1f %%\n", name, cb, per(n.Calls), per(n.Uses), per(n.Reads), 100*n.Saved().V)
		}
	}
	for i, cb := range kernel.Callbacks {
		line(cb, c.Callbacks[i])
	}
	line("all", c.All)
	for i, way := range core.ClockWays {
		if w := c.Ways[i]; w.Uses > 0 {
			fmt.Fprintf(&b, "  %-11s wakeups, %-11s asked %9.1f  cached %5.1f %%\n", name, way.Key, per(w.Uses), 100*w.Hit().V)
		}
	}
	for i, cause := range core.ClockCauses {
		if n := c.Misses[i]; n > 0 {
			fmt.Fprintf(&b, "  %-11s misses, %-11s %9.1f\n", name, cause.Key, per(n))
		}
	}
	return b.String()
}
