package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"schedlab/site/server"
)

// say sends bytes to a server as they are, and returns the answer's status line and all of it.
func say(t *testing.T, url, text string) (status, all string) {
	t.Helper()
	c, err := net.Dial("tcp", strings.Trim(url, "htp:/"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	io.WriteString(c, text) // a server that has heard enough hangs up
	data, _ := io.ReadAll(c)
	status, _, _ = strings.Cut(string(data), "\r\n")
	return status, string(data)
}

// TestAttacks sends a running server what no browser would, and then sees that it still serves.
func TestAttacks(t *testing.T) {
	page := t.TempDir()
	outside := filepath.Join(filepath.Dir(page), "secret.txt")
	for path, text := range map[string]string{filepath.Join(page, "index.html"): "<!doctype html><head></head>", outside: "a secret"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	files, err := pageIn(page)
	if err != nil {
		t.Fatal(err)
	}
	// A way out of the folder, before it is served and after.
	if err := os.Symlink(outside, filepath.Join(page, "way-out.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := pageIn(page); err == nil || !strings.Contains(err.Error(), "way-out.txt") {
		t.Errorf("a link out of the folder: %v", err)
	}
	if err := os.Remove(filepath.Join(page, "way-out.txt")); err != nil {
		t.Fatal(err)
	}
	url, stop := serving(t, "127.0.0.1:0", files)
	defer stop()
	if err := os.Symlink(outside, filepath.Join(page, "way-out.txt")); err != nil {
		t.Fatal(err)
	}
	get := func(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" }
	for _, c := range []struct{ text, want string }{
		{get("/"), "200"},
		{get("/../secret.txt"), "404"},
		{get("/%2e%2e/secret.txt"), "404"},
		{get("/..%2fsecret.txt"), "404"},
		{get("/..\\secret.txt"), "404"},
		{get("/s/../../secret.txt"), "404"},
		{get("//" + page + "/../secret.txt"), "404"},
		{get("/way-out.txt"), "404"},
		{get("/index.html%00.txt"), "404"},
		{get("/%ff%fe"), "404"},
		{get("/%zz"), "400"},
		{get("http://other.example/"), "200"},
		{get("/?" + strings.Repeat("x", 60_000)), "200"},
		{get("/?" + strings.Repeat("x", 100_000)), "431"},
		{get("/api/run?" + strings.Repeat("x", 60_000)), "400"},
		{"GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 200_000) + "\r\n\r\n", "431"},
		{"GET / HTTP/1.1\r\n\r\n", "400"},
		{"GET / HTTP/9.9\r\nHost: a\r\n\r\n", "505"},
		{"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", "400"},
		{"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},
		{"GET / HTTP/1.1\r\nHost: a\x00b\r\n\r\n", "400"},
		{"POST /api/links HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 99999999999\r\n\r\n" + strings.Repeat("x", 20_000), "413"},
		{"POST /api/links HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", "400"},
		{"POST /api/links HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", "400"},
		{"POST /api/links HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400"},
		{"POST /api/links HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nruns\r\n0\r\n\r\n", "400"},
		{"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\nConnection: close\r\n\r\n", "405"},
		{"TRACE / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: secret\r\n\r\n", "405"},
		{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "405"},
	} {
		status, all := say(t, url, c.text)
		if !strings.HasPrefix(status, "HTTP/1.1 "+c.want+" ") || strings.Contains(all, "secret") {
			t.Errorf("%.60q: %s", c.text, status)
		}
	}
	if status, _ := say(t, url, get("/")); !strings.HasPrefix(status, "HTTP/1.1 200 ") {
		t.Errorf("afterwards: %s", status)
	}
}

// TestSlowClients: who sends slowly, or does not take its answer, is hung up on, and holds up
// nobody meanwhile.
func TestSlowClients(t *testing.T) {
	test := httptest.NewUnstartedServer(nil)
	test.Config = newHTTP(server.New(server.Files(pageOfTest)), io.Discard)
	for name, limit := range map[string]time.Duration{"header": test.Config.ReadHeaderTimeout, "body": test.Config.ReadTimeout, "answer": test.Config.WriteTimeout, "next": test.Config.IdleTimeout} {
		if limit <= 0 || limit > 5*time.Minute {
			t.Errorf("waits %v for a %s", limit, name)
		}
	}
	test.Config.ReadHeaderTimeout, test.Config.ReadTimeout = 300*time.Millisecond, 600*time.Millisecond
	test.Start()
	defer test.Close()
	var slow []net.Conn
	for i := range 100 {
		c, err := net.Dial("tcp", test.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, []string{"GET / HTTP/1.1\r\nHost: a\r\nX: ", "POST /api/links HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n?", ""}[i%3])
		slow = append(slow, c)
	}
	response, err := http.Get(test.URL)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	for i, c := range slow {
		c.SetReadDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.Copy(io.Discard, bufio.NewReader(c)); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Errorf("slow client %d is still there", i)
		}
	}
}

// TestServeWithoutLinks: a file of links that can't be had takes nothing else away.
func TestServeWithoutLinks(t *testing.T) {
	links := filepath.Join(t.TempDir(), "links.db")
	held := &linkFile{path: links}
	if _, err := held.Add(t.Context(), "23456789", "?v=1&model=1"); err != nil {
		t.Fatal(err)
	}
	defer held.close()
	for _, path := range []string{links, "/proc/links.db", t.TempDir()} {
		p := start(t, "-links", path)
		for _, c := range []struct {
			method, path, body string
			status             int
		}{{"GET", "", "", 200}, {"GET", "?seed=2", "", 200}, {"POST", "api/links", "?seed=2", 503}, {"GET", "api/health", "", 200}} {
			r, err := http.NewRequest(c.method, p.url+c.path, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			if response.StatusCode != c.status || c.status == 503 && (!strings.HasPrefix(string(body), "503: the short link could not be stored") || strings.Contains(string(body), path)) {
				t.Errorf("%s: %s %s: %d %s", path, c.method, c.path, response.StatusCode, body)
			}
		}
		p.Process.Signal(os.Interrupt)
		if err := p.Wait(); err != nil {
			t.Error(err)
		}
		if log := p.stderr.String(); strings.Count(log, "\n") != 1 || !strings.Contains(log, path) || strings.Contains(log, "127.0.0.1") {
			t.Errorf("%s: log %q", path, log)
		}
	}
}

// TestComplaints: what the HTTP server has to say is said without addresses.
func TestComplaints(t *testing.T) {
	for text, want := range map[string]string{
		"http: TLS handshake error from 192.0.2.1:4711: EOF\n":        "schedlab: http: TLS handshake error: EOF\n",
		"http: panic serving [2001:db8::1%eth0]:80: a fault\nstack\n": "schedlab: http: panic serving: a fault\nschedlab: stack\n",
	} {
		var b strings.Builder
		fmt.Fprint(complaints{streams{io.Discard, &b}, false}, text)
		if b.String() != want {
			t.Errorf("%q", b.String())
		}
		b.Reset()
		if fmt.Fprint(complaints{streams{io.Discard, &b}, true}, text); b.Len() > 0 {
			t.Errorf("%q", b.String())
		}
	}
}
