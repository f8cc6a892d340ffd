package lab

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"schedlab/core"
	"schedlab/core/kernel"
	"schedlab/core/scenario"
)

// fake is a job that takes perEvent of time for each of its events.
type fake struct {
	job      core.Job
	perEvent time.Duration
	events   int // in all
	done     int
	end      kernel.Status // what the last Step returns
	largest  *time.Duration
}

func (f *fake) Step(n int) kernel.Status {
	n = min(n, f.events-f.done)
	f.done += n
	d := time.Duration(n) * f.perEvent
	time.Sleep(d)
	if f.largest != nil {
		*f.largest = max(*f.largest, d)
	}
	if f.done < f.events {
		return kernel.Running
	}
	return f.end
}

func (f *fake) Part(p *core.Part) {
	p.Job, p.Events = f.job, uint64(f.done)
	p.Done = f.done == f.events && f.end == kernel.Done
	p.Counters = append(p.Counters[:0], int64(f.done))
	if f.done == f.events && f.end == kernel.Broken {
		p.Fault = "task 1 is nowhere"
	}
}

// pairs returns the jobs of two arms.
func pairs(runs int) []core.Job {
	s := scenario.Scenario{Arms: make([][]string, 2), Runs: runs}
	return core.Jobs(s)
}

// collect runs jobs of s and returns what p sent.
func collect(ctx context.Context, p Pool, s scenario.Scenario, jobs []core.Job) (parts []core.Part, err error) {
	out := make(chan core.Part)
	go func() {
		err = p.Run(ctx, s, jobs, out)
		close(out)
	}()
	for part := range out {
		parts = append(parts, part)
	}
	return parts, err
}

func TestPoolPartsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const length = 2 * time.Second
		var largest time.Duration
		p := Pool{Workers: 1, start: func(_ scenario.Scenario, j core.Job) (simulation, error) {
			return &fake{job: j, perEvent: 100 * time.Nanosecond, events: int(length / 100), end: kernel.Done, largest: &largest}, nil
		}}
		began := time.Now()
		var at []time.Duration
		var parts []core.Part
		out := make(chan core.Part)
		go func() {
			if err := p.Run(t.Context(), scenario.Scenario{}, []core.Job{{Arm: 1, Run: 3}}, out); err != nil {
				t.Error(err)
			}
			close(out)
		}()
		for part := range out {
			at = append(at, time.Since(began))
			parts = append(parts, part)
		}
		// 50 ms, then every 250 ms until 2 s, and the end.
		if len(parts) < 8 || len(parts) > 9 {
			t.Fatalf("%d parts, at %v", len(parts), at)
		}
		if at[0] < firstPart || at[0] > firstPart+2*chunkTime {
			t.Errorf("the first part came after %v", at[0])
		}
		for i := 1; i < len(at)-1; i++ {
			if d := at[i] - at[i-1]; d < laterParts || d > laterParts+2*chunkTime {
				t.Errorf("part %d came %v after the one before", i, d)
			}
		}
		for i, part := range parts {
			last := i == len(parts)-1
			if part.Arm != 1 || part.Run != 3 || part.Done != last || last && part.Events != uint64(length/100) {
				t.Errorf("part %d of %d: %+v", i, len(parts), part)
			}
			if part.Counters[0] != int64(part.Events) {
				t.Errorf("part %d was written to after it was sent: %+v", i, part)
			}
			if i > 0 && part.Events <= parts[i-1].Events {
				t.Errorf("part %d has %d events after %d", i, part.Events, parts[i-1].Events)
			}
		}
		if largest > 2*chunkTime {
			t.Errorf("a chunk took %v", largest)
		}
	})
}

func TestPoolAdapts(t *testing.T) {
	for _, perEvent := range []time.Duration{0, 20, 200, 2000, 10000} { // ns
		var p pace
		for range 40 {
			p.took(time.Duration(p.events()) * perEvent)
		}
		d := time.Duration(p.events()) * perEvent
		if p.n < minChunk || p.n > maxChunk || p.n < maxChunk && (d < chunkTime*9/10 || d > chunkTime*11/10) {
			t.Errorf("%v an event: chunks of %d events, %v", perEvent, p.n, d)
		}
		before := p.events()
		p.took(time.Hour)
		if p.events() < before/2 {
			t.Errorf("one long chunk made %d events of %d", p.events(), before)
		}
	}
}

func TestPoolOrderAndWorkers(t *testing.T) {
	for _, workers := range []int{1, 2, 3, 100} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var order []core.Job
			var busy, most atomic.Int32
			p := Pool{Workers: workers, start: func(_ scenario.Scenario, j core.Job) (simulation, error) {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, j)
				most.Store(max(most.Load(), busy.Add(1)))
				return &counted{fake{job: j, perEvent: time.Microsecond, events: 10000, end: kernel.Done}, &busy}, nil
			}}
			jobs := pairs(10)
			parts, err := collect(t.Context(), p, scenario.Scenario{}, jobs)
			if err != nil {
				t.Fatal(err)
			}
			if workers == 1 && !reflect.DeepEqual(order, jobs) {
				t.Errorf("taken up in order %v", order)
			}
			for i, job := range order { // of those at once, any may be first
				if at := 2*job.Run + job.Arm; at-i >= workers || i-at >= workers {
					t.Errorf("%d workers: job %d was taken up as number %d", workers, at, i)
				}
			}
			if got := int(most.Load()); got != min(workers, len(jobs)) {
				t.Errorf("%d workers: %d jobs at once", workers, got)
			}
			done := map[core.Job]bool{}
			for _, part := range parts {
				if part.Done {
					if done[part.Job] {
						t.Errorf("%v ended twice", part.Job)
					}
					done[part.Job] = true
				}
			}
			if len(done) != len(jobs) {
				t.Errorf("%d of %d jobs ended", len(done), len(jobs))
			}
		})
	}
}

// counted is a fake that says when it has ended.
type counted struct {
	fake
	busy *atomic.Int32
}

func (c *counted) Step(n int) kernel.Status {
	status := c.fake.Step(n)
	if status != kernel.Running {
		c.busy.Add(-1)
	}
	return status
}

func TestPoolCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Pool{Workers: 4, start: func(_ scenario.Scenario, j core.Job) (simulation, error) {
			return &fake{job: j, perEvent: time.Microsecond, events: 1 << 40}, nil
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := collect(ctx, p, scenario.Scenario{}, pairs(10))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if d := time.Since(began); d > time.Second+2*chunkTime {
			t.Errorf("stopped %v after the start", d)
		}

		// Nobody listens any more: it ends all the same.
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Run(ctx, scenario.Scenario{}, pairs(10), make(chan core.Part)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}

		// Cancelled before it began: nothing is simulated.
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		p.start = func(scenario.Scenario, core.Job) (simulation, error) {
			t.Error("a job was started")
			return nil, errors.New("unreachable")
		}
		if err := p.Run(ctx, scenario.Scenario{}, pairs(1), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

// TestPoolFault: a broken job is heard of, and the others go on.
func TestPoolFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Pool{Workers: 2, start: func(_ scenario.Scenario, j core.Job) (simulation, error) {
			f := &fake{job: j, events: 10, end: kernel.Done}
			if j.Arm == 1 {
				f.end = kernel.Broken
			}
			return f, nil
		}}
		parts, err := collect(t.Context(), p, scenario.Scenario{}, pairs(3))
		if err != nil || len(parts) != 6 {
			t.Fatalf("%v, %v", parts, err)
		}
		for _, part := range parts {
			if broken := part.Arm == 1; (part.Fault != "") != broken || part.Done == broken {
				t.Errorf("%+v", part)
			}
		}
	})
}

// TestPoolError: a job that can't be started, or a bug, ends the run.
func TestPoolError(t *testing.T) {
	refused := errors.New("no such machine")
	for name, c := range map[string]struct {
		fail func() (simulation, error)
		want string
	}{
		"error": {func() (simulation, error) { return nil, refused }, "no such machine"},
		"panic": {func() (simulation, error) { panic("index out of range") }, "run 3 of arm 2: the simulator itself failed: index out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := Pool{Workers: 2, start: func(_ scenario.Scenario, j core.Job) (simulation, error) {
					if j == (core.Job{Arm: 1, Run: 2}) {
						return c.fail()
					}
					return &fake{job: j, perEvent: time.Microsecond, events: 1000, end: kernel.Done}, nil
				}}
				parts, err := collect(t.Context(), p, scenario.Scenario{}, pairs(1000))
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q", err, c.want)
				}
				if len(parts) > 10 {
					t.Errorf("%d parts", len(parts))
				}
			})
		})
	}
}

func TestPoolNoJobs(t *testing.T) {
	if err := (Pool{}).Run(t.Context(), scenario.Scenario{}, nil, nil); err != nil {
		t.Error(err)
	}
}
