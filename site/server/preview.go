package server

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"

	"schedlab/core/machine"
	"schedlab/core/scenario"
	"schedlab/core/workload"
	"schedlab/site/lab"
	"schedlab/site/picture"
)

// index serves the page. Behind a question mark there is a question, which is put into tags for those who show
// previews of links. The page itself is the same, and shows the same without them.
func (s *Server) index(w http.ResponseWriter, r *http.Request) {
	if r.URL.RawQuery == "" {
		s.file(w, r)
		return
	}
	// As it is, all of it, and now: what is sent is another document.
	plain := r.Clone(r.Context())
	plain.Method = http.MethodGet
	for _, key := range []string{"Accept-Encoding", "If-None-Match", "If-Modified-Since", "If-Match", "If-Range", "Range"} {
		plain.Header.Del(key)
	}
	page := &buffer{header: make(http.Header)}
	s.page.ServeHTTP(page, plain)
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Type", page.header.Get("Content-Type"))
	body := page.body.Bytes()
	if page.status == http.StatusOK || page.status == 0 {
		question, _ := scenario.Parse(r.URL.RawQuery)
		body = bytes.Replace(body, []byte("</head>"), []byte(tags(question, base(r))+"</head>"), 1)
	} else {
		w.WriteHeader(page.status)
	}
	w.Write(body)
}

// tags describes a scenario in words. It simulates nothing: the picture does.
// base is the page's address, "" if that is not known.
func tags(s scenario.Scenario, base string) string {
	title := picture.Title(s) + " – schedlab"
	pairs := [][3]string{
		{"property", "og:type", "website"},
		{"property", "og:site_name", "schedlab"},
		{"property", "og:title", title},
		{"property", "og:description", describe(s)},
	}
	if base != "" {
		card := base + "api/card.png" + s.Query()
		pairs = append(pairs, [][3]string{
			{"property", "og:url", base + s.Query()},
			{"property", "og:image", card},
			{"property", "og:image:type", "image/png"},
			{"property", "og:image:width", fmt.Sprint(picture.CardWidth)},
			{"property", "og:image:height", fmt.Sprint(picture.CardHeight)},
			{"property", "og:image:alt", "Verdict and histogram: " + title + "; " + picture.Basis(s)},
			{"name", "twitter:card", "summary_large_image"},
		}...)
	}
	var b strings.Builder
	for _, p := range pairs {
		fmt.Fprintf(&b, "<meta %s=\"%s\" content=\"%s\">\n", p[0], p[1], html.EscapeString(p[2]))
	}
	return b.String()
}

// describe says in sentences what a scenario asks.
func describe(s scenario.Scenario) string {
	on, of := s.Machine, s.Workload
	if m, err := machine.Lookup(s.Machine); err == nil {
		on = m.Title
	}
	if w, err := workload.Lookup(s.Workload); err == nil {
		of = w.Title
	}
	return fmt.Sprintf("%s; %s, Linux %s. %s Figures are %s.", of, on, lab.KernelTitle(s), picture.Runs(s), picture.Basis(s))
}

// isHost tells whether a text may stand in an address: a name or an IP address, and perhaps a port.
func isHost(s string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-"
	u, err := url.Parse("http://" + s)
	if err != nil || u.Host != s || len(s) > 255 || strings.Trim(s, letters+":[]") != "" {
		return false
	}
	name := u.Hostname()
	return name != "" && !strings.HasPrefix(name, ".") && !strings.Contains(name, "..") // no part is empty
}

// base returns the address at which the request met the page, "" if the client
// sent anything but one.
func base(r *http.Request) string {
	if !isHost(r.Host) {
		return ""
	}
	scheme := "http"
	// The last is what a proxy says, or a client, who gets it in its own answer only.
	if r.TLS != nil || r.URL.Scheme == "https" || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return (&url.URL{Scheme: scheme, Host: r.Host, Path: "/"}).String()
}

// A buffer is a ResponseWriter into memory.
type buffer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (b *buffer) Header() http.Header { return b.header }

func (b *buffer) WriteHeader(status int) { b.status = status }

func (b *buffer) Write(data []byte) (int, error) { return b.body.Write(data) }
