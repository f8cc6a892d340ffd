package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"schedlab/core/scenario"
	"schedlab/site/dist"
)

// TestPlainHost: any host will do, under any path, without headers of ours and
// without knowing what WebAssembly is.
func TestPlainHost(t *testing.T) {
	need(t)
	page, _ := dist.Page()
	files := http.FileServerFS(page)
	b := newTab(t, http.StripPrefix("/some/where", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".wasm") {
			w.Header().Set("Content-Type", "application/octet-stream")
		}
		files.ServeHTTP(w, r)
	})))
	b.open("some/where/" + small)
	s, _ := scenario.Parse(small)
	b.finish(s)
}

const trouble = `document.querySelector("#trouble:not([hidden])")?.innerText`

// TestNoProgram: a program that does not come is a message, not a page that waits for ever.
func TestNoProgram(t *testing.T) {
	all := assets(t)
	b := newTab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".wasm") {
			http.Error(w, "gone", http.StatusGone)
			return
		}
		all.ServeHTTP(w, r)
	}))
	b.open(small)
	b.wait(trouble + `?.includes("410")`)
	b.forgive("410")
	if n := eval[int](b, `document.querySelectorAll(".ghosts").length`); n > 0 {
		t.Error("there are places for what will not come")
	}
}

// TestNoLoader: nor does the page wait for ever for the script that would load the program, where the host has none,
// or answers with a document.
func TestNoLoader(t *testing.T) {
	all := assets(t)
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
	}{
		{"not found", http.NotFound},
		{"a document", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<!doctype html>")
		}},
		{"a document that is refused", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			io.WriteString(w, "<!doctype html>")
		}},
		{"a part of it", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/javascript")
			io.WriteString(w, "(() => {")
		}},
		{"nothing", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newTab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/app.") && strings.HasSuffix(r.URL.Path, ".js") {
					c.answer(w, r)
					return
				}
				all.ServeHTTP(w, r)
			}))
			b.before(guard)
			b.open(small)
			b.wait(trouble + `?.includes("only a part of this page")`)
			if text := eval[string](b, `document.querySelector("#app").innerText`); strings.Contains(text, "Loading") {
				t.Errorf("it still says %q", text)
			}
			b.unharmed(c.name)
			b.forgive("/app.")
		})
	}
}

// TestNoScripts: a page that lacks all of its scripts can't know that, but says after a while what may be the matter.
func TestNoScripts(t *testing.T) {
	all := assets(t)
	b := newTab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".js") {
			http.NotFound(w, r)
			return
		}
		all.ServeHTTP(w, r)
	}))
	const said = `document.querySelector("main.loading").innerText.includes("lacks some of the page")`
	b.open(small)
	b.wait(`document.querySelector("main.loading")`)
	if eval[bool](b, said) {
		t.Error("it says so at once")
	}
	eval[any](b, "document.getAnimations().forEach((a) => a.finish()), null")
	b.wait(said)
	b.forgive("app.")
	b.forgive("offline.")
}

// TestNoWebAssembly: a browser that can't says so.
func TestNoWebAssembly(t *testing.T) {
	b := newTab(t, assets(t))
	b.before("delete self.WebAssembly")
	b.open(small)
	b.wait(trouble + `?.includes("WebAssembly")`)
	if text := eval[string](b, `document.querySelector("#app").innerText`); strings.Contains(text, "Loading") {
		t.Errorf("it still says %q", text)
	}
}

// keepWorkers has the page's workers in self.workers.
const keepWorkers = `{
	const Real = Worker;
	self.workers = [];
	self.Worker = class extends Real {
		constructor(url) { super(url); workers.push(this); }
	};
}`

// TestWorkerDies: it is told, and nothing is lost.
func TestWorkerDies(t *testing.T) {
	b := newTab(t, assets(t))
	b.before(keepWorkers)
	b.before(`Object.defineProperty(navigator, "hardwareConcurrency", {value: 2})`)
	const link = "?v=1&numipi=50000&runs=3"
	b.open(link)
	b.wait(histogramThere)
	b.wait("workers.length == 2")
	eval[any](b, `workers[0].dispatchEvent(new ErrorEvent("error", {message: "out of memory"})), null`)
	b.wait(trouble + `?.includes("out of memory")`)
	s, _ := scenario.Parse(link)
	b.finish(s)
	if n := eval[int](b, "workers.length"); n != 3 {
		t.Errorf("%d workers were started for two and one in place of the dead one", n)
	}
}

// TestWorkersRest: after a change of the question the same workers go on, and
// when all is done they do nothing.
func TestWorkersRest(t *testing.T) {
	b := newTab(t, assets(t))
	b.before(keepWorkers)
	b.before(`Object.defineProperty(navigator, "hardwareConcurrency", {value: 2})`)
	b.open(small)
	b.wait(is("done"))
	for _, runs := range []string{"3", "4", "2"} {
		b.write("#f-runs", runs)
		b.press("\r")
		b.wait(`location.search.includes("runs=` + runs + `")`)
		b.finish(b.question())
	}
	if n := eval[int](b, "workers.length"); n != 2 {
		t.Errorf("%d workers were started", n)
	}
	if text := eval[string](b, trouble+` ?? ""`); text != "" {
		t.Errorf("trouble: %s", text)
	}
}
