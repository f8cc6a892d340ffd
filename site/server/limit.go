package server

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// rates is how often a client may have what costs.
var rates = map[Action]struct {
	burst int           // at once
	every time.Duration // and one more
}{
	MakeLink: {20, 3 * time.Second},
	Simulate: {20, 3 * time.Second},
}

// maxClients bounds what a Limiter remembers.
const maxClients = 10_000

// A Limiter says who has had enough, by address, and keeps that in memory only.
type Limiter struct {
	mu      sync.Mutex
	clients map[client]time.Time // when all that they have had will be forgotten
	now     func() time.Time     // nil: time.Now
}

type client struct {
	address netip.Prefix
	what    Action
}

// Allow is for Server.Allow.
func (l *Limiter) Allow(r *http.Request, what Action) bool {
	now := time.Now()
	if l.now != nil {
		now = l.now()
	}
	rate := rates[what]
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.clients == nil {
		l.clients = make(map[client]time.Time)
	}
	if len(l.clients) >= maxClients {
		for c, until := range l.clients {
			if !until.After(now) {
				delete(l.clients, c)
			}
		}
		if len(l.clients) >= maxClients { // so many are no clients
			clear(l.clients)
		}
	}
	c := client{ClientOf(r.RemoteAddr), what}
	until := l.clients[c]
	if until.Before(now) {
		until = now
	}
	if until.Sub(now) > time.Duration(rate.burst-1)*rate.every {
		return false
	}
	l.clients[c] = until.Add(rate.every)
	return true
}

// ByHeader has next take a request's client to be who the header says, in which a proxy in front of the server writes that:
// of several addresses the last one, as those before it may be the client's own words. Where that is none, it
// stays who sent the request.
func ByHeader(header string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		values := r.Header.Values(header)
		if len(values) > 0 {
			last := values[len(values)-1]
			last = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
			if ClientOf(last).IsValid() {
				r.RemoteAddr = last
			}
		}
		next.ServeHTTP(w, r)
	})
}

// ClientOf returns whose an address is, with a port or without: of IPv6, where everybody has many,
// it is the network. It is the zero Prefix for what is no address.
func ClientOf(remote string) netip.Prefix {
	text, _, err := net.SplitHostPort(remote)
	if err != nil {
		text = remote
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}
	}
	address = address.Unmap().WithZone("")
	bits := address.BitLen()
	if address.Is6() {
		bits = 64
	}
	prefix, _ := address.Prefix(bits) // bits are right
	return prefix
}
