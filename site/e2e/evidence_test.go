package e2e

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"schedlab/core"
	"schedlab/core/evidence"
	"schedlab/core/report"
)

const evidenceThere = `document.querySelector("#app[aria-busy=false] #evidence .sums tbody tr")`

// caseOf is a table of the evidence, as a selector.
func caseOf(key string) string { return fmt.Sprintf(`[data-case='%s']`, key) }

// try runs a table by one of its buttons and waits for its verdicts.
func (b *tab) try(key, button string) {
	b.Helper()
	b.wait(`!document.querySelector(".case:empty")`) // more tables would move it
	b.click(caseOf(key) + " ." + button)
	b.wait(judged(key))
}

// judged is true when a table has been.
func judged(key string) string {
	return fmt.Sprintf(`document.querySelector("%s [data-doing=nothing] .verdict-mark:not(:empty)")`, caseOf(key))
}

// verdicts compares what the page says of a table with what the command prints.
func (b *tab) verdicts(key string) {
	b.Helper()
	table := evidence.Matching(key)[0]
	trials := table.Trials(true)
	var results []*core.Result
	for _, t := range trials {
		r, err := core.Run(t.Scenario, nil)
		b.check(err)
		results = append(results, r)
	}
	var want struct {
		Findings []struct {
			ID, Kind, Verdict, Note string
			Simulated               *float64
		}
	}
	b.check(json.Unmarshal([]byte(report.EvidenceJSON(evidence.Judge(table, trials, results), time.Now())), &want))
	if len(want.Findings) < 3 {
		b.Fatalf("%d findings", len(want.Findings))
	}
	for _, f := range want.Findings {
		row := fmt.Sprintf("document.querySelector(\"[data-figure='%s']\")", f.ID)
		got := eval[map[string]string](b, fmt.Sprintf(`Object.fromEntries([...%s.querySelectorAll("td[data-label]")].map((e) => [e.dataset.label, e.innerText]).concat([["note", %[1]s.querySelector(".remark span")?.innerText ?? ""]]))`, row))
		if got["kind"] != f.Kind || got["verdict"] != f.Verdict || strings.TrimSpace(got["note"]) != f.Note {
			b.Errorf("%s: the page says %q, the command %+v", f.ID, got, f)
		}
		var shown float64
		unit := ""
		fmt.Sscanf(strings.NewReplacer("−", "-", ",", "").Replace(got["simulated"]), "%g %s", &shown, &unit)
		if factor, ok := map[string]float64{"µs": 1e3, "ms": 1e6, "s": 1e9}[unit]; ok {
			shown *= factor
		}
		if f.Simulated == nil || got["simulated"] == "" || math.Abs(shown-*f.Simulated) > max(0.006*math.Abs(shown), 0.06) {
			b.Errorf("%s: the page has %s, the command %v", f.ID, got["simulated"], *f.Simulated)
		}
	}
}

// TestEvidence: by pointer, from the simulator to a verdict that is the command's, and back.
func TestEvidence(t *testing.T) {
	b := newTab(t, assets(t))
	const key = "select-idle-core-power9"
	b.open(small)
	b.wait(is("done"))
	before := eval[string](b, digest)
	b.click("nav a[href='#evidence']")
	b.wait(evidenceThere + ` && location.hash == "#evidence" && document.title.startsWith("Evidence") && !document.querySelector("main.lab").getClientRects().length`)
	b.click("summary[data-fold^='time of a search']")
	b.wait(fmt.Sprintf(`document.querySelectorAll("%s tbody").length == 9`, caseOf(key)))
	if text := eval[string](b, fmt.Sprintf(`[...document.querySelectorAll("%s td:is(.sim, [data-label^=range], [data-label=off], [data-label=verdict])")].map((e) => e.innerText).join("")`, caseOf(key))); text != "" {
		t.Errorf("before anything was run the page says %q", text)
	}
	if text := eval[string](b, `[...document.querySelectorAll(".sums td.n:not([data-label=judged])")].map((e) => e.innerText).join("")`); strings.Trim(text, "0") != "" {
		t.Errorf("sums of nothing: %q", text)
	}
	b.try(key, "run")
	b.verdicts(key)
	if text := eval[string](b, `document.querySelector("[data-sum='select_idle_core early exit, prediction'] [data-label=judged]").innerText`); text != "7 of 7" {
		t.Errorf("judged %q", text)
	}
	b.wait(`document.querySelector("#evidence [role=status]").innerText == "Done: 1 table judged."`)

	// The scenario opens in the simulator, and Back leads to what has been found.
	b.click(caseOf(key) + " .acts a")
	b.wait(`location.search.includes("power9") && location.hash == "" && document.querySelector("main.lab").getClientRects().length > 0`)
	b.wait(`document.activeElement == document.querySelector("main.lab")`)
	eval[any](b, "history.back(), null")
	b.wait(judged(key) + ` && document.querySelector("#evidence").getClientRects().length > 0`)
	eval[any](b, "history.back(), null")
	b.wait(fmt.Sprintf("%s && %s == %q", is("done"), digest, before))
}

// TestEvidenceByKeyboard: the same without a pointer, and what is at work can be cancelled.
func TestEvidenceByKeyboard(t *testing.T) {
	b := newTab(t, assets(t))
	const first, second = "irq-nosync-hackbench-process-pipes-1", "irq-nosync-hackbench-process-pipes-4"
	b.open(small)
	b.wait(is("done"))
	b.focus("nav a[href='#evidence']")
	b.press(kb.Enter)
	b.wait(evidenceThere)
	b.wait(`document.activeElement.id == "evidence"`)
	b.focus("summary[data-fold^='hackbench, process, pipes']")
	b.press(kb.Enter)
	b.wait(fmt.Sprintf(`document.querySelectorAll(".case .figures").length == 15 && document.querySelector("%s .run")`, caseOf(second)))
	b.focus(caseOf(first) + " .run")
	b.press(kb.Enter)
	b.wait(judged(first))
	b.verdicts(first)
	b.press(kb.Tab) // from the button, which has kept the focus, to the next table
	if !eval[bool](b, fmt.Sprintf(`document.querySelector("%s").contains(document.activeElement)`, caseOf(second))) {
		t.Errorf("the focus is at %s", eval[string](b, "document.activeElement.outerHTML.slice(0, 100)"))
	}
	b.focus("#evidence .go")
	b.press(kb.Enter)
	b.wait(`document.querySelector("#evidence .progress[data-status=running] .words").innerText.includes("of ` + strconv.Itoa(len(evidence.Keys())) + ` tables")`)
	b.press(kb.Enter)
	b.wait(`document.querySelector("#evidence .progress[data-status=cancelled]")`)
	if !eval[bool](b, judged(first)+" != null") {
		t.Error("what was judged is gone")
	}
	b.do(chromedp.Reload()) // what was found was of that visit
	b.wait(evidenceThere + ` && location.hash == "#evidence" && document.querySelector("#evidence .progress[data-status=none]")`)
}

// TestEvidenceAll runs all tables in one tab to their end, and prints how long that takes. What the
// renderer holds meanwhile is to be seen from outside: what browsers tell of it leaves out WebAssembly.
func TestEvidenceAll(t *testing.T) {
	if os.Getenv("SCHEDLAB_ALL") == "" {
		t.Skip("SCHEDLAB_ALL is not set")
	}
	b := newTabFor(t, assets(t), 3*time.Hour)
	b.open(small + "#evidence")
	b.wait(evidenceThere)
	began := time.Now()
	b.click("#evidence .go")
	status, words := "", ""
	for status = "running"; status == "running"; time.Sleep(30 * time.Second) {
		status = eval[string](b, `document.querySelector("#evidence .progress").dataset.status`)
		words = eval[string](b, `document.querySelector("#evidence .progress .words").innerText`)
		t.Logf("%4.0f s: %s", time.Since(began).Seconds(), words)
	}
	if status != "done" {
		t.Errorf("it ended as %s: %s", status, words)
	}
	if n := eval[int](b, `document.querySelectorAll("#evidence [data-sum]").length`); n == 0 {
		t.Error("there are no sums")
	}
	for _, text := range eval[[]string](b, `[...document.querySelectorAll("#evidence .sums tbody tr")].map((e) => e.innerText.replace(/\s+/g, " "))`) {
		t.Log(text)
	}
}
