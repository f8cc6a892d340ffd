//go:build !js

package server

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/andybalholm/brotli"
)

const (
	text = "The same again and again. "
	app  = "/app.0123456789ab.js"
)

func page(t *testing.T) http.Handler {
	t.Helper()
	long := strings.Repeat(text, 100)
	var gz, br bytes.Buffer
	g, b := gzip.NewWriter(&gz), brotli.NewWriter(&br)
	for _, w := range []io.WriteCloser{g, b} {
		if _, err := io.WriteString(w, long); err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	return New(Files(fstest.MapFS{
		".keep":                      file("secret"),
		".git/config":                file("secret"),
		"folder/.notes/index.html":   file("secret"),
		"index.html":                 file("<!doctype html>"),
		"app.0123456789ab.js":        file(long),
		"app.0123456789ab.js.gz":     file(gz.String()),
		"app.0123456789ab.js.br":     file(br.String()),
		"app.0123456789ab.wasm":      file("\x00asm"),
		"icon.0123456789ab.svg":      file("<svg/>"),
		"style.0123456789ab.css":     file("a{}"),
		"app.webmanifest":            file("{}"),
		"folder/index.html":          file("<!doctype html>"),
		"folder/notes.abcdefghij.js": file("1"),
	}))
}

func get(h http.Handler, method, path string, header ...string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestServes(t *testing.T) {
	h := page(t)
	for path, want := range map[string]struct{ kind, cache string }{
		"/":                           {"text/html; charset=utf-8", "no-cache"},
		"/?v=1&model=1":               {"text/html; charset=utf-8", "no-cache"},
		app:                           {"application/javascript", "public, max-age=31536000, immutable"},
		"/app.0123456789ab.wasm":      {"application/wasm", "public, max-age=31536000, immutable"},
		"/icon.0123456789ab.svg":      {"image/svg+xml", "public, max-age=31536000, immutable"},
		"/style.0123456789ab.css":     {"text/css; charset=utf-8", "public, max-age=31536000, immutable"},
		"/app.webmanifest":            {"application/manifest+json", "no-cache"},
		"/folder/":                    {"text/html; charset=utf-8", "no-cache"},
		"/folder/notes.abcdefghij.js": {"application/javascript", "no-cache"}, // no hash
	} {
		r := get(h, "GET", path)
		if r.StatusCode != 200 || r.Header.Get("Content-Type") != want.kind || r.Header.Get("Cache-Control") != want.cache {
			t.Errorf("%s: %d %v", path, r.StatusCode, r.Header)
		}
		for key, value := range headers {
			if r.Header.Get(key) != value {
				t.Errorf("%s: %s is %q", path, key, r.Header.Get(key))
			}
		}
		if body(t, r) == "" {
			t.Errorf("%s is empty", path)
		}
		head := get(h, "HEAD", path)
		if head.StatusCode != 200 || head.Header.Get("Content-Type") != want.kind || head.Header.Get("Etag") != r.Header.Get("Etag") || body(t, head) != "" {
			t.Errorf("HEAD %s: %d %v", path, head.StatusCode, head.Header)
		}
	}
}

// TestForms: each gets the smallest form that it takes.
func TestForms(t *testing.T) {
	h := page(t)
	for accept, want := range map[string]string{
		"": "", "identity": "", "gzip": "gzip", "br": "br", "gzip, deflate, br, zstd": "br", "br;q=0": "", "gzip;q=1.0, br; q=0.000": "gzip",
		"BR": "br", ";;q=,": "", "br;Q=0": "", "br ; q = 0, gzip ; q = 0.1": "gzip", "notbr, gzipped, x-br": "", "br;q=x": "", "br;q=NaN": "", "br;level=9": "br",
	} {
		r := get(h, "GET", app, "Accept-Encoding", accept)
		data := body(t, r)
		switch want {
		case "gzip":
			z, err := gzip.NewReader(strings.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(z)
			data = string(b)
		case "br":
			b, _ := io.ReadAll(brotli.NewReader(strings.NewReader(data)))
			data = string(b)
		}
		if r.Header.Get("Content-Encoding") != want || data != strings.Repeat(text, 100) || r.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %v, %.40q", accept, r.Header, data)
		}
	}
}

func TestETag(t *testing.T) {
	h := page(t)
	tags := map[string]bool{}
	for _, accept := range []string{"", "gzip", "br"} {
		r := get(h, "GET", app, "Accept-Encoding", accept)
		tag := r.Header.Get("Etag")
		if !regexp.MustCompile(`^"[^"]+"$`).MatchString(tag) || tags[tag] {
			t.Errorf("%q: tag %s", accept, tag)
		}
		tags[tag] = true
		for _, match := range []string{tag, "W/" + tag, `"other", ` + tag, tag + `,W/"other"`, "*"} {
			for _, method := range []string{"GET", "HEAD"} {
				r := get(h, method, app, "Accept-Encoding", accept, "If-None-Match", match, "Range", "bytes=0-3")
				if r.StatusCode != 304 || body(t, r) != "" || r.Header.Get("Etag") != tag || r.Header.Get("Vary") != "Accept-Encoding" || r.Header.Get("Content-Length") != "" {
					t.Errorf("%q: %d %v for what is there already, %s", accept, r.StatusCode, r.Header, match)
				}
			}
		}
		if r := get(h, "GET", "/nothing", "If-None-Match", "*"); r.StatusCode != 404 {
			t.Errorf("status %d for no file", r.StatusCode)
		}
		for _, match := range []string{`"other"`, `"`, ``, `W/`, strings.Trim(tag, `"`), `"a", "b"`} {
			if r := get(h, "GET", app, "Accept-Encoding", accept, "If-None-Match", match); r.StatusCode != 200 {
				t.Errorf("%q: status %d for %s", accept, r.StatusCode, match)
			}
		}
	}
}

// TestRange: a part is of the file as it is now, and on no condition, since it could be put to a part of another version.
func TestRange(t *testing.T) {
	h := page(t)
	all := strings.Repeat(text, 100)
	tag := get(h, "GET", app).Header.Get("Etag")
	if r := get(h, "GET", app, "Range", "bytes=4-7"); r.StatusCode != 206 || body(t, r) != all[4:8] || r.Header.Get("Etag") != tag {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
	for _, condition := range []string{"If-Range", "If-Match"} {
		for _, match := range []string{tag, `"other"`, "Tue, 01 Dec 2026 00:00:00 GMT"} {
			if r := get(h, "GET", app, "Range", "bytes=4-7", condition, match); r.StatusCode != 200 || body(t, r) != all {
				t.Errorf("%s: %s: %d %v", condition, match, r.StatusCode, r.Header)
			}
		}
	}
}

func TestRefuses(t *testing.T) {
	h := page(t)
	for _, path := range []string{
		"/nothing", "/.keep", "/.git/config", "/.git", "/.git/", "/folder/.notes/", "/folder/.notes/index.html", "/./.git/config", "/%2egit/config", app + ".br", app + ".gz", "/folder/nothing.0123456789ab.js", "/../server.go", "/%2e%2e/server.go", "/app.0123456789ab.js/",
		"/<script>alert(1)</script>",
	} {
		r := get(h, "GET", strings.NewReplacer("<", "%3C", ">", "%3E").Replace(path))
		if text := body(t, r); r.StatusCode != 404 || len(text) > 100 || strings.Contains(text, "script") || r.Header.Get("Cache-Control") != "no-store" ||
			r.Header.Get("Content-Type") != "text/plain; charset=utf-8" || r.Header.Get("Content-Security-Policy") != Policy {
			t.Errorf("%s: %d %v %q", path, r.StatusCode, r.Header, text)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "TRACE"} {
		if r := get(h, method, "/"); r.StatusCode != 405 || r.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d %v", method, r.StatusCode, r.Header)
		}
	}
	// The page stays where it is, whatever the path that names its file.
	if r := get(h, "GET", "//evil.example/index.html"); r.StatusCode == 200 || strings.Contains(r.Header.Get("Location"), "evil") {
		t.Errorf("%d %v", r.StatusCode, r.Header)
	}
}

// TestPolicyOfPage: the page itself says what the server says.
func TestPolicyOfPage(t *testing.T) {
	html, err := os.ReadFile("../web/index.html")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.TrimSuffix(Policy, "; "+policyInHeaderOnly)
	if !strings.Contains(string(html), `<meta http-equiv="Content-Security-Policy" content="`+want+`">`) {
		t.Errorf("index.html has another policy than %q", want)
	}
}

// Who reads in a browser that there is nothing gets a way to the simulator, also from below a path.
func TestMissing(t *testing.T) {
	h := page(t)
	for path, home := range map[string]string{"/s/22222222": "./../", "/s/<b>/x": "./../../", "/nothing": "./", "/a/nothing.js": "./../"} {
		r := get(h, "GET", path, "Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
		text := body(t, r)
		if r.StatusCode != 404 || r.Header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(text, `<a href="`+home+`">`) || strings.Contains(text, "<b>") || r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v %s", path, r.StatusCode, r.Header, text)
		}
		r = get(h, "GET", path)
		if text := body(t, r); r.StatusCode != 404 || !strings.HasPrefix(text, "404: ") || strings.Contains(text, "<") || r.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: %d %v %s", path, r.StatusCode, r.Header, text)
		}
	}
}
