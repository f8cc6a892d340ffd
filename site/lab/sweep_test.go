package lab

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/scenario"
	"schedlab/core/sim"
	"schedlab/core/sweep"
)

// swept is a question of four seconds with a sweep of two points.
const swept = "?runs=2#sweep?x=c.rq_visit=15,30"

func (d *desk) sweep(v View, status Status, ended int) {
	d.t.Helper()
	if w := v.Sweep; !w.Ran || w.Status != status || w.Ended != ended {
		d.t.Errorf("sweep: ran is %v, status %d with %d of %d jobs, waiting is %v; want status %d with %d jobs", w.Ran, w.Status, w.Ended, w.Jobs, w.Waiting, status, ended)
	}
}

// A link with a sweep shows it, but does not run it; when it is asked to run, it goes point by point.
func TestSweep(t *testing.T) {
	at(t, swept, func(d *desk) {
		v := d.after(time.Minute)
		if w := v.Sweep; !w.Open || w.Ran || w.Axes[0].Key != "c.rq_visit" || w.Axes[0].Text != "15,30" || w.Axes[1].Key != "" || w.Points != 2 || w.Runs != 8 {
			t.Errorf("at first %+v", w)
		}
		if want := "schedlab sweep -x c.rq_visit=15,30 '" + current + "&runs=2'"; v.Sweep.Command != want {
			t.Errorf("command %s, want %s", v.Sweep.Command, want)
		}
		d.RunSweep()
		d.sweep(d.View(), Running, 0)
		v = d.after(3500 * time.Millisecond)
		d.sweep(v, Running, 3)
		if v.Sweep.Table.Known(1) != 0 {
			t.Error("a point is shown before it is complete")
		}
		v = d.after(2 * time.Second)
		d.sweep(v, Running, 5)
		first := v.Sweep.Table
		if v.Sweep.Elapsed != 5500*time.Millisecond || first.Known(1) != 1 || first.Effect(0, 1).ImprovementPct.V != 50 {
			t.Errorf("after %v %d points are known", v.Sweep.Elapsed, first.Known(1))
		}
		v = d.after(time.Minute)
		d.sweep(v, Done, 8)
		if w := v.Sweep; !w.Table.Complete() || w.Elapsed != 8*time.Second || w.Other || w.Announcement() != "Sweep done: 8 of 8 runs have finished." {
			t.Errorf("complete is %v after %v; %s", w.Table.Complete(), w.Elapsed, w.Announcement())
		}
		if first.Known(1) != 1 {
			t.Error("what the page has been given has changed")
		}
		if want := []string{current + "&runs=2", current + "&runs=2", current + "&runs=2&c.rq_visit=30"}; !slices.Equal(d.runner.ran, want) {
			t.Errorf("ran %q, want %q", d.runner.ran, want)
		}
		d.status(v, Done, 4, false)
		if !slices.Equal(d.bar.entries, []string{swept}) {
			t.Errorf("the history is %q", d.bar.entries)
		}
	})
}

// A sweep waits for the question's run; the runner of these tests fails if two run at a time.
func TestSweepWaits(t *testing.T) {
	at(t, swept, func(d *desk) {
		d.after(1500 * time.Millisecond)
		d.RunSweep()
		v := d.after(2 * time.Second)
		d.sweep(v, Running, 0)
		if !v.Sweep.Waiting || v.Sweep.Elapsed != 0 || v.Sweep.Announcement() != "The sweep waits for the answer." {
			t.Errorf("it does not wait: %+v", v.Sweep)
		}
		v = d.after(3 * time.Second) // the answer takes 4 s in all
		d.status(v, Done, 4, false)
		d.sweep(v, Running, 2)
		if v.Sweep.Waiting || v.Sweep.Elapsed != 2500*time.Millisecond {
			t.Errorf("it waits, after %v", v.Sweep.Elapsed)
		}
		d.RunSweep() // anew
		d.sweep(d.View(), Running, 0)
		d.sweep(d.after(time.Minute), Done, 8)
	})
	at(t, swept, func(d *desk) { // what ends the run lets it begin, but not before the workers have stopped
		d.runner.set(trouble{stop: time.Second})
		d.after(500 * time.Millisecond)
		d.RunSweep()
		d.Cancel()
		v := d.after(500 * time.Millisecond)
		if d.status(v, Cancelled, 0, false); !v.Sweep.Waiting {
			t.Error("it does not wait for the workers")
		}
		if v = d.after(time.Second); v.Sweep.Waiting {
			t.Error("it waits for a run that was cancelled")
		}
	})
	at(t, swept, func(d *desk) { // and is cancelled while it waits
		d.after(500 * time.Millisecond)
		d.RunSweep()
		d.CancelSweep()
		v := d.after(time.Minute)
		d.sweep(v, Cancelled, 0)
		d.status(v, Done, 4, false)
		if n := d.runner.times(); n != 1 {
			t.Errorf("%d runs", n)
		}
	})
	at(t, swept, func(d *desk) { // what was chosen in passing is run before it
		d.after(time.Minute)
		d.Choose("bg", "quiet")
		d.Choose("bg", "pair")
		d.RunSweep()
		v := d.after(time.Minute)
		d.status(v, Done, 4, false)
		d.sweep(v, Done, 8)
		if v.Sweep.Table.Sweep.Base.Background != "pair" || v.Result.Scenario.Background != "pair" {
			t.Errorf("swept %s", v.Sweep.Table.Sweep.Base.Query())
		}
	})
}

// Whatever runs the question stops the sweep, of which stays what has finished.
func TestSweepIsCancelled(t *testing.T) {
	for name, stop := range map[string]func(d *desk){
		"Cancel": func(d *desk) { d.CancelSweep() },
		"Set":    func(d *desk) { d.Set("bg", "quiet") },
		"Type":   func(d *desk) { d.Type("seed", "2"); d.after(typingPace) },
		"Again":  func(d *desk) { d.Again() },
		"Ask":    func(d *desk) { d.Ask(Presets()[1].Query) },
		"AddArm": func(d *desk) { d.AddArm() },
		"Back":   func(d *desk) { d.Open("?runs=3" + "#sweep?x=c.rq_visit=15,30") },
	} {
		at(t, swept, func(d *desk) {
			d.after(time.Minute)
			d.RunSweep()
			d.after(5500 * time.Millisecond)
			stop(d)
			v := d.after(100 * time.Millisecond)
			d.sweep(v, Cancelled, 5)
			if w := v.Sweep; w.Table.Known(1) != 1 || w.Other != (name != "Cancel" && name != "Again") {
				t.Errorf("%s leaves %d points, other is %v", name, w.Table.Known(1), w.Other)
			}
			v = d.after(time.Hour)
			d.sweep(v, Cancelled, 5)
			if v.Status != Done {
				t.Errorf("%s: status %d", name, v.Status)
			}
		})
	}
	at(t, swept, func(d *desk) { // what changes nothing does not
		d.after(time.Minute)
		d.RunSweep()
		d.Set("runs", "2")
		d.Set("seed", "x")
		d.TypeAxis(0, "1,2,3")
		d.OpenSweep(false)
		v := d.after(time.Minute)
		d.sweep(v, Done, 8)
		if v.Sweep.Open || !v.Sweep.Other {
			t.Errorf("open is %v, other is %v", v.Sweep.Open, v.Sweep.Other)
		}
	})
	at(t, swept, func(d *desk) { // of an incomplete point what it has
		d.after(time.Minute)
		d.RunSweep()
		d.after(3500 * time.Millisecond)
		d.CancelSweep()
		if v := d.View(); v.Sweep.Table.Known(1) != 1 || v.Sweep.Table.Effect(0, 1).N != 1 {
			t.Errorf("%d points are known", v.Sweep.Table.Known(1))
		}
	})
}

// The link has the sweep behind its #; Back and Forward bring it back.
func TestSweepLink(t *testing.T) {
	at(t, "", func(d *desk) {
		history := func(want ...string) {
			t.Helper()
			if !slices.Equal(d.bar.entries, want) {
				t.Errorf("the history is\n%q, want\n%q", d.bar.entries, want)
			}
		}
		const asked = "#sweep?x=c.rq_visit=3.75,7.5,15,30,60"
		d.after(time.Minute)
		d.OpenSweep(true)
		history(current + asked)
		if v := d.View(); v.Link != current+asked || v.Sweep.Points != 5 {
			t.Errorf("link %s, %d points", v.Link, v.Sweep.Points)
		}
		d.TypeAxis(0, "0..120/7")
		d.ChooseAxis(1, "offset")
		const typed = "#sweep?x=c.rq_visit=0..120/7&y=offset=2,4,8,16,32"
		history(current + typed)
		d.RunSweep()
		history(asked, current+typed) // the first entry was the page's own address, without a query
		d.Set("seed", "7")
		history(asked, current+typed, current+"&seed=7"+typed)
		d.ChooseAxis(1, "")
		d.TypeAxis(0, "x & y")
		const wrong = "#sweep?x=c.rq_visit=x+%26+y"
		history(asked, current+typed, current+"&seed=7"+wrong)
		v := d.View()
		if w := v.Sweep; !strings.Contains(w.Wrong[0], "“x & y”: want nanoseconds") || w.Points != 0 || w.Command != "" {
			t.Errorf("of a wrong text it says %q, with %d points", w.Wrong[0], w.Points)
		}
		d.RunSweep() // refused
		if v := d.View(); v.Sweep.Table.Sweep.Axes[0].Values[0] != "0" || v.Link != current+"&seed=7"+wrong {
			t.Error("it ran what is wrong, or lost it")
		}
		d.Open(current + typed) // Back
		if v := d.View(); !v.Sweep.Open || v.Sweep.Axes[0].Text != "0..120/7" || v.Sweep.Axes[1].Key != "offset" || v.Sweep.Points != 35 || v.Asked.Seed != 1 {
			t.Errorf("Back shows %+v", v.Sweep.Axes)
		}
		d.Open(current)
		if v := d.View(); v.Sweep.Open || v.Link != current {
			t.Errorf("a link without a sweep shows one: %s", v.Link)
		}
	})
	for link, want := range map[string]string{
		"#sweep?":                        "#sweep?x=c.rq_visit=3.75,7.5,15,30,60",
		"#sweep?x=numipi=100..1000/4log": "#sweep?x=numipi=100..1000/4log",
		"#sweep?y=offset=1,2&z=1&x=c.rq_visit=15,30": "#sweep?x=c.rq_visit=15,30&y=offset=1,2",
		"#sweep?x=%zz": "#sweep?x=%25zz=",
		"#sweep?x":     "#sweep?x=c.rq_visit=3.75,7.5,15,30,60",
		"#elsewhere":   "",
		"#":            "",
	} {
		at(t, link, func(d *desk) {
			if v := d.View(); v.Link != current+want || len(v.Problems) > 0 {
				t.Errorf("%s becomes %s, want %s; problems %v", link, v.Link, current+want, v.Problems)
			}
		})
	}
}

// Values that the page has proposed follow the question; those that were typed stay.
func TestSweepFollows(t *testing.T) {
	at(t, "", func(d *desk) {
		text := func() string { v := d.View(); return v.Sweep.Axes[0].Text }
		d.OpenSweep(true)
		before := text()
		d.Set("c.rq_visit", "100")
		if text() == before || text() != "25,50,100,200,400" {
			t.Errorf("around 100 ns it proposes %s, and before %s", text(), before)
		}
		d.TypeAxis(0, "1,2")
		d.Set("c.rq_visit", "50")
		if text() != "1,2" {
			t.Errorf("what was typed became %s", text())
		}
		d.ChooseAxis(0, "no-such")
		if w := d.View().Sweep; !strings.Contains(w.Wrong[0], "no-such") || w.Axes[0].Key != "no-such" {
			t.Errorf("of an unknown key: %q", w.Wrong[0])
		}
	})
	at(t, "?arm=#sweep?x=c.rq_visit=1,2", func(d *desk) {
		if w := d.View().Sweep; len(w.Problems) != 1 || !strings.Contains(w.Problems[0], "a second arm") || w.Points != 0 {
			t.Errorf("with one arm: %q", w.Problems)
		}
	})
}

// Whatever can be chosen has values that are right, on every machine.
func TestProposals(t *testing.T) {
	for _, m := range machine.Catalogue() {
		s := parse(t, "?m="+m.Key)
		for _, g := range AxisOptions(s) {
			for _, o := range g.Options {
				a, err := sweep.ParseAxis(s, o.Key+"="+Proposal(s, o.Key))
				if err != nil {
					t.Error(err)
					continue
				}
				now, _, _ := strings.Cut(Present(s, o.Key), " ")
				if !slices.Contains(a.Values, now) || o.Brief == "" {
					t.Errorf("%s is %s and is varied over %s: %s", o.Key, now, a.Values, o.Brief)
				}
			}
		}
	}
	s := parse(t, "?delay=1&c.idle_enter=0")
	for key, want := range map[string]string{
		"c.rq_visit": "3.75,7.5,15,30,60", "c.call_push": "1.47,2.941,5.882,12,24", "c.idle_enter": "0,10,20,40,80",
		"wait": "0,1", "mask": "0,1,2,4,8", "delay": "0,1,2,4", "numipi": "25000,50000,100000,200000,400000",
		"cpulist": "", "c.x": "", "": "",
	} {
		if got := Proposal(s, key); got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	for key, want := range map[string]string{"c.rq_visit": "15 ns", "delay": "1 µs", "offset": "8", "no": ""} {
		if got := Present(s, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

// The page is told of a sweep as of a run: not more often than every 250 ms, but at once of its end.
func TestSweepPace(t *testing.T) {
	at(t, swept, func(d *desk) {
		d.after(time.Minute)
		d.told = nil
		d.RunSweep()
		d.after(time.Minute)
		if n := len(d.told); n < 8 || n > 40 || d.told[n-1] != 68*time.Second {
			t.Errorf("told at %v", d.told)
		}
		for i := 1; i < len(d.told)-1; i++ {
			if gap := d.told[i] - d.told[i-1]; gap < renderPace {
				t.Errorf("told after %v and again %v later", d.told[i-1], gap)
			}
		}
	})
}

func TestSweepTrouble(t *testing.T) {
	at(t, swept, func(d *desk) {
		d.after(time.Minute)
		d.runner.set(trouble{err: errors.New("the worker died")})
		d.RunSweep()
		v := d.after(time.Minute)
		d.sweep(v, Failed, 1)
		if v.Sweep.Reason() != "the worker died" || !strings.Contains(v.Sweep.Announcement(), "the worker died") {
			t.Errorf("reason %q", v.Sweep.Reason())
		}
		d.runner.set(trouble{broken: true})
		d.RunSweep()
		v = d.after(time.Minute)
		d.sweep(v, Done, 8)
		if w := v.Sweep; len(w.Faults) != 2 || w.Faults[0] != "sm-idle-v2 at c.rq_visit=15, run 2 broke the model: task 1 is nowhere" || w.Table.Complete() {
			t.Errorf("faults %q", w.Faults)
		}
	})
}

// table returns a sweep's table with these effects of the second arm, in percent.
func table(t *testing.T, axes []string, effects ...float64) *sweep.Table {
	t.Helper()
	base := parse(t, "?runs=6")
	var parsed []sweep.Axis
	for _, spec := range axes {
		a, err := sweep.ParseAxis(base, spec)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, a)
	}
	s, problems := sweep.New(base, parsed)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	table := sweep.NewTable(s)
	for i, e := range effects {
		r := core.NewResult(s.Points()[i].Scenario)
		for _, job := range core.Jobs(r.Scenario) {
			p := core.Part{Job: job, Done: true, Events: 1, Primary: int64(1e6 + job.Run*100)}
			if job.Arm > 0 {
				p.Primary = int64(float64(p.Primary) * (1 - e/100))
			}
			r.Put(&p)
		}
		table.Put(i, r)
	}
	return table
}

func TestTurns(t *testing.T) {
	for _, c := range []struct {
		axes    []string
		effects []float64
		want    string
	}{
		{[]string{"c.rq_visit=10,20,30"}, []float64{5, -5, -10}, "gain turns to loss at c.rq_visit ≈ 15 ns, between 10 and 20 ns"},
		{[]string{"c.rq_visit=10,20,30"}, []float64{-5, 10, -10}, "loss turns to gain at c.rq_visit ≈ 13.3 ns, between 10 and 20 ns; gain turns to loss at c.rq_visit ≈ 25 ns, between 20 and 30 ns"},
		{[]string{"c.rq_visit=1000,2000"}, []float64{-5, 5}, "loss turns to gain at c.rq_visit ≈ 1500 ns, between 1000 and 2000 ns"},
		{[]string{"c.rq_visit=10,20"}, []float64{5, -0.001}, "gain turns to loss at c.rq_visit ≈ 20 ns, between 10 and 20 ns (not significant there)"},
		{[]string{"offset=1,2"}, []float64{5, -5}, "gain turns to loss between 1 and 2"},
		{[]string{"c.rq_visit=10,20"}, []float64{5, 5}, "no change of sign"},
		{[]string{"c.rq_visit=10,20"}, []float64{5}, "no change of sign between the points that are known"},
		{[]string{"c.rq_visit=10,20"}, nil, "nothing is known yet"},
		{[]string{"c.rq_visit=10,20", "offset=1,2"}, []float64{5, 5, 5, -5}, "the sign changes along the thick line"},
		{[]string{"c.rq_visit=10,20", "offset=1,2"}, []float64{5, 5, 5, 5}, "no change of sign"},
	} {
		if got := strings.ReplaceAll(Turns(table(t, c.axes, c.effects...), 1), "\u00a0", " "); got != c.want {
			t.Errorf("%v, %v: %q, want %q", c.axes, c.effects, got, c.want)
		}
	}
}

// Every constant can be swept within what a scenario may give it.
func TestAxisOptions(t *testing.T) {
	groups := AxisOptions(scenario.Default())
	if len(groups) != 2 || len(groups[0].Options) != int(kernel.NumCosts) || len(groups[1].Options) != 8 {
		t.Fatalf("%d groups", len(groups))
	}
	if got := sim.Time(kernel.MaxCost).Nanoseconds(); got != "100000" {
		t.Errorf("a constant may be %s ns", got)
	}
}
