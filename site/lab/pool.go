package lab

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/scenario"
)

// Pool is the Runner that uses goroutines.
type Pool struct {
	Workers int // jobs at a time; 0 stands for GOMAXPROCS

	start func(scenario.Scenario, core.Job) (sim, error) // for tests; nil stands for core.Start
}

// sim is what a Pool needs of core.Sim.
type sim interface {
	Step(events int) kernel.Status
	Part(*core.Part)
}

// Pace of a job: how long a chunk of events should take, since between chunks
// is when a job can be stopped; and when its parts are sent.
const (
	chunkTime  = 15 * time.Millisecond
	firstPart  = 50 * time.Millisecond
	laterParts = 250 * time.Millisecond
)

// Run implements Runner.
func (p Pool) Run(ctx context.Context, s scenario.Scenario, jobs []core.Job, out chan<- core.Part) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers := p.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	queue := make(chan core.Job)
	var group sync.WaitGroup
	for range min(workers, len(jobs)) {
		group.Go(func() {
			for job := range queue {
				if err := p.job(ctx, s, job, out); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, job := range jobs {
		select {
		case queue <- job:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
	}
	close(queue)
	group.Wait()
	return context.Cause(ctx)
}

// job simulates one job.
func (p Pool) job(ctx context.Context, s scenario.Scenario, job core.Job, out chan<- core.Part) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("run %d of arm %d: the simulator itself failed: %v", job.Run+1, job.Arm+1, fault)
		}
	}()
	if ctx.Err() != nil {
		return nil
	}
	start := p.start
	if start == nil {
		start = func(s scenario.Scenario, j core.Job) (sim, error) { return core.Start(s, j) }
	}
	m, err := start(s, job)
	if err != nil {
		return err
	}
	due := time.Now().Add(firstPart)
	var pace pace
	for ctx.Err() == nil {
		before := time.Now()
		status := m.Step(pace.events())
		now := time.Now()
		pace.took(now.Sub(before))
		if status == kernel.Running && now.Before(due) {
			continue
		}
		var part core.Part // a new one each time, since the receiver keeps it
		m.Part(&part)
		select {
		case out <- part:
		case <-ctx.Done():
			return nil
		}
		if status != kernel.Running {
			return nil
		}
		due = time.Now().Add(laterParts)
	}
	return nil
}

// A pace finds how many events make a chunk of about chunkTime. The zero value
// starts small.
type pace struct{ n int }

const (
	minChunk = 1 << 10 // events
	maxChunk = 1 << 22
)

func (p *pace) events() int { return max(p.n, minChunk) }

// took notes how long the last chunk took. The size at most doubles or halves
// each time, so that one hiccup does not upset it.
func (p *pace) took(d time.Duration) {
	n := p.events()
	fit := maxChunk
	if d > 0 {
		fit = int(min(float64(n)*float64(chunkTime)/float64(d), maxChunk))
	}
	p.n = min(max(fit, n/2, minChunk), n*2, maxChunk)
}
