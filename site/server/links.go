package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"schedlab/core/scenario"
)

// A Store keeps what short links lead to: queries, as scenario.Scenario.Query writes them.
// It keeps nothing else: not who made a link, nor when.
type Store interface {
	// Add stores a query under an id unless that has one already, and returns
	// what the id has now. Once it has returned without an error, the link lasts.
	Add(ctx context.Context, id, query string) (held string, err error)
	// Get returns the query of an id, "" if there is none.
	Get(ctx context.Context, id string) (query string, err error)
}

// An id is a hash of its query, so that the same scenario always has the same
// one. It can be read out: it has no 0, 1, l or o. A longer one is for two queries whose
// hashes begin alike.
const (
	alphabet  = "23456789abcdefghijkmnpqrstuvwxyz"
	idLength  = 8
	idLongest = 16
)

func isID(s string) bool {
	return len(s) >= idLength && len(s) <= idLongest && strings.Trim(s, alphabet) == ""
}

func idOf(query string, length int) string {
	hash := sha256.Sum256([]byte(query))
	id := make([]byte, length)
	for i := range id {
		id[i] = alphabet[hash[i]%byte(len(alphabet))] // of 32, so that none is more likely
	}
	return string(id)
}

// makeLink makes a short link of the scenario in the body, a text. It answers
// {"id", "path", "query"}: path is relative to the page, query is the link in full.
func (s *Server) makeLink(w http.ResponseWriter, r *http.Request) {
	switch {
	case http.NewCrossOriginProtection().Check(r) != nil:
		refuse(w, http.StatusForbidden, "403: short links are made from this server's own page, not from another one")
		return
	case s.Links == nil:
		refuse(w, http.StatusServiceUnavailable, "503: this server keeps no short links; the long one always works")
		return
	case !s.allow(w, r, MakeLink):
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, scenario.MaxLink))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("413: a link has at most %d bytes", scenario.MaxLink))
		return
	case err != nil:
		refuse(w, http.StatusBadRequest, "400: the request broke off")
		return
	}
	question, wrong, _ := parse(string(body))
	if wrong != "" {
		refuse(w, http.StatusBadRequest, wrong)
		return
	}
	query := question.Query()
	for length := idLength; length <= idLongest; length++ {
		id := idOf(query, length)
		held, err := s.Links.Add(r.Context(), id, query)
		switch {
		case err != nil:
			s.warn("a link was not stored", "error", err.Error())
			refuse(w, http.StatusServiceUnavailable, "503: the short link could not be stored; the long one works as ever")
			return
		case held == query:
			w.Header().Set("Cache-Control", "no-store")
			writeJSON(w, http.StatusCreated, map[string]string{"id": id, "path": "s/" + id, "query": query})
			return
		}
	}
	refuse(w, http.StatusServiceUnavailable, "503: no short name is left for this link; the long one works as ever")
}

// follow leads from a short link to the page at the long one. It redirects
// rather than showing the page here: the address bar always is the link to what
// one sees, and whoever makes previews follows it to the tags there.
func (s *Server) follow(w http.ResponseWriter, r *http.Request) {
	id := strings.ToLower(strings.TrimPrefix(r.URL.Path, "/s/"))
	if !isID(id) {
		missing(w, r, "no short link looks like this: they have 8 to 16 letters and digits")
		return
	}
	query := ""
	if s.Links != nil {
		var err error
		if query, err = s.Links.Get(r.Context(), id); err != nil {
			s.warn("a link was not read", "error", err.Error())
			refuse(w, http.StatusServiceUnavailable, "503: short links cannot be read now; try again later, or use the long link")
			return
		}
	}
	if !strings.HasPrefix(query, "?") {
		missing(w, r, "this server knows no short link "+id)
		return
	}
	w.Header().Set("Cache-Control", hourly)
	w.Header().Set("Location", "../"+query) // relative, for pages that lie under a path
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusFound)
	io.WriteString(w, query+"\n")
}

// parse reads a link. wrong says in a line each what is wrong with it, and notice what
// should be known of its results; "" if there is nothing to say.
func parse(link string) (question scenario.Scenario, wrong, notice string) {
	question, problems := scenario.Parse(link)
	var errors, notices []string
	for _, p := range problems {
		if p.Notice {
			notices = append(notices, p.String())
		} else {
			errors = append(errors, p.String())
		}
	}
	return question, strings.Join(errors, "\n"), strings.Join(notices, "; ")
}

// allow asks whether a client may have something now, and tells it if not.
func (s *Server) allow(w http.ResponseWriter, r *http.Request, what Action) bool {
	if s.Allow == nil || s.Allow(r, what) {
		return true
	}
	w.Header().Set("Retry-After", "60")
	refuse(w, http.StatusTooManyRequests, "429: too many requests of this kind from your address; wait a minute")
	return false
}
