package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"schedlab/site/dist"
)

var address = regexp.MustCompile(`http://\S+`)

var pageOfTest = fstest.MapFS{"index.html": {Data: []byte("<!doctype html><title>schedlab</title>")}}

// serving starts serve and returns the page's address. stop ends it and returns its error.
func serving(t *testing.T, addr string, page fs.ReadDirFS) (url string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := serve(ctx, streams{w, io.Discard}, service{addr: addr, page: page, links: filepath.Join(t.TempDir(), "links.db"), log: "errors"})
		w.CloseWithError(io.EOF)
		done <- err
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		cancel()
		return "", func() error { return <-done }
	}
	return address.FindString(line), func() error { cancel(); return <-done }
}

func TestServe(t *testing.T) {
	url, stop := serving(t, "127.0.0.1:0", pageOfTest)
	client := &http.Client{Timeout: 10 * time.Second}
	response, err := client.Get(url + "?v=1&model=1")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(response.Body)
	response.Body.Close()
	if response.StatusCode != 200 || string(body) != string(pageOfTest["index.html"].Data) || response.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("%s: %d %v %s", url, response.StatusCode, response.Header, body)
	}

	// The port is in use now.
	_, again := serving(t, strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"), pageOfTest)
	if err := again(); err == nil || !strings.Contains(err.Error(), "another program serves on 127.0.0.1:") || !strings.Contains(err.Error(), "-addr") {
		t.Errorf("a used port: %v", err)
	}

	if err := stop(); err != nil {
		t.Errorf("stopped: %v", err)
	}
	if c, err := net.DialTimeout("tcp", strings.Trim(url, "htp:/"), time.Second); err == nil {
		c.Close()
		t.Error("it still listens")
	}
}

func TestServeBadInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"serve", "?runs=3"}, 2, "schedlab: serve: want a folder, or no argument"},
		{[]string{"serve", "-addr", "8080"}, 2, "schedlab: -addr=8080: want host:port, such as 127.0.0.1:8080\n"},
		{[]string{"serve", "-addr="}, 2, "schedlab: -addr=: want host:port"},
		{[]string{"serve", "-log", "all"}, 2, "schedlab: -log=all: want one of errors, requests, nothing"},
		{[]string{"serve", "-client", "X-Real-IP: 1"}, 2, "schedlab: -client=X-Real-IP: 1: want the name of a header, such as X-Real-IP"},
		{[]string{"serve", "nowhere"}, 2, "schedlab: serve: nowhere: want a folder with the page in it, such as site/dist/www (no such file"},
		{[]string{"serve", "."}, 2, "schedlab: serve: .: want a folder with the page in it, such as site/dist/www; this one has no index.html"},
		{[]string{"serve", "serve_test.go"}, 2, "schedlab: serve: serve_test.go: want a folder with the page in it"},
		{[]string{"version", "x"}, 2, "schedlab: version: want no argument"},
	} {
		code, stdout, stderr := schedlab(t, c.args...)
		if code != c.code || stdout != "" || !strings.HasPrefix(stderr, c.want) {
			t.Errorf("%q: exit status %d, %q, %q", c.args, code, stdout, stderr)
		}
	}
	for _, addr := range []string{"127.0.0.1:99999", "host.invalid:1"} {
		if err := serve(t.Context(), streams{io.Discard, io.Discard}, service{addr: addr, page: pageOfTest}); err == nil || !strings.Contains(err.Error(), "can't serve on "+addr) {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// TestServeSignals: a running process stops by either signal, and all is well;
// or it says how to get the page.
func TestServeSignals(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		command := exec.Command(self, "serve", "-addr", "127.0.0.1:0")
		command.Env = append(os.Environ(), "SCHEDLAB_TEST_AS_COMMAND=1")
		var stderr strings.Builder
		command.Stderr = &stderr
		stdout, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		stop := time.AfterFunc(20*time.Second, func() { command.Process.Kill() })
		defer stop.Stop()
		line, _ := bufio.NewReader(stdout).ReadString('\n')
		if _, built := dist.Page(); built {
			if !strings.HasPrefix(line, "the page is at http://127.0.0.1:") {
				t.Errorf("printed %q", line)
			}
			if err := command.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if err := command.Wait(); err != nil || stderr.Len() > 0 {
				t.Errorf("%v: %v, %q", signal, err, stderr.String())
			}
			continue
		}
		var exit *exec.ExitError
		if err := command.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(stderr.String(), "./build.sh") {
			t.Errorf("without a page: %v, %q", err, stderr.String())
		}
	}
}

// A process is a running schedlab serve.
type process struct {
	*exec.Cmd
	url    string
	stderr bytes.Buffer // whole once the process has ended
}

// start starts the command's server as a process of its own, with a page of a line.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	page := t.TempDir()
	if err := os.WriteFile(filepath.Join(page, "index.html"), pageOfTest["index.html"].Data, 0o666); err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(self, append([]string{"serve", "-addr", "127.0.0.1:0", page}, args...)...)}
	p.Env = append(os.Environ(), "SCHEDLAB_TEST_AS_COMMAND=1")
	p.Stderr = &p.stderr
	stdout, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill() })
	line := make([]byte, 200)
	n, err := io.ReadAtLeast(stdout, line, len("the page is at http://127.0.0.1:1/"))
	if err != nil {
		p.Wait()
		t.Fatalf("%v: %s", err, p.stderr.String())
	}
	p.url = address.FindString(string(line[:n]))
	return p
}

// TestServeFolder: serve takes a page from a folder as it is then, and what happens to that later changes nothing.
func TestServeFolder(t *testing.T) {
	dir := t.TempDir()
	put := func(files map[string]string) {
		t.Helper()
		for name, text := range files {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(map[string]string{"index.html": "<!doctype html>one", "app.0123456789ab.js": "1", "app.0123456789ab.js.br": "br", "more/index.html": "more", ".git/config": "secret"})
	page, err := pageIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	url, stop := serving(t, "127.0.0.1:0", page)
	defer stop()
	get := func(path string, header ...string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequest("GET", url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", "br")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, _ := io.ReadAll(response.Body)
		return response, string(body)
	}
	want := map[string]string{"": "<!doctype html>one", "app.0123456789ab.js": "br", "more/": "more"}
	tags := make(map[string]string)
	for path, text := range want {
		response, body := get(path)
		if response.StatusCode != 200 || body != text {
			t.Errorf("%s: %d %s", path, response.StatusCode, body)
		}
		tags[path] = response.Header.Get("Etag")
	}
	if response, _ := get(".git/config"); response.StatusCode != 404 {
		t.Errorf("a hidden folder: %d", response.StatusCode)
	}
	// The page is built anew.
	for _, name := range []string{"app.0123456789ab.js", "app.0123456789ab.js.br", "more"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	put(map[string]string{"index.html": "<!doctype html>two", "app.ba9876543210.js": "2"})
	for path, text := range want {
		if response, body := get(path); response.StatusCode != 200 || body != text {
			t.Errorf("afterwards, %s: %d %s", path, response.StatusCode, body)
		}
		if response, _ := get(path, "If-None-Match", tags[path]); response.StatusCode != 304 {
			t.Errorf("afterwards, %s again: %d", path, response.StatusCode)
		}
	}
	// Another server has it.
	if again, err := pageIn(dir); err != nil {
		t.Error(err)
	} else if data, err := fs.ReadFile(again, "index.html"); string(data) != "<!doctype html>two" {
		t.Errorf("%s, %v", data, err)
	}
}
