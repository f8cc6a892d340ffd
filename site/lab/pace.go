package lab

import (
	"time"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/scenario"
)

// A simulation is what running a job needs of core.Sim.
type simulation interface {
	Step(events int) kernel.Status
	Part(*core.Part)
}

// starter is core.Start, or what a test has in its place.
type starter func(scenario.Scenario, core.Job) (simulation, error)

func startCore(s scenario.Scenario, j core.Job) (simulation, error) { return core.Start(s, j) }

// Pace of a job: how long a chunk of events should take, since between chunks
// is when a job can be stopped; and when its parts are sent.
const (
	chunkTime  = 15 * time.Millisecond
	firstPart  = 50 * time.Millisecond
	laterParts = 250 * time.Millisecond
)

// A running is a job that is simulated chunk by chunk.
type running struct {
	simulation
	pace pace
	due  time.Time // of its next part
}

func startRunning(m simulation) *running {
	return &running{simulation: m, due: time.Now().Add(firstPart)}
}

// chunk simulates a chunk, and tells whether a part should be sent now: it is
// due, or the job has ended.
func (r *running) chunk() (status kernel.Status, due bool) {
	before := time.Now()
	status = r.Step(r.pace.events())
	now := time.Now()
	r.pace.took(now.Sub(before))
	return status, status != kernel.Running || !now.Before(r.due)
}

// sent notes that a part has just been sent.
func (r *running) sent() { r.due = time.Now().Add(laterParts) }

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
