package evidence

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"schedlab/core/stats"
)

// The tables of the other threads, as posted: of each only means were printed, one row
// for each configuration of a benchmark. Each row is a Table of its own here.

//go:embed published/*.csv
var posted embed.FS

// read returns the rows of a posted table without its header.
func read(name string) (rows [][]string) {
	text, err := posted.ReadFile("published/" + name + ".csv")
	if err != nil {
		panic(err) // a slip in this file, which any test finds
	}
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if i > 0 {
			rows = append(rows, strings.Split(line, ","))
		}
	}
	return rows
}

func parse(field string) float64 {
	v, err := strconv.ParseFloat(field, 64)
	if err != nil {
		panic(err)
	}
	return v
}

// Rows lists them: those of hackbench and pgbench with the patch against sync wakeups from
// interrupts, of the test robot with SM_IDLE, of select_idle_core, and of the clock of sched_ext.
var Rows = sync.OnceValue(func() []*Table {
	return slices.Concat(hackbenchRows(), pgbenchRows(), robotRows(), idleCoreRows(), clockRows())
})

// posting is a table of two printed means.
func posting(thread, key, title, source, link, note, patch string, better stats.Better, before, after float64, used string) *Table {
	t := &Table{
		Thread: thread, Key: key, Title: title, Source: source, Scenario: link + "&arm=&arm=" + patch, Note: note, Better: better, Whole: true,
		Arms: []Arm{
			{Title: "before", Printed: []Figure{{Mean, before}}},
			{Title: "with the patch", Patches: []string{patch}, Printed: []Figure{{Mean, after}, {Improvement, stats.Improvement(before, after, better).V}}},
		},
	}
	if used != "" {
		t.Used = []Use{{Arm: 0, Figures: []FigureName{Mean}, For: used}}
	}
	return t
}

// The threads, as findings name them.
const (
	idleThread = "SM_IDLE"
	syncThread = "in_task() sync wakeups"
)

const inTask = "20220711224704.1672831-1-libo.chen@oracle.com"

func hackbenchRows() (rows []*Table) {
	const note = "mmtests' hackbench-unbound, 10,000 loops, of which fewer are simulated and scaled: under CFS, here as in a real kernel, tasks switch more often after the first second, so that in the model a loop of a longer run takes up to a quarter more. The poster calls 3 % either way normal on that machine. What else ran on it and which of its idle states were enabled was not said."
	for _, r := range read("hackbench-e5-2699v3") {
		how, channel, _ := strings.Cut(r[0], "-")
		groups := int(parse(r[1]))
		used := ""
		switch {
		case r[0] == "process-pipes" && groups == 48:
			used = "pipe_write and pipe_read of xeon-e5-2699v3"
		case r[0] == "process-sockets" && groups == 48:
			used = "unix_write and unix_read of xeon-e5-2699v3"
		}
		row := posting(syncThread, "irq-nosync-hackbench-"+r[0]+"-"+r[1],
			fmt.Sprintf("in_task(): hackbench, %s groups, %s, %s, on a 2×18C/36T Xeon E5-2699 v3, Linux 5.18", r[1], how, channel), inTask,
			fmt.Sprintf("?m=xeon-e5-2699v3&k=5.18&w=hackbench&groups=%d&loops=%d&pipe=%d&threads=%d&scale=10000&bg=housekeeping",
				groups, max(40, min(6000/groups, 1000)), bit(channel == "pipes"), bit(how == "thread")),
			note, "irq-nosync", "lower", parse(r[2])*1e9, parse(r[3])*1e9, used)
		row.Series, row.Load = fmt.Sprintf("hackbench, %s, %s, on a 2×18C/36T Xeon E5-2699 v3", how, channel), count(groups, "group")
		rows = append(rows, row)
	}
	return rows
}

func pgbenchRows() (rows []*Table) {
	const note = "mmtests' pgbench, read-only, harmonic means, PostgreSQL's version assumed to be 9.6 or later. The poster calls 5 % either way common at many clients. One client looks like an artefact: 15 ms a transaction."
	for _, r := range read("pgbench-e5-2699v3") {
		used := map[string]string{"48": "thread_ns of the workload", "12": "backend_ns of the workload"}[r[0]]
		row := posting(syncThread, "irq-nosync-pgbench-"+r[0],
			fmt.Sprintf("in_task(): pgbench, read-only, %s clients, on a 2×18C/36T Xeon E5-2699 v3, Linux 5.18", r[0]), inTask,
			fmt.Sprintf("?m=xeon-e5-2699v3&k=5.18&w=pgbench&clients=%s&runtime=1000&bg=housekeeping", r[0]),
			note, "irq-nosync", "higher", parse(r[1]), parse(r[2]), used)
		row.Tries = someRuns // some spread by half
		row.Series, row.Load = "pgbench, read-only, on a 2×18C/36T Xeon E5-2699 v3", count(int(parse(r[0])), "client")
		if r[0] == "1" {
			row.NotModelled = "an artefact: 15 ms a transaction, nearly seventy times what each of six clients needs"
		}
		rows = append(rows, row)
	}
	return rows
}

func robotRows() (rows []*Table) {
	const note = "Intel's test robot, on a base near 6.11. What its sockets are, which idle states were enabled and what else ran was not said. Runs are shortened. " +
		"The end of a run of hackbench, when few tasks are left, takes longer with SM_IDLE alone (see nohz-csd): in runs of 120,000 loops that is nothing, in short ones it is what differs."
	for _, r := range read("lkp-xeon128-4node") {
		metric, _, _ := strings.Cut(r[1], ".")
		load, better, used, link := strings.Trim(r[2], "%"), stats.Better("higher"), "", ""
		switch r[0] {
		case "hackbench":
			pipe, threads := strings.Contains(metric, "pipe"), strings.Contains(metric, "threads")
			if load == "25" && !threads {
				used = "pipe_write and pipe_read of xeon-128-4n"
				if !pipe {
					used = "unix_write and unix_read of xeon-128-4n"
				}
			}
			link = fmt.Sprintf("&w=hackbench&load=%s&loops=%d&pipe=%d&threads=%d&metric=throughput", load, 10_000/int(parse(load)), bit(pipe), bit(threads))
		case "netperf":
			if metric == "TCP_RR" && load == "25" {
				used = "the costs of TCP and UDP on xeon-128-4n, all by one factor"
			}
			link = fmt.Sprintf("&w=netperf&test=%s&load=%s&runtime=50&warmuptime=200", metric, load)
		case "schbench":
			better = "lower"
			threads, workers, _ := strings.Cut(r[2], "-mthread-")
			workers, _, _ = strings.Cut(workers, "-")
			n := "&message-threads=" + threads
			if share, ok := strings.CutSuffix(threads, "%"); ok {
				n = fmt.Sprintf("&load=%d", int(parse(share)*10))
			}
			switch r[2] {
			case "1-mthread-1-worker":
				used = "the time of a step of the workload's multiplication"
			case "100%-mthread-1-workers":
				used = "how threads of a core slow each other down on xeon-128-4n"
			}
			link = fmt.Sprintf("&w=schbench%s&threads=%s&runtime=2000&warmuptime=3000", n, workers)
		}
		row := posting(idleThread, "sm-idle-robot-"+r[0]+"-"+metric+"-"+r[2], fmt.Sprintf("SM_IDLE: %s, %s, at %s, on 128 CPUs in 4 nodes", r[0], r[1], r[2]),
			"8bcdee16-88d5-7ec5-7d88-1ac11566c28a@amd.com", "?m=xeon-128-4n"+link+"&bg=housekeeping", note, "sm-idle-v2", better, parse(r[3]), parse(r[6]), used)
		row.Series, row.Load = "Intel's test robot: "+r[0]+", on 128 CPUs in 4 nodes", metric+" at "+load+" %"
		if r[0] == "schbench" {
			row.Load = r[2]
		}
		rows = append(rows, row)
	}
	return rows
}

// tick is one of POWER9's timebase, ns.
const tick = 1e9 / 512e6

func idleCoreRows() []*Table {
	const note = "Times of select_idle_core as posted in ticks of the timebase, here in ns: 130 searches before, 164 after, probably with the overhead of a tracer in each. How schbench was started was not said: its defaults of that time are assumed, two message threads with sixteen workers each for 30 s, of which six runs of 10 s are as many searches."
	table := posting("select_idle_core early exit", "select-idle-core-power9", "select_idle_core: time of a search under schbench on POWER9 with eight threads a core, Linux 5.4",
		"20191206081654.GA22330@linux.vnet.ibm.com",
		"?m=power9-smt8&k=5.4&w=schbench&version=old&message-threads=2&runtime=10000&metric=idlecore&bg=housekeeping",
		note, "select-idle-core", "lower", 0, 0, "idle_miss of power9-smt8")
	table.Pooled, table.Tries = 3, 6
	for i, r := range read("select-idle-core-power9") {
		for column, name := range []FigureName{2: Min, 3: Max, 4: Median, 5: Mean, 6: PopulationSD} {
			if name == Mean {
				table.Arms[i].Printed[0].Value = parse(r[column]) * tick
			} else if name != "" {
				table.Arms[i].Printed = append(table.Arms[i].Printed, Figure{name, parse(r[column]) * tick})
			}
		}
	}
	before, after := &table.Arms[0], &table.Arms[1]
	after.Printed[1].Value = stats.Improvement(before.Printed[0].Value, after.Printed[0].Value, "lower").V
	table.Used = append(table.Used, Use{Arm: 0, Figures: []FigureName{Min}, For: "idle_mask of power9-smt8"})
	return []*Table{table}
}

func count(n int, what string) string {
	if n > 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func bit(on bool) int {
	if on {
		return 1
	}
	return 0
}
