package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"schedlab/core"
	"schedlab/core/evidence"
	"schedlab/core/report"
	"schedlab/core/scenario"
	"schedlab/site/lab"
)

// evidenceReports is how evidence can print, by format.
var evidenceReports = map[string]func([]evidence.Finding) string{
	"text":     report.EvidenceText,
	"json":     func(findings []evidence.Finding) string { return report.EvidenceJSON(findings, time.Now()) },
	"markdown": report.EvidenceMarkdown,
}

func setupEvidence(flags *flag.FlagSet) func(context.Context, streams, string) error {
	format := formatFlag(flags, "text", "json", "markdown")
	only := flags.String("only", "", "judge those figures only whose `ID` begins so: the key of a table, or all of an ID as printed")
	workers := flags.Int("j", runtime.GOMAXPROCS(0), "runs to simulate at a time")
	return func(ctx context.Context, s streams, arg string) error {
		f, err := format()
		if err != nil {
			return err
		}
		if arg != "" {
			return badInput("evidence takes no link: want -only for some of the figures")
		}
		if *workers < 1 {
			return badInput(scenario.Problem{Key: "-j", Value: strconv.Itoa(*workers), Want: "a whole number from 1"}.String())
		}
		tables := evidence.Matching(*only)
		if len(tables) == 0 || givenEmpty(flags, "only") {
			return unknown("-only", *only, evidence.Keys())
		}
		if len(tables) == 1 {
			if ids := tables[0].IDs(); !slices.ContainsFunc(ids, func(id string) bool { return strings.HasPrefix(id, *only) }) {
				return unknown("-only", *only, ids)
			}
		}
		var findings []evidence.Finding
		for i, t := range tables {
			found, stopped := judge(ctx, s, t, fmt.Sprintf("%d of %d: %s", i+1, len(tables), t.Key), *workers)
			if stopped != nil {
				if len(findings) == 0 {
					return stopped
				}
				s.say(fmt.Sprintf("stopped with %d of %d tables judged", i, len(tables)))
				err = stopped
				break
			}
			for _, finding := range found {
				if strings.HasPrefix(finding.ID, *only) {
					findings = append(findings, finding)
				}
			}
		}
		if _, err := io.WriteString(s.out, evidenceReports[f](findings)); err != nil {
			return fmt.Errorf("writing the findings: %w", err)
		}
		return err
	}
}

// judge simulates the trials of a table and judges it by them.
func judge(ctx context.Context, s streams, t *evidence.Table, what string, workers int) ([]evidence.Finding, error) {
	trials := t.Trials(false)
	results := make([]*core.Result, len(trials))
	for i := range trials {
		var err error
		if results[i], err = try(ctx, s, trials[i].Scenario, what, workers); err != nil {
			return nil, err
		}
	}
	return evidence.Judge(t, trials, results), nil
}

// try simulates a scenario to its end.
func try(ctx context.Context, s streams, question scenario.Scenario, what string, workers int) (*core.Result, error) {
	jobs := core.Jobs(question)
	parts := make(chan core.Part)
	ran := make(chan error, 1)
	go func() {
		ran <- lab.Pool{Workers: workers}.Run(ctx, question, jobs, parts)
		close(parts)
	}()
	result := core.NewResult(question)
	progress := newProgress(s.err, len(jobs))
	progress.what = what
	fault := ""
	for part := range parts {
		progress.show(&part)
		if part.Done || part.Fault != "" {
			result.Put(&part)
		}
		if part.Fault != "" {
			fault = part.Fault
		}
	}
	progress.clear()
	if err := <-ran; err != nil {
		return nil, err
	}
	if fault != "" {
		return nil, fmt.Errorf("a run of %s: %s", question.Query(), fault)
	}
	return result, nil
}
