package server

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"schedlab/core"
	"schedlab/core/report"
	"schedlab/core/scenario"
)

// A shelf is a Store in memory.
type shelf struct {
	mu    sync.Mutex
	links map[string]string
	fails error
}

func (s *shelf) Add(_ context.Context, id, query string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails != nil {
		return "", s.fails
	}
	if s.links == nil {
		s.links = make(map[string]string)
	}
	if s.links[id] == "" {
		s.links[id] = query
	}
	return s.links[id], nil
}

func (s *shelf) Get(_ context.Context, id string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.links[id], s.fails
}

// someone is a server with a page of a line, and links.
func someone(links Store) *Server {
	s := New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			NotFound(w, r)
			return
		}
		w.Header().Set("Etag", `"page"`)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.Header.Get("If-None-Match") == `"page"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		io.WriteString(w, "<!doctype html><head><title>schedlab</title></head><body>")
	}))
	s.Links = links
	s.Cache = &Memory{Limit: 1 << 20}
	return s
}

func ask(s http.Handler, method, target, text string, header ...string) (*http.Response, string) {
	r := httptest.NewRequest(method, target, strings.NewReader(text))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result(), w.Body.String()
}

// small is a scenario that takes a moment.
const small = "m=xeon-240&numipi=200&runs=6"

type made struct{ ID, Path, Query string }

func link(t *testing.T, s *Server, query string) made {
	t.Helper()
	response, text := ask(s, "POST", "/api/links", query)
	var m made
	if err := json.Unmarshal([]byte(text), &m); err != nil || response.StatusCode != 201 {
		t.Fatalf("%s: %d %s", query, response.StatusCode, text)
	}
	return m
}

func TestLinks(t *testing.T) {
	s := someone(new(shelf))
	m := link(t, s, "?runs=6&"+"numipi=200&m=xeon-240&bg=busy\n")
	want := "?v=1&model=" + regexp.MustCompile(`model=(\d+)`).FindStringSubmatch(scenario.Default().Query())[1] + "&m=xeon-240&numipi=200&runs=6"
	if m.Query != want || !isID(m.ID) || len(m.ID) != idLength || m.Path != "s/"+m.ID {
		t.Errorf("%+v, want %s", m, want)
	}
	for _, same := range []string{small, "?" + small, want, "https://example.org/lab/?" + small + "#sweep"} {
		if again := link(t, s, same); again != m {
			t.Errorf("%s: %+v, and %+v", same, again, m)
		}
	}
	if other := link(t, s, "?seed=2"); other.ID == m.ID {
		t.Error("two scenarios with an id")
	}

	for _, id := range []string{m.ID, strings.ToUpper(m.ID)} {
		response, _ := ask(s, "GET", "/s/"+id, "")
		if response.StatusCode != 302 || response.Header.Get("Location") != "../"+want {
			t.Errorf("%d %v", response.StatusCode, response.Header)
		}
	}
	for _, path := range []string{"/s/", "/s/short", "/s/22222222", "/s/2222222222222222222222", "/s/" + m.ID + "/", "/s/%3Cscript%3E", "/s/..%2f" + m.ID, "/s/0000000l", "/s/" + m.ID[:7] + "%00"} {
		response, text := ask(s, "GET", path, "")
		if response.StatusCode != 404 || !strings.HasPrefix(text, "404: ") || strings.Contains(text, "<") || response.Header.Get("Content-Type") != "text/plain; charset=utf-8" || response.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v %s", path, response.StatusCode, response.Header, text)
		}
	}
}

// TestCollision: another scenario whose hash begins alike gets a longer id, and
// both lead where they should.
func TestCollision(t *testing.T) {
	store := new(shelf)
	s := someone(store)
	question, _ := scenario.Parse(small)
	store.Add(t.Context(), idOf(question.Query(), 8), "?v=1&model=1&seed=7")
	m := link(t, s, small)
	if m.ID != idOf(question.Query(), 9) {
		t.Errorf("%+v", m)
	}
	for id, want := range map[string]string{m.ID: question.Query(), m.ID[:8]: "?v=1&model=1&seed=7"} {
		if response, _ := ask(s, "GET", "/s/"+id, ""); response.Header.Get("Location") != "../"+want {
			t.Errorf("%s: %v", id, response.Header)
		}
	}
	if again := link(t, s, small); again != m {
		t.Errorf("%+v, and %+v", again, m)
	}
	for length := idLength; length <= idLongest; length++ {
		store.links[idOf(question.Query(), length)] = "?other"
	}
	if response, _ := ask(s, "POST", "/api/links", small); response.StatusCode != 503 {
		t.Errorf("no id is left: %d", response.StatusCode)
	}
}

func TestLinkRefused(t *testing.T) {
	store := new(shelf)
	s := someone(store)
	for _, c := range []struct {
		text, header string
		status       int
		want         string
	}{
		{"?m=xeon-241&runs=0", "", 400, "runs=0: want a whole number from 1 to 1000"},
		{"?m=xeon-241", "", 400, "m=xeon-241: want one of epyc-2x64"},
		{"utter nonsense", "", 400, "utter nonsense"},
		{`{"query":"?"}`, "", 400, "want"},
		{"?x=<script>alert(1)</script>", "", 400, "x="},
		{"?" + strings.Repeat("x", scenario.MaxLink), "", 413, "413: "},
		{"?seed=1", "cross-site", 403, "403: "},
		{"?seed=1", "same-origin", 201, "{"},
		{"?seed=1", "none", 201, "{"},
	} {
		response, text := ask(s, "POST", "/api/links", c.text, "Content-Type", "text/plain", "Sec-Fetch-Site", c.header)
		if response.StatusCode != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%.40q: %d %s", c.text, response.StatusCode, text)
		}
		if kind := response.Header.Get("Content-Type"); c.status != 201 && kind != "text/plain; charset=utf-8" {
			t.Errorf("%.40q: a %s", c.text, kind)
		}
	}
	if len(store.links) != 1 {
		t.Errorf("stored %v", store.links)
	}
	store.fails = errors.New("the disk is full")
	for _, c := range [][2]string{{"POST", "/api/links"}, {"GET", "/s/22222222"}} {
		if response, text := ask(s, c[0], c[1], "?seed=1"); response.StatusCode != 503 || strings.Contains(text, "disk") {
			t.Errorf("%v: %d %s", c, response.StatusCode, text)
		}
	}
	if response, _ := ask(someone(nil), "POST", "/api/links", "?seed=1"); response.StatusCode != 503 {
		t.Errorf("without a store: %d", response.StatusCode)
	}
	if response, _ := ask(someone(nil), "GET", "/s/22222222", ""); response.StatusCode != 404 {
		t.Errorf("without a store: %d", response.StatusCode)
	}
}

// TestRun: what the command prints, and each form says what its figures are.
func TestRun(t *testing.T) {
	s := someone(nil)
	question, _ := scenario.Parse(small)
	result, err := core.Run(question, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ query, accept, kind, want string }{
		{"", "", "text/plain; charset=utf-8", report.Text(result)},
		{"", "*/*", "text/plain; charset=utf-8", report.Text(result)},
		{"", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8", "text/plain; charset=utf-8", report.Text(result)},
		{"", "application/json, */*", "application/json", report.JSON(result)},
		{"", "text/csv", "text/csv; charset=utf-8", report.CSV(result)},
		{"", "image/avif,image/webp,image/svg+xml,image/*,*/*;q=0.8", "image/svg+xml", "<svg"},
		{"", "application/json;q=0.2, text/csv;q=0.5", "text/csv; charset=utf-8", report.CSV(result)},
		{"&format=json", "text/csv", "application/json", report.JSON(result)},
		{"&format=csv", "", "text/csv; charset=utf-8", report.CSV(result)},
		{"&format=svg", "", "image/svg+xml", "<svg"},
		{"&format=text", "application/json", "text/plain; charset=utf-8", report.Text(result)},
	} {
		for range 2 { // the second one comes from the cache
			response, text := ask(s, "GET", "/api/run?"+small+c.query, "", "Accept", c.accept)
			if response.StatusCode != 200 || response.Header.Get("Content-Type") != c.kind || !strings.HasPrefix(text, c.want) {
				t.Errorf("%s, %s: %d %v %.100s", c.query, c.accept, response.StatusCode, response.Header, text)
			}
			for _, want := range []string{"model", "busy"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s, %s: does not say %s", c.query, c.accept, want)
				}
			}
			if !strings.Contains(text, "simulated") {
				t.Errorf("%s, %s: does not say simulated", c.query, c.accept)
			}
		}
	}
	head, text := ask(s, "HEAD", "/api/run?"+small, "")
	if head.StatusCode != 200 || text != "" || head.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%d %v %q", head.StatusCode, head.Header, text)
	}
	old, _ := ask(s, "GET", "/api/run?model=1&"+small, "")
	if notice := old.Header.Get("Schedlab-Notice"); old.StatusCode != 200 || !strings.Contains(notice, "results can differ") {
		t.Errorf("a link of another model: %d %q", old.StatusCode, notice)
	}
}

func TestRunRefused(t *testing.T) {
	s := someone(nil)
	s.budget = 1_000_000
	for query, want := range map[string]struct {
		status int
		text   string
	}{
		"runs=0&m=x":            {400, "runs=0: want a whole number from 1 to 1000"},
		"format=xml":            {400, "format=xml: want one of text, json, csv, svg"},
		"format=%3Cb%3E%1B&m=x": {400, `format=<b>\x1b: want one of`},
		"format=csv&format=csv": {400, "format=csv: want"},
		"check=1":               {422, "schedlab run '?v=1"},
		"runs=1000&numipi=1000": {422, "about runs="},
		"runs=1000&numipi=1":    {422, "would do. Without a limit: open the page at this link, or run: schedlab run '?v=1"},
		"numipi=10000000":       {422, "1 million events that this server simulates for a request; shorter runs may do"},
	} {
		for range 2 {
			response, text := ask(s, "GET", "/api/run?"+query, "")
			if response.StatusCode != want.status || !strings.Contains(text, want.text) || response.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
				t.Errorf("%s: %d %s", query, response.StatusCode, text)
			}
		}
	}
	// What was refused once costs nothing the second time, so it needs no leave.
	s.Allow = func(*http.Request, Action) bool { return false }
	for query, want := range map[string]int{"numipi=10000000": 422, small: 429} {
		if response, _ := ask(s, "GET", "/api/run?"+query, ""); response.StatusCode != want {
			t.Errorf("%s: %d, want %d", query, response.StatusCode, want)
		}
	}
}

// TestBudget: the limit holds within a run, and no run beyond it is begun; the scenario that the page opens
// with is within it.
func TestBudget(t *testing.T) {
	const budget = 300_000
	for _, query := range []string{"numipi=10000000&runs=1", "runs=1000&numipi=1&arm="} {
		question, _ := scenario.Parse(query)
		_, err := simulate(t.Context(), question, budget)
		var no *refusal
		if !errors.As(err, &no) || no.status != 422 || !no.lasts {
			t.Errorf("%s: %v", query, err)
		}
	}
	question, _ := scenario.Parse("runs=1")
	if _, err := simulate(t.Context(), question, Budget/uint64(scenario.Default().Runs)); err != nil {
		t.Errorf("the page's own scenario: %v", err)
	}
}

// TestGone: nothing is simulated for a client that has gone.
func TestGone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	question, _ := scenario.Parse(small)
	_, err := simulate(ctx, question, Budget)
	var no *refusal
	if !errors.As(err, &no) || no.lasts {
		t.Errorf("%v", err)
	}
	s := someone(nil)
	for range cap(s.queue.turns) {
		s.queue.turns <- struct{}{}
	}
	r := httptest.NewRequestWithContext(ctx, "GET", "/api/run?"+small, nil)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != 503 && w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if len(s.queue.lines) > 0 {
		t.Errorf("%d lines of nobody", len(s.queue.lines))
	}
}

// TestQueue: a client who asks for much has one simulation at work, and leaves the other turns to others.
func TestQueue(t *testing.T) {
	q := newQueue(2)
	one, other := ClientOf("192.0.2.1"), ClientOf("192.0.2.2")
	leave, err := q.enter(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	const more = 20
	waiting, cancel := context.WithCancel(t.Context())
	refused := make(chan error)
	for range more {
		go func() {
			_, err := q.enter(waiting, one)
			refused <- err
		}()
	}
	for length := 0; length < 1+more; {
		runtime.Gosched()
		q.mu.Lock()
		length = q.lines[one].length
		q.mu.Unlock()
	}
	for range 6 {
		leaveOther, err := q.enter(t.Context(), other)
		if err != nil {
			t.Fatal(err)
		}
		if len(q.turns) != 2 {
			t.Errorf("%d at work", len(q.turns))
		}
		leaveOther()
	}
	s := someone(nil)
	s.queue = q
	gone, stop := context.WithCancel(t.Context())
	stop()
	for i, path := range []string{"/api/run?", "/api/card.png?", "/api/card.png?x=y&"} {
		for _, c := range []struct { // in this order: what the second gets, the first would have from the cache
			address string
			ctx     context.Context
			status  int
		}{{"192.0.2.1:1", gone, 429}, {"192.0.2.2:1", t.Context(), 200}} {
			r := httptest.NewRequestWithContext(c.ctx, "GET", fmt.Sprintf("%sm=laptop&numipi=10&runs=1&seed=%d", path, i+1), nil)
			r.RemoteAddr = c.address
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, r); w.Code != c.status {
				t.Errorf("%s for %s: %d", path, c.address, w.Code)
			}
		}
	}
	cancel()
	for range more {
		var no *refusal
		if err := <-refused; !errors.As(err, &no) || no.status != 429 || no.lasts {
			t.Errorf("%v", err)
		}
	}
	leave()
	if len(q.turns) != 0 || len(q.lines) != 0 {
		t.Errorf("%d at work, %d lines", len(q.turns), len(q.lines))
	}
}

// TestCost: what a client has had is what it cost here: nothing for what is refused at a look, for a
// card that is only drawn, or without a turn; and most of an allowance for what is too long.
func TestCost(t *testing.T) {
	s := someone(nil)
	s.budget = 100_000
	had := 0
	s.Allow = func(*http.Request, Action) bool { had++; return true }
	for _, c := range []struct {
		target string
		status int
		cost   int
	}{
		{"/api/run?check=1", 422, 0},
		{"/api/run?runs=0", 400, 0},
		{"/api/card.png?runs=0", 200, 0},
		{"/api/card.png?check=1", 200, 0},
		{"/api/run?" + small, 422, dear},
		{"/api/run?" + small, 422, 0},
		{"/api/card.png?" + small, 200, 0},
		{"/api/card.png?seed=2", 200, dear},
		{"/api/card.png?m=laptop&numipi=10&runs=1&arm=", 200, 1},
	} {
		had = 0
		if response, text := ask(s, "GET", c.target, ""); response.StatusCode != c.status || had != c.cost {
			t.Errorf("%s: %d, cost %d, want %d: %.200s", c.target, response.StatusCode, had, c.cost, text)
		}
	}
	if burst := rates[Simulate].burst; dear < burst/2 || dear > burst {
		t.Errorf("too long a simulation costs %d of %d", dear, burst)
	}
	had = 0
	for range cap(s.queue.turns) {
		s.queue.turns <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/api/run?seed=3", nil))
	if had > 0 {
		t.Errorf("no turn cost %d", had)
	}
}

func TestCard(t *testing.T) {
	s := someone(nil)
	for _, query := range []string{small, "m=xeon-241&<b>", "runs=1000"} {
		response, text := ask(s, "GET", "/api/card.png?"+query, "")
		img, err := png.Decode(strings.NewReader(text))
		if err != nil || response.StatusCode != 200 || response.Header.Get("Content-Type") != "image/png" || response.Header.Get("Cache-Control") != hourly ||
			response.Header.Get("Cross-Origin-Resource-Policy") != "cross-origin" || img.Bounds().Dx() != 1200 || img.Bounds().Dy() != 630 {
			t.Errorf("%s: %d %v %v", query, response.StatusCode, response.Header, err)
		}
	}
	// What is there costs nothing, nor does a card without a simulation; what is simulated, a client who has had enough does not get.
	s.Allow = func(*http.Request, Action) bool { return false }
	for query, status := range map[string]int{small: 200, "m=xeon-241&<b>": 200, "runs=1000": 200, "seed=2": 429, "seed=2&x": 200} {
		if response, _ := ask(s, "GET", "/api/card.png?"+query, ""); response.StatusCode != status {
			t.Errorf("%s: %d %v", query, response.StatusCode, response.Header)
		}
	}
}

// TestPreview: the page of a question says in tags what it asks, and is not taken for the page without them.
func TestPreview(t *testing.T) {
	s := someone(nil)
	response, text := ask(s, "GET", "https://lab.example/?m=xeon-240&bg=quiet", "", "If-None-Match", `"page"`, "Accept-Encoding", "br", "Range", "bytes=0-1")
	if response.StatusCode != 200 || response.Header.Get("Etag") != "" || response.Header.Get("Cache-Control") != "no-cache" || response.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%d %v", response.StatusCode, response.Header)
	}
	q := regexp.QuoteMeta(scenario.Default().Query()) + "&amp;m=xeon-240&amp;bg=quiet"
	q = strings.ReplaceAll(q, "1&model", "1&amp;model")
	for _, want := range []string{
		`(?s)^<!doctype html><head><title>schedlab</title>.*</head><body>$`,
		`<meta property="og:title" content="SM_IDLE v2 against baseline: ipistorm on xeon-240, Linux 6.11 – schedlab">`,
		`<meta property="og:description" content="ipistorm: [^"]*simulated, model \d+, quiet background.">`,
		`<meta property="og:url" content="https://lab.example/` + q + `">`,
		`<meta property="og:image" content="https://lab.example/api/card.png` + q + `">`,
		`<meta name="twitter:card" content="summary_large_image">`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if head, text := ask(s, "HEAD", "/?m=xeon-240", ""); head.StatusCode != 200 || text != "" {
		t.Errorf("%d %q", head.StatusCode, text)
	}
	if plain, text := ask(s, "GET", "/", ""); plain.Header.Get("Etag") != `"page"` || strings.Contains(text, "og:") {
		t.Errorf("%v %s", plain.Header, text)
	}
	if same, _ := ask(s, "GET", "/", "", "If-None-Match", `"page"`); same.StatusCode != 304 {
		t.Errorf("%d", same.StatusCode)
	}
	broken := New(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no page", 500) }))
	if response, text := ask(broken, "GET", "/?m=xeon-240", ""); response.StatusCode != 500 || strings.Contains(text, "og:") {
		t.Errorf("%d %s", response.StatusCode, text)
	}
}

func TestHost(t *testing.T) {
	for host, want := range map[string]string{
		"lab.example": "http://lab.example/", "127.0.0.1:8080": "http://127.0.0.1:8080/", "[::1]:80": "http://[::1]:80/", "LOCALHOST": "http://LOCALHOST/",
		"": "", "a b": "", `"><script>`: "", "evil.example/x": "", "user@evil.example": "", "a:b": "", "a:1:2": "", ":80": "", "a\r\nb": "", strings.Repeat("a", 300): "", "[::1": "", "a?b": "", "..": "", ".": "", "a..b": "", ".a:80": "", "a.": "http://a./", "a#b": "",
	} {
		r := httptest.NewRequest("GET", "/?seed=2", nil)
		r.Host = host
		if got := base(r); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
		w := httptest.NewRecorder()
		someone(nil).ServeHTTP(w, r)
		if strings.Contains(w.Body.String(), "og:image") != (want != "") || w.Code != 200 {
			t.Errorf("%q: %s", host, w.Body)
		}
	}
}

// TestMarkup: markup in any field comes out of no answer as markup.
func TestMarkup(t *testing.T) {
	const evil = `"'><script>alert(1)</script><svg onload=x>`
	encoded := strings.NewReplacer("%", "%25", `"`, "%22", "'", "%27", "<", "%3C", ">", "%3E", " ", "%20").Replace(evil)
	s := someone(new(shelf))
	keys := append([]string{"v", "model", "m", "k", "rt", "scx", "w", "metric", "arm", "idle", "bg", "runs", "seed", "check", "c.rq_visit", "c." + encoded, encoded, "format", "numipi", "cpulist"}, "utm_source")
	for _, key := range keys {
		for _, target := range []string{"/?", "/api/run?format=svg&", "/api/run?format=json&", "/api/run?", "/api/card.png?", "/s/", "/"} {
			for _, query := range []string{key + "=" + encoded, "numipi=10&runs=1&" + key + "=" + encoded} {
				if target == "/api/card.png?" && key != "m" {
					continue // a picture takes its time to draw
				}
				if target == "/s/" || target == "/" {
					query = encoded
				}
				response, text := ask(s, "GET", target+query, "", "Host", "lab.example")
				kind, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
				if response.Header.Get("X-Content-Type-Options") != "nosniff" || response.Header.Get("Content-Security-Policy") != Policy {
					t.Errorf("%s%s: %v", target, query, response.Header)
				}
				switch kind {
				case "text/plain", "image/png", "application/json":
				case "text/html":
					if strings.Contains(text, "<script") || strings.Contains(text, "onload=x>") {
						t.Errorf("%s%s: %s", target, query, text)
					}
				case "image/svg+xml":
					if strings.Contains(text, "<script") || xml.Unmarshal([]byte(text), new(struct{})) != nil {
						t.Errorf("%s%s: %s", target, query, text)
					}
				default:
					t.Errorf("%s%s: a %s", target, query, kind)
				}
				for name, values := range response.Header {
					if strings.ContainsAny(strings.Join(values, ""), "<>\r\n") {
						t.Errorf("%s%s: %s: %q", target, query, name, values)
					}
				}
			}
		}
	}
}

func TestMethods(t *testing.T) {
	s := someone(new(shelf))
	for path, allow := range map[string]string{"/": "GET, HEAD", "/s/22222222": "GET, HEAD", "/api/run": "GET, HEAD", "/api/card.png": "GET, HEAD", "/api/health": "GET, HEAD", "/x.js": "GET, HEAD", "/api/links": "POST"} {
		for _, method := range []string{"PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "x"} {
			response, _ := ask(s, method, path, "")
			if response.StatusCode != 405 || response.Header.Get("Allow") != allow {
				t.Errorf("%s %s: %d %v", method, path, response.StatusCode, response.Header)
			}
		}
	}
	if response, _ := ask(s, "GET", "/api/links", ""); response.StatusCode != 405 || response.Header.Get("Allow") != "POST" {
		t.Errorf("%d %v", response.StatusCode, response.Header)
	}
	response, text := ask(s, "GET", "/api/health", "")
	var health struct {
		OK      bool
		Version string
		Model   int
	}
	if err := json.Unmarshal([]byte(text), &health); err != nil || !health.OK || health.Model != core.Model || health.Version == "" || response.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s %v", text, response.Header)
	}
}

// TestFault: a fault in one answer is told to its client, and is in the log.
func TestFault(t *testing.T) {
	s := New(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("oops") }))
	var log bytes.Buffer
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	response, text := ask(s, "GET", "/x", "")
	if response.StatusCode != 500 || strings.Contains(text, "oops") || !strings.Contains(log.String(), "oops") {
		t.Errorf("%d %s %s", response.StatusCode, text, log.String())
	}
}

// TestLog: a line a request, with nothing about who asked what.
func TestLog(t *testing.T) {
	s := someone(new(shelf))
	var log bytes.Buffer
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	m := link(t, s, "?seed=4711")
	ask(s, "GET", "/?seed=4711", "")
	ask(s, "GET", "/s/"+m.ID, "")
	ask(s, "GET", "/api/run?seed=4711&runs=x", "", "User-Agent", "someone")
	ask(s, strings.Repeat("G", 500), "/"+strings.Repeat("x", 5000)+"%0Aforged", "")
	for _, secret := range []string{"4711", m.ID, "192.0.2.1", "someone", "\nforged"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%q in %s", secret, log.String())
		}
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 5 || len(log.String()) > 1500 || !regexp.MustCompile(`msg=request method=POST path=/api/links status=201 ms=\d+$`).MatchString(lines[0]) {
		t.Errorf("%q", lines)
	}
}

func TestLimiter(t *testing.T) {
	now := time.Unix(1e9, 0)
	l := &Limiter{now: func() time.Time { return now }}
	from := func(address string) *http.Request { return &http.Request{RemoteAddr: address} }
	had := func(address string, what Action) (n int) {
		for n < 1000 && l.Allow(from(address), what) {
			n++
		}
		return n
	}
	for what, rate := range rates {
		if n := had("192.0.2.1:1", what); n != rate.burst {
			t.Errorf("%s: %d at once", what, n)
		}
		now = now.Add(rate.every)
		if n := had("192.0.2.1:2", what); n != 1 {
			t.Errorf("%s: %d after a while", what, n)
		}
		now = now.Add(24 * time.Hour)
		if n := had("[::ffff:192.0.2.1]:3", what); n != rate.burst {
			t.Errorf("%s: %d at once after a day", what, n)
		}
	}
	if n := had("192.0.2.2:1", Simulate); n != rates[Simulate].burst {
		t.Errorf("another client: %d", n)
	}
	had("[2001:db8::1]:1", Simulate)
	if n := had("[2001:db8::ffff%eth0]:1", Simulate); n != 0 {
		t.Errorf("the same network: %d", n)
	}
	for i := range 2*maxClients + 1 {
		l.Allow(from(fmt.Sprintf("10.%d.%d.%d:1", i>>16, i>>8&255, i&255)), MakeLink)
	}
	if len(l.clients) > maxClients {
		t.Errorf("remembers %d clients", len(l.clients))
	}
}

func TestByHeader(t *testing.T) {
	const sender = "192.0.2.1:1"
	for _, c := range []struct {
		values []string
		want   string
	}{
		{nil, sender},
		{[]string{""}, sender},
		{[]string{"unknown"}, sender},
		{[]string{"192.0.2.7"}, "192.0.2.7"},
		{[]string{"192.0.2.7:8080"}, "192.0.2.7:8080"},
		{[]string{"2001:db8::1"}, "2001:db8::1"},
		{[]string{"203.0.113.1, 192.0.2.7"}, "192.0.2.7"},
		{[]string{"203.0.113.1", "203.0.113.2,192.0.2.7"}, "192.0.2.7"},
		{[]string{"192.0.2.7, "}, sender},
		{[]string{"192.0.2.7", "unknown"}, sender},
	} {
		r := &http.Request{RemoteAddr: sender, Header: http.Header{"X-Forwarded-For": c.values}}
		var got string
		ByHeader("x-forwarded-for", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.RemoteAddr })).ServeHTTP(nil, r)
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.values, got, c.want)
		}
	}
}

func TestMemory(t *testing.T) {
	c := &Memory{Limit: 1000}
	ctx := t.Context()
	put := func(key string) { c.Put(ctx, key, make([]byte, 100)) } // costs 301
	put("a")
	put("b")
	put("c")
	c.Get(ctx, "a")
	put("d")
	for key, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		if got := c.Get(ctx, key) != nil; got != want {
			t.Errorf("%s: %t", key, got)
		}
	}
	c.Put(ctx, "large", make([]byte, 1000))
	c.Put(ctx, "a", []byte("1"))
	if c.Get(ctx, "large") != nil || string(c.Get(ctx, "a")) != "1" || c.size > c.Limit || len(c.items) != c.order.Len() {
		t.Errorf("%d bytes, %d items, %d in order", c.size, len(c.items), c.order.Len())
	}
}

func TestHeadersFile(t *testing.T) {
	text := HeadersFile([]string{"index.html", "app.0123456789ab.js"})
	if !strings.HasPrefix(text, "/*\n") || !strings.HasSuffix(text, "\n/app.0123456789ab.js\n  Cache-Control: "+forever+"\n") || strings.Contains(text, "index") {
		t.Error(text)
	}
	for key, value := range headers {
		if !strings.Contains(text, "\n  "+key+": "+value+"\n") {
			t.Errorf("no %s", key)
		}
	}
}
