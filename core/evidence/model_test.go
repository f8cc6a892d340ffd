package evidence

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/scenario"
)

// simulate runs a scenario to its end.
func simulate(t *testing.T, link string) *core.Result {
	t.Helper()
	s, problems := scenario.Parse(link)
	if len(problems) > 0 {
		t.Fatalf("%s: %s", link, problems[0])
	}
	r, err := core.Run(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete() {
		t.Fatalf("%s is not complete", link)
	}
	return r
}

// perEvent returns the runs of an arm, ns a call, ascending.
func perEvent(r *core.Result, arm int) []float64 {
	values := r.Primaries(arm)
	for i := range values {
		values[i] /= float64(r.Metric().PerRun)
	}
	slices.Sort(values)
	return values
}

func row(values []float64) string {
	var b strings.Builder
	for _, v := range values {
		fmt.Fprintf(&b, " %5.0f", v)
	}
	return b.String()
}

// share returns how many of an arm's calls a counter counts.
func share(r *core.Result, arm int, c kernel.Counter) float64 {
	t := r.Total(arm)
	return float64(t.Counters[c]) / float64(t.Counters[kernel.CallsSent])
}

// The two published ipistorm tables beside the model, by background. What is
// asserted is the published shape, within tolerances that a machine's unknown
// state leaves open; `go test ./core/evidence -run Published -v` prints the rest.
func TestPublishedIpistorm(t *testing.T) {
	for _, table := range ipistorm {
		m, _ := scenario.Parse(table.Scenario)
		t.Logf("%s", table.Title)
		for arm := range table.Arms {
			if runs := table.PerEvent(arm); runs != nil {
				slices.Sort(runs)
				t.Logf("  published    %-12s%s", table.Arms[arm].Title, row(runs))
			}
		}
		for _, bg := range scenario.Backgrounds() {
			r := simulate(t, fmt.Sprintf("?m=%s&bg=%s&numipi=20000&arm=&arm=sm-idle-v2", m.Machine, bg))
			base, patched := perEvent(r, 0), perEvent(r, 1)
			t.Logf("  %-12s %-12s%s", bg, "baseline", row(base))
			t.Logf("  %-12s %-12s%s", "", "SM_IDLE", row(patched))
			for _, x := range Compare(r, table) {
				if x.Figure == Improvement {
					t.Logf("  %-12s improvement of means %.1f %%, published %.1f %%", "", x.Simulated.V, x.Published.V)
				}
			}
			least, most := base[0], base[len(base)-1]
			if walks := share(r, 1, kernel.NewidleRoot); walks > 0.01 {
				t.Errorf("%s, %s: %.3f full walks a call with the patch, which takes them off this road", m.Machine, bg, walks)
			}
			switch bg {
			case "quiet", "housekeeping":
				// Nothing to walk for: little is left to save.
				if walks := share(r, 0, kernel.NewidleRoot); walks > 0.01 {
					t.Errorf("%s, %s: %.3f full walks a call", m.Machine, bg, walks)
				}
				if most > 1.5*patched[len(patched)-1] {
					t.Errorf("%s, %s: a baseline run of %.0f ns a call without walks", m.Machine, bg, most)
				}
			case "pair":
				// Walks repeat: the patch saves about three quarters. On EPYC (0.25 published) that
				// holds the fit of rq_visit, and is no prediction.
				if saved := 1 - patched[5]/base[5]; saved < 0.6 || saved > 0.9 {
					t.Errorf("%s, %s: the patch saves %.0f %%, want about three quarters", m.Machine, bg, 100*saved)
				}
			case "busy":
				// The published spread of the 240-CPU baseline: some runs as fast as patched
				// ones, some several times slower.
				if least > 1.3*patched[len(patched)-1] || most < 3*least {
					t.Errorf("%s, %s: baseline runs from %.0f to %.0f ns a call, patched ones from %.0f to %.0f", m.Machine, bg, least, most, patched[0], patched[len(patched)-1])
				}
			}
			if m.Machine == "xeon-240" && (patched[0] < 1000 || patched[len(patched)-1] > 1900) {
				t.Errorf("%s, %s: patched runs from %.0f to %.0f ns a call, published 1131 to 1699", m.Machine, bg, patched[0], patched[len(patched)-1])
			}
		}
	}
}

// How much a patch gains on a quiet machine hangs on a race of some tens of
// nanoseconds, in constants that nobody has measured: so no single figure for it is
// to be claimed. `go test ./core/evidence -run Race -v` prints the map.
func TestQuietGainDependsOnTheRace(t *testing.T) {
	for _, m := range []string{"epyc-2x64", "xeon-240"} {
		least, most := 1e9, -1e9
		for _, turnaround := range []int{60, 100, 140} {
			for _, exit := range []int{150, 250, 350} {
				line := fmt.Sprintf("%s: sender turnaround %3d ns, handler exit %3d ns, idle entry 300, 500, 700, 900 ns:", m, turnaround, exit)
				for _, entry := range []int{300, 500, 700, 900} {
					// The parts of a sum keep their proportions.
					r := simulate(t, fmt.Sprintf("?m=%s&bg=quiet&numipi=1000&runs=6&arm=&arm=sm-idle-v2"+
						"&c.call_setup=%d&c.call_return=%d&c.irq_exit=%d&c.idle_top=%d&c.idle_enter=%d&c.governor=%d&c.state_enter=%d",
						m, turnaround*64/100, turnaround*36/100, exit, entry*6/100, entry*23/100, entry*39/100, entry*32/100))
					gain := r.Compare(1).ImprovementPct.V
					line += fmt.Sprintf(" %+5.1f", gain)
					least, most = min(least, gain), max(most, gain)
				}
				t.Log(line)
			}
		}
		t.Logf("%s: the gain is from %+.1f to %+.1f %%", m, least, most)
		if least > 0 || most < 3 {
			t.Errorf("%s: the gain is from %.1f to %.1f %%, want losses as well as gains", m, least, most)
		}
	}
}

// Every background of the published workload has its caution.
func TestCautions(t *testing.T) {
	for _, bg := range scenario.Backgrounds() {
		s, _ := scenario.Parse("?bg=" + bg)
		if len(Cautions(s)) != 1 {
			t.Errorf("%s: %d cautions, want one", bg, len(Cautions(s)))
		}
	}
}
