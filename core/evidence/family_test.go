package evidence

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/scenario"
	"schedlab/core/stats"
)

var full = flag.Bool("full", false, "simulate as many calls as the README's table has, which takes some minutes")

// designs are the arms of the family's comparison: the kernel before, and each design
// for calls to idle CPUs that poll.
const designs = "&arm=&arm=always-ipi&arm=skip-newidle&arm=notify-ipi&arm=sm-idle-v2"

// paths are the ways of a call in short, for a table.
var paths = []struct {
	name string
	of   []kernel.Counter
}{
	{"flag", []kernel.Counter{kernel.CallsPolledPoll, kernel.CallsPolledMwait, kernel.CallsPolledBefore}},
	{"behind schedule()", []kernel.Counter{kernel.CallsIRQsOff}},
	{"IPI into the loop", []kernel.Counter{kernel.CallsIdleEntry}},
	{"IPI into sleep", []kernel.Counter{kernel.CallsAsleep}},
}

// TestFamily sets the designs side by side on every machine: with -v it prints the
// tables of the README. What it holds to is what the README says in words.
func TestFamily(t *testing.T) {
	calls := 1500
	if *full {
		calls = 100_000
	}
	for i, m := range machine.Catalogue() {
		if testing.Short() && i > 1 {
			break
		}
		states := []string{strings.Join(shallow(m), ",")}
		if own := strings.Join(m.EnabledIdle(), ","); own != states[0] {
			states = append(states, own)
		}
		for _, idle := range states {
			for _, bg := range []string{"quiet", "busy", "pair"} {
				s, problems := scenario.Parse(fmt.Sprintf("?m=%s&idle=%s&bg=%s&numipi=%d%s", m.Key, idle, bg, calls, designs))
				if len(problems) > 0 {
					t.Fatal(problems)
				}
				r, err := core.Run(s, nil)
				if err != nil {
					t.Fatal(err)
				}
				f := newFamily(r)
				t.Logf("| %s | %s | %s | %s |", m.Key, idle, bg, f)
				f.check(t, m, bg, idle == states[0])
			}
		}
	}
}

// shallow are the polling state and the shallowest other one: as in the published
// runs, in which deeper ones were disabled.
func shallow(m *machine.Machine) (names []string) {
	for i := range m.Idle {
		names = append(names, m.Idle[i].Name)
		if !m.Idle[i].Polling {
			break
		}
	}
	return names
}

// A family is the result of the comparison, by arm.
type family struct {
	mean   []float64 // ns a call
	better []stats.Comparison
	path   [][4]int64 // percent of the calls, by paths
}

func newFamily(r *core.Result) (f family) {
	for i := range r.Parts {
		f.mean = append(f.mean, stats.Summarize(r.Primaries(i)).Mean/float64(r.Metric().PerRun))
		f.better = append(f.better, r.Compare(i))
		total := r.Total(i)
		var shares [4]int64
		for j, p := range paths {
			for _, c := range p.of {
				shares[j] += total.Counters[c]
			}
			shares[j] = (200*shares[j]/total.Counters[kernel.CallsSent] + 1) / 2
		}
		f.path = append(f.path, shares)
	}
	return f
}

func (f family) String() string {
	s := fmt.Sprintf("%.2f µs %v", f.mean[0]/1000, f.path[0])
	for i := 1; i < len(f.mean); i++ {
		sure := ""
		if !f.better[i].Significant {
			sure = "~"
		}
		s += fmt.Sprintf(" | %+.0f %%%s %v", 0-f.better[i].ImprovementPct.V, sure, f.path[i])
	}
	return s
}

// check holds to what the README says in words.
func (f family) check(t *testing.T, m *machine.Machine, bg string, shallow bool) {
	const base, ipi, skip, notify, fast = 0, 1, 2, 3, 4
	const flag, behind = 0, 1
	small := m.Key == "laptop" || m.Key == "apu-8" || m.Key == "vm-2"
	for arm := range f.path {
		if arm == ipi && f.path[arm][flag] != 0 {
			t.Errorf("a call went by flag, though all are to interrupt: %v", f)
		}
		if arm != base && f.path[arm][behind] > 2 && !small {
			t.Errorf("arm %d: calls wait behind schedule(): %v", arm, f)
		}
	}
	switch {
	case m.NoPollingFlag:
		for _, arm := range []int{ipi, skip, notify, fast} {
			if f.mean[arm] != f.mean[base] {
				t.Errorf("arm %d changes something where no CPU can be called by flag: %v", arm, f)
			}
		}
	case small || !shallow:
	case bg == "pair" && len(m.Nodes) == 1:
		// A balance pass over all of it finds the pair, can't move it, looks again without its CPU, and so clears
		// the overloaded flag: nothing walks.
		if b := f.path[base][behind]; b > 2 {
			t.Errorf("%d %% of the calls wait behind schedule(): %v", b, f)
		}
	case bg == "pair":
		if b := f.path[base][behind]; b < 10 || b > 52 {
			t.Errorf("%d %% of the calls wait behind schedule(): %v", b, f)
		}
		for arm := ipi; arm <= fast; arm++ {
			if gain := f.better[arm].ImprovementPct.V; gain < 18 || gain > 87 {
				t.Errorf("arm %d takes %.0f %% off, want a fifth to six sevenths, but for chance: %v", arm, gain, f)
			}
		}
	case bg == "quiet":
		if d := f.mean[skip]/f.mean[base] - 1; d < -0.03 || d > 0.03 {
			t.Errorf("skipping newidle balance, which leaves at once, changes %.1f %%: %v", 100*d, f)
		}
		if f.mean[ipi] < f.mean[base] {
			t.Errorf("interrupts make quiet calls faster: %v", f)
		}
	}
}
