package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"schedlab/core"
	"schedlab/core/scenario"
	"schedlab/site/lab"
)

// TestMain makes the test binary the command itself, for tests that need a
// process.
func TestMain(m *testing.M) {
	if os.Getenv("SCHEDLAB_TEST_AS_COMMAND") != "" {
		main()
	}
	os.Exit(m.Run())
}

// small is a scenario that takes no time to speak of.
const small = "?v=1&numipi=500&runs=3&bg=quiet"

func schedlab(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), args, &out, &err)
	return code, out.String(), err.String()
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string // the whole of stderr, or its beginning if it ends in …
	}{
		{[]string{"run", "?runs=0"}, "schedlab: runs=0: want a whole number from 1 to 1000\n"},
		{[]string{"run", "runs=0"}, "schedlab: runs=0: want a whole number from 1 to 1000\n"},
		{[]string{"run", "https://example.org/lab/?runs=0#x"}, "schedlab: runs=0: want a whole number from 1 to 1000\n"},
		{[]string{"run", "?runs=1000000000"}, "schedlab: runs=1000000000: want a whole number from 1 to 1000\n"},
		{[]string{"run", "?frobnicate=1"}, "schedlab: frobnicate=1: want a known key: one of v, model, m, k, rt, scx, w, numipi, …"},
		{[]string{"run", "?m=cray-1"}, "schedlab: m=cray-1: want one of epyc-2x64, …"},
		{[]string{"run", "?k=2.4"}, "schedlab: k=2.4: want …"},
		{[]string{"run", "?arm=&arm=sm-idle-v9"}, "schedlab: arm=sm-idle-v9: want one of select-idle-core, irq-nosync, always-ipi, skip-newidle, notify-ipi, nohz-csd, sm-idle-v1, sm-idle-v2…"},
		{[]string{"run", "?w=doom"}, "schedlab: w=doom: want …"},
		{[]string{"run", "?bg=loud"}, "schedlab: bg=loud: want one of …"},
		{[]string{"run", "?cpulist=256"}, "schedlab: cpulist=256: want a list such as 0-1,3 of CPUs from 0 to 255\n"},
		{[]string{"run", "?cpulist=3-"}, "schedlab: cpulist=3-: want a list such as 0-1,3 of CPUs from 0 to 255\n"},
		{[]string{"run", "?cpulist=0-4294967295"}, "schedlab: cpulist=0-4294967295: want a list such as 0-1,3 of CPUs from 0 to 255\n"},
		{[]string{"run", "?arm=sm-idle-v1,sm-idle-v2"}, "schedlab: arm=sm-idle-v1,sm-idle-v2: want patches that apply: sm-idle-v1 and sm-idle-v2 exclude each other\n"},
		{[]string{"run", "?v=99"}, "schedlab: v=99: want 1\n"},
		{[]string{"run", "?seed=1&seed=2"}, "schedlab: seed=2: want this key only once: it already is 1\n"},
		{[]string{"run", "?seed=%4"}, "schedlab: seed=%4: want two hexadecimal digits after each %\n"},
		{[]string{"run", "?c.rq_visit=-5"}, "schedlab: c.rq_visit=-5: want nanoseconds from 0 to 100000, with up to three decimals\n"},
		{[]string{"run", "?m=" + strings.Repeat("x", 100_000)}, "schedlab: link=?m=xxxxxxxxxxxx…"},
		{[]string{"run", "?v=99&runs=0"}, "schedlab: v=99: want 1\nschedlab: runs=0: want a whole number from 1 to 1000\n"},
		{[]string{"run", "?bg=%1b]0;hello%07"}, `schedlab: bg=\x1b]0;hello\a: want one of …`},
		{[]string{"run", "?model=7&runs=0"}, "schedlab: model=7: this is model …"},
		{[]string{"run", small, small}, "schedlab: run: want [LINK] only, not 2 arguments…"},
		{[]string{"run", small, "-format", "xml"}, "schedlab: -format=xml: want one of text, json, csv\n"},
		{[]string{"run", "-j", "0", small}, "schedlab: -j=0: want a whole number from 1\n"},
		{[]string{"run", "-j=many", small}, "schedlab: invalid value \"many\" for flag -j: parse error\nschedlab: see schedlab run -h\n"},
		{[]string{"run", small, "-j"}, "schedlab: flag needs an argument: -j\nschedlab: see schedlab run -h\n"},
		{[]string{"run", "-frob\x1b[2J"}, `schedlab: flag provided but not defined: -frob\x1b[2J` + "\nschedlab: see schedlab run -h\n"},
		{[]string{"rnu"}, "schedlab: command=rnu: want one of run, serve, …"},
		{[]string{"help", "rnu\x1b"}, `schedlab: command=rnu\x1b: want one of run, …`},
		{[]string{}, "Schedlab simulates …"},
		{[]string{"machines", "xeon-204"}, "schedlab: machine=xeon-204: want one of epyc-2x64, …"},
		{[]string{"machines", "-format=csv"}, "schedlab: -format=csv: want one of text, json\n"},
		{[]string{"patches", "x\x1b"}, `schedlab: patch=x\x1b: want one of select-idle-core, irq-nosync, …`},
		{[]string{"kernels", "x"}, "schedlab: kernel=x: want …"},
		{[]string{"workloads", "x"}, "schedlab: workload=x: want …"},
		{[]string{"backgrounds", "x"}, "schedlab: background=x: want one of …"},
		{[]string{"costs", "rq_visits"}, "schedlab: cost=rq_visits: want …"},
		{[]string{"costs", "-m", "cray-1"}, "schedlab: -m=cray-1: want one of epyc-2x64, …"},
	} {
		began := time.Now()
		code, stdout, stderr := schedlab(t, c.args...)
		name := fmt.Sprintf("%.100q", c.args)
		if code != 2 || stdout != "" {
			t.Errorf("%s: exit status %d, printed %q", name, code, stdout)
		}
		if start, more := strings.CutSuffix(c.want, "…"); stderr != c.want && !(more && strings.HasPrefix(stderr, start)) {
			t.Errorf("%s:\n%q\nwant\n%q", name, stderr, c.want)
		}
		if len(stderr) > 2000 || !plain(stderr) {
			t.Errorf("%s: message %q", name, stderr)
		}
		if d := time.Since(began); d > time.Second {
			t.Errorf("%s: took %v", name, d)
		}
	}
}

// plain tells whether a terminal prints all of s.
func plain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0) })
}

// TestEmptyOnly: -only with nothing in it, as of a variable that is not set, is not a run of everything.
func TestEmptyOnly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // or that run would begin
	for _, command := range []string{"fit", "evidence"} {
		for _, args := range [][]string{{command, "-only", ""}, {command, "-only="}} {
			var stdout, stderr strings.Builder
			if code := run(ctx, args, &stdout, &stderr); code != exitUsage || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), "schedlab: -only=: want one of ") {
				t.Errorf("%q: exit status %d, %q", args, code, stderr.String())
			}
		}
		if code := run(ctx, []string{command}, io.Discard, io.Discard); code != exitInterrupted {
			t.Errorf("%s: exit status %d", command, code)
		}
	}
}

func TestNearMatches(t *testing.T) {
	for args, want := range map[string]string{
		"rnu":               "perhaps run",
		"run ?bg=quite":     "perhaps quiet",
		"run ?seeds=1":      "perhaps seed",
		"machines xeon-204": "perhaps xeon-240",
	} {
		if _, _, stderr := schedlab(t, strings.Fields(args)...); !strings.Contains(stderr, want) {
			t.Errorf("%s: %q, want %q", args, stderr, want)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, args := range []string{"help", "-h", "--help"} {
		code, stdout, stderr := schedlab(t, args)
		if code != 0 || stderr != "" {
			t.Errorf("%s: exit status %d, %q", args, code, stderr)
		}
		for _, c := range commands() {
			if !strings.Contains(stdout, "\n  "+c.name+" ") {
				t.Errorf("%s does not name %s", args, c.name)
			}
		}
	}
	for _, c := range commands() {
		code, one, stderr := schedlab(t, c.name, "-h")
		if code != 0 || stderr != "" || !strings.HasPrefix(one, "usage: schedlab "+c.name+" [flags] "+c.args+"\n") || !strings.Contains(one, "\n  -") && c.name != "version" {
			t.Errorf("%s -h: exit status %d, %q, %q", c.name, code, one, stderr)
		}
		if _, other, _ := schedlab(t, "help", c.name); other != one {
			t.Errorf("help %s differs from %s -h", c.name, c.name)
		}
	}
}

func TestRunFormats(t *testing.T) {
	for format, has := range map[string]string{"text": "simulated", "json": "\"scenario\"", "csv": "scenario,"} {
		code, stdout, stderr := schedlab(t, "run", small, "-format", format)
		if code != 0 || stderr != "" || !strings.Contains(stdout, has) || !plain(strings.ReplaceAll(stdout, "\r\n", "\n")) {
			t.Errorf("%s: exit status %d, %q, %q", format, code, stdout, stderr)
		}
		// The same bits however many runs there are at a time, and wherever the flags are.
		for _, args := range [][]string{{"run", "-j", "1", "-format=" + format, small}, {"run", "-format", format, small, "-j", "8"}} {
			if _, again, _ := schedlab(t, args...); again != stdout {
				t.Errorf("%q:\n%s\nnot\n%s", args, again, stdout)
			}
		}
		if format == "json" {
			var v struct {
				Scenario string
				Model    int
			}
			if err := json.Unmarshal([]byte(stdout), &v); err != nil {
				t.Error(err)
			}
			s, _ := scenario.Parse(small)
			if v.Scenario != s.Query() || v.Model != core.Model {
				t.Errorf("scenario %q, model %d", v.Scenario, v.Model)
			}
		}
	}
}

// TestRunNotice: another model's link is run, with a word about it.
func TestRunNotice(t *testing.T) {
	link := strings.Replace(small, "v=1", "v=1&model=1999", 1)
	code, stdout, stderr := schedlab(t, "run", link)
	if code != 0 || stdout == "" || !strings.HasPrefix(stderr, "schedlab: model=1999: ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit status %d, %q, %q", code, stdout, stderr)
	}
}

func TestCatalogues(t *testing.T) {
	for _, c := range []struct {
		command string
		keys    []string
	}{
		{"machines", scenario.Machines()},
		{"kernels", scenario.Kernels()},
		{"schedulers", scenario.Schedulers()},
		{"patches", scenario.Patches()},
		{"workloads", scenario.Workloads()},
		{"backgrounds", scenario.Backgrounds()},
		{"costs", scenario.Costs()},
	} {
		code, stdout, stderr := schedlab(t, c.command)
		if lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n"); code != 0 || stderr != "" || len(lines) != len(c.keys) {
			t.Errorf("%s: exit status %d, %d lines, %q", c.command, code, len(lines), stderr)
		}
		_, stdout, _ = schedlab(t, c.command, "-format", "json")
		var list []struct{ Key string }
		if err := json.Unmarshal([]byte(stdout), &list); err != nil {
			t.Errorf("%s: %v", c.command, err)
		}
		for i, key := range c.keys {
			if i >= len(list) || list[i].Key != key {
				t.Errorf("%s: JSON lacks %s", c.command, key)
			}
			code, one, stderr := schedlab(t, c.command, key)
			if code != 0 || stderr != "" || !strings.HasPrefix(one, key+"  ") || strings.Contains(one, "%!") || !plain(one) {
				t.Errorf("%s %s: exit status %d, %q, %q", c.command, key, code, one, stderr)
			}
			if _, all, _ := schedlab(t, c.command, "-v"); !strings.Contains(all, strings.SplitN(one, "\n", 2)[1]) {
				t.Errorf("%s -v lacks what is said of %s", c.command, key)
			}
			_, one, _ = schedlab(t, c.command, key, "-format=json")
			var single []struct{ Key string }
			if err := json.Unmarshal([]byte(one), &single); err != nil || len(single) != 1 || single[0].Key != key {
				t.Errorf("%s %s: %v, %q", c.command, key, err, one)
			}
		}
	}
}

// TestCostsByMachine: the values are the machine's.
func TestCostsByMachine(t *testing.T) {
	values := map[string]bool{}
	for _, m := range scenario.Machines() {
		_, stdout, _ := schedlab(t, "costs", "rq_visit", "-m", m)
		values[strings.SplitN(stdout, "\n", 2)[0]] = true
	}
	if len(values) < 2 {
		t.Errorf("a visit of a run queue costs the same on all machines: %v", values)
	}
}

// A runnerFunc is a Runner.
type runnerFunc func(context.Context, scenario.Scenario, []core.Job, chan<- core.Part) error

func (f runnerFunc) Run(ctx context.Context, s scenario.Scenario, jobs []core.Job, out chan<- core.Part) error {
	return f(ctx, s, jobs, out)
}

// TestRunInterrupted: what has finished by then is reported.
func TestRunInterrupted(t *testing.T) {
	question, _ := scenario.Parse(small)
	for _, finished := range []int{0, 1, 2, 5} {
		ctx, cancel := context.WithCancel(t.Context())
		runner := runnerFunc(func(ctx context.Context, s scenario.Scenario, jobs []core.Job, out chan<- core.Part) error {
			defer cancel()
			return lab.Pool{}.Run(ctx, s, jobs[:finished], out)
		})
		var stdout, stderr bytes.Buffer
		err := simulate(ctx, streams{&stdout, &stderr}, question, runner, reports["text"])
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%d finished: %v", finished, err)
		}
		if got, want := stderr.String(), fmt.Sprintf("schedlab: stopped with %d of 6 runs finished\n", finished); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if (stdout.Len() > 0) != (finished > 0) {
			t.Errorf("%d finished: printed %q", finished, stdout.String())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, []string{"run", small}, &stdout, &stderr); code != 130 || stdout.Len() > 0 {
		t.Errorf("exit status %d, %q", code, stdout.String())
	}
}

// TestRunBroken: a fault of the model is reported beside the result, and fails.
func TestRunBroken(t *testing.T) {
	question, _ := scenario.Parse(small)
	runner := runnerFunc(func(ctx context.Context, s scenario.Scenario, jobs []core.Job, out chan<- core.Part) error {
		err := lab.Pool{}.Run(ctx, s, jobs[1:], out)
		out <- core.Part{Job: jobs[0], Fault: "task 7 is on two run queues"}
		return err
	})
	var stdout, stderr bytes.Buffer
	err := simulate(t.Context(), streams{&stdout, &stderr}, question, runner, reports["text"])
	if err == nil || errors.As(err, new(badInput)) || stdout.Len() == 0 || stderr.Len() > 0 {
		t.Fatalf("%v, printed %q, %q", err, stdout.String(), stderr.String())
	}
	for _, want := range []string{"run 1 of baseline broke: task 7 is on two run queues", question.Query()} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
}

// TestRunFails: an error of the runner, or of the output, is the command's.
func TestRunFails(t *testing.T) {
	question, _ := scenario.Parse(small)
	broken := errors.New("broken")
	runner := runnerFunc(func(context.Context, scenario.Scenario, []core.Job, chan<- core.Part) error { return broken })
	var stdout bytes.Buffer
	if err := simulate(t.Context(), streams{&stdout, io.Discard}, question, runner, reports["text"]); !errors.Is(err, broken) || stdout.Len() > 0 {
		t.Errorf("%v, printed %q", err, stdout.String())
	}
	for _, args := range [][]string{{"run", small}, {"machines"}, {"machines", "-v"}, {"costs", "-format", "json"}} {
		var stderr bytes.Buffer
		if code := run(t.Context(), args, full{}, &stderr); code != 1 || !strings.Contains(stderr.String(), "disk full") {
			t.Errorf("%q: exit status %d, %q", args, code, stderr.String())
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// TestCtrlC sends a running process the signal.
func TestCtrlC(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(self, "run", "?runs=1000&numipi=1000000&bg=quiet")
	command.Env = append(os.Environ(), "SCHEDLAB_TEST_AS_COMMAND=1")
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(20*time.Second, func() { command.Process.Kill() })
	defer stop.Stop()
	command.Wait()
	if code := command.ProcessState.ExitCode(); code != 130 || !strings.Contains(stderr.String(), "stopped with ") {
		t.Errorf("exit status %d, %q, %q", code, stdout.String(), stderr.String())
	}
}

// TestProgressOnTerminalsOnly: no control sequence goes into a file.
func TestProgressOnTerminalsOnly(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, w := range []io.Writer{f, new(bytes.Buffer)} {
		if p := newProgress(w, 1); p.w != nil {
			t.Errorf("%T counts as a terminal", w)
		}
	}
	var b bytes.Buffer
	p := newProgress(&b, 2)
	p.w = &b
	p.show(&core.Part{Events: 1_500_000})
	p.shown = time.Time{}
	p.show(&core.Part{Events: 2_000_000, Done: true})
	p.clear()
	if got := b.String(); !strings.Contains(got, "0 of 2 runs, 1.5 million events") || !strings.Contains(got, "1 of 2 runs, 2.0 million events") || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("%q", got)
	}
}
