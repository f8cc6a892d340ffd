package server

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
)

// A queue lets as many simulations work at once as it has turns, and of those only one for each client: whoever asks
// for twenty gets them one after the other, while others get theirs in between.
type queue struct {
	turns chan struct{} // one for each simulation at work

	mu    sync.Mutex
	lines map[netip.Prefix]*line // of clients who have asked
}

// A line is what one client waits for.
type line struct {
	first  chan struct{} // one: the client's only simulation that waits for a turn or has it
	length int           // how many requests wait or are at work
}

func newQueue(turns int) *queue {
	return &queue{turns: make(chan struct{}, turns), lines: make(map[netip.Prefix]*line)}
}

// enter waits for a client's turn, which ends with leave. The error is a refusal.
func (q *queue) enter(ctx context.Context, client netip.Prefix) (leave func(), err error) {
	q.mu.Lock()
	l := q.lines[client]
	if l == nil {
		l = &line{first: make(chan struct{}, 1)}
		q.lines[client] = l
	}
	l.length++
	q.mu.Unlock()
	gone := func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if l.length--; l.length == 0 {
			delete(q.lines, client)
		}
	}
	select {
	case l.first <- struct{}{}:
	case <-ctx.Done():
		gone()
		return nil, &refusal{http.StatusTooManyRequests, "this server simulates for your address already, one thing at a time; try again in a minute, or use schedlab run", false}
	}
	select {
	case q.turns <- struct{}{}:
	case <-ctx.Done():
		<-l.first
		gone()
		return nil, &refusal{http.StatusServiceUnavailable, "this server simulates for others already; try again in a minute, or use schedlab run", false}
	}
	return func() {
		<-q.turns
		<-l.first
		gone()
	}, nil
}
