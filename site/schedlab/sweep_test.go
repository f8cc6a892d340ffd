package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"schedlab/core"
	"schedlab/core/report"
	"schedlab/core/scenario"
	"schedlab/core/sweep"
	"schedlab/site/lab"
)

// tiny is a scenario whose sweeps take no time to speak of.
const tiny = "?numipi=200&runs=6&bg=quiet"

func TestSweepBadInput(t *testing.T) {
	x := []string{"sweep", "-x"}
	for _, c := range []struct {
		args []string
		want string // the whole of stderr, or its beginning if it ends in …
	}{
		{[]string{"sweep"}, "schedlab: -x: want an axis to sweep along, such as -x c.rq_visit=0..120/7\nschedlab: see schedlab sweep -h\n"},
		{[]string{"sweep", "-y", "wait=0,1"}, "schedlab: -x: want an axis to sweep along, such as -x c.rq_visit=0..120/7; -y is for a second one\n…"},
		{[]string{"sweep", "-x"}, "schedlab: flag needs an argument: -x\nschedlab: see schedlab sweep -h\n"},
		{append(x, "frobnicate=1,2"), "schedlab: axis=frobnicate: want a constant or a parameter that is a number: one of numipi, …"},
		{append(x, "c.rq_visits=1,2"), "schedlab: axis=c.rq_visits: want a constant of the model: c. and one of …"},
		{append(x, "runs=10,20"), "schedlab: axis=runs: want a constant or a parameter …"},
		{append(x, "c.rq_visit"), "schedlab: axis=c.rq_visit: want KEY=VALUE,…"},
		{append(x, "c.rq_visit=15"), "schedlab: c.rq_visit=15: want 2 to 64 different values, not 1\n"},
		{append(x, "c.rq_visit=0..120/1"), "schedlab: c.rq_visit=0..120/1: want 2 to 64 points\n"},
		{append(x, "c.rq_visit=0..120/65"), "schedlab: c.rq_visit=0..120/65: want 2 to 64 points\n"},
		{append(x, "c.rq_visit=0,100001"), "schedlab: c.rq_visit=100001: want nanoseconds from 0 to 100000, with up to three decimals\n"},
		{append(x, "c.rq_visit=a..b/7"), "schedlab: c.rq_visit=a..b/7: want ends that are each nanoseconds …"},
		{append(x, "delay=0,1000001"), "schedlab: delay=1000001: want a whole number from 0 to 1000000\n"},
		{append(x, "\x1b[2J=1,2"), `schedlab: axis=\x1b[2J: want a constant …`},
		{append(x, strings.Repeat("x", 100_000)), "schedlab: axis=xxxxxxxx…"},
		{append(x, "delay=1,x", "-y", "wait=2,3"), "schedlab: delay=x: want a whole number from 0 to 1000000\nschedlab: wait=2: want a whole number from 0 to 1\n"},
		{append(x, "numipi=1,2", "-y", "numipi=3,4"), "schedlab: axis=numipi: want two different keys\n"},
		{append(x, "numipi=1..99/40", "-y", "offset=1..99/40"), "schedlab: axes=40 × 40: want at most 1089 points in all, as of 33 × 33, not 1600\n"},
		{append(x, "numipi=1..99/33", "-y", "offset=1..99/33"), "schedlab: runs=10: want at most 9: a sweep simulates 20000 runs at most, …"},
		{append(x, "numipi=1,2", "?arm="), "schedlab: arm=: want a second arm: a sweep compares each with the first one\n"},
		{append(x, "numipi=1,100000", "?delay=1000&numipi=1"), "schedlab: point=numipi=100000: want a valid scenario; here numipi=100000: want at most …"},
		{append(x, "numipi=1,2", "?runs=0"), "schedlab: runs=0: want a whole number from 1 to 1000\n"},
		{append(x, "numipi=1,2", "-arm=0"), "schedlab: -arm=0: want 1, the only arm beside the baseline\n"},
		{append(x, "numipi=1,2", "-arm=3", "?arm=&arm=sm-idle-v1&arm=sm-idle-v2"), "schedlab: -arm=3: want a number from 1 to 2: arm 0 is the baseline\n"},
		{append(x, "numipi=1,2", "-format", "png"), "schedlab: -format=png: want one of text, csv, json, svg…"},
		{append(x, "numipi=1,2", "-j=0"), "schedlab: -j=0: want a whole number from 1\n"},
		{append(x, "numipi=1,2", tiny, tiny), "schedlab: sweep: want [LINK] only, not 2 arguments…"},
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

func TestSweepFormats(t *testing.T) {
	for name, axes := range map[string][]string{
		"one axis": {"-x", "c.rq_visit=0..60/3"},
		"two axes": {"-x", "c.rq_visit=0..60/3", "-y", "c.relax=20,80"},
	} {
		for _, format := range []string{"text", "csv", "json", "svg"} {
			args := append(append([]string{"sweep"}, axes...), tiny, "-format", format)
			code, stdout, stderr := schedlab(t, args...)
			if code != 0 || stderr != "" || !strings.Contains(stdout, "simulated") || !plain(strings.NewReplacer("\r\n", "", "\t", "").Replace(stdout)) {
				t.Errorf("%s, %s: exit status %d, %q, %q", name, format, code, stdout, stderr)
			}
			for _, has := range []string{fmt.Sprint(core.Model), "quiet", "c.rq_visit", "numipi=200"} {
				if !strings.Contains(stdout, has) {
					t.Errorf("%s, %s lacks %q", name, format, has)
				}
			}
			// The same bits however many runs there are at a time.
			for _, j := range []string{"1", "7"} {
				if _, again, _ := schedlab(t, append(args, "-j", j)...); again != stdout {
					t.Errorf("%s, %s, -j %s:\n%s\nnot\n%s", name, format, j, again, stdout)
				}
			}
			switch format {
			case "json":
				var v struct{ Points []any }
				if err := json.Unmarshal([]byte(stdout), &v); err != nil || len(v.Points) != 3*len(axes)/2 {
					t.Errorf("%s: %v, %d points", name, err, len(v.Points))
				}
			case "csv":
				if rows, err := csv.NewReader(strings.NewReader(stdout)).ReadAll(); err != nil || len(rows) != 1+3*len(axes)/2 {
					t.Errorf("%s: %v, %d rows", name, err, len(rows))
				}
			case "svg":
				standsAlone(t, stdout)
			}
		}
	}
}

// standsAlone tells whether svg is a file of its own, with a rule for each class in it.
func standsAlone(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for first := true; ; {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Errorf("%v", err)
			return
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if first && (e.Name.Local != "svg" || e.Name.Space != "http://www.w3.org/2000/svg") {
			t.Errorf("begins with %v", e)
		}
		for _, a := range e.Attr {
			if a.Name.Local != "class" || first || a.Value == "tick" || a.Value == "what" || a.Value == "basis" { // those look as all text does
				continue
			}
			for class := range strings.FieldsSeq(a.Value) {
				if !strings.Contains(svgStyle, "."+class) && !strings.Contains(svgStyle, e.Name.Local+"."+class) {
					t.Errorf("there is no style for %s", class)
				}
			}
		}
		first = false
	}
}

func TestSweepArms(t *testing.T) {
	link := "?numipi=200&runs=4&bg=quiet&arm=&arm=sm-idle-v1&arm=sm-idle-v2"
	for _, c := range []struct {
		args []string
		v1   bool
		v2   bool
	}{
		{nil, true, true},
		{[]string{"-arm=1"}, true, false},
		{[]string{"-arm=2"}, false, true},
		{[]string{"-y=wait=0,1"}, true, true},
		{[]string{"-y=wait=0,1", "-format=svg"}, true, false},
		{[]string{"-y=wait=0,1", "-format=svg", "-arm=2"}, false, true},
		{[]string{"-format=svg"}, true, true},
	} {
		code, stdout, stderr := schedlab(t, append([]string{"sweep", "-x=c.relax=20,80", link}, c.args...)...)
		// The link names both.
		stdout = strings.ReplaceAll(strings.ReplaceAll(stdout, "arm=sm-idle-v1", ""), "arm=sm-idle-v2", "")
		if v1, v2 := strings.Contains(stdout, "sm-idle-v1"), strings.Contains(stdout, "sm-idle-v2"); code != 0 || v1 != c.v1 || v2 != c.v2 {
			t.Errorf("%q: exit status %d, %v, %v, %s", c.args, code, v1, v2, stderr)
		}
	}
}

// readTiny returns a small sweep.
func readTiny(t *testing.T) sweep.Sweep {
	t.Helper()
	base, _ := scenario.Parse(tiny)
	question, err := readSweep(base, "c.rq_visit=0,30,60", "")
	if err != nil {
		t.Fatal(err)
	}
	return question
}

func text(t *sweep.Table) string { return report.SweepText(t, []int{1}) }

// TestSweepInterrupted: what has finished by then is reported.
func TestSweepInterrupted(t *testing.T) {
	for _, finished := range []int{0, 1, 7, 20} {
		ctx, cancel := context.WithCancel(t.Context())
		left := finished
		runner := runnerFunc(func(ctx context.Context, s scenario.Scenario, jobs []core.Job, out chan<- core.Part) error {
			if left--; left < 0 {
				cancel()
				return nil
			}
			return lab.Pool{Workers: 1}.Run(ctx, s, jobs, out)
		})
		var stdout, stderr bytes.Buffer
		err := simulateSweep(ctx, streams{&stdout, &stderr}, readTiny(t), 1, runner, text)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%d finished: %v", finished, err)
		}
		if got, want := stderr.String(), fmt.Sprintf("schedlab: stopped with %d of 36 runs finished\n", finished); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if (stdout.Len() > 0) != (finished > 0) {
			t.Errorf("%d finished: printed %q", finished, stdout.String())
		}
		cancel()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, []string{"sweep", "-x=wait=0,1", tiny}, &stdout, &stderr); code != 130 || stdout.Len() > 0 {
		t.Errorf("exit status %d, %q", code, stdout.String())
	}
}

// TestSweepBroken: a fault of the model is reported beside the table, and fails.
func TestSweepBroken(t *testing.T) {
	question := readTiny(t)
	broken := question.Points()[1].Scenario.Query()
	runner := runnerFunc(func(ctx context.Context, s scenario.Scenario, jobs []core.Job, out chan<- core.Part) error {
		if s.Query() == broken && jobs[0] == (core.Job{Arm: 1, Run: 2}) {
			out <- core.Part{Job: jobs[0], Fault: "task 7 is on two run queues"}
			return nil
		}
		return lab.Pool{Workers: 1}.Run(ctx, s, jobs, out)
	})
	var stdout, stderr bytes.Buffer
	err := simulateSweep(t.Context(), streams{&stdout, &stderr}, question, 2, runner, text)
	if err == nil || errors.As(err, new(badInput)) || !strings.Contains(stdout.String(), "runs finished 35 of 36") || stderr.Len() > 0 {
		t.Fatalf("%v, printed %q, %q", err, stdout.String(), stderr.String())
	}
	for _, want := range []string{"run 3 of sm-idle-v2 at c.rq_visit=30 broke: task 7 is on two run queues", broken} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
}

// TestSweepFails: an error of the runner, or of the output, is the command's.
func TestSweepFails(t *testing.T) {
	broken := errors.New("broken")
	runner := runnerFunc(func(context.Context, scenario.Scenario, []core.Job, chan<- core.Part) error { return broken })
	var stdout bytes.Buffer
	if err := simulateSweep(t.Context(), streams{&stdout, io.Discard}, readTiny(t), 2, runner, text); !errors.Is(err, broken) || stdout.Len() > 0 {
		t.Errorf("%v, printed %q", err, stdout.String())
	}
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"sweep", "-x=wait=0,1", tiny}, full{}, &stderr); code != 1 || !strings.Contains(stderr.String(), "disk full") {
		t.Errorf("exit status %d, %q", code, stderr.String())
	}
}

// TestSweepSVGOfNothing: a picture of what is not known says so.
func TestSweepSVGOfNothing(t *testing.T) {
	svg := sweepSVG(sweep.NewTable(readTiny(t)), []int{1})
	standsAlone(t, svg)
	if !strings.Contains(svg, "Nothing is known yet: simulated") {
		t.Error(svg)
	}
}
