package report

import (
	"strconv"

	"schedlab/core"
	"schedlab/core/sweep"
)

// SweepCSV writes one row per point and arm under a header (RFC 4180, so lines end in
// CR LF), with all digits. scenario is the point's link; means are in unit, a
// run; a figure that is not known is empty. Every figure is simulated.
func SweepCSV(t *sweep.Table, arms []int) string {
	rows := [][]string{{"scenario", "simulated", "model", "machine", "background", "x_key", "x", "y_key", "y", "arm", "baseline", "pairs",
		"baseline_mean", "mean", "unit", "events_per_run", "improvement_pct", "ci95_lo", "ci95_hi", "p", "significant"}}
	number := func(v float64, ok bool) string {
		if !ok {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	s := t.Sweep.Base
	for p, point := range t.Sweep.Points() {
		place := []string{"", "", "", ""}
		for i, a := range t.Sweep.Axes {
			place[2*i], place[2*i+1] = a.Key, a.Values[point.Index[i]]
		}
		for _, arm := range arms {
			e := t.Effect(p, arm)
			row := append([]string{point.Scenario.Query(), "true", strconv.Itoa(core.Model), s.Machine, s.Background}, place...)
			events := ""
			if e.Events > 0 {
				events = strconv.FormatInt(e.Events, 10)
			}
			known := e.N > 0
			rows = append(rows, append(row, t.Arm(arm), t.Arm(0), strconv.Itoa(e.N),
				number(e.Baseline, known), number(e.Mean, known), t.Metric().Unit, events,
				number(e.ImprovementPct.V, e.ImprovementPct.OK), number(e.CI95.Lo, e.CI95.OK), number(e.CI95.Hi, e.CI95.OK),
				number(e.P, known), strconv.FormatBool(e.Significant)))
		}
	}
	return rowsCSV(rows)
}
