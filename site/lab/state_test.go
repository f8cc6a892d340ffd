package lab

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"schedlab/core"
	"schedlab/core/evidence"
	"schedlab/core/kernel"
	"schedlab/core/scenario"
	"schedlab/core/stats"
)

// current begins the link of any scenario.
var current = scenario.Default().Query()

// slow is a Runner whose jobs take a second each, one after the other, and send
// a part every 100 ms.
type slow struct {
	t *testing.T

	mu   sync.Mutex
	busy int
	ran  []string // links
	trouble
}

// trouble is what a Runner can give.
type trouble struct {
	err    error         // fails with it, after the first job
	broken bool          // the last job breaks the model
	stop   time.Duration // takes so long to stop
}

func (r *slow) set(t trouble) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trouble = t
}

func (r *slow) get() trouble {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.trouble
}

// times returns how often it ran.
func (r *slow) times() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ran)
}

// count counts runs in and out.
func (r *slow) count(n int, link ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy += n; r.busy > 1 {
		r.t.Error("two runs at a time")
	}
	r.ran = append(r.ran, link...)
}

func (r *slow) Run(ctx context.Context, s scenario.Scenario, jobs []core.Job, out chan<- core.Part) error {
	r.count(1, s.Query())
	defer func() { time.Sleep(r.get().stop); r.count(-1) }()
	for i, job := range jobs {
		for step := 1; step <= 10; step++ {
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
				return ctx.Err()
			}
			p := core.Part{Job: job, Events: uint64(step * 1000), Done: step == 10, Hists: make([]stats.Hist, 1),
				Counters: make([]int64, kernel.NumCounters), Time: make([]int64, kernel.NumTimes)}
			p.Hists[0].Add(int64(1e6 * (1 + job.Arm)))
			if p.Done {
				p.Primary = int64(1e8 * (2 - job.Arm))
			}
			if p.Done && r.get().broken && i == len(jobs)-1 {
				p.Done, p.Fault = false, "task 1 is nowhere"
			}
			select {
			case out <- p:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := r.get().err; err != nil {
			return err
		}
	}
	return nil
}

// bar is an address bar with its history.
type bar struct {
	entries []string
	at      int
}

func (b *bar) Push(q string) {
	b.entries = append(b.entries[:b.at+1], q)
	b.at++
}
func (b *bar) Replace(q string) { b.entries[b.at] = q }

// A desk is a State with what is around it.
type desk struct {
	*State
	t      *testing.T
	runner *slow
	bar    *bar
	told   []time.Duration // when the page was told of something
}

// at opens a state with a link and runs a test on it, in a time of its own.
func at(t *testing.T, link string, test func(d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		d := &desk{t: t, runner: &slow{t: t}, bar: &bar{entries: []string{link}}}
		d.State = NewState(d.runner, d.bar, func() { d.told = append(d.told, time.Since(began)) })
		d.Open(link)
		test(d)
		d.Close()
	})
}

// after lets time pass and returns what there is to see then.
func (d *desk) after(t time.Duration) View {
	time.Sleep(t)
	synctest.Wait()
	return d.View()
}

func (d *desk) status(v View, status Status, ended int, stale bool) {
	d.t.Helper()
	if v.Status != status || v.Ended != ended || v.Stale != stale {
		d.t.Errorf("status %d with %d of %d jobs, stale is %v; want status %d with %d jobs, stale %v", v.Status, v.Ended, v.Jobs, v.Stale, status, ended, stale)
	}
}

func TestOpenRunsByItself(t *testing.T) {
	at(t, "", func(d *desk) {
		v := d.View()
		d.status(v, Running, 0, true)
		if v.Result != nil || v.Asked.Query() != scenario.Default().Query() || v.Jobs != 20 {
			t.Errorf("at first there are %d jobs of %s and the result %v", v.Jobs, v.Asked.Query(), v.Result)
		}
		v = d.after(150 * time.Millisecond)
		d.status(v, Running, 0, false)
		if v.Result == nil || v.Events != 1000 || v.Finished() {
			t.Errorf("after the first part: %+v", v)
		}
		v = d.after(3 * time.Second)
		d.status(v, Running, 3, false)
		if !v.Finished() || v.Elapsed != 3150*time.Millisecond {
			t.Errorf("after 3.15 s: finished is %v, %v", v.Finished(), v.Elapsed)
		}
		v = d.after(time.Minute)
		d.status(v, Done, 20, false)
		if !v.Result.Complete() || v.Elapsed != 20*time.Second {
			t.Errorf("complete is %v after %v", v.Result.Complete(), v.Elapsed)
		}
		if got := d.bar.entries; len(got) != 1 || got[0] != "" {
			t.Errorf("opening wrote to the address bar: %q", got)
		}
	})
}

// The page is told at once of the first part and of the end, and in between not
// more often than every 250 ms.
func TestPace(t *testing.T) {
	at(t, "?runs=3", func(d *desk) {
		d.after(time.Minute)
		if d.told[0] != 100*time.Millisecond {
			t.Errorf("first told after %v", d.told[0])
		}
		if last := d.told[len(d.told)-1]; last != 6*time.Second {
			t.Errorf("last told after %v", last)
		}
		for i := 1; i < len(d.told)-1; i++ {
			if gap := d.told[i] - d.told[i-1]; gap < renderPace || gap > renderPace+100*time.Millisecond {
				t.Errorf("told after %v and again %v later", d.told[i-1], gap)
			}
		}
	})
}

func TestTyping(t *testing.T) {
	at(t, "?numipi=500", func(d *desk) {
		first := d.after(time.Minute).Result
		d.Type("runs", "")
		v := d.after(time.Second)
		d.status(v, Done, 20, false)
		if p := v.Problem("runs"); !strings.Contains(p, "1 to 1000") || !strings.Contains(p, "Used instead: 10") || v.Form.Text("runs") != "" {
			t.Errorf("an empty field holds %q and has the problem %q", v.Form.Text("runs"), p)
		}
		d.Type("runs", "2")
		d.after(100 * time.Millisecond)
		d.Type("runs", "25")
		if n := d.runner.times(); n != 1 {
			t.Errorf("ran %d times while typing", n)
		}
		if want := []string{current + "&numipi=500&runs=25"}; !slices.Equal(d.bar.entries, want) {
			t.Errorf("while typing the history is %q", d.bar.entries)
		}
		v = d.after(typingPace + 50*time.Millisecond)
		d.status(v, Running, 0, true)
		if v.Result.Scenario.Query() != first.Scenario.Query() || v.Jobs != 50 {
			t.Errorf("until the new result the old one is to be seen, not %s with %d jobs", v.Result.Scenario.Query(), v.Jobs)
		}
		d.Set("runs", "25") // it is running already
		v = d.after(time.Second)
		d.status(v, Running, 1, false)
		if n := d.runner.times(); n != 2 {
			t.Errorf("ran %d times", n)
		}
		if want := []string{"?numipi=500", current + "&numipi=500&runs=25"}; !slices.Equal(d.bar.entries, want) {
			t.Errorf("the history is %q, want %q", d.bar.entries, want)
		}
	})
}

func TestSetWrong(t *testing.T) {
	at(t, "", func(d *desk) {
		d.Set("runs", "many")
		v := d.View()
		if v.Form.Text("runs") != "many" || v.Asked.Runs != 10 || v.Problem("runs") == "" || v.Problem("seed") != "" {
			t.Errorf("%q, %d runs, problem %q", v.Form.Text("runs"), v.Asked.Runs, v.Problem("runs"))
		}
		d.Set("seed", "7")
		if v := d.View(); v.Asked.Seed != 7 || v.Problem("runs") == "" {
			t.Error("another field's change took the problem away")
		}
	})
}

func TestChangeCancels(t *testing.T) {
	at(t, "", func(d *desk) {
		d.runner.set(trouble{stop: 500 * time.Millisecond})
		d.after(1500 * time.Millisecond)
		d.Set("bg", "quiet")
		v := d.after(100 * time.Millisecond)
		d.status(v, Running, 0, true)
		v = d.after(1600 * time.Millisecond) // half a second for the other one to stop
		d.status(v, Running, 1, false)
		if v.Result.Scenario.Background != "quiet" {
			t.Errorf("the result is of %s", v.Result.Scenario.Background)
		}
	})
}

func TestCancel(t *testing.T) {
	at(t, "", func(d *desk) {
		d.after(2500 * time.Millisecond)
		d.Cancel()
		v := d.after(time.Minute)
		d.status(v, Cancelled, 2, false)
		if n, _ := v.Result.Finished(1); n != 1 || v.Elapsed != 2500*time.Millisecond {
			t.Errorf("%d runs of arm 1 are left after %v", n, v.Elapsed)
		}
		d.Cancel() // nothing to cancel
		d.Again()
		v = d.after(time.Minute)
		d.status(v, Done, 20, false)
	})
}

func TestFailure(t *testing.T) {
	at(t, "", func(d *desk) {
		d.runner.set(trouble{err: errors.New("the worker died")})
		v := d.after(time.Minute)
		d.status(v, Failed, 1, false)
		if v.Reason() != "the worker died" || !strings.Contains(v.Announcement(), "the worker died") {
			t.Errorf("reason %q", v.Reason())
		}
		d.runner.set(trouble{})
		d.Again()
		d.status(d.after(time.Minute), Done, 20, false)
	})
}

func TestBrokenModel(t *testing.T) {
	at(t, "?runs=2", func(d *desk) {
		d.runner.set(trouble{broken: true})
		v := d.after(time.Minute)
		d.status(v, Done, 4, false)
		if v.Result.Complete() {
			t.Error("a result with a broken run is complete")
		}
		if a := NewAnswer(v.Result, false); !strings.Contains(strings.Join(a.Warnings, ";"), "SM_IDLE v2, run 2 broke the model: task 1 is nowhere") || a.Digest != "" {
			t.Errorf("warnings %q, digest %q", a.Warnings, a.Digest)
		}
	})
}

func TestBackAndForward(t *testing.T) {
	at(t, "?runs=2", func(d *desk) {
		d.Set("m", "xeon-240")
		d.Set("bg", "quiet")
		want := []string{"?runs=2", current + "&m=xeon-240&runs=2", current + "&m=xeon-240&bg=quiet&runs=2"}
		if !slices.Equal(d.bar.entries, want) {
			t.Fatalf("the history is %q", d.bar.entries)
		}
		d.bar.at--
		d.Open(d.bar.entries[d.bar.at])
		if v := d.after(time.Minute); v.Asked.Background != "busy" || v.Form.Text("bg") != "busy" || v.Result.Scenario.Query() != want[1] {
			t.Errorf("Back shows %s", v.Result.Scenario.Query())
		}
		d.bar.at--
		d.Open(d.bar.entries[d.bar.at])
		if v := d.after(time.Minute); v.Asked.Machine != "epyc-2x64" {
			t.Errorf("Back twice shows %s", v.Asked.Machine)
		}
		d.Set("seed", "9")
		if want := []string{"?runs=2", current + "&runs=2&seed=9"}; !slices.Equal(d.bar.entries, want) {
			t.Errorf("a change after Back leaves %q", d.bar.entries)
		}
	})
}

func TestBadLink(t *testing.T) {
	const link = "?m=cray-1&runs=0&frobnicate=%3Cb%3E&model=99&bg=quiet"
	at(t, link, func(d *desk) {
		v := d.after(time.Minute)
		d.status(v, Done, 20, false)
		if v.Asked.Background != "quiet" || v.Asked.Machine != "epyc-2x64" {
			t.Errorf("the nearest scenario is %s", v.Asked.Query())
		}
		if p := v.Problem("m"); !strings.Contains(p, "“cray-1”") || !strings.Contains(p, "xeon-240") {
			t.Errorf("machine: %q", p)
		}
		if p := v.Problem("runs"); !strings.Contains(p, "“0”") {
			t.Errorf("runs: %q", p)
		}
		if list := v.LinkProblems(); len(list) != 2 || !strings.Contains(list[0], "model=99") || !strings.Contains(list[1], "frobnicate=<b>") {
			t.Errorf("about the link: %q", list)
		}
		if d.bar.entries[0] != link {
			t.Errorf("the address bar became %q", d.bar.entries[0])
		}
		d.Set("seed", "2")
		if v := d.View(); len(v.Problems) != 0 || d.bar.entries[1] != current+"&bg=quiet&seed=2" {
			t.Errorf("after a change: problems %v, history %q", v.Problems, d.bar.entries)
		}
	})
}

func TestChoosing(t *testing.T) {
	at(t, "?cpulist=200&numipi=500&c.irq_entry=3", func(d *desk) {
		d.Set("m", "power9-smt8")
		v := d.View()
		if v.Form.Text("m") != "power9-smt8" || v.Form.Text("numipi") != "500" || v.Form.Text("cpulist") != "8" || v.Form.Text("c.irq_entry") != "3" {
			t.Errorf("on the small machine: %s", v.Asked.Query())
		}
		if list := v.LinkProblems(); len(list) != 1 || !strings.HasPrefix(list[0], "cpulist=200: left out with this choice: want ") {
			t.Errorf("of the CPU that it does not have: %q", list)
		}
		d.Set("c.irq_entry", "")
		if v := d.View(); len(v.Asked.Costs) != 0 {
			t.Errorf("an emptied constant is still changed: %v", v.Asked.Costs)
		}
		d.Set("check", "1")
		d.Set("check", "")
		if d.View().Asked.Check {
			t.Error("check stays on")
		}
	})
}

// A scheduler goes to a kernel that can have it, and goes with one that can't; what needs it goes with it.
func TestChoosingAScheduler(t *testing.T) {
	at(t, "?numipi=500&arm=&arm=sm-idle-v1", func(d *desk) {
		for _, step := range []struct {
			do    func()
			query string // what the link has besides what it had
			says  string // the first notice
		}{
			{func() { d.Set("scx", "lavd") }, "&k=6.12&scx=lavd&numipi=500", "k=6.11: has no sched_ext, so that Linux 6.12 is simulated instead"},
			{func() { d.Set("scx", "rusty") }, "&k=6.12&scx=rusty&numipi=500", ""},
			{func() { d.SetPatch(0, "scx-now", true) }, "&k=6.12&scx=rusty&numipi=500&arm=scx-now", ""},
			{func() { d.Set("metric", "clock_reads") }, "&k=6.12&scx=rusty&numipi=500&metric=clock_reads&arm=scx-now", ""},
			{func() { d.Set("k", "6.14") }, "&k=6.14&scx=rusty&numipi=500&metric=clock_reads", "arm=scx-now: left out with this choice: want patches that apply: scx-now applies to 6.12, not to 6.14"},
			{func() { d.Set("scx", "bpfland") }, "&k=6.14&scx=bpfland&numipi=500&metric=clock_reads", ""},
			{func() { d.Set("scx", "") }, "&k=6.14&numipi=500", "metric=clock_reads: left out with this choice: want a sched_ext scheduler whose reads can be counted: scx=lavd, bpfland, rusty, simple, central, flatcg"},
			{func() { d.Set("scx", "simple") }, "&k=6.14&scx=simple&numipi=500", ""},
			{func() { d.Set("k", "6.11") }, "&numipi=500", "scx=simple: left out with this choice: want a kernel with sched_ext, k=6.12 or k=6.14: 6.11 has none"},
		} {
			step.do()
			v := d.View()
			begin := strings.TrimSuffix(scenario.Default().Query(), "&")
			if got := strings.TrimPrefix(v.Asked.Query(), begin); got != step.query {
				t.Errorf("the question is %s, want %s", got, step.query)
			}
			if list := v.LinkProblems(); step.says == "" && len(list) > 0 || step.says != "" && (len(list) == 0 || list[0] != step.says) {
				t.Errorf("%s: the page says %q, want %q", step.query, list, step.says)
			}
			if v.Mistakes() != 0 || v.Form.Text("scx") != v.Asked.Scheduler {
				t.Errorf("%s: %d mistakes, %q in the list", step.query, v.Mistakes(), v.Form.Text("scx"))
			}
		}
	})
}

func TestIdleStates(t *testing.T) {
	at(t, "?numipi=500", func(d *desk) {
		on := func() (list []string) {
			for _, c := range IdleChoices(d.View().Asked) {
				if c.On {
					list = append(list, c.Name)
				}
			}
			return list
		}
		if got := on(); !slices.Equal(got, []string{"POLL", "C1"}) {
			t.Fatalf("%v are enabled", got)
		}
		d.SetIdle("C2", true)
		if got := on(); !slices.Equal(got, []string{"POLL", "C1", "C2"}) {
			t.Errorf("with C2: %v", got)
		}
		d.SetIdle("POLL", false)
		d.SetIdle("C1", false)
		v := d.View()
		if got := v.Asked.Query(); !strings.Contains(got, "idle=C2") {
			t.Errorf("C2 alone: %s", got)
		}
		if c := IdleChoices(v.Asked)[2]; !c.Only {
			t.Errorf("%+v is the only one", c)
		}
		d.SetIdle("C2", false) // refused: a CPU must idle somehow
		if got := on(); !slices.Equal(got, []string{"C2"}) {
			t.Errorf("without any: %v", got)
		}
		d.Set("m", "power9-smt8")
		if v := d.View(); v.Asked.Idle != nil || len(v.Problems) > 0 {
			t.Errorf("another machine keeps %v: %v", v.Asked.Idle, v.Problems)
		}
	})
}

// What the arrow keys pass on the way to a choice is chosen as well, but is
// neither kept in the history nor run, unless one stays there.
func TestWalkingThroughChoices(t *testing.T) {
	const link = "?numipi=500&runs=2"
	query := func(bg string) string { return current + "&numipi=500&bg=" + bg + "&runs=2" }
	at(t, link, func(d *desk) {
		history := func(want ...string) {
			t.Helper()
			if !slices.Equal(d.bar.entries, want) {
				t.Errorf("the history is %q, want %q", d.bar.entries, want)
			}
		}
		d.after(time.Minute)
		d.Choose("bg", "quiet")
		history(link, query("quiet"))
		v := d.after(200 * time.Millisecond)
		d.status(v, Running, 0, false) // the first choice is run at once
		for _, bg := range []string{"housekeeping", "pair", "mixed"} {
			d.Choose("bg", bg)
			if v := d.after(200 * time.Millisecond); v.Form.Text("bg") != bg {
				t.Errorf("background %s, want %s", v.Form.Text("bg"), bg)
			}
		}
		history(link, query("mixed"))
		v = d.after(time.Minute)
		d.status(v, Done, 4, false)
		if want := []string{current + "&numipi=500&runs=2", query("quiet"), query("mixed")}; !slices.Equal(d.runner.ran, want) {
			t.Errorf("ran %q, want %q", d.runner.ran, want)
		}
		d.Choose("bg", "quiet") // after a while it is a choice of its own
		history(link, query("mixed"), query("quiet"))
		d.Choose("m", "xeon-240") // and so is one of something else
		d.Set("seed", "7")
		d.Choose("m", "epyc-2x64") // nor does it take the place of what was done in between
		if len(d.bar.entries) != 6 {
			t.Errorf("the history is %q", d.bar.entries)
		}
		if v := d.after(time.Minute); v.Result.Scenario.Query() != d.bar.entries[5] {
			t.Errorf("shown is %s, the address bar has %s", v.Result.Scenario.Query(), d.bar.entries[5])
		}
	})
	at(t, "?runs=0", func(d *desk) {
		d.Choose("bg", "busy") // which it is
		d.Choose("bg", "quiet")
		if want := []string{"?runs=0", current + "&bg=quiet"}; !slices.Equal(d.bar.entries, want) {
			t.Errorf("the history is %q, want %q", d.bar.entries, want)
		}
	})
}

// What is wrong with an arm is said beside it, or beside the arms if there is no such arm.
func TestArmProblems(t *testing.T) {
	for link, want := range map[string]string{
		"?arm=&arm=sm-idle-v9":                `"" “sm-idle-v9”: want`,
		"?arm=sm-idle-v1,sm-idle-v2":          `"" “sm-idle-v1,sm-idle-v2”: want patches that apply: sm-idle-v1 and sm-idle-v2 exclude each other. Simulated without it.`,
		"?arm=&arm=":                          `"" an empty arm: want each arm only once. Simulated without it.`,
		"?arm=sm-idle-v1&arm=&arm=sm-idle-v1": `"" "" “sm-idle-v1”: want each arm only once. Simulated without it.`,
		"?arm=&arm=x,y":                       `"" “x,y”: want`,
		"?arm=" + strings.Repeat("x", 100):    `"" "" “xxx`,
	} {
		at(t, link, func(d *desk) {
			v := d.View()
			arms, others := v.ArmProblems()
			var got string
			for _, a := range arms {
				got += `"` + a + `" `
			}
			if got += strings.Join(others, " "); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s\nwant %s", link, got, want)
			}
			if n := v.Mistakes(); n == 0 || len(v.LinkProblems()) != 0 {
				t.Errorf("%s: %d mistakes, of which the link has %q", link, n, v.LinkProblems())
			}
		})
	}
	at(t, "", func(d *desk) {
		d.SetPatch(1, "sm-idle-v2", false)
		v := d.View()
		if arms, others := v.ArmProblems(); arms[0] != "" || arms[1] != "want each arm only once. Simulated without it." || len(others) != 0 {
			t.Errorf("of two arms that are the same: %q, %q", arms, others)
		}
	})
}

func TestPresetsAreAsked(t *testing.T) {
	presets := Presets()
	if len(presets) < 2 || presets[0].Query != scenario.Default().Query() {
		t.Fatalf("presets %v", presets)
	}
	for _, p := range presets {
		s, problems := scenario.Parse(p.Query)
		if len(problems) > 0 {
			t.Errorf("%s: %v", p.Title, problems)
		}
		if s.Workload != "ipistorm" && s.Workload != "spinlock" && len(evidence.Find(s)) != 1 {
			t.Errorf("%s: its posted row is not found", p.Title)
		}
	}
	at(t, "?runs=2", func(d *desk) {
		for _, p := range presets {
			d.Ask(p.Query)
			if v := d.View(); v.Asked.Query() != p.Query || len(v.Problems) > 0 || d.bar.entries[d.bar.at] != p.Query {
				t.Errorf("%s asks %s with %v", p.Title, v.Asked.Query(), v.Problems)
			}
		}
	})
}

func TestArms(t *testing.T) {
	arms := func(d *desk) string {
		v := d.View()
		var list []string
		for _, a := range v.Form.Arms {
			list = append(list, strings.Join(a, ","))
		}
		return strings.Join(list, " | ")
	}
	at(t, "", func(d *desk) {
		for _, step := range []struct {
			do   func()
			want string
		}{
			{func() {}, " | sm-idle-v2"},
			{func() { d.SetPatch(1, "sm-idle-v2.exact", false) }, " | sm-idle-v2.fast"},
			{func() { d.SetPatch(1, "sm-idle-v2.exact", true) }, " | sm-idle-v2"},
			{func() { d.SetPatch(1, "sm-idle-v2", false) }, " | "},
			{func() { d.SetPatch(1, "sm-idle-v1.above", true) }, " | sm-idle-v1.above"},
			{func() { d.SetPatch(1, "sm-idle-v1", true) }, " | sm-idle-v1"},
			{func() { d.AddArm() }, " | sm-idle-v1 | sm-idle-v2"},
			{func() { d.RemoveArm(0) }, "sm-idle-v1 | sm-idle-v2"},
			{func() { d.RemoveArm(1); d.RemoveArm(0) }, "sm-idle-v1"},
			{func() { d.SetPatch(7, "sm-idle-v1", false); d.SetPatch(0, "no-such", true); d.RemoveArm(-1) }, "sm-idle-v1"},
		} {
			step.do()
			if got := arms(d); got != step.want {
				t.Errorf("the arms are %q, want %q", got, step.want)
			}
		}
		for range 2 * scenario.MaxArms {
			d.AddArm()
		}
		if v := d.View(); len(v.Form.Arms) != scenario.MaxArms {
			t.Errorf("%d arms", len(v.Form.Arms))
		}
	})
}

func TestChoices(t *testing.T) {
	s := scenario.Default()
	list := Choices(s, []string{"sm-idle-v2.fast"})
	i := slices.IndexFunc(list, func(c PatchChoice) bool { return c.Key == "sm-idle-v1" })
	j := slices.IndexFunc(list, func(c PatchChoice) bool { return c.Key == "sm-idle-v2" })
	if !strings.Contains(list[i].Reason, "exclude each other") || list[i].On || list[i].Some {
		t.Errorf("v1: %+v", list[i])
	}
	if list[j].Reason != "" || list[j].On || !list[j].Some || !list[j].Parts[0].On || list[j].Parts[1].On {
		t.Errorf("v2: %+v", list[j])
	}
	if last := list[len(list)-1]; last.Reason == "" || list[0].Reason != "" {
		t.Errorf("%s comes last and %s first", last.Key, list[0].Key)
	}
	s.Kernel, s.Machine = "5.4", "kunpeng-920"
	for _, c := range Choices(s, nil) {
		if c.Key == "select-idle-core" && !strings.Contains(c.Reason, "more than one thread") {
			t.Errorf("without SMT: %+v", c)
		}
	}
	if arm := newArm(s, [][]string{nil}); arm != nil {
		t.Errorf("without SMT 5.4 can have %q", arm)
	}
	s = scenario.Default()
	s.Kernel = "6.12"
	reasons := func() map[string]string {
		m := map[string]string{}
		for _, c := range Choices(s, nil) {
			m[c.Key] = c.Reason
		}
		return m
	}
	if r := reasons(); !strings.HasPrefix(r["scx-now"], "scx-now needs a sched_ext scheduler: scx=lavd, ") || r["nohz-csd"] != "" {
		t.Errorf("without a scheduler: %q", r)
	}
	s.Scheduler = "lavd"
	if r := reasons(); r["scx-now"] != "" || r["scx-now-v1"] != "" || !strings.Contains(r["nohz-csd"], "about the fair class") || !strings.Contains(r["scx-ktime"], "applies to 6.14") {
		t.Errorf("with one: %q", r)
	}
	if arm := newArm(s, [][]string{nil}); !slices.Equal(arm, []string{"scx-now"}) {
		t.Errorf("the kernel to compare with has %q", arm)
	}
	if got := KernelTitle(s); got != "6.12 with scx_lavd" {
		t.Errorf("the kernel is %q", got)
	}
	if got := ArmTitle([]string{"sm-idle-v2.fast", "sm-idle-v1"}); got != "SM_IDLE v2 (fast only) + SM_IDLE v1" {
		t.Errorf("title %q", got)
	}
}
