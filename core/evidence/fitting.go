package evidence

import (
	"fmt"
	"slices"
	"strconv"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/scenario"
	"schedlab/core/sim"
	"schedlab/core/stats"
	"schedlab/core/workload"
)

// How constants were fitted to published figures, so that anybody can do it again: one factor on some constants of a
// machine, or one parameter of a workload, is halved in on until the mean of the unpatched runs is the published one. Nothing else is
// moved, and the rows used so are calibration. What comes out is entered by hand where the constant stands, with the row as its source.

// A Fitting is a set of constants that one factor was fitted to one row for.
type Fitting struct {
	Key   string
	Table string   // key of the row whose mean before the patch it is fitted to
	Keys  []string // what is scaled, as links name it: constants ("c.pipe_write"), or a parameter of the workload
	Up    bool     // the figure grows with them
}

// Fittings lists them. How threads of a core slow each other down, and the step of schbench's multiplication, were fitted too: they are
// the quotient and the quarter of posted figures, and need no search. Those of ipistorm were fitted by hand to figures that a pass or a run gives.
var Fittings = []Fitting{
	{"e5-pipes", "irq-nosync-hackbench-process-pipes-48", []string{"c.pipe_write", "c.pipe_read"}, true},
	{"e5-sockets", "irq-nosync-hackbench-process-sockets-48", []string{"c.unix_write", "c.unix_read"}, true},
	{"robot-pipes", "sm-idle-robot-hackbench-hackbench-pipe-process-%25", []string{"c.pipe_write", "c.pipe_read"}, false},
	{"robot-sockets", "sm-idle-robot-hackbench-hackbench-socket-process-%25", []string{"c.unix_write", "c.unix_read"}, false},
	{"robot-tcp", "sm-idle-robot-netperf-TCP_RR-25%", []string{"c.tcp_send", "c.tcp_receive", "c.udp_send", "c.udp_receive"}, false},
	{"pgbench-thread", "irq-nosync-pgbench-48", []string{"thread_ns"}, false},
	{"pgbench-backend", "irq-nosync-pgbench-12", []string{"backend_ns"}, false},
	{"power9-search", "select-idle-core-power9", []string{"c.idle_mask", "c.idle_miss"}, true},
}

// A Fitted is the outcome of a fitting.
type Fitted struct {
	Fitting   *Fitting
	Published float64
	Now       float64 // what the model gives with the constants as they are
	Factor    float64 // on them, with which it gives Found
	Found     float64
	Values    []FittedValue
	Steps     int
}

// A FittedValue is one of its constants.
type FittedValue struct {
	Key         string
	Was, Fitted string // as links write them
}

// Factors are looked for from a quarter to four, in steps of a thousandth.
const (
	leastFactor = 250
	mostFactor  = 4000
)

// Fit finds the factor. run simulates a scenario to its end.
func (f *Fitting) Fit(run func(scenario.Scenario) (*core.Result, error)) (Fitted, error) {
	i := slices.IndexFunc(Rows(), func(t *Table) bool { return t.Key == f.Table })
	if i < 0 {
		return Fitted{}, fmt.Errorf("there is no row %s", f.Table)
	}
	t := Rows()[i]
	out := Fitted{Fitting: f, Published: t.Arms[0].Printed[0].Value}
	base := t.Trials(true)[0].Scenario
	base.Arms = base.Arms[:1]
	try := func(factor int64) (float64, error) {
		out.Steps++
		r, err := run(f.scaled(base, factor))
		if err != nil {
			return 0, err
		}
		return stats.Summarize(t.simulated(r, nil)).Mean, nil
	}
	var err error
	if out.Now, err = try(1000); err != nil {
		return out, err
	}
	lo, hi := int64(leastFactor), int64(mostFactor)
	for lo+1 < hi {
		mid := (lo + hi) / 2
		v, err := try(mid)
		if err != nil {
			return out, err
		}
		out.Factor, out.Found = float64(mid)/1000, v
		if v == out.Published {
			break
		}
		if (v < out.Published) == f.Up {
			lo = mid
		} else {
			hi = mid
		}
	}
	if best := int64(out.Factor * 1000); best <= leastFactor+1 || best >= mostFactor-1 {
		return out, fmt.Errorf("%s: no factor from %.2f to %d gives %.4g: at the end it is %.4g", f.Key, leastFactor/1000., mostFactor/1000, out.Published, out.Found)
	}
	was, now := f.scaled(base, 1000), f.scaled(base, int64(out.Factor*1000+0.5))
	for _, key := range f.Keys {
		out.Values = append(out.Values, FittedValue{key, valueOf(was, key), valueOf(now, key)})
	}
	return out, nil
}

// scaled returns s with the fitting's constants at so many thousandths of what they are on its machine.
func (f *Fitting) scaled(s scenario.Scenario, thousandths int64) scenario.Scenario {
	r, _ := s.Resolve()
	s.Costs, s.Params = nil, slices.Clone(s.Params)
	for c := range kernel.Costs {
		key := kernel.Costs[c].Key
		if v := kernel.CostOn(r.Machine, kernel.Cost(c)).Value; slices.Contains(f.Keys, "c."+key) {
			s.Costs = append(s.Costs, scenario.Cost{Key: key, Value: min(v*sim.Time(thousandths)/1000, kernel.MaxCost)})
		}
	}
	w, _ := workload.Lookup(s.Workload)
	for i := range w.Params {
		if p := &w.Params[i]; slices.Contains(f.Keys, p.Key) {
			s.Params[i].N = min(max(s.Params[i].N*thousandths/1000, p.Min), p.Max)
		}
	}
	return s
}

// valueOf returns the value that a link of s has for a key.
func valueOf(s scenario.Scenario, key string) string {
	for _, c := range s.Costs {
		if "c."+c.Key == key {
			return c.Value.Nanoseconds()
		}
	}
	if w, err := workload.Lookup(s.Workload); err == nil {
		if i := w.Param(key); i >= 0 {
			return strconv.FormatInt(s.Params[i].N, 10)
		}
	}
	return ""
}
