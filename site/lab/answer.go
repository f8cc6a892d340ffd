package lab

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"schedlab/core"
	"schedlab/core/evidence"
	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/scenario"
	"schedlab/core/scx"
	"schedlab/core/stats"
	"schedlab/core/workload"
	"schedlab/site/chart"
)

// An Answer is what a page says of a result, in words and formatted figures.
// Statistics and verdict rest on finished runs; samples, counters and time
// account also on what is known of the others, so that they can be seen as
// they come.
type Answer struct {
	Arms       []ArmHead
	Verdicts   []Verdict // one for each arm but the baseline, or of the only arm
	Tags       []string  // what it was simulated on; the first one is "simulated"
	Basis      string    // stands beside each figure that can be quoted: "simulated, model 1, busy background"
	Noun       string    // an event of the workload in a word: "call"
	Samples    []Sampled
	Statistics []Row // of the runs
	Calls      []Row // which way remote calls went; none if there were none
	CallsNote  string
	Clock      ClockTable
	Account    Account
	Counters   []Row // means of the finished runs
	Published  []Published
	Cautions   []string // on what unknown the result hangs
	Warnings   []string
	Events     uint64 // of the simulation
	Digest     string // 16 hexadecimal digits; "" until the result is complete
	Link       string // query of the scenario
	Model      int
	Background string // its note
}

// An ArmHead heads an arm's column.
type ArmHead struct {
	Title        string
	Finished, Of int // runs
}

// A Verdict is a sentence: Subject, Verb, Figure, Object; Soft is its
// evidence, in a softer voice.
type Verdict struct {
	Arm                           int
	Subject, Verb, Figure, Object string
	Soft                          string
}

// String returns the sentence.
func (v Verdict) String() string {
	words := slices.DeleteFunc([]string{v.Subject, v.Verb, v.Figure, v.Object}, func(s string) bool { return s == "" })
	s := strings.Join(words, " ")
	if v.Soft != "" {
		s += " (" + v.Soft + ")"
	}
	return s + "."
}

// A Row is one line of a table with a cell for each arm, or the heading of
// those that follow.
type Row struct {
	Name, Help string
	Head       bool
	Cells      []string
	Change     string // of the second arm against the first, if there are two; else ""
}

// A Sampled is one of the figures that are sampled at each event. The first one is the
// workload's own: of it the runs are the means, and it is what others have published.
type Sampled struct {
	Key    string // "call"
	Text   string // "one call, from its first instruction to its return"
	Curves []chart.Curve
	Rows   []Row // for the table of statistics
}

// Event names the event with what is sampled of it: "one delivery, from …".
func (s *Sampled) Event() string {
	one := "one " + s.Key + ", "
	return one + strings.TrimPrefix(s.Text, one)
}

// Octaves counts the samples from each power of two of nanoseconds to the next, as a
// public variant of ipistorm prints them.
func (s *Sampled) Octaves() (rows []Row) {
	counts := make([][]uint64, len(s.Curves))
	longest := 0
	for i, c := range s.Curves {
		if c.Samples != nil {
			counts[i] = c.Samples.Octaves(1000)
			longest = max(longest, len(counts[i]))
		}
	}
	for o := range longest {
		row := Row{Name: chart.Figure(float64(uint64(1)<<o>>1)) + " – " + chart.Figure(float64(uint64(1)<<o))}
		some := false
		for _, c := range counts {
			n := uint64(0)
			if o < len(c) {
				n = c[o]
			}
			some = some || n > 0
			row.Cells = append(row.Cells, chart.Figure(float64(n)))
		}
		if some || len(rows) > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

// An Account says where the time went, largest difference first.
type Account struct {
	Unit  string // "ns a call"
	Rows  []AccountRow
	Apart []Row  // kinds that the bars leave out
	Note  string // why
}

// An AccountRow is a kind of work, with a bar for each arm.
type AccountRow struct {
	Row
	Bars []float64 // percent of the longest one
}

// A Published sets a published table beside the result.
type Published struct {
	Title, Source, Note string
	URL                 string
	Rows                []PublishedRow
	Notes               []string // what the marks of the rows mean, and what else was used
}

// A PublishedRow is one figure of an arm, or, without one, the heading of the arm's
// figures. Mark is the number of its note, "" for a prediction.
type PublishedRow struct{ Arm, Figure, Published, Simulated, Mark string }

// NewAnswer words a result; running tells that more of it is to come.
func NewAnswer(r *core.Result, running bool) *Answer {
	s := r.Scenario
	a := &Answer{
		Noun: r.Metric().Noun, Link: s.Query(), Model: core.Model,
		Tags:     []string{"simulated", fmt.Sprintf("model %d", core.Model), s.Machine, "Linux " + KernelTitle(s), s.Background + " background"},
		Cautions: evidence.Cautions(s),
		Basis:    fmt.Sprintf("simulated, model %d, %s background", core.Model, s.Background),
	}
	switch changes := s.Changes(); len(changes) {
	case 0:
	case 1, 2:
		a.Tags = append(a.Tags, changes...)
		a.Basis += ", with " + strings.Join(changes, " and ")
	default: // the tags list them
		a.Tags = append(a.Tags, changes...)
		a.Basis += fmt.Sprintf(", with %d changes of the machine", len(changes))
	}
	if bg, err := workload.LookupBackground(s.Background); err == nil {
		a.Background = bg.Note
	}
	if r.Complete() {
		a.Digest = fmt.Sprintf("%016x", r.Digest())
	}
	w := worder{r: r, a: a, running: running, metric: r.Metric(), perRun: float64(r.Metric().PerRun)}
	for i := range s.Arms {
		finished, of := r.Finished(i)
		a.Arms = append(a.Arms, ArmHead{ArmTitle(s.Arms[i]), finished, of})
		w.totals = append(w.totals, r.SoFar(i))
		a.Events += w.totals[i].Events
		w.summaries = append(w.summaries, stats.Summarize(r.Primaries(i)))
		if fault := r.KernelFault(i); fault != "" {
			a.Warnings = append(a.Warnings, a.Arms[i].Title+": "+fault+".")
		}
		faults := 0
		for j := range r.Parts[i] {
			if fault := r.Parts[i][j].Fault; fault != "" {
				if faults++; faults > maxFaults {
					continue
				}
				what := "broke the model"
				if r.Parts[i][j].Limit {
					what = "was too long"
				}
				a.Warnings = append(a.Warnings, fmt.Sprintf("%s, run %d %s: %s", a.Arms[i].Title, j+1, what, fault))
			}
		}
		if more := faults - maxFaults; more > 0 {
			a.Warnings = append(a.Warnings, fmt.Sprintf("%s: … and %s more", a.Arms[i].Title, plural(more, "run")))
		}
	}
	for i := range s.Arms {
		if i > 0 || len(s.Arms) == 1 {
			a.Verdicts = append(a.Verdicts, w.verdict(i))
		}
	}
	w.statistics()
	for i, sample := range r.Samples() {
		a.Samples = append(a.Samples, Sampled{sample.Key, sample.Text, w.curves(i), w.sampled(i, sample)})
	}
	w.calls()
	w.clock()
	w.account()
	w.counters()
	w.published()
	return a
}

// A worder holds what the parts of an answer share.
type worder struct {
	r         *core.Result
	a         *Answer
	running   bool
	metric    workload.Metric
	perRun    float64 // events in a run; 0 if not known
	totals    []core.Part
	summaries []stats.Summary
}

func (w *worder) yet() string {
	if w.running {
		return " yet"
	}
	return ""
}

// subject says what the primary figure is: "ipistorm's elapsed time".
func (w *worder) subject() string {
	name := w.metric.Name
	if name == "elapsed" {
		name = "elapsed time"
	}
	return w.r.Scenario.Workload + "'s " + name
}

// primary writes a primary figure with its unit.
func (w *worder) primary(v float64) string {
	if w.metric.Unit == "ns" {
		return chart.Time(v)
	}
	return chart.Figure(v) + "\u00a0" + w.metric.Unit
}

// change turns an improvement into the change of the metric itself.
func (w *worder) change(improvement float64) float64 {
	if w.metric.Better == string(stats.Higher) {
		return improvement
	}
	return 0 - improvement // not −improvement, which makes −0 of 0
}

func (w *worder) verdict(arm int) Verdict {
	v := Verdict{Arm: arm, Subject: w.a.Arms[arm].Title}
	if arm == 0 {
		s := w.summaries[0]
		if s.N == 0 {
			return Verdict{Subject: "No run has finished" + w.yet()}
		}
		if w.metric.Name == "elapsed" {
			v.Verb, v.Figure = "runs "+w.r.Scenario.Workload+" in", w.primary(s.Mean)
		} else {
			v.Verb, v.Figure, v.Object = "has", w.primary(s.Mean), "as "+w.subject()
		}
		v.Soft = "in this model, mean of " + plural(s.N, "run")
		return v
	}
	c := w.r.Compare(arm)
	if c.N == 0 {
		return Verdict{Arm: arm, Verb: "No pair of runs has finished" + w.yet() + ", so there is no verdict on", Object: v.Subject}
	}
	soft := []string{"in this model"}
	change := w.change(c.ImprovementPct.V)
	switch {
	case c.N < stats.MinRunsTest:
		v.Subject, v.Verb, v.Object = "", "There is no verdict"+w.yet()+" on", v.Subject
		if c.ImprovementPct.OK {
			soft = append(soft, "means "+chart.SignedPercent(change))
		}
		v.Soft = strings.Join(append(soft, plural(c.N, "pair")+" of runs", fmt.Sprintf("a verdict needs %d", stats.MinRunsTest)), ", ")
		return v
	case !c.Significant:
		v.Verb, v.Object = "makes no significant difference to", w.subject()
		if c.ImprovementPct.OK {
			soft = append(soft, "means "+chart.SignedPercent(change))
		}
	case !c.ImprovementPct.OK:
		v.Verb, v.Object = "changes", w.subject()
	case change < 0:
		v.Verb, v.Figure, v.Object = "takes", chart.Percent(-change), "off "+w.subject()
	default:
		v.Verb, v.Figure, v.Object = "adds", chart.Percent(change), "to "+w.subject()
	}
	if c.CI95.OK {
		lo, hi := w.change(c.CI95.Lo), w.change(c.CI95.Hi)
		soft = append(soft, fmt.Sprintf("95\u00a0%% interval of the paired changes %s to %s", chart.SignedPercent(min(lo, hi)), chart.SignedPercent(max(lo, hi))))
	}
	v.Soft = strings.Join(append(soft, probability(c.P), plural(c.N, "pair")+" of runs"), ", ")
	for _, warning := range c.Warnings {
		if w.running {
			break // most are about too few runs
		}
		w.a.Warnings = append(w.a.Warnings, v.Subject+": "+warning)
	}
	return v
}

func probability(p float64) string {
	if p < 0.001 {
		return "p\u00a0<\u00a00.001"
	}
	return fmt.Sprintf("p\u00a0=\u00a0%.3f", p)
}

// timed tells whether the primary figure is the time of events that the first sample tells of.
func (w *worder) timed() bool { return w.perRun > 0 && w.metric.Unit == "ns" && w.metric.Events == nil }

// perEvent returns the finished runs of an arm as the mean of their events.
func (w *worder) perEvent(arm int) []float64 {
	if !w.timed() {
		return nil
	}
	values := w.r.Primaries(arm)
	for i := range values {
		values[i] /= w.perRun
	}
	return values
}

// hist returns what is known of a sample in an arm; nil if nothing is.
func (w *worder) hist(sample, arm int) *stats.Hist {
	if hists := w.totals[arm].Hists; sample < len(hists) && hists[sample].N > 0 {
		return &hists[sample]
	}
	return nil
}

// runMeans returns the finished runs of an arm as the means of a sample.
func (w *worder) runMeans(sample, arm int) (values []float64) {
	if sample == 0 && w.timed() {
		return w.perEvent(arm)
	}
	for i := range w.r.Parts[arm] {
		if p := &w.r.Parts[arm][i]; p.Done && sample < len(p.Hists) && p.Hists[sample].N > 0 {
			values = append(values, float64(p.Hists[sample].Mean())/1000)
		}
	}
	return values
}

func (w *worder) curves(sample int) (curves []chart.Curve) {
	tables := evidence.Find(w.r.Scenario)
	for i, arm := range w.r.Scenario.Arms {
		c := chart.Curve{Name: w.a.Arms[i].Title, Samples: w.hist(sample, i), Runs: w.runMeans(sample, i)}
		for _, t := range tables {
			if j := t.Arm(arm); j >= 0 && sample == 0 && w.timed() {
				c.Published = append(c.Published, t.PerEvent(j)...)
			}
		}
		curves = append(curves, c)
	}
	return curves
}

// cells makes a row of what is known of each arm; "–" stands for nothing.
func (w *worder) cells(name, help string, cell func(arm int) string) Row {
	row := Row{Name: name, Help: help}
	for i := range w.a.Arms {
		text := cell(i)
		if text == "" {
			text = "–"
		}
		row.Cells = append(row.Cells, text)
	}
	return row
}

func (w *worder) statistics() {
	add := func(name, help string, cell func(arm int) string) {
		w.a.Statistics = append(w.a.Statistics, w.cells(name, help, cell))
	}
	head := func(name string) {
		w.a.Statistics = append(w.a.Statistics, Row{Name: name, Head: true})
	}
	add("runs finished", "", func(i int) string { return fmt.Sprintf("%d of %d", w.a.Arms[i].Finished, w.a.Arms[i].Of) })
	// Units of time stand with each figure, and change with its size; others once.
	title, figure := strings.TrimPrefix(w.subject(), w.r.Scenario.Workload+"'s ")+" of a run", w.primary
	if w.metric.Unit != "ns" {
		title, figure = title+", "+w.metric.Unit, chart.Figure
	}
	head(title)
	over := func(name, help string, least int, f func(stats.Summary) string) {
		w.a.Statistics = append(w.a.Statistics, w.over(name, help, least, f))
	}
	over("mean", "", 1, func(s stats.Summary) string { return figure(s.Mean) })
	over("median", "", 1, func(s stats.Summary) string { return figure(s.Median) })
	over("min", "", 1, func(s stats.Summary) string { return figure(s.Min) })
	over("max", "", 1, func(s stats.Summary) string { return figure(s.Max) })
	over("sd", "sample standard deviation", 2, func(s stats.Summary) string { return figure(s.SD) })
	over("cv", "standard deviation as a part of the mean", 2, func(s stats.Summary) string {
		if !s.CV.OK {
			return ""
		}
		return chart.Percent(100 * s.CV.V)
	})
	if len(w.a.Arms) > 1 {
		compare := func(f func(stats.Comparison) string) func(int) string {
			return func(i int) string {
				if i == 0 {
					return " "
				}
				if c := w.r.Compare(i); c.N > 0 {
					return f(c)
				}
				return ""
			}
		}
		add("change of means", "against the baseline, the first arm", compare(func(c stats.Comparison) string {
			if !c.ImprovementPct.OK {
				return ""
			}
			return chart.SignedPercent(w.change(c.ImprovementPct.V))
		}))
		add("p", "Mann–Whitney's test, in this model", compare(func(c stats.Comparison) string {
			return strings.TrimPrefix(strings.TrimPrefix(probability(c.P), "p\u00a0=\u00a0"), "p\u00a0")
		}))
	}
}

// over makes a row of the runs of each arm, where there are at least so many.
func (w *worder) over(name, help string, least int, f func(stats.Summary) string) Row {
	return w.cells(name, help, func(i int) string {
		if w.summaries[i].N < least {
			return ""
		}
		return f(w.summaries[i])
	})
}

// sampled makes the rows about one of the samples.
func (w *worder) sampled(sample int, what workload.Sample) []Row {
	rows := []Row{{Name: "time of one " + what.Key, Head: true}}
	count := "samples"
	if sample == 0 && w.metric.Noun != "" && w.metric.Events == nil {
		count = w.metric.Noun + "s"
	}
	from := func(name, help string, f func(h *stats.Hist) string) {
		rows = append(rows, w.cells(name, help, func(i int) string {
			if h := w.hist(sample, i); h != nil {
				return f(h)
			}
			return ""
		}))
	}
	from(count, what.Text, func(h *stats.Hist) string { return chart.Figure(float64(h.N)) })
	if sample == 0 && w.timed() {
		rows = append(rows, w.over("mean", "of the finished runs: their time, divided by their "+count, 1,
			func(s stats.Summary) string { return chart.Time(s.Mean / w.perRun) }))
	} else {
		from("mean", "of all "+count+" so far", func(h *stats.Hist) string { return chart.Time(float64(h.Mean()) / 1000) })
	}
	quantile := func(name string, num, den uint64) {
		from(name, "of all "+count+" so far", func(h *stats.Hist) string { return chart.Time(float64(h.Quantile(num, den)) / 1000) })
	}
	quantile("p50", 1, 2)
	quantile("p90", 9, 10)
	quantile("p99", 99, 100)
	quantile("p99.9", 999, 1000)
	quantile("max", 1, 1)
	return rows
}

// events returns how many events of an arm have been counted.
func (w *worder) events(arm int) float64 {
	return float64(w.metric.Count(w.totals[arm].Hists, w.totals[arm].Counters))
}

// share says what sums are divided by, for a table that sets arms side by side.
func (w *worder) share() (unit string, by func(arm int) float64) {
	for i := range w.a.Arms {
		if w.events(i) > 0 {
			return oneOf(w.metric.Noun), w.events
		}
	}
	return "a run", func(arm int) float64 {
		n := 0.0
		for i := range w.r.Parts[arm] {
			if w.r.Parts[arm][i].Events > 0 {
				n++
			}
		}
		return n
	}
}

// side fills a row with values of each arm; one that is not known is "–".
func (w *worder) side(name, help string, values []float64, format, signed func(float64) string) Row {
	row := w.cells(name, help, func(i int) string {
		if math.IsNaN(values[i]) {
			return ""
		}
		return format(values[i])
	})
	if len(values) == 2 && !math.IsNaN(values[0]) && !math.IsNaN(values[1]) {
		row.Change = signed(values[1] - values[0])
	}
	return row
}

// callPaths are the ways that a remote call can go, the cheapest first.
var callPaths = []kernel.Counter{
	kernel.CallsPolledPoll, kernel.CallsPolledMwait, kernel.CallsPolledBefore, kernel.CallsIRQsOff,
	kernel.CallsIdleEntry, kernel.CallsAsleep, kernel.CallsBusy, kernel.CallsQueued, kernel.CallsLocal,
}

func (w *worder) calls() {
	sent := make([]float64, len(w.totals))
	any := false
	for i := range w.totals {
		sent[i] = float64(w.totals[i].Counters[kernel.CallsSent])
		any = any || sent[i] > 0
	}
	if !any {
		return
	}
	w.a.CallsNote = "share of the remote function calls"
	for _, c := range callPaths {
		values := make([]float64, len(w.totals))
		seen := false
		for i := range values {
			values[i] = math.NaN()
			if sent[i] > 0 {
				n := float64(w.totals[i].Counters[c])
				values[i] = 100 * n / sent[i]
				seen = seen || n > 0
			}
		}
		if seen {
			info := kernel.Counters[c]
			w.a.Calls = append(w.a.Calls, w.side(info.Text, info.Key, values, share, signedPoints))
		}
	}
}

// share writes a percentage so that little is not taken for nothing.
func share(v float64) string {
	if v > 0 && v < 0.05 {
		return "<\u00a00.1\u00a0%"
	}
	return chart.Percent(v)
}

func signedPoints(v float64) string { return strings.TrimSuffix(chart.SignedPercent(v), "\u00a0%") }

// apart are kinds of time that many CPUs spend with nothing to do with the
// workload: the bars would show little else.
var apart = []kernel.TimeKind{kernel.TimeIdle, kernel.TimeUser}

// negligible is the part of an arm's time, without what is set apart, below
// which a kind of work is summed up with its like.
const negligible = 0.001

func (w *worder) account() {
	unit, by := w.share()
	a := &w.a.Account
	a.Unit = "ns " + unit
	arms := len(w.totals)
	value := func(kind int) []float64 {
		values := make([]float64, arms)
		for i := range values {
			values[i] = math.NaN()
			if n := by(i); n > 0 {
				values[i] = float64(w.totals[i].Time[kind]) / 1000 / n
			}
		}
		return values
	}
	sums := make([]float64, arms)
	longest := 0.0
	type kind struct {
		info   kernel.Info
		values []float64
	}
	var kinds []kind
	for k := range kernel.Times {
		values := value(k)
		if slices.Contains(apart, kernel.TimeKind(k)) {
			a.Apart = append(a.Apart, w.side(kernel.Times[k].Key, kernel.Times[k].Text, values, chart.Tenths, chart.SignedTenths))
			continue
		}
		for i, v := range values {
			if !math.IsNaN(v) {
				sums[i] += v
				longest = max(longest, v)
			}
		}
		kinds = append(kinds, kind{kernel.Times[k], values})
	}
	if longest == 0 {
		*a = Account{}
		return
	}
	others := kind{kernel.Info{Key: "others"}, make([]float64, arms)}
	n := 0
	kinds = slices.DeleteFunc(kinds, func(k kind) bool {
		for i, v := range k.values {
			if v >= negligible*sums[i] && v > 0 {
				return false
			}
		}
		for i, v := range k.values {
			others.values[i] += v
		}
		n++
		return true
	})
	difference := func(k kind) float64 {
		d := 0.0
		for _, v := range k.values {
			if x := math.Abs(v - k.values[0]); x > d {
				d = x
			}
		}
		return d
	}
	slices.SortStableFunc(kinds, func(x, y kind) int {
		return cmp.Or(cmp.Compare(difference(y), difference(x)), cmp.Compare(y.values[0], x.values[0]))
	})
	if n > 0 {
		others.info.Text = plural(n, "kind") + " of work, each below 0.1 % of what is shown"
		kinds = append(kinds, others)
	}
	for _, k := range kinds {
		row := AccountRow{Row: w.side(k.info.Key, k.info.Text, k.values, chart.Tenths, chart.SignedTenths)}
		for _, v := range k.values {
			bar := 0.0
			if !math.IsNaN(v) {
				bar = 100 * v / longest
			}
			row.Bars = append(row.Bars, bar)
		}
		a.Rows = append(a.Rows, row)
	}
	cpus := 0
	if m, err := machine.Lookup(w.r.Scenario.Machine); err == nil {
		cpus = len(m.CPUs)
	}
	a.Note = fmt.Sprintf("Time of all %d CPUs. No bars for user and idle, which would dwarf the rest.", cpus)
}

func (w *worder) counters() {
	by := func(arm int) float64 { return float64(w.a.Arms[arm].Finished) }
	for c := range kernel.Counters {
		if w.r.Scenario.Scheduler != "" && core.InClock(kernel.Counter(c)) {
			continue
		}
		if kernel.Counter(c) != kernel.CallsSent && slices.Contains(callPaths, kernel.Counter(c)) {
			continue
		}
		values := make([]float64, len(w.totals))
		seen := false
		for i := range values {
			values[i] = math.NaN()
			if n := by(i); n > 0 {
				total := 0.0
				for j := range w.r.Parts[i] {
					if p := &w.r.Parts[i][j]; p.Done && c < len(p.Counters) {
						total += float64(p.Counters[c])
					}
				}
				values[i] = total / n
				seen = seen || total > 0
			}
		}
		if seen {
			w.a.Counters = append(w.a.Counters, w.side(kernel.Counters[c].Key, kernel.Counters[c].Text, values, chart.Figure, chart.Signed))
		}
	}
}

func (w *worder) published() {
	for _, t := range evidence.Find(w.r.Scenario) {
		p := Published{Title: t.Title, Source: t.Source, Note: t.Note, URL: posts + t.Source + "/"}
		for _, row := range evidence.Compare(w.r, t) {
			out := PublishedRow{Arm: ArmTitle(armOf(t, row.Arm)), Figure: string(row.Figure), Published: optional(row.Published), Simulated: optional(row.Simulated)}
			if n := len(p.Rows); n == 0 || p.Rows[n-1].Arm != out.Arm {
				p.Rows = append(p.Rows, PublishedRow{Arm: out.Arm})
			}
			if row.Unit != "" {
				out.Figure += ", " + strings.Replace(row.Unit, "per event", oneOf(w.metric.Noun), 1)
			}
			if row.Used != "" {
				note := "No prediction: " + row.Used + "."
				i := slices.Index(p.Notes, note)
				if i < 0 {
					i = len(p.Notes)
					p.Notes = append(p.Notes, note)
				}
				out.Mark = fmt.Sprint(i + 1)
			}
			p.Rows = append(p.Rows, out)
		}
		for _, u := range t.Used {
			if len(u.Runs) > 0 {
				p.Notes = append(p.Notes, fmt.Sprintf("Run %s of %s was used for %s.",
					strings.Trim(fmt.Sprint(u.Runs), "[]"), ArmTitle(t.Arms[u.Arm].Patches), u.For))
			}
		}
		w.a.Published = append(w.a.Published, p)
	}
}

// armOf returns the patches of a table's arm by its name.
func armOf(t *evidence.Table, name string) []string {
	for _, a := range t.Arms {
		if core.ArmName(a.Patches) == name {
			return a.Patches
		}
	}
	return []string{name}
}

func optional(n stats.Number) string {
	if !n.OK {
		return "–"
	}
	return chart.Figure(n.V)
}

// oneOf puts an article before a noun.
func oneOf(noun string) string {
	if noun != "" && strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// KernelTitle names a scenario's kernel, with what is loaded: "6.11", "6.12 PREEMPT_RT with scx_lavd".
func KernelTitle(s scenario.Scenario) string {
	title := s.Kernel
	if s.RT {
		title += " PREEMPT_RT"
	}
	if x, err := scx.Lookup(s.Scheduler); err == nil {
		name, _, _ := strings.Cut(x.Title, ": ")
		title += " with " + name
	}
	return title
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Calls returns which CPUs of a scenario's workload call others, which are called,
// and how far apart they are, in words; "" if none does.
func Calls(s scenario.Scenario) (from, to []int, words string) {
	m, err := machine.Lookup(s.Machine)
	w, werr := workload.Lookup(s.Workload)
	if err != nil || werr != nil || w.Calls == nil || len(s.Params) != len(w.Params) {
		return nil, nil, ""
	}
	calls := w.Calls(m, s.Params)
	for _, c := range calls {
		from = append(from, c.From)
		to = append(to, c.To...)
	}
	slices.Sort(to)
	to = slices.Compact(to)
	switch one := calls[0]; {
	case len(calls) == 1 && len(to) == 1:
		d := m.Distance(one.From, one.To[0])
		words = fmt.Sprintf("CPU %d calls CPU %d: %s, %s a line", one.From, one.To[0], d, chart.Time(float64(m.Line[d].Mid)/1000))
	case len(calls) == 1:
		words = fmt.Sprintf("CPU %d calls %s", one.From, plural(len(one.To), "other CPU"))
	case len(one.To) == 1:
		words = fmt.Sprintf("%d CPUs call one CPU each, %s in all", len(calls), plural(len(to), "CPU"))
	default:
		words = fmt.Sprintf("%d CPUs call all others", len(calls))
	}
	return from, to, words
}
