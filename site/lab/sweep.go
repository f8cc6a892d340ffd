package lab

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/scenario"
	"schedlab/core/sim"
	"schedlab/core/sweep"
	"schedlab/core/workload"
)

// An AxisForm is an axis of a sweep as it stands in the page's fields: a key of links,
// "" for no axis, and the text of its values, right or wrong.
type AxisForm struct {
	Key, Text string

	proposed bool // the text is the page's proposal, which follows the question
}

// spec writes the axis as sweep.ParseAxis reads it.
func (a AxisForm) spec() string { return a.Key + "=" + a.Text }

// A sweeping is what a State knows of a sweep: its axes as they stand in the
// fields, and the last one that was run.
//
// The axes are in the page's link as well, behind its query: "?runs=20#sweep?x=numipi=100,1000".
// There they are no business of scenarios, and a link without them asks the same question.
type sweeping struct {
	open     bool // what the link has
	axes     [sweep.MaxAxes]AxisForm
	question sweep.Sweep // what the fields ask for, if nothing is wrong with it
	wrong    [sweep.MaxAxes]string
	problems []string // with all of it together

	run     int // counts runs, so that what comes late from an earlier one is known as such
	cancel  context.CancelFunc
	status  Status
	waiting bool // for the workers, which are at the question
	err     error
	table   *sweep.Table // of the last one; nil: there has been none
	shown   *sweep.Table // a copy for the page, of the same version; nil: none has been made
	point   int          // the one at work
	result  *core.Result // of that
	ended   int          // jobs
	jobs    int
	faults  []string
	began   time.Time
	took    time.Duration // once it has ended
	version uint64        // counts changes of all that the page shows of it
}

const (
	sweepMark = "sweep?"     // begins the part of a link behind its #
	firstAxis = "c.rq_visit" // is proposed at first: most of what is published hangs on it, and nobody has measured it
	maxFaults = 5            // that are listed, here and of an arm of an answer
)

// axisNames are the axes' keys in a link.
var axisNames = [sweep.MaxAxes]string{"x", "y"}

// fragment returns what the link has of the sweep; "" if it is folded away. Keys
// and values are as readable there as on a command line.
func (w *sweeping) fragment() string {
	if !w.open {
		return ""
	}
	var list []string
	for i, a := range w.axes {
		if a.Key != "" {
			list = append(list, axisNames[i]+"="+readable.Replace(url.QueryEscape(a.spec())))
		}
	}
	return "#" + sweepMark + strings.Join(list, "&")
}

var readable = strings.NewReplacer("%3D", "=", "%2F", "/", "%2C", ",")

// maxSpec is the length of an axis's key and values that is read, in bytes.
const maxSpec = 2000

// readFragment takes in what a link has behind its #. What is no sweep folds it
// away, and leaves its axes as they are.
func (w *sweeping) readFragment(text string) {
	text, w.open = strings.CutPrefix(text, sweepMark)
	if !w.open {
		return
	}
	w.axes = [sweep.MaxAxes]AxisForm{}
	for piece := range strings.SplitSeq(text, "&") {
		name, value, _ := strings.Cut(piece, "=")
		i := slices.Index(axisNames[:], name)
		if i < 0 {
			continue
		}
		spec, err := url.QueryUnescape(value)
		if err != nil {
			spec = value
		}
		if len(spec) > maxSpec { // which no field could hold, nor a page draw
			spec = spec[:maxSpec]
		}
		w.axes[i].Key, w.axes[i].Text, _ = strings.Cut(spec, "=")
	}
}

// read finds what the axes ask for now that the question is asked.
func (w *sweeping) read(asked scenario.Scenario) {
	w.version++
	w.question, w.problems = sweep.Sweep{}, nil
	w.wrong = [sweep.MaxAxes]string{}
	if !w.open {
		return
	}
	if w.axes[0].Key == "" {
		w.axes[0] = AxisForm{Key: firstAxis, proposed: true}
	}
	var axes []sweep.Axis
	sound := true
	for i := range w.axes {
		a := &w.axes[i]
		if a.Key == "" {
			continue
		}
		if a.proposed {
			a.Text = Proposal(asked, a.Key)
		}
		axis, err := sweep.ParseAxis(asked, a.spec())
		if err != nil {
			w.wrong[i] = said(err)
			sound = false
		}
		axes = append(axes, axis)
	}
	if !sound {
		return
	}
	question, problems := sweep.New(asked, axes)
	for _, p := range problems {
		w.problems = append(w.problems, p.Key+": "+said(p))
	}
	w.question = question
}

func (w *sweeping) sound() bool { return len(w.question.Axes) > 0 }

// said words a mistake beside the field that it is in.
func said(err error) string {
	if p, ok := err.(scenario.Problem); ok {
		_, value, _ := strings.Cut(scenario.Problem{Key: "x", Value: p.Value, Notice: true}.String(), "=") // clipped
		return fmt.Sprintf("“%s”: want %s.", strings.TrimSuffix(value, ": "), p.Want)
	}
	return err.Error()
}

// OpenSweep unfolds the sweep or folds it away. The link of the present entry in the
// history says so from then on.
func (s *State) OpenSweep(open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep.open = open
	s.sweep.read(s.asked)
	for _, link := range []*string{&s.entry.raw, &s.entry.link} {
		query, _, _ := strings.Cut(*link, "#")
		*link = query + s.sweep.fragment()
	}
	s.address.Replace(s.link())
}

// ChooseAxis gives an axis another key, with values around the present one; the key ""
// takes the second axis away.
func (s *State) ChooseAxis(axis int, key string) {
	s.setAxis(axis, AxisForm{Key: key, proposed: true})
}

// TypeAxis notes what stands in the field of an axis's values.
func (s *State) TypeAxis(axis int, text string) {
	s.mu.Lock()
	key := s.sweep.axes[axis].Key
	s.mu.Unlock()
	s.setAxis(axis, AxisForm{Key: key, Text: text})
}

func (s *State) setAxis(axis int, a AxisForm) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep.axes[axis] = a
	s.sweep.read(s.asked)
	s.address.Replace(s.link())
	s.rendered = time.Now()
}

// RunSweep runs the sweep that the fields ask for, if nothing is wrong with it, once
// the question's own run has ended. It becomes an entry of the history, if it is not the present one.
func (s *State) RunSweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &s.sweep
	if !w.sound() {
		return
	}
	if s.typing != nil { // what would cancel the sweep in a moment
		s.start(false)
	}
	s.haltSweep()
	s.evidence.yield()
	s.push()
	w.run++
	w.status, w.err, w.waiting = Running, nil, true
	w.table, w.shown, w.result = sweep.NewTable(w.question), nil, nil
	w.ended, w.faults, w.took, w.began = 0, nil, 0, time.Time{}
	w.jobs = len(w.question.Points()) * len(core.Jobs(s.asked))
	w.version++
	s.rendered = time.Now()

	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	before, stopped := s.next()
	run, question := w.run, w.question
	go func() {
		defer close(stopped)
		if before != nil {
			<-before
		}
		var err error
		for i, point := range question.Points() {
			if ctx.Err() != nil || err != nil {
				break
			}
			s.sweepPoint(run, i)
			err = s.simulate(ctx, point.Scenario, core.Jobs(point.Scenario), func(p *core.Part) { s.takeSwept(run, p) })
		}
		s.endSwept(run, err)
	}()
	s.resume()
}

// sweepPoint notes which point is at work.
func (s *State) sweepPoint(run, point int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &s.sweep
	if run != w.run || w.status != Running {
		return
	}
	if w.waiting {
		w.waiting, w.began = false, time.Now()
	}
	s.putSwept()
	w.point, w.result = point, core.NewResult(w.table.Sweep.Points()[point].Scenario)
	w.version++
	s.tell(false)
}

// putSwept puts what is known of the point at work into the table.
func (s *State) putSwept() {
	if w := &s.sweep; w.result != nil {
		w.table.Put(w.point, w.result)
		w.result, w.shown = nil, nil
	}
}

// takeSwept takes in a part of the point at work.
func (s *State) takeSwept(run int, p *core.Part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &s.sweep
	if run != w.run || w.status != Running || !p.Done && p.Fault == "" {
		return
	}
	if p.Fault != "" {
		what := "broke the model"
		if p.Limit {
			what = "was too long"
		}
		switch text := fmt.Sprintf("%s at %s, run %d %s: %s", w.table.Arm(p.Arm), w.table.Sweep.Name(w.point), p.Run+1, what, p.Fault); {
		case len(w.faults) < maxFaults:
			w.faults = append(w.faults, text)
		case len(w.faults) == maxFaults:
			w.faults = append(w.faults, "There are more runs like these.")
		}
	}
	p.Hists, p.Counters, p.Time = nil, nil, nil // large, and no effect has a use for them
	w.result.Put(p)
	w.ended++
	w.version++
	s.tell(false)
}

// endSwept notes that the workers have left the sweep.
func (s *State) endSwept(run int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &s.sweep
	if run != w.run || w.status != Running {
		return
	}
	status := Done
	if err != nil {
		status = Failed
	}
	s.stopSweep(status, err)
	s.tell(true)
}

// CancelSweep stops the sweep. What has finished stays.
func (s *State) CancelSweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.haltSweep()
	s.rendered = time.Now()
}

// haltSweep cancels the sweep, if one is at work.
func (s *State) haltSweep() {
	if s.sweep.cancel != nil {
		s.stopSweep(Cancelled, nil)
	}
}

func (s *State) stopSweep(status Status, err error) {
	w := &s.sweep
	w.cancel()
	w.cancel = nil
	s.putSwept()
	w.status, w.err, w.waiting = status, err, false
	if !w.began.IsZero() {
		w.took = time.Since(w.began)
	}
	w.version++
}

// A SweepView is what there is to see of a sweep at one moment. It does not change.
type SweepView struct {
	Version  uint64 // changes with what follows
	Open     bool
	Axes     [sweep.MaxAxes]AxisForm
	Wrong    [sweep.MaxAxes]string // what is wrong with each
	Problems []string              // with all of it together
	Points   int                   // that the fields ask for; 0 if something is wrong
	Runs     int                   // at all of them
	Command  string                // does the same without a browser; "" if something is wrong

	Ran     bool // there has been one: the last one is what follows
	Status  Status
	Waiting bool // until the question's run has ended
	Err     error
	Ended   int // jobs
	Jobs    int // in all
	Elapsed time.Duration
	Table   *sweep.Table // nobody else's
	Other   bool         // it is not the one that the fields ask for
	Faults  []string
}

func (s *State) sweepView() SweepView {
	w := &s.sweep
	v := SweepView{
		Version: w.version, Open: w.open, Axes: w.axes, Wrong: w.wrong, Problems: w.problems,
		Ran: w.table != nil, Status: w.status, Waiting: w.waiting, Err: w.err, Ended: w.ended, Jobs: w.jobs, Elapsed: w.took, Faults: slices.Clone(w.faults),
	}
	if w.sound() {
		v.Points = len(w.question.Points())
		v.Runs = v.Points * len(core.Jobs(s.asked))
		v.Command = w.command()
	}
	if !v.Ran {
		return v
	}
	if v.Status == Running && !v.Waiting {
		v.Elapsed = time.Since(w.began)
	}
	if w.shown == nil {
		w.shown = w.table.Clone()
	}
	v.Table = w.shown
	v.Other = !same(w.question, w.table.Sweep)
	return v
}

// same tells whether two sweeps are the same.
func same(a, b sweep.Sweep) bool {
	return a.Base.Query() == b.Base.Query() &&
		slices.EqualFunc(a.Axes, b.Axes, func(a, b sweep.Axis) bool { return a.String() == b.String() })
}

// command is the command line of what the fields ask for.
func (w *sweeping) command() string {
	text := "schedlab sweep"
	for i, a := range w.axes {
		if a.Key != "" {
			text += " -" + axisNames[i] + " " + strings.TrimSpace(a.spec())
		}
	}
	return text + " '" + w.question.Base.Query() + "'"
}

// Announcement is the status of the sweep in words, for those who hear the page; it
// changes seldom.
func (v *SweepView) Announcement() string {
	switch {
	case !v.Ran:
		return ""
	case v.Waiting:
		return "The sweep waits for the answer."
	case v.Status == Running:
		return "Sweeping."
	case v.Status == Cancelled:
		return fmt.Sprintf("Sweep cancelled: %d of %d runs have finished.", v.Ended, v.Jobs)
	case v.Status == Failed:
		return "The sweep has failed: " + reason(v.Err)
	}
	return fmt.Sprintf("Sweep done: %d of %d runs have finished.", v.Ended, v.Jobs)
}

// Reason says why the sweep has failed.
func (v *SweepView) Reason() string { return reason(v.Err) }

// An OptionGroup is options of a kind.
type OptionGroup struct {
	Title   string
	Options []Option
}

// AxisOptions lists what a sweep of s can vary.
func AxisOptions(s scenario.Scenario) []OptionGroup {
	var params, costs OptionGroup
	if w, err := workload.Lookup(s.Workload); err == nil {
		params.Title = "Parameters of " + w.Key
		for i := range w.Params {
			if p := &w.Params[i]; p.Number() {
				params.Options = append(params.Options, Option{p.Key, p.Key, p.Help})
			}
		}
	}
	costs.Title = "Constants of the model"
	for i := range kernel.Costs {
		c := &kernel.Costs[i]
		costs.Options = append(costs.Options, Option{"c." + c.Key, c.Key, c.Text})
	}
	return []OptionGroup{costs, params}
}

// A variable is what a sweep can vary.
type variable struct {
	now, least, most int64 // of a constant in ps
	unit             string
	step             int64 // a small value beside 0
	write            func(int64) string
}

// variableOf returns what key is in s; ok is false if no sweep can vary it.
func variableOf(s scenario.Scenario, key string) (v variable, ok bool) {
	if name, cost := strings.CutPrefix(key, "c."); cost {
		c, known := kernel.LookupCost(name)
		m, err := machine.Lookup(s.Machine)
		if !known || err != nil {
			return v, false
		}
		v = variable{int64(kernel.CostOn(m, c).Value), 0, int64(kernel.MaxCost), "ns", 10_000, func(v int64) string { return sim.Time(v).Nanoseconds() }}
		for _, changed := range s.Costs {
			if changed.Key == name {
				v.now = int64(changed.Value)
			}
		}
		return v, true
	}
	w, err := workload.Lookup(s.Workload)
	if err != nil {
		return v, false
	}
	i := w.Param(key)
	if i < 0 || !w.Params[i].Number() {
		return v, false
	}
	p := &w.Params[i]
	v = variable{s.Params[i].N, p.Min, p.Max, p.Unit, 1, func(v int64) string { return strconv.FormatInt(v, 10) }}
	if p.Kind == workload.Bool {
		v.least, v.most = 0, 1
	}
	return v, true
}

// Present says what a key that a sweep can vary is in s: "15 ns".
func Present(s scenario.Scenario, key string) string {
	v, ok := variableOf(s, key)
	if !ok {
		return ""
	}
	return strings.TrimSpace(v.write(v.now) + " " + v.unit)
}

// Proposal writes values around the one that s has for a key, for a first look: from a
// quarter of it to four times as much.
func Proposal(s scenario.Scenario, key string) string {
	v, ok := variableOf(s, key)
	if !ok {
		return ""
	}
	list := []int64{v.now / 4, v.now / 2, v.now, v.now * 2, v.now * 4}
	switch {
	case v.most-v.least == 1:
		list = []int64{v.least, v.most}
	case v.now == 0:
		list = []int64{0, v.step, 2 * v.step, 4 * v.step, 8 * v.step}
	}
	var texts []string
	for _, n := range list {
		if v.step > 1 && n != v.now && n > 10_000 {
			n = (n + 500) / 1000 * 1000 // whole nanoseconds
		}
		if text := v.write(n); n >= v.least && n <= v.most && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, ",")
}

// Turns says where an arm's gain turns to loss.
func Turns(t *sweep.Table, arm int) string {
	known := t.Known(arm)
	if known == 0 {
		return "nothing is known yet"
	}
	var list []string
	if len(t.Sweep.Axes) > 1 {
		if len(t.Contour(arm)) > 0 {
			list = append(list, "the sign changes along the thick line")
		}
	} else {
		for _, c := range t.Crossings(arm, 0) {
			list = append(list, turn(t.Sweep, c))
		}
	}
	switch {
	case len(list) > 0:
		return strings.Join(list, "; ")
	case known < len(t.Sweep.Points()):
		return "no change of sign between the points that are known"
	}
	return "no change of sign"
}

func turn(s sweep.Sweep, c sweep.Crossing) string {
	axis, unit := s.Axes[0], s.Unit(0)
	if unit != "" {
		unit = "\u00a0" + unit
	}
	text := c.Turn()
	if !c.Step {
		at := strconv.FormatFloat(c.At, 'g', 3, 64)
		if c.At >= 100 {
			at = strconv.FormatFloat(c.At, 'f', 0, 64)
		}
		text += " at " + axis.Key + " ≈ " + at + unit + ","
	}
	text += " between " + axis.Values[c.Below] + " and " + axis.Values[c.Below+1] + unit
	if !c.Sure {
		text += " (not significant there)"
	}
	return text
}
