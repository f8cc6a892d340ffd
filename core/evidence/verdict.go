package evidence

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"schedlab/core"
	"schedlab/core/scenario"
	"schedlab/core/stats"
)

// A Verdict says how the model stands to a published figure.
type Verdict string

// The verdicts.
const (
	Agrees        Verdict = "AGREES"         // within the tolerance
	Disagrees     Verdict = "DISAGREES"      // outside of it
	NotIdentified Verdict = "NOT IDENTIFIED" // some states that the poster did not report give it, and others do not
	NoPower       Verdict = "NO POWER"       // it would have come out whatever the model was like
	NotModelled   Verdict = "NOT MODELLED"
)

// Verdicts lists them in this order.
var Verdicts = []Verdict{Agrees, Disagrees, NotIdentified, NoPower, NotModelled}

// Paired is to be said with every table of findings.
const Paired = "Runs of the model are paired, so that its intervals are far tighter than those of any machine."

// A Kind says whether a figure was used to fit a constant.
type Kind string

// The kinds.
const (
	Calibration Kind = "calibration"
	Prediction  Kind = "prediction"
)

// A State is what a table's runs may have had, since its poster did not say: a background, or a machine.
type State struct {
	Background string // "": the scenario's
	Machine    string // "": the scenario's
	Cause      string // what it does
}

// String names the state as links do.
func (s State) String() string { return s.Machine + s.Background }

// A Trial is a scenario to simulate, by which figures of a table are judged.
type Trial struct {
	Table    *Table
	State    State
	Scenario scenario.Scenario
}

// Runs of an arm: many, where runs were published one by one and their distribution is judged.
const (
	fewRuns  = 3
	someRuns = 10
	manyRuns = 500
)

// Trials returns what to simulate for a table: with quick, in as few runs as a test can do with.
func (t *Table) Trials(quick bool) []Trial {
	s, _ := scenario.Parse(t.Scenario)
	s.Arms = nil
	for _, a := range t.Arms {
		s.Arms = append(s.Arms, a.Patches)
	}
	s.Runs = max(t.Tries, fewRuns)
	if len(t.States) == 0 {
		return []Trial{{Table: t, Scenario: s}}
	}
	s.Runs = someRuns
	if t.PerRun > 0 && !quick {
		s.Runs = manyRuns
	}
	var trials []Trial
	for _, state := range t.States {
		if state.Machine != "" {
			s.Machine, s.Runs = state.Machine, fewRuns
		}
		if state.Background != "" {
			s.Background = state.Background
		}
		trials = append(trials, Trial{t, state, s})
	}
	return trials
}

// Matching returns the tables of which some figure's ID begins with only; all, if it is empty.
func Matching(only string) []*Table {
	return slices.DeleteFunc(slices.Concat(Tables, Rows()), func(t *Table) bool {
		return !strings.HasPrefix(t.Key, only) && !strings.HasPrefix(only, t.Key+"/")
	})
}

// Keys lists the tables.
func Keys() (keys []string) {
	for _, t := range Matching("") {
		keys = append(keys, t.Key)
	}
	return keys
}

// A Finding is a published figure beside the model's, judged.
type Finding struct {
	ID        string // its table, kernel and figure
	Thread    string
	Title     string // of the table
	Arm       string // core.ArmName of the kernel's patches
	Figure    string // a FigureName, or "distribution"
	Unit      string
	Scenario  string // link
	Kind      Kind
	Published stats.Number
	Simulated stats.Number // in the state that comes nearest
	Lo, Hi    float64      // the range of the runs, or the interval of their changes
	Tolerance string       // in words; "" for a distribution
	Reason    string       // for the tolerance
	Verdict   Verdict
	Note      string // what else there is to say
	Fit       *Fit   // of a distribution
}

// Off returns by how much the model is off, as a fraction of what was published: not OK for
// percentages, and where there is nothing to compare.
func (f *Finding) Off() stats.Number {
	if !f.Published.OK || !f.Simulated.OK || f.Published.V == 0 || f.Unit == "%" {
		return stats.Number{}
	}
	return stats.Number{V: f.Simulated.V/f.Published.V - 1, OK: true}
}

// Figures lists the figures of a table by which the model is judged, as yet without a verdict. unit is that of what
// a run of its scenario measures.
func Figures(t *Table, unit string) []Finding {
	var list []Finding
	for _, row := range t.rows(unit, func([]string) []float64 { return nil }) {
		if f, _, ok := t.finding(row); ok {
			list = append(list, f)
		}
	}
	for arm := range t.Arms {
		if len(t.PerEvent(arm)) > 0 {
			list = append(list, t.distribution(arm))
		}
	}
	return list
}

// IDs lists those of the figures by which the model is judged.
func (t *Table) IDs() (ids []string) {
	for _, f := range Figures(t, "") {
		ids = append(ids, f.ID)
	}
	return ids
}

// finding is what is to be judged of a row, and by which tolerance; not ok if nothing is.
func (t *Table) finding(row Row) (f Finding, tolerance Tolerance, ok bool) {
	tolerance, ok = ToleranceOf(t.Key, row.Figure)
	if !ok || row.Figure == Ratio && row.Arm == core.ArmName(nil) {
		return f, tolerance, false
	}
	f = Finding{
		ID: strings.Join([]string{t.Key, row.Arm, string(row.Figure)}, "/"), Thread: t.Thread, Title: t.Title, Arm: row.Arm,
		Figure: string(row.Figure), Unit: row.Unit, Kind: Prediction, Published: row.Published,
		Tolerance: tolerance.String(), Reason: tolerance.Reason,
	}
	if row.Used != "" {
		f.Kind, f.Note = Calibration, "fitted: "+row.Used
	}
	return f, tolerance, true
}

// Judge judges the figures of a table by the results of its trials, which are complete.
func Judge(t *Table, trials []Trial, results []*core.Result) []Finding {
	return JudgeInTurns(t, trials, results, func() {})
}

// JudgeInTurns is Judge for who has other things to do as well: it calls pause where some
// milliseconds may have passed.
func JudgeInTurns(t *Table, trials []Trial, results []*core.Result, pause func()) []Finding {
	var list []Finding
	all := make([][]Row, len(trials))
	for i, r := range results {
		all[i] = Compare(r, t)
	}
	for i, row := range all[0] {
		f, tolerance, ok := t.finding(row)
		if !ok {
			continue
		}
		arm := slices.IndexFunc(t.Arms, func(a Arm) bool { return core.ArmName(a.Patches) == row.Arm })
		var agree, say []string
		best := math.Inf(1)
		idle := arm > 0
		for j := range trials {
			x := all[j][i].Simulated
			if !x.OK {
				continue
			}
			lo, hi := spreadOf(results[j], t, arm, row.Figure)
			if v, l, h, ok := tens(results[j], t, arm, row.Figure); ok {
				x.V, lo, hi = v, l, h
			}
			off := tolerance.off(f.Published.V, x.V)
			if off <= 1 {
				agree = append(agree, trials[j].State.String())
			}
			say = append(say, fmt.Sprintf("%s %.4g", trials[j].State, x.V))
			if off < best {
				best = off
				f.Simulated = x
				f.Scenario = trials[j].Scenario.Query()
				f.Lo, f.Hi = lo, hi
			}
			idle = idle && unchanged(results[j], t, arm)
		}
		f.judge(t, agree, say, idle)
		list = append(list, f)
		pause()
	}
	for arm := range t.Arms {
		if f, ok := t.judgeDistribution(arm, trials, results, pause); ok {
			list = append(list, f)
		}
	}
	return list
}

// judge sets the verdict: by the states that agree, out of as many as say something; idle tells that in none the patch has changed anything.
func (f *Finding) judge(t *Table, agree, say []string, idle bool) {
	change := f.Figure == string(Improvement)
	movers, immovable := Movers(t.Key, FigureName(f.Figure))
	switch {
	case t.NotModelled != "":
		f.Verdict, f.Note = NotModelled, t.NotModelled
	case !f.Simulated.OK:
		f.Verdict, f.Note = NotModelled, "no run has given this figure"
	case change && idle && len(agree) > 0:
		f.Verdict = NoPower
		f.note("no run differs by anything from the one without the patch: it changes no step that this workload takes")
	case !change && idle:
		f.Verdict = NoPower
		f.note("no run differs from the one without the patch: this repeats that one's figure")
	case !change && immovable && len(agree) > 0:
		f.Verdict = NoPower
		f.note("no constant of the model and no switch moves it beyond chance")
	case len(agree) == 0:
		f.Verdict = Disagrees
	case len(agree) > 1 && len(agree) < len(say):
		f.Verdict = NotIdentified
		f.note("so it comes out under " + strings.Join(agree, ", "))
	default:
		f.Verdict = Agrees
		switch {
		case len(agree) > 1:
			f.note("so it comes out in every state")
		case len(say) > 1:
			f.note("under " + agree[0] + " alone")
		}
	}
	if len(say) > 1 {
		f.note(strings.Join(say, ", "))
	}
	if f.Kind == Prediction && drowned(t.Key, FigureName(f.Figure)) {
		f.note("what moves it does so within chance")
	}
	if n := min(len(movers), 3); n > 0 && f.Kind == Prediction && t.NotModelled == "" {
		var names []string
		for _, m := range movers[:n] {
			names = append(names, m.What)
		}
		f.note(fmt.Sprintf("of constants and switches %d move it beyond chance, most of all %s", len(movers), strings.Join(names, ", ")))
	}
}

func (f *Finding) note(text string) {
	if f.Note != "" {
		f.Note += "; "
	}
	f.Note += text
}

// String says the tolerance in words.
func (t Tolerance) String() string {
	switch {
	case t.Noise > 0:
		return fmt.Sprintf("no change beyond ±%g %%", t.Noise)
	case t.Percent > 0:
		return fmt.Sprintf("±%g %%", t.Percent)
	}
	return fmt.Sprintf("±%g points", t.Points)
}

// off returns how far a simulated figure is from the published one, in tolerances.
func (t Tolerance) off(published, simulated float64) float64 {
	switch {
	case t.Noise > 0:
		return math.Abs(simulated) / t.Noise
	case t.Percent > 0:
		return math.Abs(simulated/published-1) * 100 / t.Percent
	}
	return math.Abs(simulated-published) / t.Points
}

// tens returns a figure of as many runs as were published, and the range that holds 19 in 20 of such: over groups of the runs that there are,
// if these are many. A least value, or a deviation, depends on how many runs there are.
func tens(r *core.Result, t *Table, arm int, name FigureName) (v, lo, hi float64, ok bool) {
	n := len(t.Arms[arm].Runs)
	base, own := t.simulated(r, nil), t.simulated(r, t.Arms[arm].Patches)
	if n == 0 || len(own) < manyRuns || len(base) != len(own) {
		return 0, 0, 0, false
	}
	var values []float64
	for i := 0; i+n <= len(own); i += n {
		f := figure(name, base[i:i+n], own[i:i+n], t.Better)
		if !f.OK {
			return 0, 0, 0, false
		}
		values = append(values, f.V)
	}
	s := stats.Summarize(values)
	slices.Sort(values)
	return s.Mean, quantile(values, 0.025), quantile(values, 0.975), true
}

// spreadOf returns the range of an arm's runs, or of a change the interval of the paired changes: their range, if there are
// too few for one.
func spreadOf(r *core.Result, t *Table, arm int, figure FigureName) (lo, hi float64) {
	base, own := t.simulated(r, nil), t.simulated(r, t.Arms[arm].Patches)
	values := own
	if t.Pooled > 0 { // single events have no pairs, and their range says nothing of a mean
		return 0, 0
	}
	switch figure {
	case Improvement, ImprovementMedian:
		if c := stats.Compare(base, own, t.Better).CI95; c.OK {
			return c.Lo, c.Hi
		}
		values = nil
		for i := range min(len(base), len(own)) {
			values = append(values, stats.Improvement(base[i], own[i], t.Better).V)
		}
	case Ratio:
		values = nil
		for i := range min(len(base), len(own)) {
			values = append(values, own[i]/base[i])
		}
	case PopulationSD:
		return figureOf(PopulationSD, own), figureOf(PopulationSD, own)
	}
	if len(values) == 0 {
		return 0, 0
	}
	return slices.Min(values), slices.Max(values)
}

func figureOf(name FigureName, values []float64) float64 { return figure(name, nil, values, "").V }

// unchanged tells whether all runs of an arm are as those of the baseline.
func unchanged(r *core.Result, t *Table, arm int) bool {
	return slices.Equal(t.simulated(r, nil), t.simulated(r, t.Arms[arm].Patches))
}

// distribution is what is to be judged of an arm whose runs were published one by one.
func (t *Table) distribution(arm int) Finding {
	name := core.ArmName(t.Arms[arm].Patches)
	return Finding{
		ID: t.Key + "/" + name + "/distribution", Thread: t.Thread, Title: t.Title, Arm: name,
		Figure: "distribution", Kind: Prediction, Reason: "tests at 5 %, by the distance of the distribution functions and by likelihood",
	}
}

// judgeDistribution judges an arm whose runs were published one by one, if the trials have enough runs for that.
func (t *Table) judgeDistribution(arm int, trials []Trial, results []*core.Result, pause func()) (f Finding, ok bool) {
	a := &t.Arms[arm]
	published := t.PerEvent(arm)
	if len(published) == 0 {
		return f, false
	}
	f = t.distribution(arm)
	var likely, weak, say []string
	best := -1.
	for i, r := range results {
		model := t.simulated(r, a.Patches)
		if len(model) < manyRuns {
			return f, false
		}
		fit := fit(published, model)
		pause()
		p := min(fit.P, fit.PLikes)
		w := fit.weakest()
		say = append(say, fmt.Sprintf("%s: p %.3f by distance, %.3f by likelihood, power at least %.0f %% (%s)", trials[i].State.String(), fit.P, fit.PLikes, 100*w.Share, w.Wrong))
		if p >= stats.Alpha {
			likely = append(likely, trials[i].State.String())
			if w.Share < 0.5 {
				weak = append(weak, trials[i].State.String())
			}
		}
		if p > best {
			best = p
			f.Fit, f.Scenario = &fit, trials[i].Scenario.Query()
		}
	}
	switch {
	case len(likely) == 0:
		f.Verdict = Disagrees
	case len(weak) == len(likely):
		f.Verdict = NoPower
	case len(likely) > 1 && len(likely) < len(results):
		f.Verdict = NotIdentified
		f.note("likely under " + strings.Join(likely, ", "))
	case len(likely) == 1:
		f.Verdict = Agrees
		f.note("likely under " + likely[0] + " alone")
	default:
		f.Verdict = Agrees
		f.note("likely in every state")
	}
	f.note(strings.Join(say, "; "))
	return f, true
}

// A Tally counts the findings of a thread by verdict, calibration and prediction apart.
type Tally struct {
	Thread string
	Kind   Kind
	Counts map[Verdict]int
	All    int
}

// Tallies sums findings up, in the order in which threads appear.
func Tallies(findings []Finding) []Tally {
	var list []Tally
	for _, f := range findings {
		i := slices.IndexFunc(list, func(t Tally) bool { return t.Thread == f.Thread && t.Kind == f.Kind })
		if i < 0 {
			i = len(list)
			list = append(list, Tally{f.Thread, f.Kind, map[Verdict]int{}, 0})
		}
		list[i].Counts[f.Verdict]++
		list[i].All++
	}
	return list
}
