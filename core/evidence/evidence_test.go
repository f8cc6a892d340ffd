package evidence

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"schedlab/core"
	"schedlab/core/patch"
	"schedlab/core/scenario"
	"schedlab/core/stats"
)

func table(t *testing.T, key string) *Table {
	t.Helper()
	i := slices.IndexFunc(Tables, func(t *Table) bool { return t.Key == key })
	if i < 0 {
		t.Fatalf("no table %q", key)
	}
	return Tables[i]
}

// published reads a CSV of the figures as posted, without its header. The posts are
// those that the tables name as their sources.
func published(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

func TestXeonRunsAreAsPublished(t *testing.T) {
	tab := table(t, "sm-idle-xeon-240")
	rows := published(t, "ipistorm-xeon240.csv")
	if len(rows) != len(tab.Arms[0].Runs) || len(rows) != len(tab.Arms[1].Runs) {
		t.Fatalf("%d runs were published; here are %d and %d", len(rows), len(tab.Arms[0].Runs), len(tab.Arms[1].Runs))
	}
	for i, row := range rows {
		want := fmt.Sprint(row)
		if got := fmt.Sprint([]int64{int64(i + 1), tab.Arms[0].Runs[i], tab.Arms[1].Runs[i]}); got != want {
			t.Errorf("run, baseline, patched: %s, want %s", got, want)
		}
	}
}

func TestEPYCMeansAreAsPublished(t *testing.T) {
	tab := table(t, "sm-idle-epyc")
	rows := published(t, "ipistorm-epyc.csv")
	if len(rows) != len(tab.Arms) {
		t.Fatalf("%d arms were published; here are %d", len(rows), len(tab.Arms))
	}
	for i, a := range tab.Arms {
		got := []string{a.Title, strconv.FormatFloat(a.Printed[0].Value, 'f', 2, 64), ""}
		if len(a.Printed) > 1 {
			got[2] = strconv.FormatFloat(a.Printed[1].Value, 'f', 2, 64)
		}
		if !slices.Equal(got, rows[i]) {
			t.Errorf("arm %d: %q, want %q", i, got, rows[i])
		}
	}
}

// The statistics that the poster printed come out of the runs that he printed:
// the mean truncated, the standard deviation over the population.
func TestPrintedStatisticsReproduce(t *testing.T) {
	checked := 0
	for _, tab := range Tables {
		for _, a := range tab.Arms {
			if a.Runs == nil {
				continue
			}
			var runs []float64
			sum := int64(0)
			for _, v := range a.Runs {
				runs = append(runs, float64(v))
				sum += v
			}
			for _, f := range a.Printed {
				checked++
				switch f.Name {
				case Mean:
					if got := sum / int64(len(a.Runs)); got != int64(f.Value) {
						t.Errorf("%s, %s: the truncated mean is %d, printed was %.0f", tab.Key, a.Title, got, f.Value)
					}
				case PopulationSD:
					if got := stats.Summarize(runs).PSD; math.Abs(got-f.Value) > 1 {
						t.Errorf("%s, %s: the population's standard deviation is %.1f, printed was %.0f", tab.Key, a.Title, got, f.Value)
					}
				default:
					t.Errorf("%s, %s: nothing checks the printed %s", tab.Key, a.Title, f.Name)
				}
			}
		}
	}
	if checked != 4 {
		t.Errorf("%d printed statistics were checked, want 4", checked)
	}
}

// Every table can be asked for: its link is a valid scenario that Find finds,
// its patches exist, and what it says it was used for is there.
func TestTablesAreSound(t *testing.T) {
	for _, tab := range Tables {
		s, problems := scenario.Parse(tab.Scenario)
		if len(problems) > 0 {
			t.Errorf("%s: %v", tab.Key, problems)
		}
		if !slices.Contains(Find(s), tab) {
			t.Errorf("%s is not found by its own scenario", tab.Key)
		}
		if tab.Title == "" || tab.Source == "" || tab.Note == "" || (tab.Better != stats.Lower && tab.Better != stats.Higher) {
			t.Errorf("%s: title, source, note and direction are wanted: %+v", tab.Key, tab)
		}
		for _, a := range tab.Arms {
			for _, p := range a.Patches {
				if _, _, err := patch.Lookup(p); err != nil {
					t.Errorf("%s: %v", tab.Key, err)
				}
			}
		}
		if len(tab.Used) == 0 {
			t.Errorf("%s: nothing says what it was used for", tab.Key)
		}
		for _, u := range tab.Used {
			if u.Arm >= len(tab.Arms) || u.For == "" || len(u.Figures)+len(u.Runs) == 0 {
				t.Errorf("%s: use %+v names nothing", tab.Key, u)
				continue
			}
			for _, run := range u.Runs {
				if run < 1 || run > len(tab.Arms[u.Arm].Runs) {
					t.Errorf("%s: use %+v names a run that there is not", tab.Key, u)
				}
			}
		}
	}
}

func TestFindWantsTheSameQuestion(t *testing.T) {
	for _, c := range []struct {
		link string
		want int
	}{
		{"?m=xeon-240&w=ipistorm&bg=quiet&numipi=500&arm=&runs=3&seed=7", 1},
		{"?m=epyc-2x64&w=ipistorm", 1},
		{"?m=epyc-2x64&w=ipistorm&offset=9", 0},
		{"?m=epyc-2x64&w=ipistorm&cpulist=9", 0},
		{"?m=power9-smt8&w=ipistorm", 0},
	} {
		s, problems := scenario.Parse(c.link)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if got := Find(s); len(got) != c.want {
			t.Errorf("%s: %d tables, want %d", c.link, len(got), c.want)
		}
	}
	if got := Find(scenario.Scenario{Machine: "epyc-2x64", Kernel: "6.11", Workload: "ipistorm"}); got != nil {
		t.Errorf("a scenario without parameters: %d tables", len(got))
	}
}

// result returns a result with runs of these primary figures (ns for 1000 calls).
func result(link string, runs ...[]int64) *core.Result {
	s, _ := scenario.Parse(link)
	r := &core.Result{Scenario: s, Parts: make([][]core.Part, len(s.Arms))}
	for arm := range r.Parts {
		for i, ns := range runs[arm] {
			r.Parts[arm] = append(r.Parts[arm], core.Part{Job: core.Job{Arm: arm, Run: i}, Done: ns >= 0, Primary: 1000 * ns})
		}
	}
	return r
}

func TestCompare(t *testing.T) {
	const link = "?m=xeon-240&w=ipistorm&numipi=1000&arm=&arm=sm-idle-v2&runs=3"
	rows := Compare(result(link, []int64{2_000_000, 4_000_000, 6_000_000}, []int64{1_000_000, 3_000_000, -1}), table(t, "sm-idle-xeon-240"))
	for _, c := range []struct {
		arm                  string
		figure               FigureName
		published, simulated float64
	}{
		{"baseline", Min, 1130.86433, 2000},
		{"baseline", Median, (6772.83357 + 7297.67478) / 2, 4000},
		{"baseline", Max, 8309.49261, 6000},
		{"baseline", Mean, 5424.670981, 4000},
		{"baseline", PopulationSD, 2570.11706, math.Sqrt(8./3) * 1000},
		{"baseline", Spread, 8309.49261 / 1130.86433, 3},
		{"sm-idle-v2", Min, 1131.43538, 1000},
		{"sm-idle-v2", Mean, 1428.520637, 2000}, // of the two runs that finished
		{"sm-idle-v2", Ratio, 0.263338, 0.5},
		{"sm-idle-v2", Improvement, 73.6662, 50},
		{"sm-idle-v2", ImprovementMedian, -1, 50},
	} {
		i := slices.IndexFunc(rows, func(r Row) bool { return r.Arm == c.arm && r.Figure == c.figure })
		if i < 0 {
			t.Errorf("no row for %s, %s", c.arm, c.figure)
			continue
		}
		near := func(got stats.Number, want float64) bool {
			return got.OK && math.Abs(got.V-want) <= 1e-5*math.Abs(want)
		}
		if c.published >= 0 && !near(rows[i].Published, c.published) || !near(rows[i].Simulated, c.simulated) {
			t.Errorf("%s, %s: %+v, want %v and %v", c.arm, c.figure, rows[i], c.published, c.simulated)
		}
		if used := rows[i].Used != ""; used != (c.figure == Min || c.figure == Mean && c.arm != "baseline") {
			t.Errorf("%s, %s: used for %q", c.arm, c.figure, rows[i].Used)
		}
	}
}

// A result without the patched arm still has its baseline compared.
func TestCompareWithoutTheArm(t *testing.T) {
	rows := Compare(result("?m=xeon-240&w=ipistorm&arm=&runs=1", []int64{-1}), table(t, "sm-idle-xeon-240"))
	if len(rows) == 0 {
		t.Fatal("no rows")
	}
	for _, r := range rows {
		if !r.Published.OK || r.Simulated.OK {
			t.Errorf("%+v: want a published and no simulated figure", r)
		}
	}
}

// Of the EPYC only ratios were printed.
func ExampleCompare() {
	r := result("?m=epyc-2x64&w=ipistorm&numipi=1000&arm=&arm=sm-idle-v2&runs=2", []int64{4_000_000, 5_000_000}, []int64{1_000_000, 1_700_000})
	for _, t := range Find(r.Scenario) {
		for _, row := range Compare(r, t) {
			fmt.Printf("%s: %s: published %.2f, simulated %.2f\n", row.Arm, row.Figure, row.Published.V, row.Simulated.V)
		}
	}
	// Output:
	// sm-idle-v2: mean / baseline mean: published 0.25, simulated 0.30
	// sm-idle-v2: improvement of means: published 75.11, simulated 70.00
}
