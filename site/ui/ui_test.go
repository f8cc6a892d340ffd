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
	s.app.seen = seen{}
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

func TestAnswerIsShown(t *testing.T) {
	open(t, runner{}, small, func(s *screen) {
		html := s.done()
		for _, want := range []string{
			`data-status="done"`, "12 of 12 runs", "SM_IDLE v2", "ipistorm&#39;s elapsed time", "in this model",
			"<li>simulated</li><li>model 1</li><li>epyc-2x64</li><li>Linux 6.11</li><li>busy background</li>",
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
		if len(pieces) != 7 { // verdict, histogram, account, calls, statistics, published, counters
			t.Fatalf("%d parts with figures", len(pieces))
		}
		for i, piece := range pieces {
			text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(piece, " ")
			for _, want := range []string{"simulated", "model 1", "quiet background"} {
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
			for _, name := range []string{"params", "constants", "sources", "account", "counters", "meanings of counters", "arm 0"} {
				if !s.app.folds.Open(name, false) {
					s.app.folds.Toggle(name, false)
				}
			}
			html := s.html()
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
			if n := strings.Count(html, `aria-invalid="true"`); n != wrong {
				t.Errorf("%s: %d fields are marked as wrong, want %d", link, n, wrong)
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
		})
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
		if got, want := s.bar[len(s.bar)-1], "?v=1&model=1&m=xeon-240&numipi=200&wait=0&bg=quiet&runs=7"; got != want {
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
		if !strings.Contains(arms, "“sm-idle-v9”: want one of sm-idle-v1, sm-idle-v2") {
			t.Errorf("nothing is said of the unknown patch: %s", arms)
		}
	})
}

func TestPatches(t *testing.T) {
	open(t, runner{}, small, func(s *screen) {
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
		if got, want := s.bar[len(s.bar)-1], "?v=1&model=1&numipi=200&arm=&arm=sm-idle-v1&runs=6"; got != want {
			t.Errorf("the link is %s, want %s", got, want)
		}
		s.fire("button.add", "click", nil)
		s.fire("button[aria-label=Remove baseline]", "click", nil)
		if got, want := s.bar[len(s.bar)-1], "?v=1&model=1&numipi=200&arm=sm-idle-v1&arm=sm-idle-v2&runs=6"; got != want {
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
		says(s, s.done(), `data-status="done"`, "Done: 12 of 12 runs have finished. As simulated, model 1, busy background: SM_IDLE v2 ")
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
		s.app.Link = func(q string) string { return "https://lab.example/" + q }
		var got string
		ok := true
		s.app.Copy = func(text string, done func(bool)) { got = text; done(ok) }
		s.fire("button.copy", "click", nil)
		const want = "https://lab.example/?v=1&model=1&numipi=200&runs=6"
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
			if s.app.freshQuestion != question || s.app.fresh != answer {
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
		if html := s.html(); !strings.Contains(html, "how many calls the sender makes; 1 to 10000000") {
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
