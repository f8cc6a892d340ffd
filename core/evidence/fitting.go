package evidence

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"schedlab/core"
	"schedlab/core/fitted"
	"schedlab/core/kernel"
	"schedlab/core/scenario"
	"schedlab/core/sim"
	"schedlab/core/workload"
)

// How constants were fitted to published figures, so that anybody can do it again: one factor on some costs of a
// machine, or on a parameter of a workload, is halved in on until the model's figure is the published one. Nothing else
// is moved, and the figures used so are calibration. All constants begin with values that stand here, and fittings go in
// order, each with what those before it have found, so that what comes out, package fitted's file, depends on the model
// alone. How threads share a core is no scenario's to say: that is a quotient of two posted figures. The visits of run
// queues and groups by ipistorm's walks are not among them: those were reckoned by hand from a run and from a ratio, and
// say so where they stand.

// A Fitting is a set of constants that one factor was fitted to one figure for.
type Fitting struct {
	Key   string
	Table string // key of the row, in the first of its states
	Arm   int    // of which
	Of    string // the machine or the workload that the constants are of
	From  []fitted.Constant
	Up    bool // the figure grows with them

	Figure FigureName                      // Mean if it is empty
	Reckon func(published float64) float64 // instead of a search, for one constant
}

func ns(key string, value int64) fitted.Constant {
	return fitted.Constant{Key: key, Value: value, Unit: "ns"}
}

// Fittings lists them, those first that others build on.
var Fittings = []Fitting{
	{Key: "xeon-240-tail", Table: "sm-idle-xeon-240", Arm: 1, Of: "xeon-240", From: []fitted.Constant{ns("schedule_tail", 200)}, Up: true},
	{Key: "e5-pipes", Table: "irq-nosync-hackbench-process-pipes-48", Of: "xeon-e5-2699v3", From: []fitted.Constant{ns("pipe_write", 929), ns("pipe_read", 813)}, Up: true},
	{Key: "e5-sockets", Table: "irq-nosync-hackbench-process-sockets-48", Of: "xeon-e5-2699v3", From: []fitted.Constant{ns("unix_write", 3590), ns("unix_read", 2690)}, Up: true},
	{Key: "robot-threads", Table: robotSchbench + "100%-mthread-1-workers", Of: "xeon-128-4n", From: []fitted.Constant{{Key: "sharing", Value: 204, Unit: "%"}},
		Reckon: func(full float64) float64 {
			return 100 * full / Matching(robotSchbench + "1-mthread-1-worker")[0].Arms[0].Printed[0].Value
		}},
	{Key: "robot-step", Table: robotSchbench + "1-mthread-1-worker", Of: "schbench", From: []fitted.Constant{{Key: "step", Value: 2035, Unit: "1/1000 cycle"}}, Up: true},
	{Key: "robot-pipes", Table: "sm-idle-robot-hackbench-hackbench-pipe-process-%25", Of: "xeon-128-4n", From: []fitted.Constant{ns("pipe_write", 90), ns("pipe_read", 79)}},
	{Key: "robot-sockets", Table: "sm-idle-robot-hackbench-hackbench-socket-process-%25", Of: "xeon-128-4n", From: []fitted.Constant{ns("unix_write", 662), ns("unix_read", 496)}},
	{Key: "robot-tcp", Table: "sm-idle-robot-netperf-TCP_RR-25%", Of: "xeon-128-4n",
		From: []fitted.Constant{ns("tcp_send", 2613), ns("tcp_receive", 871), ns("udp_send", 1888), ns("udp_receive", 581)}},
	{Key: "pgbench-thread", Table: "irq-nosync-pgbench-48", Of: "pgbench", From: []fitted.Constant{ns("thread_ns", 19_700)}},
	{Key: "pgbench-backend", Table: "irq-nosync-pgbench-12", Of: "pgbench", From: []fitted.Constant{ns("backend_ns", 103_000)}},
	{Key: "power9-floor", Table: "select-idle-core-power9", Of: "power9-smt8", From: []fitted.Constant{ns("idle_mask", 225)}, Up: true, Figure: Min},
	{Key: "power9-miss", Table: "select-idle-core-power9", Of: "power9-smt8", From: []fitted.Constant{{Key: "idle_miss", Value: 28_000, Unit: "ps"}}, Up: true},
}

const robotSchbench = "sm-idle-robot-schbench-request_latency_90%_us-"

// published returns the figure, per event if it is the table's.
func (f *Fitting) published(t *Table) float64 {
	v := t.Arms[f.Arm].printed(cmp.Or(f.Figure, Mean), true).V
	if t.PerRun > 0 {
		v /= float64(t.PerRun)
	}
	return v
}

// What says which figure it is fitted to.
func (f *Fitting) What() string {
	return strings.Join([]string{f.Table, core.ArmName(Matching(f.Table)[0].Arms[f.Arm].Patches), string(cmp.Or(f.Figure, Mean))}, "/")
}

// Constants returns the constants as they are.
func (f *Fitting) Constants() []fitted.Constant {
	return slices.DeleteFunc(slices.Clone(fitted.Constants()), func(c fitted.Constant) bool { return c.Fitting != f.Key })
}

// A Fitted is the outcome of a fitting.
type Fitted struct {
	Fitting   *Fitting
	Published float64
	Now       float64 // what the model gives with the constants as they are; 0: that was not asked
	Factor    float64 // on what the fitting begins with, with which it gives Found
	Found     float64
	Constants []fitted.Constant
	Steps     int
}

// Factors are looked for from a quarter to four, in steps of a thousandth.
const (
	leastFactor = 250
	mostFactor  = 4000
)

// Beginnings are what the constants of all fittings begin with.
func Beginnings() (list []fitted.Constant) {
	for i := range Fittings {
		list = append(list, Fittings[i].scaled(1)...)
	}
	return list
}

// scaled returns the constants that the fitting begins with, times a factor.
func (f *Fitting) scaled(factor float64) (list []fitted.Constant) {
	for _, c := range f.From {
		c.Of, c.Fitting, c.Value = f.Of, f.Key, int64(math.Round(float64(c.Value)*factor))
		list = append(list, c)
	}
	return list
}

// Fit finds the factor, with all other constants as they are given, of which the last of a name counts. run simulates a scenario to its end.
func (f *Fitting) Fit(others []fitted.Constant, run func(scenario.Scenario) (*core.Result, error)) (Fitted, error) {
	i := slices.IndexFunc(Matching(f.Table), func(t *Table) bool { return t.Key == f.Table })
	if i < 0 {
		return Fitted{}, fmt.Errorf("there is no row %s", f.Table)
	}
	t := Matching(f.Table)[i]
	out := Fitted{Fitting: f, Factor: 1, Published: f.published(t)}
	if f.Reckon != nil {
		out.Factor = f.Reckon(out.Published) / float64(f.From[0].Value)
		out.Constants = f.scaled(out.Factor)
		return out, nil
	}
	base := t.Trials(true)[0].Scenario
	base.Arms = base.Arms[f.Arm : f.Arm+1]
	try := func(constants []fitted.Constant) (float64, error) {
		out.Steps++
		s, err := with(base, constants)
		if err != nil {
			return 0, err
		}
		r, err := run(s)
		if err != nil {
			return 0, err
		}
		return figureOf(cmp.Or(f.Figure, Mean), t.simulated(r, base.Arms[0])), nil
	}
	var err error
	if out.Now, err = try(fitted.Constants()); err != nil {
		return out, err
	}
	// A figure of few runs goes up and down by chance: the nearest that was seen counts.
	nearest := math.Inf(1)
	lo, hi := int64(leastFactor), int64(mostFactor)
	for lo+1 < hi && nearest > 0 {
		mid := (lo + hi) / 2
		found, err := try(slices.Concat(others, f.scaled(float64(mid)/1000)))
		if err != nil {
			return out, err
		}
		if off := math.Abs(found - out.Published); off < nearest {
			nearest, out.Factor, out.Found = off, float64(mid)/1000, found
		}
		if (found < out.Published) == f.Up {
			lo = mid
		} else {
			hi = mid
		}
	}
	if lo == mostFactor-1 || hi == leastFactor+1 {
		return out, fmt.Errorf("%s: no factor from %.2f to %d gives %.4g: at the end it is %.4g", f.Key, leastFactor/1000., mostFactor/1000, out.Published, out.Found)
	}
	out.Constants = f.scaled(out.Factor)
	return out, nil
}

// with returns s with the constants that are of its machine or its workload; of one that is listed twice the last one counts.
func with(s scenario.Scenario, constants []fitted.Constant) (scenario.Scenario, error) {
	s.Costs, s.Params = nil, slices.Clone(s.Params)
	w, err := workload.Lookup(s.Workload)
	if err != nil {
		return s, err
	}
	values := map[string]sim.Time{}
	for _, c := range constants {
		_, isCost := kernel.LookupCost(c.Key)
		i := w.Param(c.Key)
		switch {
		case c.Of == w.Key && i >= 0:
			s.Params[i].N = min(max(c.Value, w.Params[i].Min), w.Params[i].Max)
		case c.Of == s.Machine && isCost:
			values[c.Key] = min(sim.Time(c.Value)*c.Scale(), kernel.MaxCost)
		case (c.Of == w.Key || c.Of == s.Machine) && c.Value != fitted.Value(c.Of, c.Key):
			return s, fmt.Errorf("%s of %s is no scenario's to say: %d has to go into the file first, and the command to be built with it", c.Key, c.Of, c.Value)
		}
	}
	for i := range kernel.Costs {
		if v, ok := values[kernel.Costs[i].Key]; ok {
			s.Costs = append(s.Costs, scenario.Cost{Key: kernel.Costs[i].Key, Value: v})
		}
	}
	return s, nil
}
