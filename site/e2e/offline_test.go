package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"

	"schedlab/core"
	"schedlab/core/scenario"
	"schedlab/site/dist"
	"schedlab/site/server"
)

// What the page says of its versions.
const (
	kept    = `document.querySelector("footer .version")?.innerText.includes("Works offline: yes.")`
	notKept = `document.querySelector("footer .version")?.innerText.includes("Works offline: no")`
	offered = `document.querySelector(".update button.take")`
)

// A host serves what it has been given last.
type host struct{ handler atomic.Pointer[http.Handler] }

func (h *host) give(handler http.Handler) { h.handler.Store(&handler) }

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) { (*h.handler.Load()).ServeHTTP(w, r) }

// edition returns the built page, or another version of it whose program says what it is in self.edition: all
// of its files, the documents and the service worker.
func edition(t *testing.T, name string) fstest.MapFS {
	t.Helper()
	need(t)
	built, _ := dist.Page()
	page := fstest.MapFS{}
	entries, err := built.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), ".gz") || strings.HasSuffix(e.Name(), ".br") {
			continue
		}
		data, err := fs.ReadFile(built, e.Name())
		if err != nil {
			t.Fatal(err)
		}
		page[e.Name()] = &fstest.MapFile{Data: data}
	}
	if name == "" {
		return page
	}
	integrity := func(data []byte) string {
		digest := sha256.Sum256(data)
		return "sha256-" + base64.StdEncoding.EncodeToString(digest[:])
	}
	script := string(regexp.MustCompile(`\bapp\.[0-9a-f]{12}\.js`).Find(page["index.html"].Data))
	old := page[script].Data
	data := fmt.Appendf(bytes.Clone(old), ";self.edition=%q", name)
	digest := sha256.Sum256(data)
	renamed := "app." + hex.EncodeToString(digest[:6]) + ".js"
	version := regexp.MustCompile(`version="([0-9a-f]{12})"`).FindSubmatch(page["sw.js"].Data)[1]
	delete(page, script)
	page[renamed] = &fstest.MapFile{Data: data}
	for _, file := range []string{"index.html", "catalogue.html", "sw.js"} {
		page[file].Data = []byte(strings.NewReplacer(
			script, renamed, integrity(old), integrity(data), string(version), fmt.Sprintf("%x", sha256.Sum256(data))[20:32],
			fmt.Sprintf("model=%d", core.Model), fmt.Sprintf("model=%d", core.Model+1),
		).Replace(string(page[file].Data)))
	}
	return page
}

// serving is a host's handler for a page.
func serving(page fs.ReadDirFS) http.Handler { return server.New(server.Files(page)) }

// another opens another tab of the same visitor.
func (b *tab) another() *tab {
	b.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.Cleanup(cancel)
	other := &tab{T: b.T, ctx: ctx, base: b.base, site: b.site}
	b.check(chromedp.Listen(ctx, other.hear))
	other.screen(1440, false)
	b.Cleanup(func() {
		for _, p := range other.heard() {
			b.Error(p)
		}
	})
	return other
}

// keptVersions are the names of the caches that there are.
const keptVersions = `caches.keys()`

func (b *tab) promised(expression string) []string {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]string](expression, chromedp.EvalAwaitPromise))
	b.check(err)
	return v
}

// TestOffline: after one visit, with the host gone, the page opens with any question, and simulates it.
func TestOffline(t *testing.T) {
	for _, c := range []struct {
		name, path string
		handler    http.Handler
	}{
		{"our server", "", assets(t)},
		{"a plain one, beneath a path", "a/b/", http.StripPrefix("/a/b", http.FileServerFS(edition(t, "")))},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newTab(t, c.handler)
			b.open(c.path + small)
			b.finish(b.question())
			b.wait(kept)
			b.installable(b.base + c.path)
			b.site.Close()

			b.do(chromedp.Reload())
			b.finish(b.question())
			b.wait(kept)
			b.wait("navigator.serviceWorker.controller")
			for _, link := range []string{"?m=xeon-240&numipi=3000&runs=2&bg=pair", "index.html?numipi=1000&runs=3&bg=quiet", ""} {
				b.open(c.path + link)
				s, problems := scenario.Parse(strings.TrimPrefix(link, "index.html"))
				if len(problems) > 0 {
					t.Fatal(problems)
				}
				b.finish(s)
			}
			b.open(c.path + "catalogue.html")
			b.wait(`document.querySelector("#machine-xeon-240") && getComputedStyle(document.querySelector(".catalogue")).display == "grid"`)
			b.open(c.path + "#evidence")
			b.wait(evidenceThere)
			b.forgiveAll("ERR_CONNECTION_REFUSED") // when it looks for a newer version
		})
	}
}

// installable fails unless the browser would install the page, as an app that starts at an address.
func (b *tab) installable(start string) {
	b.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		m, err := cdp.Call(ctx, t, cdppage.GetAppManifest, cdppage.GetAppManifestParams{})
		if err != nil {
			return err
		}
		if len(m.Errors) > 0 || m.Manifest == nil || m.Manifest.StartURL != start || m.Manifest.Scope != start || len(m.Manifest.Icons) < 4 {
			b.Errorf("the manifest at %s has %+v, %+v", m.URL, m.Errors, m.Manifest)
		}
		e, err := cdp.Call(ctx, t, cdppage.GetInstallabilityErrors, cdp.Empty{})
		if err != nil {
			return err
		}
		for _, e := range e.InstallabilityErrors {
			if e.ErrorID != "in-incognito" { // as all tabs of tests are
				b.Errorf("can't be installed: %s %v", e.ErrorID, e.ErrorArguments)
			}
		}
		return nil
	}))
}

// TestUpdate: a newer version waits until a visitor takes it, in one tab, while another one goes on with
// its own version, engines included, for as long as its visitor likes.
func TestUpdate(t *testing.T) {
	h := new(host)
	h.give(http.FileServerFS(edition(t, ""))) // which lets nothing be cached but by the service worker
	b := newTab(t, h)
	b.open(small)
	b.finish(b.question())
	b.wait(kept)
	if eval[bool](b, offered+" != null") {
		t.Error("a newer version is offered where there is none")
	}
	busy := b.another()
	busy.before(keepWorkers)
	busy.before(`Object.defineProperty(navigator, "hardwareConcurrency", {value: 1})`)
	const long = "?numipi=10000000&runs=100&bg=quiet"
	busy.open(long)
	busy.wait(histogramThere + " && " + kept)
	eval[any](busy, "self.same = true, null")

	h.give(http.FileServerFS(edition(t, "two")))
	b.do(chromedp.Reload())
	b.wait(offered)
	if eval[bool](b, "self.edition !== undefined") {
		t.Error("the newer version did not wait")
	}
	b.wait(fmt.Sprintf(`document.querySelector(".update [role=status]").innerText.includes("model %d")`, core.Model+1))
	busy.wait(offered)
	busy.focus(".update .later")
	busy.press(" ")
	busy.wait("!" + offered)
	busy.wait(`document.querySelector("footer .version button")`)

	b.click(".update .take")
	b.wait(`self.edition == "two" && ` + kept)
	b.finish(b.question())
	b.wait("!" + offered)

	// The other tab is as it was. An engine that it starts now is one of its own version, which the
	// host has no longer.
	if !eval[bool](busy, `self.same && self.edition === undefined && !!`+is("running")) {
		t.Error("the other tab was reloaded")
	}
	busy.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := chromedp.Evaluate[any](`workers[0].dispatchEvent(new ErrorEvent("error", {message: "out of memory"})), null`)(ctx, target)
		return err
	}))
	busy.wait(`workers.length == 2`)
	busy.write("#f-numipi", "1000")
	busy.press("\t")
	busy.write("#f-runs", "2")
	busy.press("\t")
	s, _ := scenario.Parse("?numipi=1000&runs=2&bg=quiet")
	busy.finish(s)
	if n := len(b.promised(keptVersions)); n != 2 {
		t.Errorf("%d versions are kept", n)
	}

	busy.click("footer .version button")
	busy.wait(`self.edition == "two" && ` + kept)
	busy.finish(s)
	b.until(func() bool { return len(b.promised(keptVersions)) == 1 })
}

// TestUpdateWhole: a version of which the host has only a part yet is not taken, and is when it is there.
func TestUpdateWhole(t *testing.T) {
	one := edition(t, "")
	h := new(host)
	h.give(serving(one))
	b := newTab(t, h)
	b.open(small)
	b.finish(b.question())
	b.wait(kept)
	loader := func(page fstest.MapFS) string {
		for name := range page {
			if one[name] == nil {
				return name
			}
		}
		return ""
	}
	cut := func(page fstest.MapFS, name, where string) {
		before, _, found := strings.Cut(string(page[name].Data), where)
		if !found {
			t.Fatalf("no %s in %s", where, name)
		}
		page[name].Data = []byte(before)
	}
	// Each is of a version of its own: what came of one before would be good enough to go on with.
	for name, spoil := range map[string]func(page fstest.MapFS){
		"the document of before":    func(page fstest.MapFS) { page["index.html"] = one["index.html"] },
		"the catalogue of before":   func(page fstest.MapFS) { page["catalogue.html"] = one["catalogue.html"] },
		"a part of the document":    func(page fstest.MapFS) { cut(page, "index.html", "<script") },
		"nearly all of it":          func(page fstest.MapFS) { cut(page, "index.html", "<data") },
		"a part of the catalogue":   func(page fstest.MapFS) { cut(page, "catalogue.html", `<section id="constants"`) },
		"no loader":                 func(page fstest.MapFS) { delete(page, loader(page)) },
		"a document for the loader": func(page fstest.MapFS) { page[loader(page)] = one["index.html"] },
	} {
		page := edition(t, name)
		spoil(page)
		h.give(serving(page))
		// The worker's end is what to wait for: it comes as redundant.
		b.before(`navigator.serviceWorker.getRegistration().then((r) => r.addEventListener("updatefound", () => {
			const worker = r.installing;
			worker.addEventListener("statechange", () => self.became = worker.state);
		}))`)
		b.open(small)
		b.wait("self.became")
		if became := eval[string](b, "self.became"); became != "redundant" {
			t.Errorf("%s: the newer version is %s", name, became)
		}
		b.finish(b.question())
		b.wait(kept)
		if eval[bool](b, offered+" != null || self.edition !== undefined") {
			t.Errorf("%s: the newer version is offered", name)
		}
	}
	two := edition(t, "two") // into whose documents the host puts something of its own
	for _, name := range []string{"index.html", "catalogue.html"} {
		two[name].Data = bytes.Replace(two[name].Data, []byte("</body>"), []byte("<!-- a host's --></body>"), 1)
	}
	h.give(serving(two))
	b.open(small)
	b.wait(offered)
	b.click(".update .take")
	b.wait(`self.edition == "two" && ` + kept)
	b.finish(b.question())
}

// TestStuck: a version that was kept with a part of its document, in which nobody can ask for another
// one, gives way to the next by itself.
func TestStuck(t *testing.T) {
	h := new(host)
	h.give(serving(edition(t, "")))
	b := newTab(t, h)
	b.open(small)
	b.finish(b.question())
	b.wait(kept)
	if done := b.promised(`(async () => {
		const [name] = await caches.keys();
		const text = await (await fetch("./")).text();
		const part = new Response(text.slice(0, text.indexOf("<script")), {headers: {"Content-Type": "text/html"}});
		await (await caches.open(name)).put("./", part);
		return ["done"];
	})()`); len(done) != 1 {
		t.Fatal("the document is still whole")
	}
	b.do(chromedp.Reload())
	b.wait(`document.readyState == "complete" && !document.body.innerText`)

	h.give(serving(edition(t, "two")))
	b.before(`navigator.serviceWorker.addEventListener("controllerchange", () => self.taken = true)`)
	b.do(chromedp.Reload()) // which has the browser look for it
	b.wait("self.taken")
	b.do(chromedp.Reload())
	b.wait(`self.edition == "two" && ` + kept)
	b.finish(b.question())
	b.until(func() bool { return len(b.promised(keptVersions)) == 1 })
}

// TestWithdrawn: a host that has no service worker any more is heard, and nothing is left behind.
func TestWithdrawn(t *testing.T) {
	without := edition(t, "two")
	delete(without, "sw.js")
	gone := serving(without)
	for _, c := range []struct {
		name, logged string
		handler      http.Handler
	}{
		{"not found", "404", gone},
		{"a document for all", "MIME type", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/sw.js" {
				r.URL.Path = "/"
			}
			gone.ServeHTTP(w, r)
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := new(host)
			h.give(serving(edition(t, "")))
			b := newTab(t, h)
			b.open(small)
			b.finish(b.question())
			b.wait(kept)
			// Trouble is none: where one has to sign in there may be a worker, too.
			h.give(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/sign-in" {
					http.Redirect(w, r, "/sign-in", http.StatusFound)
					return
				}
				io.WriteString(w, "<!doctype html><title>Sign in</title>")
			}))
			b.do(chromedp.Reload())
			b.finish(b.question())
			b.wait(kept)
			b.forgive("/sign-in")

			h.give(c.handler)
			b.do(chromedp.Reload()) // still from what is kept
			b.finish(b.question())
			b.wait(notKept + " && self.edition === undefined")
			b.until(func() bool { // a browser may take its time
				b.do(chromedp.Reload())
				b.finish(b.question())
				b.wait(notKept)
				return eval[bool](b, `self.edition == "two" && !navigator.serviceWorker.controller`)
			})
			b.until(func() bool { return len(b.promised(keptVersions)) == 0 })
			b.forgive(c.logged)
		})
	}
}

// TestNoOffline: where nothing can be kept, the page works, and says so.
func TestNoOffline(t *testing.T) {
	built := edition(t, "")
	without := edition(t, "")
	delete(without, "sw.js")
	bare := edition(t, "")
	for name := range bare {
		if strings.HasPrefix(name, "offline.") {
			delete(bare, name)
		}
	}
	for _, c := range []struct {
		name    string
		page    fstest.MapFS
		before  string
		problem string
	}{
		{"no worker on the host", without, "", "404"},
		{"only a part of the page on the host", bare, "", "offline."},
		{"no workers in the browser", built, "delete Navigator.prototype.serviceWorker", ""},
		{"no locks in the browser", built, "delete Navigator.prototype.locks", ""},
		{"no caches in the browser", built, "delete self.caches", ""},
		{"workers are forbidden", built, `ServiceWorkerContainer.prototype.register = () => Promise.reject(new DOMException("The operation is insecure.", "SecurityError"))`, ""},
		{"no room", built, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newTab(t, serving(c.page))
			if c.before != "" {
				b.before(c.before)
			}
			if c.name == "no room" {
				room := float64(1 << 20)
				b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
					_, err := cdp.Call(ctx, t, storage.OverrideQuotaForOrigin, storage.OverrideQuotaForOriginParams{Origin: strings.TrimSuffix(b.base, "/"), QuotaSize: &room})
					return err
				}))
			}
			b.open(small)
			b.finish(b.question())
			b.wait(notKept)
			if c.problem != "" {
				b.forgive(c.problem)
			}
		})
	}
}
