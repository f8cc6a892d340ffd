package ui

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"schedlab/core"
	"schedlab/core/evidence"
)

const power9 = "select_idle_core: time of a search under schbench on POWER9 with eight threads a core, Linux 5.4"

// text is what one sees of markup.
func text(html string) string {
	return strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(html, " ")), " ")
}

// unfold opens all series.
func (s *screen) unfold() {
	for _, m := range regexp.MustCompile(`<summary data-fold="([^"]*)"`).FindAllStringSubmatch(s.html(), -1) {
		s.fire("summary[data-fold="+strings.ReplaceAll(m[1], "&#39;", "'")+"]", "click", nil)
	}
}

// Everything that was published is there, and no figure of the model before it has been simulated.
func TestEvidence(t *testing.T) {
	open(t, runner{}, small+"#evidence", func(s *screen) {
		s.unfold()
		html := s.done()
		s.sound("evidence", html)
		for _, key := range evidence.Keys() {
			if !strings.Contains(html, `data-case="`+key+`"`) {
				t.Errorf("%s is not there", key)
			}
		}
		for _, want := range []string{"630\u00a0ns", "±10 %", "the aim set beforehand: 10 %", "calibration", "fitted: idle_miss of power9-smt8", "https://lore.kernel.org/lkml/20191206081654.GA22330@linux.vnet.ibm.com/"} {
			if !strings.Contains(html, want) {
				t.Errorf("the page lacks %q", want)
			}
		}
		if n := len(regexp.MustCompile(`class="n sim"[^>]*></td>|class="n sim">simulated<`).FindAllString(html, -1)); n != strings.Count(html, `class="n sim"`) || n < 300 {
			t.Errorf("%d of %d cells are empty", n, strings.Count(html, `class="n sim"`))
		}
		if strings.Contains(html, "stored") || strings.Contains(html, `data-digest="0`) {
			t.Error("there is a stored run, or an answer")
		}

		s.fire("button[aria-label=Run: "+power9+"]", "click", nil)
		html = s.done()
		s.sound("evidence, judged", html)
		_, row, _ := strings.Cut(html, `data-figure="select-idle-core-power9/select-idle-core/mean"`)
		row, _, _ = strings.Cut(row, "</tbody>")
		if got := text("<" + row); !strings.HasPrefix(got, "select_idle_core: mean prediction 441 ns ±10 % 275 ns −37.6 % DISAGREES") {
			t.Errorf("the page says %q", got)
		}
		if !strings.Contains(html, `<span class="verdict-mark disagrees">5 DISAGREES</span>`) || !strings.Contains(text(html), "Done: 1 table judged.") {
			t.Error("the sums do not say what was judged")
		}
		s.fire("a[aria-label=Open in the simulator: "+power9+"]", "click", map[string]any{})
		if s.app.State.View().Evidence.Open || !strings.Contains(s.bar[len(s.bar)-1], "m=power9-smt8") {
			t.Errorf("the link leads to %s", s.bar[len(s.bar)-1])
		}
	})
}

// The way there and back is a link, and an entry of the history.
func TestViews(t *testing.T) {
	open(t, runner{}, small, func(s *screen) {
		s.done()
		s.fire("a[href=#evidence]", "click", map[string]any{})
		html := s.html()
		if len(s.bar) != 2 || !strings.HasSuffix(s.bar[1], "#evidence") || !strings.Contains(html, `<main class="lab" tabindex="-1" hidden="hidden">`) || s.app.title() != "Evidence · schedlab" {
			t.Errorf("the history is %q", s.bar)
		}
		s.fire("a[href="+s.app.view.Asked.Query()+"]", "click", map[string]any{})
		if html = s.html(); !strings.Contains(html, `<main class="lab" tabindex="-1">`) {
			t.Error("the simulator is not back")
		}
	})
}

// What was stored of an earlier run is beside the visitor's own, dated, and marked if another model's.
func TestStoredEvidence(t *testing.T) {
	sample, err := os.ReadFile("../../core/evidence/testdata/stored.json")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := evidence.ReadStored(sample)
	if err != nil {
		t.Fatal(err)
	}
	open(t, runner{}, "#evidence", func(s *screen) {
		s.app.Stored = func() *evidence.Stored { return stored }
		s.unfold()
		html := s.html()
		s.sound("stored", html)
		if !strings.Contains(html, "<td class=\"stored other\" data-label=\"stored: model 2, 2026-11-30\">656\u00a0ns, AGREES</td>") || !strings.Contains(html, "it was stored on 2026-11-30, with model 2, which is another one") {
			t.Error("the stored run is not shown as such")
		}
		if strings.Contains(html, `class="n sim" data-label="simulated">6`) || strings.Contains(text(html), "1 AGREES") {
			t.Error("a stored figure stands for one that was run")
		}
		now := *stored
		now.Model = core.Model
		stored = &now
		if html = s.html(); strings.Contains(html, "stored other") || strings.Contains(html, "which is another one") {
			t.Error("the stored run of this model is marked as another's")
		}
	})
}
