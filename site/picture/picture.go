// Package picture shows a result outside the page, where no style sheet is: as
// an SVG file, and as the card that stands beside a link in a chat, a PNG. Both
// are the page's own histogram: package chart lays it out, and what it writes is
// read back here as a few shapes, which are then styled.
package picture

import (
	"fmt"
	"strings"

	"schedlab/core"
	"schedlab/core/scenario"
	"schedlab/site/chart"
	"schedlab/site/lab"
)

// colours of the arms, after Okabe and Ito, as the page has them by day.
var colours = []string{"#0072b2", "#d55e00", "#007a57", "#a8457e", "#8a6100", ink}

const (
	paper   = "#fbfbf9"
	ink     = "#1b1d1f"
	softInk = "#565c62"
	faint   = "#dcdcd6" // grid, and the card's rule
)

// A style is how a shape is drawn. Lengths are in the picture's pixels.
type style struct {
	fill    string // "" for none
	opacity float64
	stroke  string // "" for none
	width   float64
	dash    []float64 // lengths of strokes and gaps, in turn
	size    float64   // of text
}

// styleOf returns the style of a class of chart.Distribution; arm is the number in armN, 0 if there is none.
func styleOf(class string, arm int) style {
	colour := colours[min(arm, len(colours)-1)]
	dash := [][]float64{nil, nil, {7, 2}, {2, 2}, {7, 2, 2, 2}, {1, 3}}[min(arm, 5)]
	switch class {
	case "grid":
		return style{stroke: faint, width: 1}
	case "axis":
		return style{stroke: softInk, width: 0.75}
	case "curve":
		if arm == 0 {
			return style{fill: colour, opacity: 0.15, stroke: colour, width: 1.2}
		}
		return style{stroke: colour, width: 1.7, dash: dash}
	case "dots":
		if arm == 0 {
			return style{fill: colour, opacity: 0.15, stroke: colour, width: 1.2}
		}
		return style{stroke: colour, width: 1.7}
	case "lane":
		return style{stroke: colour, width: 1, dash: dash}
	case "median":
		return style{stroke: colour, width: 1, dash: []float64{3, 3}}
	case "published":
		return style{stroke: ink, width: 1.5}
	case "label":
		return style{fill: colour, opacity: 1, size: 12}
	case "name":
		return style{fill: colour, opacity: 1, size: 11}
	}
	return style{fill: softInk, opacity: 1, size: 11} // tick, basis
}

// distribution is the histogram of what a result's runs are judged by.
func distribution(a *lab.Answer, width float64) chart.Distribution {
	d := chart.Distribution{Basis: a.Basis, Width: width}
	if len(a.Samples) > 0 {
		d.Event = a.Samples[0].Event()
		d.Curves = a.Samples[0].Curves
	}
	return d
}

// Title names what a scenario compares, in a line: "SM_IDLE v2 against baseline: ipistorm on xeon-240, Linux 6.11".
func Title(s scenario.Scenario) string {
	of := lab.ArmTitle(s.Arms[0])
	switch n := len(s.Arms); {
	case n == 2:
		of = lab.ArmTitle(s.Arms[1]) + " against " + of
	case n > 2:
		of = fmt.Sprintf("%d kernels against %s", n-1, of)
	}
	return fmt.Sprintf("%s: %s on %s, Linux %s", of, s.Workload, s.Machine, lab.KernelTitle(s))
}

// Runs says how often a scenario runs what, in a sentence.
func Runs(s scenario.Scenario) string {
	runs := fmt.Sprintf("%d runs", s.Runs)
	if s.Runs == 1 {
		runs = "One run"
	}
	words := append([]string{fmt.Sprintf("%s of each kernel, seed %d", runs, s.Seed)}, s.Changes()...)
	return strings.Join(words, ", ") + "."
}

// Basis says what figures of a scenario rest on: who quotes one needs it.
func Basis(s scenario.Scenario) string {
	return fmt.Sprintf("simulated, model %d, %s background", core.Model, s.Background)
}
