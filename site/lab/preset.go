package lab

import (
	"slices"
	"strings"

	"schedlab/core/evidence"
	"schedlab/core/patch"
	"schedlab/core/scenario"
)

// A Preset is a question that the page offers.
type Preset struct {
	Title string // short
	Text  string // all of it
	Query string
}

// family compares all designs for one problem.
const family = "?m=xeon-240&arm=&arm=always-ipi&arm=skip-newidle&arm=notify-ipi&arm=sm-idle-v2"

// published are runs that were posted, as one scenario of each table, shortened to what takes
// seconds: fewer loops and shorter windows than the originals.
var published = []Preset{
	{"hackbench, test robot", "SM_IDLE: hackbench-pipe-process at 25 % on 128 CPUs in 4 nodes, 40 loops for 120,000, by the robot's throughput",
		"?m=xeon-128-4n&w=hackbench&loops=40&pipe=1&load=25&metric=throughput&bg=housekeeping"},
	{"schbench, test robot", "SM_IDLE: schbench with message threads for 12.5 % of 128 CPUs in 4 nodes and 16 workers each, 2 s for 30, by the 90th percentile of request latency",
		"?m=xeon-128-4n&w=schbench&load=125&runtime=2000&bg=housekeeping"},
	{"netperf, test robot", "SM_IDLE: netperf TCP_RR at 25 % on 128 CPUs in 4 nodes, 0.1 s for 300, by the sum of the pairs' transactions a second",
		"?m=xeon-128-4n&w=netperf&load=25&bg=housekeeping"},
	{"hackbench, pipes", "in_task(): hackbench with 48 groups of processes and pipes on a 2×18C/36T Haswell, Linux 5.18, the time scaled from 50 loops to 10,000",
		"?m=xeon-e5-2699v3&k=5.18&w=hackbench&groups=48&loops=50&pipe=1&scale=10000&arm=&arm=irq-nosync&bg=housekeeping"},
	{"hackbench, sockets", "in_task(): hackbench with 48 groups of processes and sockets on a 2×18C/36T Haswell, Linux 5.18, the time scaled from 50 loops to 10,000",
		"?m=xeon-e5-2699v3&k=5.18&w=hackbench&groups=48&loops=50&scale=10000&arm=&arm=irq-nosync&bg=housekeeping"},
	{"pgbench", "in_task(): pgbench, read-only, with 12 clients and two threads on a 2×18C/36T Haswell, Linux 5.18",
		"?m=xeon-e5-2699v3&k=5.18&w=pgbench&clients=12&arm=&arm=irq-nosync&bg=housekeeping"},
	{"schbench on POWER9", "select_idle_core: schbench as it was in 2019 on POWER9 with eight threads a core, Linux 5.4",
		"?m=power9-smt8&k=5.4&w=schbench&version=old&message-threads=2&runtime=3000&arm=&arm=select-idle-core&bg=quiet"},
}

// Presets lists the default scenario, those that model published runs, one that
// compares many patches, and one in which a patch breaks the kernel.
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
	v1, _, _ := patch.Lookup("sm-idle-v1")
	for _, p := range append(slices.Clone(published), []Preset{
		{"all four designs on 240 CPUs", "the kernel as it was, and four patches that spare an idle CPU the way through schedule()", family},
		{"SM_IDLE v1’s fault on PREEMPT_RT", "tasks that wait for a lock stay on their run queues", v1.Show},
	}...) {
		s, _ := scenario.Parse(p.Query)
		p.Query = s.Query()
		list = append(list, p)
	}
	return list
}
