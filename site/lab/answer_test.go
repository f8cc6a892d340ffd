package lab

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/stats"
)

// result returns a result with these primary figures, in ns a run, by arm; a
// negative one has not finished.
func result(t *testing.T, link string, runs ...[]float64) *core.Result {
	r := core.NewResult(parse(t, link))
	for arm, values := range runs {
		for run, v := range values {
			p := core.Part{Job: core.Job{Arm: arm, Run: run}, Done: v >= 0, Events: 100, Primary: int64(1000 * max(v, 0)), Elapsed: int64(1000 * max(v, 0)),
				Hists: make([]stats.Hist, 1), Counters: make([]int64, kernel.NumCounters), Time: make([]int64, kernel.NumTimes)}
			for range 10 {
				p.Hists[0].Add(1e6)
			}
			p.Counters[kernel.CallsSent], p.Counters[kernel.CallsPolledMwait], p.Counters[kernel.CallsIRQsOff] = 10, 10-int64(arm), int64(arm)
			p.Time[kernel.TimeNewidle], p.Time[kernel.TimeCall], p.Time[kernel.TimeIdle] = 4e7-int64(arm)*3e7, 1e7, 9e10
			p.Time[kernel.TimeTimer] = 10
			r.Put(&p)
		}
	}
	return r
}

var six = []float64{100, 110, 120, 130, 140, 150}

func times(f float64, values []float64) (out []float64) {
	for _, v := range values {
		out = append(out, v*f)
	}
	return out
}

func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		r       *core.Result
		running bool
		want    string
	}{
		"lower":    {result(t, "?runs=6", six, times(0.5, six)), false, "SM_IDLE v2 takes 50.0 % off ipistorm's elapsed time (in this model, 95 % interval of the paired changes −50.0 % to −50.0 %, p = 0.002, 6 pairs of runs)."},
		"higher":   {result(t, "?runs=6", six, times(2, six)), false, "SM_IDLE v2 adds 100.0 % to ipistorm's elapsed time (in this model, 95 % interval of the paired changes +100.0 % to +100.0 %, p = 0.002, 6 pairs of runs)."},
		"same":     {result(t, "?runs=6", six, times(1.01, six)), false, "SM_IDLE v2 makes no significant difference to ipistorm's elapsed time (in this model, means +1.0 %, 95 % interval"},
		"few":      {result(t, "?runs=6", six[:3], times(0.5, six[:3])), true, "There is no verdict yet on SM_IDLE v2 (in this model, means −50.0 %, 3 pairs of runs, a verdict needs 4)."},
		"few runs": {result(t, "?runs=1", six[:1], times(0.5, six[:1])), false, "There is no verdict on SM_IDLE v2 (in this model, means −50.0 %, 1 pair of runs, a verdict needs 4)."},
		"none":     {result(t, "?runs=6", []float64{5, -1}, []float64{-1}), true, "No pair of runs has finished yet, so there is no verdict on SM_IDLE v2."},
		"one arm":  {result(t, "?runs=6&arm=", six), false, "baseline runs ipistorm in 125 ns (in this model, mean of 6 runs)."},
		"nothing":  {result(t, "?runs=6&arm=", []float64{-1}), true, "No run has finished yet."},
	} {
		a := NewAnswer(c.r, c.running)
		if len(a.Verdicts) != 1 {
			t.Fatalf("%s: %d verdicts", name, len(a.Verdicts))
		}
		got := strings.ReplaceAll(a.Verdicts[0].String(), "\u00a0", " ")
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if a.Basis != fmt.Sprintf("simulated, model %d, busy background", core.Model) {
			t.Errorf("%s: the figures rest on %q", name, a.Basis)
		}
		if a.Tags[0] != "simulated" || a.Tags[1] != fmt.Sprint("model ", core.Model) || a.Tags[4] != "busy background" {
			t.Errorf("%s: tags %q", name, a.Tags)
		}
	}
}

// While runs are to come, nobody is warned that there are too few of them.
func TestWarnings(t *testing.T) {
	r := result(t, "?runs=6", six[:5], times(0.5, six[:5]))
	if w := NewAnswer(r, true).Warnings; len(w) > 0 {
		t.Errorf("while running: %q", w)
	}
	if w := NewAnswer(r, false).Warnings; len(w) != 1 || !strings.Contains(w[0], "at least 6 runs") {
		t.Errorf("after it was cancelled: %q", w)
	}
}

func TestTables(t *testing.T) {
	a := NewAnswer(result(t, "?runs=6", six, times(0.5, six)), false)
	rows := func(list []Row) map[string]string {
		m, head := map[string]string{}, ""
		for _, r := range list {
			if r.Head {
				head = r.Name + ": "
			}
			m[head+r.Name] = strings.ReplaceAll(strings.Join(append(r.Cells, r.Change), "; "), "\u00a0", " ")
		}
		return m
	}
	for _, c := range []struct{ got, want string }{
		{rows(a.Statistics)["runs finished"], "6 of 6; 6 of 6; "},
		{rows(a.Statistics)["elapsed time of a run: mean"], "125 ns; 62.5 ns; "},
		{rows(a.Statistics)["elapsed time of a run: change of means"], " ; −50.0 %; "},
		{rows(a.Samples[0].Rows)["time of one call: calls"], "60; 60; "},
		{rows(a.Samples[0].Rows)["time of one call: p50"], "1.00 µs; 1.00 µs; "},
		{rows(a.Samples[1].Rows)["time of one delivery: p50"], "–; –; "},
		{rows(a.Samples[0].Octaves())["512 – 1,024"], "60; 60; "},
		{rows(a.Calls)[kernel.Counters[kernel.CallsIRQsOff].Text], "0.0 %; 10.0 %; +10.0"},
		{rows(a.Counters)["calls"], "10; 10; 0"},
		{rows(a.Account.Apart)["idle"], "9,000,000; 9,000,000; 0"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if len(a.Account.Rows) != 3 || a.Account.Rows[0].Name != "newidle" || a.Account.Rows[2].Name != "others" {
		t.Fatalf("account %+v", a.Account.Rows)
	}
	if r := a.Account.Rows[0]; r.Cells[0] != "4,000.0" || r.Cells[1] != "1,000.0" || r.Change != "−3,000.0" || math.Abs(r.Bars[1]-25) > 1e-9 {
		t.Errorf("newidle: %+v", r)
	}
	if len(a.Digest) != 16 {
		t.Errorf("digest %q", a.Digest)
	}
	if len(a.Published) != 1 || a.Published[0].Rows[0].Arm != "SM_IDLE v2" || a.Published[0].Rows[1].Mark != "1" || !strings.HasPrefix(a.Published[0].Notes[0], "No prediction: ") {
		t.Errorf("published %+v", a.Published)
	}
}

// The table of a scheduler's clock has what the counters say, and the list of counters no longer.
func TestClock(t *testing.T) {
	s := parse(t, "?m=apu-8&k=6.12&scx=lavd&w=messaging&arm=&arm=scx-now-v1&runs=1")
	r := core.NewResult(s)
	for arm := range int64(2) {
		p := core.Part{Job: core.Job{Arm: int(arm)}, Done: true, Events: 1, Hists: make([]stats.Hist, 1), Counters: make([]int64, kernel.NumCounters), Time: make([]int64, kernel.NumTimes)}
		for range 50 {
			p.Hists[0].Add(1000) // 20 messages each
		}
		p.Counters[kernel.ExtCalls+kernel.Counter(kernel.ExtRunning)] = 200
		p.Counters[kernel.ClockUses+kernel.Counter(kernel.ExtRunning)] = 400
		p.Counters[kernel.ClockReads+kernel.Counter(kernel.ExtRunning)] = 400 - 300*arm
		p.Counters[kernel.ClockUsesRemote], p.Counters[kernel.ClockHitsRemote] = 40, 10*arm
		p.Counters[kernel.ClockMissUnpinned] = 100 * arm
		p.Counters[kernel.ExtKicks] = 7
		r.Put(&p)
	}
	a := NewAnswer(r, false)
	var got []string
	for _, row := range a.Clock.Rows {
		for _, c := range row.Cells {
			got = append(got, strings.ReplaceAll(strings.Join([]string{row.Name, c.Calls, c.Asked, c.Reads, c.Saved}, " "), "\u00a0", " "))
		}
	}
	want := []string{"running 200 400 400 0.0 %", "running 200 400 100 75.0 %", "all 200 400 400 0.0 %", "all 200 400 100 75.0 %"}
	if !slices.Equal(got, want) || a.Clock.Unit != "per 1000 messages" {
		t.Errorf("%q, %s: want %q", got, a.Clock.Unit, want)
	}
	if ways := a.Clock.Ways; len(ways) != 1 || ways[0].Help != "remote lock" || ways[0].Change != "+25.0" {
		t.Errorf("ways %+v", ways)
	}
	if misses := a.Clock.Misses; len(misses) != 1 || misses[0].Help != "unpinned" || misses[0].Cells[1] != "100" {
		t.Errorf("misses %+v", misses)
	}
	if len(a.Counters) != 1 || a.Counters[0].Name != "scx_kicks" {
		t.Errorf("counters %+v", a.Counters)
	}
	if a := NewAnswer(core.NewResult(s), true); len(a.Clock.Rows) != 0 || len(a.Clock.Misses) != 0 {
		t.Errorf("of nothing: %+v", a.Clock)
	}
}

// Each sample has its own curves, and of those that are not the workload's own the runs
// are the means.
func TestSamples(t *testing.T) {
	r, err := core.Run(parse(t, "?numipi=200&runs=2&bg=quiet"), nil)
	if err != nil {
		t.Fatal(err)
	}
	a := NewAnswer(r, false)
	if len(a.Samples) != 2 || a.Samples[0].Key != "call" || a.Samples[1].Key != "delivery" {
		t.Fatalf("samples %+v", a.Samples)
	}
	for i, s := range a.Samples {
		for arm, c := range s.Curves {
			mean := float64(c.Samples.Mean()) / 1000
			if len(c.Runs) != 2 || c.Samples.N != 400 || math.Abs((c.Runs[0]+c.Runs[1])/2-mean) > 0.03*mean {
				t.Errorf("sample %d of arm %d: runs %v, %d samples with the mean %v", i, arm, c.Runs, c.Samples.N, mean)
			}
		}
		if rows := s.Octaves(); len(rows) == 0 || len(rows[0].Cells) != 2 {
			t.Errorf("octaves %+v", rows)
		}
	}
	if call, delivery := a.Samples[0].Curves[0], a.Samples[1].Curves[0]; call.Samples.Mean() <= delivery.Samples.Mean() {
		t.Errorf("a call of %v takes less than its delivery of %v", call.Samples.Mean(), delivery.Samples.Mean())
	}
}

// An answer of nothing, and of what is not comparable, is words all the same.
func TestAnswerOfNothing(t *testing.T) {
	for _, link := range []string{"", "?arm=", "?m=power9-smt8&arm=&arm=sm-idle-v1&arm=sm-idle-v2"} {
		a := NewAnswer(core.NewResult(parse(t, link)), true)
		if len(a.Calls) > 0 || len(a.Account.Rows) > 0 || a.Digest != "" || len(a.Verdicts) == 0 {
			t.Errorf("%s: %+v", link, a)
		}
	}
}

func TestCalls(t *testing.T) {
	for link, want := range map[string]string{
		"?single=0":                      "CPU 8 calls 255 other CPUs",
		"?cpulist=0-3":                   "4 CPUs call one CPU each, 4 CPUs in all",
		"?cpulist=0-3&modified=0":        "4 CPUs call one CPU each, 4 CPUs in all",
		"?cpulist=0-3&single=0":          "4 CPUs call all others",
		"":                               "CPU 8 calls CPU 16: same socket, 100 ns a line",
		"?modified=0":                    "CPU 8 calls CPU 0: same socket, 100 ns a line",
		"?m=power9-smt8&cpulist=159":     "CPU 159 calls CPU 7: other socket, 443 ns a line",
		"?m=xeon-240&cpulist=0&offset=0": "CPU 0 calls CPU 0: same CPU, 2.60 ns a line",
	} {
		_, _, words := Calls(parse(t, link))
		if words = strings.ReplaceAll(words, "\u00a0", " "); words != want {
			t.Errorf("%s: %q, want %q", link, words, want)
		}
	}
}
