package evidence

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"schedlab/core"
	"schedlab/core/scenario"
	"schedlab/core/stats"
	"schedlab/core/workload"
)

// The tables are those that were posted.
func TestPostedTables(t *testing.T) {
	for _, name := range []string{"hackbench-e5-2699v3", "pgbench-e5-2699v3", "lkp-xeon128-4node", "select-idle-core-power9", "scx-clock-reads"} {
		ours, err := posted.ReadFile("published/" + name + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "published", name+".csv"))
		if os.IsNotExist(err) {
			t.Skip("the copies of the posted tables are compared where the originals are at hand")
		}
		if err != nil || string(ours) != string(theirs) {
			t.Errorf("%s is not as posted (%v)", name, err)
		}
	}
}

// Every row is a scenario that parses, that finds its row and no other, whose improvement is
// the one that was printed, and which says of what it was used for.
func TestRows(t *testing.T) {
	rows := Rows()
	if len(rows) != 60+10+38+1+3 {
		t.Errorf("%d rows, want 112", len(rows))
	}
	printed := map[string]float64{}
	for _, r := range read("hackbench-e5-2699v3") {
		printed["irq-nosync-hackbench-"+r[0]+"-"+r[1]] = parse(r[4])
	}
	for _, r := range read("pgbench-e5-2699v3") {
		printed["irq-nosync-pgbench-"+r[0]] = parse(r[3])
	}
	for _, r := range read("lkp-xeon128-4node") {
		metric, _, _ := strings.Cut(r[1], ".")
		change := parse(r[5])
		if r[0] == "schbench" {
			change = -change
		}
		printed["sm-idle-robot-"+r[0]+"-"+metric+"-"+r[2]] = change
	}
	printed["select-idle-core-power9"] = 30.03
	for _, r := range read("scx-clock-reads") {
		printed["scx-now-v1-"+r[0]] = parse(r[1])
	}
	keys := map[string]bool{}
	for _, row := range rows {
		if keys[row.Key] {
			t.Errorf("%s is there twice", row.Key)
		}
		keys[row.Key] = true
		s, problems := scenario.Parse(row.Scenario)
		if len(problems) > 0 {
			t.Errorf("%s: %s", row.Key, problems[0])
			continue
		}
		if got, want := row.Arms[1].printed(Improvement, true).V, printed[row.Key]; math.Abs(got-want) > 0.06 {
			t.Errorf("%s: an improvement of %.2f %%, want %.2f %%", row.Key, got, want)
		}
		if found := Find(s); len(found) != 1 || found[0] != row {
			t.Errorf("%s: its scenario finds %d tables", row.Key, len(found))
		}
		w, _ := workload.Lookup(s.Workload)
		s.Params[w.Param(w.Length)].N *= 2
		if len(Find(s)) != 1 {
			t.Errorf("%s: a longer run of it finds none", row.Key)
		}
		s.Machine = "epyc-1x32"
		if got := len(Find(s)); got > 0 != row.AnyMachine {
			t.Errorf("%s: on another machine %d tables", row.Key, got)
		}
	}
}

// TestThreads simulates the rows and with -v prints them beside what was published; all of
// them with -full, three runs of each kernel, else a few. What it holds to is what was to come
// out by itself.
func TestThreads(t *testing.T) {
	few := map[string]bool{
		"irq-nosync-hackbench-process-pipes-4":                          true,
		"irq-nosync-hackbench-process-pipes-48":                         true,
		"irq-nosync-hackbench-process-sockets-48":                       true,
		"irq-nosync-pgbench-12":                                         true,
		"irq-nosync-pgbench-48":                                         true,
		"sm-idle-robot-schbench-request_latency_90%_us-12.5%-mthread-1": true,
		"select-idle-core-power9":                                       true,
	}
	for _, row := range Rows() {
		if !*full && !few[row.Key] || testing.Short() || row.AnyMachine {
			continue // TestClockReads has those of any machine
		}
		t.Run(row.Key, func(t *testing.T) {
			t.Parallel()
			beside(t, row)
		})
	}
}

func beside(t *testing.T, row *Table) {
	s, _ := scenario.Parse(row.Scenario)
	s.Runs = 3
	if !*full && s.Workload == "schbench" && s.Kernel == "6.11" {
		w, _ := workload.Lookup(s.Workload)
		s.Params[w.Param("warmuptime")].N, s.Params[w.Param("runtime")].N = 200, 500
	}
	r, err := core.Run(s, nil)
	if err != nil || !r.Complete() {
		t.Fatalf("%s: %v", row.Key, err)
	}
	line := "| " + strings.TrimPrefix(row.Title, "in_task(): ")
	change := 0.
	for _, x := range Compare(r, row) {
		line += fmt.Sprintf(" | %s → %s", short(x.Published), short(x.Simulated))
		if x.Figure == Mean && x.Arm == core.ArmName(nil) {
			line += fmt.Sprintf(" (%+.0f %%)", 100*x.Simulated.V/x.Published.V-100)
			if x.Used != "" {
				line += " fitted"
				if off := x.Simulated.V/x.Published.V - 1; math.Abs(off) > 0.1 {
					t.Errorf("%s: %.0f %% off the row that it was fitted to", row.Key, 100*off)
				}
			}
		}
		if x.Figure == Improvement {
			change = x.Simulated.V
		}
	}
	t.Log(line + " |")
	switch patch := s.Arms[1][0]; {
	case patch == "irq-nosync" && s.Workload == "hackbench" && math.Abs(change) > 3,
		patch == "irq-nosync" && s.Workload == "pgbench" && strings.HasSuffix(row.Key, "-48") && math.Abs(change) > 5,
		patch == "irq-nosync" && s.Workload == "pgbench" && strings.HasSuffix(row.Key, "-12") && change < 3,
		patch == "sm-idle-v2" && s.Workload == "schbench" && math.Abs(change) > 5,
		patch == "select-idle-core" && change < 10:
		t.Errorf("%s: an improvement of %.1f %%, published %.1f %%", row.Key, change, row.Arms[1].Printed[1].Value)
	}
}

func short(n stats.Number) string {
	switch v := math.Abs(n.V); {
	case !n.OK:
		return "–"
	case v >= 1e8:
		return fmt.Sprintf("%.4g", n.V)
	case v >= 1000:
		return fmt.Sprintf("%.0f", n.V)
	}
	return fmt.Sprintf("%.2f", n.V)
}
