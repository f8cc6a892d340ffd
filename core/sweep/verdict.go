package sweep

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"schedlab/core"
	"schedlab/core/machine"
	"schedlab/core/scenario"
	"schedlab/core/stats"
)

// Verdict says in a sentence between what bounds an arm's effect lies:
// simulated, and in which model.
func (t *Table) Verdict(arm int) string {
	return fmt.Sprintf("In this model (version %d; %s; background %s), simulated: %s.",
		core.Model, t.machine(), t.Sweep.Base.Background, t.finding(arm))
}

func (t *Table) finding(arm int) string {
	name, base, m := t.Arm(arm), t.Arm(0), t.Metric()
	known, sure, pairs := 0, 0, 0
	fewest := math.MaxInt
	least, most := math.Inf(1), math.Inf(-1)
	for p := range t.effects {
		e := &t.effects[p][arm]
		if !e.ImprovementPct.OK {
			continue
		}
		known++
		pairs = max(pairs, e.N)
		fewest = min(fewest, e.N)
		if e.Significant {
			sure++
		}
		change := t.change(e.ImprovementPct.V)
		least, most = min(least, change), max(most, change)
	}
	if known == 0 {
		return fmt.Sprintf("no verdict on %s, for no pair of runs has finished", name)
	}
	way := func(v float64) string {
		return fmt.Sprintf("%.1f %% %s", math.Abs(v), map[bool]string{true: "lower", false: "higher"}[v < 0])
	}
	n := count(pairs, "pair") + " of runs"
	if fewest < pairs {
		n = fmt.Sprintf("%d to %s", fewest, n)
	}
	if pairs < stats.MinRunsTest {
		return fmt.Sprintf("no verdict on %s, for a verdict needs %d pairs of runs a point and there are %d (means: %+.1f to %+.1f %%)",
			name, stats.MinRunsTest, pairs, least, most)
	}
	by := t.Sweep.Axes[0].Key
	if len(t.Sweep.Axes) > 1 {
		by += " and " + t.Sweep.Axes[1].Key
	}
	rest := ""
	if known < len(t.effects) {
		rest = fmt.Sprintf("; %d more are not known", len(t.effects)-known)
	}
	if sure == 0 {
		return fmt.Sprintf("%s with %s differs significantly from %s at none of %s, by %s (means: %+.1f to %+.1f %%; %s a point%s)",
			m.Name, name, base, count(known, "point"), by, least, most, n, rest)
	}
	where := fmt.Sprintf("from %s to %s", way(least), way(most))
	switch {
	case way(least) == way(most):
		where = way(least)
	case most < 0:
		where = fmt.Sprintf("%.1f to %s", -most, way(least))
	case least >= 0:
		where = fmt.Sprintf("%.1f to %s", least, way(most))
	}
	return fmt.Sprintf("%s with %s is %s than with %s, by %s (means; %s a point; significant at %d of %d points%s)",
		m.Name, name, where, base, by, n, sure, known, rest)
}

// change turns an improvement into the change of the metric itself.
func (t *Table) change(improvement float64) float64 {
	if t.Metric().Better == string(stats.Higher) {
		return improvement
	}
	return 0 - improvement
}

// Changes lists what all points change about their machine: "relax 40 ns".
func (t *Table) Changes() string {
	s := t.Sweep.Base
	s.Costs = slices.DeleteFunc(slices.Clone(s.Costs), func(c scenario.Cost) bool {
		return slices.ContainsFunc(t.Sweep.Axes, func(a Axis) bool { return a.Key == "c."+c.Key })
	})
	return strings.Join(s.Changes(), "; ")
}

// Basis says in a line on what the figures rest.
func (t *Table) Basis() string {
	s := t.Sweep.Base
	basis := fmt.Sprintf("simulated, model %d, %s, %s background, %s a point, seed %d", core.Model, t.machine(), s.Background, count(s.Runs, "pair")+" of runs", s.Seed)
	if c := t.Changes(); c != "" {
		basis += ", with changes: " + c
	}
	return basis
}

// Warnings returns the warnings of all points, each once, with how many points have it.
func (t *Table) Warnings(arms []int) []string {
	var list []string
	if n, of := t.Finished(); n < of {
		list = append(list, fmt.Sprintf("runs finished %d of %d", n, of))
	}
	for _, arm := range arms {
		var texts []string
		points := make(map[string]int)
		for p := range t.effects {
			for _, w := range t.effects[p][arm].Warnings {
				if points[w]++; points[w] == 1 {
					texts = append(texts, w)
				}
			}
		}
		for _, w := range texts {
			at := "at all points"
			if n := points[w]; n < len(t.effects) {
				at = fmt.Sprintf("at %s", count(n, "point"))
			}
			list = append(list, fmt.Sprintf("%s, %s: %s", t.Arm(arm), at, w))
		}
	}
	return list
}

func (t *Table) machine() string {
	m, err := machine.Lookup(t.Sweep.Base.Machine)
	if err != nil {
		return t.Sweep.Base.Machine
	}
	return m.Title
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
