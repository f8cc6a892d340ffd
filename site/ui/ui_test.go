package ui

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vugu/vugu"
	"github.com/vugu/vugu/staticrender"

	"schedlab/core"
	"schedlab/core/scenario"
	"schedlab/site/lab"
)

// current begins the link of any scenario.
var current = scenario.Default().Query()

// A screen is a page without a browser.
type screen struct {
	t   *testing.T
	app *App
	env *vugu.BuildEnv
	bar []string

	out *vugu.BuildResults
}

func (s *screen) Push(q string)    { s.bar = append(s.bar, q) }
func (s *screen) Replace(q string) { s.bar[len(s.bar)-1] = q }

// runner is a lab.Pool that can be made to wait or to fail.
type runner struct {
	lab.Pool
	wait    time.Duration
	trickle time.Duration // before each part
	err     error
}

func (r runner) Run(ctx context.Context, s scenario.Scenario, jobs []core.Job, out chan<- core.Part) error {
	select {
	case <-time.After(r.wait):
	case <-ctx.Done():
		return ctx.Err()
	}
	if r.err != nil {
		return r.err
	}
	if r.trickle == 0 {
		return r.Pool.Run(ctx, s, jobs, out)
	}
	result, err := core.Run(s, nil)
	if err != nil {
		return err
	}
	for _, job := range jobs {
		select {
		case <-time.After(r.trickle):
			out <- result.Parts[job.Arm][job.Run]
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// open opens the page with a link and runs a test on it, in a time of its own.
func open(t *testing.T, r runner, link string, test func(s *screen)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &screen{t: t, bar: []string{link}}
		state := lab.NewState(r, s, func() {})
		s.app = &App{State: state, Width: 800}
		var err error
		if s.env, err = vugu.NewBuildEnv((&staticrender.StaticRenderer{}).EventEnv()); err != nil {
			t.Fatal(err)
		}
		state.Open(link)
		defer state.Close()
		test(s)
	})
}

// html renders the page, all of it.
func (s *screen) html() string {
	s.app.seen, s.app.cases = seen{}, shownCases{}
	s.out = s.env.RunBuild(s.app)
	var b strings.Builder
	if err := staticrender.New(&b).Render(s.out); err != nil {
		s.t.Fatal(err)
	}
	return b.String()
}

// done waits until the simulation has ended.
func (s *screen) done() string {
	time.Sleep(time.Hour)
	synctest.Wait()
	return s.html()
}

// find returns the first element that is like what is asked for: a name and attributes, "input#f-runs" or
// "button.cancel" or "option[value=x]".
func (s *screen) find(what string) *vugu.VGNode {
	s.t.Helper()
	m := regexp.MustCompile(`^(\w+)(?:([#.])([\w.-]+)|\[([\w-]+)=(.*)\])?$`).FindStringSubmatch(what)
	key, value := m[4], m[5]
	switch m[2] {
	case "#":
		key, value = "id", m[3]
	case ".":
		key, value = "class", m[3]
	}
	var found *vugu.VGNode
	var walk func(n *vugu.VGNode)
	walk = func(n *vugu.VGNode) {
		for ; n != nil && found == nil; n = n.NextSibling {
			if n.Component != nil {
				walk(s.out.ResultFor(n.Component).Out[0])
				continue
			}
			if n.Data == m[1] && (key == "" || slices.ContainsFunc(n.Attr, func(a vugu.VGAttribute) bool {
				return a.Key == key && (a.Val == value || key == "class" && slices.Contains(strings.Fields(a.Val), value))
			})) {
				found = n
				return
			}
			walk(n.FirstChild)
		}
	}
	walk(s.out.Out.Out[0])
	if found == nil {
		s.t.Fatalf("the page has no %s", what)
	}
	return found
}

// fire lets an event happen at an element, whose properties are target.
func (s *screen) fire(what, event string, target map[string]any) {
	s.t.Helper()
	s.html()
	n := s.find(what)
	for _, h := range n.DOMEventHandlerSpecList {
		if h.EventType == event {
			h.Func(vugu.NewDOMEvent(nil, map[string]any{"target": target}))
			return
		}
	}
	s.t.Fatalf("%s does not listen to %s", what, event)
}

func typed(v string) map[string]any { return map[string]any{"value": v} }

const small = "?numipi=200&runs=6"

var modelNow = fmt.Sprintf("model %d", core.Model)

func TestAnswerIsShown(t *testing.T) {
	open(t, runner{}, small, func(s *screen) {
		html := s.done()
		for _, want := range []string{
			`data-status="done"`, "12 of 12 runs", "SM_IDLE v2", "ipistorm&#39;s elapsed time", "in this model",
			"<li>simulated</li><li>" + modelNow + "</li><li>epyc-2x64</li><li>Linux 6.11</li><li>busy background</li>",
			`class="distribution"`, `class="topology"`, "Where the time went", "newidle", "Which way the calls went", "Statistics",
			"What was published", "No prediction: ", "digest ", "All figures but published ones are simulated",
		} {
			if !strings.Contains(html, want) {
				t.Errorf("the page lacks %q", want)
			}
		}
		if m := regexp.MustCompile(`data-digest="([0-9a-f]{16})"`).FindStringSubmatch(html); m == nil {
			t.Error("the page has no digest")
		} else if r, _ := core.Run(s.app.State.View().Asked, nil); m[1] != fmt.Sprintf("%016x", r.Digest()) {
			t.Errorf("digest %s, want %016x", m[1], r.Digest())
		}
	})
}

// Beside every figure stands what it rests on.
func TestBasis(t *testing.T) {
	open(t, runner{}, "?numipi=200&runs=6&bg=quiet", func(s *screen) {
		s.done()
		s.app.folds.Toggle("counters", false)
		html := s.html()
		pieces := regexp.MustCompile(`<section class="block|<figure|<p class="verdict`).Split(html, -1)[1:]
		if len(pieces) != 10 { // verdict, histogram, account, calls, the clock with its wakeups and misses, statistics, published, counters
			t.Fatalf("%d parts with figures", len(pieces))
		}
		for i, piece := range pieces {
			text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(piece, " ")
			for _, want := range []string{"simulated", modelNow, "quiet background"} {
				if !strings.Contains(text, want) {
					t.Errorf("part %d does not say %q: %s", i, want, text)
				}
			}
		}
	})
}

// All that is on the page, opened, can be named, and what refers to an element finds it.
func TestMarkup(t *testing.T) {
	for link, wrong := range map[string]int{
		small: 0,
		"?numipi=200&runs=0&seed=x&m=cray&arm=&arm=&arm=sm-idle-v1&arm=sm-idle-v2.fast&c.pick=-1&x=1": 3, // runs, seed and pick
		"?m=xeon-240&numipi=200&arm=":                            0,
		"?numipi=200&arm=&arm=sm-idle-v1&arm=sm-idle-v2&arm=x,y": 0,
	} {
		open(t, runner{}, link, func(s *screen) {
			s.done()
			for _, name := range []string{"params", "constants", "sources", "account", "counters", "meanings of counters", "octaves", "swept"} {
				if !s.app.folds.Open(name, false) {
					s.app.folds.Toggle(name, false)
				}
			}
			s.app.folds.Choose(openArm, "0")
			s.app.State.OpenSweep(true)
			s.app.State.RunSweep()
			html := s.done()
			s.sound(link, html)
			if n := strings.Count(html, `aria-invalid="true"`); n != wrong {
				t.Errorf("%s: %d fields are marked as wrong, want %d", link, n, wrong)
			}
		})
	}
}

// sound looks at what must hold of all markup.
func (s *screen) sound(link, html string) {
	t := s.t
	t.Helper()
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if ids[m[1]] {
			t.Errorf("%s: two elements have the id %q", link, m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(` (?:for|aria-labelledby|aria-describedby|aria-controls)="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		for id := range strings.FieldsSeq(m[1]) {
			if !ids[id] {
				t.Errorf("%s: nothing has the id %q", link, id)
			}
		}
	}
	labelled := map[string]bool{}
	for _, m := range regexp.MustCompile(`<label for="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		labelled[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`<(?:input type="text"|select)[^>]* id="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if !labelled[m[1]] {
			t.Errorf("%s: the field %q has no label", link, m[1])
		}
	}
	if strings.Contains(html, " style=") {
		t.Errorf("%s: a style, which the policy forbids", link)
	}
	last := 0
	for _, m := range regexp.MustCompile(`<h([1-6])`).FindAllStringSubmatch(html, -1) {
		level := int(m[1][0] - '0')
		if level > last+1 {
			t.Errorf("%s: a heading of level %d follows one of level %d", link, level, last)
		}
		last = level
	}
	for _, m := range regexp.MustCompile(`<svg[^>]*>`).FindAllString(html, -1) {
		if !strings.Contains(m, `role="img" aria-label="`) && !strings.Contains(m, `aria-hidden="true"`) {
			t.Errorf("%s: a picture without words: %s", link, m)
		}
	}
}

func TestLinkIsText(t *testing.T) {
	const evil = `%3Cimg%20src=x%20onerror=alert(1)%3E%22'`
	open(t, runner{}, "?m="+evil+"&numipi="+evil+"&arm="+evil+"&"+evil+"="+evil+"&c."+evil+"=1&runs="+evil+"&bg="+evil, func(s *screen) {
		html := s.html()
		if strings.Contains(html, "<img") {
			t.Error("the link's markup is an element of the page")
		}
		if n := strings.Count(html, "&lt;img src=x onerror"); n < 6 {
			t.Errorf("the link's text is shown %d times", n)
		}
	})
}

func TestFields(t *testing.T) {
	open(t, runner{}, small, func(s *screen) {
		s.done()
		s.fire("input#f-runs", "input", typed("x"))
		if html := s.html(); !strings.Contains(html, "“x”: want a whole number from 1 to 1000") || !strings.Contains(html, `aria-invalid="true"`) {
			t.Error("nothing is said about the wrong number")
		}
		s.fire("input#f-runs", "input", typed("7"))
		s.fire("input#f-runs", "change", typed("7"))
		s.fire("select#f-m", "change", typed("xeon-240"))
		s.fire("select#f-bg", "change", typed("quiet"))
		s.fire("input#f-wait", "change", map[string]any{"checked": false})
		if got, want := s.bar[len(s.bar)-1], current+"&m=xeon-240&numipi=200&wait=0&bg=quiet&runs=7"; got != want {
			t.Errorf("the link is %s, want %s", got, want)
		}
		if html := s.done(); !strings.Contains(html, "14 of 14 runs") || !strings.Contains(html, `<li>quiet background</li>`) {
			t.Error("the change was not run")
		}
		if v := s.find("option[value=xeon-240]"); !slices.ContainsFunc(v.Attr, func(a vugu.VGAttribute) bool { return a.Key == "selected" }) {
			t.Error("the machine is not selected")
		}
	})
}

// What is wrong with an arm of the link is said beside the arms.
func TestWrongArms(t *testing.T) {
	open(t, runner{}, "?numipi=200&runs=6&arm=&arm=sm-idle-v9", func(s *screen) {
		html := s.html()
		_, arms, _ := strings.Cut(html, `class="arms"`)
		arms, _, _ = strings.Cut(arms, "</section>")
		if !strings.Contains(arms, "“sm-idle-v9”: want one of select-idle-core, ") {
			t.Errorf("nothing is said of the unknown patch: %s", arms)
		}
	})
}

func TestPatches(t *testing.T) {
	open(t, runner{}, small, func(s *screen) {
		s.fire("button[aria-label=Patches of SM_IDLE v2]", "click", nil)
		html := s.html()
		if !strings.Contains(html, "Not together: sm-idle-v2 and sm-idle-v1 exclude each other.") {
			t.Error("no word about what excludes what")
		}
		box := func(attr, key string) *vugu.VGNode {
			s.html()
			n := s.find("div[data-patch=" + key + "]").FirstChild
			for n.Data != "label" {
				n = n.NextSibling
			}
			return n.FirstChild
		}
		if n := box("patch", "sm-idle-v1"); !slices.ContainsFunc(n.Attr, func(a vugu.VGAttribute) bool { return a.Key == "disabled" }) {
			t.Error("the excluded patch can be ticked")
		}
		box("patch", "sm-idle-v2").DOMEventHandlerSpecList[0].Func(vugu.NewDOMEvent(nil, map[string]any{"target": map[string]any{"checked": false}}))
		box("patch", "sm-idle-v1").DOMEventHandlerSpecList[0].Func(vugu.NewDOMEvent(nil, map[string]any{"target": map[string]any{"checked": true}}))
		if got, want := s.bar[len(s.bar)-1], current+"&numipi=200&arm=&arm=sm-idle-v1&runs=6"; got != want {
			t.Errorf("the link is %s, want %s", got, want)
		}
		s.fire("button.add", "click", nil)
		if n := strings.Count(s.html(), `class="patches"`); n != 1 || !strings.Contains(s.html(), `id="arm-2-patches"`) {
			t.Errorf("the patches of %d arms are open", n)
		}
		s.fire("button[aria-label=Remove baseline]", "click", nil)
		if got, want := s.bar[len(s.bar)-1], current+"&numipi=200&arm=sm-idle-v1&arm=sm-idle-v2&runs=6"; got != want {
			t.Errorf("the link is %s, want %s", got, want)
		}
	})
}

func TestPresets(t *testing.T) {
	open(t, runner{}, small, func(s *screen) {
		for _, p := range lab.Presets() {
			s.fire("button[data-preset="+p.Query+"]", "click", nil)
			if s.bar[len(s.bar)-1] != p.Query || strings.Count(s.html(), `aria-pressed="true"`) != 1 {
				t.Errorf("%s does not go to %s", p.Title, p.Query)
			}
		}
	})
}

// A parameter that is a choice is a list, and so is the figure that runs are judged by.
func TestLists(t *testing.T) {
	open(t, runner{}, "?w=netperf&test=UDP_RR&runs=1", func(s *screen) {
		if html := s.html(); !strings.Contains(html, `<option selected="selected" value="UDP_RR">`) || !strings.Contains(html, `<option value="TCP_RR">`) {
			t.Error("the list of tests does not show UDP_RR as chosen")
		}
		s.fire("select#f-test", "change", typed("TCP_STREAM"))
		s.fire("select#f-metric", "change", typed("latency99"))
		if got, want := s.bar[len(s.bar)-1], current+"&w=netperf&test=TCP_STREAM&metric=latency99&runs=1"; got != want {
			t.Errorf("the link is %s, want %s", got, want)
		}
		s.fire("select#f-w", "change", typed("tbench"))
		if got, want := s.bar[len(s.bar)-1], current+"&w=tbench&runs=1"; got != want {
			t.Errorf("the link is %s, want %s", got, want)
		}
	})
	open(t, runner{}, small, func(s *screen) {
		if strings.Contains(s.html(), `id="f-metric"`) {
			t.Error("there is a list of figures with one entry")
		}
	})
}

// An idle state is a box that says what it is; the last one can't be unticked.
func TestIdleStates(t *testing.T) {
	open(t, runner{}, small, func(s *screen) {
		html := s.html()
		if n := strings.Count(html, `data-idle="`); n != 3 || !strings.Contains(html, "a store to its flags wakes it; ") {
			t.Errorf("%d idle states, of which nothing is said", n)
		}
		box := func(state string) *vugu.VGNode {
			s.html()
			return s.find("div[data-idle=" + state + "]").FirstChild.FirstChild
		}
		set := func(state string, on bool) {
			box(state).DOMEventHandlerSpecList[0].Func(vugu.NewDOMEvent(nil, map[string]any{"target": map[string]any{"checked": on}}))
		}
		set("C2", true)
		if got, want := s.bar[len(s.bar)-1], current+"&numipi=200&idle=POLL,C1,C2&runs=6"; got != want {
			t.Errorf("the link is %s, want %s", got, want)
		}
		set("C1", false)
		set("C2", false)
		if html := s.done(); !strings.Contains(html, "<li>idle states POLL only</li>") || !strings.Contains(html, "busy background, with idle states POLL only") {
			t.Error("the answer does not say that there is one idle state")
		}
		if !slices.ContainsFunc(box("POLL").Attr, func(a vugu.VGAttribute) bool { return a.Key == "disabled" }) {
			t.Error("the last idle state can be disabled")
		}
	})
}

// What explains itself elsewhere has a link to there, with a name of its own.
func TestAbout(t *testing.T) {
	open(t, runner{}, "?m=xeon-240&runs=1&numipi=200", func(s *screen) {
		s.app.folds.Choose(openArm, "1")
		html := s.html()
		for _, entry := range []string{"machine-xeon-240", "kernel-6.11", "workload-ipistorm", "background-busy", "patch-always-ipi", "patch-sm-idle-v2"} {
			if strings.Count(html, `href="catalogue.html#`+entry+`"`) != 1 {
				t.Errorf("nothing leads to %s", entry)
			}
		}
		if n, of := strings.Count(html, `aria-label="about it: `), strings.Count(html, ">about it<"); n != of {
			t.Errorf("%d of %d links have names of their own", n, of)
		}
	})
}

// A scheduler is chosen from a list beside the kernel, brings a kernel that can have it along, and has its patches and
// tables.
func TestScheduler(t *testing.T) {
	open(t, runner{}, "?m=apu-8&w=messaging&group=1&nr_loops=2&runs=1&bg=quiet", func(s *screen) {
		html := s.done()
		for _, want := range []string{`value="lavd"`, "scx_lavd, on Linux 6.12", "Linux 6.11 has no sched_ext: to choose a scheduler goes to Linux 6.12"} {
			if !strings.Contains(html, want) {
				t.Errorf("before one is chosen the page does not say %q", want)
			}
		}
		if hidden := regexp.MustCompile(`data-table="clock[^"]*"[^>]*hidden="hidden"`).FindAllString(html, -1); len(hidden) != 3 {
			t.Errorf("of the tables of the clock %d are hidden, want 3", len(hidden))
		}
		s.fire("select#f-scx", "change", typed("lavd"))
		if got, want := s.bar[len(s.bar)-1], current+"&m=apu-8&k=6.12&scx=lavd&w=messaging&group=1&nr_loops=2&bg=quiet&runs=1"; got != want {
			t.Errorf("the link is %s, want %s", got, want)
		}
		html = s.done()
		for _, want := range []string{"k=6.11: has no sched_ext, so that Linux 6.12 is simulated instead", `href="catalogue.html#scheduler-lavd"`, "6.12 with scx_lavd",
			`value="clock_reads"`, "clock reads per 1000 messages", "runnable", "per 1000 messages"} {
			if !strings.Contains(html, want) {
				t.Errorf("with lavd the page does not say %q", want)
			}
		}
		s.app.State.AddArm()
		if got := s.bar[len(s.bar)-1]; !strings.Contains(got, "&arm=&arm=scx-now&") {
			t.Errorf("the kernel to compare with is that of %s", got)
		}
		html = s.done()
		if shown := regexp.MustCompile(`<section[^>]*data-table="clock[^"]*"[^>]*>`).FindAllString(html, -1); len(shown) != 3 || strings.Contains(strings.Join(shown, ""), "hidden") {
			t.Errorf("the tables of the clock are %q", shown)
		}
		s.fire("select#f-k", "change", typed("6.11"))
		if got := s.bar[len(s.bar)-1]; strings.Contains(got, "scx") {
			t.Errorf("on a kernel without sched_ext: %s", got)
		}
		if html := s.html(); !strings.Contains(html, "scx=lavd: left out with this choice: want a kernel with sched_ext") {
			t.Error("the page does not say that the scheduler is gone")
		}
	})
}

// The histogram is of the sample that was chosen, and so are the statistics.
func TestSamples(t *testing.T) {
	open(t, runner{}, small, func(s *screen) {
		html := s.done()
		if !strings.Contains(html, "Histogram of the time of one call, from its first instruction") || !strings.Contains(html, ">time of one call<") || strings.Contains(html, `data-table="octaves"`) {
			t.Error("at first it is not of calls")
		}
		s.fire("input[value=delivery]", "change", nil)
		s.fire("summary[data-fold=octaves]", "click", nil)
		html = s.html()
		for _, want := range []string{"Histogram of the time of one delivery, from a call&#39;s first instruction", ">time of one delivery<", `data-table="octaves"`, "512 – 1,024", ">1,200<"} {
			if !strings.Contains(html, want) {
				t.Errorf("after a choice the page lacks %q", want)
			}
		}
		if strings.Contains(html, ">time of one call<") {
			t.Error("the statistics do not follow")
		}
		if len(s.bar) != 1 {
			t.Errorf("the link has it: %q", s.bar)
		}
	})
}

// The answer tells five kernels apart, and has room for them.
func TestManyArms(t *testing.T) {
	open(t, runner{}, "?numipi=200&runs=4&arm=&arm=always-ipi&arm=skip-newidle&arm=notify-ipi&arm=sm-idle-v2", func(s *screen) {
		html := s.done()
		if strings.Count(html, `<p class="verdict">`) != 4 || !strings.Contains(html, `class="verdicts many"`) || !strings.Contains(html, `class="cols wide"`) {
			t.Error("the answer is not laid out for five arms")
		}
		for arm := range 5 {
			for _, mark := range []string{"curve", "lane", "dots"} {
				if !strings.Contains(html, fmt.Sprintf(`class="%s arm%d"`, mark, arm)) {
					t.Errorf("arm %d has no %s", arm, mark)
				}
			}
		}
	})
}

// A machine's picture is drawn once, however often the page is rendered.
func TestPictureIsKept(t *testing.T) {
	open(t, runner{}, small, func(s *screen) {
		s.html()
		kept := s.app.memos.machine.value
		s.app.memos.machine.value = "<svg>kept</svg>"
		for _, step := range []func(){
			func() { s.app.State.Set("seed", "2") },
			func() { s.app.State.Set("numipi", "201") },
			func() { s.app.folds.Toggle("params", false) },
		} {
			step()
			s.html()
		}
		if s.app.memos.machine.value != "<svg>kept</svg>" {
			t.Error("it was drawn anew for the same CPUs")
		}
		s.app.State.Set("offset", "9")
		s.html()
		if v := s.app.memos.machine.value; v == kept || !strings.Contains(v, "<svg class=") {
			t.Error("it was not drawn for other CPUs")
		}
	})
}

// Each state of a run has its words, and its button does what it says.
func TestStates(t *testing.T) {
	says := func(s *screen, html string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(html, w) {
				t.Errorf("the page lacks %q", w)
			}
		}
	}
	open(t, runner{wait: time.Second}, small, func(s *screen) {
		says(s, s.html(), `data-status="running"`, "Simulating the first runs", `aria-busy="true"`, "0 of 12 runs")
		s.fire("button.cancel", "click", nil)
		says(s, s.html(), `data-status="cancelled"`, "Cancelled before anything was simulated", "Run again")
		s.fire("button.cancel", "click", nil)
		says(s, s.done(), `data-status="done"`, "Done: 12 of 12 runs have finished. As simulated, "+modelNow+", busy background: SM_IDLE v2 ")
		s.fire("select#f-bg", "change", typed("pair"))
		html := s.html()
		says(s, html, `class="answer stale"`, "the new one is being simulated", "<li>busy background</li>")
		if strings.Contains(html, `data-digest="e`) {
			t.Error("an old answer has the digest of the new question")
		}
		says(s, s.done(), `class="answer"`, "<li>pair background</li>")
	})
	open(t, runner{err: errors.New("no worker could be started")}, small, func(s *screen) {
		says(s, s.done(), `data-status="failed"`, "Failed: no worker could be started", "There is no answer", "Run again")
	})
}

func TestCopyLink(t *testing.T) {
	open(t, runner{}, small, func(s *screen) {
		s.app.Sharing.Link = func(q string) string { return "https://lab.example/" + q }
		var got string
		ok := true
		s.app.Sharing.Copy = func(text string, done func(bool)) { got = text; done(ok) }
		s.fire("button.copy", "click", nil)
		want := "https://lab.example/" + current + "&numipi=200&runs=6"
		if got != want || !strings.Contains(s.html(), ">Copied</button>") {
			t.Errorf("copied %q, want %q", got, want)
		}
		ok = false
		s.fire("button.copy", "click", nil)
		if !strings.Contains(s.html(), strings.ReplaceAll(want, "&", "&amp;")) {
			t.Error("there is no link to copy by hand")
		}
	})
}

// What has not changed is left out of a render, and what has is in it. While results
// stream in, tables take turns.
func TestFreshness(t *testing.T) {
	open(t, runner{}, small, func(s *screen) {
		s.done()
		fresh := func(question bool, answer Parts) {
			t.Helper()
			s.env.RunBuild(s.app)
			if s.app.freshQuestion != question || s.app.fresh != answer || question && !s.app.freshSweep {
				t.Errorf("question %v, answer %b; want %v, %b", s.app.freshQuestion, s.app.fresh, question, answer)
			}
		}
		fresh(false, 0)
		s.app.State.Type("runs", "")
		fresh(true, 0)
		fresh(false, 0)
		s.app.Width = 300
		fresh(false, everyPart)
		s.app.folds.Toggle("counters", false)
		fresh(true, everyPart)
		s.app.State.Set("seed", "5")
		time.Sleep(time.Hour)
		fresh(true, everyPart)
	})
	open(t, runner{trickle: time.Second}, small, func(s *screen) {
		seen := Parts(0)
		for n := 0; s.app.State.View().Status == lab.Running; n++ {
			time.Sleep(time.Second)
			synctest.Wait()
			s.env.RunBuild(s.app)
			seen |= s.app.fresh
			if tables := s.app.fresh &^ (verdict | histogram); n > 1 && s.app.State.View().Status == lab.Running && !slices.Contains(turns, tables) {
				t.Errorf("tables %b in one render", tables)
			}
			if n == len(turns)+1 && seen != everyPart {
				t.Errorf("parts %b have been rendered", seen)
			}
		}
		if s.app.fresh != everyPart || s.app.due != 0 {
			t.Errorf("at the end %b are fresh and %b are due", s.app.fresh, s.app.due)
		}
	})
}

// A sweep is asked for, runs, and is shown with what the command would say.
func TestSweep(t *testing.T) {
	says := func(s *screen, html string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(html, w) {
				t.Errorf("the page lacks %q", w)
			}
		}
	}
	open(t, runner{}, small, func(s *screen) {
		if html := s.done(); strings.Contains(html, "axis-0-key") {
			t.Error("the sweep is open")
		}
		s.fire("summary[data-fold=sweep]", "click", nil)
		says(s, s.html(), `value="3.75,7.5,15,30,60"`, "balance pass: looking at one run queue; now 15 ns", "5 points, 60 runs, about 1 s", "schedlab sweep -x c.rq_visit=3.75,7.5,15,30,60 &#39;"+strings.ReplaceAll(current, "&", "&amp;"))
		s.fire("select#axis-0-key", "change", typed("c.relax"))
		s.fire("input#axis-0-values", "input", typed("0..200/x"))
		says(s, s.html(), "“0..200/x”: want 2 to 64 points.", `class="axis wrong"`, `value="0..200/x"`)
		s.fire("input#axis-0-values", "input", typed("0..200/3"))
		if got, want := s.bar[len(s.bar)-1], current+"&numipi=200&runs=6#sweep?x=c.relax=0..200/3"; got != want {
			t.Errorf("the link is %s, want %s", got, want)
		}
		s.fire("form[aria-label=Sweep]", "submit", nil)
		html := s.done()
		says(s, html, `class="effect"`, "36 of 36 runs", "Sweep done: 36 of 36 runs have finished. sm-idle-v2: ", s.app.view.Sweep.Table.Verdict(1), "Run sweep", "Lines: improvement of the means")
		if pieces := strings.Split(html, `class="swept"`); len(pieces) != 2 || !strings.Contains(pieces[1], modelNow) {
			t.Error("the sweep does not say what it rests on")
		}
		s.fire("summary[data-fold=swept]", "click", nil)
		says(s, s.html(), `data-row="c.relax=100"`, strings.ReplaceAll(current, "&", "&amp;")+"&amp;numipi=200&amp;runs=6&amp;c.relax=100")

		s.fire("select#axis-1-key", "change", typed("wait"))
		says(s, s.html(), "What is shown was swept before: c.relax=0,100,200 of", "6 points, 72 runs")
		s.fire("form[aria-label=Sweep]", "submit", nil)
		says(s, s.done(), `class="map"`, "72 of 72 runs", "Cells: improvement of the means")
		s.fire("summary[data-fold=sweep]", "click", nil)
		if html := s.html(); strings.Contains(html, "axis-0-key") || s.bar[len(s.bar)-1] != current+"&numipi=200&runs=6" {
			t.Error("the sweep does not close")
		}
	})
	open(t, runner{trickle: time.Second}, small+"&arm=&arm=sm-idle-v1&arm=sm-idle-v2#sweep?x=c.relax=0,200&y=wait=0,1", func(s *screen) {
		s.fire("form[aria-label=Sweep]", "submit", nil)
		says(s, s.html(), "It begins when the answer is complete", "Cancel sweep", "The sweep waits for the answer.", `aria-busy="true"`)
		time.Sleep(40 * time.Second)
		synctest.Wait()
		says(s, s.html(), `class="map"`, " of 72 runs", ">Sweeping.<", ">sm-idle-v1</em>: <span", `data-view="2"`)
		before := s.app.memos.sweep.value
		s.fire("input[value=2]", "change", nil)
		if s.html(); s.app.memos.sweep.value == before {
			t.Error("the map is of the same arm")
		}
		s.fire("button.go", "click", nil)
		says(s, s.html(), "Cancelled with ", "Run sweep")
		s.app.State.RemoveArm(2)
		s.app.State.RemoveArm(1)
		says(s, s.html(), "a second arm", "What is shown was swept before")
	})
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{300 * time.Millisecond: "1 s", 99 * time.Second: "99 s", 101 * time.Second: "2 min", 2 * time.Hour: "120 min"} {
		if got := duration(d); got != want {
			t.Errorf("%v is about %s, want %s", d, got, want)
		}
	}
}

func TestFold(t *testing.T) {
	open(t, runner{}, "?numipi=200&runs=0", func(s *screen) {
		if html := s.html(); !strings.Contains(html, `class="fold open"`) {
			t.Error("on a phone the mistake in the link can't be seen")
		}
		s.app.State.Set("runs", "6")
		if html := s.html(); !strings.Contains(html, `class="fold open"`) {
			t.Error("the question closed while it was being put right")
		}
		s.fire("button.foldline", "click", nil)
		if html := s.html(); strings.Contains(html, `class="fold open"`) {
			t.Error("the question does not close")
		}
	})
	open(t, runner{}, small, func(s *screen) {
		s.fire("button.foldline", "click", nil)
		if html := s.html(); !strings.Contains(html, `class="fold open"`) || !strings.Contains(html, `aria-expanded="true"`) {
			t.Error("the question does not open")
		}
		s.fire("summary", "click", nil)
		if html := s.html(); !strings.Contains(html, "how many calls each sender makes; 0: as many as there is time for; 0 to 10000000") {
			t.Error("the parameters are not explained")
		}
	})
}

func TestSafely(t *testing.T) {
	did := false
	safely(func() { did = true; panic("on purpose") })
	if !did {
		t.Error("nothing was done")
	}
}
