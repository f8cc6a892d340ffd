package lab

import (
	"slices"
	"strings"
	"sync"

	"schedlab/core/evidence"
	"schedlab/core/patch"
	"schedlab/core/scenario"
	"schedlab/core/workload"
)

// A Preset is a question that the page offers.
type Preset struct {
	Title string // short
	Text  string // all of it
	Query string
}

// family compares all designs for one problem.
const family = "?m=xeon-240&arm=&arm=always-ipi&arm=skip-newidle&arm=notify-ipi&arm=sm-idle-v2"

// posted are rows of the other threads that are offered, by their keys, each shortened to
// what takes seconds in a browser.
var posted = []struct {
	title, key string
	length     int64 // of the workload's Length
}{
	{"hackbench on 36 cores, pipes", "irq-nosync-hackbench-process-pipes-48", 40},
	{"hackbench on 36 cores, sockets", "irq-nosync-hackbench-process-sockets-48", 40},
	{"pgbench on 36 cores", "irq-nosync-pgbench-12", 200},
	{"hackbench, test robot", "sm-idle-robot-hackbench-hackbench-pipe-process-%25", 50},
	{"schbench, test robot", "sm-idle-robot-schbench-request_latency_90%_us-12.5%-mthread-16-workers", 1000},
	{"netperf, test robot", "sm-idle-robot-netperf-TCP_RR-25%", 20},
	{"schbench on POWER9", "select-idle-core-power9", 3000},
	{"clock reads of scx_lavd", "scx-now-v1-scx_lavd", 10},
}

// Presets lists the default scenario, those that model published runs, one that
// compares many patches, and one in which a patch breaks the kernel.
var Presets = sync.OnceValue(func() []Preset {
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
	for _, p := range posted {
		i := slices.IndexFunc(evidence.Rows(), func(t *evidence.Table) bool { return t.Key == p.key })
		t := evidence.Rows()[i]
		s, _ := scenario.Parse(t.Scenario)
		w, _ := workload.Lookup(s.Workload)
		s.Params[w.Param(w.Length)].N = p.length
		list = append(list, Preset{Title: p.title, Text: t.Title + ". " + t.Note, Query: s.Query()})
	}
	v1, _, _ := patch.Lookup("sm-idle-v1")
	for _, p := range []Preset{
		{"all four designs on 240 CPUs", "the kernel as it was, and four patches that spare an idle CPU the way through schedule()", family},
		{"SM_IDLE v1’s fault on PREEMPT_RT", "tasks that wait for a lock stay on their run queues", v1.Show},
	} {
		s, _ := scenario.Parse(p.Query)
		p.Query = s.Query()
		list = append(list, p)
	}
	return list
})
