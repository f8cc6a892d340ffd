package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"runtime"
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
			return badInput("-j: want a whole number from 1")
		}
		tables := evidence.Matching(*only)
		if len(tables) == 0 {
			return unknown("-only", *only, evidence.Keys())
		}
		var findings []evidence.Finding
		for i, t := range tables {
			trials := t.Trials(false)
			results := make([]*core.Result, len(trials))
			for j := range trials {
				if results[j], err = try(ctx, s, trials[j].Scenario, fmt.Sprintf("%d of %d: %s", i+1, len(tables), t.Key), *workers); err != nil {
					return err
				}
			}
			for _, finding := range evidence.Judge(t, trials, results) {
				if strings.HasPrefix(finding.ID, *only) {
					findings = append(findings, finding)
				}
			}
		}
		if len(findings) == 0 {
			return badInput(fmt.Sprintf("-only %s: that table has no such figure", printable(*only)))
		}
		_, err = io.WriteString(s.out, evidenceReports[f](findings))
		return err
	}
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
