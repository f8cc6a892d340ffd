package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"

	"schedlab/core"
	"schedlab/core/report"
	"schedlab/core/scenario"
	"schedlab/site/lab"
)

// reports is how run can print, by format.
var reports = map[string]func(*core.Result) string{
	"text": report.Text,
	"json": report.JSON,
	"csv":  report.CSV,
}

func setupRun(flags *flag.FlagSet) func(context.Context, streams, string) error {
	return setupSimulation(flags, func(ctx context.Context, s streams, question scenario.Scenario, format string, workers int) error {
		return simulate(ctx, s, question, lab.Pool{Workers: workers}, reports[format])
	}, "text", "json", "csv")
}

// setupSimulation sets up a command that simulates what a link asks and prints it in
// one of some formats.
func setupSimulation(flags *flag.FlagSet, do func(context.Context, streams, scenario.Scenario, string, int) error, formats ...string) func(context.Context, streams, string) error {
	format := formatFlag(flags, formats...)
	workers := flags.Int("j", runtime.GOMAXPROCS(0), "runs to simulate at a time")
	return func(ctx context.Context, s streams, link string) error {
		f, err := format()
		if err != nil {
			return err
		}
		if *workers < 1 {
			return badInput(scenario.Problem{Key: "-j", Value: strconv.Itoa(*workers), Want: "a whole number from 1"}.String())
		}
		question, err := readLink(s, link)
		if err != nil {
			return err
		}
		return do(ctx, s, question, f, *workers)
	}
}

// readLink parses a link and says what is wrong with it. An error means that
// it must not be simulated.
func readLink(s streams, link string) (scenario.Scenario, error) {
	question, problems := scenario.Parse(link)
	var wrong []string
	for _, p := range problems {
		if p.Notice {
			s.say(p.String())
		} else {
			wrong = append(wrong, p.String())
		}
	}
	if len(wrong) > 0 {
		return question, badInput(strings.Join(wrong, "\n"))
	}
	return question, nil
}

// simulate runs a scenario and reports its result: of the runs that finished,
// if ctx ends it early.
func simulate(ctx context.Context, s streams, question scenario.Scenario, runner lab.Runner, report func(*core.Result) string) error {
	jobs := core.Jobs(question)
	parts := make(chan core.Part)
	ran := make(chan error, 1)
	go func() {
		ran <- runner.Run(ctx, question, jobs, parts)
		close(parts)
	}()
	result := core.NewResult(question)
	progress := newProgress(s.err, len(jobs))
	var faults faults
	for part := range parts {
		progress.show(&part)
		if !part.Done && part.Fault == "" {
			continue
		}
		result.Put(&part)
		faults.add(&part, question, "")
	}
	progress.clear()
	return finish(ctx, s, progress, <-ran, &faults, func() string { return report(result) })
}

// finish reports on runs that have come to an end, with err: unless none of them
// has finished. If that is not all of them it says how many have.
func finish(ctx context.Context, s streams, p *progress, err error, f *faults, report func() string) error {
	switch {
	case ctx.Err() != nil:
		err = context.Canceled
		s.say(fmt.Sprintf("stopped with %d of %d runs finished", p.ended, p.jobs))
	case err != nil && p.ended > 0:
		s.say(fmt.Sprintf("%d of %d runs finished before it failed", p.ended, p.jobs))
	}
	if err != nil && p.ended == 0 {
		return err
	}
	if _, err := io.WriteString(s.out, report()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if len(f.texts) > 0 {
		return f.err()
	}
	return err
}

// faults are what runs tell that have ended without being done.
type faults struct {
	texts []string
	link  string // reproduces the first fault of the model or of a patch; "" if there is none
}

// add takes in a run of a scenario that has ended; place is where that lies in a sweep.
func (f *faults) add(part *core.Part, s scenario.Scenario, place string) {
	if part.Fault == "" {
		return
	}
	what := "broke"
	if part.Limit {
		what = "was too long"
	} else if f.link == "" {
		f.link = s.Query()
	}
	f.texts = append(f.texts, fmt.Sprintf("run %d of %s%s %s: %s", part.Run+1, core.ArmName(s.Arms[part.Arm]), place, what, part.Fault))
}

func (f *faults) err() error {
	const most = 10
	texts := f.texts
	if n := len(texts); n > most {
		texts = append(texts[:most:most], fmt.Sprintf("… and %d more", n-most))
	}
	if f.link != "" {
		texts = append(texts, "this is a fault of the model or of the patch; the link to reproduce it: "+f.link)
	}
	return errors.New(strings.Join(texts, "\n"))
}
