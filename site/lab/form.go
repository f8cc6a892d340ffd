package lab

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/patch"
	"schedlab/core/scenario"
	"schedlab/core/scx"
	"schedlab/core/workload"
	"schedlab/site/chart"
)

// A Form is a question as it stands in the page's fields: a text for each key
// of a link, right or wrong. What is right is for scenario.Parse to say, so
// that fields and links obey one set of rules.
type Form struct {
	keys  []string
	texts map[string]string
	Arms  [][]string // patch keys of each arm
}

// formOf fills a form with a valid scenario.
func formOf(s scenario.Scenario) Form {
	f := Form{texts: map[string]string{}}
	f.set("m", s.Machine)
	f.set("k", s.Kernel)
	if s.RT {
		f.set("rt", "1")
	}
	f.set("scx", s.Scheduler)
	f.set("w", s.Workload)
	if w, err := workload.Lookup(s.Workload); err == nil {
		for i := range min(len(w.Params), len(s.Params)) {
			f.set(w.Params[i].Key, scenario.FormatValue(&w.Params[i], s.Params[i]))
		}
	}
	if metrics := scenario.Metrics(s); len(metrics) > 0 {
		f.set("metric", cmp.Or(s.Metric, metrics[0]))
	}
	for _, arm := range s.Arms {
		f.Arms = append(f.Arms, slices.Clone(arm))
	}
	if s.Idle != nil {
		f.set("idle", strings.Join(s.Idle, ","))
	}
	f.set("bg", s.Background)
	f.set("runs", strconv.Itoa(s.Runs))
	f.set("seed", strconv.FormatUint(uint64(s.Seed), 10))
	for _, c := range s.Costs {
		f.set("c."+c.Key, c.Value.Nanoseconds())
	}
	if s.Check {
		f.set("check", "1")
	}
	return f
}

// Text returns what stands in the field of a key: "" if there is none.
func (f *Form) Text(key string) string { return f.texts[key] }

// set puts a text in a field. A changed constant, check, a scheduler or a list of idle states that is
// emptied goes back to its default.
func (f *Form) set(key, text string) {
	if text == "" && (key == "check" || key == "idle" || key == "rt" || key == "scx" || strings.HasPrefix(key, "c.")) {
		delete(f.texts, key)
		f.keys = slices.DeleteFunc(f.keys, func(k string) bool { return k == key })
		return
	}
	if _, ok := f.texts[key]; !ok {
		f.keys = append(f.keys, key)
	}
	f.texts[key] = text
}

// parse reads the form like a link.
func (f *Form) parse() (scenario.Scenario, []scenario.Problem) {
	var b strings.Builder
	write := func(key, value string) {
		b.WriteString("&" + url.QueryEscape(key) + "=" + url.QueryEscape(value))
	}
	for _, key := range f.keys {
		write(key, f.texts[key])
	}
	for _, arm := range f.Arms {
		write("arm", strings.Join(arm, ","))
	}
	return scenario.Parse("?" + b.String())
}

// choose returns the form of s with another machine, kernel, scheduler or workload (key
// m, k, scx or w); a scheduler that the kernel can't have brings one that can along. What has its default keeps its default, which may be another
// one then; a workload's parameters don't outlive it, nor do the idle states of a machine.
// What else does not go with the choice is lost, which is said.
func choose(s scenario.Scenario, key, value string) (f Form, lost []scenario.Problem) {
	drop := []string{key}
	var more []string
	switch key {
	case "m":
		drop = append(drop, "idle")
	case "w":
		drop = append(drop, "metric")
		if w, err := workload.Lookup(s.Workload); err == nil {
			for i := range w.Params {
				drop = append(drop, w.Params[i].Key)
			}
		}
	case "scx":
		if instead := kernelFor(s, value); instead != s.Kernel {
			drop, more = append(drop, "k"), append(more, "k="+url.QueryEscape(instead))
			lost = append(lost, scenario.Problem{Key: "k", Value: s.Kernel, Notice: true,
				Want: fmt.Sprintf("has no sched_ext, so that Linux %s is simulated instead", instead)})
		}
	}
	pieces := strings.Split(strings.TrimPrefix(s.Query(), "?"), "&")
	pieces = slices.DeleteFunc(pieces, func(piece string) bool {
		k, _, _ := strings.Cut(piece, "=")
		return slices.Contains(drop, k)
	})
	pieces = append(pieces, more...)
	if key != "scx" || value != "" {
		pieces = append(pieces, key+"="+url.QueryEscape(value))
	}
	near, problems := scenario.Parse("?" + strings.Join(pieces, "&"))
	for _, p := range problems {
		if !p.Notice {
			lost = append(lost, scenario.Problem{Key: p.Key, Value: p.Value, Notice: true, Want: "left out with this choice: want " + p.Want})
		}
	}
	return formOf(near), lost
}

// kernelFor returns the kernel on which a scheduler is simulated: that of s, or else the oldest one that can have it.
func kernelFor(s scenario.Scenario, scheduler string) string {
	base, err := kernel.LookupBase(s.Kernel)
	if err != nil || scheduler == "" || base.SchedExt {
		return s.Kernel
	}
	oldest := s.Kernel
	for i := range kernel.Bases { // newest first, behind the default one
		if kernel.Bases[i].SchedExt {
			oldest = kernel.Bases[i].Key
		}
	}
	return oldest
}

// An Option is one value of a choice: a short title, which a narrow field
// has room for, and what it is, in a sentence.
type Option struct{ Key, Title, Brief string }

// option cuts a title after its name.
func option(key, title, after, brief string) Option {
	name, _, _ := strings.Cut(title, after)
	return Option{key, name, brief}
}

// Machines, Kernels, Workloads and Backgrounds list what can be chosen.
func Machines() (list []Option) {
	for _, m := range machine.Catalogue() {
		o := option(m.Key, m.Title, ", ", m.Brief)
		o.Title = fmt.Sprintf("%s, %d CPUs", o.Title, len(m.CPUs))
		list = append(list, o)
	}
	return list
}

func Kernels() (list []Option) {
	for i := range kernel.Bases {
		list = append(list, option(kernel.Bases[i].Key, kernel.Bases[i].Title, ": ", kernel.Bases[i].Brief))
	}
	return list
}

// Schedulers lists the sched_ext schedulers that can be loaded, behind none at all.
func Schedulers(s scenario.Scenario) (list []Option) {
	none := Option{Title: "none", Brief: "The kernel's own classes schedule all tasks."}
	for i := range scx.Schedulers {
		x := &scx.Schedulers[i]
		o := option(x.Key, x.Title, ": ", x.Brief)
		if instead := kernelFor(s, x.Key); instead != s.Kernel {
			o.Title += ", on Linux " + instead
			none.Brief = fmt.Sprintf("Linux %s has no sched_ext: to choose a scheduler goes to Linux %s, the first kernel with it.", s.Kernel, instead)
		}
		list = append(list, o)
	}
	return append([]Option{none}, list...)
}

func Workloads() (list []Option) {
	for _, w := range workload.Workloads {
		list = append(list, option(w.Key, w.Title, ": ", w.Brief))
	}
	return list
}

// Metrics lists what runs of a scenario can be judged by.
func Metrics(s scenario.Scenario) (list []Option) {
	for _, m := range s.Figures() {
		list = append(list, Option{Key: m.Key, Title: m.Name, Brief: "in " + m.Unit + "; " + m.Better + " is better"})
	}
	return list
}

func Backgrounds() (list []Option) {
	for i := range workload.Backgrounds {
		list = append(list, option(workload.Backgrounds[i].Key, workload.Backgrounds[i].Title, ": ", workload.Backgrounds[i].Brief))
	}
	return list
}

// An IdleChoice is an idle state of a machine.
type IdleChoice struct {
	Name, Text string
	On         bool
	Only       bool // no other one is enabled
}

// IdleChoices lists the idle states of a scenario's machine.
func IdleChoices(s scenario.Scenario) (list []IdleChoice) {
	m, err := machine.Lookup(s.Machine)
	if err != nil {
		return nil
	}
	enabled := s.Idle
	if enabled == nil {
		enabled = m.EnabledIdle()
	}
	for i := range m.Idle {
		state := &m.Idle[i]
		c := IdleChoice{Name: state.Name, On: slices.Contains(enabled, state.Name)}
		c.Only = c.On && len(enabled) == 1
		switch {
		case state.Polling:
			c.Text = "spins; a store to its flags is seen at once"
		case state.Monitor:
			c.Text = "a store to its flags wakes it; "
		default:
			c.Text = "only an interrupt wakes it; "
		}
		if !state.Polling {
			c.Text += fmt.Sprintf("exit %s, residency %s by the driver's table", chart.Time(float64(state.Exit)/1000), chart.Time(float64(state.Residency)/1000))
		}
		if state.Disabled {
			c.Text += "; disabled by default here"
		}
		list = append(list, c)
	}
	return list
}

// A PatchChoice is a patch that an arm may have.
type PatchChoice struct {
	Key, Title string
	Subject    string // as posted
	Brief      string
	Fate       string
	On         bool   // all of it
	Some       bool   // some of its parts
	Reason     string // why it can't be had: then it is not to be chosen
	Parts      []PartChoice
}

// A PartChoice is a part of a patch.
type PartChoice struct {
	Key, Text string // Key is patch.part
	On        bool
}

// Choices lists the patches that an arm of s may have, those that it can't have last.
func Choices(s scenario.Scenario, arm []string) (list []PatchChoice) {
	for i := range patch.Patches {
		p := &patch.Patches[i]
		title, subject, _ := strings.Cut(p.Title, ": ")
		c := PatchChoice{Key: p.Key, Title: title, Subject: subject, Brief: p.Brief, Fate: p.Fate, On: slices.Contains(arm, p.Key)}
		for _, part := range p.Parts {
			key := p.Key + "." + part.Key
			on := c.On || slices.Contains(arm, key)
			c.Some = c.Some || on
			c.Parts = append(c.Parts, PartChoice{key, part.Text, on})
		}
		if !c.Some {
			if err := fits(s, append(slices.Clone(arm), p.Key)); err != nil {
				c.Reason = err.Error()
			}
		}
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b PatchChoice) int { return cmp.Compare(min(len(a.Reason), 1), min(len(b.Reason), 1)) })
	return list
}

// toggle returns arm with a patch or a part (patch.part) put in or taken out.
// All parts of a patch together are the patch.
func toggle(arm []string, key string, on bool) []string {
	p, parts, err := patch.Lookup(key)
	if err != nil {
		return arm
	}
	have := map[string]bool{}
	for _, part := range p.Parts {
		full := p.Key + "." + part.Key
		have[full] = slices.Contains(arm, p.Key) || slices.Contains(arm, full)
	}
	for _, part := range parts {
		have[p.Key+"."+part.Key] = on
	}
	out := slices.DeleteFunc(slices.Clone(arm), func(k string) bool {
		name, _, _ := strings.Cut(k, ".")
		return name == p.Key
	})
	var some []string
	for _, part := range p.Parts {
		if full := p.Key + "." + part.Key; have[full] {
			some = append(some, full)
		}
	}
	if len(some) == len(p.Parts) {
		some = []string{p.Key}
	}
	return append(out, some...)
}

// ArmTitle names an arm for people: "baseline" without patches.
func ArmTitle(arm []string) string {
	if len(arm) == 0 {
		return "baseline"
	}
	var names []string
	for _, key := range arm {
		name := key
		if p, _, err := patch.Lookup(key); err == nil {
			name, _, _ = strings.Cut(p.Title, ":")
			if _, part, ok := strings.Cut(key, "."); ok {
				name += " (" + part + " only)"
			}
		}
		names = append(names, name)
	}
	return strings.Join(names, " + ")
}

// fits says why the kernel and the machine of s can't have the patches of arm; nil if they can.
func fits(s scenario.Scenario, arm []string) error {
	base, err := kernel.LookupBase(s.Kernel)
	if err != nil {
		return err
	}
	m, err := machine.Lookup(s.Machine)
	if err != nil {
		return err
	}
	for _, key := range arm {
		if err := patch.Suits(m, s.Scheduler != "", key); err != nil {
			return err
		}
	}
	_, err = patch.Apply(base, arm)
	return err
}

// newArm returns an arm that none of those of s is: with the first patch that gives
// one, the newest first.
func newArm(s scenario.Scenario, arms [][]string) []string {
	known := func(arm []string) bool {
		return slices.ContainsFunc(arms, func(a []string) bool { return slices.Equal(a, arm) })
	}
	for i := range patch.Patches {
		if arm := []string{patch.Patches[len(patch.Patches)-1-i].Key}; fits(s, arm) == nil && !known(arm) {
			return arm
		}
	}
	for i := range patch.Patches {
		for _, part := range patch.Patches[i].Parts {
			if arm := []string{patch.Patches[i].Key + "." + part.Key}; fits(s, arm) == nil && !known(arm) {
				return arm
			}
		}
	}
	return nil
}
