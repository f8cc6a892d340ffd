package report

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"schedlab/core"
	"schedlab/core/evidence"
	"schedlab/core/stats"
)

// EvidenceText writes findings for people, in plain UTF-8 for a fixed-width font: the sums per thread, then each
// finding with what there is to say of it.
func EvidenceText(findings []evidence.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Simulated, in this model (version %d), beside what was published.\n%s\n\n", core.Model, evidence.Paired)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "thread\tkind\tfigures")
	for _, v := range evidence.Verdicts {
		fmt.Fprintf(w, "\t%s", v)
	}
	fmt.Fprintln(w)
	for _, t := range evidence.Tallies(findings) {
		fmt.Fprintf(w, "%s\t%s\t%d", t.Thread, t.Kind, t.All)
		for _, v := range evidence.Verdicts {
			fmt.Fprintf(w, "\t%d", t.Counts[v])
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	title := ""
	for i := range findings {
		f := &findings[i]
		if f.Title != title {
			title = f.Title
			b.WriteByte('\n')
			wrap(&b, title, "")
		}
		fmt.Fprintf(&b, "  %-14s  %s, %s (%s)\n", f.Verdict, f.Figure, f.Arm, f.Kind)
		if f.Figure != "distribution" {
			fmt.Fprintf(&b, "%sWithin %s: %s.\n", indent, f.Tolerance, comparison(f))
		}
		if f.Note != "" {
			b.WriteString(indent)
			wrap(&b, capital(f.Note)+".", indent)
		}
		if f.Scenario != "" {
			fmt.Fprintf(&b, "%s%s\n", indent, f.Scenario)
		}
	}
	return b.String()
}

const indent = "                  "

// comparison says a finding's figures.
func comparison(f *evidence.Finding) string {
	text := fmt.Sprintf("published %s, simulated %s", withUnit(f.Published, f.Unit), withUnit(f.Simulated, f.Unit))
	if f.Simulated.OK && f.Lo < f.Hi {
		text += fmt.Sprintf(" (%s to %s)", figure(f.Lo), figure(f.Hi))
	}
	if off := f.Off(); off.OK {
		text += fmt.Sprintf(", %+.1f %%", 100*off.V)
	}
	return text
}

func withUnit(n stats.Number, unit string) string { return strings.TrimSpace(optional(n) + " " + unit) }

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// EvidenceMarkdown writes findings as tables, one a thread.
func EvidenceMarkdown(findings []evidence.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Simulated, in model %d, beside what was published. %s\n\n| thread | kind | figures |", core.Model, evidence.Paired)
	for _, v := range evidence.Verdicts {
		fmt.Fprintf(&b, " %s |", v)
	}
	fmt.Fprintf(&b, "\n|---|---|%s\n", strings.Repeat("---|", 1+len(evidence.Verdicts)))
	for _, t := range evidence.Tallies(findings) {
		fmt.Fprintf(&b, "| %s | %s | %d |", t.Thread, t.Kind, t.All)
		for _, v := range evidence.Verdicts {
			fmt.Fprintf(&b, " %d |", t.Counts[v])
		}
		b.WriteByte('\n')
	}
	thread := ""
	for i := range findings {
		f := &findings[i]
		if f.Thread != thread {
			thread = f.Thread
			fmt.Fprintf(&b, "\n## %s\n\n| finding | kind | published | simulated | off | tolerance | verdict | |\n|---|---|---|---|---|---|---|---|\n", thread)
		}
		off := ""
		if n := f.Off(); n.OK {
			off = fmt.Sprintf("%+.1f %%", 100*n.V)
		}
		id := f.ID
		if f.Scenario != "" {
			id = fmt.Sprintf("[%s](%s)", f.ID, f.Scenario)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", id, f.Kind, withUnit(f.Published, f.Unit), withUnit(f.Simulated, f.Unit), off, f.Tolerance, f.Verdict,
			strings.ReplaceAll(f.Note, "|", "\\|"))
	}
	return b.String()
}

type jsonFinding struct {
	ID        string   `json:"id"`
	Thread    string   `json:"thread"`
	Scenario  string   `json:"scenario"`
	Kind      string   `json:"kind"`
	Arm       string   `json:"arm"`
	Figure    string   `json:"figure"`
	Unit      string   `json:"unit"`
	Published *float64 `json:"published"`
	Simulated *float64 `json:"simulated"`
	Lo        *float64 `json:"lo"`
	Hi        *float64 `json:"hi"`
	Tolerance string   `json:"tolerance"`
	Reason    string   `json:"reason"`
	Verdict   string   `json:"verdict"`
	Note      string   `json:"note"`
	Fit       *jsonFit `json:"fit,omitempty"`
}

type jsonFit struct {
	Runs       int         `json:"runs"`
	Distance   float64     `json:"ks_distance"`
	P          float64     `json:"ks_p"`
	Likelihood float64     `json:"likelihood_p"`
	Shift      [3]float64  `json:"quartile_shift"`
	Power      []jsonPower `json:"power"`
}

type jsonPower struct {
	Wrong string  `json:"wrong_model"`
	Share float64 `json:"found_out"`
}

// EvidenceJSON writes findings for programs: an object with the model's version, the day on which they were found and
// findings[]. A figure that is not known is null. evidence.ReadStored reads it.
func EvidenceJSON(findings []evidence.Finding, date time.Time) string {
	out := struct {
		Model     int           `json:"model"`
		Date      string        `json:"date"`
		Simulated bool          `json:"simulated"`
		Findings  []jsonFinding `json:"findings"`
	}{core.Model, date.UTC().Format(time.DateOnly), true, []jsonFinding{}}
	for i := range findings {
		f := &findings[i]
		j := jsonFinding{
			ID: f.ID, Thread: f.Thread, Scenario: f.Scenario, Kind: string(f.Kind), Arm: f.Arm, Figure: f.Figure, Unit: f.Unit,
			Published: pointer(f.Published), Simulated: pointer(f.Simulated), Tolerance: f.Tolerance, Reason: f.Reason, Verdict: string(f.Verdict), Note: f.Note,
		}
		if f.Simulated.OK {
			j.Lo, j.Hi = &f.Lo, &f.Hi
		}
		if f.Fit != nil {
			j.Fit = &jsonFit{Runs: f.Fit.Runs, Distance: rounded(f.Fit.D), P: rounded(f.Fit.P), Likelihood: rounded(f.Fit.PLikes)}
			for i, s := range f.Fit.Shift {
				j.Fit.Shift[i] = rounded(s)
			}
			for _, p := range f.Fit.Power {
				j.Fit.Power = append(j.Fit.Power, jsonPower{p.Wrong, p.Share})
			}
		}
		out.Findings = append(out.Findings, j)
	}
	return encode(out)
}

// rounded keeps what a test's figure is worth.
func rounded(v float64) float64 { return math.Round(v*10000) / 10000 }
