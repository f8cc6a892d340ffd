package main

import (
	"context"
	"flag"
	"fmt"
	"html"
	"strconv"
	"strings"
	"sync"

	"schedlab/core"
	"schedlab/core/report"
	"schedlab/core/scenario"
	"schedlab/core/sweep"
	"schedlab/site/chart"
	"schedlab/site/lab"
)

// sweepReports is how sweep can print arms, by format.
var sweepReports = map[string]func(*sweep.Table, []int) string{
	"text": report.SweepText,
	"json": report.SweepJSON,
	"csv":  report.SweepCSV,
	"svg":  sweepSVG,
}

func setupSweep(flags *flag.FlagSet) func(context.Context, streams, string) error {
	x := flags.String("x", "", "`axis` to sweep along, a constant or a parameter: c.rq_visit=15,30,45 for these values, c.rq_visit=0..120/7 for\n"+
		"seven at equal distances, numipi=100..100000/4log for four at equal ratios")
	y := flags.String("y", "", "second `axis`, for a map")
	arm := flags.Int("arm", 0, "the arm to print, from 1, where 0 is the baseline (default all of them, but in an SVG map the first)")
	return setupSimulation(flags, func(ctx context.Context, s streams, base scenario.Scenario, format string, workers int) error {
		question, err := readSweep(base, *x, *y)
		if err != nil {
			return err
		}
		asked := false
		flags.Visit(func(f *flag.Flag) { asked = asked || f.Name == "arm" })
		arms, err := sweptArms(base, *arm, asked, format == "svg" && len(question.Axes) > 1)
		if err != nil {
			return err
		}
		return simulateSweep(ctx, s, question, workers, lab.Pool{Workers: 1}, func(t *sweep.Table) string { return sweepReports[format](t, arms) })
	}, "text", "csv", "json", "svg")
}

// readSweep parses the axes and says all that is wrong with them.
func readSweep(base scenario.Scenario, x, y string) (sweep.Sweep, error) {
	if x == "" {
		what := "-x: want an axis to sweep along, such as -x c.rq_visit=0..120/7"
		if y != "" {
			what += "; -y is for a second one"
		}
		return sweep.Sweep{}, badInput(what + "\nsee schedlab sweep -h")
	}
	var axes []sweep.Axis
	var wrong []string
	for _, spec := range []string{x, y} {
		if spec == "" {
			continue
		}
		a, err := sweep.ParseAxis(base, spec)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		axes = append(axes, a)
	}
	if len(wrong) > 0 {
		return sweep.Sweep{}, badInput(strings.Join(wrong, "\n"))
	}
	question, problems := sweep.New(base, axes)
	for _, p := range problems {
		wrong = append(wrong, p.String())
	}
	if len(wrong) > 0 {
		return question, badInput(strings.Join(wrong, "\n"))
	}
	return question, nil
}

// sweptArms returns the arms to print: the one that was asked for; else all, or
// the first where there is room for one.
func sweptArms(base scenario.Scenario, arm int, asked, one bool) ([]int, error) {
	last := len(base.Arms) - 1
	switch {
	case asked && (arm < 1 || arm > last):
		want := fmt.Sprintf("a number from 1 to %d: arm 0 is the baseline", last)
		if last == 1 {
			want = "1, the only arm beside the baseline"
		}
		return nil, badInput(scenario.Problem{Key: "-arm", Value: strconv.Itoa(arm), Want: want}.String())
	case asked:
		return []int{arm}, nil
	case one:
		return []int{1}, nil
	}
	var arms []int
	for arm := 1; arm <= last; arm++ {
		arms = append(arms, arm)
	}
	return arms, nil
}

// A pointPart is a part of the result of a sweep's point.
type pointPart struct {
	point int
	core.Part
}

// runPoints runs all jobs of a sweep, workers at a time, each through the runner.
// Jobs go point by point, but the next point's start while the last ones of a
// point still run.
func runPoints(ctx context.Context, question sweep.Sweep, workers int, runner lab.Runner, out chan<- pointPart) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type pointJob struct {
		point int
		job   core.Job
	}
	queue := make(chan pointJob)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for j := range queue {
				parts := make(chan core.Part)
				ran := make(chan error, 1)
				go func() {
					ran <- runner.Run(ctx, question.Points()[j.point].Scenario, []core.Job{j.job}, parts)
					close(parts)
				}()
				for part := range parts {
					out <- pointPart{j.point, part}
				}
				if err := <-ran; err != nil {
					cancel(err)
				}
			}
		})
	}
feed:
	for point := range question.Points() {
		for _, job := range core.Jobs(question.Base) {
			select {
			case queue <- pointJob{point, job}:
			case <-ctx.Done():
				break feed
			}
		}
	}
	close(queue)
	group.Wait()
	return context.Cause(ctx)
}

// simulateSweep runs a sweep and reports its table: of the runs that finished,
// if ctx ends it early.
func simulateSweep(ctx context.Context, s streams, question sweep.Sweep, workers int, runner lab.Runner, report func(*sweep.Table) string) error {
	points, perPoint := question.Points(), len(core.Jobs(question.Base))
	jobs := len(points) * perPoint
	parts := make(chan pointPart)
	ran := make(chan error, 1)
	go func() {
		ran <- runPoints(ctx, question, min(workers, jobs), runner, parts)
		close(parts)
	}()
	table := sweep.NewTable(question)
	results := make(map[int]*core.Result) // of points some of whose runs have ended
	left := make([]int, len(points))
	progress := newProgress(s.err, jobs)
	var faults faults
	for part := range parts {
		shown := part.Part
		shown.Run += part.point * question.Base.Runs // progress knows jobs of one scenario
		progress.show(&shown)
		if !part.Done && part.Fault == "" {
			continue
		}
		r := results[part.point]
		if r == nil {
			r = core.NewResult(points[part.point].Scenario)
			results[part.point], left[part.point] = r, perPoint
		}
		part.Hists, part.Counters, part.Time = nil, nil, nil // large, and no effect has a use for them
		r.Put(&part.Part)
		if left[part.point]--; left[part.point] == 0 {
			table.Put(part.point, r)
			delete(results, part.point)
		}
		faults.add(&part.Part, points[part.point].Scenario, " at "+question.Name(part.point))
	}
	progress.clear()
	for point, r := range results {
		table.Put(point, r)
	}
	return finish(ctx, s, progress, <-ran, &faults, func() string { return report(table) })
}

// svgWidth is the width of a picture, pixels.
const svgWidth = 900

// sweepSVG draws a sweep as a picture that stands alone: of a map the first of the
// arms.
func sweepSVG(t *sweep.Table, arms []int) string {
	s := t.Sweep.Base
	marks, svg := chart.EffectMarks, ""
	basis := []string{t.Basis(), s.Query()}
	if n, of := t.Finished(); n < of {
		basis = append(basis, fmt.Sprintf("runs finished %d of %d", n, of))
	}
	if len(t.Sweep.Axes) == 1 {
		names := make([]string, len(arms))
		for i, arm := range arms {
			names[i] = t.Arm(arm)
		}
		title := fmt.Sprintf("Effect on %s of %s, against %s", t.Metric().Name, strings.Join(names, ", "), t.Arm(0))
		svg = chart.EffectChart{Table: t, Arms: arms, Title: title, Basis: append([]string{marks}, basis...), Width: svgWidth}.SVG()
	} else {
		marks = chart.EffectMapMarks
		title := fmt.Sprintf("Effect on %s of %s, against %s", t.Metric().Name, t.Arm(arms[0]), t.Arm(0))
		svg = chart.EffectMap{Table: t, Arm: arms[0], Title: title, Basis: append([]string{marks}, basis...), Width: svgWidth}.SVG()
	}
	head, body, ok := strings.Cut(svg, ">")
	if !ok {
		head, body = `<svg viewBox="0 0 900 40" width="900" height="40"`, `<text x="4" y="24">`+html.EscapeString("Nothing is known yet: "+t.Basis())+"</text></svg>"
	}
	return strings.Replace(head, "<svg", `<svg xmlns="http://www.w3.org/2000/svg"`, 1) + ">\n<style>" + svgStyle + "</style>\n" +
		`<rect class="paper" width="100%" height="100%"/>` + "\n" + body + "\n"
}

// svgStyle is the style sheet of pictures that stand alone: what the page's says
// of the classes in them.
const svgStyle = `
svg { --paper: #fbfbf9; --ink: #1b1d1f; --soft: #565c62; --grid: #e4e4de; --shade: 1;
	--a0: #0072b2; --a1: #d55e00; --a1-text: #b84f00; --a2: #007a57; --a3: #a8457e; --a4: #8a6100; }
@media (prefers-color-scheme: dark) {
	svg { --paper: #15171a; --ink: #e8e8e4; --soft: #a3aab1; --grid: #30353b; --shade: .7;
		--a0: #5ab4e5; --a1: #ff8c42; --a1-text: #ff8c42; --a2: #3fc79a; --a3: #e58bbf; --a4: #e0b13f; }
}
.paper { fill: var(--paper); }
text { font: 11px system-ui, "Inter", "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--soft); }
.title { font-size: 13px; font-weight: 600; fill: var(--ink); }
.label { font-size: 12px; paint-order: stroke; stroke: var(--paper); stroke-width: 4px; stroke-linejoin: round; }
.grid { fill: none; stroke: var(--grid); }
.axis { fill: none; stroke: var(--soft); stroke-width: .75; }
.curve { fill: none; stroke: currentcolor; stroke-width: 1.7; stroke-linejoin: round; }
.curve.arm2 { stroke-dasharray: 7 2; }
.curve.arm3 { stroke-dasharray: 2 2; }
.curve.arm4 { stroke-dasharray: 7 2 2 2; }
.curve.arm5, .curve.arm6, .curve.arm7 { stroke-dasharray: 1 3; }
.band { fill: currentcolor; fill-opacity: .16; }
.dots { fill: var(--paper); stroke: currentcolor; stroke-width: 1.7; }
.sure { fill: currentcolor; stroke: currentcolor; stroke-width: 1.7; }
.arm1 { color: var(--a1); }
.arm2 { color: var(--a2); }
.arm3 { color: var(--a3); }
.arm4 { color: var(--a4); }
.arm5, .arm6, .arm7 { color: var(--ink); }
text.arm1 { fill: var(--a1-text); }
text.arm2 { fill: var(--a2); }
text.arm3 { fill: var(--a3); }
text.arm4 { fill: var(--a4); }
.effect .zero { fill: none; stroke: var(--ink); }
path.turn { fill: none; stroke: var(--ink); stroke-width: 2; }
text.turn, .cell { fill: var(--ink); }
.cell { paint-order: stroke; stroke: var(--paper); stroke-width: 2.5px; stroke-opacity: .55; stroke-linejoin: round; }
text.gain { fill: var(--a0); }
text.loss { fill: var(--a1-text); }
[class^="gain"] { fill: var(--a0); }
[class^="loss"] { fill: var(--a1); }
.gain0, .loss0 { fill-opacity: calc(var(--shade) * .1); }
.gain1, .loss1 { fill-opacity: calc(var(--shade) * .25); }
.gain2, .loss2 { fill-opacity: calc(var(--shade) * .4); }
.gain3, .loss3 { fill-opacity: calc(var(--shade) * .57); }
.gain4, .loss4 { fill-opacity: calc(var(--shade) * .75); }
.even { fill: var(--grid); }
.missing { fill: none; stroke: var(--grid); stroke-dasharray: 2 2; }
.minus, .unsure { fill: none; stroke: var(--ink); stroke-width: 1.2; }
.map .zero, .halo { fill: none; stroke: var(--ink); stroke-width: 3; stroke-linejoin: round; stroke-linecap: round; }
.map .halo { stroke: var(--paper); stroke-width: 6; }
`
