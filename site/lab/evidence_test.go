package lab

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"schedlab/core/evidence"
	"schedlab/core/scenario"
)

// of returns the index of a published table.
func of(t *testing.T, key string) int {
	t.Helper()
	i := slices.Index(evidence.Keys(), key)
	if i < 0 {
		t.Fatalf("no table %s", key)
	}
	return i
}

const (
	robot = "sm-idle-robot-schbench-request_latency_90%_us-1-mthread-16-workers" // two kernels in three runs: six seconds
	pipes = "irq-nosync-hackbench-thread-pipes-4"                                // the same
)

// trials tells how far they have come.
func (d *desk) trials(v View, status Status, done, of, ended int) {
	d.t.Helper()
	if e := v.Evidence; e.Status != status || e.Done != done || e.Of != of || e.Ended != ended {
		d.t.Errorf("status %d, %d of %d tables, %d of %d runs; want status %d, %d of %d tables, %d runs", e.Status, e.Done, e.Of, e.Ended, e.Jobs, status, done, of, ended)
	}
}

// Every published table has its place, and nothing is judged before it has been tried.
func TestThreadsOfEvidence(t *testing.T) {
	seen := map[int]bool{}
	for _, thread := range Threads() {
		for _, series := range thread.Series {
			if series.Title == "" || !strings.HasPrefix(series.URL, posts) {
				t.Errorf("%s: %+v", thread.Title, series)
			}
			for _, i := range series.Cases {
				c := newCases()[i]
				seen[i] = true
				if c.Thread != thread.Title || c.Source != series.Source || c.Note != series.Note {
					t.Errorf("%s is not of %s", c.Key, series.Title)
				}
				if len(series.Cases) > 1 && c.Load == "" {
					t.Errorf("%s does not say which of its series it is", c.Key)
				}
				if _, problems := scenario.Parse(c.Link()); len(problems) > 0 || c.Runs(false) < 6 || c.Runs(true) < c.Runs(false) || c.OneByOne() != (c.Runs(true) > c.Runs(false)) {
					t.Errorf("%s: %s, %d and %d runs, %v", c.Key, c.Link(), c.Runs(false), c.Runs(true), problems)
				}
				for _, f := range c.Figures() {
					if f.Verdict != "" || f.Simulated.OK || f.ID == "" || f.Reason == "" {
						t.Errorf("before anything was tried: %+v", f)
					}
				}
			}
		}
	}
	if len(seen) != len(evidence.Keys()) {
		t.Errorf("%d tables, want %d", len(seen), len(evidence.Keys()))
	}
}

// The evidence is a view of its own in the history, and runs nothing by itself.
func TestEvidenceIsAView(t *testing.T) {
	at(t, "?runs=2#evidence", func(d *desk) {
		v := d.after(time.Minute)
		if !v.Evidence.Open || v.Evidence.Ran || d.runner.times() != 0 || len(v.Evidence.Cases) != len(evidence.Keys()) {
			t.Errorf("open is %v, %d runs", v.Evidence.Open, d.runner.times())
		}
		if v.Link != current+"&runs=2#evidence" {
			t.Errorf("link %s", v.Link)
		}
		d.ShowEvidence(false)
		v = d.after(time.Minute)
		d.status(v, Done, 4, false)
		if want := []string{"?runs=2#evidence", current + "&runs=2"}; v.Evidence.Open || !slices.Equal(d.bar.entries, want) {
			t.Errorf("open is %v, history %q", v.Evidence.Open, d.bar.entries)
		}
		d.ShowEvidence(true)
		d.Open(current + "&runs=2") // Back
		if v = d.after(time.Minute); v.Evidence.Open || d.runner.times() != 1 {
			t.Errorf("open is %v, %d runs", v.Evidence.Open, d.runner.times())
		}
		d.ShowEvidence(true)
		d.Ask(d.View().Evidence.Cases[of(t, robot)].Link())
		if v = d.after(time.Minute); v.Evidence.Open || v.Asked.Machine != "xeon-128-4n" || v.Status != Done {
			t.Errorf("open is %v, asked %s", v.Evidence.Open, v.Asked.Query())
		}
	})
	at(t, "?runs=2#sweep?x=c.rq_visit=15,30", func(d *desk) { // the sweep stays as it is
		d.after(time.Minute)
		d.ShowEvidence(true)
		d.ShowEvidence(false)
		if v := d.View(); !v.Sweep.Open || !strings.HasSuffix(v.Link, "#sweep?x=c.rq_visit=15,30") {
			t.Errorf("sweep open is %v at %s", v.Sweep.Open, v.Link)
		}
	})
}

// Tables are tried one after the other, and each is judged when its trials are complete.
func TestTry(t *testing.T) {
	at(t, "#evidence", func(d *desk) {
		first, second := of(t, robot), of(t, pipes)
		d.Try(false, first, second, first)
		v := d.after(2500 * time.Millisecond)
		d.trials(v, Running, 0, 2, 2)
		if e := v.Evidence; e.Jobs != 6 || e.Now != e.Cases[first].Title || e.Cases[first].Doing != Trying || e.Cases[second].Doing != Queued || e.Elapsed != 2500*time.Millisecond {
			t.Errorf("%+v", e)
		}
		for _, s := range v.Evidence.Sums {
			if s.All != 0 || s.Of == 0 || len(s.Counts) != 0 {
				t.Errorf("before any is judged: %+v", s)
			}
		}
		v = d.after(4 * time.Second)
		d.trials(v, Running, 1, 2, 0)
		before := v.Evidence.Cases[first]
		if before.Doing != Nothing || len(before.Findings) != 3 || before.Full || before.Tried != nil {
			t.Errorf("%+v", before)
		}
		// The runner's kernels take 200 and 100 ms.
		if f := before.Figures()[2]; f.Verdict != evidence.Disagrees || f.Simulated.V != 50 || f.ID != robot+"/sm-idle-v2/improvement of means" {
			t.Errorf("%+v", f)
		}
		v = d.after(time.Minute)
		d.trials(v, Done, 2, 2, 6)
		if v.Evidence.Running() || v.Evidence.Elapsed < 12*time.Second || v.Evidence.Announcement() != "Done: 2 tables judged." {
			t.Errorf("%+v", v.Evidence)
		}
		sums := map[string]int{}
		for _, s := range v.Evidence.Sums {
			sums[s.Thread] += s.All
			n := 0
			for _, m := range s.Counts {
				n += m
			}
			if n != s.All || s.All > s.Of {
				t.Errorf("%+v", s)
			}
		}
		if sums[evidence.Matching(robot)[0].Thread] != 3 || sums[evidence.Matching(pipes)[0].Thread] != 3 {
			t.Errorf("sums %v", sums)
		}
		d.Try(false, first) // again: the count begins anew, and what was found stays until there is something new
		v = d.after(500 * time.Millisecond)
		d.trials(v, Running, 0, 1, 0)
		if c := v.Evidence.Cases[first]; c.Doing != Trying || len(c.Findings) != 3 || before.Doing != Nothing {
			t.Errorf("%+v", c)
		}
	})
}

// Runs that were published one by one are kept, by state and kernel.
func TestTryOneByOne(t *testing.T) {
	at(t, "#evidence", func(d *desk) {
		i := of(t, "sm-idle-xeon-240")
		d.Try(false, i)
		v := d.after(time.Hour)
		c := v.Evidence.Cases[i]
		if len(c.Tried) != len(c.States) || len(c.Tried[0].Runs) != 2 || len(c.Tried[4].Runs[1]) != 10 {
			t.Fatalf("%+v", c.Tried)
		}
		if got := c.Tried[2].Runs[1][9]; got != 1 || c.Tried[2].State.Background != "busy" { // 10^5 ns for as many calls
			t.Errorf("%v ns in %s", got, c.Tried[2].State.Background)
		}
		figures := c.Figures()
		if last := figures[len(figures)-1]; last.Figure != "distribution" || last.Verdict != "" {
			t.Errorf("few runs judge the distribution: %+v", last)
		}
		d.Try(true, i)
		v = d.after(3 * time.Hour)
		if c = v.Evidence.Cases[i]; !c.Full || len(c.Tried[0].Runs[0]) != 500 || v.Evidence.Ended != 5000 {
			t.Errorf("full is %v after %d jobs", c.Full, v.Evidence.Ended)
		}
		figures = c.Figures()
		if last := figures[len(figures)-1]; last.Figure != "distribution" || last.Verdict == "" {
			t.Errorf("the distribution is not judged: %+v", last)
		}
	})
}

// What has been judged stays when the rest is cancelled.
func TestCancelEvidence(t *testing.T) {
	at(t, "#evidence", func(d *desk) {
		first, second := of(t, robot), of(t, pipes)
		d.Try(false, first, second)
		d.after(8 * time.Second)
		d.CancelEvidence()
		v := d.after(time.Hour)
		d.trials(v, Cancelled, 1, 1, 1)
		if a, b := v.Evidence.Cases[first], v.Evidence.Cases[second]; a.Findings == nil || b.Findings != nil || b.Doing != Nothing {
			t.Errorf("%+v, %+v", a, b)
		}
		d.Try(false, second)
		d.trials(d.after(time.Minute), Done, 1, 1, 6)
		d.CancelEvidence() // of nothing
		d.trials(d.View(), Done, 1, 1, 6)
	})
}

// What the visitor asks the simulator goes first; then the table is begun anew.
func TestEvidenceYields(t *testing.T) {
	at(t, "?runs=2#evidence", func(d *desk) {
		first := of(t, robot)
		d.Try(false, first)
		d.after(3500 * time.Millisecond)
		d.ShowEvidence(false)
		d.ShowEvidence(true)
		v := d.after(time.Second)
		if !v.Evidence.Waiting || v.Evidence.Cases[first].Doing != Queued || v.Evidence.Announcement() != "The tables wait for the simulator." {
			t.Errorf("it does not wait: %+v", v.Evidence)
		}
		v = d.after(3500 * time.Millisecond)
		d.status(v, Done, 4, false)
		d.trials(v, Running, 0, 1, 0)
		d.OpenSweep(true)
		d.ChooseAxis(0, "c.rq_visit")
		d.RunSweep()
		v = d.after(time.Hour)
		if v.Sweep.Status != Done || v.Sweep.Ended != v.Sweep.Jobs {
			t.Errorf("the sweep has status %d", v.Sweep.Status)
		}
		d.trials(v, Done, 1, 1, 6)
		if n := d.runner.times(); n != 1+1+1+5+1 { // cut short, the question, cut short, five points, the table
			t.Errorf("%d runs", n)
		}
	})
	at(t, "?runs=2", func(d *desk) { // and one at work is not disturbed
		d.after(time.Second)
		d.ShowEvidence(true)
		d.Try(false, of(t, robot))
		v := d.after(2 * time.Second)
		if !v.Evidence.Waiting {
			t.Error("it does not wait for the answer")
		}
		v = d.after(time.Hour)
		d.status(v, Done, 4, false)
		d.trials(v, Done, 1, 1, 6)
	})
}

// A run that breaks the model leaves its table without a verdict; workers that fail end the trials.
func TestTroubleWithEvidence(t *testing.T) {
	at(t, "#evidence", func(d *desk) {
		first, second := of(t, robot), of(t, pipes)
		d.runner.set(trouble{broken: true})
		d.Try(false, first)
		v := d.after(time.Hour)
		d.trials(v, Done, 1, 1, 6)
		if c := v.Evidence.Cases[first]; c.Findings != nil || !strings.Contains(c.Trouble, "run 3 with bg=housekeeping broke the model: task 1 is nowhere") {
			t.Errorf("%+v", c)
		}
		d.runner.set(trouble{err: errors.New("no memory")})
		d.Try(false, first, second)
		v = d.after(time.Hour)
		if e := v.Evidence; e.Status != Failed || e.Reason() != "no memory" || e.Cases[second].Doing != Nothing || e.Cases[first].Trouble != "" {
			t.Errorf("%+v", e)
		}
		d.runner.set(trouble{})
		d.Try(false, second)
		d.trials(d.after(time.Hour), Done, 1, 1, 6)
	})
}
