package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"schedlab/core"
	"schedlab/core/report"
	"schedlab/core/scenario"
	"schedlab/site/server"
)

// small is a scenario that takes a moment.
const small = "?m=xeon-240&numipi=200&runs=6"

// need skips what is tried with the Worker as it was last built (go run ./site/edge), unless it is asked for.
func need(t *testing.T) {
	t.Helper()
	if os.Getenv("SCHEDLAB_EDGE") == "" {
		t.Skip("only with SCHEDLAB_EDGE=1, after npm ci here and go run ./site/edge")
	}
}

// TestWrangler: the tool that deploys it understands all of wrangler.jsonc. What it does not know it leaves out, limits for one.
func TestWrangler(t *testing.T) {
	need(t)
	command := exec.Command(filepath.Join("node_modules", ".bin", "wrangler"), "deploy", "--dry-run", "--outdir", t.TempDir())
	command.Env = append(os.Environ(), "WRANGLER_SEND_METRICS=false", "WRANGLER_LOG_PATH="+t.TempDir(), "NO_COLOR=1")
	said, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if strings.Contains(string(said), "WARNING") {
		t.Errorf("it warns:\n%s", said)
	}
	for _, binding := range []string{"env.LINKS ", "env.LINK_LIMIT (20 requests/60s)", "env.RUN_LIMIT (20 requests/60s)", "env.ASSETS "} {
		if !strings.Contains(string(said), binding) {
			t.Errorf("no %s in what it would deploy:\n%s", binding, said)
		}
	}
}

// worker starts the Worker in Cloudflare's runtime.
func worker(t *testing.T) (url string) {
	need(t)
	command := exec.Command("node", "serve.mjs")
	var stderr strings.Builder
	command.Stderr = &stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		late := time.AfterFunc(20*time.Second, func() { command.Process.Kill() })
		defer late.Stop()
		io.Copy(io.Discard, stdout)
		command.Wait()
		if text := stderr.String(); strings.Contains(text, "panic") || strings.Contains(text, "level=ERROR") {
			t.Errorf("the Worker says %s", text)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		command.Wait()
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	return strings.TrimSpace(line)
}

var client = &http.Client{
	Timeout:       3 * time.Minute, // on a busy machine
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// ask sends a request from a client of its own, for the limits.
func ask(t *testing.T, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Cf-Connecting-Ip", "192.0.2.1")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	if policy := response.Header.Get("Content-Security-Policy"); policy != server.Policy || response.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s %s: %v", method, url, response.Header)
	}
	return response, string(data)
}

// TestWorker tries all that the Worker does, one thing after the other, as each start of it
// takes its time.
func TestWorker(t *testing.T) {
	url := worker(t)

	t.Run("files", func(t *testing.T) {
		entries, err := os.ReadDir(filepath.Join("..", "..", ".bin", "edge", "www"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			want, err := os.ReadFile(filepath.Join("..", "..", ".bin", "edge", "www", e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			response, text := ask(t, "GET", url+e.Name(), "")
			if e.Name() == "_headers" {
				if response.StatusCode != 404 {
					t.Errorf("%s is a page", e.Name())
				}
				continue
			}
			cache := response.Header.Get("Cache-Control")
			if hashed := strings.Count(e.Name(), ".") == 2; response.StatusCode != 200 || text != string(want) || strings.Contains(cache, "immutable") != hashed || strings.HasSuffix(e.Name(), ".wasm") && response.Header.Get("Content-Type") != "application/wasm" {
				t.Errorf("%s: %d %v", e.Name(), response.StatusCode, response.Header)
			}
			if e.Name() != "index.html" {
				continue
			}
			response, root := ask(t, "GET", url, "")
			if response.StatusCode != 200 || root != text {
				t.Errorf("/: %d, %d bytes", response.StatusCode, len(root))
			}
			if response, text := ask(t, "GET", url, "", "If-None-Match", response.Header.Get("Etag")); response.StatusCode != 304 || text != "" {
				t.Errorf("/ again: %d", response.StatusCode)
			}
			if response, text := ask(t, "HEAD", url, ""); response.StatusCode != 200 || text != "" {
				t.Errorf("HEAD /: %d", response.StatusCode)
			}
		}
		for _, path := range []string{"nothing", "nothing.0123456789ab.js", "api/", "api/nothing", "s/", "s/nothing", "%2e%2e/%2e%2e/go.mod", "index", "app.wasm.br"} {
			if response, text := ask(t, "GET", url+path, ""); response.StatusCode != 404 || !strings.HasPrefix(text, "404: ") {
				t.Errorf("%s: %d %.100s", path, response.StatusCode, text)
			}
		}
	})

	t.Run("links", func(t *testing.T) {
		response, text := ask(t, "POST", url+"api/links", small, "Content-Type", "text/plain")
		var made struct{ ID, Path, Query string }
		if err := json.Unmarshal([]byte(text), &made); err != nil || response.StatusCode != 201 {
			t.Fatalf("%d %s", response.StatusCode, text)
		}
		if _, again := ask(t, "POST", url+"api/links", made.Query); again != text {
			t.Errorf("%s, and %s", text, again)
		}
		response, _ = ask(t, "GET", url+made.Path, "")
		if response.StatusCode != 302 || response.Header.Get("Location") != "../"+made.Query {
			t.Errorf("%d %v", response.StatusCode, response.Header)
		}
		for _, c := range []struct {
			method, path, body string
			status             int
		}{
			{"GET", "s/22222222", "", 404},
			{"POST", "api/links", "?runs=0", 400},
			{"POST", "api/links", "?" + strings.Repeat("x", 3<<20), 413},
			{"POST", "api/run", strings.Repeat("x", 100_000), 405},
			{"POST", "", strings.Repeat("x", 100_000), 405},
			{"PUT", "api/links", "x", 405},
			{"GET", "api/links", "", 405},
		} {
			response, text := ask(t, c.method, url+c.path, c.body)
			if response.StatusCode != c.status || !strings.Contains(response.Header.Get("Content-Type"), "text/plain") {
				t.Errorf("%s %s: %d %s", c.method, c.path, response.StatusCode, text)
			}
			// What was not looked at holds nothing up.
			if response, _ := ask(t, "GET", url+"api/health", ""); response.StatusCode != 200 {
				t.Errorf("after %s %s: %d", c.method, c.path, response.StatusCode)
			}
		}
	})

	t.Run("runs", func(t *testing.T) {
		question, _ := scenario.Parse(small)
		result, err := core.Run(question, nil)
		if err != nil {
			t.Fatal(err)
		}
		for format, want := range map[string]string{"text": report.Text(result), "json": report.JSON(result), "csv": report.CSV(result), "svg": "<svg"} {
			for range 2 {
				if response, text := ask(t, "GET", url+"api/run"+small+"&format="+format, ""); response.StatusCode != 200 || !strings.HasPrefix(text, want) {
					t.Errorf("%s: %d %.200s", format, response.StatusCode, text)
				}
			}
		}
		for query, status := range map[string]int{"?runs=0": 400, "?runs=1000": 422, "?check=1": 422} {
			if response, text := ask(t, "GET", url+"api/run"+query, ""); response.StatusCode != status {
				t.Errorf("%s: %d %s", query, response.StatusCode, text)
			}
		}
	})

	t.Run("previews", func(t *testing.T) {
		response, text := ask(t, "GET", url+small, "")
		card := regexp.MustCompile(`<meta property="og:image" content="` + regexp.QuoteMeta(url) + `(api/card\.png\?[^"]*)">`).FindStringSubmatch(text)
		if response.StatusCode != 200 || response.Header.Get("Etag") != "" || card == nil || !strings.Contains(text, "<!--mount-->") && !strings.Contains(text, `id="app"`) {
			t.Fatalf("%d %v %.2000s", response.StatusCode, response.Header, text)
		}
		for _, path := range []string{strings.ReplaceAll(card[1], "&amp;", "&"), "api/card.png?m=nothing"} {
			response, text := ask(t, "GET", url+path, "")
			img, err := png.Decode(strings.NewReader(text))
			if err != nil || response.StatusCode != 200 || img.Bounds().Dx() != 1200 {
				t.Errorf("%s: %d %v %v", path, response.StatusCode, response.Header, err)
			}
		}
	})

	// Each request has an instance of its own, which must not meet the others.
	t.Run("at once", func(t *testing.T) {
		var group sync.WaitGroup
		for i := range 24 {
			group.Go(func() {
				query := fmt.Sprintf("?v=1&model=%d&m=xeon-240&numipi=%d&runs=1", core.Model, 100+i)
				client := []string{"Cf-Connecting-Ip", fmt.Sprintf("198.51.100.%d", i)}
				switch i % 3 {
				case 0:
					if response, text := ask(t, "POST", url+"api/links", query, client...); response.StatusCode != 201 || !strings.Contains(text, query+`"`) {
						t.Errorf("%s: %d %s", query, response.StatusCode, text)
					}
				case 1:
					if response, text := ask(t, "GET", url+"api/run"+query, "", client...); response.StatusCode != 200 || !strings.Contains(text, query+"\n") {
						t.Errorf("%s: %d %s", query, response.StatusCode, text)
					}
				case 2:
					if response, text := ask(t, "GET", url+query, "", client...); response.StatusCode != 200 || !strings.Contains(text, strings.ReplaceAll(query, "&", "&amp;")+`"`) {
						t.Errorf("%s: %d", query, response.StatusCode)
					}
				}
			})
		}
		group.Wait()
	})

	t.Run("limits", func(t *testing.T) {
		var had []int
		for i := range 30 {
			response, _ := ask(t, "POST", url+"api/links", fmt.Sprintf("?seed=%d", i), "Cf-Connecting-Ip", "203.0.113.7")
			had = append(had, response.StatusCode)
		}
		if had[0] != 201 || !slices.Contains(had, 429) {
			t.Errorf("%v", had)
		}
		if response, _ := ask(t, "POST", url+"api/links", "?seed=1", "Cf-Connecting-Ip", "203.0.113.8"); response.StatusCode != 201 {
			t.Errorf("another client: %d", response.StatusCode)
		}
	})

	t.Run("malformed", func(t *testing.T) {
		for _, path := range []string{"s/%zz", "s/%", "api/run%4", "api/%ff%f?seed=1", "s/%zz?%zz"} {
			// As it is: no client of Go's would ask for it.
			r, err := http.NewRequest("GET", url, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.URL.Opaque = "/" + path
			response, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(response.Body)
			response.Body.Close()
			if response.StatusCode != 400 || !strings.HasPrefix(string(text), "400: ") || response.Header.Get("Content-Security-Policy") != server.Policy || response.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %d %v %.200s", path, response.StatusCode, response.Header, text)
			}
		}
		for _, text := range []string{
			"GET /?seed=1 HTTP/1.1\r\nHost: \"><script>\r\nConnection: close\r\n\r\n",
			"GET /" + strings.Repeat("x", 100_000) + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
			"POST /api/links HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n?seed=1", // and no more
			"nonsense\r\n\r\n",
		} {
			c, err := net.Dial("tcp", strings.Trim(url, "htp:/"))
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(c, text)
			c.(*net.TCPConn).CloseWrite()
			c.SetReadDeadline(time.Now().Add(20 * time.Second))
			answer, _ := io.ReadAll(c)
			c.Close()
			if strings.Contains(string(answer), "<script>\"") || strings.Contains(string(answer), `"><script>`) {
				t.Errorf("%.40q: %s", text, answer)
			}
			if response, _ := ask(t, "GET", url+"api/health", ""); response.StatusCode != 200 {
				t.Errorf("after %.40q: %d", text, response.StatusCode)
			}
		}
	})
}

// TestPage: the page's own scenario is within the budget of a Worker.
func TestPage(t *testing.T) {
	url := worker(t)
	response, text := ask(t, "GET", url+"api/run?format=csv", "")
	if rows := 1 + 2*scenario.Default().Runs; response.StatusCode != 200 || strings.Count(text, "\n") != rows {
		t.Errorf("%d %s", response.StatusCode, text)
	}
}

// TestConfiguration: wrangler.jsonc names what the Worker asks for.
func TestConfiguration(t *testing.T) {
	config, err := os.ReadFile("wrangler.jsonc")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join("..", "..", "wasm", "edge", "main_js.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`"([A-Z_]{3,})"`)
	for _, name := range names.FindAllString(string(source), -1) {
		if !strings.Contains(string(config), name) {
			t.Errorf("no %s", name)
		}
	}
	for _, name := range names.FindAllString(string(config), -1) {
		if !strings.Contains(string(source), name) {
			t.Errorf("the Worker asks for no %s", name)
		}
	}
}

func TestCopyPage(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "www")
	if err := copyPage(from, to); err == nil || !strings.Contains(err.Error(), "no page is built") {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"index.html", "index.html.br", "a.0123456789ab.js", "a.0123456789ab.js.gz", ".keep"} {
		if err := os.WriteFile(filepath.Join(from, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := copyPage(from, to); err != nil {
		t.Fatal(err)
	}
	var names []string
	entries, _ := os.ReadDir(to)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, []string{"_headers", "a.0123456789ab.js", "index.html"}) {
		t.Errorf("%v", names)
	}
}
