package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"schedlab/core"
	"schedlab/core/scenario"
)

// The paces of a page.
const (
	renderPace = 250 * time.Millisecond // between renders while results stream in
	typingPace = 350 * time.Millisecond // from the last key until what was typed is run
	choicePace = time.Second            // choices of one thing that come faster are one
)

// An Address is a page's address bar with its history. A link is what follows the
// page's own address there: a query, and behind a # the sweep, or neither.
type Address interface {
	Push(link string)    // make a new entry
	Replace(link string) // change the current entry
}

// A Status says what has become of the run of the current question.
type Status uint8

// The statuses.
const (
	Running Status = iota
	Done
	Cancelled
	Failed
)

// A State is what one page knows: the question as it stands in the fields, and
// the answer as far as it has come. Every change of the question runs it
// anew. It knows no DOM.
//
// All methods may be called from any goroutine. Who calls one shows View
// afterwards; of what happens by itself the page is told.
type State struct {
	runner  Runner
	address Address
	changed func()

	mu       sync.Mutex
	form     Form
	asked    scenario.Scenario // the valid one that is nearest to the form
	problems []scenario.Problem
	question uint64      // counts changes of form, asked and problems
	entry    entry       // what history holds, not counting what is being typed
	typing   *time.Timer // will run what was typed; nil if there is nothing to run
	choice   struct {    // the last one, if it made an entry and nothing has happened since
		key string
		at  time.Time
	}

	run      int // counts runs, so that a late part of an earlier one is known as such
	query    string
	cancel   context.CancelFunc
	stopped  chan struct{} // closed when the run's Runner has returned
	status   Status
	err      error
	result   *core.Result // of the current run
	jobs     int
	began    time.Time
	took     time.Duration // once it has ended
	shown    *core.Result  // what there is to see: result, or the one before until result has something
	version  uint64        // counts changes of shown
	sweep    sweeping
	evidence judging
	rendered time.Time
	pending  *time.Timer // will tell the page; nil if there is nothing to tell
}

// entry is an entry of the page's history.
type entry struct {
	raw  string // as the address bar has it
	link string // of what it means
}

// NewState returns the state of a page with nothing in it: Open begins.
// changed is called when there is something new to show that no call of a
// method has brought; it must return at once and not call the State.
func NewState(r Runner, a Address, changed func()) *State {
	return &State{runner: r, address: a, changed: changed, evidence: judging{cases: newCases()}}
}

// Open reads the address bar's link, when the page is loaded and when Back or
// Forward was pressed, and runs what it asks. Of a query with problems the
// nearest valid scenario is run; the address bar stays as it is. A sweep is
// shown, but can take long, and is not run. If the link is about the evidence, nothing is run.
func (s *State) Open(link string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, fragment, _ := strings.Cut(link, "#")
	s.showEvidence(fragment == evidenceMark)
	if !s.evidence.open {
		s.sweep.readFragment(fragment)
	}
	s.read(scenario.Parse(link))
	s.form = formOf(s.asked)
	s.entry = entry{link, s.link()}
	s.choice.key = ""
	if !s.evidence.open {
		s.start(false)
	}
}

// Ask goes to another question: a preset, or what was published.
func (s *State) Ask(query string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.showEvidence(false)
	s.read(scenario.Parse(query))
	s.form = formOf(s.asked)
	s.commit()
}

// Type notes what stands in the field of a key while it is being typed. It is
// run when no more keys have come for a moment, if it is right.
func (s *State) Type(key, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.form.set(key, text)
	s.read(s.form.parse())
	s.stopTyping()
	s.choice.key = ""
	if s.problem(key) == nil && s.problem("link") == nil {
		s.address.Replace(s.link())
		s.startSoon()
	}
	s.rendered = time.Now()
}

// startSoon runs the question when nothing more has come for a moment.
func (s *State) startSoon() {
	s.stopTyping()
	// A stopped timer may be on its way here all the same: then it is another one.
	var timer *time.Timer
	timer = time.AfterFunc(typingPace, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.typing == timer {
			s.typing = nil
			s.start(false)
			s.tell(true)
		}
	})
	s.typing = timer
}

// Set puts a text in the field of a key for good and runs the question. A
// choice of machine, kernel, scheduler or workload takes the defaults of what depends on it along.
func (s *State) Set(key, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(key, text)
	s.commit()
}

// Choose is Set for a list that the arrow keys walk through: what is passed on the way to a choice is
// chosen as well, but makes no entry of its own in the history, and is run
// only if one stays there for a moment.
func (s *State) Choose(key, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	walking := s.choice.key == key && time.Since(s.choice.at) < choicePace
	s.put(key, text)
	if walking {
		link := s.link()
		s.address.Replace(link)
		s.entry = entry{link, link}
		s.startSoon()
		s.rendered = time.Now()
	} else if !s.commit() {
		return
	}
	s.choice.key, s.choice.at = key, time.Now()
}

// put puts a text in the field of a key.
func (s *State) put(key, text string) {
	var lost []scenario.Problem
	switch key {
	case "m", "k", "scx", "w":
		s.form, lost = choose(s.asked, key, text)
	default:
		s.form.set(key, text)
	}
	asked, problems := s.form.parse()
	s.read(asked, append(problems, lost...))
}

// SetIdle enables an idle state of the machine or disables it.
func (s *State) SetIdle(name string, on bool) {
	s.mu.Lock()
	var states []string
	for _, c := range IdleChoices(s.asked) {
		if c.Name == name && on || c.Name != name && c.On {
			states = append(states, c.Name)
		}
	}
	s.mu.Unlock()
	if len(states) > 0 { // one of them must be
		s.Set("idle", strings.Join(states, ","))
	}
}

// SetPatch puts a patch or a part of one (patch.part) into an arm, or takes it out.
func (s *State) SetPatch(arm int, key string, on bool) {
	s.edit(func(arms [][]string) [][]string {
		if arm >= 0 && arm < len(arms) {
			arms[arm] = toggle(arms[arm], key, on)
		}
		return arms
	})
}

// AddArm adds an arm.
func (s *State) AddArm() {
	s.edit(func(arms [][]string) [][]string {
		if len(arms) < scenario.MaxArms {
			arms = append(arms, newArm(s.asked, arms))
		}
		return arms
	})
}

// RemoveArm takes an arm out.
func (s *State) RemoveArm(arm int) {
	s.edit(func(arms [][]string) [][]string {
		if arm >= 0 && arm < len(arms) && len(arms) > 1 {
			arms = slices.Delete(arms, arm, arm+1)
		}
		return arms
	})
}

func (s *State) edit(f func([][]string) [][]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.form.Arms = f(slices.Clone(s.form.Arms))
	s.read(s.form.parse())
	s.commit()
}

// Cancel stops the run. What has finished stays.
func (s *State) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == Running && s.cancel != nil {
		s.stopTyping()
		s.halt()
		s.end(Cancelled, nil)
	}
}

// Again runs the question once more: after it was cancelled or has failed, or to
// see the same bits come out.
func (s *State) Again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start(true)
}

// Close stops everything; nothing is told any more.
func (s *State) Close() {
	s.mu.Lock()
	s.changed = func() {}
	s.stopTyping()
	stopPending(&s.pending)
	s.halt()
	s.haltSweep()
	s.evidence.yield()
	s.run++
	stopped := s.stopped
	s.mu.Unlock()
	if stopped != nil {
		<-stopped
	}
}

// read takes in the question as it was parsed.
func (s *State) read(asked scenario.Scenario, problems []scenario.Problem) {
	s.asked, s.problems = asked, problems
	s.question++
	s.sweep.read(asked)
}

// link returns what the address bar has for the question and what is shown beside it.
func (s *State) link() string {
	if s.evidence.open {
		return s.asked.Query() + "#" + evidenceMark
	}
	return s.asked.Query() + s.sweep.fragment()
}

// problem returns what is wrong with the field of a key, or nil.
func (s *State) problem(key string) *scenario.Problem {
	for i := range s.problems {
		if s.problems[i].Key == key && !s.problems[i].Notice {
			return &s.problems[i]
		}
	}
	return nil
}

// commit makes the question an entry of the history, if it is another one,
// and runs it.
func (s *State) commit() (pushed bool) {
	s.stopTyping()
	pushed = s.push()
	s.start(false)
	s.rendered = time.Now()
	return pushed
}

// push makes the present link an entry of the history, if it is another one. What was
// typed on the way there leaves no trace.
func (s *State) push() bool {
	s.choice.key = ""
	link := s.link()
	if link == s.entry.link {
		return false
	}
	s.address.Replace(s.entry.raw)
	s.address.Push(link)
	s.entry = entry{link, link}
	return true
}

func (s *State) stopTyping() { stopPending(&s.typing) }

func stopPending(t **time.Timer) {
	if *t != nil {
		(*t).Stop()
		*t = nil
	}
}

// halt stops the current run.
func (s *State) halt() {
	if s.cancel != nil {
		s.cancel()
		s.cancel = nil
	}
}

// start runs the question, unless that is what is being shown already.
func (s *State) start(again bool) {
	s.stopTyping()
	query := s.asked.Query()
	if query == s.query && !again && (s.status == Running || s.status == Done) {
		return
	}
	s.halt()
	s.haltSweep()
	s.evidence.yield()
	s.run++
	s.query = query
	s.result = core.NewResult(s.asked)
	s.status, s.err = Running, nil
	s.version++
	s.began = time.Now()
	jobs := core.Jobs(s.asked)
	s.jobs = len(jobs)

	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	before, stopped := s.next()
	run, asked := s.run, s.asked
	go func() {
		defer close(stopped)
		if before != nil {
			<-before
		}
		s.ran(run, s.simulate(ctx, asked, jobs, func(p *core.Part) { s.take(run, p) }))
	}()
	s.resume()
}

// next returns what a run has to wait for, nil if nothing, and what it has to close when
// its Runner has returned: a machine's cores are for one run at a time.
func (s *State) next() (before <-chan struct{}, stopped chan<- struct{}) {
	mine := make(chan struct{})
	before, s.stopped = s.stopped, mine
	return before, mine
}

// simulate runs jobs and has their parts taken in, until the Runner has returned.
func (s *State) simulate(ctx context.Context, asked scenario.Scenario, jobs []core.Job, take func(*core.Part)) error {
	out := make(chan core.Part)
	ran := make(chan error, 1)
	go func() {
		defer close(out)
		ran <- s.runner.Run(ctx, asked, jobs, out)
	}()
	for part := range out {
		take(&part)
	}
	return <-ran
}

// take puts a part into the result.
func (s *State) take(run int, p *core.Part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run != s.run || s.status != Running {
		return
	}
	s.result.Put(p)
	s.version++
	if s.shown != s.result && p.Events > 0 {
		s.shown = s.result
		s.tell(true)
		return
	}
	s.tell(false)
}

// ran notes that the Runner has returned.
func (s *State) ran(run int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run != s.run || s.status != Running {
		return
	}
	if err != nil {
		s.end(Failed, err)
	} else {
		s.end(Done, nil)
	}
	s.halt()
	s.tell(true)
}

func (s *State) end(status Status, err error) {
	s.status, s.err = status, err
	s.version++
	s.took = time.Since(s.began)
	stopPending(&s.pending)
	s.rendered = time.Now()
}

// tell lets the page know that there is something new: now, or when its pace allows.
func (s *State) tell(now bool) {
	wait := renderPace - time.Since(s.rendered)
	if now || wait <= 0 {
		stopPending(&s.pending)
		s.rendered = time.Now()
		s.changed()
		return
	}
	if s.pending != nil {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(wait, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.pending == timer {
			s.pending = nil
			s.tell(true)
		}
	})
	s.pending = timer
}

// A View is a State at one moment. It does not change.
type View struct {
	Link     string // to share
	Question uint64 // changes with what follows
	Form     Form
	Asked    scenario.Scenario  // the valid scenario nearest to the form: what is run
	Problems []scenario.Problem // of the link or of the form

	Status  Status
	Err     error         // why it failed
	Ended   int           // jobs
	Jobs    int           // in all
	Events  uint64        // simulated so far
	Elapsed time.Duration // of the visitor's time

	Version uint64       // changes with Result
	Result  *core.Result // what there is to see, or nil; shared with nobody
	Stale   bool         // it is the answer to an earlier question

	Sweep    SweepView
	Evidence EvidenceView
}

// View returns the state as it is now.
func (s *State) View() View {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := View{
		Link: s.link(), Sweep: s.sweepView(), Evidence: s.evidenceView(), Question: s.question, Form: s.form.clone(), Asked: s.asked, Problems: slices.Clone(s.problems),
		Status: s.status, Err: s.err, Jobs: s.jobs, Elapsed: s.took,
		Stale: s.shown != s.result, Version: s.version,
	}
	if s.status == Running {
		v.Elapsed = time.Since(s.began)
	}
	if s.result != nil {
		for _, arm := range s.result.Parts {
			for i := range arm {
				v.Events += arm[i].Events
				if arm[i].Done || arm[i].Fault != "" {
					v.Ended++
				}
			}
		}
	}
	if s.shown != nil {
		parts := make([][]core.Part, len(s.shown.Parts))
		for i := range parts {
			parts[i] = slices.Clone(s.shown.Parts[i]) // a part's slices are never written to again
		}
		v.Result = &core.Result{Scenario: s.shown.Scenario, Parts: parts}
	}
	return v
}

// Problem says what is wrong with the field of a key and what is used instead; "" if nothing is.
func (v *View) Problem(key string) string {
	var own []scenario.Problem
	for _, p := range v.Problems {
		if p.Key == key && !p.Notice {
			own = append(own, p)
		}
	}
	if len(own) == 0 {
		return ""
	}
	text := ""
	for _, p := range own {
		text += fmt.Sprintf("“%s”: want %s. ", p.Value, p.Want)
	}
	asked := formOf(v.Asked)
	if used := asked.Text(key); used != "" && key != "arm" {
		text += "Used instead: " + used + "."
	}
	return text
}

// LinkProblems lists what is wrong with the link that no field has a place for, and its notices.
func (v *View) LinkProblems() (list []string) {
	for _, p := range v.Problems {
		if _, isField := v.Form.texts[p.Key]; p.Notice || !isField && p.Key != "arm" {
			list = append(list, p.String())
		}
	}
	return list
}

// ArmProblems says what is wrong with the arms: of each arm of the form, "" if
// nothing is, and of those of a link that are not in the form, which is of
// what was made of them.
func (v *View) ArmProblems() (arms, others []string) {
	arms = make([]string, len(v.Form.Arms))
	for _, p := range v.Problems {
		if p.Key != "arm" || p.Notice {
			continue
		}
		// Of two arms that are the same it is the later one that is not simulated.
		is := func(arm []string) bool { return strings.Join(arm, ",") == p.Value }
		at, unused := -1, 0
		for i, arm := range v.Form.Arms {
			if is(arm) {
				at = i
				unused++
			}
		}
		for _, arm := range v.Asked.Arms {
			if is(arm) {
				unused--
			}
		}
		text := fmt.Sprintf("want %s. Simulated without it.", p.Want)
		if unused > 0 {
			arms[at] = text
			continue
		}
		if p.Value == "" {
			text = "an empty arm: " + text
		} else {
			text = "“" + p.Value + "”: " + text
		}
		if !slices.Contains(others, text) {
			others = append(others, text)
		}
	}
	return arms, others
}

// Mistakes counts what is wrong with the link or the form.
func (v *View) Mistakes() (n int) {
	for _, p := range v.Problems {
		if !p.Notice {
			n++
		}
	}
	return n
}

// Broken tells whether a run has broken the model's invariants.
func (v *View) Broken() bool {
	if v.Result == nil {
		return false
	}
	for _, arm := range v.Result.Parts {
		if slices.ContainsFunc(arm, func(p core.Part) bool { return p.Fault != "" }) {
			return true
		}
	}
	return false
}

// Finished tells whether a pair of runs, or of a single arm one, has finished.
func (v *View) Finished() bool {
	if v.Result == nil {
		return false
	}
	n, _ := v.Result.Finished(0)
	for arm := 1; arm < len(v.Result.Parts) && n > 0; arm++ {
		base, _ := v.Result.Pairs(arm)
		if len(base) > 0 {
			return true
		}
	}
	return n > 0 && len(v.Result.Parts) == 1
}

// Announcement is the status in words, for those who hear the page; it changes
// seldom.
func (v *View) Announcement() string {
	switch v.Status {
	case Running:
		return "Simulating."
	case Cancelled:
		return fmt.Sprintf("Cancelled: %d of %d runs have finished.", v.Ended, v.Jobs)
	case Failed:
		return "The simulation has failed: " + reason(v.Err)
	}
	return "Done: " + fmt.Sprintf("%d of %d runs have finished.", v.Ended, v.Jobs)
}

// Reason says why the run has failed.
func (v *View) Reason() string { return reason(v.Err) }

func reason(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return "it was cancelled"
	}
	return err.Error()
}

func (f *Form) clone() Form {
	c := Form{keys: slices.Clone(f.keys), texts: make(map[string]string, len(f.texts))}
	for k, v := range f.texts {
		c.texts[k] = v
	}
	for _, arm := range f.Arms {
		c.Arms = append(c.Arms, slices.Clone(arm))
	}
	return c
}
