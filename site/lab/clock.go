package lab

import (
	"math"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/stats"
	"schedlab/site/chart"
)

// A ClockTable says from where a sched_ext scheduler has the time; it is empty without one.
type ClockTable struct {
	Unit   string // "per 1000 messages"
	Rows   []ClockRow
	Ways   []Row // shares from the cached clock, by the way of a wakeup
	Misses []Row // of it, by cause
}

// A ClockRow is a callback, or all of them, with cells for each arm.
type ClockRow struct {
	Name  string
	Cells []ClockCells
}

// ClockCells are how often a callback was called and asked for the time, how often the hardware's clock
// was read for that, and the share of reads that were saved.
type ClockCells struct{ Calls, Asked, Reads, Saved string }

func (w *worder) clock() {
	if w.r.Scenario.Scheduler == "" {
		return
	}
	unit, by := w.share()
	if unit != "a run" {
		each := by
		unit, by = "per 1000 "+w.metric.Nouns(), func(arm int) float64 { return each(arm) / 1000 }
	}
	clocks := make([]core.Clock, len(w.totals))
	for i := range clocks {
		clocks[i] = core.ClockOf(w.totals[i].Counters)
	}
	t := &w.a.Clock
	t.Unit = unit
	per := func(arm int, n int64) float64 {
		if by(arm) == 0 {
			return math.NaN()
		}
		return float64(n) / by(arm)
	}
	add := func(name string, of func(*core.Clock) core.ClockCount) {
		row, any := ClockRow{Name: name}, false
		for i := range clocks {
			n := of(&clocks[i])
			any = any || n != core.ClockCount{}
			cells := ClockCells{"–", "–", "–", percentage(n.Saved())}
			if by(i) > 0 {
				cells.Calls, cells.Asked, cells.Reads = chart.Figure(per(i, n.Calls)), chart.Figure(per(i, n.Uses)), chart.Figure(per(i, n.Reads))
			}
			row.Cells = append(row.Cells, cells)
		}
		if any {
			t.Rows = append(t.Rows, row)
		}
	}
	for cb, name := range kernel.Callbacks {
		add(name, func(c *core.Clock) core.ClockCount { return c.Callbacks[cb] })
	}
	add("all", func(c *core.Clock) core.ClockCount { return c.All })

	for way, info := range core.ClockWays {
		values, any := make([]float64, len(clocks)), false
		for i := range clocks {
			values[i] = math.NaN()
			if hit := clocks[i].Ways[way].Hit(); hit.OK {
				values[i], any = 100*hit.V, true
			}
		}
		if any {
			t.Ways = append(t.Ways, w.side(info.Text, info.Key, values, share, signedPoints))
		}
	}
	for cause, info := range core.ClockCauses {
		values, any := make([]float64, len(clocks)), false
		for i := range clocks {
			n := clocks[i].Misses[cause]
			values[i] = per(i, n)
			any = any || n > 0
		}
		if any {
			t.Misses = append(t.Misses, w.side(info.Text, info.Key, values, chart.Figure, chart.Signed))
		}
	}
}

// percentage writes a share in percent.
func percentage(n stats.Number) string {
	if !n.OK {
		return "–"
	}
	return share(100 * n.V)
}
