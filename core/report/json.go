package report

import (
	"bytes"
	"encoding/json"
	"strconv"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/stats"
)

// JSON writes a result for programs: UTF-8, indented, its keys always in the
// same order, all counters and kinds of time present.
//
//	scenario     the link
//	simulated    always true
//	complete     whether all runs have finished; if not, digest is null and warnings say how many have
//	scheduler    the sched_ext scheduler that is loaded, or null
//	arms[]       runs: the primary figure of each finished run, in metric.unit; elapsed and time: ns, summed over these runs;
//	             the values of time sum to cpus × elapsed; clock_saved: the share of the times asked for by the scheduler
//	             that needed no read of the hardware's clock, null without a scheduler that asks
//	comparisons  of each arm with the first; positive improvement is better
//
// A figure that does not exist, such as a deviation of one run, is null.
func JSON(r *core.Result) string { return newView(r).json() }

type jsonReport struct {
	Scenario    string           `json:"scenario"`
	Model       int              `json:"model"`
	Digest      *string          `json:"digest"`
	Events      uint64           `json:"events"`
	Metric      jsonMetric       `json:"metric"`
	Background  string           `json:"background"`
	Simulated   bool             `json:"simulated"`
	Complete    bool             `json:"complete"`
	CPUs        int              `json:"cpus"`
	Scheduler   *string          `json:"scheduler"`
	Arms        []jsonArm        `json:"arms"`
	Comparisons []jsonComparison `json:"comparisons"`
	Warnings    []string         `json:"warnings"`
}

type jsonMetric struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Better string `json:"better"`
}

type jsonArm struct {
	Name     string        `json:"name"`
	Patches  []string      `json:"patches"`
	Runs     []json.Number `json:"runs"`
	Summary  jsonSummary   `json:"summary"`
	Elapsed  json.Number   `json:"elapsed"`
	Counters orderedMap    `json:"counters"`
	Time     orderedMap    `json:"time"`

	ClockSaved *float64 `json:"clock_saved"`
}

type jsonSummary struct {
	N      int      `json:"n"`
	Min    *float64 `json:"min"`
	Max    *float64 `json:"max"`
	Median *float64 `json:"median"`
	Mean   *float64 `json:"mean"`
	SD     *float64 `json:"sd"`
	PSD    *float64 `json:"psd"`
}

type jsonComparison struct {
	Arm                  string      `json:"arm"`
	Baseline             string      `json:"baseline"`
	ImprovementPct       *float64    `json:"improvement_pct"`
	ImprovementMedianPct *float64    `json:"improvement_median_pct"`
	CI95                 *[2]float64 `json:"ci95"`
	P                    *float64    `json:"p"`
	Significant          bool        `json:"significant"`
	Warnings             []string    `json:"warnings"`
}

// An orderedMap is a JSON object that keeps its order.
type orderedMap []struct {
	key   string
	value string // a JSON number
}

// MarshalJSON writes the object.
func (m orderedMap) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, e := range m {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := json.Marshal(e.key)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), e.value...)
	}
	return append(b, '}'), nil
}

// ordered pairs names with values, 0 for those that are missing.
func ordered(names []kernel.Info, values []int64, format func(int64) string) orderedMap {
	m := make(orderedMap, len(names))
	for i, n := range names {
		m[i].key, m[i].value = n.Key, format(at(values, i))
	}
	return m
}

func (v *view) json() string {
	out := jsonReport{
		Scenario:    v.link,
		Model:       v.model,
		Events:      v.events,
		Metric:      jsonMetric{v.metric.Name, v.metric.Unit, v.metric.Better},
		Background:  v.background,
		Simulated:   true,
		Complete:    v.complete,
		CPUs:        v.cpus,
		Arms:        []jsonArm{},
		Comparisons: []jsonComparison{},
		Warnings:    notNil(v.allWarnings()),
	}
	if v.digest != "" {
		out.Digest = &v.digest
	}
	if v.loaded != "" {
		out.Scheduler = &v.loaded
	}
	for i := range v.arms {
		a := &v.arms[i]
		runs := []json.Number{}
		for _, p := range a.runs {
			runs = append(runs, json.Number(thousandths(p.Primary)))
		}
		out.Arms = append(out.Arms, jsonArm{
			Name:     a.name,
			Patches:  notNil(a.patches),
			Runs:     runs,
			Summary:  summary(a.summary),
			Elapsed:  json.Number(thousandths(a.total.Elapsed)),
			Counters: ordered(v.counters, a.total.Counters, func(n int64) string { return strconv.FormatInt(n, 10) }),
			Time:     ordered(v.times, a.total.Time, thousandths),

			ClockSaved: pointer(core.ClockOf(a.total.Counters).All.Saved()),
		})
		if i > 0 {
			out.Comparisons = append(out.Comparisons, v.comparison(a))
		}
	}
	return encode(out)
}

func encode(out any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(out); err != nil {
		panic(err) // nothing in out can fail: numbers are finite, text is text
	}
	return b.String()
}

func summary(s stats.Summary) jsonSummary {
	out := jsonSummary{N: s.N}
	if s.N > 0 {
		out.Min, out.Max, out.Median, out.Mean, out.PSD = &s.Min, &s.Max, &s.Median, &s.Mean, &s.PSD
	}
	if s.N > 1 {
		out.SD = &s.SD
	}
	return out
}

func (v *view) comparison(a *armView) jsonComparison {
	c := &a.comparison
	out := jsonComparison{
		Arm:                  a.name,
		Baseline:             v.arms[0].name,
		ImprovementPct:       pointer(c.ImprovementPct),
		ImprovementMedianPct: pointer(c.ImprovementMedianPct),
		CI95:                 interval(c.CI95),
		Significant:          c.Significant,
		Warnings:             notNil(c.Warnings),
	}
	if c.N > 0 {
		out.P = &c.P
	}
	return out
}

func pointer(n stats.Number) *float64 {
	if !n.OK {
		return nil
	}
	return &n.V
}

func interval(i stats.Interval) *[2]float64 {
	if !i.OK {
		return nil
	}
	return &[2]float64{i.Lo, i.Hi}
}

// notNil makes an empty list [] rather than null.
func notNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
