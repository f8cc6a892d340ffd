package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"schedlab/core"
	"schedlab/core/scenario"
	"schedlab/core/sweep"
)

// sweepTable returns a table of a sweep of which nothing is known.
func sweepTable(t *testing.T, link string, axes ...string) *sweep.Table {
	t.Helper()
	base, problems := scenario.Parse(link)
	var list []sweep.Axis
	for _, spec := range axes {
		a, err := sweep.ParseAxis(base, spec)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	s, more := sweep.New(base, list)
	if len(problems) > 0 || len(more) > 0 {
		t.Fatal(problems, more)
	}
	return sweep.NewTable(s)
}

// fill makes up what has come of a sweep after done runs of each arm at each point:
// these effects in percent, with NaN where nothing is known.
func fill(t *testing.T, table *sweep.Table, done int, effect func(x, y, arm int) float64) *sweep.Table {
	t.Helper()
	for p, point := range table.Sweep.Points() {
		x, y := point.Index[0], 0
		if len(point.Index) > 1 {
			y = point.Index[1]
		}
		if math.IsNaN(effect(x, y, 1)) {
			continue
		}
		arms := make([][]run, len(point.Scenario.Arms))
		for arm := range arms {
			for i := range point.Scenario.Runs {
				figure := float64(1_000_000_000 + 1_000_000*i)
				if arm > 0 {
					figure *= 1 - effect(x, y, arm)/100
				}
				arms[arm] = append(arms[arm], run{primary: int64(math.Round(figure)), unfinished: i >= done})
			}
		}
		table.Put(p, build(t, point.Scenario.Query(), arms...))
	}
	return table
}

// answers cuts what stands in a text above its tables: names from catalogues.
func answers(text string) string {
	at := strings.Index(text, "\nsm-idle-v2 against baseline")
	return text[at+1:]
}

func TestSweepText(t *testing.T) {
	one := fill(t, sweepTable(t, "?bg=quiet&runs=6&c.rq_visit=9&c.relax=40", "c.rq_visit=0..100/6"), 6, func(x, _, _ int) float64 {
		return []float64{12.34, 5, 0.02, -4, math.NaN(), -8}[x]
	})
	two := fill(t, sweepTable(t, "?bg=quiet&runs=6", "c.rq_visit=10,20,30", "numipi=100,1000"), 6, func(x, y, _ int) float64 {
		return [][]float64{{3, 1, -0.03}, {-1, 4, math.NaN()}}[y][x]
	})
	golden(t, "sweep-one.txt", answers(SweepText(one, []int{1})))
	golden(t, "sweep-two.txt", answers(SweepText(two, []int{1})))
	text := strings.Join(strings.Fields(SweepText(one, []int{1})), " ")
	for _, want := range []string{
		fmt.Sprintf("In this model (version %d; ", core.Model), "With changes: relax 40 ns.", "background quiet), simulated: elapsed with sm-idle-v2 is from 12.3 % lower to 8.0 % higher than with baseline",
		"by c.rq_visit (means; 6 pairs of runs a point; significant at 4 of 5 points; 1 more are not known).",
		"changed relax 40 ns runs 6 of each of 2 arms at each of 6 points seed 1",
		"axis c.rq_visit=0,20,40,60,80,100 (balance pass:", "link ?v=1&model=",
		"intervals and p hold in this model, not on a machine.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\nlacks %s", text, want)
		}
	}
	for _, line := range strings.Split(SweepText(one, []int{1})+SweepText(two, []int{1}), "\n") {
		if len([]rune(line)) > columns {
			t.Errorf("%d columns: %s", len([]rune(line)), line)
		}
	}
}

func TestSweepJSON(t *testing.T) {
	table := sweepTable(t, "?bg=quiet&runs=6&arm=&arm=sm-idle-v1&arm=sm-idle-v2", "c.rq_visit=0.5,20,40", "numipi=100,1000")
	fill(t, table, 6, func(x, y, arm int) float64 { return float64(arm) * (float64(x) - 0.5 + 0.1*float64(y)) })
	s := table.Sweep
	text := SweepJSON(table, []int{1, 2})
	var v struct {
		Scenario, Baseline  string
		Simulated, Complete bool
		Model               int
		Axes                []struct {
			Key, Unit string
			Values    []float64
		}
		Points []struct {
			Index    []int
			Scenario string
			Effects  []struct {
				Arm            string
				N              int
				EventsPerRun   int64     `json:"events_per_run"`
				ImprovementPct float64   `json:"improvement_pct"`
				CI95           []float64 `json:"ci95"`
				Significant    bool
			}
		}
		Signs []struct {
			Arm       string
			Crossings []any
			Contours  [][][2]float64
		}
		Warnings []string
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	e := v.Points[5].Effects[1]
	if v.Scenario != s.Base.Query() || !v.Simulated || !v.Complete || v.Model != core.Model || len(v.Axes) != 2 || v.Axes[0].Values[0] != 0.5 || v.Axes[0].Unit != "ns" ||
		len(v.Points) != 6 || v.Points[5].Scenario != s.Points()[5].Scenario.Query() || fmt.Sprint(v.Points[5].Index) != "[2 1]" ||
		e.Arm != "sm-idle-v2" || e.N != 6 || e.EventsPerRun != 1000 || math.Abs(e.ImprovementPct-3.2) > 1e-6 || len(e.CI95) != 2 || !e.Significant ||
		len(v.Signs) != 2 || v.Signs[0].Crossings != nil || len(v.Signs[1].Contours) != 1 || v.Warnings == nil {
		t.Errorf("%s", text)
	}
	empty := sweepTable(t, "?", "wait=0,1")
	for _, want := range []string{`"complete": false`, `"improvement_pct": null`, `"crossings": []`, `"ci95": null`} {
		if text := SweepJSON(empty, []int{1}); !strings.Contains(text, want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
}

func TestSweepCSV(t *testing.T) {
	table := fill(t, sweepTable(t, "?runs=6", "c.rq_visit=0,20,40"), 6, func(x, _, _ int) float64 { return []float64{1, math.NaN(), 3}[x] })
	rows, err := csv.NewReader(strings.NewReader(SweepCSV(table, []int{1}))).ReadAll()
	if err != nil || len(rows) != 4 {
		t.Fatalf("%v, %d rows", err, len(rows))
	}
	s := table.Sweep
	for i, row := range rows[1:] {
		if row[0] != s.Points()[i].Scenario.Query() || row[6] != s.Axes[0].Values[i] || row[1] != "true" {
			t.Errorf("%v", row)
		}
	}
	const header = "scenario simulated model machine background x_key x y_key y arm baseline pairs " +
		"baseline_mean mean unit events_per_run improvement_pct ci95_lo ci95_hi p significant"
	if strings.Join(rows[0], " ") != header || rows[2][16] != "" || rows[3][16] == "" {
		t.Errorf("%v", rows)
	}
}

// A sweep that is under way is written as far as it is known.
func TestSweepUnderWay(t *testing.T) {
	for _, axes := range [][]string{{"c.rq_visit=0,20,40"}, {"c.rq_visit=0,20,40", "numipi=100,1000"}} {
		table := sweepTable(t, "?runs=6&cpulist=0-3,8&arm=&arm=sm-idle-v1&arm=sm-idle-v2", axes...)
		for done := range 7 {
			fill(t, table, done, func(x, y, arm int) float64 { return float64(x+y-1) * float64(arm) })
			all := SweepText(table, []int{1, 2}) + SweepJSON(table, []int{1, 2}) + SweepCSV(table, []int{1, 2})
			for _, bad := range []string{"NaN", "Inf", "%!"} {
				if strings.Contains(all, bad) {
					t.Errorf("%d runs done: %s in\n%s", done, bad, all)
				}
			}
			n, of := table.Finished()
			if warning := fmt.Sprintf("runs finished %d of %d", n, of); strings.Contains(all, warning) != (done < 6) {
				t.Errorf("%d runs done: %q is said, or not said, wrongly:\n%s", done, warning, all)
			}
		}
	}
}
