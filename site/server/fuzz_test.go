package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"schedlab/core/scenario"
)

// tagsOfPage is how many tags the page of someone has.
const tagsOfPage = 6

// FuzzRequest sends any path, query, body and host: each answer is one that is foreseen, with
// nothing in it that a browser obeys, and a link that was made leads where it should.
func FuzzRequest(f *testing.F) {
	for _, path := range []string{"/", "/s/23456789", "/api/links", "/api/run", "/api/card.png", "/api/health", "/x", "//", "/s/", "/s/%00"} {
		f.Add("GET", path, "m=xeon-240&runs=x", "", "lab.example")
		f.Add("POST", path, "", "?m=xeon-240&seed=2", "[::1]:80")
		f.Add("HEAD", path, "format=svg&"+`x="><script>`, "<b>", `"><script>`)
	}
	store := new(shelf)
	s := someone(store)
	s.budget = 1 // nothing is worth simulating here
	f.Fuzz(func(t *testing.T, method, path, query, text, host string) {
		r := httptest.NewRequest("GET", "/", strings.NewReader(text))
		r.Method, r.Host, r.URL = method, host, &url.URL{Path: path, RawQuery: query}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		body := w.Body.String()
		switch w.Code {
		case 200, 201, 302, 400, 403, 404, 405, 413, 422:
		default:
			t.Errorf("%d %s", w.Code, body)
		}
		kind, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";")
		if kind == "text/html" && body != "" && strings.Count(body, "<") != strings.Count(body, "<meta ")+tagsOfPage {
			t.Errorf("markup in %s", body)
		}
		for name, values := range w.Header() {
			if strings.ContainsAny(strings.Join(values, ""), "\r\n\x00<>") {
				t.Errorf("%s: %q", name, values)
			}
		}
		if w.Code != http.StatusCreated {
			return
		}
		var m made
		if err := json.Unmarshal([]byte(body), &m); err != nil {
			t.Fatal(err)
		}
		again, problems := scenario.Parse(m.Query)
		if to, _ := store.Get(t.Context(), m.ID); to != m.Query || len(problems) > 0 || again.Query() != m.Query {
			t.Errorf("%+v leads to %s: %v", m, to, problems)
		}
	})
}
