package report

import (
	"bytes"
	"encoding/csv"
	"strconv"

	"schedlab/core"
)

// CSV writes one row per finished run of each arm, under a header (RFC 4180, so lines end
// in CR LF). Runs count from 1; primary is in unit; elapsed_ns is the
// simulated time of the measured window. Every figure is simulated.
func CSV(r *core.Result) string { return newView(r).csv() }

func (v *view) csv() string {
	rows := [][]string{{"scenario", "simulated", "model", "background", "arm", "run", "primary", "unit", "elapsed_ns", "events"}}
	for i := range v.arms {
		for _, p := range v.arms[i].runs {
			rows = append(rows, []string{
				v.link, "true", strconv.Itoa(v.model), v.background, v.arms[i].name, strconv.Itoa(p.Run + 1),
				thousandths(p.Primary), v.metric.Unit, thousandths(p.Elapsed), strconv.FormatUint(p.Events, 10),
			})
		}
	}
	return rowsCSV(rows)
}

// rowsCSV writes rows as RFC 4180 has it.
func rowsCSV(rows [][]string) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	w.WriteAll(rows) // to memory: can't fail
	return b.String()
}
