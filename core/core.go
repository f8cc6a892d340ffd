// Package core is the one door to the scheduler core: it turns a scenario into
// jobs, runs a job in steps, and puts results together that arrive in any
// order. It does no I/O, reads no clock and starts no goroutine, and gives the
// same bits on every platform.
package core

import (
	"fmt"

	"schedlab/core/kernel"
	"schedlab/core/scenario"
	"schedlab/core/sim"
	"schedlab/core/stats"
	"schedlab/core/workload"
)

// Model is the version of the model, as in every link and every result.
const Model = kernel.Model

// A Job is one run of one arm: what a worker simulates on its own.
type Job struct{ Arm, Run int }

// Jobs returns the jobs of s pair by pair: run 0 of every arm, then run 1 …
func Jobs(s scenario.Scenario) []Job {
	var jobs []Job
	for run := range s.Runs {
		for arm := range s.Arms {
			jobs = append(jobs, Job{arm, run})
		}
	}
	return jobs
}

// A Part is what is known of one job. It is cumulative: a later Part of the
// same job replaces an earlier one, so that a lost one does no harm.
type Part struct {
	Job
	Done     bool
	Events   uint64       // simulated so far
	Primary  int64        // the run's primary figure, in thousandths of Metric.Unit; 0 until Done
	Elapsed  int64        // simulated time in the measured window, ps
	Hists    []stats.Hist // per-event samples, ps; [0] is the workload's own
	Counters []int64      // indexed by kernel.Counter
	Time     []int64      // ps by kernel.TimeKind: over all CPUs, sums to CPUs × Elapsed
	Fault    string       // why the job ended without being done: an invariant broke, or a limit was reached
	Limit    bool         // it was a limit: of events, or of simulated time
}

// A Result puts the parts of a scenario together.
type Result struct {
	Scenario scenario.Scenario
	Parts    [][]Part // by arm, then run; a job not heard of has no events
}

// Budget bounds the events of one job, so that no link runs for ever.
const Budget = 4_000_000_000

// A Sim is a running job.
type Sim struct {
	job    Job
	k      *kernel.Kernel
	metric workload.Metric
	snap   kernel.Snapshot
	status kernel.Status
}

// Start prepares a job of s. It fails if s is not valid or has no such job.
func Start(s scenario.Scenario, j Job) (*Sim, error) {
	r, err := s.Resolve()
	if err != nil {
		return nil, err
	}
	if j.Arm < 0 || j.Arm >= len(s.Arms) || j.Run < 0 || j.Run >= s.Runs {
		return nil, fmt.Errorf("no run %d of arm %d: the scenario has %d arms of %d runs", j.Run, j.Arm, len(s.Arms), s.Runs)
	}
	cfg := kernel.Config{
		Machine: r.Machine, Base: r.Kernels[j.Arm], Costs: r.Costs,
		Seed: s.Seed, Run: uint32(j.Run), Check: s.Check, Budget: Budget,
		// Results are summed over CPUs and runs.
		Horizon: sim.Never / sim.Time(len(r.Machine.CPUs)*s.Runs),
	}
	if r.Scheduler != nil {
		cfg.Ext = r.Scheduler.Load
	}
	k, err := kernel.New(cfg)
	if err != nil {
		return nil, err
	}
	if err := r.Workload.Build(k, s.Params); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Workload.Key, err)
	}
	for _, t := range r.Background.Tasks(r.Machine) {
		if err := k.Spawn(t); err != nil {
			return nil, fmt.Errorf("background %s: %w", r.Background.Key, err)
		}
	}
	return &Sim{job: j, k: k, metric: s.Figure()}, nil
}

// Step simulates up to n more events.
func (m *Sim) Step(n int) kernel.Status {
	m.status = m.k.Step(n)
	return m.status
}

// Part fills p with what is known so far, reusing its slices.
func (m *Sim) Part(p *Part) {
	m.snap.Hists, m.snap.Counters, m.snap.Time = p.Hists, p.Counters, p.Time
	m.k.Read(&m.snap)
	*p = Part{
		Job: m.job, Done: m.status == kernel.Done, Events: m.snap.Events, Elapsed: int64(m.snap.Elapsed),
		Hists: m.snap.Hists, Counters: m.snap.Counters, Time: m.snap.Time, Fault: m.snap.Fault, Limit: m.status == kernel.Exceeded,
	}
	if p.Done {
		p.Primary = m.metric.Of(&m.snap)
	}
	m.snap.Hists, m.snap.Counters, m.snap.Time = nil, nil, nil
}

// NewResult returns a result for s of which nothing is known yet.
func NewResult(s scenario.Scenario) *Result {
	r := &Result{Scenario: s, Parts: make([][]Part, len(s.Arms))}
	for arm := range r.Parts {
		r.Parts[arm] = make([]Part, s.Runs)
		for run := range r.Parts[arm] {
			r.Parts[arm][run].Job = Job{arm, run}
		}
	}
	return r
}

// Put takes in a part. Parts may come in any order: of one job the one that has
// got furthest is kept. A part of a job that the scenario does not have is
// dropped. The result keeps p's slices.
func (r *Result) Put(p *Part) {
	if p.Arm < 0 || p.Arm >= len(r.Parts) || p.Run < 0 || p.Run >= len(r.Parts[p.Arm]) {
		return
	}
	if held := &r.Parts[p.Arm][p.Run]; !held.Done && p.Events >= held.Events {
		*held = *p
	}
}

// Digest is a hash (FNV-1a) over all integers of the result: the same on every
// platform and in whatever order the parts came.
func (r *Result) Digest() uint64 {
	h := uint64(14695981039346656037)
	add := func(v int64) {
		for range 8 {
			h = (h ^ uint64(v&0xff)) * 1099511628211
			v >>= 8
		}
	}
	for arm := range r.Parts {
		for run := range r.Parts[arm] {
			p := &r.Parts[arm][run]
			for _, v := range []int64{int64(arm), int64(run), int64(p.Events), p.Primary, p.Elapsed} {
				add(v)
			}
			for i := range p.Hists {
				x := &p.Hists[i]
				for _, v := range []int64{int64(x.N), x.Min, x.Max, x.Sum} {
					add(v)
				}
				for bin, n := range x.Bins {
					if n != 0 {
						add(int64(bin))
						add(int64(n))
					}
				}
			}
			for _, v := range p.Counters {
				add(v)
			}
			for _, v := range p.Time {
				add(v)
			}
		}
	}
	return h
}

// chunk is how many events pass between looks at whether to stop.
const chunk = 1 << 16

// Run runs all jobs of s one after another. each, if not nil, sees every part as
// it grows and stops the run by returning false.
func Run(s scenario.Scenario, each func(*Part) bool) (*Result, error) {
	r := NewResult(s)
	for _, j := range Jobs(s) {
		m, err := Start(s, j)
		if err != nil {
			return nil, err
		}
		for {
			status := m.Step(chunk)
			if status == kernel.Running && each == nil {
				continue
			}
			var p Part
			m.Part(&p)
			r.Put(&p)
			if each != nil && !each(&p) {
				return r, nil
			}
			if status != kernel.Running {
				break
			}
		}
	}
	return r, nil
}
