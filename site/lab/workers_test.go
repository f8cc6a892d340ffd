package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// A shop makes workers of goroutines that have a real engine.
type shop struct {
	start starter // of the engines
	// mangle, if not nil, may change a worker's message, or have it not arrive.
	// "died" is a worker's last.
	mangle func(worker int, m message) (message, bool)
	stuck  func(worker int, m message) bool // a message after which it does nothing any more

	threads sync.WaitGroup
	mu      sync.Mutex
	started int
	alive   int
	most    int
	sent    []message // to workers
}

// A thread is a worker: a goroutine with an inbox.
type thread struct {
	shop  *shop
	mu    sync.Mutex
	inbox []message
	bell  chan struct{}
	end   chan struct{}
	once  sync.Once
}

func (s *shop) spawn(receive func(message)) remote {
	s.mu.Lock()
	id := s.started
	s.started++
	s.alive++
	s.most = max(s.most, s.alive)
	s.mu.Unlock()
	t := &thread{shop: s, bell: make(chan struct{}, 1), end: make(chan struct{})}
	dead := false
	e := &engine{start: s.start, again: func() { t.put(message{Kind: "tick"}) }}
	e.post = func(m message) {
		ok := !dead
		if ok && s.mangle != nil {
			m, ok = s.mangle(id, m)
		}
		dead = dead || ok && m.Kind == "died"
		select {
		case <-t.end: // a terminated worker's messages go nowhere
		default:
			if ok {
				receive(m)
			}
		}
	}
	s.threads.Go(func() {
		time.Sleep(100 * time.Millisecond) // as a real one takes to start
		e.ready(0)
		for {
			select {
			case <-t.end:
				return
			case <-t.bell:
			}
			for m := t.next(); m.Kind != ""; m = t.next() {
				select {
				case <-t.end:
					return
				default:
				}
				if m.Kind == "tick" {
					e.tick()
				} else {
					e.receive(m)
				}
				if s.stuck != nil && s.stuck(id, m) {
					<-t.end
					return
				}
			}
		}
	})
	return t
}

func (t *thread) put(m message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inbox = append(t.inbox, m)
	select {
	case t.bell <- struct{}{}:
	default:
	}
}

func (t *thread) next() (m message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.inbox) > 0 {
		m = t.inbox[0]
		t.inbox = t.inbox[1:]
	}
	return m
}

func (t *thread) Post(m message) {
	t.shop.mu.Lock()
	t.shop.sent = append(t.shop.sent, m)
	t.shop.mu.Unlock()
	t.put(m)
}

func (t *thread) Terminate() {
	t.once.Do(func() {
		close(t.end)
		t.shop.mu.Lock()
		t.shop.alive--
		t.shop.mu.Unlock()
	})
}

// ran returns the jobs that were handed out, in order.
func (s *shop) ran() (jobs []core.Job) {
	for _, m := range s.sent {
		if m.Kind == "run" {
			jobs = append(jobs, core.Job{Arm: m.Arm, Run: m.Run})
		}
	}
	return jobs
}

// close ends all workers of w, as the page's end does.
func (s *shop) close(w *Workers) {
	for len(w.workers) > 0 {
		w.dismiss(w.workers[0])
	}
	s.threads.Wait()
}

// fakes is a starter of fakes that take d each.
func fakes(d time.Duration) starter {
	return func(_ scenario.Scenario, j core.Job) (simulation, error) {
		return &fake{job: j, perEvent: time.Microsecond, events: int(d / time.Microsecond), end: kernel.Done}, nil
	}
}

// gather runs jobs of the default scenario and returns what was sent.
func gather(ctx context.Context, w *Workers, jobs []core.Job) (parts []core.Part, err error) {
	out := make(chan core.Part)
	go func() {
		err = w.Run(ctx, scenario.Default(), jobs, out)
		close(out)
	}()
	for part := range out {
		parts = append(parts, part)
	}
	return parts, err
}

// ended returns how often each job has ended.
func ended(parts []core.Part) map[core.Job]int {
	n := make(map[core.Job]int)
	for _, part := range parts {
		if part.Done {
			n[part.Job]++
		}
	}
	return n
}

func wantAllOnce(t *testing.T, parts []core.Part, jobs []core.Job) {
	t.Helper()
	n := ended(parts)
	for _, job := range jobs {
		if n[job] != 1 {
			t.Errorf("%v ended %d times", job, n[job])
		}
	}
}

func TestWorkersOrder(t *testing.T) {
	for _, most := range []int{1, 3, 100} {
		synctest.Test(t, func(t *testing.T) {
			s := &shop{start: fakes(time.Second)}
			w := newWorkers(most, s.spawn)
			defer s.close(w)
			jobs := pairs(10)
			began := time.Now()
			parts, err := gather(t.Context(), w, jobs)
			if err != nil {
				t.Fatal(err)
			}
			wantAllOnce(t, parts, jobs)
			if s.most != min(most, len(jobs)) || !slices.Equal(s.ran(), jobs) {
				t.Errorf("%d workers: %d at once, order %v", most, s.most, s.ran())
			}
			rounds := time.Duration((len(jobs) + most - 1) / most)
			if d := time.Since(began); d > 100*time.Millisecond+rounds*(time.Second+2*chunkTime) {
				t.Errorf("%d workers took %v", most, d)
			}
			// Parts came after 50 ms, then every 250 ms, then the last one.
			if len(parts) != 5*len(jobs) {
				t.Errorf("%d parts of %d jobs", len(parts), len(jobs))
			}

			// They are kept, and fewer jobs need no more.
			if _, err := gather(t.Context(), w, jobs); err != nil || s.started != s.most {
				t.Errorf("%v, %d workers started for another run of the same", err, s.started)
			}
		})
	}
}

// TestWorkersSameBits: real engines give what one loop gives.
func TestWorkersSameBits(t *testing.T) {
	s := parse(t, "?numipi=2000&runs=3&arm=&arm=sm-idle-v1&arm=sm-idle-v2")
	one, err := core.Run(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	shop := &shop{start: startCore}
	w := newWorkers(3, shop.spawn)
	defer shop.close(w)
	for range 2 {
		r := core.NewResult(s)
		out := make(chan core.Part)
		go func() {
			if err := w.Run(t.Context(), s, core.Jobs(s), out); err != nil {
				t.Error(err)
			}
			close(out)
		}()
		for part := range out {
			r.Put(&part)
		}
		if !r.Complete() || r.Digest() != one.Digest() {
			t.Errorf("digest %x, complete is %v; one run after the other: %x", r.Digest(), r.Complete(), one.Digest())
		}
	}
}

func TestWorkersCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{start: fakes(time.Hour)}
		w := newWorkers(2, s.spawn)
		defer s.close(w)
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			began := time.Now()
			_, err := gather(ctx, w, pairs(5))
			if d := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || d > time.Second+2*chunkTime {
				t.Errorf("%v after %v", err, d)
			}
			// Nobody listens.
			ctx2, cancel2 := context.WithTimeout(t.Context(), time.Second)
			if err := w.Run(ctx2, scenario.Default(), pairs(5), make(chan core.Part)); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			cancel()
			cancel2()
		}
		if s.started != 2 {
			t.Errorf("%d workers were started", s.started)
		}
	})
}

// TestWorkersRestart: a run that takes the place of another gets none of its parts.
func TestWorkersRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{start: func(_ scenario.Scenario, j core.Job) (simulation, error) {
			return fakes(time.Duration(j.Run)*time.Second)(scenario.Scenario{}, j)
		}}
		w := newWorkers(2, s.spawn)
		defer s.close(w)
		old, cancel := context.WithCancel(t.Context())
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			gather(old, w, []core.Job{{Arm: 0, Run: 100}, {Arm: 1, Run: 100}})
		}()
		time.Sleep(3 * time.Second)
		time.AfterFunc(time.Second, cancel) // the new one waits for the old one
		jobs := []core.Job{{Arm: 0, Run: 1}, {Arm: 1, Run: 1}, {Arm: 0, Run: 2}}
		parts, err := gather(t.Context(), w, jobs)
		if err != nil {
			t.Fatal(err)
		}
		<-stopped
		wantAllOnce(t, parts, jobs)
		for _, part := range parts {
			if part.Run == 100 {
				t.Errorf("a part of the old run: %+v", part)
			}
		}
	})
}

// TestWorkersDeath: the jobs of workers that die are repeated, once.
func TestWorkersDeath(t *testing.T) {
	damaged := []byte("damaged")
	for name, c := range map[string]struct {
		mangle func(worker int, m message) (message, bool)
		stuck  func(worker int, m message) bool
		warned string // in each warning
		deaths int
		want   string // in the error
	}{
		"none": {},
		"one dies": {
			mangle: func(id int, m message) (message, bool) {
				if id == 1 && m.Kind == "part" {
					return message{Kind: "died", Text: "out of memory"}, true
				}
				return m, true
			},
			warned: "out of memory", deaths: 1,
		},
		"one sends rubbish": {
			mangle: func(id int, m message) (message, bool) {
				if id == 0 && m.Kind == "done" {
					m.Part = damaged
				}
				return m, true
			},
			warned: "damaged", deaths: 1,
		},
		"one falls silent": {
			stuck:  func(id int, m message) bool { return id == 0 && m.Kind == "tick" },
			warned: "nothing was heard of it for 20s", deaths: 1,
		},
		"one can't start": {
			mangle: func(id int, m message) (message, bool) {
				if id == 0 {
					return message{Kind: "died", Text: "no room"}, true
				}
				return m, true
			},
			warned: "could not be started, so there are 1: no room", deaths: 1,
		},
		"none can start": {
			mangle: func(int, message) (message, bool) { return message{Kind: "died", Text: "no room"}, true },
			warned: "no room", deaths: 1, want: "no worker can be started: no room",
		},
		"all die": {
			mangle: func(id int, m message) (message, bool) {
				if m.Kind == "part" {
					return message{Kind: "died", Text: "out of memory"}, true
				}
				return m, true
			},
			warned: "out of memory", deaths: -1, want: "two workers died of it, the second one like this: out of memory",
		},
		"one job fails": {
			mangle: func(id int, m message) (message, bool) {
				if m.Kind == "done" && id == 1 {
					return message{Kind: "fail", Gen: m.Gen, Text: "no such machine"}, true
				}
				return m, true
			},
			want: "no such machine",
		},
		"another model": {
			mangle: func(id int, m message) (message, bool) { m.Model++; return m, true },
			want:   "reload the page",
		},
		"an old generation's": {
			mangle: func(id int, m message) (message, bool) {
				if m.Kind == "part" {
					m.Gen--
					m.Part = damaged
				}
				return m, true
			},
		},
		"too much memory": {
			mangle: func(id int, m message) (message, bool) {
				if id == 0 && m.Kind == "done" {
					m.Memory = maxMemory + 1
				}
				return m, true
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &shop{start: fakes(time.Second), mangle: c.mangle, stuck: c.stuck}
				w := newWorkers(2, s.spawn)
				defer s.close(w)
				var warnings []string
				w.Warn = func(text string) { warnings = append(warnings, text) }
				jobs := pairs(4)
				parts, err := gather(t.Context(), w, jobs)
				if c.want == "" {
					if err != nil {
						t.Fatal(err)
					}
					wantAllOnce(t, parts, jobs)
				} else if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("error %v", err)
				}
				if c.deaths >= 0 && len(warnings) != c.deaths {
					t.Errorf("warnings %q", warnings)
				}
				for _, text := range warnings {
					if !strings.Contains(text, c.warned) {
						t.Errorf("warning %q", text)
					}
				}
				if len(w.workers) != s.alive {
					t.Errorf("%d workers are known of, and %d there", len(w.workers), s.alive)
				}
			})
		})
	}
}

// TestWorkersDeafToCancel: who does not stop in 2 s is ended.
func TestWorkersDeafToCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var silence atomic.Bool
		s := &shop{start: fakes(time.Hour), stuck: func(id int, m message) bool { return id == 0 && silence.Load() }}
		w := newWorkers(2, s.spawn)
		defer s.close(w)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		time.AfterFunc(2900*time.Millisecond, func() { silence.Store(true) })
		began := time.Now()
		if _, err := gather(ctx, w, pairs(5)); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if d := time.Since(began); d < 5*time.Second || d > 5*time.Second+beat {
			t.Errorf("it took %v", d)
		}
		if s.alive != 1 || len(w.workers) != 1 {
			t.Errorf("%d workers are there", s.alive)
		}
	})
}

func TestWorkersNothingToDo(t *testing.T) {
	w := newWorkers(2, func(func(message)) remote { t.Error("a worker was started"); return nil })
	if err := w.Run(t.Context(), scenario.Default(), nil, nil); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Run(ctx, scenario.Default(), pairs(1), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestEngine: what the page may send, in any order, is answered.
func TestEngine(t *testing.T) {
	var got []string
	ticks := 0
	e := &engine{
		post:  func(m message) { got = append(got, fmt.Sprintf("%s %d %s", m.Kind, m.Gen, m.Text)) },
		again: func() { ticks++ }, start: startCore,
	}
	want := func(messages ...string) {
		t.Helper()
		if len(got) != len(messages) {
			t.Fatalf("posted %q, want %q", got, messages)
		}
		for i, m := range messages {
			if !strings.HasPrefix(got[i], m) {
				t.Errorf("posted %q, want %q", got[i], m)
			}
		}
		got = nil
	}
	e.ready(0)
	want("ready 0")
	e.receive(message{Kind: "?"})
	e.tick()
	e.receive(message{Kind: "cancel", Gen: 7}) // of a job that it does not have
	want("ready 7")
	e.receive(message{Kind: "run", Gen: 1, Link: "?runs=0"})
	want("fail 1 runs=0: want a whole number")
	e.receive(message{Kind: "run", Gen: 2, Link: "?numipi=100&runs=1", Run: 1})
	want("fail 2 no run 1 of arm 0")
	e.receive(message{Kind: "run", Gen: 3, Link: "?numipi=100&runs=1&model=2147483647&bg=quiet"}) // a notice only
	want()
	for e.run != nil {
		e.tick()
	}
	want("done 3")
	e.receive(message{Kind: "run", Gen: 4, Link: "?numipi=1000000&runs=1&bg=quiet"})
	e.tick()
	e.receive(message{Kind: "cancel", Gen: 4})
	e.receive(message{Kind: "run", Gen: 5, Link: "?numipi=1000000&runs=1&bg=quiet"})
	want("ready 4")
	before := ticks
	e.tick()
	if ticks != before+1 {
		t.Errorf("%d ticks asked for by one", ticks-before)
	}
	e.start = func(scenario.Scenario, core.Job) (simulation, error) { panic("index out of range") }
	e.receive(message{Kind: "run", Gen: 6, Link: "?numipi=100&runs=1"})
	want("fail 6 run 1 of arm 1: the simulator itself failed: index out of range")
}
