package scenario

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/patch"
	"schedlab/core/sim"
	"schedlab/core/workload"
)

// Parse reads a link: a query with or without its question mark, or a whole
// URL, of which the query counts. It returns the nearest valid scenario: what
// is wrong in the link has its default instead, and a Problem.
//
// A missing v or model means the current one.
func Parse(link string) (Scenario, []Problem) {
	if len(link) > MaxLink {
		return Default(), []Problem{problem("link", link, fmt.Sprintf("at most %d bytes, not %d", MaxLink, len(link)))}
	}
	var p parser
	p.split(queryOf(link))
	s := p.scenario()
	p.unknown(s)
	return s, p.problems
}

// queryOf cuts the query out of a link.
func queryOf(link string) string {
	link, _, _ = strings.Cut(strings.TrimSpace(link), "#")
	// What stands before the question mark is a URL's address, unless it looks like
	// part of a query: then it is one, with a slip in it.
	address, query, ok := strings.Cut(link, "?")
	switch {
	case ok && !strings.ContainsAny(address, "=&"):
		return query
	case !ok && !strings.Contains(link, "=") && strings.Contains(link, "://"):
		return ""
	}
	return link
}

// A parser holds what is left to read of a link.
type parser struct {
	keys     []string          // of scalar values not read yet, as the link has them
	values   map[string]string // by key
	arms     []string
	problems []Problem
}

const maxProblems = 20 // a page full: who sees so many starts again

func (p *parser) bad(key, value, want string) { p.add(problem(key, value, want)) }

func (p *parser) add(problem Problem) {
	switch n := len(p.problems); {
	case n < maxProblems:
		p.problems = append(p.problems, problem)
	case n == maxProblems:
		p.problems = append(p.problems, Problem{Key: "link", Value: "…", Want: "fewer problems: the rest is not listed"})
	}
}

// split takes the query apart into keys and values.
func (p *parser) split(query string) {
	p.values = make(map[string]string)
	for piece := range strings.SplitSeq(query, "&") {
		if piece == "" {
			continue
		}
		rawKey, rawValue, _ := strings.Cut(piece, "=")
		key, err1 := url.QueryUnescape(rawKey)
		value, err2 := url.QueryUnescape(rawValue)
		first, twice := p.values[key]
		switch {
		case err1 != nil || err2 != nil:
			p.bad(rawKey, rawValue, "two hexadecimal digits after each %")
		case key == "arm":
			p.arms = append(p.arms, value)
		case twice:
			p.bad(key, value, "this key only once: it already is "+clip(first))
		default:
			p.keys = append(p.keys, key)
			p.values[key] = value
		}
	}
}

// take returns the value of a key, once.
func (p *parser) take(key string) (value string, ok bool) {
	if value, ok = p.values[key]; ok {
		p.keys = slices.DeleteFunc(p.keys, func(k string) bool { return k == key })
	}
	return value, ok
}

// choice reads a key whose values are names.
func (p *parser) choice(key, def string, allowed []string) string {
	value, ok := p.take(key)
	if !ok {
		return def
	}
	if !slices.Contains(allowed, value) {
		p.bad(key, value, OneOf(value, allowed))
		return def
	}
	return value
}

// number reads a key whose values are whole numbers.
func (p *parser) number(key string, def, least, most int64) int64 {
	value, ok := p.take(key)
	if !ok {
		return def
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < least || n > most {
		p.bad(key, value, fmt.Sprintf("a whole number from %d to %d", least, most))
		return def
	}
	return n
}

// scenario reads all known keys.
func (p *parser) scenario() Scenario {
	s := Default()
	p.choice("v", "", []string{strconv.Itoa(Version)})
	if made := p.number("model", kernel.Model, 1, 1<<31-1); made != kernel.Model {
		p.add(Problem{Key: "model", Value: strconv.FormatInt(made, 10), Notice: true,
			Want: fmt.Sprintf("this is model %d, so results can differ from those that the link was made with", kernel.Model)})
	}
	s.Machine = p.choice("m", s.Machine, Machines())
	s.Kernel = p.choice("k", s.Kernel, Kernels())
	s.RT = p.number("rt", 0, 0, 1) == 1
	s.Scheduler = p.scheduler(s)
	s.Workload = p.choice("w", s.Workload, Workloads())
	s.Params = p.params(s)
	s.Metric = p.metric(s)
	s.Arms = p.patches(s)
	s.Idle = p.idle(s)
	s.Background = p.choice("bg", s.Background, Backgrounds())
	s.Runs = p.runs(s)
	s.Seed = uint32(p.number("seed", int64(s.Seed), 0, 1<<32-1))
	s.Costs = p.costs(s)
	s.Check = p.number("check", 0, 0, 1) == 1
	return s
}

// scheduler reads which sched_ext scheduler is loaded: none on a kernel that can't have one.
func (p *parser) scheduler(s Scenario) string {
	key := p.choice("scx", "", Schedulers())
	if key == "" {
		return ""
	}
	var able []string
	for i := range kernel.Bases {
		if b := &kernel.Bases[i]; b.SchedExt {
			able = append(able, b.Key)
		}
	}
	if !slices.Contains(able, s.Kernel) {
		slices.Sort(able)
		if k, given := p.values["k"]; given && k != s.Kernel {
			return "" // that k is no kernel was said, and what stands for it is nobody's choice
		}
		p.bad("scx", key, fmt.Sprintf("a kernel with sched_ext, k=%s: %s has none", strings.Join(able, " or k="), s.Kernel))
		return ""
	}
	return key
}

// runs reads the number of runs per arm: as many as the machine's CPUs can have
// their time summed over.
func (p *parser) runs(s Scenario) int {
	runs := int(p.number("runs", int64(s.Runs), 1, MaxRuns))
	w, _ := workload.Lookup(s.Workload)
	m, err := machine.Lookup(s.Machine)
	if err != nil || w.Longest == nil {
		return runs
	}
	most := max(int(sim.Never/w.Longest(m, s.Params)/sim.Time(len(m.CPUs))), 1)
	if runs > most {
		p.bad("runs", strconv.Itoa(runs), fmt.Sprintf("at most %d when each is so long", most))
		return min(most, s.Runs)
	}
	return runs
}

// params reads the parameters of the scenario's workload.
func (p *parser) params(s Scenario) workload.Values {
	w, _ := workload.Lookup(s.Workload)
	m, err := machine.Lookup(s.Machine)
	def := s.defaultParams()
	if err != nil {
		return def
	}
	values := slices.Clone(def)
	for i := range w.Params {
		switch param := &w.Params[i]; param.Kind {
		case workload.Int:
			values[i].N = p.number(param.Key, def[i].N, param.Min, param.Max)
		case workload.Bool:
			values[i].N = p.number(param.Key, def[i].N, 0, 1)
		case workload.Choice:
			word := p.choice(param.Key, param.Choices[def[i].N], param.Choices)
			values[i].N = int64(slices.Index(param.Choices, word))
		case workload.CPUs:
			if list, ok := p.take(param.Key); ok {
				cpus, want := parseCPUs(list, len(m.CPUs), param.Min, param.Max)
				if want != "" {
					p.bad(param.Key, list, want)
					continue
				}
				values[i].CPUs = cpus
			}
		}
	}
	if w.Check == nil {
		return values
	}
	// Values that are right one by one may not go together. Defaults do, so
	// this ends with them at the latest.
	blamed := false
	for range len(values) + 1 {
		key, want := w.Check(m, values)
		i := w.Param(key)
		if i < 0 {
			return values
		}
		value := FormatValue(&w.Params[i], values[i])
		if value == FormatValue(&w.Params[i], def[i]) {
			if !blamed {
				p.bad(key, value, want)
			}
			break // it is another parameter's fault
		}
		p.bad(key, value, want)
		blamed = true
		values[i] = def[i]
	}
	return def
}

// metric reads what runs are judged by.
func (p *parser) metric(s Scenario) string {
	metrics := Metrics(s)
	if value := p.values["metric"]; value == ClockReads && s.Scheduler == "" {
		p.take("metric")
		p.bad("metric", value, "a sched_ext scheduler whose reads can be counted: scx="+strings.Join(Schedulers(), ", "))
		return ""
	}
	if key := p.choice("metric", metrics[0], metrics); key != metrics[0] {
		return key
	}
	return ""
}

// patches reads the arms.
func (p *parser) patches(s Scenario) [][]string {
	base, _ := kernel.LookupBase(s.Kernel)
	m, _ := machine.Lookup(s.Machine)
	var arms [][]string
	for i, list := range p.arms {
		if i == MaxArms {
			p.bad("arm", list, fmt.Sprintf("at most %d arms, not %d", MaxArms, len(p.arms)))
			break
		}
		arm, ok := p.arm(m, base, s.Scheduler != "", list)
		known := slices.ContainsFunc(arms, func(a []string) bool { return sameSet(a, arm) })
		if ok && known {
			p.bad("arm", list, "each arm only once")
		}
		if known || !ok && len(arm) == 0 {
			continue // nothing is left of it that would say anything new
		}
		arms = append(arms, arm)
	}
	if len(arms) == 0 {
		return s.defaultArms()
	}
	return arms
}

// arm reads a list of patches and returns those that apply, and whether all do. loaded
// tells whether a sched_ext scheduler is.
func (p *parser) arm(m *machine.Machine, base kernel.Base, loaded bool, list string) (arm []string, ok bool) {
	ok = true
	if list == "" {
		return nil, ok
	}
	for key := range strings.SplitSeq(list, ",") {
		want := wantPatch(key)
		if want == "" {
			if _, err := patch.Apply(base, append(arm, key)); err != nil {
				want = "patches that apply: " + err.Error()
			} else if err := patch.Suits(m, loaded, key); err != nil {
				want = "patches that apply: " + err.Error()
			}
		}
		if want != "" {
			p.bad("arm", list, want)
			ok = false
			continue
		}
		arm = append(arm, key)
	}
	return arm, ok
}

// wantPatch says which patches or parts there are if key is none of them.
func wantPatch(key string) string {
	if _, _, err := patch.Lookup(key); err == nil {
		return ""
	}
	name, _, _ := strings.Cut(key, ".")
	for i := range patch.Patches {
		if p := &patch.Patches[i]; p.Key == name {
			parts := []string{p.Key}
			for _, part := range p.Parts {
				parts = append(parts, p.Key+"."+part.Key)
			}
			return OneOf(key, parts)
		}
	}
	return OneOf(key, Patches())
}

// defaultArms returns the default's arms, as far as they apply to the
// scenario's kernel.
func (s Scenario) defaultArms() [][]string {
	base, err := kernel.LookupBase(s.Kernel)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(Default().Arms, func(arm []string) bool {
		_, err := patch.Apply(base, arm)
		return err != nil
	})
}

// idle reads which idle states are enabled. What is so on the machine anyway is no
// change. The order is the machine's.
func (p *parser) idle(s Scenario) []string {
	list, ok := p.take("idle")
	m, err := machine.Lookup(s.Machine)
	if !ok || err != nil {
		return nil
	}
	var names []string
	for i := range m.Idle {
		names = append(names, m.Idle[i].Name)
	}
	var states []string
	for name := range strings.SplitSeq(list, ",") {
		if !slices.Contains(names, name) {
			p.bad("idle", list, "some of this machine's states: "+strings.TrimPrefix(OneOf(name, names), "one of "))
			return nil
		}
		if slices.Contains(states, name) {
			p.bad("idle", list, "each state only once: "+name)
			return nil
		}
		states = append(states, name)
	}
	states = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(states, name) })
	if slices.Equal(states, m.EnabledIdle()) {
		return nil
	}
	return states
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// costs reads the changed constants. One that is set to what it is on the
// machine anyway is not changed.
func (p *parser) costs(s Scenario) []Cost {
	m, err := machine.Lookup(s.Machine)
	if err != nil {
		return nil
	}
	var costs []Cost
	for i := range kernel.Costs {
		key := kernel.Costs[i].Key
		value, ok := p.take("c." + key)
		if !ok {
			continue
		}
		t, ok := sim.ParseNanoseconds(value)
		if !ok || t < 0 || t > kernel.MaxCost {
			p.bad("c."+key, value, fmt.Sprintf("nanoseconds from 0 to %s, with up to three decimals", kernel.MaxCost.Nanoseconds()))
			continue
		}
		if t != kernel.CostOn(m, kernel.Cost(i)).Value {
			costs = append(costs, Cost{key, t})
		}
	}
	return costs
}

// unknown reports the keys that nobody took.
func (p *parser) unknown(s Scenario) {
	names := keyNames(s)
	for _, key := range p.keys {
		if len(p.problems) > maxProblems {
			return // looking for similar names takes time
		}
		value := p.values[key]
		if cost, ok := strings.CutPrefix(key, "c."); ok {
			p.bad(key, value, "a constant of the model: c. and "+OneOf(cost, Costs()))
			continue
		}
		want := "a known key: " + OneOf(key, names)
		for _, w := range workload.Workloads {
			if w.Param(key) >= 0 {
				want = fmt.Sprintf("w=%s with this parameter: %s has none of this name", w.Key, s.Workload)
			}
		}
		p.bad(key, value, want)
	}
}

// keyNames lists the keys that a link of the scenario's workload may have.
func keyNames(s Scenario) []string {
	names := []string{"v", "model", "m", "k", "rt", "scx", "w"}
	w, _ := workload.Lookup(s.Workload)
	for i := range w.Params {
		names = append(names, w.Params[i].Key)
	}
	return append(names, "metric", "arm", "idle", "bg", "runs", "seed", "c.<cost>", "check")
}
