package lab

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"schedlab/core"
	"schedlab/core/evidence"
	"schedlab/core/scenario"
	"schedlab/core/stats"
	"schedlab/site/chart"
)

// A Thread is a discussion, with what was published in it.
type Thread struct {
	Title  string
	Series []*Series
}

// A Series is published tables of one benchmark at several loads, or a single table.
type Series struct {
	Title, Note string
	Source, URL string // of the post
	Cases       []int  // its tables: indexes of EvidenceView.Cases
	Figures     int    // of all of them
	Rules       []Rule // by which they are judged
}

// A Rule says how far the model may be from figures of a name.
type Rule struct{ Figure, Tolerance, Reason string }

// Threads lists all published tables.
var Threads = sync.OnceValue(func() (threads []Thread) {
	for i, t := range evidence.Matching("") {
		at := slices.IndexFunc(threads, func(x Thread) bool { return x.Title == t.Thread })
		if at < 0 {
			at = len(threads)
			threads = append(threads, Thread{Title: t.Thread})
		}
		thread := &threads[at]
		_, title, _ := strings.Cut(t.Title, ": ") // without the patch, which the thread names
		if t.Series != "" {
			title = t.Series
		}
		at = slices.IndexFunc(thread.Series, func(s *Series) bool { return s.Title == title })
		if at < 0 {
			at = len(thread.Series)
			thread.Series = append(thread.Series, &Series{Title: title, Note: t.Note, Source: t.Source, URL: posts + t.Source + "/"})
		}
		series := thread.Series[at]
		series.Cases = append(series.Cases, i)
		for _, f := range evidence.Figures(t, "") {
			series.Figures++
			rule := Rule{f.Figure, f.Tolerance, f.Reason}
			if !slices.Contains(series.Rules, rule) {
				series.Rules = append(series.Rules, rule)
			}
		}
	}
	return threads
})

// posts is where the list's archive has them.
const posts = "https://lore.kernel.org/lkml/"

// A Case is a published table, and what has been found of it in this visit. It does not change.
type Case struct {
	*evidence.Table
	Version  uint64             // counts changes of what follows
	Doing    Doing              // what happens with it now
	Findings []evidence.Finding // nil until its trials are complete
	Full     bool               // they are of as many runs as a distribution needs
	Tried    []Tried            // of a table whose runs were published one by one: the runs that the findings rest on
	Trouble  string             // why there are no findings of the last trials

	facts func() facts
}

// facts are what does not change of a case, and takes time to find out.
type facts struct {
	link        string
	unit        string // of what a run measures
	noun        string // an event in a word
	quick, full int    // runs, over all states and arms
}

func factsOf(t *evidence.Table) (f facts) {
	s, _ := scenario.Parse(t.Scenario)
	metric := core.NewResult(s).Metric()
	f.link, f.unit, f.noun = s.Query(), metric.Unit, metric.Noun
	for _, quick := range []bool{true, false} {
		n := 0
		for _, trial := range t.Trials(quick) {
			n += trial.Scenario.Runs * len(trial.Scenario.Arms)
		}
		if f.full = n; quick {
			f.quick = n
		}
	}
	return f
}

// Doing is what happens with a case.
type Doing uint8

// What happens with a case.
const (
	Nothing Doing = iota
	Queued
	Trying
)

// Tried is the runs of one state of a table, by arm: the time of an event, ns.
type Tried struct {
	State evidence.State
	Runs  [][]float64
}

// Link is that of its scenario.
func (c *Case) Link() string { return c.facts().link }

// Figures lists what it is judged by: its findings, and before there are any the figures without a verdict. A
// distribution that too few runs were simulated for has none either.
func (c *Case) Figures() []evidence.Finding {
	figures := evidence.Figures(c.Table, c.facts().unit)
	for i := range figures {
		for _, f := range c.Findings {
			if f.ID == figures[i].ID {
				figures[i] = f
			}
		}
	}
	return figures
}

// Runs is how many runs its trials simulate, over all states and arms.
func (c *Case) Runs(full bool) int {
	if full {
		return c.facts().full
	}
	return c.facts().quick
}

// OneByOne tells whether its runs were published one by one, so that their distribution can be judged.
func (c *Case) OneByOne() bool { return c.PerRun > 0 }

// A judging is what a State knows of the evidence: each published table as far as it was tried.
//
// Tables are tried one after the other. What the visitor asks the simulator goes before them: then the one at
// work is begun anew after that.
type judging struct {
	open  bool // it is what the page shows: the link ends in #evidence
	cases []*Case
	queue []request

	run     int // counts uses of the workers, so that what comes late from an earlier one is known as such
	cancel  context.CancelFunc
	status  Status
	ran     bool
	waiting bool // for the workers
	err     error
	at      request // the one at work
	done    int     // tables since nothing was at work
	ended   int     // jobs of the one at work
	jobs    int
	began   time.Time
	took    time.Duration // once it has ended
	sums    []Sum         // of the cases; nil if they have to be made anew
	version uint64        // counts changes of all that the page shows of it
	found   uint64        // counts those of cases
}

// A request is a table to be tried.
type request struct {
	index int
	full  bool
}

// evidenceMark is the part of a link behind its # that shows the evidence.
const evidenceMark = "evidence"

// newCases lists the tables, of which none has been tried.
func newCases() (list []*Case) {
	for _, t := range evidence.Matching("") {
		list = append(list, &Case{Table: t, facts: sync.OnceValue(func() facts { return factsOf(t) })})
	}
	return list
}

// put gives a case another state.
func (e *judging) put(index int, change func(*Case)) {
	c := *e.cases[index]
	change(&c)
	c.Version++
	e.cases[index] = &c
	e.version++
	e.found++
}

// ShowEvidence shows the evidence or the simulator, as another entry of the history.
func (s *State) ShowEvidence(open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.showEvidence(open)
	s.push()
	s.startShown()
}

func (s *State) showEvidence(open bool) {
	if s.evidence.open != open {
		s.evidence.open = open
		s.evidence.version++
	}
}

// startShown runs the question if it is to be seen, and has not been run yet.
func (s *State) startShown() {
	if !s.evidence.open && s.query != s.asked.Query() {
		s.start(false)
	}
}

// Try tries tables, by their indexes, after those that are waiting already: with full in as many runs as the
// judgement of a distribution needs.
func (s *State) Try(full bool, cases ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &s.evidence
	if s.typing != nil { // what would go before it in a moment
		s.start(false)
	}
	if e.cancel == nil {
		e.done, e.took, e.began = 0, 0, time.Time{}
	}
	for _, i := range cases {
		if i >= 0 && i < len(e.cases) && e.cases[i].Doing == Nothing {
			e.queue = append(e.queue, request{i, full})
			e.put(i, func(c *Case) { c.Doing, c.Trouble = Queued, "" })
		}
	}
	if e.cancel == nil {
		s.resume()
	}
	s.rendered = time.Now()
}

// resume tries what is waiting, when the workers are free.
func (s *State) resume() {
	e := &s.evidence
	if len(e.queue) == 0 {
		return
	}
	e.run++
	e.ran, e.status, e.err, e.waiting = true, Running, nil, true
	e.version++
	ctx, cancel := context.WithCancel(context.Background())
	e.cancel = cancel
	before, stopped := s.next()
	run := e.run
	go func() {
		defer close(stopped)
		if before != nil {
			<-before
		}
		for s.nextCase(run) {
			s.try(ctx, run)
		}
	}()
}

// nextCase takes a table up; false if there is none, which ends the run.
func (s *State) nextCase(run int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &s.evidence
	if run != e.run || e.cancel == nil {
		return false
	}
	if e.waiting {
		e.waiting = false
		if e.began.IsZero() {
			e.began = time.Now()
		}
	}
	if len(e.queue) == 0 {
		e.end(Done, nil)
		s.tell(true)
		return false
	}
	e.at, e.queue = e.queue[0], e.queue[1:]
	e.ended, e.jobs = 0, e.cases[e.at.index].Runs(e.at.full)
	e.put(e.at.index, func(c *Case) { c.Doing = Trying })
	s.tell(false)
	return true
}

// try simulates the table at work, and judges it.
func (s *State) try(ctx context.Context, run int) {
	s.mu.Lock()
	if run != s.evidence.run {
		s.mu.Unlock()
		return
	}
	at := s.evidence.at
	table := s.evidence.cases[at.index].Table
	s.mu.Unlock()

	trials := table.Trials(!at.full)
	results := make([]*core.Result, len(trials))
	trouble := ""
	var err error
	for i := 0; i < len(trials) && err == nil && trouble == ""; i++ {
		r := core.NewResult(trials[i].Scenario)
		results[i] = r
		err = s.simulate(ctx, r.Scenario, core.Jobs(r.Scenario), func(p *core.Part) {
			if !p.Done && p.Fault == "" {
				return
			}
			if p.Fault != "" {
				what := "broke the model"
				if p.Limit {
					what = "was too long"
				}
				trouble = fmt.Sprintf("%s, run %d with bg=%s %s: %s", ArmTitle(r.Scenario.Arms[p.Arm]), p.Run+1, r.Scenario.Background, what, p.Fault)
			}
			p.Counters, p.Time = nil, nil // large, and no figure has a use for them
			if table.Pooled == 0 {
				p.Hists = nil
			}
			r.Put(p)
			s.tried(run)
		})
	}
	var findings []evidence.Finding
	if err == nil && trouble == "" {
		// The page has to stay able to answer in between.
		findings = evidence.JudgeInTurns(table, trials, results, func() { time.Sleep(time.Millisecond) })
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	e := &s.evidence
	if run != e.run || e.cancel == nil {
		return
	}
	if err != nil {
		e.end(Failed, err)
		s.tell(true)
		return
	}
	e.done++
	e.sums = nil
	e.put(at.index, func(c *Case) {
		c.Doing, c.Trouble = Nothing, trouble
		if trouble == "" {
			c.Findings, c.Full, c.Tried = findings, at.full, runsOf(table, trials, results)
		}
	})
}

// runsOf returns the runs of a table's arms in each state, if some were published.
func runsOf(t *evidence.Table, trials []evidence.Trial, results []*core.Result) (list []Tried) {
	if t.PerRun == 0 {
		return nil
	}
	for i, r := range results {
		tried := Tried{State: trials[i].State}
		for arm := range r.Parts {
			values := r.Primaries(arm)
			for j := range values {
				values[j] /= float64(r.Metric().PerRun)
			}
			tried.Runs = append(tried.Runs, values)
		}
		list = append(list, tried)
	}
	return list
}

// tried counts a job of the table at work.
func (s *State) tried(run int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := &s.evidence; run == e.run && e.cancel != nil {
		e.ended++
		e.version++
		s.tell(false)
	}
}

// CancelEvidence stops the trials. Tables that were judged stay so.
func (s *State) CancelEvidence() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.evidence.cancel != nil {
		s.evidence.end(Cancelled, nil)
	}
	s.rendered = time.Now()
}

// end ends the trials, and forgets what was waiting.
func (e *judging) end(status Status, err error) {
	e.cancel()
	e.cancel = nil
	e.run++
	e.status, e.err, e.waiting, e.queue = status, err, false, nil
	for i, c := range e.cases {
		if c.Doing != Nothing {
			e.put(i, func(c *Case) { c.Doing = Nothing })
		}
	}
	if !e.began.IsZero() {
		e.took = time.Since(e.began)
	}
	e.version++
}

// yield leaves the workers to what the visitor asks. The table at work is the next one when they are free again.
func (e *judging) yield() {
	if e.cancel == nil {
		return
	}
	e.cancel()
	e.cancel = nil
	e.run++
	if !e.waiting && e.cases[e.at.index].Doing == Trying {
		e.queue = append([]request{e.at}, e.queue...)
		e.put(e.at.index, func(c *Case) { c.Doing = Queued })
	}
}

// A Sum counts what has been judged of a thread's figures of a kind.
type Sum struct {
	evidence.Tally
	Of int // figures in all
}

// inAll counts the figures of all threads, in each those first that a constant was fitted to.
var inAll = sync.OnceValue(func() (all []evidence.Tally) {
	tables := evidence.Matching("")
	for _, thread := range Threads() {
		var figures []evidence.Finding
		for _, series := range thread.Series {
			for _, i := range series.Cases {
				figures = append(figures, evidence.Figures(tables[i], "")...)
			}
		}
		tallies := evidence.Tallies(figures)
		slices.SortFunc(tallies, func(a, b evidence.Tally) int { return cmp.Compare(a.Kind, b.Kind) })
		all = append(all, tallies...)
	}
	return all
})

// sumUp counts what has been judged so far.
func sumUp(cases []*Case) (sums []Sum) {
	var findings []evidence.Finding
	for _, c := range cases {
		findings = append(findings, c.Findings...)
	}
	tallies := evidence.Tallies(findings)
	for _, all := range inAll() {
		sum := Sum{evidence.Tally{Thread: all.Thread, Kind: all.Kind}, all.All}
		for _, t := range tallies {
			if t.Thread == all.Thread && t.Kind == all.Kind {
				sum.Tally = t
			}
		}
		sums = append(sums, sum)
	}
	return sums
}

// An EvidenceView is what there is to see of the evidence at one moment. It does not change.
type EvidenceView struct {
	Version uint64 // changes with what follows
	Open    bool   // it is what the page shows, instead of the simulator
	Found   uint64 // changes with Cases and Sums
	Cases   []*Case
	Sums    []Sum

	Ran     bool // something has been tried, or is
	Status  Status
	Waiting bool // for the simulator
	Err     error
	Now     string // the table at work
	Done    int    // tables judged
	Of      int    // and those that wait or are at work
	Ended   int    // jobs of the one at work
	Jobs    int
	Elapsed time.Duration
}

func (s *State) evidenceView() EvidenceView {
	e := &s.evidence
	v := EvidenceView{
		Version: e.version, Found: e.found, Open: e.open, Ran: e.ran, Status: e.status, Waiting: e.waiting, Err: e.err,
		Done: e.done, Of: e.done + len(e.queue), Ended: e.ended, Jobs: e.jobs, Elapsed: e.took,
	}
	if !e.open {
		return v
	}
	v.Cases = slices.Clone(e.cases)
	if e.sums == nil {
		e.sums = sumUp(e.cases)
	}
	v.Sums = e.sums
	if e.cancel != nil && !e.waiting {
		v.Now = e.cases[e.at.index].Title
		v.Elapsed = time.Since(e.began)
		if e.cases[e.at.index].Doing == Trying {
			v.Of++
		}
	}
	return v
}

// Running tells whether tables are tried, or wait for that.
func (v *EvidenceView) Running() bool { return v.Ran && v.Status == Running }

// Reason says why the trials have failed.
func (v *EvidenceView) Reason() string { return reason(v.Err) }

// Announcement is the status of the trials in words, for those who hear the page; it changes seldom.
func (v *EvidenceView) Announcement() string {
	switch {
	case !v.Ran:
		return ""
	case v.Waiting:
		return "The tables wait for the simulator."
	case v.Status == Running:
		return "Simulating what was published."
	case v.Status == Cancelled:
		return fmt.Sprintf("Cancelled: %s judged.", plural(v.Done, "table"))
	case v.Status == Failed:
		return "The trials have failed: " + v.Reason()
	}
	return fmt.Sprintf("Done: %s judged.", plural(v.Done, "table"))
}

// A FigureRow is a published figure in words, with what has been found of it: nothing, before its table was tried.
type FigureRow struct {
	ID, Name string
	Cells    []Cell
	Verdict  evidence.Verdict
	Stored   string // what an earlier run of all tables had
	Note     string
	Link     string // of the scenario of the state that came nearest, if there are several
}

// A Cell is one figure in a row, with the name of its column.
type Cell struct{ Label, Text string }

// FigureLabels head the cells of a FigureRow.
var FigureLabels = []string{"kind", "published", "tolerance", "simulated", "range of runs", "off"}

// Rows words the figures of a case, beside a stored run if that is not nil.
func (c *Case) Rows(stored *evidence.Stored) (rows []FigureRow) {
	for _, f := range c.Figures() {
		arm := slices.IndexFunc(c.Arms, func(a evidence.Arm) bool { return core.ArmName(a.Patches) == f.Arm })
		row := FigureRow{ID: f.ID, Name: ArmTitle(c.Arms[arm].Patches) + ": " + f.Figure, Verdict: f.Verdict, Note: f.Note}
		if strings.Contains(f.Unit, "per event") {
			row.Name += ", " + oneOf(c.facts().noun)
		}
		published, simulated, between := quantity(f.Published, f.Unit), "", ""
		if f.Verdict != "" {
			simulated = quantity(f.Simulated, f.Unit)
			if f.Simulated.OK && f.Lo < f.Hi {
				between = quantity(stats.Number{V: f.Lo, OK: true}, f.Unit) + " to " + quantity(stats.Number{V: f.Hi, OK: true}, f.Unit)
			}
			if len(c.States) > 0 {
				row.Link = f.Scenario
			}
		}
		if f.Figure == distribution {
			published = plural(len(c.Arms[arm].Runs), "run")
			if f.Fit != nil {
				simulated = plural(f.Fit.Runs, "run")
			}
			if f.Verdict == "" {
				row.Note = "judged by 500 runs of each state only"
			}
		}
		for i, text := range []string{string(f.Kind), published, f.Tolerance, simulated, between, off(&f)} {
			row.Cells = append(row.Cells, Cell{FigureLabels[i], text})
		}
		if stored != nil {
			if was, ok := stored.Findings[f.ID]; ok {
				row.Stored = string(was.Verdict)
				if was.Simulated != nil {
					row.Stored = quantity(stats.Number{V: *was.Simulated, OK: true}, f.Unit) + ", " + row.Stored
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// distribution is the name of a figure that is a test of all runs.
const distribution = "distribution"

// off says by how much the model is off.
func off(f *evidence.Finding) string {
	if n := f.Off(); n.OK {
		return chart.SignedPercent(100 * n.V)
	}
	if f.Unit != "%" || !f.Published.OK || !f.Simulated.OK {
		return ""
	}
	return strings.TrimSuffix(chart.SignedPercent(f.Simulated.V-f.Published.V), "\u00a0%") + " points"
}

// quantity writes a figure with its unit; "" if it is not known.
func quantity(n stats.Number, unit string) string {
	switch {
	case !n.OK:
		return ""
	case unit == "%":
		return chart.SignedPercent(n.V)
	case strings.HasPrefix(unit, "ns"):
		return chart.Time(n.V)
	}
	return strings.TrimSuffix(chart.Figure(n.V)+"\u00a0"+unit, "\u00a0")
}

// A Count is how many figures have a verdict.
type Count struct {
	Verdict evidence.Verdict
	N       int
}

// Counts counts the verdicts on tables, by their indexes.
func (v *EvidenceView) Counts(cases []int) (list []Count) {
	counts := map[evidence.Verdict]int{}
	for _, i := range cases {
		for _, f := range v.Cases[i].Findings {
			counts[f.Verdict]++
		}
	}
	for _, verdict := range evidence.Verdicts {
		if counts[verdict] > 0 {
			list = append(list, Count{verdict, counts[verdict]})
		}
	}
	return list
}

// AtWork counts those of some tables that are tried or wait for it.
func (v *EvidenceView) AtWork(cases []int) (n int) {
	for _, i := range cases {
		if v.Cases[i].Doing != Nothing {
			n++
		}
	}
	return n
}
