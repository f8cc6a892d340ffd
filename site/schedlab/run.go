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
	format := formatFlag(flags, "text", "json", "csv")
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
		return simulate(ctx, s, question, lab.Pool{Workers: *workers}, reports[f])
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
	ended := 0
	var faults []string
	broke := false
	for part := range parts {
		progress.show(&part)
		if !part.Done && part.Fault == "" {
			continue
		}
		ended++
		result.Put(&part)
		if part.Fault != "" {
			what := "broke"
			if part.Limit {
				what = "was too long"
			}
			broke = broke || !part.Limit
			faults = append(faults, fmt.Sprintf("run %d of %s %s: %s", part.Run+1, core.ArmName(question.Arms[part.Arm]), what, part.Fault))
		}
	}
	progress.clear()
	err := <-ran
	switch {
	case ctx.Err() != nil:
		err = context.Canceled
		s.say(fmt.Sprintf("stopped with %d of %d runs finished", ended, len(jobs)))
		if ended == 0 {
			return err
		}
	case err != nil:
		if ended == 0 {
			return err
		}
		s.say(fmt.Sprintf("%d of %d runs finished before it failed", ended, len(jobs)))
	}
	if _, err := io.WriteString(s.out, report(result)); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if len(faults) > 0 {
		const most = 10
		if n := len(faults); n > most {
			faults = append(faults[:most], fmt.Sprintf("… and %d more", n-most))
		}
		if broke {
			faults = append(faults, "this is a fault of the model or of the patch; the link to reproduce it: "+question.Query())
		}
		return errors.New(strings.Join(faults, "\n"))
	}
	return err
}
