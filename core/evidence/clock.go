package evidence

import (
	"fmt"

	"schedlab/core/machine"
	"schedlab/core/stats"
)

// ClockMachines are machines with 8, 16, 64 and 256 CPUs: the post on the clock of sched_ext does not say on what its
// reads were counted, and the number of CPUs is what is left open here.
var ClockMachines = []string{"apu-8", "laptop", "epyc-1x32", "epyc-2x64"}

// clockRows are the shares of reads of the hardware's clock that the first version of the cached clock saves, as
// posted: nothing of them is used for a constant.
func clockRows() (rows []*Table) {
	var states []State
	for _, key := range ClockMachines {
		m, err := machine.Lookup(key)
		if err != nil {
			panic(err) // a slip above
		}
		states = append(states, State{Machine: key, Cause: fmt.Sprintf("%d CPUs", len(m.CPUs))})
	}
	const note = "perf bench sched messaging -t -g 20 -l 6000, of which a thirtieth of the loops is simulated. The poster gives the share of reads saved and neither the machine nor the counts: any machine is set beside it. " +
		"The figures stand in v1 of the series and unchanged in v4 (<20241209061531.257531-1-changwoo@igalia.com>), whose rules differ, so it is v1's that are compared. " +
		"The schedulers are those of November 2024 as far as their notes say."
	for _, r := range read("scx-clock-reads") {
		scheduler, saved := r[0], parse(r[1])
		key := scheduler[len("scx_"):]
		rows = append(rows, &Table{
			Thread: "sched_ext clock", Key: "scx-now-v1-" + scheduler, AnyMachine: true, States: states,
			Series: "perf bench sched messaging, reads of the hardware's clock", Load: scheduler,
			Title:    fmt.Sprintf("scx_bpf_clock_get_ns: reads of the hardware's clock by %s under perf bench sched messaging, Linux 6.12", scheduler),
			Source:   "20241116160126.29454-1-changwoo@igalia.com",
			Scenario: "?m=" + ClockMachines[1] + "&k=6.12&scx=" + key + "&w=messaging&group=20&nr_loops=200&thread=1&metric=clock_reads&arm=&arm=scx-now-v1&bg=housekeeping",
			Note:     note, Better: stats.Lower, Whole: true,
			Arms: []Arm{
				{Title: "bpf_ktime_get_ns"},
				{Title: "scx_bpf_clock_get_ns", Patches: []string{"scx-now-v1"}, Printed: []Figure{{Improvement, saved}}},
			},
		})
	}
	return rows
}
