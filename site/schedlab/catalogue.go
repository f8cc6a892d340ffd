package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strings"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/patch"
	"schedlab/core/scenario"
	"schedlab/core/scx"
	"schedlab/core/sim"
	"schedlab/core/workload"
)

// An entry is one thing of a catalogue.
type entry struct {
	key, title string
	data       any            // for JSON
	detail     func(*printer) // for text: all there is to say
}

// catalogues lists the commands that list things.
func catalogues() []command {
	list := func(name, arg, text string, entries func() []entry) command {
		return command{name, "[" + arg + "]", text, setupCatalogue(name, strings.ToLower(arg), entries)}
	}
	return []command{
		list("machines", "MACHINE", "list the machines, or show one with its sources", machines),
		list("kernels", "KERNEL", "list the kernels, or show one", kernels),
		list("schedulers", "SCHEDULER", "list the sched_ext schedulers, or show one", schedulers),
		list("patches", "PATCH", "list the patches, or show one with its parts and its fate", patches),
		list("workloads", "WORKLOAD", "list the workloads, or show one with its parameters", workloads),
		list("backgrounds", "BACKGROUND", "list the backgrounds, or show one", backgrounds),
		{"costs", "[COST]", "list the model's constants and their sources, or show one", setupCosts},
	}
}

func setupCatalogue(name, what string, entries func() []entry) func(*flag.FlagSet) func(context.Context, streams, string) error {
	return func(flags *flag.FlagSet) func(context.Context, streams, string) error {
		format := formatFlag(flags, "text", "json")
		verbose := flags.Bool("v", false, "show all there is to say of each")
		return func(_ context.Context, s streams, key string) error {
			f, err := format()
			if err != nil {
				return err
			}
			return show(s.out, entries(), what, key, f, *verbose)
		}
	}
}

func setupCosts(flags *flag.FlagSet) func(context.Context, streams, string) error {
	format := formatFlag(flags, "text", "json")
	verbose := flags.Bool("v", false, "show all there is to say of each")
	on := flags.String("m", scenario.Default().Machine, "the machine that the values are for")
	return func(_ context.Context, s streams, key string) error {
		f, err := format()
		if err != nil {
			return err
		}
		m, err := machine.Lookup(*on)
		if err != nil {
			return unknown("-m", *on, scenario.Machines())
		}
		return show(s.out, costs(m), "cost", key, f, *verbose)
	}
}

// show prints entries: all in short, or the one with this key in full.
func show(w io.Writer, entries []entry, what, key, format string, verbose bool) error {
	if key != "" {
		var keys []string
		found := -1
		for i, e := range entries {
			keys = append(keys, e.key)
			if e.key == key {
				found = i
			}
		}
		if found < 0 {
			return unknown(what, key, keys)
		}
		entries, verbose = entries[found:found+1], true
	}
	if format == "json" {
		list := make([]any, len(entries))
		for i, e := range entries {
			list[i] = e.data
		}
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(list)
	}
	p := &printer{w: w}
	width := 0
	for _, e := range entries {
		width = max(width, len(e.key))
	}
	for i, e := range entries {
		switch {
		case !verbose:
			p.printf("%-*s  %s\n", width, e.key, e.title)
		case i > 0:
			p.printf("\n")
			fallthrough
		default:
			p.printf("%s  %s\n", e.key, e.title)
			e.detail(p)
		}
	}
	return p.err
}

// ns is a time in nanoseconds, as JSON has it.
func ns(t sim.Time) json.Number { return json.Number(t.Nanoseconds()) }

type figureData struct {
	Lo     json.Number   `json:"lo_ns"`
	Mid    json.Number   `json:"mid_ns"`
	Hi     json.Number   `json:"hi_ns"`
	Basis  machine.Basis `json:"basis"`
	Source string        `json:"source"`
}

func newFigureData(f machine.Figure) figureData {
	return figureData{ns(f.Lo), ns(f.Mid), ns(f.Hi), f.Basis, f.Source}
}

// figureRow is a figure as cells of a table.
func figureRow(name string, f machine.Figure) []string {
	spread := ""
	if f.Lo != f.Hi {
		spread = f.Lo.Nanoseconds() + "–" + f.Hi.Nanoseconds()
	}
	return []string{name, f.Mid.Nanoseconds() + " ns", spread, string(f.Basis), f.Source}
}

type machineData struct {
	Key     string                `json:"key"`
	Title   string                `json:"title"`
	Brief   string                `json:"brief"`
	Note    string                `json:"note"`
	KHz     int64                 `json:"khz"`
	CPUs    int                   `json:"cpus"`
	Domains []domainData          `json:"domains"` // smallest first
	Idle    []idleData            `json:"idle"`    // shallowest first
	Line    map[string]figureData `json:"line"`    // by distance
	IPI     map[string]figureData `json:"ipi"`

	Multicast     countData `json:"multicast"` // CPUs that one write to the interrupt controller reaches
	Shorthand     bool      `json:"shorthand"` // a write can reach all other CPUs
	NoPollingFlag bool      `json:"no_polling_flag"`

	ClockLag *figureData `json:"clock_lag"` // of sched_clock_cpu() behind sched_clock(); null: there is one clock
}

type countData struct {
	N      int           `json:"n"`
	Basis  machine.Basis `json:"basis"`
	Source string        `json:"source"`
}

type domainData struct {
	Level int    `json:"level"`
	Name  string `json:"name"`
	CPUs  string `json:"cpus"`
}

type idleData struct {
	Name      string        `json:"name"`
	Exit      json.Number   `json:"exit_ns"`
	Residency json.Number   `json:"residency_ns"`
	Polling   bool          `json:"polling"`
	Monitor   bool          `json:"monitor"`
	Disabled  bool          `json:"disabled"`
	Basis     machine.Basis `json:"basis"`
	Source    string        `json:"source"`
	Wake      figureData    `json:"wake"`
}

func machines() []entry {
	var list []entry
	for _, m := range machine.Catalogue() {
		d := machineData{Key: m.Key, Title: m.Title, Brief: m.Brief, Note: m.Note, KHz: m.KHz, CPUs: len(m.CPUs),
			Line: make(map[string]figureData), IPI: make(map[string]figureData),
			Multicast: countData{m.Multicast.N, m.Multicast.Basis, m.Multicast.Source}, Shorthand: m.Shorthand, NoPollingFlag: m.NoPollingFlag}
		if m.ClockLag.Source != "" {
			lag := newFigureData(m.ClockLag)
			d.ClockLag = &lag
		}
		for _, domain := range m.All {
			d.Domains = append(d.Domains, domainData{domain.Level, domain.Name, scenario.FormatCPUs(domain.CPUs)})
		}
		for _, s := range m.Idle {
			d.Idle = append(d.Idle, idleData{s.Name, ns(s.Exit), ns(s.Residency), s.Polling, s.Monitor, s.Disabled, s.Basis, s.Source, newFigureData(s.Wake)})
		}
		for i := range m.Line {
			d.Line[machine.Distance(i).String()] = newFigureData(m.Line[i])
			d.IPI[machine.Distance(i).String()] = newFigureData(m.IPI[i])
		}
		list = append(list, entry{m.Key, m.Title, d, func(p *printer) { printMachine(p, m) }})
	}
	return list
}

func printMachine(p *printer, m *machine.Machine) {
	p.field("brief", m.Brief)
	p.field("note", m.Note)
	p.field("clock", fmt.Sprintf("%g GHz", float64(m.KHz)/1e6))
	p.field("CPUs", fmt.Sprint(len(m.CPUs)))
	reach := fmt.Sprint(m.Multicast.N)
	if m.Shorthand {
		reach += ", or all others"
	}
	p.field("interrupts", fmt.Sprintf("CPUs that one write reaches: %s; %s: %s", reach, m.Multicast.Basis, m.Multicast.Source))
	if f := &m.ClockLag; f.Source != "" {
		p.field("clock lag", fmt.Sprintf("sched_clock_cpu() is behind sched_clock() by %s to %s in a run; %s: %s", f.Lo, f.Hi, f.Basis, f.Source))
	}
	if m.NoPollingFlag {
		p.field("polling", "no flag says that an idle CPU looks at its flags: every signal is an interrupt")
	}
	p.printf("\n%sscheduling domains of CPU 0\n", indent)
	var rows [][]string
	if len(m.Domains) > 0 {
		for _, d := range m.Domains[0] {
			rows = append(rows, []string{d.Name, fmt.Sprintf("%d CPUs in %d groups", len(d.CPUs), len(d.Groups)), scenario.FormatCPUs(d.CPUs)})
		}
	}
	p.table(rows)
	p.printf("\n%sidle states: exit latency and target residency by the table, and what waking really takes\n", indent)
	rows = nil
	for _, s := range m.Idle {
		state := s.Name
		if s.Disabled {
			state += " (disabled)"
		}
		rows = append(rows, []string{state, s.Exit.Nanoseconds() + " / " + s.Residency.Nanoseconds() + " ns", "", string(s.Basis), s.Source},
			figureRow(indent+"wake", s.Wake))
	}
	p.table(rows)
	for _, f := range []struct {
		title   string
		figures [machine.NumDistances]machine.Figure
	}{
		{"a cache line from one CPU to another", m.Line},
		{"an interrupt from one CPU to another, before the kernel's entry code", m.IPI},
	} {
		p.printf("\n%s%s\n", indent, f.title)
		rows = nil
		for d := range f.figures {
			rows = append(rows, figureRow(machine.Distance(d).String(), f.figures[d]))
		}
		p.table(rows)
	}
}

type kernelData struct {
	Key           string            `json:"key"`
	Title         string            `json:"title"`
	Brief         string            `json:"brief"`
	Note          string            `json:"note"`
	HZ            int64             `json:"hz"`
	Preemption    kernel.Preemption `json:"preemption"`
	Policy        string            `json:"policy"`
	BaseSlice     json.Number       `json:"base_slice_ns"` // of EEVDF
	Latency       json.Number       `json:"latency_ns"`    // this and the next two of CFS
	MinGran       json.Number       `json:"min_granularity_ns"`
	WakeupGran    json.Number       `json:"wakeup_granularity_ns"`
	MigrationCost json.Number       `json:"migration_cost_ns"`
	BusyFactor    int64             `json:"busy_factor"`
	SchedExt      bool              `json:"sched_ext"`
}

func kernels() []entry {
	var list []entry
	for _, b := range kernel.Bases {
		d := kernelData{b.Key, b.Title, b.Brief, b.Note, b.HZ, b.Preemption, b.Policy.String(), ns(b.BaseSlice), ns(b.CFS.Latency), ns(b.CFS.MinGranularity), ns(b.CFS.WakeupGranularity), ns(b.MigrationCost), b.BusyFactor, b.SchedExt}
		list = append(list, entry{b.Key, b.Title, d, func(p *printer) {
			p.field("brief", b.Brief)
			p.field("note", b.Note)
			p.field("tick", fmt.Sprintf("%d Hz", b.HZ))
			p.field("preemption", string(b.Preemption))
			p.field("fair class", b.Policy.String())
			if b.Policy == kernel.CFS {
				p.field("period", fmt.Sprintf("%s, at least %s a task; wakeups preempt beyond %s", b.CFS.Latency, b.CFS.MinGranularity, b.CFS.WakeupGranularity))
			} else {
				p.field("slice", b.BaseSlice.String())
			}
			p.field("migration", b.MigrationCost.String()+" after running, a task counts as cache-hot")
			p.field("balancing", fmt.Sprintf("%d times rarer on a busy CPU", b.BusyFactor))
			if b.SchedExt {
				p.field("sched_ext", "scx="+strings.Join(scenario.Schedulers(), ", "))
			}
		}})
	}
	return list
}

type schedulerData struct {
	Key   string `json:"key"`
	Title string `json:"title"`
	Link  string `json:"link"`
	Brief string `json:"brief"`
	Note  string `json:"note"`
}

func schedulers() []entry {
	var list []entry
	for i := range scx.Schedulers {
		x := &scx.Schedulers[i]
		list = append(list, entry{x.Key, x.Title, schedulerData{x.Key, x.Title, x.Link, x.Brief, x.Note}, func(p *printer) {
			p.field("source", x.Link)
			p.field("brief", x.Brief)
			p.field("note", x.Note)
		}})
	}
	return list
}

type patchData struct {
	Key      string     `json:"key"`
	Title    string     `json:"title"`
	Link     string     `json:"link"`
	Brief    string     `json:"brief"`
	Story    string     `json:"story"`
	Fate     string     `json:"fate"`
	Show     string     `json:"show"`
	Bases    []string   `json:"bases"`
	Excludes []string   `json:"excludes"`
	NeedsExt bool       `json:"needs_sched_ext"`
	Parts    []partData `json:"parts"`
}

type partData struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

func patches() []entry {
	var list []entry
	for _, patch := range patch.Patches {
		d := patchData{patch.Key, patch.Title, patch.Link, patch.Brief, patch.Story, patch.Fate, patch.Show, patch.Bases, patch.Excludes, patch.NeedsExt, nil}
		for _, part := range patch.Parts {
			d.Parts = append(d.Parts, partData{part.Key, part.Text})
		}
		list = append(list, entry{patch.Key, patch.Title, d, func(p *printer) {
			p.field("posted", patch.Link)
			p.field("brief", patch.Brief)
			p.field("story", patch.Story)
			p.field("fate", patch.Fate)
			p.field("shown by", patch.Show)
			on := strings.Join(patch.Bases, ", ")
			if patch.NeedsExt {
				on += ", with a sched_ext scheduler"
			}
			p.field("applies to", on)
			p.field("excludes", strings.Join(patch.Excludes, ", "))
			for i, part := range patch.Parts {
				name := "parts"
				if i > 0 {
					name = ""
				}
				p.field(name, patch.Key+"."+part.Key+": "+part.Text)
			}
		}})
	}
	return list
}

type workloadData struct {
	Key    string      `json:"key"`
	Title  string      `json:"title"`
	Brief  string      `json:"brief"`
	Note   string      `json:"note"`
	Params []paramData `json:"params"`
	Metric metricData  `json:"metric"`
}

type paramData struct {
	Key  string `json:"key"`
	Text string `json:"text"`
	Kind string `json:"kind"` // "number", "0 or 1", "CPU list", "choice"
	Unit string `json:"unit"`
	Def  int64  `json:"default"` // of a choice: its place in the list
	Min  int64  `json:"min"`     // of a CPU list: how many CPUs
	Max  int64  `json:"max"`

	Choices []string `json:"choices,omitempty"`
}

type metricData struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Better string `json:"better"`
	Event  string `json:"event"`
}

func workloads() []entry {
	kinds := map[workload.Kind]string{workload.Int: "number", workload.Bool: "0 or 1", workload.CPUs: "CPU list", workload.Choice: "choice"}
	var list []entry
	for _, w := range workload.Workloads {
		metric := w.Metric(machine.Catalogue()[0], w.Defaults(), "")
		d := workloadData{w.Key, w.Title, w.Brief, w.Note, nil, metricData{metric.Name, metric.Unit, metric.Better, w.Samples[0].Text}}
		for _, p := range w.Params {
			switch p.Kind {
			case workload.Bool:
				p.Max = 1
			case workload.Choice:
				p.Max = int64(len(p.Choices)) - 1
			}
			d.Params = append(d.Params, paramData{p.Key, p.Help, kinds[p.Kind], p.Unit, p.Def, p.Min, p.Max, p.Choices})
		}
		list = append(list, entry{w.Key, w.Title, d, func(p *printer) {
			p.field("brief", w.Brief)
			p.field("note", w.Note)
			p.field("figure", fmt.Sprintf("%s in %s, %s is better", metric.Name, metric.Unit, metric.Better))
			for _, s := range w.Samples {
				p.field("sample", s.Key+": "+s.Text)
			}
			p.printf("\n%sparameters\n", indent)
			var rows [][]string
			for _, param := range d.Params {
				allowed := param.Kind
				switch {
				case allowed == "number":
					allowed = fmt.Sprintf("%d–%d %s", param.Min, param.Max, param.Unit)
				case param.Choices != nil:
					rows = append(rows, []string{param.Key + "=" + param.Choices[param.Def], strings.Join(param.Choices, ", "), param.Text})
					continue
				case allowed == "CPU list" && param.Min == param.Max:
					allowed += fmt.Sprintf(" of %d", param.Min)
				case allowed == "CPU list":
					allowed += fmt.Sprintf(" of %d–%d", param.Min, param.Max)
				}
				rows = append(rows, []string{fmt.Sprintf("%s=%d", param.Key, param.Def), strings.TrimSpace(allowed), param.Text})
			}
			p.table(rows)
		}})
	}
	return list
}

type backgroundData struct {
	Key   string `json:"key"`
	Title string `json:"title"`
	Brief string `json:"brief"`
	Note  string `json:"note"`
}

func backgrounds() []entry {
	var list []entry
	for _, b := range workload.Backgrounds {
		list = append(list, entry{b.Key, b.Title, backgroundData{b.Key, b.Title, b.Brief, b.Note}, func(p *printer) {
			p.field("brief", b.Brief)
			p.field("note", b.Note)
		}})
	}
	return list
}

type costData struct {
	Key    string        `json:"key"`
	Value  json.Number   `json:"ns"`
	Unit   kernel.Unit   `json:"unit"`
	Basis  machine.Basis `json:"basis"`
	Source string        `json:"source"`
	Text   string        `json:"text"`
}

// costs lists the constants with their values on m.
func costs(m *machine.Machine) []entry {
	var list []entry
	for i, info := range kernel.Costs {
		f := kernel.CostOn(m, kernel.Cost(i))
		d := costData{info.Key, ns(f.Value), info.Unit, f.Basis, f.Source, info.Text}
		title := fmt.Sprintf("%8s ns  %-8s  %s", f.Value.Nanoseconds(), f.Basis, info.Text)
		list = append(list, entry{info.Key, title, d, func(p *printer) {
			p.field("carried in", string(info.Unit))
			p.field("source", f.Source)
		}})
	}
	return list
}
