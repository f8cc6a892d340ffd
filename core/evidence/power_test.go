package evidence

import (
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/scenario"
	"schedlab/core/sim"
	"schedlab/core/stats"
)

var (
	update = flag.Bool("update", false, "with -full: write power.csv")
	only   = flag.String("only", "", "with -full: look at the rows of power.csv only whose table begins so, and keep the others")
)

// powerRows are rows of each kind, what to shorten in their scenarios, and how many runs of each there are to be: as many as can be waited for.
var powerRows = []struct {
	table, row, change string
	runs               int
}{
	{"sm-idle-epyc", "sm-idle-epyc", "numipi=2000&bg=pair", 10},
	{"sm-idle-xeon-240", "sm-idle-xeon-240", "numipi=2000&bg=pair", 10},
	{"irq-nosync-hackbench-process-pipes-*", "irq-nosync-hackbench-process-pipes-12", "loops=40", 3},
	{"irq-nosync-hackbench-thread-pipes-*", "irq-nosync-hackbench-thread-pipes-12", "loops=40", 3},
	{"irq-nosync-hackbench-process-sockets-*", "irq-nosync-hackbench-process-sockets-12", "loops=30", 3},
	{"irq-nosync-hackbench-thread-sockets-*", "irq-nosync-hackbench-thread-sockets-12", "loops=30", 3},
	{"irq-nosync-pgbench-6", "irq-nosync-pgbench-6", "runtime=200", 10},
	{"irq-nosync-pgbench-12", "irq-nosync-pgbench-12", "runtime=200", 10},
	{"irq-nosync-pgbench-*", "irq-nosync-pgbench-48", "runtime=200", 10},
	{"sm-idle-robot-hackbench-hackbench-pipe-*", "sm-idle-robot-hackbench-hackbench-pipe-process-%25", "loops=40", 3},
	{"sm-idle-robot-hackbench-hackbench-socket-*", "sm-idle-robot-hackbench-hackbench-socket-process-%25", "loops=30", 3},
	{"sm-idle-robot-netperf-TCP_RR-*", "sm-idle-robot-netperf-TCP_RR-25%", "runtime=2&warmuptime=10", 3},
	{"sm-idle-robot-netperf-UDP_RR-*", "sm-idle-robot-netperf-UDP_RR-25%", "runtime=2&warmuptime=10", 3},
	{"sm-idle-robot-netperf-TCP_STREAM-*", "sm-idle-robot-netperf-TCP_STREAM-25%", "runtime=2&warmuptime=10", 3},
	{"sm-idle-robot-netperf-*", "sm-idle-robot-netperf-UDP_STREAM-25%", "runtime=2&warmuptime=10", 3},
	{"sm-idle-robot-schbench-*", "sm-idle-robot-schbench-request_latency_90%_us-12.5%-mthread-1", "runtime=100&warmuptime=100", 10},
	{"select-idle-core-power9", "select-idle-core-power9", "runtime=1000", 10},
	{"scx-now-*", "scx-now-v1-scx_lavd", "", 3},
}

// powerFigures are what can be moved. A ratio is moved by what moves the improvement.
var powerFigures = []FigureName{Mean, Median, Min, PopulationSD, Improvement}

// judged tells whether a table has this figure.
func judged(t *Table, name FigureName) bool {
	return slices.ContainsFunc(Figures(t, ""), func(f Finding) bool { return f.Figure == string(name) })
}

// Each figure that is judged was tried.
func TestPowerOfAll(t *testing.T) {
	for _, table := range Matching("") {
		for _, name := range powerFigures {
			if !judged(table, name) {
				continue
			}
			if list, none := Movers(table.Key, name); len(list) == 0 && !none && !drowned(table.Key, name) {
				t.Errorf("%s, %s: nobody has tried what moves it", table.Key, name)
			}
		}
	}
}

// TestPower simulates a row with two constants changed and sees that power.csv says the same of them as the model does; with -full and -update it writes
// all of it, which takes half an hour.
func TestPower(t *testing.T) {
	if !*full {
		for _, row := range powerRows {
			if !slices.ContainsFunc(movers(), func(m Mover) bool { return m.Table == row.table }) {
				t.Logf("nothing moves %s beyond chance, and something does within it", row.table)
			}
		}
		// In both directions: what a message costs moves hackbench, and what a remote call costs does not.
		const link = "?m=xeon-e5-2699v3&k=5.18&w=hackbench&groups=12&loops=20&pipe=1&bg=quiet&arm=&runs=2"
		mean := func(change string) float64 { return stats.Summarize(simulate(t, link+change).Primaries(0)).Mean }
		m, _ := machine.Lookup("xeon-e5-2699v3")
		before := mean("")
		for _, key := range []string{"pipe_write", "call_setup"} {
			cost, _ := kernel.LookupCost(key)
			list, _ := Movers("irq-nosync-hackbench-process-pipes-48", Mean)
			listed := slices.ContainsFunc(list, func(m Mover) bool { return m.What == key })
			after := mean(fmt.Sprintf("&c.%s=%s", key, (4 * kernel.CostOn(m, cost).Value).Nanoseconds()))
			if moves := math.Abs(after/before-1) > 0.2; moves != listed {
				t.Errorf("%s at four times its value takes the mean from %.4g to %.4g ns; power.csv lists it: %v", key, before, after, listed)
			}
		}
		return
	}
	held := map[string][]string{} // by table, the lines that stay
	for line := range strings.Lines(powerCSV) {
		table, _, _ := strings.Cut(line, ",")
		held[table] = append(held[table], line)
	}
	var b strings.Builder
	begun := time.Now()
	b.WriteString("table,figure,what,none,four,noise\n")
	for _, row := range powerRows {
		if !strings.HasPrefix(row.table, *only) {
			b.WriteString(strings.Join(held[row.table], ""))
			continue
		}
		i := slices.IndexFunc(Matching(""), func(t *Table) bool { return t.Key == row.row })
		if i < 0 {
			t.Errorf("there is no row %s", row.row)
			continue
		}
		all := sweepPower(t, Matching("")[i], row.change, row.runs)
		for _, figure := range powerFigures {
			what := ""
			for _, m := range all {
				switch {
				case m.Figure != figure:
				case m.moves():
					what = m.What
					fmt.Fprintf(&b, "%s,%s,%s,%.0f,%.0f,%.0f\n", row.table, figure, m.What, m.None, m.Four, m.Noise)
				case m.far() >= 0.05 && (what == "" || what == nothing):
					what = chance
				case what == "":
					what = nothing
				}
			}
			if what == chance || what == nothing {
				fmt.Fprintf(&b, "%s,%s,%s,0,0,0\n", row.table, figure, what)
			}
		}
		t.Logf("%s after %.0f s", row.row, time.Since(begun).Seconds())
	}
	if *update {
		if err := os.WriteFile("power.csv", []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// variants returns scenarios with something changed: each constant of the model, and switches.
func variants(base scenario.Scenario) (names []string, list [][2]scenario.Scenario) {
	r, _ := base.Resolve()
	for c := range kernel.Costs {
		of := func(v sim.Time) scenario.Scenario {
			s := base
			s.Costs = []scenario.Cost{{Key: kernel.Costs[c].Key, Value: min(v, kernel.MaxCost)}}
			return s
		}
		value := kernel.CostOn(r.Machine, kernel.Cost(c)).Value
		names, list = append(names, kernel.Costs[c].Key), append(list, [2]scenario.Scenario{of(0), of(4 * value)})
	}
	for _, bg := range scenario.Backgrounds() {
		if bg != base.Background {
			s := base
			s.Background = bg
			names, list = append(names, "bg="+bg), append(list, [2]scenario.Scenario{s, s})
		}
	}
	if states := r.Machine.EnabledIdle(); len(states) > 1 {
		s := base
		s.Idle = states[:1]
		names, list = append(names, "idle="+states[0]), append(list, [2]scenario.Scenario{s, s})
		if len(states) > 2 {
			s.Idle = states[:2]
			names, list = append(names, "idle="+strings.Join(states[:2], "+")), append(list, [2]scenario.Scenario{s, s})
		}
	}
	return names, list
}

// sweepPower returns what moves the mean and the change of a row.
func sweepPower(t *testing.T, row *Table, change string, runs int) (list []Mover) {
	base := row.Trials(true)[0].Scenario
	query := base.Query()
	for piece := range strings.SplitSeq(change, "&") {
		key, _, _ := strings.Cut(piece, "=")
		if i := strings.Index(query, "&"+key+"="); i >= 0 {
			end := strings.IndexByte(query[i+1:]+"&", '&') + i + 1
			query = query[:i] + query[end:]
		}
		if piece != "" {
			query += "&" + piece
		}
	}
	base, problems := scenario.Parse(query)
	if len(problems) > 0 {
		t.Fatalf("%s: %s", row.Key, problems[0])
	}
	base.Runs = runs
	names, changed := variants(base)
	again := base
	again.Seed = 2
	all := []scenario.Scenario{base, again}
	for _, two := range changed {
		all = append(all, two[:]...)
	}
	figures := make([]map[FigureName]float64, len(all))
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				r, err := core.Run(all[i], nil)
				if err != nil {
					t.Error(err)
					continue
				}
				figures[i] = map[FigureName]float64{Improvement: r.Compare(1).ImprovementPct.V}
				for _, name := range powerFigures {
					if name != Improvement && judged(row, name) {
						figures[i][name] = figureOf(name, row.simulated(r, nil))
					}
				}
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	wg.Wait()
	for name := range figures[0] {
		off := func(i int) float64 {
			if name == Improvement {
				return figures[i][name] - figures[0][name]
			}
			return 100 * (figures[i][name]/figures[0][name] - 1)
		}
		// Two seeds tell what chance does: three times their difference, and at least a percent, is beyond it.
		noise := max(3*math.Abs(off(1)), 1)
		for i, what := range names {
			list = append(list, Mover{row.Key, name, what, off(2 + 2*i), off(3 + 2*i), noise})
		}
	}
	return list
}
