package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/scenario"
	"schedlab/core/stats"
	"schedlab/core/workload"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A run is what the tests give of one run: the primary figure in thousandths
// of a unit, elapsed time in ps, and the names' values.
type run struct {
	primary, elapsed int64
	counters, time   []int64
	samples          []int64
	unfinished       bool
	fault            string
}

// build returns a result of hand-made runs.
func build(t *testing.T, link string, arms ...[]run) *core.Result {
	t.Helper()
	s, problems := scenario.Parse(link)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	r := &core.Result{Scenario: s}
	for arm, runs := range arms {
		var parts []core.Part
		for i, x := range runs {
			var h stats.Hist
			for _, v := range x.samples {
				h.Add(v)
			}
			parts = append(parts, core.Part{
				Job: core.Job{Arm: arm, Run: i}, Done: !x.unfinished, Events: uint64(1000 + i), Primary: x.primary,
				Elapsed: x.elapsed, Hists: []stats.Hist{h}, Counters: x.counters, Time: x.time, Fault: x.fault,
			})
		}
		r.Parts = append(r.Parts, parts)
	}
	return r
}

// fixed returns the view of r with every name that belongs to the model fixed, so
// that the golden files change with the report only.
func fixed(r *core.Result) *view {
	v := newView(r)
	v.link = "?v=1&model=1&m=xeon-240&arm=&arm=sm-idle-v2"
	v.machine, v.kernel, v.workload, v.cpus = "2 × Example Xeon (240 CPUs)", "Linux 6.11", "ipistorm", 240
	v.parameters = "numipi=1000 single=1"
	v.cautions = []string{"The slow runs come from an assumed pair of tasks pinned to one CPU, which keeps newidle balance walking. Compare bg=quiet, which has none."}
	v.model = 1
	if v.complete {
		v.digest = "0123456789abcdef"
	}
	v.counters = []kernel.Info{{Key: "calls"}, {Key: "ipis"}, {Key: "never"}}
	v.times = []kernel.Info{{Key: "idle"}, {Key: "call"}, {Key: "never"}, {Key: "newidle"}}
	v.metric = workload.Metric{Name: "elapsed", Unit: "ns", Better: "lower"}
	v.samples = []workload.Sample{{Key: "call", Text: "one call"}}
	return v
}

// runs makes n runs that take first ns, first+step ns …, on 240 CPUs.
func runs(n int, first, step, ipis int64) []run {
	var list []run
	for i := range int64(n) {
		ps := 1000*(first+i*step) + i // odd picoseconds, which the report must not lose
		list = append(list, run{
			primary: first*1000 + i*step*1000 + i, elapsed: ps,
			counters: []int64{1000, ipis + i, 0},
			samples:  []int64{ps / 2000, ps / 1000, ps / 500},
			time:     []int64{239*ps - 5*ipis, ps, 0, 5 * ipis},
		})
	}
	return list
}

func cases(t *testing.T) map[string]*view {
	const link = "?m=xeon-240&w=ipistorm&numipi=1000&arm=&arm=sm-idle-v2"
	complete := fixed(build(t, link+"&runs=6", runs(6, 2_000_000, 900_000, 500), runs(6, 1_200_000, 50_000, 0)))

	base, patched := runs(4, 2_000_000, 900_000, 500), runs(4, 1_200_000, 50_000, 0)
	base[3], patched[2], patched[3] = run{unfinished: true}, run{unfinished: true, fault: "task 7 is on two queues"}, run{unfinished: true}
	cancelled := fixed(build(t, link+"&runs=4", base, patched))

	three := fixed(build(t, link+"&arm=sm-idle-v2.fast&runs=6&c.rq_visit=20",
		runs(6, 2_000_000, 900_000, 500), runs(6, 1_200_000, 50_000, 0), runs(6, 2_100_000, 900_000, 480)))

	higher := fixed(build(t, "?m=power9-smt8&w=ipistorm&arm=&arm=sm-idle-v2&runs=6", runs(6, 100, 1, 3), runs(6, 130, 1, 3)))
	higher.metric = workload.Metric{Name: "throughput", Unit: "MB/s", Better: "higher"}
	higher.perRun = 0

	none := fixed(build(t, link+"&runs=1", []run{{unfinished: true}}, []run{{unfinished: true}}))
	loaded := fixed(build(t, "?m=xeon-240&k=6.12&scx=lavd&w=messaging&arm=&arm=scx-now-v1&runs=6", clocked(6, 0), clocked(6, 60)))
	loaded.scheduler = "scx_example: a scheduler by example"
	loaded.metric = workload.Metric{Name: "clock reads per 1000 messages", Unit: "reads", Better: "lower", Noun: "message"}
	loaded.perRun = 0
	single := fixed(build(t, "?m=epyc-2x64&w=ipistorm&arm=sm-idle-v2&runs=1", runs(1, 1_500_000, 0, 1)))
	return map[string]*view{"complete": complete, "cancelled": cancelled, "three-arms": three, "higher": higher, "no-run": none, "one-arm": single, "scheduler": loaded}
}

// clocked makes n runs under a scheduler that asks for the time, of which so many percent need no read.
func clocked(n int, saved int64) []run {
	list := runs(n, 1000*(1000-9*saved), 1, 3)
	for i := range list {
		c := make([]int64, kernel.NumCounters)
		copy(c, list[i].counters)
		for cb := range []kernel.Callback{kernel.ExtRunnable, kernel.ExtEnqueue, kernel.ExtDispatch, kernel.ExtRunning} {
			c[int(kernel.ExtCalls)+cb+1] = 10 + int64(i)
			c[int(kernel.ClockUses)+cb+1] = 20
			c[int(kernel.ClockReads)+cb+1] = 20 * (100 - saved) / 100
		}
		c[int(kernel.ExtCalls)+int(kernel.ExtStopping)] = 5 // and does not ask
		c[kernel.ClockUsesLocal], c[kernel.ClockHitsLocal], c[kernel.ClockUsesRemote] = 10, 10*saved/100, 30
		if saved > 0 {
			c[kernel.ClockMissUnpinned], c[kernel.ClockMissRemote] = 20, 12
		}
		list[i].counters = c
	}
	return list
}

func TestGolden(t *testing.T) {
	for name, v := range cases(t) {
		for ext, got := range map[string]string{"txt": v.text(), "json": v.json(), "csv": v.csv()} {
			golden(t, name+"."+ext, got)
		}
	}
}

// golden compares a report with the one that somebody has looked at.
func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	} else if got != string(want) {
		t.Errorf("%s has changed (go test -update writes it anew):\n%s", path, firstDifference(got, string(want)))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) {
			return fmt.Sprintf("%d lines, want %d", len(g), len(w))
		}
		if g[i] != w[i] {
			return fmt.Sprintf("line %d: %q\nwant    %q", i+1, g[i], w[i])
		}
	}
	return "nothing"
}

// What a program reads back: the documented keys and no others, numbers that are exact,
// and a time account that sums to the CPUs' time.
func TestJSONIsWhatItSays(t *testing.T) {
	for name, v := range cases(t) {
		var got struct {
			Scenario, Background string
			Model, CPUs          int
			Digest               *string
			Events               uint64
			Metric               struct{ Name, Unit, Better string }
			Simulated, Complete  bool
			Warnings             []string
			Arms                 []struct {
				Name     string
				Patches  []string
				Runs     []json.Number
				Summary  map[string]*float64
				Elapsed  json.Number
				Counters map[string]int64
				Time     map[string]json.Number

				ClockSaved *float64 `json:"clock_saved"`
			}
			Scheduler   *string
			Comparisons []struct {
				Arm, Baseline        string
				ImprovementPct       *float64    `json:"improvement_pct"`
				ImprovementMedianPct *float64    `json:"improvement_median_pct"`
				CI95                 *[2]float64 `json:"ci95"`
				P                    *float64
				Significant          bool
				Warnings             []string
			}
		}
		d := json.NewDecoder(strings.NewReader(v.json()))
		d.DisallowUnknownFields()
		if err := d.Decode(&got); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !got.Simulated || got.Complete != (got.Digest != nil) || got.Complete != v.complete || got.CPUs != 240 {
			t.Errorf("%s: simulated %v, complete %v, digest %v, CPUs %d", name, got.Simulated, got.Complete, got.Digest, got.CPUs)
		}
		if len(got.Comparisons) != len(got.Arms)-1 {
			t.Errorf("%s: %d comparisons of %d arms", name, len(got.Comparisons), len(got.Arms))
		}
		for i, a := range got.Arms {
			if len(a.Counters) != len(v.counters) || len(a.Time) != len(v.times) || len(a.Summary) != 7 {
				t.Errorf("%s, %s: %d counters, %d times, %d statistics", name, a.Name, len(a.Counters), len(a.Time), len(a.Summary))
			}
			var sum int64
			for _, n := range a.Time {
				sum += picoseconds(t, n)
			}
			if want := 240 * picoseconds(t, a.Elapsed); sum != want {
				t.Errorf("%s, %s: the time account sums to %d ps, want %d", name, a.Name, sum, want)
			}
			if loaded := name == "scheduler"; loaded != (got.Scheduler != nil) || loaded != (a.ClockSaved != nil) || loaded && *a.ClockSaved != []float64{0, 0.6}[i] {
				t.Errorf("%s, %s: scheduler %v, saved %v", name, a.Name, got.Scheduler, a.ClockSaved)
			}
			for j, n := range a.Runs {
				if got, want := picoseconds(t, n), v.arms[i].runs[j].Primary; got != want {
					t.Errorf("%s, %s: run %d is %d thousandths, want %d", name, a.Name, j+1, got, want)
				}
			}
		}
	}
}

// picoseconds reads a decimal with up to three places as thousandths.
func picoseconds(t *testing.T, n json.Number) int64 {
	t.Helper()
	whole, part, _ := strings.Cut(n.String(), ".")
	v, err := strconv.ParseInt(whole+(part + "000")[:3], 10, 64)
	if err != nil || len(part) > 3 {
		t.Fatalf("%s: %v", n, err)
	}
	return v
}

func TestJSONHasTheModelsOwnNames(t *testing.T) {
	r := build(t, "?runs=1", []run{{}}, []run{{}})
	var got struct {
		Arms []struct{ Counters, Time map[string]json.Number }
	}
	if err := json.Unmarshal([]byte(newView(r).json()), &got); err != nil {
		t.Fatal(err)
	}
	for _, c := range kernel.Counters {
		if _, ok := got.Arms[0].Counters[c.Key]; !ok {
			t.Errorf("no counter %s", c.Key)
		}
	}
	for _, k := range kernel.Times {
		if _, ok := got.Arms[0].Time[k.Key]; !ok {
			t.Errorf("no time %s", k.Key)
		}
	}
}

func TestCSVIsRFC4180(t *testing.T) {
	for name, v := range cases(t) {
		out := v.csv()
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := 1
		for _, a := range v.arms {
			want += a.finished
		}
		if len(rows) != want || strings.Count(out, "\r\n") != want || strings.Count(out, "\n") != want {
			t.Errorf("%s: %d rows in %q, want %d", name, len(rows), out, want)
		}
	}
}

// Text can be pasted: UTF-8, no tabs, no blanks at line ends, not wide.
func TestTextCanBePasted(t *testing.T) {
	for name, v := range cases(t) {
		out := v.text()
		if !utf8.ValidString(out) || strings.ContainsAny(out, "\t\r") || !strings.HasSuffix(out, "\n") {
			t.Errorf("%s: not plain text", name)
		}
		for line := range strings.Lines(out) {
			line = strings.TrimSuffix(line, "\n")
			if utf8.RuneCountInString(line) > columns || strings.TrimRight(line, " ") != line {
				t.Errorf("%s: too wide or blanks at the end: %q", name, line)
			}
		}
		for _, must := range []string{"simulated", "version 1", "background"} {
			if !strings.Contains(out[:strings.Index(out, "\n\n")], must) {
				t.Errorf("%s: the verdict does not say %q", name, must)
			}
		}
		if strings.Contains(out, "NaN") || strings.Contains(out, "Inf") {
			t.Errorf("%s: not a number:\n%s", name, out)
		}
	}
}

// What the table of callbacks has, the list of counters has not.
func TestClockIsToldOnce(t *testing.T) {
	r := build(t, "?m=xeon-240&k=6.12&scx=lavd&w=messaging&arm=&arm=scx-now-v1&runs=6", clocked(6, 0), clocked(6, 60))
	out := newView(r).text()
	_, list, _ := strings.Cut(out, "\ncounters, ")
	for i, c := range kernel.Counters {
		if got := strings.Contains(list, c.Key+" "); got && core.InClock(kernel.Counter(i)) {
			t.Errorf("%s is in the list of counters too:\n%s", c.Key, list)
		}
	}
	for _, must := range []string{"runnable  baseline", "saved", "unpinned"} {
		if !strings.Contains(out, must) {
			t.Errorf("no %q in:\n%s", must, out)
		}
	}
	without := build(t, "?m=xeon-240&k=6.12&w=messaging&arm=&runs=6", clocked(6, 0))
	if out := newView(without).text(); strings.Contains(out, "saved") || !strings.Contains(out, "clock_reads_runnable") {
		t.Errorf("without a scheduler:\n%s", out)
	}
}

func TestFigure(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0"}, {7, "7"}, {1130.86, "1131"}, {999.5, "999.5"}, {113.086, "113.1"}, {11.3086, "11.31"},
		{1.13086, "1.131"}, {0.0113086, "0.01131"}, {1e-9, "0.000000"}, {-2.5, "-2.500"}, {3e15, "3000000000000000"},
	} {
		if got := figure(c.v); got != c.want {
			t.Errorf("%v: %s, want %s", c.v, got, c.want)
		}
	}
}

func TestVerdict(t *testing.T) {
	r := build(t, "?m=xeon-240&arm=&arm=sm-idle-v2&runs=6", runs(6, 4000, 0, 0), runs(6, 1000, 0, 0))
	got := Verdict(r, 1)
	for _, must := range []string{"In this model (version", "background busy", "simulated", "elapsed with sm-idle-v2 is 75.0 % lower than with baseline", "p = 0.002"} {
		if !strings.Contains(got, must) {
			t.Errorf("no %q in: %s", must, got)
		}
	}
}

// The forms that users get are those of the golden files.
func TestExportedForms(t *testing.T) {
	r := build(t, "?m=xeon-240&arm=&arm=sm-idle-v2&runs=2", runs(2, 4000, 1, 0), runs(2, 1000, 1, 0))
	v := newView(r)
	if Text(r) != v.text() || JSON(r) != v.json() || CSV(r) != v.csv() {
		t.Error("Text, JSON or CSV is not what the view writes")
	}
	if !bytes.Contains([]byte(JSON(r)), []byte(`"scenario": "`+r.Scenario.Query()+`"`)) {
		t.Errorf("the link is not in %s", JSON(r))
	}
}
