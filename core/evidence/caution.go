package evidence

import (
	"fmt"
	"slices"
	"strconv"

	"schedlab/core/machine"
	"schedlab/core/scenario"
	"schedlab/core/sim"
	"schedlab/core/workload"
)

// A Caution says on what unknown a result hangs.
type Caution struct {
	Workload    string
	Backgrounds []string
	Text        string
}

// cautions are what our own experiments with the model have shown; the tests of this
// package repeat them.
var cautions = []Caution{
	{"ipistorm", []string{"quiet", "housekeeping"},
		"Without walks over the run queues the difference hangs on a race of some tens of nanoseconds between sender and target, in costs that nobody " +
			"has measured: even its sign is not certain, however narrow the interval."},
	{"ipistorm", []string{"busy", "pair", "mixed"},
		"Walks of newidle balance come from two tasks that are assumed to be pinned to the machine's last CPU. Compare bg=quiet, which has no such tasks."},
}

// deep is the exit latency from which on an idle state can be most of a call's time.
const deep = 10 * sim.Microsecond

// Cautions returns what to say beside the verdict on s.
func Cautions(s scenario.Scenario) []string {
	var list []string
	for _, c := range cautions {
		if c.Workload == s.Workload && slices.Contains(c.Backgrounds, s.Background) {
			list = append(list, c.Text)
		}
	}
	if r, err := s.Resolve(); err == nil {
		for i := range r.Machine.Idle {
			if state := &r.Machine.Idle[i]; !state.Disabled && state.Exit >= deep {
				if text := deepCaution(r.Workload, state); text != "" {
					list = append(list, text)
				}
				break
			}
		}
	}
	return list
}

// deepCaution says what hangs on the wake-up from a deep idle state, which workloads whose tasks wait for
// each other go through over and over.
func deepCaution(w *workload.Workload, state *machine.IdleState) string {
	us := strconv.FormatInt(int64(state.Exit/sim.Microsecond), 10)
	switch {
	case w.Calls != nil:
		return fmt.Sprintf("The idle state %s, which takes %s µs to leave by its table, is enabled. A CPU whose tick is stopped goes by its next timer, so that a "+
			"call which interrupts it can wait for that. Processors that turn such requests down are not modelled; in the published runs such states were disabled.", state.Name, us)
	case w.Waits:
		return fmt.Sprintf("The idle state %s, which takes %s µs to leave by its table, is enabled, and tasks that wait for each other may go through it each time: the governor goes by the "+
			"next timer when the last idle times have no pattern. Processors that turn such requests down are not modelled. Compare the shallow states alone.", state.Name, us)
	}
	return ""
}
