package evidence

import (
	"slices"

	"schedlab/core/scenario"
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
		"The slow runs come from an assumed pair of tasks pinned to one CPU, which keeps newidle balance walking. Compare bg=quiet, which has none."},
}

// Cautions returns what to say beside the verdict on s.
func Cautions(s scenario.Scenario) []string {
	var list []string
	for _, c := range cautions {
		if c.Workload == s.Workload && slices.Contains(c.Backgrounds, s.Background) {
			list = append(list, c.Text)
		}
	}
	return list
}
