package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/stats"
)

// columns is how wide prose becomes. Tables are as wide as they must be.
const columns = 100

// Text writes a result for people, in plain UTF-8 for a fixed-width font: the
// verdict, what was asked, statistics over the runs, counters and time account
// with the arms side by side, what was published, and warnings.
func Text(r *core.Result) string { return newView(r).text() }

func (v *view) text() string {
	var b strings.Builder
	v.writeVerdict(&b)
	v.writeQuestion(&b)
	v.writeStatistics(&b)
	v.writeSamples(&b)
	v.writeClock(&b)
	v.writeCounters(&b)
	v.writeTime(&b)
	v.writeOutput(&b)
	v.writeEvidence(&b)
	v.writeWarnings(&b)
	return b.String()
}

// Verdict returns the sentence that says whether and by how much an arm
// differs from the baseline, arm 0: simulated, and in which model.
func Verdict(r *core.Result, arm int) string { return newView(r).verdict(arm) }

func (v *view) verdict(arm int) string {
	return fmt.Sprintf("In this model (version %d; %s; background %s), simulated: %s.",
		v.model, v.machine, v.background, v.finding(&v.arms[arm], arm > 0))
}

func (v *view) finding(a *armView, compared bool) string {
	metric, base, c := v.metric.Name, v.arms[0].name, &a.comparison
	switch {
	case !compared && a.finished == 0:
		return fmt.Sprintf("no run of %s has finished", a.name)
	case !compared:
		return fmt.Sprintf("%s of %s is %s %s, the mean of %s", metric, a.name, figure(a.summary.Mean), v.metric.Unit, count(a.finished, "run"))
	case c.N == 0:
		return fmt.Sprintf("no verdict on %s, for no pair of runs has finished", a.name)
	case c.N < stats.MinRunsTest && c.ImprovementPct.OK:
		return fmt.Sprintf("no verdict on %s, for a verdict needs %d pairs of runs and there are %d (means: %+.1f %%)",
			a.name, stats.MinRunsTest, c.N, v.change(c.ImprovementPct.V))
	}
	p := "p = " + probability(c.P)
	if c.P < 0.001 {
		p = "p < 0.001"
	}
	evidence := fmt.Sprintf("%s, %s of runs", p, count(c.N, "pair"))
	if c.CI95.OK {
		lo, hi := v.change(c.CI95.Lo), v.change(c.CI95.Hi)
		evidence = fmt.Sprintf("95 %% interval of the paired changes %+.1f to %+.1f %%, %s", min(lo, hi), max(lo, hi), evidence)
	}
	means := "the baseline's mean is 0"
	if c.ImprovementPct.OK {
		change := v.change(c.ImprovementPct.V)
		means = fmt.Sprintf("%.1f %% %s", math.Abs(change), map[bool]string{true: "lower", false: "higher"}[change < 0])
	}
	if !c.Significant {
		return fmt.Sprintf("%s with %s does not differ significantly from %s (means: %s; %s)", metric, a.name, base, means, evidence)
	}
	if !c.ImprovementPct.OK {
		return fmt.Sprintf("%s with %s differs from %s (%s; %s)", metric, a.name, base, means, evidence)
	}
	return fmt.Sprintf("%s with %s is %s than with %s (means; %s)", metric, a.name, means, base, evidence)
}

// change turns an improvement into the change of the metric itself.
func (v *view) change(improvement float64) float64 {
	if v.metric.Better == string(stats.Higher) {
		return improvement
	}
	return 0 - improvement // not −improvement, which makes −0 of 0
}

func (v *view) writeVerdict(b *strings.Builder) {
	for i := range v.arms {
		if i > 0 || len(v.arms) == 1 {
			wrap(b, v.verdict(i), "")
		}
		if fault := v.arms[i].kernelFault; fault != "" {
			wrap(b, v.arms[i].name+": "+fault+".", "")
		}
	}
	v.writeConditions(b)
}

// writeConditions says what a verdict hangs on.
func (q *question) writeConditions(b *strings.Builder) {
	if q.changes != "" {
		wrap(b, "With changes: "+q.changes+".", "")
	}
	for _, caution := range q.cautions {
		wrap(b, caution, "")
	}
}

func (v *view) writeQuestion(b *strings.Builder) {
	digest := "none, for the result is not complete"
	if v.digest != "" {
		digest = v.digest
	}
	b.WriteByte('\n')
	writeLines(b, append(v.lines(), [][2]string{
		{"seed", fmt.Sprint(v.seed)},
		{"model", fmt.Sprint(v.model)},
		{"digest", digest},
		{"link", v.link},
	}...))
}

// lines says what was asked, by name: all that is neither a number nor the link.
func (q *question) lines() [][2]string {
	return [][2]string{
		{"machine", q.machine},
		{"kernel", q.kernel},
		{"scheduler", q.scheduler},
		{"workload", q.workload},
		{"parameters", q.parameters},
		{"background", q.background},
		{"changed", q.changes},
	}
}

// writeLines writes names and texts, but no name without a text.
func writeLines(b *strings.Builder, lines [][2]string) {
	for _, line := range lines {
		if line[1] != "" {
			b.WriteString(pad(line[0], 12))
			wrap(b, line[1], strings.Repeat(" ", 12))
		}
	}
}

func (v *view) writeStatistics(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s of a run, %s; %s is better\n", v.metric.Name, v.metric.Unit, v.metric.Better)
	head := []string{"", "runs", "min", "median", "mean", "max", "sd", "cv"}
	if v.perRun > 0 {
		head = append(head, "mean/event")
	}
	rows := [][]string{append(head, "better", "p")}
	for i := range v.arms {
		a := &v.arms[i]
		s := a.summary
		row := []string{a.name, fmt.Sprint(s.N), "-", "-", "-", "-", "-", "-"}
		if s.N > 0 {
			row = []string{a.name, fmt.Sprint(s.N), figure(s.Min), figure(s.Median), figure(s.Mean), figure(s.Max), "-", "-"}
		}
		if s.N > 1 {
			row[6] = figure(s.SD)
		}
		if s.CV.OK {
			row[7] = fmt.Sprintf("%.1f%%", 100*s.CV.V)
		}
		if v.perRun > 0 {
			row = append(row, "-")
			if s.N > 0 {
				row[8] = figure(s.Mean / float64(v.perRun))
			}
		}
		switch c := a.comparison; {
		case i == 0 || c.N == 0:
			row = append(row, "", "")
		case !c.Significant || !c.ImprovementPct.OK:
			row = append(row, "~", probability(c.P))
		default:
			row = append(row, fmt.Sprintf("%+.1f%%", c.ImprovementPct.V), probability(c.P))
		}
		rows = append(rows, row)
	}
	table(b, rows)
	if n := v.counted(0); n > 0 {
		event := "events are " + v.metric.Nouns()
		if v.metric.Events == nil && len(v.samples) > 0 {
			event = "an event is " + v.samples[0].Text
		}
		fmt.Fprintf(b, "%s; %s a run\n", event, figure(math.Round(n/float64(max(v.arms[0].finished, 1)))))
	}
}

// counted returns how many events an arm's finished runs have had, 0 if that is not
// known: by what was counted, if there is any.
func (v *view) counted(arm int) float64 {
	a := &v.arms[arm]
	if n := v.metric.Count(a.total.Hists, a.total.Counters); n > 0 {
		return float64(n)
	}
	return float64(max(a.finished, 1)) * float64(v.perRun)
}

// writeSamples gives the quantiles of the per-event samples, and how many lie
// between one power of two and the next. They describe; the comparison rests on
// the runs.
func (v *view) writeSamples(b *strings.Builder) {
	for s := range v.samples {
		rows := [][]string{{"", "samples", "min", "mean", "p50", "p90", "p99", "p99.9", "max"}}
		byOctave := make([][]uint64, len(v.arms))
		longest := 0
		for i := range v.arms {
			hists := v.arms[i].total.Hists
			if s >= len(hists) || hists[s].N == 0 {
				continue
			}
			h := &hists[s]
			row := []string{v.arms[i].name, fmt.Sprint(h.N)}
			for _, t := range []int64{h.Min, h.Mean(), h.Quantile(1, 2), h.Quantile(9, 10), h.Quantile(99, 100), h.Quantile(999, 1000), h.Max} {
				row = append(row, figure(float64(t)/1000))
			}
			rows = append(rows, row)
			byOctave[i] = h.Octaves(1000)
			longest = max(longest, len(byOctave[i]))
		}
		if len(rows) == 1 {
			continue
		}
		fmt.Fprintf(b, "\nper %s (%s), ns, all finished runs together\n", v.samples[s].Key, v.samples[s].Text)
		table(b, rows)

		head := []string{"ns"}
		for i := range v.arms {
			head = append(head, v.arms[i].name)
		}
		rows = [][]string{head}
		for o := range longest {
			row := []string{fmt.Sprintf("%d – %d", 1<<o>>1, 1<<o)}
			any := false
			for i := range v.arms {
				n := uint64(0)
				if o < len(byOctave[i]) {
					n = byOctave[i][o]
				}
				any = any || n > 0
				row = append(row, fmt.Sprint(n))
			}
			if any {
				rows = append(rows, row)
			}
		}
		fmt.Fprintf(b, "\nthe same by powers of two\n")
		table(b, rows)
	}
}

// sideBySide is a table with a column an arm and, if there are two, their
// difference. Values are exact sums over the finished runs, divided at the end.
type sideBySide struct {
	rows  []sideRow
	names []string
	runs  []int     // finished, by arm
	by    []float64 // what sums are divided by, by arm: at first the finished runs
}

type sideRow struct {
	name   string
	values []float64 // by arm; meaningless if the arm has no finished run
}

func (v *view) sideBySide() sideBySide {
	var t sideBySide
	for i := range v.arms {
		t.names = append(t.names, v.arms[i].name)
		t.runs = append(t.runs, v.arms[i].finished)
		t.by = append(t.by, float64(max(v.arms[i].finished, 1)))
	}
	return t
}

// add adds a row of sums per arm, each divided by its own divisor and by div. A row of zeros is left out.
func (t *sideBySide) add(name string, sums []int64, div float64) {
	if !slices.ContainsFunc(sums, func(s int64) bool { return s != 0 }) {
		return
	}
	row := sideRow{name, make([]float64, len(sums))}
	for i, s := range sums {
		row.values[i] = float64(s) / (t.by[i] * div)
	}
	t.rows = append(t.rows, row)
}

// difference returns the largest difference between an arm and the first one.
func (r *sideRow) difference() float64 {
	d := 0.0
	for _, v := range r.values {
		d = max(d, math.Abs(v-r.values[0]))
	}
	return d
}

func (t *sideBySide) write(b *strings.Builder) {
	head := append([]string{""}, t.names...)
	if len(t.names) == 2 {
		head = append(head, "difference")
	}
	rows := [][]string{head}
	for _, r := range t.rows {
		row := []string{r.name}
		for i, v := range r.values {
			if t.runs[i] == 0 {
				row = append(row, "-")
			} else {
				row = append(row, figure(v))
			}
		}
		if len(t.names) == 2 {
			if slices.Contains(t.runs, 0) {
				row = append(row, "")
			} else {
				row = append(row, signed(r.values[1]-r.values[0]))
			}
		}
		rows = append(rows, row)
	}
	table(b, rows)
}

// sums returns index i of a list of every arm's total.
func (v *view) sums(of func(*core.Part) []int64, i int) []int64 {
	sums := make([]int64, len(v.arms))
	for arm := range v.arms {
		sums[arm] = at(of(&v.arms[arm].total), i)
	}
	return sums
}

func (v *view) writeCounters(b *strings.Builder) {
	t := v.sideBySide()
	for i, c := range v.counters {
		if v.scheduler != "" && core.InClock(kernel.Counter(i)) {
			continue // there is a table of these
		}
		t.add(c.Key, v.sums(func(p *core.Part) []int64 { return p.Counters }, i), 1)
	}
	if len(t.rows) > 0 {
		b.WriteString("\ncounters, mean of the runs\n")
		t.write(b)
	}
}

func (v *view) writeTime(b *strings.Builder) {
	t := v.sideBySide()
	div, unit := 1000., "ns a run"
	known := true
	for i := range v.arms {
		known = known && (v.counted(i) > 0 || v.arms[i].finished == 0)
	}
	if known {
		unit = "ns an event"
		for i := range v.arms {
			t.by[i] = max(v.counted(i), 1)
		}
	}
	for i, kind := range v.times {
		t.add(kind.Key, v.sums(func(p *core.Part) []int64 { return p.Time }, i), div)
	}
	if len(t.rows) == 0 {
		return
	}
	slices.SortStableFunc(t.rows, func(x, y sideRow) int { return cmp.Compare(y.difference(), x.difference()) })
	sum := make([]int64, len(v.arms))
	for i := range v.arms {
		for _, d := range v.arms[i].total.Time {
			sum[i] += d
		}
	}
	t.add("sum", sum, div)
	fmt.Fprintf(b, "\ntime of all %d CPUs, %s, largest difference first\n", v.cpus, unit)
	t.write(b)
}

// writeOutput writes what the benchmark itself would have printed of the first run of each kernel.
func (v *view) writeOutput(b *strings.Builder) {
	if v.output == nil {
		return
	}
	for i := range v.arms {
		if a := &v.arms[i]; len(a.runs) > 0 {
			fmt.Fprintf(b, "\n%s, run %d, as the program prints it:\n%s", a.name, a.runs[0].Run+1, v.output(a.runs[0]))
		}
	}
}

func (v *view) writeEvidence(b *strings.Builder) {
	for _, t := range v.published {
		b.WriteString("\npublished: ")
		wrap(b, fmt.Sprintf("%s <%s>. %s", t.Title, t.Source, t.Note), "")
		for i, a := range t.Arms {
			var ticks []string
			for _, tick := range t.PerEvent(i) {
				ticks = append(ticks, figure(tick))
			}
			if ticks != nil {
				wrap(b, core.ArmName(a.Patches)+", runs, "+v.metric.Unit+" per event: "+strings.Join(ticks, " "), "  ")
			}
		}
		rows := [][]string{{"", "", "published", "simulated", ""}}
		var notes []string
		for _, r := range v.compare(t) {
			mark := ""
			if r.Used != "" {
				i := slices.Index(notes, r.Used)
				if i < 0 {
					i = len(notes)
					notes = append(notes, r.Used)
				}
				mark = fmt.Sprintf("[%d]", i+1)
			}
			name := string(r.Figure)
			if r.Unit != "" {
				name += ", " + r.Unit
			}
			rows = append(rows, []string{r.Arm, name, optional(r.Published), optional(r.Simulated), mark})
		}
		table(b, rows)
		for i, note := range notes {
			fmt.Fprintf(b, "[%d] ", i+1)
			wrap(b, "no prediction: "+note, "    ")
		}
		for _, u := range t.Used {
			if len(u.Runs) > 0 {
				wrap(b, fmt.Sprintf("run %s of %s was used for %s",
					strings.Trim(fmt.Sprint(u.Runs), "[]"), core.ArmName(t.Arms[u.Arm].Patches), u.For), "")
			}
		}
	}
}

func (v *view) writeWarnings(b *strings.Builder) {
	b.WriteString("\n")
	for _, w := range v.warnings {
		wrap(b, "warning: "+w, "  ")
	}
	for i := range v.arms {
		for _, w := range v.arms[i].comparison.Warnings {
			wrap(b, "warning: "+v.arms[i].name+": "+w, "  ")
		}
	}
	b.WriteString("All figures but published ones are simulated; intervals and p hold in this model, not on a machine.\n")
}

func optional(n stats.Number) string {
	if !n.OK {
		return "-"
	}
	return figure(n.V)
}

// figure writes a value with four significant digits, or all before the point.
func figure(v float64) string {
	decimals := 0
	if v != math.Trunc(v) {
		for a := math.Abs(v); a < 1000 && decimals < 6; a *= 10 {
			decimals++
		}
	}
	return fmt.Sprintf("%.*f", decimals, v)
}

func signed(v float64) string {
	if v > 0 {
		return "+" + figure(v)
	}
	return figure(v)
}

// probability writes p for a table.
func probability(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(width-utf8.RuneCountInString(s), 0))
}

// table writes rows of equal length in columns: text on the left, as far as the cells
// of the first row are empty, and figures on the right.
func table(b *strings.Builder, rows [][]string) {
	head := rows[0]
	last := len(head) - 1
	texts := 0
	for texts < last && head[texts] == "" {
		texts++
	}
	align(b, rows, func(column int) bool { return column < texts || column == last && head[last] == "" })
}

// align writes rows of equal length in columns: those of text on the left, the others
// on the right.
func align(b *strings.Builder, rows [][]string, text func(column int) bool) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			if i > 0 {
				line += "  "
			}
			if text(i) {
				line += pad(cell, widths[i])
			} else {
				line += strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)) + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// wrap writes a paragraph that continues the line b is on, broken at spaces to stay
// within columns; further lines start with indent.
func wrap(b *strings.Builder, text, indent string) {
	line := b.String()
	width := utf8.RuneCountInString(line[strings.LastIndexByte(line, '\n')+1:])
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case width+1+n > columns:
			b.WriteString("\n" + indent)
			width = utf8.RuneCountInString(indent)
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += n
	}
	b.WriteByte('\n')
}
