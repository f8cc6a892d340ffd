// Package server is the page's HTTP side: one handler, for the command's server
// and for the Cloudflare Worker. It serves the page's files with the headers that
// make a browser let as little happen as it can, and what a static page cannot do for itself:
//
//	POST /api/links      makes a short link of a scenario       links.go
//	GET  /s/ID           goes where a short link leads
//	GET  /api/run?…      simulates a scenario: text, JSON, CSV, SVG   run.go
//	GET  /api/card.png?… the picture that stands beside a link in a chat   card.go
//	GET  /?…             the page, with tags that lead to that picture   preview.go
//	GET  /api/health     version and model
//
// The page needs none of it. What differs between the places that serve is a field of Server.
package server

import (
	"encoding/json"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"schedlab/core"
)

// A Server is the handler. The fields may be set until it serves.
type Server struct {
	Links Store                                   // nil: there are no short links
	Cache Cache                                   // of what was simulated; nil: there is none
	Allow func(r *http.Request, what Action) bool // whether a client may have this now; nil: always
	Log   *slog.Logger                            // a line a request, with nothing about who asked what; nil: none

	page   http.Handler
	budget uint64 // Budget, but for tests
	queue  *queue
}

// An Action is something that costs, so that no client may have too much of it.
type Action string

// What is limited.
const (
	MakeLink Action = "link"
	Simulate Action = "run"
)

// New returns the server of a page whose files a handler serves.
func New(page http.Handler) *Server {
	return &Server{page: page, budget: Budget, queue: newQueue(runtime.GOMAXPROCS(0))}
}

// A route is a path that is answered here. Paths that end in / stand for all that lie below.
type route struct {
	method string // HEAD goes with GET
	serve  func(*Server, http.ResponseWriter, *http.Request)
}

var routes = map[string]route{
	"/":             {"GET", (*Server).index},
	"/s/":           {"GET", (*Server).follow},
	"/api/links":    {"POST", (*Server).makeLink},
	"/api/run":      {"GET", (*Server).run},
	"/api/card.png": {"GET", (*Server).card},
	"/api/health":   {"GET", (*Server).health},
}

// routeOf returns the route of a path and its name; what has none is a file's.
func routeOf(path string) (route, string) {
	if r, ok := routes[path]; ok {
		return r, path
	}
	if id, ok := strings.CutPrefix(path, "/s/"); ok && id != "" {
		return routes["/s/"], "/s/"
	}
	return route{"GET", (*Server).file}, path
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	route, name := routeOf(r.URL.Path)
	h := w.Header()
	secure(h)
	answer := &recorder{ResponseWriter: w, head: r.Method == http.MethodHead}
	defer func() {
		// One broken answer must not end the Worker, where nobody else would catch this.
		if fault := recover(); fault != nil && fault != http.ErrAbortHandler {
			s.warn("a request broke the server", "path", name, "fault", fmt.Sprint(fault), "stack", string(debug.Stack()))
			if answer.status == 0 {
				refuse(answer, http.StatusInternalServerError, "500: this server has a fault, which is not yours")
			}
		}
		s.log(r, name, answer.status, time.Since(began))
	}()
	if r.Method != route.method && !(answer.head && route.method == http.MethodGet) {
		allowed := map[string]string{"GET": "GET, HEAD"}[route.method]
		if allowed == "" {
			allowed = route.method
		}
		h.Set("Allow", allowed)
		refuse(answer, http.StatusMethodNotAllowed, "405: want "+strings.ReplaceAll(allowed, ", ", " or "))
		return
	}
	route.serve(s, answer, r)
}

// file serves a file of the page.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", cacheControl(r.URL.Path))
	s.page.ServeHTTP(w, r)
}

func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusOK, map[string]any{"ok": true, "version": Version(), "model": core.Model})
}

// revision is set by build.sh, where Go itself says none.
var revision string

// Version says of which revision the program was built, as far as it knows.
func Version() string {
	if revision != "" {
		return revision
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	if version != "" && version != "(devel)" {
		return version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return "unknown"
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // links stay as they are
	e.Encode(v)            // what fails is the connection
}

// refuse answers with a text for people.
func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, text, status)
}

// secure sets what all answers have.
func secure(h http.Header) {
	for key, value := range headers {
		h.Set(key, value)
	}
}

// Unreadable answers what was no request that a Server could be given.
func Unreadable(w http.ResponseWriter, text string) {
	secure(w.Header())
	refuse(w, http.StatusBadRequest, text)
}

// NotFound says that there is no such file.
func NotFound(w http.ResponseWriter, r *http.Request) {
	missing(w, r, "there is no such page here")
}

// missing answers what leads nowhere: who reads it in a browser gets a link to the simulator, wherever that lies.
func missing(w http.ResponseWriter, r *http.Request, text string) {
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		refuse(w, http.StatusNotFound, "404: "+text+"; the simulator is at /")
		return
	}
	home := "./" + strings.Repeat("../", max(strings.Count(r.URL.Path, "/")-1, 0))
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusNotFound)
	fmt.Fprintf(w, `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>Not found · schedlab</title>
<h1>Not found</h1><p>404: %s.</p><p><a href="%s">Open the simulator</a></p>`, html.EscapeString(text), home)
}

func (s *Server) warn(text string, args ...any) {
	if s.Log != nil {
		s.Log.Error(text, args...)
	}
}

// log writes what was asked of which part of the server, and how it went. A
// query is somebody's question and an address is somebody, so neither is in it.
func (s *Server) log(r *http.Request, name string, status int, took time.Duration) {
	if s.Log == nil {
		return
	}
	s.Log.Info("request", "method", clip(r.Method), "path", clip(name), "status", status, "ms", took.Milliseconds())
}

// clip cuts what a client may have made as long as it likes.
func clip(s string) string { return s[:min(len(s), 100)] }

// A recorder is a ResponseWriter that knows its status, and has no body to give to HEAD.
type recorder struct {
	http.ResponseWriter
	status int // 0: not yet
	head   bool
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	if r.head {
		return len(b), nil
	}
	return r.ResponseWriter.Write(b)
}

// Unwrap serves http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
