package report

import (
	"encoding/json"

	"schedlab/core"
	"schedlab/core/sweep"
)

// SweepJSON writes a sweep for programs: UTF-8, indented, its keys always in the same
// order.
//
//	scenario   the base's link; that of each point differs in the axes' keys only
//	simulated  always true
//	complete   whether all runs have finished; if not, warnings say how many have
//	axes[]     key, unit ("" of plain counts) and values; the first one from left to right, the second one upwards
//	points[]   row by row: index on each axis, scenario (its link), effects[]: of each arm,
//	           n (pairs of runs), the means of baseline and arm (in metric.unit a run; events_per_run
//	           divides them to figures per event, null if nothing does), positive improvement is better
//	signs[]    by arm: with one axis crossings[], where gain turns to loss or back (at, on the axis, null if there
//	           is no value between the points; below, the index of the point before it; turns_to; significant,
//	           if the effects at both neighbours are); with two axes contours[], lines of [x, y] in indices of
//	           the axes, with fractions between points
//
// A figure that is not known is null.
func SweepJSON(t *sweep.Table, arms []int) string {
	s := t.Sweep.Base
	m := t.Metric()
	out := jsonSweep{
		Scenario:   s.Query(),
		Model:      core.Model,
		Machine:    s.Machine,
		Background: s.Background,
		Runs:       s.Runs,
		Seed:       s.Seed,
		Metric:     jsonMetric{m.Name, m.Unit, m.Better},
		Simulated:  true,
		Complete:   t.Complete(),
		Baseline:   t.Arm(0),
		Points:     []jsonPoint{},
		Signs:      []jsonSigns{},
		Warnings:   notNil(t.Warnings(arms)),
	}
	for i, a := range t.Sweep.Axes {
		axis := jsonAxis{Key: a.Key, Unit: t.Sweep.Unit(i)}
		for _, v := range a.Values {
			axis.Values = append(axis.Values, json.Number(v))
		}
		out.Axes = append(out.Axes, axis)
	}
	for p, point := range t.Sweep.Points() {
		jp := jsonPoint{Index: point.Index, Scenario: point.Scenario.Query(), Effects: []jsonEffect{}}
		for _, arm := range arms {
			jp.Effects = append(jp.Effects, effect(t, p, arm))
		}
		out.Points = append(out.Points, jp)
	}
	for _, arm := range arms {
		signs := jsonSigns{Arm: t.Arm(arm)}
		if len(t.Sweep.Axes) == 1 {
			crossings := []jsonCrossing{}
			for _, c := range t.Crossings(arm, 0) {
				at := &c.At
				if c.Step {
					at = nil
				}
				crossings = append(crossings, jsonCrossing{at, c.Below, map[bool]string{true: "gain", false: "loss"}[c.Gain], c.Sure})
			}
			signs.Crossings = &crossings
		} else {
			contours := [][][2]float64{}
			for _, line := range t.Contour(arm) {
				var places [][2]float64
				for _, p := range line {
					places = append(places, [2]float64{p.X, p.Y})
				}
				contours = append(contours, places)
			}
			signs.Contours = &contours
		}
		out.Signs = append(out.Signs, signs)
	}
	return encode(out)
}

type jsonSweep struct {
	Scenario   string      `json:"scenario"`
	Model      int         `json:"model"`
	Machine    string      `json:"machine"`
	Background string      `json:"background"`
	Runs       int         `json:"runs"`
	Seed       uint32      `json:"seed"`
	Metric     jsonMetric  `json:"metric"`
	Simulated  bool        `json:"simulated"`
	Complete   bool        `json:"complete"`
	Baseline   string      `json:"baseline"`
	Axes       []jsonAxis  `json:"axes"`
	Points     []jsonPoint `json:"points"`
	Signs      []jsonSigns `json:"signs"`
	Warnings   []string    `json:"warnings"`
}

type jsonAxis struct {
	Key    string        `json:"key"`
	Unit   string        `json:"unit"`
	Values []json.Number `json:"values"`
}

type jsonPoint struct {
	Index    []int        `json:"index"`
	Scenario string       `json:"scenario"`
	Effects  []jsonEffect `json:"effects"`
}

type jsonEffect struct {
	Arm            string      `json:"arm"`
	N              int         `json:"n"`
	BaselineMean   *float64    `json:"baseline_mean"`
	Mean           *float64    `json:"mean"`
	EventsPerRun   *int64      `json:"events_per_run"`
	ImprovementPct *float64    `json:"improvement_pct"`
	CI95           *[2]float64 `json:"ci95"`
	P              *float64    `json:"p"`
	Significant    bool        `json:"significant"`
}

type jsonSigns struct {
	Arm       string          `json:"arm"`
	Crossings *[]jsonCrossing `json:"crossings,omitempty"`
	Contours  *[][][2]float64 `json:"contours,omitempty"`
}

type jsonCrossing struct {
	At          *float64 `json:"at"`
	Below       int      `json:"below"`
	TurnsTo     string   `json:"turns_to"`
	Significant bool     `json:"significant"`
}

func effect(t *sweep.Table, point, arm int) jsonEffect {
	e := t.Effect(point, arm)
	out := jsonEffect{
		Arm:            t.Arm(arm),
		N:              e.N,
		ImprovementPct: pointer(e.ImprovementPct),
		CI95:           interval(e.CI95),
		Significant:    e.Significant,
	}
	if e.N > 0 {
		out.BaselineMean, out.Mean, out.P = &e.Baseline, &e.Mean, &e.P
		if e.Events > 0 {
			out.EventsPerRun = &e.Events
		}
	}
	return out
}
