package scenario

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/patch"
	"schedlab/core/sim"
	"schedlab/core/workload"
)

var update = flag.Bool("update", false, "write the expansions of new links to testdata")

const example = "?v=1&m=epyc-2x64&k=6.11&w=ipistorm&arm=&arm=sm-idle-v1&bg=busy&runs=10&seed=1"

func TestDefault(t *testing.T) {
	for _, link := range []string{"", "?", "?v=1", "&&", "https://example.org/schedlab/", "https://example.org/#top", " ?v=1\n"} {
		s, problems := Parse(link)
		if len(problems) > 0 || !reflect.DeepEqual(s, Default()) {
			t.Errorf("Parse(%q) = %+v, %v: want the default", link, s, problems)
		}
	}
	if got, want := Default().Query(), fmt.Sprintf("?v=1&model=%d", kernel.Model); got != want {
		t.Errorf("the default's link is %s, want %s", got, want)
	}
	if _, err := Default().Resolve(); err != nil {
		t.Error(err)
	}
}

func TestParse(t *testing.T) {
	type change func(*Scenario)
	param := func(key string) int { return must(workload.Lookup("ipistorm")).Param(key) }
	for _, c := range []struct {
		link string
		want change
	}{
		{example, func(s *Scenario) { s.Arms = [][]string{nil, {"sm-idle-v1"}} }},
		{strings.TrimPrefix(example, "?"), func(s *Scenario) { s.Arms = [][]string{nil, {"sm-idle-v1"}} }},
		{"https://example.org/a/b" + example + "#verdict", func(s *Scenario) { s.Arms = [][]string{nil, {"sm-idle-v1"}} }},
		{"?arm", func(s *Scenario) { s.Arms = [][]string{nil} }},
		{"?arm=sm-idle-v1.fast,sm-idle-v1.above&arm=", func(s *Scenario) { s.Arms = [][]string{{"sm-idle-v1.fast", "sm-idle-v1.above"}, nil} }},
		{"?arm=sm%2Didle%2Dv1", func(s *Scenario) { s.Arms = [][]string{{"sm-idle-v1"}} }},
		{"?m=xeon-240", func(s *Scenario) { s.Machine = "xeon-240" }},
		{"?bg=quiet&seed=4294967295", func(s *Scenario) { s.Background, s.Seed = "quiet", 1<<32-1 }},
		{"?seed=0&runs=1000&check=1", func(s *Scenario) { s.Seed, s.Runs, s.Check = 0, 1000, true }},
		{"?check=0&runs=010", func(s *Scenario) {}},
		{"?numipi=1&wait=0", func(s *Scenario) { s.Params[param("numipi")].N, s.Params[param("wait")].N = 1, 0 }},
		{"?cpulist=255", func(s *Scenario) { s.Params[param("cpulist")].CPUs = []int{255} }},
		{"?cpulist=7-7,7", func(s *Scenario) { s.Params[param("cpulist")].CPUs = []int{7} }},
		{"?cpulist=0-3,8&single=0", func(s *Scenario) {
			s.Params[param("cpulist")].CPUs, s.Params[param("single")].N = []int{0, 1, 2, 3, 8}, 0
		}},
		{"?numipi=0&timeout=1&mask=7", func(s *Scenario) {
			s.Params[param("numipi")].N, s.Params[param("timeout")].N, s.Params[param("mask")].N = 0, 1, 7
		}},
		{"?rt=1", func(s *Scenario) { s.RT = true }},
		{"?k=6.12", func(s *Scenario) { s.Kernel, s.Arms = "6.12", [][]string{nil} }},
		{"?k=6.12&scx=lavd", func(s *Scenario) { s.Kernel, s.Scheduler, s.Arms = "6.12", "lavd", [][]string{nil} }},
		{"?scx=rusty&k=6.14&rt=1&arm=&arm=scx-ktime&metric=clock_reads", func(s *Scenario) {
			s.Kernel, s.Scheduler, s.RT, s.Metric, s.Arms = "6.14", "rusty", true, "clock_reads", [][]string{nil, {"scx-ktime"}}
		}},
		{"?idle=C1,POLL", func(s *Scenario) {}}, // as the machine has it
		{"?idle=C2,POLL", func(s *Scenario) { s.Idle = []string{"POLL", "C2"} }},
		{"?c.rq_visit=0", func(s *Scenario) { s.Costs = []Cost{{"rq_visit", 0}} }},
		{"?c.rq_visit=99999.999", func(s *Scenario) { s.Costs = []Cost{{"rq_visit", kernel.MaxCost - sim.Picosecond}} }},
		{"?c.rq_visit=" + rqVisit(t), func(s *Scenario) {}},
	} {
		want := Default()
		c.want(&want)
		got, problems := Parse(c.link)
		if len(problems) > 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("Parse(%q) =\n%+v, %v: want\n%+v", c.link, got, problems, want)
		}
		if _, err := got.Resolve(); err != nil {
			t.Errorf("%q: %v", c.link, err)
		}
	}
}

// rqVisit is what a visit costs on the default machine.
func rqVisit(t *testing.T) string {
	c, ok := kernel.LookupCost("rq_visit")
	if !ok {
		t.Fatal("no cost rq_visit")
	}
	return kernel.CostOn(must(machine.Lookup(Default().Machine)), c).Value.Nanoseconds()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// badLinks are links with exactly one thing wrong, with what the message must
// say of it.
var badLinks = []struct{ link, key, value, want string }{
	{"?runs=0", "runs", "0", "a whole number from 1 to 1000"},
	{"?runs=1000000000", "runs", "1000000000", "a whole number from 1 to 1000"},
	{"?runs=99999999999999999999", "runs", "99999999999999999999", "a whole number from 1 to 1000"},
	{"?runs=1e3", "runs", "1e3", "a whole number"},
	{"?runs=+5", "runs", " 5", "a whole number"},
	{"?runs=", "runs", "", "a whole number"},
	{"?runs", "runs", "", "a whole number"},
	{"?runs=5&runs=5", "runs", "5", "only once"},
	{"?seed=4294967296", "seed", "4294967296", "from 0 to 4294967295"},
	{"?seed=-1", "seed", "-1", "from 0 to 4294967295"},
	{"?check=2", "check", "2", "from 0 to 1"},
	{"?check=yes", "check", "yes", "from 0 to 1"},
	{"?v=99", "v", "99", "1"},
	{"?v=01", "v", "01", "1"},
	{"?v=1&v=1", "v", "1", "only once"},
	{"?model=x", "model", "x", "a whole number"},
	{"?model=0", "model", "0", "a whole number"},
	{"?m=epyc", "m", "epyc", "epyc-2x64, "},
	{"?m=epyc-2x46", "m", "epyc-2x46", "perhaps epyc-2x64"},
	{"?m=EPYC-2x64", "m", "EPYC-2x64", "epyc-2x64"},
	{"?k=2.4", "k", "2.4", "6.11"},
	{"?scx=lavd", "scx", "lavd", "a kernel with sched_ext, k=6.12 or k=6.14: 6.11 has none"},
	{"?k=6.1&scx=simple", "scx", "simple", "k=6.12 or k=6.14: 6.1 has none"},
	{"?k=6.12&scx=lavdd", "scx", "lavdd", "one of lavd, bpfland, rusty, simple, central, flatcg; perhaps lavd"},
	{"?k=6.12&scx=", "scx", "", "one of lavd, bpfland, "},
	{"?scx=none", "scx", "none", "one of lavd, bpfland, "},
	{"?k=6.12&scx=lavd&scx=lavd", "scx", "lavd", "only once"},
	{"?k=6.12&arm=&arm=scx-now", "arm", "scx-now", "scx-now needs a sched_ext scheduler: scx=lavd, bpfland, rusty, simple, central, flatcg"},
	{"?k=6.14&scx=lavd&arm=&arm=scx-now", "arm", "scx-now", "scx-now applies to 6.12, not to 6.14"},
	{"?k=6.12&scx=lavd&arm=&arm=nohz-csd", "arm", "nohz-csd", "about the fair class, which has no tasks"},
	{"?k=6.12&metric=clock_reads", "metric", "clock_reads", "scx=lavd"},
	{"?w=ipistrom", "w", "ipistrom", "ipistorm"},
	{"?bg=noisy", "bg", "noisy", "quiet, housekeeping"},
	{"?bg=quite", "bg", "quite", "perhaps quiet"},
	{"?frobnicate=1", "frobnicate", "1", "a known key: one of v, model, m, k, rt, scx, w, numipi, "},
	{"?rnus=1", "rnus", "1", "perhaps runs"},
	{"?Runs=1", "Runs", "1", "perhaps runs"},
	{"?=1", "", "1", "a known key"},
	{"?<script>=1", "<script>", "1", "a known key"},
	{"?runs=%zz", "runs", "%zz", "two hexadecimal digits after each %"},
	{"?runs=5%", "runs", "5%", "two hexadecimal digits after each %"},
	{"?%a=5", "%a", "5", "two hexadecimal digits after each %"},
	{"?arm=&arm=%f", "arm", "%f", "two hexadecimal digits after each %"},
	{"?arm=sm-idle-v3", "arm", "sm-idle-v3", "sm-idle-v"},
	{"?arm=sm-idle-v1.quick", "arm", "sm-idle-v1.quick", "sm-idle-v1.fast"},
	{"?arm=sm-idle-v1,", "arm", "sm-idle-v1,", "one of "},
	{"?arm=sm-idle-v1,sm-idle-v2", "arm", "sm-idle-v1,sm-idle-v2", "exclude each other"},
	{"?arm=sm-idle-v1,sm-idle-v1", "arm", "sm-idle-v1,sm-idle-v1", "twice"},
	{"?k=5.4&m=kunpeng-920&arm=select-idle-core", "arm", "select-idle-core", "needs a machine whose cores have more than one thread"},
	{"?arm=select-idle-core", "arm", "select-idle-core", "applies to 5.4, not to 6.11"},
	{"?arm=&arm=", "arm", "", "each arm only once"},
	{"?arm=sm-idle-v1.fast,sm-idle-v1.above&arm=sm-idle-v1.above,sm-idle-v1.fast", "arm", "sm-idle-v1.above,sm-idle-v1.fast", "each arm only once"},
	{"?c.rq_visit=-1", "c.rq_visit", "-1", "nanoseconds from 0 to 100000"},
	{"?c.rq_visit=100000.001", "c.rq_visit", "100000.001", "nanoseconds from 0 to 100000"},
	{"?c.rq_visit=0.0001", "c.rq_visit", "0.0001", "up to three decimals"},
	{"?c.rq_visit=1e3", "c.rq_visit", "1e3", "nanoseconds"},
	{"?c.rq_visit=NaN", "c.rq_visit", "NaN", "nanoseconds"},
	{"?c.rq_visits=1", "c.rq_visits", "1", "rq_visit"},
	{"?c.=1", "c.", "1", "a constant of the model"},
	{"?c.rq_visit=1&c.rq_visit=1", "c.rq_visit", "1", "only once"},
	{"?numipi=0", "numipi", "0", "at least 1, or a timeout"},
	{"?numipi=-1", "numipi", "-1", "a whole number from 0 to 10000000"},
	{"?timeout=61", "timeout", "61", "a whole number from 0 to 60"},
	{"?mask=65536", "mask", "65536", "a whole number from 0 to 65535"},
	{"?w=netperf&test=TCP_RRR", "test", "TCP_RRR", "perhaps TCP_RR"},
	{"?w=netperf&test=0", "test", "0", "one of TCP_RR, UDP_RR, TCP_STREAM, UDP_STREAM"},
	{"?w=hackbench&groups=501", "groups", "501", "at most 500 with fds=20: 20000 tasks"},
	{"?w=hackbench&metric=tps", "metric", "tps", "one of time, throughput, cpu"},
	{"?idle=C9", "idle", "C9", "some of this machine's states: POLL, C1, C2"},
	{"?idle=", "idle", "", "some of this machine's states: POLL, C1, C2"},
	{"?idle=C1,C1", "idle", "C1,C1", "each state only once: C1"},
	{"?m=power9-smt8&idle=C1", "idle", "C1", "some of this machine's states: snooze"},
	{"?wait=2", "wait", "2", "from 0 to 1"},
	{"?single=2", "single", "2", "a whole number from 0 to 1"},
	{"?cpulist=256", "cpulist", "256", "from 0 to 255"},
	{"?m=xeon-240&cpulist=240", "cpulist", "240", "from 0 to 239"},
	{"?cpulist=0-4294967295", "cpulist", "0-4294967295", "from 0 to 255"},
	{"?cpulist=0-99999999999999999999", "cpulist", "0-99999999999999999999", "from 0 to 255"},
	{"?m=vm-2&cpulist=0-2", "cpulist", "0-2", "from 0 to 1"},
	{"?cpulist=3-0", "cpulist", "3-0", "a list such as 0-1,3"},
	{"?cpulist=1,", "cpulist", "1,", "a list such as 0-1,3"},
	{"?cpulist=1--2", "cpulist", "1--2", "a list such as 0-1,3"},
	{"?cpulist=-1", "cpulist", "-1", "a list such as 0-1,3"},
	{"?cpulist=a", "cpulist", "a", "a list such as 0-1,3"},
	{"?cpulist=", "cpulist", "", "a list such as 0-1,3"},
	{"?bg=%1b%5b2J", "bg", `\x1b[2J`, "one of "},
	{"?bg=%e2%80%ae", "bg", `\u202e`, "one of "},
	{"?bg=%ff", "bg", "\ufffd", "one of "},
	{"?x%00y=1", `x\x00y`, "1", "a known key"},
}

func TestParseBad(t *testing.T) {
	for _, c := range badLinks {
		s, problems := Parse(c.link)
		if len(problems) != 1 {
			t.Errorf("Parse(%q): %d problems: %v", c.link, len(problems), problems)
			continue
		}
		p := problems[0]
		if p.Key != c.key || p.Value != c.value || !strings.Contains(p.Want, c.want) || p.Notice {
			t.Errorf("Parse(%q): %v: want key %q, value %q and %q", c.link, p, c.key, c.value, c.want)
		}
		if got, want := p.Error(), c.key+"="+c.value+": want "+p.Want; got != want {
			t.Errorf("Parse(%q): message %q, want %q", c.link, got, want)
		}
		if _, err := s.Resolve(); err != nil {
			t.Errorf("Parse(%q) is not valid: %v", c.link, err)
		}
	}
}

// TestParseNearest: what is right in a link is kept, and what is wrong has its
// default instead.
func TestParseNearest(t *testing.T) {
	for _, c := range []struct{ link, want string }{
		{"?m=xeon-240&runs=0&seed=7&bg=loud", "?m=xeon-240&seed=7"},
		{"?runs=5&runs=6", "?runs=5"},
		{"?arm=sm-idle-v1,nonsense&arm=nonsense", "?arm=sm-idle-v1"},
		{"?arm=sm-idle-v1,sm-idle-v2", "?arm=sm-idle-v1"},
		{"?arm=sm-idle-v1&arm=sm-idle-v1,nonsense", "?arm=sm-idle-v1"},
		{"?arm=nonsense", "?"},
		{"?numipi=0&offset=3", "?offset=3"},
		{"?v=99&runs=3", "?runs=3"},
		{"?scx=lavd&runs=3", "?runs=3"},
		{"?k=6.12&scx=levd&runs=3", "?k=6.12&runs=3"},
		{"?k=6.11&scx=lavd&metric=clock_reads&arm=&arm=scx-now", "?k=6.11&arm="},
		{"?k=6.12&scx=lavd&arm=&arm=scx-now,irq-nosync", "?k=6.12&scx=lavd&arm=&arm=scx-now"},
	} {
		got, problems := Parse(c.link)
		want, none := Parse(c.want)
		if len(problems) == 0 || len(none) > 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("Parse(%q) = %s, %v: want %s", c.link, got.Query(), problems, want.Query())
		}
	}
}

func TestParseOtherModel(t *testing.T) {
	s, problems := Parse(fmt.Sprintf("?v=1&model=%d&runs=3", kernel.Model+1))
	if len(problems) != 1 || !problems[0].Notice || problems[0].Key != "model" {
		t.Fatalf("problems %v, want one notice", problems)
	}
	want := fmt.Sprintf("model=%d: this is model %d, so results can differ from those that the link was made with", kernel.Model+1, kernel.Model)
	if got := problems[0].String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := s.Query(), fmt.Sprintf("?v=1&model=%d&runs=3", kernel.Model); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestParseManyArms(t *testing.T) {
	arms := []string{"", "sm-idle-v1", "sm-idle-v2", "sm-idle-v1.fast", "sm-idle-v1.above", "sm-idle-v2.fast",
		"sm-idle-v2.exact", "sm-idle-v1.fast,sm-idle-v1.above"}
	link := "?arm=" + strings.Join(arms, "&arm=")
	s, problems := Parse(link)
	if len(problems) > 0 || len(s.Arms) != MaxArms {
		t.Errorf("%d arms, %v", len(s.Arms), problems)
	}
	s, problems = Parse(link + "&arm=sm-idle-v2.fast,sm-idle-v2.exact&arm=nonsense")
	if len(s.Arms) != MaxArms || len(problems) != 1 || problems[0].Want != "at most 8 arms, not 10" {
		t.Errorf("%d arms, %v", len(s.Arms), problems)
	}
}

// TestParseLong: links that are too long, or long and wrong in every way, are
// refused at once, with few and short messages.
func TestParseLong(t *testing.T) {
	fill := func(s string) string { return "?" + strings.Repeat(s, (MaxLink-1)/len(s)) }
	var keys strings.Builder
	for i := 0; keys.Len() < MaxLink-100; i++ {
		fmt.Fprintf(&keys, "&c.a-name-of-nearly-forty-bytes-%08d=1", i)
	}
	for name, link := range map[string]string{
		"100 KB":       "?runs=" + strings.Repeat("9", 100_000),
		"just too big": "?" + strings.Repeat("&", MaxLink),
		"keys":         keys.String(),
		"one key":      fill("x&"),
		"arms":         fill("arm=&"),
		"patches":      "?arm=" + strings.Repeat("x,", 8000),
		"percents":     fill("%&"),
		"cpulist":      "?cpulist=" + strings.Repeat("0-255,", 2700),
		"long value":   "?m=" + strings.Repeat("é", 8000),
		"escapes":      fill("%1b"),
		"equals":       fill("="),
	} {
		start := time.Now()
		s, problems := Parse(link)
		if d := time.Since(start); d > time.Second {
			t.Errorf("%s: took %v", name, d)
		}
		if len(problems) == 0 || len(problems) > maxProblems+1 {
			t.Errorf("%s: %d problems", name, len(problems))
		}
		for _, p := range problems {
			if n := len(p.String()); n > 2000 {
				t.Errorf("%s: a message of %d bytes", name, n)
			}
		}
		if _, err := s.Resolve(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, problems := Parse("?runs=" + strings.Repeat("9", 100_000))
	if got, want := problems[0].String(), "link=?runs="+strings.Repeat("9", 71)+"…: want at most 16384 bytes, not 100006"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, problems := Parse("?" + strings.Repeat("&", MaxLink-1)); len(problems) > 0 {
		t.Errorf("a link of %d bytes: %v", MaxLink, problems)
	}
}

func TestResolve(t *testing.T) {
	s, problems := Parse("?m=xeon-240&bg=quiet&arm=&arm=sm-idle-v1&arm=sm-idle-v2.exact&c.rq_visit=1.5")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	r, err := s.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	if r.Machine.Key != "xeon-240" || r.Workload.Key != "ipistorm" || r.Background.Key != "quiet" {
		t.Errorf("%s, %s, %s", r.Machine.Key, r.Workload.Key, r.Background.Key)
	}
	want := []kernel.Features{
		{IdleCoreExit: true},
		{IdleReentry: kernel.IdleFast, PreemptTest: kernel.PreemptAbove, IdleCoreExit: true},
		{PreemptTest: kernel.PreemptExactly, IdleCoreExit: true},
	}
	if len(r.Kernels) != len(want) {
		t.Fatalf("%d kernels", len(r.Kernels))
	}
	for i, k := range r.Kernels {
		if k.Features != want[i] || k.Key != "6.11" {
			t.Errorf("arm %d: %+v, want %+v", i, k, want[i])
		}
	}
	changed, _ := kernel.LookupCost("rq_visit")
	for i, cost := range kernel.CostsOn(r.Machine) {
		if kernel.Cost(i) == changed {
			cost = 1500 * sim.Picosecond
		}
		if r.Costs[i] != cost {
			t.Errorf("%s: %v, want %v", kernel.Costs[i].Key, r.Costs[i], cost)
		}
	}
}

// TestResolveInvalid: a scenario that a program spoiled is refused, whatever it did.
func TestResolveInvalid(t *testing.T) {
	for name, spoil := range map[string]func(*Scenario){
		"zero":          func(s *Scenario) { *s = Scenario{} },
		"machine":       func(s *Scenario) { s.Machine = "x&runs=3" },
		"kernel":        func(s *Scenario) { s.Kernel = "" },
		"workload":      func(s *Scenario) { s.Workload = "x" },
		"no values":     func(s *Scenario) { s.Params = nil },
		"value missing": func(s *Scenario) { s.Params = s.Params[:1] },
		"extra value":   func(s *Scenario) { s.Params = append(s.Params, workload.Value{}) },
		"value":         func(s *Scenario) { s.Params[0].N = -1 },
		"CPUs":          func(s *Scenario) { s.Params[must(workload.Lookup("ipistorm")).Param("cpulist")].CPUs = nil },
		"no arms":       func(s *Scenario) { s.Arms = nil },
		"arm":           func(s *Scenario) { s.Arms[1] = []string{"x"} },
		"empty patch":   func(s *Scenario) { s.Arms[1] = []string{"", "sm-idle-v1"} },
		"same arm":      func(s *Scenario) { s.Arms[1] = nil },
		"no idle state": func(s *Scenario) { s.Idle = []string{} },
		"idle state":    func(s *Scenario) { s.Idle = []string{"C1", "C9"} },
		"background":    func(s *Scenario) { s.Background = "?" },
		"runs":          func(s *Scenario) { s.Runs = 0 },
		"many runs":     func(s *Scenario) { s.Runs = MaxRuns + 1 },
		"cost":          func(s *Scenario) { s.Costs = []Cost{{"x", 1}} },
		"negative cost": func(s *Scenario) { s.Costs = []Cost{{"rq_visit", -1}} },
		"cost twice":    func(s *Scenario) { s.Costs = []Cost{{"rq_visit", 1}, {"rq_visit", 1}} },
	} {
		s := Default()
		spoil(&s)
		if _, err := s.Resolve(); err == nil {
			t.Errorf("%s: no error for %+v", name, s)
		}
	}
}

// TestCatalogues: every machine runs every workload with the values that a
// link leaves out, and every name can stand in a link as it is.
func TestCatalogues(t *testing.T) {
	name := regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	lists := map[string][]string{"machines": Machines(), "kernels": Kernels(), "workloads": Workloads(),
		"backgrounds": Backgrounds(), "patches": Patches(), "costs": Costs()}
	for i := range patch.Patches {
		for _, part := range patch.Patches[i].Parts {
			lists["parts of "+patch.Patches[i].Key] = append(lists["parts of "+patch.Patches[i].Key], part.Key)
		}
	}
	for _, w := range workload.Workloads {
		lists["keys of "+w.Key] = keyNames(Scenario{Workload: w.Key})
		lists["keys of "+w.Key] = slices.DeleteFunc(lists["keys of "+w.Key], func(k string) bool { return k == "c.<cost>" })
	}
	for list, keys := range lists {
		seen := map[string]bool{}
		for _, key := range keys {
			if !name.MatchString(key) || seen[key] {
				t.Errorf("%s: %q is no name for a link, or there twice", list, key)
			}
			if strings.HasPrefix(list, "keys") && strings.HasPrefix(key, "c.") || strings.HasPrefix(list, "p") && strings.Contains(key, ".") {
				t.Errorf("%s: %q reads as something else", list, key)
			}
			seen[key] = true
		}
		if len(keys) == 0 {
			t.Errorf("no %s", list)
		}
	}
	for _, m := range Machines() {
		for _, w := range Workloads() {
			for _, k := range Kernels() {
				for _, bg := range Backgrounds() {
					link := "?m=" + m + "&w=" + w + "&k=" + k + "&bg=" + bg
					s, problems := Parse(link)
					if len(problems) > 0 {
						t.Errorf("%s: %v", link, problems)
					} else if _, err := s.Resolve(); err != nil {
						t.Errorf("%s: %v", link, err)
					}
				}
			}
		}
	}
}

// TestFit: a workload whose defaults do not fit a machine still has values there,
// and only what differs from those is in the link.
func TestFit(t *testing.T) {
	w := &workload.Workload{
		Key: "test-fit",
		Params: []workload.Param{
			{Key: "cpus", Kind: workload.CPUs, Def: 9, Min: 2, Max: 4},
			{Key: "n", Def: 50, Min: 2, Max: 100},
			{Key: "flag", Kind: workload.Bool, Def: 1},
		},
		Check: func(m *machine.Machine, v workload.Values) (string, string) {
			switch {
			case v[0].CPUs[len(v[0].CPUs)-1] > 3:
				return "cpus", "CPUs up to 3"
			case v[1].N != 2 && v[1].N != 7:
				return "n", "2 or 7"
			case v[2].N == 1 && v[1].N == 7:
				return "flag", "0 with n=7"
			}
			return "", ""
		},
		Fit: func(_ *machine.Machine, v workload.Values) {
			v[0].CPUs, v[1].N = []int{0, 1}, 2
		},
		Metrics: func(*machine.Machine, workload.Values) []workload.Metric { return []workload.Metric{{Key: "only"}} },
	}
	workload.Workloads = append(workload.Workloads, w)
	defer func() { workload.Workloads = workload.Workloads[:len(workload.Workloads)-1] }()
	for _, c := range []struct{ link, want, problem string }{
		{"", "cpus=0-1&n=2&flag=1", ""},
		{"&n=7", "cpus=0-1&n=2&flag=1", "flag=1: want 0 with n=7"},
		{"&n=7&flag=0", "cpus=0-1&n=7&flag=0", ""},
		{"&n=8&flag=0", "cpus=0-1&n=2&flag=0", "n=8: want 2 or 7"},
		{"&cpus=0,2-3", "cpus=0,2-3&n=2&flag=1", ""},
		{"&cpus=4-5", "cpus=0-1&n=2&flag=1", "cpus=4-5: want CPUs up to 3"},
		{"&cpus=0", "cpus=0-1&n=2&flag=1", "cpus=0: want a list such as 0-1,3 of CPUs from 0 to 255, 2 to 4 of them, not 1"},
		{"&numipi=3", "cpus=0-1&n=2&flag=1", "numipi=3: want w=ipistorm with this parameter: test-fit has none of this name"},
	} {
		s, problems := Parse("?w=test-fit" + c.link)
		if !strings.Contains(s.query(true), "&"+c.want+"&") {
			t.Errorf("%s: %s, want %s", c.link, s.query(true), c.want)
		}
		if got := fmt.Sprint(problems); got != "["+c.problem+"]" {
			t.Errorf("%s: %s, want %s", c.link, got, c.problem)
		}
		roundTrip(t, s)
	}
}

func TestCPULists(t *testing.T) {
	for _, c := range []struct {
		list string
		want []int
		text string
	}{
		{"0", []int{0}, "0"},
		{"0-3,8", []int{0, 1, 2, 3, 8}, "0-3,8"},
		{"8,0-1", []int{0, 1, 8}, "0-1,8"},
		{"1,2,3,5,7", []int{1, 2, 3, 5, 7}, "1-3,5,7"},
		{"0-2,1-4", []int{0, 1, 2, 3, 4}, "0-4"},
		{"9-9", []int{9}, "9"},
	} {
		got, want := parseCPUs(c.list, 10, 1, 10)
		if want != "" || !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, %s", c.list, got, want)
		}
		if text := FormatCPUs(got); text != c.text {
			t.Errorf("%q: %q, want %q", c.list, text, c.text)
		}
	}
}

// TestGoldenLinks: published links keep working. With -update, links in the
// file that stand alone get their two further lines.
func TestGoldenLinks(t *testing.T) {
	const file = "testdata/links-v1.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	current := fmt.Sprintf("model=%d", kernel.Model)
	var out strings.Builder
	links := 0
	for block := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		if strings.HasPrefix(block, "#") {
			out.WriteString(block + "\n")
			continue
		}
		lines := strings.Split(block, "\n")
		s, problems := Parse(lines[0])
		for _, p := range problems {
			if !p.Notice {
				t.Errorf("%s: %v", lines[0], p)
			}
		}
		canonical := strings.Replace(s.Query(), current, "model=N", 1)
		spelled := strings.Replace(s.query(true), current, "model=N", 1)
		if *update && len(lines) == 1 {
			lines = append(lines, canonical, spelled)
		}
		if len(lines) != 3 {
			t.Fatalf("%s: %d lines, want 3", lines[0], len(lines))
		}
		if lines[1] != canonical {
			t.Errorf("%s: now is %s, not %s", lines[0], canonical, lines[1])
		}
		// Parameters that came later may be missing here, if their defaults
		// are what went without saying.
		meant, problems := Parse(strings.Replace(lines[2], "model=N", current, 1))
		if len(problems) > 0 || !reflect.DeepEqual(s, meant) {
			t.Errorf("%s: now means %s, not %s %v", lines[0], spelled, lines[2], problems)
		}
		fmt.Fprintf(&out, "\n%s\n", strings.Join(lines, "\n"))
		links++
	}
	if links < 10 {
		t.Errorf("%d links in %s", links, file)
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(file, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// roundTrip fails unless s is valid and its link, short or spelled out, is s.
func roundTrip(t *testing.T, s Scenario) {
	t.Helper()
	if _, err := s.Resolve(); err != nil {
		t.Errorf("%+v: %v", s, err)
	}
	for _, link := range []string{s.query(false), s.query(true)} {
		again, problems := Parse(link)
		if len(problems) > 0 || !reflect.DeepEqual(again, s) {
			t.Errorf("%s gives\n%+v, %v, not\n%+v", link, again, problems, s)
		}
		if again.Query() != s.Query() {
			t.Errorf("%s became %s", s.Query(), again.Query())
		}
	}
}

// TestRoundTrip makes links with many of the allowed values.
func TestRoundTrip(t *testing.T) {
	r := sim.NewRand(1, 0, sim.Ties)
	pick := func(list []string) string { return list[r.Below(int64(len(list)))] }
	for range 500 {
		link := fmt.Sprintf("?m=%s&k=%s&w=%s&bg=%s&runs=%d&seed=%d&check=%d", pick(Machines()), pick(Kernels()), pick(Workloads()),
			pick(Backgrounds()), 1+r.Below(MaxRuns), r.Below(1<<32), r.Below(2))
		s, _ := Parse(link)
		w, _ := workload.Lookup(s.Workload)
		for i := range w.Params {
			p := &w.Params[i]
			switch {
			case r.Below(2) == 0:
			case p.Kind == workload.Int:
				link += fmt.Sprintf("&%s=%d", p.Key, p.Min+r.Below(p.Max-p.Min+1))
			case p.Kind == workload.Bool:
				link += fmt.Sprintf("&%s=%d", p.Key, r.Below(2))
			case p.Kind == workload.CPUs:
				link += fmt.Sprintf("&%s=%d", p.Key, r.Below(300))
			case p.Kind == workload.Choice:
				link += "&" + p.Key + "=" + pick(p.Choices)
			}
		}
		if base, _ := kernel.LookupBase(s.Kernel); base.SchedExt && r.Below(2) == 0 {
			link += "&scx=" + pick(Schedulers()) + pick([]string{"", "&metric=clock_reads"})
		}
		for range r.Below(4) {
			link += "&arm=" + pick(append(Patches(), "", "sm-idle-v1.fast", "sm-idle-v1.fast,sm-idle-v1.above"))
		}
		for _, c := range Costs() {
			if r.Below(3) == 0 {
				link += "&c." + c + "=" + r.Between(0, kernel.MaxCost).Nanoseconds()
			}
		}
		s, _ = Parse(link)
		roundTrip(t, s)
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range badLinks {
		f.Add(c.link)
	}
	file, err := os.Open("testdata/links-v1.txt")
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		f.Add(lines.Text())
	}
	f.Fuzz(func(t *testing.T, link string) {
		s, problems := Parse(link)
		roundTrip(t, s)
		for _, p := range problems {
			text := p.String()
			if p.Key == "" && p.Value == "" && p.Want == "" || clip(p.Key) != p.Key || clip(p.Value) != p.Value {
				t.Errorf("%q: problem %+v", link, p)
			}
			if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
				t.Errorf("%q: message %q", link, text)
			}
		}
	})
}

func FuzzClip(f *testing.F) {
	f.Add(strings.Repeat("a", maxShown))
	f.Add(strings.Repeat("a", maxShown+1))
	f.Add(strings.Repeat("é", maxShown))
	f.Add("\x1b[31mred\x1b[0m\xff\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		c := clip(s)
		if len(c) > maxShown || clip(c) != c {
			t.Errorf("clip(%q) = %q, of %d bytes, then %q", s, c, len(c), clip(c))
		}
		if len(s) <= maxShown && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) && c != s {
			t.Errorf("clip(%q) = %q", s, c)
		}
	})
}
