package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"schedlab/core"
)

// progress is a line on a terminal that says how far a scenario is. On
// anything else it shows nothing.
type progress struct {
	w      io.Writer // nil: show nothing
	what   string    // what the runs are of
	began  time.Time
	shown  time.Time
	jobs   int
	ended  int
	events map[core.Job]uint64
	total  uint64
}

func newProgress(w io.Writer, jobs int) *progress {
	p := &progress{began: time.Now(), jobs: jobs, events: make(map[core.Job]uint64)}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.w = w
		}
	}
	return p
}

func (p *progress) show(part *core.Part) {
	p.total += part.Events - p.events[part.Job]
	p.events[part.Job] = part.Events
	if part.Done || part.Fault != "" {
		p.ended++
	}
	if p.w == nil || time.Since(p.shown) < 100*time.Millisecond {
		return
	}
	p.shown = time.Now()
	million := float64(p.total) / 1e6
	if p.what != "" {
		fmt.Fprintf(p.w, "\r\x1b[K%s, %d of %d runs", p.what, p.ended, p.jobs)
		return
	}
	fmt.Fprintf(p.w, "\r\x1b[K%d of %d runs, %.1f million events, %.1f million a second", p.ended, p.jobs, million, million/time.Since(p.began).Seconds())
}

// clear takes the line away.
func (p *progress) clear() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
