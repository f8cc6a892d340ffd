package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"schedlab/core"
	"schedlab/core/scenario"
)

// small is a question that takes no time to speak of.
var small = fmt.Sprintf("?v=1&model=%d&numipi=2000&bg=quiet&runs=2", core.Model)

// question returns what the address bar asks.
func (b *tab) question() scenario.Scenario {
	b.Helper()
	query := eval[string](b, "location.search")
	s, problems := scenario.Parse(query)
	if len(problems) > 0 {
		b.Errorf("the address bar has %s: %v", query, problems)
	}
	return s
}

// finish waits until the answer to s is there, and compares it with the command's.
func (b *tab) finish(s scenario.Scenario) {
	b.Helper()
	r, err := core.Run(s, nil)
	b.check(err)
	b.wait(fmt.Sprintf("%s && %s == %q", is("done"), digest, fmt.Sprintf("%016x", r.Digest())))
}

// click does it with the pointer, in the middle of the first element that selector finds, once it stays where it is:
// what was done before may still move it.
func (b *tab) click(selector string) {
	b.Helper()
	b.wait(fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		if (!e?.getClientRects().length) return false;
		e.scrollIntoView({block: "center", behavior: "instant"});
		const {x, y} = e.getBoundingClientRect(), was = self.stood;
		self.stood = {e, x, y};
		return was?.e === e && was.x === x && was.y === y;
	})()`, selector))
	at := eval[[2]float64](b, fmt.Sprintf(`(() => {
		const r = document.querySelector(%q).getBoundingClientRect();
		return [r.x + r.width / 2, r.y + r.height / 2];
	})()`, selector))
	b.do(chromedp.MouseClickXY(at[0], at[1]))
}

// focus puts the focus on an element.
func (b *tab) focus(selector string) {
	b.Helper()
	eval[any](b, fmt.Sprintf("document.querySelector(%q).focus(), null", selector))
}

// press presses keys one after the other.
func (b *tab) press(keys ...string) {
	b.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

// choose chooses an option of a select by keyboard.
func (b *tab) choose(selector, value string) {
	b.Helper()
	i := eval[int](b, fmt.Sprintf("[...document.querySelector(%q).options].findIndex((o) => o.value == %q)", selector, value))
	if i < 0 {
		b.Fatalf("%s has no option %s", selector, value)
	}
	b.focus(selector)
	b.press(kb.Home)
	for range i {
		b.press(kb.ArrowDown)
	}
}

// write replaces what stands in a text field, as people do: click, select all, type.
func (b *tab) write(selector, text string) {
	b.Helper()
	b.until(func() bool { // a page that moves under the pointer has the click elsewhere
		b.click(selector)
		return eval[bool](b, fmt.Sprintf("document.activeElement === document.querySelector(%q)", selector))
	})
	b.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.press(text)
}

// TestFirstResult: a result without a click, on a first visit.
func TestFirstResult(t *testing.T) {
	b := newTab(t, assets(t))
	b.open("")
	b.wait(histogramThere)
	b.finish(scenario.Default())
	text := eval[string](b, `document.querySelector("article.answer").innerText.replace(/\s/g, " ")`)
	for _, want := range []string{"simulated", fmt.Sprintf("model %d", core.Model), "busy", "SM_IDLE", "95 %"} {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(want)) {
			t.Errorf("the answer does not say %q:\n%s", want, text)
		}
	}
	if rows := eval[int](b, `document.querySelectorAll("[data-table=account] tbody tr").length`); rows < 5 {
		t.Errorf("%d rows in the time account", rows)
	}
	if said := eval[string](b, `document.querySelector("main.lab [role=status]").innerText`); !strings.Contains(said, "imulated") {
		t.Errorf("announced: %q", said)
	}
	if title := eval[string](b, "document.title"); !strings.Contains(title, "schedlab") {
		t.Errorf("title %q", title)
	}
}

// TestSameBits: what the page simulates is what the command does.
func TestSameBits(t *testing.T) {
	b := newTab(t, assets(t))
	for _, link := range []string{
		small,
		"?m=xeon-240&numipi=3000&runs=2&bg=pair",
		"?m=power9-smt8&numipi=1000&runs=2&bg=housekeeping&seed=4294967295",
		"?numipi=1000&runs=3&arm=sm-idle-v1&arm=&arm=sm-idle-v2.fast&bg=mixed",
		"?numipi=500&runs=1&check=1&bg=quiet&c.rq_visit=100.5&offset=128",
	} {
		s, problems := scenario.Parse(link)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		b.open(link)
		b.finish(s)
	}
}

// TestControls: each control by itself changes the question, the address and the answer.
func TestControls(t *testing.T) {
	type change struct {
		name string
		act  func(b *tab)
		want string // how the address bar's query ends up, but for v and model
	}
	field := func(key, text, want string) change {
		return change{"field " + key, func(b *tab) { b.write("#f-"+key, text); b.press(kb.Tab) }, want}
	}
	choice := func(key, value, want string) change {
		return change{"choice " + key, func(b *tab) { b.choose("#f-"+key, value) }, want}
	}
	changes := []change{
		choice("m", "xeon-240", "m=xeon-240&numipi=2000&bg=quiet&runs=2"),
		choice("bg", "pair", "numipi=2000&bg=pair&runs=2"),
		choice("k", "6.11", "numipi=2000&bg=quiet&runs=2"),
		choice("w", "ipistorm", "numipi=2000&bg=quiet&runs=2"),
		field("numipi", "1000", "numipi=1000&bg=quiet&runs=2"),
		field("offset", "128", "numipi=2000&offset=128&bg=quiet&runs=2"),
		field("mask", "7", "numipi=2000&mask=7&bg=quiet&runs=2"),
		field("timeout", "1", "numipi=2000&timeout=1&bg=quiet&runs=2"),
		field("delay", "5", "numipi=2000&delay=5&bg=quiet&runs=2"),
		field("cpulist", "16", "numipi=2000&cpulist=16&bg=quiet&runs=2"),
		field("runs", "3", "numipi=2000&bg=quiet&runs=3"),
		field("seed", "7", "numipi=2000&bg=quiet&runs=2&seed=7"),
		{"typing is enough", func(b *tab) { b.write("#f-seed", "8") }, "numipi=2000&bg=quiet&runs=2&seed=8"},
		{"tick wait off", func(b *tab) { b.click("#f-wait") }, "numipi=2000&wait=0&bg=quiet&runs=2"},
		{"tick modified off", func(b *tab) { b.click("#f-modified") }, "numipi=2000&modified=0&bg=quiet&runs=2"},
		{"tick by keyboard", func(b *tab) { b.focus("#f-wait"); b.press(" ") }, "numipi=2000&wait=0&bg=quiet&runs=2"},
		{"patch on", func(b *tab) {
			b.click("[data-arm='1'] .edit")
			b.click("[data-arm='1'] [data-patch=sm-idle-v2] input")
			b.click("[data-arm='1'] [data-patch=sm-idle-v1] input")
		},
			"numipi=2000&arm=&arm=sm-idle-v1&bg=quiet&runs=2"},
		{"patch off", func(b *tab) {
			b.click("[data-arm='0'] .remove")
			b.wait(`!document.querySelector("[data-arm='1']")`)
			b.click("[data-arm='0'] .edit")
			b.click("[data-arm='0'] [data-patch=sm-idle-v2] input")
		}, "numipi=2000&arm=&bg=quiet&runs=2"},
		{"part off, by keyboard", func(b *tab) {
			b.focus("[data-arm='1'] .edit")
			b.press(kb.Enter)
			b.wait(`document.querySelector("[data-part='sm-idle-v2.exact'] input")`)
			b.focus("[data-part='sm-idle-v2.exact'] input")
			b.press(" ")
		}, "numipi=2000&arm=&arm=sm-idle-v2.fast&bg=quiet&runs=2"},
		{"remove an arm", func(b *tab) { b.click("[data-arm='0'] .remove") }, "numipi=2000&arm=sm-idle-v2&bg=quiet&runs=2"},
		{"constant", func(b *tab) {
			b.click(".constants summary")
			b.write("#f-c\\.rq_visit", "12.5")
			b.press(kb.Enter)
		}, "numipi=2000&bg=quiet&runs=2&c.rq_visit=12.5"},
		{"idle state on", func(b *tab) { b.click("[data-idle=C2] input") }, "numipi=2000&idle=POLL,C1,C2&bg=quiet&runs=2"},
		{"idle state off, by keyboard", func(b *tab) { b.focus("[data-idle=POLL] input"); b.press(" ") }, "numipi=2000&idle=C1&bg=quiet&runs=2"},
		{"check", func(b *tab) { b.click(".constants summary"); b.click("#f-check") }, "numipi=2000&bg=quiet&runs=2&check=1"},
	}
	b := newTab(t, assets(t))
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			b.T = t
			b.open(small)
			b.wait(is("done"))
			c.act(b)
			want, problems := scenario.Parse("?" + c.want)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			b.wait(fmt.Sprintf("location.search == %q", want.Query()))
			b.finish(want)
		})
	}
	b.T = t

	// Another arm, whichever the page proposes, and a published run.
	b.open(small)
	b.wait(is("done"))
	b.click(".arms .add")
	b.wait(`document.querySelector("[data-arm='2']")`)
	if s := b.question(); len(s.Arms) != 3 {
		t.Errorf("arms %q after one was added", s.Arms)
	}
	b.wait(`document.querySelector("[data-arm='2'] .patches") && document.querySelectorAll(".patches").length == 1`)
	presets := eval[[]string](b, `[...document.querySelectorAll("[data-preset]")].map((e) => e.dataset.preset)`)
	if len(presets) < 2 {
		t.Errorf("presets %q", presets)
	}
	for _, query := range presets {
		b.click(fmt.Sprintf("[data-preset=%q]", query))
		b.wait(fmt.Sprintf("location.search == %q && document.querySelector('[data-preset=%q][aria-pressed=true]')", query, query))
	}
	b.wait(histogramThere)
}

// TestPatchesExclude: what can't go together can't be ticked, and says why.
func TestPatchesExclude(t *testing.T) {
	b := newTab(t, assets(t))
	b.open(small)
	b.wait(is("done"))
	b.click("[data-arm='1'] .edit")
	const v1 = "[data-arm='1'] [data-patch=sm-idle-v1]"
	b.wait(fmt.Sprintf("document.querySelector(%q)", v1))
	if !eval[bool](b, fmt.Sprintf("document.querySelector(%q).disabled", v1+" input")) {
		t.Error("sm-idle-v1 can be ticked beside sm-idle-v2")
	}
	if reason := eval[string](b, fmt.Sprintf("document.querySelector(%q).innerText", v1+" .hint")); !strings.Contains(reason, "v2") {
		t.Errorf("reason %q", reason)
	}
	b.click("[data-arm='1'] [data-patch=sm-idle-v2] input")
	b.wait(fmt.Sprintf("!document.querySelector(%q).disabled", v1+" input"))
}

// TestCancel: a run that takes long can be cancelled, stays as far as it got, and can be
// run again.
func TestCancel(t *testing.T) {
	b := newTab(t, assets(t))
	b.open("?numipi=10000000&runs=100&bg=quiet")
	b.wait(histogramThere)
	b.click(".progress .cancel")
	b.wait(is("cancelled"))
	if !eval[bool](b, histogramThere+" != null") {
		t.Error("what was there is gone")
	}
	words := `document.querySelector(".progress .words").innerText`
	before := eval[string](b, words)
	if !strings.Contains(before, "Cancelled") {
		t.Errorf("it says %q", before)
	}
	b.press(" ") // the button, which now runs it again, has the focus
	b.wait(is("running"))
	b.wait(words + " != " + fmt.Sprintf("%q", before))
	b.write("#f-numipi", "1000")
	b.press(kb.Tab)
	b.write("#f-runs", "2")
	b.press(kb.Tab)
	s, _ := scenario.Parse("?numipi=1000&runs=2&bg=quiet")
	b.finish(s)
}

// TestHistory: Back, Forward and Reload bring back question and answer.
func TestHistory(t *testing.T) {
	b := newTab(t, assets(t))
	b.open(small)
	b.wait(is("done"))
	first := b.question()
	b.write("#f-runs", "3")
	b.press(kb.Tab)
	b.wait(`location.search.includes("runs=3")`)
	second := b.question()
	b.finish(second)
	b.focus("#f-bg")
	b.press("p") // for Pair
	b.wait(`location.search.includes("bg=pair")`)
	third := b.question()
	b.finish(third)

	field := func(key, want string) {
		t.Helper()
		if v := eval[string](b, fmt.Sprintf("document.querySelector(%q).value", "#f-"+key)); v != want {
			t.Errorf("%s is %q, want %q", key, v, want)
		}
	}
	go2 := func(to string, s scenario.Scenario) {
		t.Helper()
		eval[any](b, "history."+to+"(), null")
		b.wait(fmt.Sprintf("location.search == %q", s.Query()))
		b.finish(s)
		field("runs", fmt.Sprint(s.Runs))
		field("bg", s.Background)
	}
	go2("back", second)
	go2("back", first)
	go2("forward", second)
	b.do(chromedp.Reload())
	b.finish(second)
	field("runs", "3")
	go2("forward", third)

	// What the arrow keys pass makes no entries.
	b.open(small)
	b.wait(is("done"))
	n := eval[int](b, "history.length")
	b.choose("#f-bg", "mixed")
	b.wait(`location.search.includes("bg=mixed")`)
	b.finish(b.question())
	if m := eval[int](b, "history.length"); m != n+1 {
		t.Errorf("a choice by the arrow keys made %d entries", m-n)
	}
	go2("back", first)
}

// TestBadLinks: what is wrong is said beside its field, with the value and
// what is allowed, and the nearest valid question is answered.
func TestBadLinks(t *testing.T) {
	b := newTab(t, assets(t))
	for _, c := range []struct {
		link, where string
		want        []string
	}{
		{"?runs=0&numipi=1000&bg=quiet", "[data-key=runs] .problem", []string{"0", "1 to 1000"}},
		{"?m=cray-1&numipi=1000&bg=quiet&runs=2", "[data-key=m] .problem", []string{"cray-1", "epyc-2x64"}},
		{"?bg=quite&numipi=1000&runs=2", "[data-key=bg] .problem", []string{"quite", "quiet"}},
		{"?k=2.4&numipi=1000&bg=quiet&runs=2", "[data-key=k] .problem", []string{"2.4", "6.11"}},
		{"?w=doom&runs=1", "[data-key=w] .problem", []string{"doom", "ipistorm"}},
		{"?metric=speed&numipi=1000&bg=quiet&runs=2", "[data-key=metric] .problem", []string{"speed", "elapsed"}},
		{"?numipi=many&bg=quiet&runs=1", "[data-key=numipi] .problem", []string{"many", "whole number"}},
		{"?cpulist=9999&numipi=1000&bg=quiet&runs=2", "[data-key=cpulist] .problem", []string{"9999", "0 to 255"}},
		{"?wait=2&numipi=1000&bg=quiet&runs=2", "[data-key=wait] .problem", []string{"“2”", "0 to 1"}},
		{"?seed=-1&numipi=1000&bg=quiet&runs=2", "[data-key=seed] .problem", []string{"-1", "4294967295"}},
		{"?c.rq_visit=x&numipi=1000&bg=quiet&runs=2", "form.ask", []string{"rq_visit", "nanoseconds"}},
		{"?check=yes&numipi=1000&bg=quiet&runs=2", "form.ask", []string{"yes", "0 to 1"}},
		{"?arm=&arm=sm-idle-v9&numipi=1000&bg=quiet&runs=2", "form.ask", []string{"sm-idle-v9", "sm-idle-v1"}},
		{"?arm=sm-idle-v1,sm-idle-v2&numipi=1000&bg=quiet&runs=2", "form.ask", []string{"exclude each other"}},
		{"?frobnicate=1&numipi=1000&bg=quiet&runs=2", ".problems", []string{"frobnicate"}},
		{"?v=99&numipi=1000&bg=quiet&runs=2", ".problems", []string{"99"}},
		{"?model=1999&numipi=1000&bg=quiet&runs=2", ".problems", []string{"1999"}},
		{"?runs=2&runs=3&numipi=1000&bg=quiet", "form.ask", []string{"3", "only once"}},
		{"?seed=%4&numipi=1000&bg=quiet&runs=2", "form.ask", []string{"hexadecimal"}},
	} {
		t.Run(c.link, func(t *testing.T) {
			b.T = t
			b.open(c.link)
			b.wait(live)
			b.wait(fmt.Sprintf("document.querySelector(%q)", c.where))
			text := eval[string](b, fmt.Sprintf("document.querySelector(%q).innerText", c.where))
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s says %q, without %q", c.where, text, want)
				}
			}
			s, _ := scenario.Parse(c.link)
			if s.Runs <= 3 {
				b.finish(s)
			} else {
				b.wait(histogramThere)
			}
		})
	}
	b.T = t

	// Put right by hand, the message goes away.
	b.open("?runs=0&numipi=1000&bg=quiet")
	b.wait(`document.querySelector("[data-key=runs] .problem")`)
	b.write("#f-runs", "2")
	b.press(kb.Tab)
	b.wait(`!document.querySelector("[data-key=runs] .problem")`)
	s, _ := scenario.Parse("?runs=2&numipi=1000&bg=quiet")
	b.finish(s)
	b.write("#f-runs", "many")
	b.press(kb.Tab)
	b.wait(`document.querySelector("[data-key=runs] .problem")?.innerText.includes("many")`)
}
