package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"schedlab/core/sweep"
	"schedlab/core/workload"
)

// SweepText writes a sweep for people, in plain UTF-8 for a fixed-width font: a
// verdict on each of the arms, what was asked, and for each arm a table of its
// effects, or with two axes a map, with the places where gain turns to loss.
func SweepText(t *sweep.Table, arms []int) string {
	var b strings.Builder
	q := sweptQuestion(t)
	for _, arm := range arms {
		wrap(&b, t.Verdict(arm), "")
	}
	q.writeConditions(&b)
	b.WriteByte('\n')
	runs := fmt.Sprintf("%d of each of %d arms at each of %d points", t.Sweep.Base.Runs, len(t.Sweep.Base.Arms), len(t.Sweep.Points()))
	lines := append(q.lines(), [][2]string{
		{"runs", runs},
		{"seed", fmt.Sprint(q.seed)},
		{"model", fmt.Sprint(q.model)},
		{"link", q.link},
	}...)
	for i, a := range t.Sweep.Axes {
		lines = append(lines, [2]string{[]string{"axis", "second axis"}[i], a.String() + " (" + t.Sweep.Text(i) + ")"})
	}
	writeLines(&b, lines)
	for _, arm := range arms {
		if len(t.Sweep.Axes) == 1 {
			writeCurve(&b, t, arm)
		} else {
			writeMap(&b, t, arm)
		}
	}
	b.WriteByte('\n')
	for _, w := range t.Warnings(arms) {
		wrap(&b, "warning: "+w, "  ")
	}
	wrap(&b, "Each p is of one point by itself: of twenty points without any effect, one is marked significant. "+
		"All points draw the same random numbers, so that neighbours err together.", "")
	b.WriteString("All figures are simulated; intervals and p hold in this model, not on a machine.\n")
	return b.String()
}

// sweptQuestion returns what all points of a sweep ask: without what its axes set.
func sweptQuestion(t *sweep.Table) question {
	q := newQuestion(t.Sweep.Base)
	q.changes = t.Changes()
	q.parameters = strings.Join(slices.DeleteFunc(parameters(t.Sweep.Base), func(p string) bool {
		return slices.ContainsFunc(t.Sweep.Axes, func(a sweep.Axis) bool { return strings.HasPrefix(p, a.Key+"=") })
	}), " ")
	return q
}

// perEvent says what the means are: "elapsed, ns per call".
func perEvent(m workload.Metric) string {
	switch {
	case m.PerRun == 0:
		return m.Name + " of a run, " + m.Unit
	case strings.HasSuffix(m.Name, " per "+m.Noun):
		return m.Name + ", " + m.Unit
	}
	return m.Name + ", " + m.Unit + " per " + m.Noun
}

func writeCurve(b *strings.Builder, t *sweep.Table, arm int) {
	b.WriteByte('\n')
	wrap(b, fmt.Sprintf("%s against %s: %s, mean of the runs; effect is the improvement of the means, positive is better; "+
		"~ is not significant", t.Arm(arm), t.Arm(0), perEvent(t.Metric())), "")
	axis := t.Sweep.Axes[0]
	least, most := 0.0, 0.0
	for p := range t.Sweep.Points() {
		if e := t.Effect(p, arm).ImprovementPct; e.OK {
			least, most = min(least, e.V), max(most, e.V)
		}
	}
	bars := newBars(least, most)
	rows := [][]string{{t.Sweep.Title(0), "baseline", "patched", "effect", "95 % interval", "p", bars.head()}}
	for p, value := range axis.Values {
		e := t.Effect(p, arm)
		row := []string{value, "-", "-", "-", "-", "-", bars.row(0, true)}
		if e.N > 0 {
			base, mean := e.PerEvent()
			row[1], row[2] = figure(base), figure(mean)
			row[5] = probability(e.P) + map[bool]string{true: "  ", false: " ~"}[e.Significant]
		}
		if e.ImprovementPct.OK {
			row[3] = fmt.Sprintf("%+.1f%%", e.ImprovementPct.V)
			row[6] = bars.row(e.ImprovementPct.V, e.Significant)
		}
		if e.CI95.OK {
			row[4] = fmt.Sprintf("%+.1f to %+.1f%%", e.CI95.Lo, e.CI95.Hi)
		}
		rows = append(rows, row)
	}
	align(b, rows, func(column int) bool { return column == 6 })
	writeCrossings(b, t, arm)
}

// writeCrossings says where on the only axis the effect changes its sign.
func writeCrossings(b *strings.Builder, t *sweep.Table, arm int) {
	axis := t.Sweep.Axes[0]
	unit := ""
	if u := t.Sweep.Unit(0); u != "" {
		unit = " " + u
	}
	crossings := t.Crossings(arm, 0)
	for _, c := range crossings {
		turn := c.Turn()
		doubt := ""
		if !c.Sure {
			doubt = "; not significant there"
		}
		between := fmt.Sprintf("between %s and %s", axis.Values[c.Below], axis.Values[c.Below+1])
		if c.Step {
			wrap(b, fmt.Sprintf("%s with %s %s%s", turn, axis.Key, between, doubt), "  ")
			continue
		}
		wrap(b, fmt.Sprintf("%s at %s ≈ %s%s (%s%s)", turn, axis.Key, short(c.At), unit, between, doubt), "  ")
	}
	if len(crossings) == 0 {
		writeNoCrossing(b, t, arm)
	}
}

func writeNoCrossing(b *strings.Builder, t *sweep.Table, arm int) {
	switch known := t.Known(arm); {
	case known == 0:
	case known < len(t.Sweep.Points()):
		b.WriteString("no change of sign between the points that are known\n")
	default:
		b.WriteString("no change of sign\n")
	}
}

func writeMap(b *strings.Builder, t *sweep.Table, arm int) {
	b.WriteByte('\n')
	wrap(b, fmt.Sprintf("%s against %s: effect on %s in %%, the improvement of the means, positive is better; ~ is not significant",
		t.Arm(arm), t.Arm(0), t.Metric().Name), "")
	x, y := t.Sweep.Axes[0], t.Sweep.Axes[1]
	head := append([]string{""}, x.Values...)
	rows := [][]string{append(head, "changes sign at")}
	nx, ny := t.Size()
	for j := ny - 1; j >= 0; j-- { // upwards, as in a picture
		row := []string{y.Values[j]}
		for i := range nx {
			cell := "- "
			if e := t.Effect(j*nx+i, arm); e.ImprovementPct.OK {
				cell = fmt.Sprintf("%+.1f", e.ImprovementPct.V) + map[bool]string{true: " ", false: "~"}[e.Significant]
			}
			row = append(row, cell)
		}
		var at []string
		for _, c := range t.Crossings(arm, j) {
			if c.Step {
				at = append(at, x.Values[c.Below]+" to "+x.Values[c.Below+1])
			} else {
				at = append(at, short(c.At))
			}
		}
		rows = append(rows, append(row, strings.Join(at, ", ")))
	}
	for i := range nx {
		rows[0][1+i] += " " // above the figures, not above their marks
	}
	fmt.Fprintf(b, "from left to right %s; upwards %s\n", t.Sweep.Title(0), t.Sweep.Title(1))
	align(b, rows, func(column int) bool { return column == nx+1 })
	if len(t.Contour(arm)) > 0 {
		wrap(b, fmt.Sprintf("gain turns to loss, or loss to gain, where the sign changes: in a row at the values of %s on its right", x.Key), "")
	} else {
		writeNoCrossing(b, t, arm)
	}
}

// bars draws effects as bars from a common zero.
type bars struct {
	zero  int     // cells to the left of it
	scale float64 // cells per percent
}

const barCells = 26

func newBars(least, most float64) bars {
	if most == least {
		return bars{zero: barCells / 2}
	}
	scale := barCells / (most - least)
	return bars{int(math.Round(-least * scale)), scale}
}

func (s bars) head() string {
	const loss, gain = "loss ", "| gain"
	if s.zero < len(loss) {
		return strings.Repeat(" ", s.zero) + gain
	}
	return strings.Repeat(" ", s.zero-len(loss)) + loss + gain
}

// row draws one bar; one that is not significant is pale.
func (s bars) row(v float64, sure bool) string {
	n := int(math.Round(math.Abs(v) * s.scale))
	bar := strings.Repeat(map[bool]string{true: "█", false: "░"}[sure], n)
	if v < 0 {
		return strings.Repeat(" ", max(s.zero-n, 0)) + bar + "|"
	}
	return strings.Repeat(" ", s.zero) + "|" + bar
}

// short is figure without zeros at the end.
func short(v float64) string {
	s := figure(v)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
