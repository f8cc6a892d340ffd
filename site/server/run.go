package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"schedlab/core"
	"schedlab/core/report"
	"schedlab/core/scenario"
	"schedlab/site/picture"
)

// Budget is how many events of the simulation a request gets: the scenario that the page opens with
// takes 22 million. They cost about 3 to 6 seconds natively and 10 to 20 in a Worker, where no
// clock runs while a program computes, so that events are all there is to count.
const Budget = 30_000_000

const (
	jobCost  = 20_000           // events that a run costs before its first one, in time and memory
	patience = time.Minute      // a simulation may take, on however slow a machine
	queueing = 10 * time.Second // a simulation waits for others
	dear     = 10               // simulations that a client has had with one that was too long
)

// A format is how a result can be had.
type format struct {
	name, kind string
	write      func(*core.Result) (string, error)
}

// formats lists them by preference, the default first.
var formats = []format{
	{"text", "text/plain; charset=utf-8", plain(report.Text)},
	{"json", "application/json", plain(report.JSON)},
	{"csv", "text/csv; charset=utf-8", plain(report.CSV)},
	{"svg", "image/svg+xml", picture.SVG},
}

func plain(f func(*core.Result) string) func(*core.Result) (string, error) {
	return func(r *core.Result) (string, error) { return f(r), nil }
}

// run simulates the scenario of the query, and answers in the form that format= or Accept names.
func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	query, name := cutFormat(r.URL.RawQuery)
	f := negotiated(r.Header.Get("Accept"))
	wrong := ""
	if name != nil {
		var names []string
		for _, known := range formats {
			names = append(names, known.name)
		}
		if i := slices.Index(names, *name); i >= 0 {
			f = formats[i]
		} else {
			wrong = scenario.Problem{Key: "format", Value: printable(*name), Want: scenario.OneOf(*name, names)}.String()
		}
	}
	question, more, notice := parse(query)
	if wrong = strings.Trim(wrong+"\n"+more, "\n"); wrong != "" {
		refuse(w, http.StatusBadRequest, wrong)
		return
	}
	if notice != "" { // the body is that of schedlab run, which says such things beside it
		w.Header().Set("Schedlab-Notice", strings.Trim(strconv.QuoteToASCII(notice), `"`))
	}
	body, err := s.simulated(r, question, f.name, func(result *core.Result) ([]byte, error) {
		text, err := f.write(result)
		return []byte(text), err
	})
	if err != nil {
		s.refuseRun(w, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Vary", "Accept")
	h.Set("Cache-Control", hourly)
	if f.kind == "image/svg+xml" {
		h.Set("Cross-Origin-Resource-Policy", "cross-origin") // a picture is there to be shown elsewhere
	}
	w.Write(body)
}

// A refusal is why there is no result.
type refusal struct {
	status int
	text   string
	lasts  bool // it will be the same next time
}

func (r *refusal) Error() string { return fmt.Sprintf("%d: %s", r.status, r.text) }

// refuseRun answers that a scenario was not simulated.
func (s *Server) refuseRun(w http.ResponseWriter, err error) {
	no, ok := err.(*refusal)
	if !ok {
		s.warn("a simulation failed", "error", err.Error())
		no = &refusal{http.StatusInternalServerError, "this server has a fault, which is not yours", false}
	}
	if !no.lasts {
		w.Header().Set("Retry-After", "60")
	}
	refuse(w, no.status, no.Error())
}

// simulated simulates a scenario and writes its result, unless it has done so
// before: the same link, the same bytes.
func (s *Server) simulated(r *http.Request, question scenario.Scenario, form string, write func(*core.Result) ([]byte, error)) ([]byte, error) {
	link := question.Query()
	if question.Check {
		return nil, &refusal{http.StatusUnprocessableEntity, "check=1 looks at all of the kernel after every event, which is too dear here. Run: schedlab run '" + link + "'", true}
	}
	if text := s.recall(r.Context(), "refused", link); text != nil {
		return nil, &refusal{http.StatusUnprocessableEntity, string(text), true}
	}
	return s.made(r, form, link, func() ([]byte, error) {
		// Whoever had the turn before may have been refused the same.
		if text := s.recall(r.Context(), "refused", link); text != nil {
			return nil, &refusal{http.StatusUnprocessableEntity, string(text), true}
		}
		// Asked now, and not before the wait: who got no turn has had nothing.
		if s.Allow != nil && !s.Allow(r, Simulate) {
			return nil, &refusal{http.StatusTooManyRequests, "too many simulations for your address; wait a minute, or use schedlab run", false}
		}
		result, err := simulate(r.Context(), question, s.budget)
		if err == nil {
			return write(result)
		}
		if no, ok := err.(*refusal); ok {
			if no.lasts {
				s.keep(r.Context(), "refused", link, []byte(no.text))
			}
			// It took more than most that are answered, unless it was stopped since nobody waited.
			for had := 1; had < dear && s.Allow != nil && r.Context().Err() == nil && s.Allow(r, Simulate); {
				had++
			}
		}
		return nil, err
	})
}

// made makes what takes its time, one for a client and as many at once as there are CPUs, unless the cache has it. The
// error may be a refusal.
func (s *Server) made(r *http.Request, form, link string, make func() ([]byte, error)) ([]byte, error) {
	if body := s.recall(r.Context(), form, link); body != nil {
		return body, nil
	}
	leave, err := s.turn(r)
	if err != nil {
		return nil, err
	}
	defer leave()
	// Whoever had the turn before may have asked the same.
	if body := s.recall(r.Context(), form, link); body != nil {
		return body, nil
	}
	body, err := make()
	if err == nil {
		s.keep(r.Context(), form, link, body)
	}
	return body, err
}

// turn waits until what takes its time may be done for a client, until leave. The error is a refusal.
func (s *Server) turn(r *http.Request) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(r.Context(), queueing)
	defer cancel()
	return s.queue.enter(ctx, ClientOf(r.RemoteAddr))
}

// simulate runs a scenario within a budget of events, or not at all: then the error is a refusal.
func simulate(ctx context.Context, s scenario.Scenario, budget uint64) (*core.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var (
		now      core.Job
		before   uint64 = jobCost // cost of the jobs before, and of having this one
		estimate uint64           // of the whole cost, once that is too much
	)
	result, err := core.Run(s, func(p *core.Part) bool {
		if p.Job != now {
			now, before = p.Job, before+jobCost
		}
		cost := before + p.Events
		if p.Done || p.Fault != "" {
			before = cost
		}
		begun := p.Run*len(s.Arms) + p.Arm + 1
		whole := cost * uint64(s.Runs*len(s.Arms)) / uint64(begun)
		// Runs differ, but after one of each it shows whether it is worth going on.
		if hopeless := begun == len(s.Arms) && p.Done && whole > 2*budget; hopeless || cost > budget {
			estimate = whole
		}
		return estimate == 0 && ctx.Err() == nil
	})
	switch {
	case err != nil:
		return nil, err
	case estimate > 0:
		advice := "shorter runs may do"
		if runs := uint64(s.Runs) * budget / estimate; runs > 0 {
			advice = fmt.Sprintf("about runs=%d would do", runs)
		}
		return nil, &refusal{http.StatusUnprocessableEntity, fmt.Sprintf("this takes more than the %d million events that this server simulates for a request; %s. Without a limit: open the page at this link, or run: schedlab run '%s'",
			budget/1_000_000, advice, s.Query()), true}
	case ctx.Err() != nil:
		return nil, &refusal{http.StatusServiceUnavailable, "the simulation was stopped, after a minute or since nobody waited for it; use schedlab run", false}
	}
	return result, nil
}

// cutFormat takes format= out of a query; nil if it is not there.
func cutFormat(query string) (rest string, name *string) {
	var kept []string
	for piece := range strings.SplitSeq(query, "&") {
		if value, ok := strings.CutPrefix(piece, "format="); ok && name == nil {
			if unescaped, err := url.QueryUnescape(value); err == nil {
				value = unescaped
			}
			name = &value
			continue
		}
		kept = append(kept, piece)
	}
	return strings.Join(kept, "&"), name
}

// negotiated returns the format that an Accept header likes best.
func negotiated(accept string) format {
	best, found := formats[0], 0.0
	for _, f := range formats {
		kind, _, _ := strings.Cut(f.kind, ";")
		group, _, _ := strings.Cut(kind, "/")
		for part := range strings.SplitSeq(accept, ",") {
			fields := strings.Split(part, ";")
			weight := 1.0
			for _, parameter := range fields[1:] {
				if q, ok := strings.CutPrefix(strings.TrimSpace(parameter), "q="); ok {
					weight, _ = strconv.ParseFloat(q, 64)
				}
			}
			// Of what is liked equally, what was named wins.
			switch strings.ToLower(strings.TrimSpace(fields[0])) {
			case kind:
				weight *= 1.002
			case group + "/*":
				weight *= 1.001
			case "*/*":
			default:
				weight = 0
			}
			if weight > found {
				best, found = f, weight
			}
		}
	}
	return best
}

// printable spells out what a terminal or a log would obey, and cuts it.
func printable(s string) string {
	s = strconv.QuoteToGraphic(clip(s))
	return s[1 : len(s)-1]
}
