package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/patch"
	"schedlab/core/scenario"
	"schedlab/core/scx"
	"schedlab/core/sim"
	"schedlab/core/workload"
	"schedlab/site/chart"
)

//go:embed catalogue.html.tmpl
var catalogueText string

// latency is a figure of a machine with what it is of.
type latency struct {
	Name string
	machine.Figure
}

// catalogue returns the document in which every entry of the catalogues explains
// itself. It is made here rather than by the page's program, so that it reads without
// one and what only it needs is no part of that.
func catalogue() ([]byte, error) {
	t, err := template.New("catalogue").Funcs(template.FuncMap{
		"join":     func(list []string) string { return strings.Join(list, ", ") },
		"cpus":     func(list []int16) string { return scenario.FormatCPUs(list) },
		"time":     func(t sim.Time) string { return chart.Time(float64(t) / 1000) },
		"spread":   spread,
		"cost":     cost,
		"simulate": simulate,
		"clock":    func(m *machine.Machine) string { return fmt.Sprintf("%g GHz", float64(m.KHz)/1e6) },
		"domains": func(m *machine.Machine) []*machine.Domain {
			if len(m.Domains) == 0 {
				return nil
			}
			return m.Domains[0]
		},
		"latencies": latencies,
		"allowed":   allowed,
		"picture": func(m *machine.Machine) template.HTML {
			return template.HTML(chart.Topology{Machine: m, Width: 860}.SVG()) // of our own making, as in the page
		},
	}).Parse(catalogueText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Model":       kernel.Model,
		"Machines":    machine.Catalogue(),
		"Patches":     patch.Patches,
		"Kernels":     kernel.Bases,
		"Schedulers":  scx.Schedulers,
		"Workloads":   workload.Workloads,
		"Backgrounds": workload.Backgrounds,
		"Costs":       kernel.Costs,
		"Times":       kernel.Times,
		"Counters":    kernel.Counters,
	})
	return b.Bytes(), err
}

// simulate returns the query of a scenario with a patch: on the default kernel if that can have it, else on one that can,
// with a scheduler if it needs one.
func simulate(p patch.Patch) template.URL {
	q := "v=1"
	if k := scenario.Default().Kernel; !slices.Contains(p.Bases, k) {
		q += "&k=" + p.Bases[0]
	}
	if p.NeedsExt {
		q += "&scx=" + scenario.Schedulers()[0]
	}
	return template.URL(q + "&arm=&arm=" + p.Key) // of our own making
}

func spread(f machine.Figure) string {
	if f.Lo == f.Hi {
		return ""
	}
	return chart.Time(float64(f.Lo)/1000) + " – " + chart.Time(float64(f.Hi)/1000)
}

func cost(c kernel.CostInfo) string {
	if c.Unit == kernel.Cycles {
		return fmt.Sprintf("%d cycles", c.Def)
	}
	return chart.Time(float64(c.Def) / 1000)
}

// latencies lists those between CPUs as far apart as a machine has them.
func latencies(m *machine.Machine) (list []latency) {
	has := map[machine.Distance]bool{}
	for cpu := range m.CPUs {
		has[m.Distance(0, cpu)] = true
	}
	for d := range machine.Distance(machine.NumDistances) {
		if has[d] {
			list = append(list, latency{"cache line, " + d.String(), m.Line[d]}, latency{"interrupt, " + d.String(), m.IPI[d]})
		}
	}
	return list
}

func allowed(p workload.Param) string {
	switch p.Kind {
	case workload.Bool:
		return "0 or 1"
	case workload.Choice:
		return strings.Join(p.Choices, ", ")
	case workload.CPUs:
		return "a list such as 0-3,8"
	}
	return strings.TrimSpace(fmt.Sprintf("%d – %d %s", p.Min, p.Max, p.Unit))
}
