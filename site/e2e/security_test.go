package e2e

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"schedlab/core/scenario"
	"schedlab/core/workload"
)

// hostile is markup that would run if it were ever more than text.
const hostile = `"'></textarea></style></script><img src=x onerror=boom()><script>boom()</script><svg onload=boom()><iframe srcdoc=x>{{boom()}}`

// hostileToType is shorter.
const hostileToType = `"'><img src=x onerror=boom()>`

// guard is a script that runs before the page's own, and notes in self.harm what must not be.
const guard = `{
	const harm = self.harm = [];
	self.boom = () => harm.push("a script ran");
	addEventListener("securitypolicyviolation", (e) => harm.push(e.violatedDirective + " " + e.blockedURI));
	new MutationObserver((list) => {
		for (const e of list.flatMap((m) => [...m.addedNodes]).flatMap((n) => n.querySelectorAll ? [n, ...n.querySelectorAll("*")] : [])) {
			if (e.matches("img, iframe, textarea, style, #app script, object, embed, base")) harm.push(e.outerHTML.slice(0, 100));
			for (const a of e.attributes) if (/^on|srcdoc/.test(a.name) || /^\s*javascript:/i.test(a.value)) harm.push(e.outerHTML.slice(0, 100));
		}
	}).observe(document, {subtree: true, childList: true});
}`

// shownAsText is true when hostile can be read somewhere.
const shownAsText = `document.body.innerText.includes("<img") || [...document.querySelectorAll("input")].some((e) => e.value.includes("<img"))`

// unharmed fails if there is something that came out of text.
func (b *tab) unharmed(after string) {
	b.Helper()
	for _, h := range eval[[]string](b, "self.harm") {
		b.Errorf("%s: %s", after, h)
	}
}

// linkKeys lists what a link may have: what the parser says when asked for what it does not know, as far
// as it lists that, and all that workloads add.
func linkKeys() []string {
	keys := map[string]bool{}
	for _, key := range strings.Fields("v model m k rt scx w metric arm idle bg runs seed check c.rq_visit") {
		keys[key] = true
	}
	_, problems := scenario.Parse("?zzzzzz=1")
	for _, p := range problems {
		for _, key := range regexp.MustCompile(`[a-z][\w-]*\b`).FindAllString(strings.TrimPrefix(p.Want, "a known key: one of "), -1) {
			keys[key] = true
		}
	}
	for _, w := range workload.Workloads {
		for _, p := range w.Params {
			keys[p.Key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// TestMarkup: markup in a link is text, wherever it comes out: as the value of each key, as a key, and in the hash.
func TestMarkup(t *testing.T) {
	b := newTab(t, assets(t))
	b.before(guard)
	escaped := url.QueryEscape(hostile)
	var links []string
	// Keys that depend on each other are tried alone, and those of workloads by workload.
	params := map[string]bool{}
	for _, w := range workload.Workloads {
		link := "?w=" + w.Key + "&runs=1"
		for _, p := range w.Params {
			params[p.Key] = true
			link += "&" + p.Key + "=" + escaped
		}
		links = append(links, link)
	}
	for _, key := range linkKeys() {
		if !params[key] {
			links = append(links, "?"+key+"="+escaped)
		}
	}
	links = append(links, "?"+escaped, "?"+escaped+"="+escaped, "?c."+escaped+"=1", "?arm=&arm=sm-idle-v2."+escaped, "?k=6.12&scx="+escaped, "?idle=POLL,"+escaped,
		small+"#sweep?x="+escaped, small+"#sweep?x=c.rq_visit="+escaped, small+"#sweep?x=c.rq_visit=1,2&y="+escaped+"="+escaped)
	for _, link := range links {
		b.open(link)
		b.wait(live)
		b.wait(shownAsText)
		b.unharmed(link)
	}
	b.open(small + "#" + escaped)
	b.wait(is("done"))
	b.unharmed("the hash")
}

// TestTypedMarkup: markup typed into a field is text too.
func TestTypedMarkup(t *testing.T) {
	b := newTab(t, assets(t))
	b.before(guard)
	b.open(small + "#sweep?x=c.rq_visit=1,2&y=offset=8,16")
	b.wait(is("done"))
	b.click(".constants summary")
	b.wait(`document.querySelector("#f-c\\.rq_visit")`)
	fields := eval[[]string](b, `[...document.querySelectorAll("input[type=text]:not([readonly])")].filter((e) => e.id && e.getClientRects().length).map((e) => e.id)`)
	few := 0
	for _, id := range fields {
		if strings.HasPrefix(id, "f-c.") {
			if few++; few > 2 { // they are all alike
				continue
			}
		}
		b.write("[id='"+id+"']", hostileToType)
		b.press(kb.Tab)
		b.wait(fmt.Sprintf(`(() => {
			const e = document.getElementById(%q), said = e.closest(".field, .axis").querySelector(".problem");
			return e.value.includes("<img") && (said?.innerText.includes("<img") ?? e.id.startsWith("axis"));
		})()`, id))
		b.unharmed(id)
	}
	if len(fields) < 10 {
		t.Errorf("fields %q", fields)
	}
}

// TestOnlyItsHost: whatever a visitor does, the browser asks nobody but the page's host: not the page, its
// workers nor its service worker. All requests go through a proxy that sees them.
func TestOnlyItsHost(t *testing.T) {
	page := assets(t)
	var mu sync.Mutex
	var own, foreign []string
	var home string
	b := newTabFor(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.Host != home || r.Method == http.MethodConnect {
			if r.Host != searchEngine+":443" {
				foreign = append(foreign, r.Method+" "+r.URL.String())
			}
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		own = append(own, r.Method+" "+r.URL.Path)
		if r.Method == http.MethodPost {
			io.Copy(io.Discard, r.Body)
		}
		r.URL.Scheme, r.URL.Host = "", ""
		page.ServeHTTP(w, r)
	}), 5*time.Minute, func(site *httptest.Server) chromedp.CreateBrowserContextOption {
		home = strings.TrimPrefix(site.URL, "http://")
		return func(p *target.CreateBrowserContextParams) {
			p.ProxyServer, p.ProxyBypassList = site.URL, "<-loopback>"
		}
	})
	b.before(guard)
	b.open("")
	b.wait(is("done"))
	b.wait(kept)
	b.click("button.shorten")
	b.wait(shareText + `.includes("keeps no short links")`)
	b.forgive("503")
	b.click("nav a[href='#evidence']")
	b.wait(evidenceThere)
	b.click("summary[data-fold^='time of a search']")
	b.try("select-idle-core-power9", "run")
	b.unharmed("evidence")
	b.open("catalogue.html")
	b.wait(`document.querySelector("#machine-xeon-240")`)
	b.open("?m=xeon-240&numipi=1000&runs=4&bg=quiet#sweep?x=c.rq_visit=0..120/4")
	b.wait(is("done"))
	b.click(".sweep .go")
	b.wait(swept("done"))
	b.wait(kept)
	b.unharmed("sweep")

	mu.Lock()
	for _, f := range foreign {
		t.Errorf("asked another: %s", f)
	}
	for _, want := range []string{"GET /", "GET /sw.js", "POST /api/links"} {
		if !slices.Contains(own, want) {
			t.Errorf("no %s among the requests %q", want, own)
		}
	}
	foreign = nil
	mu.Unlock()
	// The proxy would have seen it.
	b.do(chromedp.Navigate("about:blank"))
	eval[any](b, `fetch("http://another.example/").catch(() => {}), null`)
	b.until(func() bool { mu.Lock(); defer mu.Unlock(); return len(foreign) > 0 })
	b.forgiveAll("another.example")
	b.forgiveAll("CORS")
	b.forgiveAll("403")
}

// TestPolicyHolds: what the page's policy is for is indeed refused.
func TestPolicyHolds(t *testing.T) {
	b := newTab(t, assets(t))
	b.open(small)
	b.wait(is("done"))
	b.wait(kept)
	for _, c := range [][2]string{
		{"a script of another place", `{ const e = document.createElement("script"); e.src = "http://127.0.0.1:9/x.js"; document.head.append(e) }`},
		{"a script in the page", `{ const e = document.createElement("script"); e.textContent = "self.broken = true"; document.head.append(e) }`},
		{"a handler in the page", `document.body.setAttribute("onclick", "self.broken = true"), document.body.click()`},
		{"code in a string", `setTimeout("self.broken = true", 0)`},
		{"a service worker of another name", `navigator.serviceWorker.register("app.js")`},
		{"a worker of another name", `new Worker("style.css")`},
		{"a frame", `{ const e = document.createElement("iframe"); e.src = "./"; document.body.append(e) }`},
		{"a request to another place", `fetch("http://127.0.0.1:9/")`},
		{"a picture of another place", `{ const e = new Image(); e.src = "http://127.0.0.1:9/x.png" }`},
	} {
		text := fmt.Sprintf(`(async () => {
			let refused = false;
			const on = () => refused = true;
			addEventListener("securitypolicyviolation", on);
			try { await (async () => { %s })(); } catch { refused = true }
			for (let i = 0; i < 100 && !refused; i++) await new Promise((ok) => setTimeout(ok, 20));
			removeEventListener("securitypolicyviolation", on);
			return refused && !self.broken;
		})()`, c[1])
		refused, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](text, chromedp.EvalAwaitPromise))
		b.check(err)
		if !refused {
			t.Errorf("not refused: %s", c[0])
		}
	}
	b.mu.Lock()
	b.problems = nil // which say so
	b.mu.Unlock()
}
