package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"schedlab/core"
)

// screen makes the tab as wide and as dark as that.
func (b *tab) screen(width int, dark bool) {
	b.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.do(chromedp.EmulateViewport(int64(width), 900), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	}))
}

var screens = []struct {
	width int
	dark  bool
}{{1440, false}, {1440, true}, {1024, false}, {390, false}, {390, true}}

// TestScreens: on any screen nothing is cut off, and text can be read.
func TestScreens(t *testing.T) {
	b := newTab(t, assets(t))
	for _, s := range screens {
		b.screen(s.width, s.dark)
		b.open("?v=1&numipi=2000&bg=quiet&runs=4&arm=&arm=sm-idle-v2&arm=always-ipi&idle=POLL,C1,C2#sweep?x=c.rq_visit=0..120/4&y=offset=8,16")
		b.wait(is("done"))
		if s.width < 500 {
			b.click(".foldline")
		}
		b.click(".constants summary")
		b.click(".sweep .go")
		b.wait(swept("done"))
		b.legible(s.width, s.dark)
		b.open("#evidence")
		b.wait(evidenceThere)
		b.click("summary[data-fold^='time of a search']")
		b.try("select-idle-core-power9", "run")
		b.legible(s.width, s.dark)
	}
}

// legible looks whether anything is cut off or hard to read.
func (b *tab) legible(width int, dark bool) {
	t := b.T
	t.Helper()
	name := fmt.Sprintf("%s, %d px, dark is %v", eval[string](b, "document.title"), width, dark)
	if w := eval[int](b, "document.documentElement.scrollWidth"); w > width {
		t.Errorf("%s: the page is %d px wide: %v", name, w, eval[[]string](b, fmt.Sprintf(
			`[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > %d).slice(0, 5).map((e) => e.outerHTML.slice(0, 80))`, width)))
	}
	light := eval[float64](b, `(() => { const c = getComputedStyle(document.body).backgroundColor.match(/[\d.]+/g).map(Number); return (c[0] + c[1] + c[2]) / 3 })()`)
	if (light < 128) != dark {
		t.Errorf("%s: the background's lightness is %v of 255", name, light)
	}
	if eval[bool](b, `document.body.innerText.includes("\ufffd")`) {
		t.Errorf("%s: there are broken characters", name)
	}
	tiny := eval[[]string](b, `[...document.querySelectorAll("body *")].filter((e) => e.getClientRects().length > 0 &&
		[...e.childNodes].some((n) => n.nodeType == 3 && n.data.trim()) && parseFloat(getComputedStyle(e).fontSize) * (e.ownerSVGElement?.getScreenCTM().a ?? 1) < 10.95).slice(0, 5).map((e) => e.outerHTML.slice(0, 80))`)
	if len(tiny) > 0 {
		t.Errorf("%s: text below 11 px: %q", name, tiny)
	}
}

// TestNarrow: on a phone the question is one line, which opens.
func TestNarrow(t *testing.T) {
	b := newTab(t, assets(t))
	b.screen(390, false)
	b.open(small)
	b.wait(is("done"))
	const shown = `document.querySelector("#f-runs")?.getClientRects().length > 0`
	if eval[bool](b, shown) {
		t.Error("the question is open at first")
	}
	b.click(".foldline")
	b.wait(shown)
	b.write("#f-runs", "3")
	b.press(kb.Tab)
	b.wait(`location.search.includes("runs=3")`)
	b.finish(b.question())
	b.click(".foldline")
	b.wait("!(" + shown + ")")
	b.open("?runs=0&numipi=1000&bg=quiet") // a mistake is to be seen at once
	b.wait(shown)
}

// TestKeyboard: the Tab key comes to every control, and one sees where it is.
func TestKeyboard(t *testing.T) {
	b := newTab(t, assets(t))
	b.screen(1440, false)
	b.open(small)
	b.wait(is("done"))
	const controls = `[...document.querySelectorAll("a[href], button, input:not([type=radio]:not(:checked)), select, summary, [tabindex='0']")].filter((e) => !e.disabled && e.getClientRects().length > 0)`
	n := eval[int](b, `(self.controls = `+controls+`).length`)
	if n < 15 {
		t.Errorf("%d controls", n)
	}
	reached := map[int]bool{}
	for range n + 5 {
		b.press(kb.Tab)
		i := eval[int](b, "self.controls.indexOf(document.activeElement)")
		if i < 0 {
			continue // the browser's own
		}
		reached[i] = true
		if !eval[bool](b, `(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle != "none" && parseFloat(s.outlineWidth) > 0 || s.boxShadow != "none" })()`) {
			t.Errorf("no ring around %s", eval[string](b, "document.activeElement.outerHTML.slice(0, 100)"))
		}
	}
	for i := range n {
		if !reached[i] {
			t.Errorf("the Tab key does not come to %s", eval[string](b, fmt.Sprintf("self.controls[%d].outerHTML.slice(0, 100)", i)))
		}
	}
}

// TestCopyLink: the button puts the whole address of the question on the clipboard.
func TestCopyLink(t *testing.T) {
	b := newTab(t, assets(t))
	b.allowClipboard()
	b.open(small)
	b.wait(is("done"))
	b.click("button.copy")
	b.wait(`document.querySelector("button.copy").innerText.includes("Copied")`)
	if text, want := b.clipboard(), b.base+strings.TrimPrefix(b.question().Query(), "/"); text != want {
		t.Errorf("copied %q, want %q", text, want)
	}
	b.wait(`document.querySelector("button.copy").innerText.includes("Copy link")`) // and can be pressed again
}

// TestAccessibility: axe-core finds nothing.
func TestAccessibility(t *testing.T) {
	need(t)
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatal("axe-core is not there: npm ci, in site/e2e, gets it")
	}
	b := newTab(t, assets(t))
	audit := func(state string) {
		t.Helper()
		// Chromium lets the driver run what the page's policy forbids.
		b.check(chromedp.Do(b.ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := chromedp.Evaluate[bool]("(() => {"+string(axe)+"})(), true")(ctx, t)
			return err
		})))
		found, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]string](
			`axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 120) + " " + n.failureSummary).join(" | ")))`,
			chromedp.EvalAwaitPromise))
		b.check(err)
		for _, f := range found {
			t.Errorf("%s: %s", state, f)
		}
	}
	for _, s := range screens {
		b.screen(s.width, s.dark)
		where := fmt.Sprintf("%d px, dark is %v", s.width, s.dark)
		b.open(small)
		b.wait(is("done"))
		if s.width < 500 {
			audit(where + ", folded")
			b.click(".foldline")
		}
		b.click(".constants summary")
		b.click("details.counters summary")
		b.wait(`document.querySelector("[data-table=counters]")`)
		audit(where)
		b.before(answerShort)
		b.do(chromedp.Reload())
		b.wait(is("done"))
		b.click("button.shorten")
		b.wait(`document.querySelector("#link")`)
		b.offer()
		audit(where + ", short link and newer version")
		b.legible(s.width, s.dark)
		b.open("#evidence")
		b.wait(evidenceThere)
		b.click("summary[data-fold^='time of a search']")
		b.click("summary[data-fold=verdicts]")
		b.try("select-idle-core-power9", "run")
		audit(where + ", evidence")
	}
	b.open("?runs=0&m=cray-1&arm=x&frobnicate=1&numipi=1000&bg=quiet")
	b.wait(live)
	audit("a bad link")
	b.open("?numipi=10000000&runs=100&bg=quiet")
	b.wait(histogramThere)
	b.click(".progress .cancel")
	b.wait(is("cancelled"))
	audit("cancelled")
	b.screen(1440, false)
	b.open("?numipi=1000&runs=2&bg=quiet&arm=&arm=sm-idle-v1&arm=sm-idle-v2&arm=always-ipi&arm=notify-ipi")
	b.wait(is("done"))
	b.click("[data-arm='1'] .edit")
	b.click("[data-view=delivery]")
	b.click(".figure summary")
	b.wait(`document.querySelector("[data-table=octaves]")`)
	audit("five arms")
	for _, sweep := range []string{"x=c.rq_visit=0..120/4", "x=c.rq_visit=0..120/4&y=offset=8,16", "x=c.rq_visit=many&y=nonsense"} {
		b.open("?numipi=1000&runs=4&bg=quiet&arm=&arm=sm-idle-v2&arm=always-ipi#sweep?" + sweep)
		b.wait(is("done"))
		if !strings.Contains(sweep, "many") {
			b.click(".sweep .go")
			b.wait(swept("done"))
			b.click(".swept summary")
			b.wait(`document.querySelector("[data-table=effects]")`)
		}
		audit("sweep " + sweep)
	}
	b.open("catalogue.html")
	audit("catalogue")
	b.before(neverLoaded)
	b.open(small)
	audit("loading")
}

// offer has the page offer a newer version, and stay with that whatever it finds.
func (b *tab) offer() {
	b.Helper()
	eval[any](b, fmt.Sprintf(`Object.defineProperty(offline, "newer", {get: () => ({version: "0123456789ab", model: %d}), set() {}}), offline.changed(), null`, core.Model+1))
	b.wait(offered)
}

// answerShort answers the wish for a short link in the host's place.
const answerShort = `{
	const real = fetch;
	self.fetch = (to, options) => to !== "api/links" ? real(to, options) :
		Promise.resolve(new Response('{"id":"k3Jx9aQ2","path":"s/k3Jx9aQ2"}', {headers: {"Content-Type": "application/json"}}));
}`

// neverLoaded keeps the page as it is until the program has come.
const neverLoaded = `WebAssembly.compileStreaming = () => new Promise(() => {})`

// TestScreenshots writes pictures of the page in its states, to be looked at, into the
// folder that SCREENSHOTS names.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		t.Skip("SCREENSHOTS names no folder")
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	const long = "?numipi=10000000&runs=100"
	const family = "?m=xeon-240&arm=&arm=always-ipi&arm=skip-newidle&arm=notify-ipi&arm=sm-idle-v2"
	states := []struct {
		name, query string
		reach       func(b *tab)
	}{
		{"loading", "", func(b *tab) {}},
		{"trouble", "", func(b *tab) { b.wait(trouble) }},
		{"empty", long + "&m=xeon-240", func(b *tab) { b.wait(live) }},
		{"running", "", func(b *tab) { b.wait(histogramThere) }},
		{"done", "", func(b *tab) { b.wait(is("done")) }},
		{"xeon", "?m=xeon-240", func(b *tab) { b.wait(is("done")) }},
		{"three-arms", "?arm=&arm=sm-idle-v1&arm=sm-idle-v2&numipi=10000", func(b *tab) { b.wait(is("done")) }},
		{"cancelled", long, func(b *tab) {
			b.wait(histogramThere)
			b.click(".progress .cancel")
			b.wait(is("cancelled"))
		}},
		{"family", family + "&numipi=10000", func(b *tab) { b.wait(is("done")) }},
		{"changed", "?numipi=2000&bg=quiet&idle=POLL,C1,C2&c.rq_visit=50&c.relax=40&runs=6", func(b *tab) { b.wait(is("done")) }},
		{"fault", "?rt=1&w=spinlock&loops=200&runs=6&arm=&arm=sm-idle-v1&arm=sm-idle-v2", func(b *tab) { b.wait(is("done")) }},
		{"hackbench", "?m=xeon-e5-2699v3&k=5.18&w=hackbench&groups=48&loops=40&pipe=1&scale=10000&arm=&arm=irq-nosync&bg=housekeeping&runs=6", func(b *tab) { b.wait(is("done")) }},
		{"pgbench", "?m=xeon-e5-2699v3&k=5.18&w=pgbench&arm=&arm=irq-nosync&bg=housekeeping&runs=6", func(b *tab) { b.wait(is("done")) }},
		{"power9", "?m=power9-smt8&k=5.4&w=schbench&version=old&message-threads=2&threads=40&runtime=3000&metric=idlecore&arm=&arm=select-idle-core&bg=housekeeping&runs=6", func(b *tab) {
			b.wait(is("done"))
			b.click("[data-view=select_idle_core]")
		}},
		{"scheduler", "?m=laptop&k=6.12&scx=lavd&w=messaging&group=4&nr_loops=5&thread=1&metric=clock_reads&arm=&arm=scx-now-v1&bg=housekeeping&runs=6", func(b *tab) {
			b.wait(is("done"))
			if eval[bool](b, `document.querySelector(".foldline")?.getClientRects().length > 0`) {
				b.click(".foldline")
			}
			b.click("details.counters summary")
			b.click("[data-arm='1'] .edit")
		}},
		{"delivery", small, func(b *tab) {
			b.wait(is("done"))
			b.click("[data-view=delivery]")
			b.click(".figure summary")
			b.wait(`document.querySelector("[data-table=octaves]")`)
		}},
		{"sweep", "?numipi=2000&bg=quiet&runs=6&arm=&arm=sm-idle-v2&arm=always-ipi#sweep?x=c.relax=0..400/9", func(b *tab) {
			b.wait(is("done"))
			b.click(".sweep .go")
			b.wait(swept("done"))
			b.click(".swept summary")
		}},
		{"map", "?numipi=1000&bg=quiet&runs=6&arm=&arm=sm-idle-v2&arm=always-ipi#sweep?x=c.relax=0..400/9&y=c.idle_enter=0..200/6", func(b *tab) {
			b.wait(is("done"))
			b.click(".sweep .go")
			b.wait(swept("done"))
		}},
		{"bad-sweep", small + "#sweep?x=c.rq_visit=0..many&y=nonsense=1", func(b *tab) { b.wait(is("done")) }},
		{"evidence", "#evidence", func(b *tab) { b.wait(evidenceThere) }},
		{"evidence-judged", "?m=xeon-240#evidence", func(b *tab) {
			for _, series := range []string{"time of a search", "ipistorm on 240 CPUs", "Intel's test robot: schbench"} {
				b.click(fmt.Sprintf("summary[data-fold^=%q]", series))
			}
			b.try("select-idle-core-power9", "run")
			b.try("sm-idle-xeon-240", "run")
		}},
		{"catalogue", "catalogue.html", func(b *tab) {}},
		{"short-link", small, func(b *tab) {
			b.wait(is("done"))
			b.click("button.shorten")
			b.wait(`document.querySelector("#link")`)
		}},
		{"no-short-link", small + "&seed=2", func(b *tab) {
			b.wait(is("done"))
			b.click("button.shorten")
			b.wait(shareText)
			b.forgive("503")
		}},
		{"update", small, func(b *tab) {
			b.wait(is("done"))
			b.wait(kept)
			b.offer()
		}},
		{"update-later", small, func(b *tab) {
			b.wait(is("done"))
			b.wait(kept)
			b.offer()
			b.click(".update .later")
			b.wait(`document.querySelector("footer .version button")`)
			eval[any](b, "scrollTo(0, 1e6), null")
		}},
		{"bad-link", "?runs=0&m=cray-1&arm=&arm=x&frobnicate=1&numipi=10000", func(b *tab) { b.wait(is("done")) }},
		{"open", small, func(b *tab) {
			b.wait(is("done"))
			if eval[bool](b, `document.querySelector(".foldline")?.getClientRects().length > 0`) {
				b.click(".foldline")
			}
			b.click(".constants summary")
			b.click("details.counters summary")
			b.click("[data-arm='1'] .edit")
		}},
	}
	for _, s := range screens {
		for _, state := range states {
			scheme := "light"
			if s.dark {
				scheme = "dark"
			}
			name := fmt.Sprintf("%s-%d-%s.png", state.name, s.width, scheme)
			t.Run(name, func(t *testing.T) { // so that its tab is closed after it
				b := newTab(t, assets(t))
				b.screen(s.width, s.dark)
				switch state.name {
				case "loading":
					b.before(neverLoaded)
				case "short-link":
					b.before(answerShort)
				case "trouble":
					b.before("delete self.WebAssembly")
				}
				b.open(state.query)
				state.reach(b)
				picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
				b.check(err)
				b.check(os.WriteFile(filepath.Join(dir, name), picture, 0o666))
			})
		}
	}
}
