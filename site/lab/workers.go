package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"schedlab/core"
	"schedlab/core/scenario"
)

// Workers is the Runner that a page uses: its jobs are simulated by Web Workers.
// There are as many as the machine has hardware threads, but not more than
// there are jobs. They are kept from one call of Run to the next, since a new
// one takes 100 ms to start. One call of Run is served at a time; a second one
// waits until the first has ended.
//
// A worker that dies is reported to Warn, and its job is given to another one,
// once: then the job is to blame, and Run fails.
type Workers struct {
	Warn func(text string) // hears what went wrong and was mended; may be nil

	most  int // workers at a time
	spawn func(receive func(message)) remote
	turn  chan struct{} // full while Run is at work

	workers []*worker
	gen     int // of the Run at work

	mu    sync.Mutex
	inbox []letter
	bell  chan struct{} // full when the inbox is not empty
}

// A remote is the other end of a worker. Its messages come by the function
// that spawn was given. If it ends by itself, the last of them is "died".
type remote interface {
	Post(message) // does not wait
	Terminate()   // at once; nothing comes any more
}

// A worker is what is known of one.
type worker struct {
	remote
	ready bool      // it has started
	job   *core.Job // in its hands
	quiet int       // beats since it was heard of
}

// A letter is a message and who sent it.
type letter struct {
	from *worker
	message
}

// Silence is counted in beats of the page's own, not by the clock: when a
// machine wakes from sleep the clock has gone on, but nobody has been silent.
const (
	beat           = 500 * time.Millisecond
	cancelPatience = 4  // beats (2 s) that a worker has to answer a cancel
	workPatience   = 40 // beats (20 s) without a word from one that starts or works

	// maxMemory is what a worker may hold and be kept: a WebAssembly memory
	// never shrinks.
	maxMemory = 256 << 20 // bytes
)

func newWorkers(most int, spawn func(receive func(message)) remote) *Workers {
	return &Workers{most: most, spawn: spawn, turn: make(chan struct{}, 1), bell: make(chan struct{}, 1)}
}

// Run implements Runner.
func (w *Workers) Run(ctx context.Context, s scenario.Scenario, jobs []core.Job, out chan<- core.Part) error {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w.gen++
	r := round{
		Workers: w, link: s.Query(), out: out, todo: slices.Clone(jobs), left: len(jobs), most: w.most,
		lost: make(map[core.Job]bool),
	}
	err := r.run(ctx)
	w.stop()
	return err
}

// A round is one call of Run.
type round struct {
	*Workers
	link string
	out  chan<- core.Part
	todo []core.Job        // not in anyone's hands
	left int               // jobs that have not ended
	most int               // workers at a time, as far as they can be started
	lost map[core.Job]bool // jobs whose worker has died once
}

func (r *round) run(ctx context.Context) error {
	clock := time.NewTicker(beat)
	defer clock.Stop()
	for r.left > 0 {
		r.handOut()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-clock.C:
			if err := r.silent(); err != nil {
				return err
			}
		case <-r.bell:
			if err := r.read(ctx, r.open()); err != nil {
				return err
			}
		}
	}
	return nil
}

// handOut starts the workers that are wanted, and gives jobs to those that have none.
func (r *round) handOut() {
	for len(r.workers) < min(r.most, r.left) {
		r.hire()
	}
	for _, worker := range r.workers {
		if len(r.todo) == 0 {
			return
		}
		if worker.ready && worker.job == nil {
			job := r.todo[0]
			r.todo = r.todo[1:]
			worker.job, worker.quiet = &job, 0
			worker.Post(message{Kind: "run", Gen: r.gen, Link: r.link, Arm: job.Arm, Run: job.Run})
		}
	}
}

// read takes in a message.
func (r *round) read(ctx context.Context, l letter) error {
	from := l.from
	if !slices.Contains(r.workers, from) {
		return nil
	}
	from.quiet = 0
	switch {
	case l.Kind == "ready" && l.Model != core.Model:
		return fmt.Errorf("a worker has model %d, and the page has model %d: reload the page", l.Model, core.Model)
	case l.Kind == "ready":
		from.ready = true
	case l.Kind == "died":
		return r.lose(from, l.Text)
	case l.Gen != r.gen || from.job == nil:
	case l.Kind == "fail":
		from.job = nil
		return errors.New(l.Text)
	case l.Kind == "part" || l.Kind == "done":
		var part core.Part
		if err := part.UnmarshalBinary(l.Part); err != nil {
			return r.lose(from, err.Error())
		}
		if part.Job != *from.job {
			return r.lose(from, "it sent a part of another job")
		}
		if l.Kind == "done" {
			from.job = nil
			r.left--
			if l.Memory > maxMemory {
				r.dismiss(from)
			}
			r.handOut() // before the receiver has taken the part
		}
		select {
		case r.out <- part:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// silent counts a beat, and gives up workers that have not been heard of for long.
func (r *round) silent() error {
	for _, worker := range slices.Clone(r.workers) {
		if worker.ready && worker.job == nil {
			continue
		}
		if worker.quiet++; worker.quiet > workPatience {
			if err := r.lose(worker, fmt.Sprintf("nothing was heard of it for %v", workPatience*beat)); err != nil {
				return err
			}
		}
	}
	return nil
}

// lose gives up a worker. Its job goes to another one, unless that is the
// second to die of it.
func (r *round) lose(worker *worker, why string) error {
	r.dismiss(worker)
	job := worker.job
	switch {
	case job != nil && r.lost[*job]:
		return fmt.Errorf("run %d of arm %d: two workers died of it, the second one like this: %s", job.Run+1, job.Arm+1, why)
	case job != nil:
		r.lost[*job] = true
		r.todo = slices.Insert(r.todo, 0, *job)
		r.warn(fmt.Sprintf("A worker died and its run is repeated: %s", why))
	case !worker.ready && len(r.workers) == 0:
		return fmt.Errorf("no worker can be started: %s", why)
	case !worker.ready:
		r.most = len(r.workers) // perhaps there is no memory for more
		r.warn(fmt.Sprintf("A worker could not be started, so there are %d: %s", r.most, why))
	}
	return nil
}

// stop ends the jobs that are in hands, and waits until they have ended.
func (w *Workers) stop() {
	waiting := make(map[*worker]bool)
	for _, worker := range w.workers {
		worker.quiet = 0
		if worker.job != nil {
			waiting[worker] = true
			worker.job = nil
			worker.Post(message{Kind: "cancel", Gen: w.gen})
		}
	}
	clock := time.NewTicker(beat)
	defer clock.Stop()
	for beats := 0; len(waiting) > 0; {
		select {
		case <-clock.C:
			if beats++; beats < cancelPatience {
				continue
			}
			for worker := range waiting {
				w.dismiss(worker)
			}
			w.warn(fmt.Sprintf("%d workers did not stop in %v and were ended.", len(waiting), cancelPatience*beat))
			return
		case <-w.bell:
			switch l := w.open(); {
			case l.Kind == "died":
				w.dismiss(l.from)
				delete(waiting, l.from)
			case l.Kind == "ready" && l.Gen == w.gen:
				delete(waiting, l.from)
			case l.Kind == "ready":
				l.from.ready = true
			}
		}
	}
}

// hire starts a worker.
func (w *Workers) hire() {
	worker := new(worker)
	w.workers = append(w.workers, worker)
	worker.remote = w.spawn(func(m message) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.inbox = append(w.inbox, letter{worker, m})
		w.ring()
	})
}

// open takes the oldest letter out of the inbox, which is not empty.
func (w *Workers) open() letter {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.inbox[0]
	w.inbox = slices.Delete(w.inbox, 0, 1)
	if len(w.inbox) > 0 {
		w.ring()
	}
	return l
}

func (w *Workers) ring() {
	select {
	case w.bell <- struct{}{}:
	default:
	}
}

// dismiss ends a worker.
func (w *Workers) dismiss(worker *worker) {
	if i := slices.Index(w.workers, worker); i >= 0 {
		w.workers = slices.Delete(w.workers, i, i+1)
		worker.Terminate()
	}
}

func (w *Workers) warn(text string) {
	if w.Warn != nil {
		w.Warn(text)
	}
}
