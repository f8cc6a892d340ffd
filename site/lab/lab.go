// Package lab runs scenarios: natively in goroutines, and in a browser in
// workers. It also holds what a page knows, the question and its answer, as
// data and words. It knows no DOM and no terminal.
package lab

import (
	"context"

	"schedlab/core"
	"schedlab/core/scenario"
)

// A Runner simulates jobs.
type Runner interface {
	// Run simulates jobs of s, taking them up in order, and sends on out what
	// is known of each: soon, then now and then, and at its end. The parts
	// are the receiver's to keep. A job that breaks the model's invariants
	// ends with a part that has a Fault; the others go on.
	//
	// Run returns nil when all jobs have ended, ctx's error soon after ctx is
	// done, or why a job can't be simulated. It sends nothing after that, and
	// leaves out open.
	Run(ctx context.Context, s scenario.Scenario, jobs []core.Job, out chan<- core.Part) error
}
