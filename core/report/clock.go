package report

import (
	"fmt"
	"strings"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/stats"
)

// writeClock says from where a sched_ext scheduler has had the time, the arms of each callback one below the other:
// first of the callbacks, then of the wakeups, and last why the cached clock missed.
func (v *view) writeClock(b *strings.Builder) {
	if v.scheduler == "" {
		return
	}
	clocks := make([]core.Clock, len(v.arms))
	by, known := make([]float64, len(v.arms)), true
	for i := range v.arms {
		clocks[i] = core.ClockOf(v.arms[i].total.Counters)
		by[i] = v.counted(i) / 1000
		known = known && (by[i] > 0 || v.arms[i].finished == 0)
	}
	unit := fmt.Sprintf("per 1000 %s", v.metric.Nouns())
	if !known {
		unit = "mean of the runs"
		for i := range by {
			by[i] = float64(v.arms[i].finished)
		}
	}
	write := func(title string, head []string, rows []clockRow) {
		lines := [][]string{append([]string{"", ""}, head...)}
		for _, row := range rows {
			name := row.name
			if !row.any(len(v.arms)) {
				continue
			}
			for arm := range v.arms {
				line := []string{name, v.arms[arm].name}
				counts, share := row.of(arm)
				for _, n := range counts {
					text := "-"
					if by[arm] > 0 {
						text = figure(float64(n) / by[arm])
					}
					line = append(line, text)
				}
				text := "-"
				if share.OK {
					text = fmt.Sprintf("%.1f%%", 100*share.V)
				}
				lines = append(lines, append(line, text))
				name = ""
			}
		}
		if len(lines) > 1 {
			b.WriteByte('\n')
			wrap(b, title+", "+unit, "")
			table(b, lines)
		}
	}

	var rows []clockRow
	count := func(name string, of func(*core.Clock) core.ClockCount) {
		rows = append(rows, clockRow{name, func(arm int) ([]int64, stats.Number) {
			n := of(&clocks[arm])
			return []int64{n.Calls, n.Uses, n.Reads}, n.Saved()
		}})
	}
	for cb, name := range kernel.Callbacks {
		count(name, func(c *core.Clock) core.ClockCount { return c.Callbacks[cb] })
	}
	count("all", func(c *core.Clock) core.ClockCount { return c.All })
	write("callbacks of the scheduler, how often they ask for the time and the hardware's clock is read, and the share of reads that the cached clock saves",
		[]string{"calls", "asked", "reads", "saved"}, rows)

	rows = nil
	for way, info := range core.ClockWays {
		rows = append(rows, clockRow{info.Key, func(arm int) ([]int64, stats.Number) {
			w := clocks[arm].Ways[way]
			return []int64{w.Uses, w.Hits}, w.Hit()
		}})
	}
	write("of these, those in runnable and enqueue for a wakeup, by its way", []string{"asked", "cached", "share"}, rows)

	t := v.sideBySide()
	t.by = by
	for cause, info := range core.ClockCauses {
		sums := make([]int64, len(clocks))
		for i := range clocks {
			sums[i] = clocks[i].Misses[cause]
		}
		t.add(info.Key, sums, 1)
	}
	if len(t.rows) > 0 {
		fmt.Fprintf(b, "\nmisses of the cached clock by cause, %s\n", unit)
		t.write(b)
	}
}

// A clockRow is counts of each arm, and a share.
type clockRow struct {
	name string
	of   func(arm int) ([]int64, stats.Number)
}

// any tells whether one of so many arms has counted something.
func (r *clockRow) any(arms int) bool {
	for arm := range arms {
		counts, _ := r.of(arm)
		for _, n := range counts {
			if n != 0 {
				return true
			}
		}
	}
	return false
}
