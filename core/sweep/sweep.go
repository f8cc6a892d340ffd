// Package sweep asks one question at many values of one or two constants or
// parameters: how much a patch gains or loses at each, and where gain turns to
// loss. Many constants of the model are assumed, so that a single figure says
// little until one has seen on what it hangs.
//
// A sweep is a base scenario and one or two axes. Each of its points is a
// scenario of its own, with a link, made from the base by setting the axes'
// keys in its link; nothing but these differs. In particular all points have the
// same seed, so that run i of every point draws the same random numbers, as run
// i of every arm does. A curve over an axis is therefore smooth where the model
// is, and shows the effect of the axis rather than new noise at each point. The price is
// that neighbouring points err together: that many of them agree is no further evidence.
//
// The package simulates nothing and starts no goroutine: who has results, whole or
// partial and in any order, puts them into a Table, which knows the effects and
// their changes of sign, and says in a sentence what they come to. Package report
// writes all of it down.
package sweep

import (
	"fmt"
	"strconv"
	"strings"

	"schedlab/core"
	"schedlab/core/scenario"
	"schedlab/core/workload"
)

// Limits of a sweep.
const (
	MaxAxes      = 2
	MaxMapPoints = 33 * 33 // points in all
	MaxJobs      = 20_000  // runs in all: points × arms × runs per arm
)

// A Sweep is a base scenario and the axes along which it is changed. Valid ones
// come from New.
type Sweep struct {
	Base scenario.Scenario
	Axes []Axis // the first one is drawn from left to right, the second one upwards

	points []Point
}

// A Point is one scenario of a sweep.
type Point struct {
	Index    []int // of its value on each axis
	Scenario scenario.Scenario
}

// maxProblems is how many points that are not valid are named.
const maxProblems = 5

// New returns the sweep of base along one or two axes. It is valid if there are no
// problems: the axes are sound, there are an arm and another one to compare it
// with, and every point is what scenario.Parse has nothing to say against.
func New(base scenario.Scenario, axes []Axis) (Sweep, []scenario.Problem) {
	var problems []scenario.Problem
	bad := func(key, value, want string, args ...any) {
		problems = append(problems, scenario.Problem{Key: key, Value: value, Want: fmt.Sprintf(want, args...)})
	}
	if n := len(axes); n < 1 || n > MaxAxes {
		bad("axes", strconv.Itoa(n), "1 or %d axes", MaxAxes)
		return Sweep{}, problems
	}
	s := Sweep{Base: base}
	for i, a := range axes {
		canonical, err := a.canonical(base)
		if err != nil {
			problems = append(problems, asProblem(err))
			continue
		}
		if i > 0 && a.Key == axes[0].Key {
			bad("axis", a.Key, "two different keys")
		}
		s.Axes = append(s.Axes, canonical)
	}
	if _, err := base.Resolve(); err != nil {
		problems = append(problems, asProblem(err))
	}
	if len(base.Arms) == 1 {
		bad("arm", strings.Join(base.Arms[0], ","), "a second arm: a sweep compares each with the first one")
	}
	if len(problems) > 0 {
		return Sweep{}, problems
	}

	n := 1
	for _, a := range s.Axes {
		n *= len(a.Values)
	}
	if n > MaxMapPoints {
		bad("axes", fmt.Sprintf("%d × %d", len(s.Axes[0].Values), len(s.Axes[1].Values)), "at most %d points in all, as of 33 × 33, not %d", MaxMapPoints, n)
	} else if most := MaxJobs / (n * len(base.Arms)); base.Runs > most {
		bad("runs", strconv.Itoa(base.Runs), "at most %d: a sweep simulates %d runs at most, and this one has %d points of %d arms",
			most, MaxJobs, n, len(base.Arms))
	}
	if len(problems) > 0 {
		return Sweep{}, problems
	}

	link := base.Query()
	for p := range n {
		index := make([]int, len(s.Axes))
		at := link
		rest := p
		for i, a := range s.Axes {
			index[i] = rest % len(a.Values)
			rest /= len(a.Values)
			at = set(at, a.Key, a.Values[index[i]])
		}
		point, wrong := scenario.Parse(at)
		if len(wrong) > 0 {
			if len(problems) == maxProblems {
				bad("points", "…", "fewer problems: the rest is not listed")
				break
			}
			bad("point", s.name(index), "a valid scenario; here %s", wrong[0])
		}
		s.points = append(s.points, Point{index, point})
		if first, own := metricOf(s.points[0].Scenario).Name, metricOf(point).Name; first != own && len(problems) == 0 {
			bad("point", s.name(index), "a point with the same figure as the first one: there it is %s, here %s", first, own)
		}
	}
	if len(problems) > 0 {
		return Sweep{}, problems
	}
	return s, nil
}

func metricOf(s scenario.Scenario) workload.Metric { return core.NewResult(s).Metric() }

// name writes what makes a point differ from others: "c.rq_visit=15&numipi=100".
func (s Sweep) name(index []int) string {
	var values []string
	for i, a := range s.Axes {
		values = append(values, a.Key+"="+a.Values[index[i]])
	}
	return strings.Join(values, "&")
}

// Name names a point by the values that its link has for the axes' keys:
// "c.rq_visit=15&numipi=100".
func (s Sweep) Name(point int) string { return s.name(s.points[point].Index) }

// Points returns the sweep's points row by row: the index on the first axis
// changes fastest. The slice is the sweep's own.
func (s Sweep) Points() []Point { return s.points }

// Unit returns the unit of an axis's values; "" if they are plain counts.
func (s Sweep) Unit(axis int) string {
	k, _ := kindOf(s.Base, s.Axes[axis].Key)
	return k.unit
}

// Text returns what an axis's key stands for.
func (s Sweep) Text(axis int) string {
	k, _ := kindOf(s.Base, s.Axes[axis].Key)
	return k.text
}

// Title returns an axis's key with its unit: "c.rq_visit, ns".
func (s Sweep) Title(axis int) string {
	if unit := s.Unit(axis); unit != "" {
		return s.Axes[axis].Key + ", " + unit
	}
	return s.Axes[axis].Key
}

// set sets a key in a link that Query wrote: whose keys and values, those that an
// axis may have at least, need no escaping.
func set(link, key, value string) string {
	var kept []string
	for piece := range strings.SplitSeq(strings.TrimPrefix(link, "?"), "&") {
		if !strings.HasPrefix(piece, key+"=") {
			kept = append(kept, piece)
		}
	}
	return "?" + strings.Join(append(kept, key+"="+value), "&")
}

// asProblem returns the Problem that err is.
func asProblem(err error) scenario.Problem {
	if p, ok := err.(scenario.Problem); ok {
		return p
	}
	return scenario.Problem{Key: "scenario", Value: "", Want: err.Error()}
}
