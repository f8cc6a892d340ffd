package lab

import (
	"slices"
	"strings"

	"schedlab/core/evidence"
	"schedlab/core/scenario"
)

// A Preset is a question that the page offers.
type Preset struct {
	Title string // short
	Text  string // all of it
	Query string
}

// Presets lists the default scenario and those that model published runs.
func Presets() []Preset {
	var list []Preset
	for _, t := range evidence.Tables {
		s, _ := scenario.Parse(t.Scenario)
		title, _, _ := strings.Cut(t.Title, ",")
		if _, run, ok := strings.Cut(title, ": "); ok { // without the patch, which the list of kernels shows
			title = run
		}
		list = append(list, Preset{Title: title, Text: t.Title, Query: s.Query()})
	}
	first := Preset{Title: "Default", Text: "the scenario that the page opens with", Query: scenario.Default().Query()}
	if !slices.ContainsFunc(list, func(p Preset) bool { return p.Query == first.Query }) {
		list = append([]Preset{first}, list...)
	}
	return list
}
