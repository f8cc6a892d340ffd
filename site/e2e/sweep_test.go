package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"schedlab/core"
	"schedlab/core/scenario"
	"schedlab/core/sweep"
)

// TestSample: the visitor chooses of which sample to see the histogram. That is no matter of the link.
func TestSample(t *testing.T) {
	b := newTab(t, assets(t))
	b.open(small)
	b.wait(is("done"))
	const (
		words = `document.querySelector(".figure svg").getAttribute("aria-label")`
		row   = `document.querySelector("[data-table=statistics] .head:nth-last-child(8)")`
	)
	link := eval[string](b, "location.href")
	b.wait(words + `.includes("one call, from")`)
	before := eval[string](b, words)
	b.click("[data-view=delivery]")
	b.wait(words + `.includes("one delivery, from") && ` + row + `?.innerText.includes("one delivery")`)
	b.click(".figure summary")
	b.wait(`document.querySelector("[data-table=octaves] tbody tr")`)
	sum := eval[int](b, `[...document.querySelectorAll("[data-table=octaves] td:nth-child(2)")].reduce((n, e) => n + Number(e.innerText.replace(",", "")), 0)`)
	if sum != 4000 {
		t.Errorf("%d samples between powers of two, of 4000", sum)
	}
	b.press(kb.Tab)
	b.focus("[data-view=delivery] input")
	b.press(kb.ArrowLeft)
	b.wait(words + " == " + fmt.Sprintf("%q", before))
	if now := eval[string](b, "location.href"); now != link {
		t.Errorf("the address became %s", now)
	}
	// It stays with the next answer.
	b.click("[data-view=delivery]")
	b.write("#f-seed", "2")
	b.press(kb.Tab)
	b.wait(`location.search.includes("seed=2")`)
	b.finish(b.question())
	b.wait(words + `.includes("one delivery, from")`)
}

// sweeping computes what the page should say of a sweep.
func (b *tab) sweeping(link string, specs ...string) *sweep.Table {
	b.Helper()
	base, problems := scenario.Parse(link)
	var axes []sweep.Axis
	for _, spec := range specs {
		a, err := sweep.ParseAxis(base, spec)
		b.check(err)
		axes = append(axes, a)
	}
	s, more := sweep.New(base, axes)
	if problems = append(problems, more...); len(problems) > 0 {
		b.Fatal(problems)
	}
	table := sweep.NewTable(s)
	for i, p := range s.Points() {
		r, err := core.Run(p.Scenario, nil)
		b.check(err)
		table.Put(i, r)
	}
	return table
}

// says waits until the sweep is done and says what the command does.
func (b *tab) says(table *sweep.Table) {
	b.Helper()
	b.wait(swept("done"))
	for arm := 1; arm < len(table.Sweep.Base.Arms); arm++ {
		b.wait(fmt.Sprintf("document.querySelector('.swept').innerText.includes(%q)", table.Verdict(arm)))
	}
	if !eval[bool](b, `!!document.querySelector(".swept svg path")`) {
		b.Error("there is no picture")
	}
}

const sweepable = "?v=1&numipi=1000&bg=quiet&runs=6"

// TestSweep: by pointer and keyboard, with the command's result.
func TestSweep(t *testing.T) {
	b := newTab(t, assets(t))
	b.open(sweepable)
	b.wait(is("done"))
	b.click(".sweep summary")
	b.wait(`location.hash == "#sweep?x=c.rq_visit=3.75,7.5,15,30,60"`)
	b.choose("#axis-0-key", "c.relax")
	b.wait(`document.querySelector("#axis-0-values").value == "4.75,9.5,19,38,76" && location.hash.includes("relax")`)
	b.write("#axis-0-values", "0..400/5")
	b.wait(`location.hash == "#sweep?x=c.relax=0..400/5"`)
	n := eval[int](b, "history.length")
	b.click(".sweep .go")
	b.says(b.sweeping(sweepable, "c.relax=0..400/5"))
	if m := eval[int](b, "history.length"); m != n+1 {
		t.Errorf("the sweep made %d entries in the history", m-n)
	}
	if text := eval[string](b, `document.querySelector(".swept").innerText`); !strings.Contains(text, "gain turns to loss at c.relax ≈") {
		t.Errorf("it does not say where the sign changes:\n%s", text)
	}
	command := eval[string](b, `document.querySelector(".sweep code").innerText`)
	s, _ := scenario.Parse(sweepable)
	if want := "schedlab sweep -x c.relax=0..400/5 '" + s.Query() + "'"; command != want {
		t.Errorf("command %q, want %q", command, want)
	}

	// A second axis, all by keyboard.
	b.choose("#axis-1-key", "offset")
	b.wait(`document.querySelector("#axis-1-values")?.value == "2,4,8,16,32"`)
	b.press(kb.Tab)
	if id := eval[string](b, "document.activeElement.id"); id != "axis-1-values" {
		t.Fatalf("the Tab key leads to %q", id)
	}
	b.press(kb.End)
	for range len("2,4,8,16,32") {
		b.press(kb.Backspace)
	}
	b.press("8,16")
	b.press(kb.Enter)
	b.wait(`location.hash == "#sweep?x=c.relax=0..400/5&y=offset=8,16"`)
	b.says(b.sweeping(sweepable, "c.relax=0..400/5", "offset=8,16"))
	b.focus(".swept summary")
	b.press(kb.Enter)
	b.wait(`document.querySelectorAll("[data-table=effects] tbody tr").length == 10`)
	if status := eval[string](b, `document.querySelector(".sweep [role=status]").innerText`); !strings.HasPrefix(status, "Sweep done") {
		t.Errorf("announced: %q", status)
	}

	// Back, Forward and Reload bring the fields back, and run nothing by themselves.
	eval[any](b, "history.back(), null")
	b.wait(`location.hash == "#sweep?x=c.relax=0..400/5" && !document.querySelector("#axis-1-values") && document.querySelector(".swept .note")`)
	eval[any](b, "history.forward(), null")
	b.wait(`document.querySelector("#axis-1-values")?.value == "8,16" && !document.querySelector(".swept .note")`)
	link := eval[string](b, "location.href")
	eval[any](b, "location.reload(), null")
	b.wait(is("done") + ` && document.querySelector("#axis-1-values")?.value == "8,16"`)
	if eval[bool](b, `!!document.querySelector(".swept")`) {
		t.Error("the sweep of a link was run before it was asked for")
	}
	b.open(strings.TrimPrefix(link, b.base))
	b.wait(is("done") + ` && document.querySelector(".sweep").getBoundingClientRect().top < 900`) // what the link is about can be seen
	b.click(".sweep summary")
	b.wait(`location.hash == "" && !document.querySelector("#axis-0-key")`)
}

// TestSweepLong: a sweep waits for the answer, goes on by itself, can be cancelled by
// keyboard and stays as far as it came; a change of the question cancels it.
func TestSweepLong(t *testing.T) {
	b := newTab(t, assets(t))
	const words = `document.querySelector(".sweep .words")?.innerText`
	b.open("?numipi=10000000&runs=100&bg=quiet#sweep?x=c.rq_visit=1,2")
	b.wait(histogramThere)
	b.focus(".sweep .go")
	b.press(kb.Enter)
	b.wait(words + `.includes("begins when")`)
	b.click(".answer .cancel")
	b.wait(words + `.includes("0 of 400 runs")`)
	b.focus(".sweep .go")
	b.press(" ")
	b.wait(swept("cancelled") + " && " + words + `.includes("400 runs")`)

	b.open("?numipi=100000&runs=4&bg=quiet#sweep?x=c.rq_visit=1..60/60")
	b.wait(is("done"))
	b.focus(".sweep .go")
	b.press(kb.Enter)
	b.wait(`document.querySelector(".swept svg path")`) // a first point
	b.wait(swept("running"))
	b.press(kb.Enter) // the button still has the focus
	b.wait(swept("cancelled"))
	known := eval[string](b, words)
	b.press(kb.Enter)
	b.wait(swept("running") + ` && document.querySelector(".swept svg path")`)
	b.write("#f-seed", "3")
	b.press(kb.Tab)
	b.wait(`location.search.includes("seed=3") && location.hash.includes("1..60/60") && document.querySelector(".swept .note")`)
	b.finish(b.question())
	if status := eval[string](b, `document.querySelector(".sweep .progress").dataset.status`); status != "cancelled" {
		t.Errorf("after a change of the question the sweep, once %q, is %s", known, status)
	}
}

// TestSweepMistakes: what is wrong is said beside its field, and nothing is lost.
func TestSweepMistakes(t *testing.T) {
	b := newTab(t, assets(t))
	b.open(sweepable + "#sweep?x=c.rq_visit=0..many&y=nonsense=1")
	b.wait(is("done"))
	b.wait(`document.querySelector("[data-axis='0'] .problem")?.innerText.includes("number of points") && document.querySelector("[data-axis='1'] .problem")?.innerText.includes("nonsense")`)
	if !eval[bool](b, `document.querySelector(".sweep .go").disabled && document.querySelector("#axis-0-values").value == "0..many" && document.querySelector("#axis-1-key").value == "nonsense"`) {
		t.Error("a wrong sweep can be run, or is lost")
	}
	b.choose("#axis-1-key", "")
	b.write("#axis-0-values", "0..60/99")
	b.wait(`document.querySelector("[data-axis='0'] .problem")?.innerText.includes("2 to 64 points")`)
	b.write("#f-seed", "4") // of the rest of the page it is independent
	b.press(kb.Tab)
	b.wait(`location.search.includes("seed=4") && location.hash == "#sweep?x=c.rq_visit=0..60/99"`)
	b.finish(b.question())
	b.write("#axis-0-values", "0..60/3")
	b.wait(`!document.querySelector(".axis .problem") && !document.querySelector(".sweep .go").disabled`)
	b.click("[data-arm='0'] .remove")
	b.wait(`document.querySelector(".sweep form ul.problem")?.innerText.includes("a second arm")`)
}
