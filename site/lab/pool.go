package lab

import (
	"context"
	"runtime"
	"sync"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/scenario"
)

// Pool is the Runner that uses goroutines.
type Pool struct {
	Workers int // jobs at a time; 0 stands for GOMAXPROCS

	start starter // for tests; nil stands for core.Start
}

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
			err = errSimulator(job, fault)
		}
	}()
	if ctx.Err() != nil {
		return nil
	}
	start := p.start
	if start == nil {
		start = startCore
	}
	m, err := start(s, job)
	if err != nil {
		return err
	}
	r := startRunning(m)
	for ctx.Err() == nil {
		status, due := r.chunk()
		if !due {
			continue
		}
		var part core.Part // a new one each time, since the receiver keeps it
		r.Part(&part)
		select {
		case out <- part:
		case <-ctx.Done():
			return nil
		}
		if status != kernel.Running {
			return nil
		}
		r.sent()
	}
	return nil
}
