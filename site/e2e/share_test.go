package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// allowClipboard lets the page read and write the clipboard.
func (b *tab) allowClipboard() {
	b.Helper()
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		_, err := chromedp.CallBrowser(b.ctx, browser.SetPermission, browser.SetPermissionParams{
			Permission: &browser.PermissionDescriptor{Name: name, AllowWithoutSanitization: true}, Setting: browser.PermissionSettingGranted,
			BrowserContextID: chromedp.FromContext(b.ctx).BrowserContextID,
		})
		b.check(err)
	}
}

func (b *tab) clipboard() string {
	b.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("navigator.clipboard.readText()", chromedp.EvalAwaitPromise))
	b.check(err)
	return text
}

// What is said of links, to be seen and to be heard.
const (
	shareText = `(document.querySelector(".share .byhand")?.innerText ?? "")`
	shareSaid = `document.querySelector(".share [role=status]").innerText`
)

// TestShortLink: a host that makes short links is asked for one when the visitor wants it, and only then.
func TestShortLink(t *testing.T) {
	page := assets(t)
	var asked atomic.Int32
	var answer atomic.Value // the next status, type and text
	b := newTab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/lab/api/links" {
			http.StripPrefix("/lab", page).ServeHTTP(w, r)
			return
		}
		query, _ := io.ReadAll(r.Body)
		if asked.Add(1); r.Method != "POST" || r.Header.Get("Content-Type") != "text/plain" || string(query) != small {
			t.Errorf("%s %s: %q", r.Method, r.Header, query)
		}
		a := answer.Load().([3]string)
		var status int
		fmt.Sscan(a[0], &status)
		w.Header().Set("Content-Type", a[1])
		w.WriteHeader(status)
		io.WriteString(w, a[2])
	}))
	b.allowClipboard()
	b.open("lab/" + small + "#sweep?x=seed=1,2")
	b.finish(b.question())
	if asked.Load() != 0 {
		t.Error("the host was asked without a wish for it")
	}
	answer.Store([3]string{"200", "application/json", fmt.Sprintf(`{"id":"Ab-9","path":"s/Ab-9","query":%q}`, small)})
	want := b.base + "lab/s/Ab-9#sweep?x=seed=1,2"
	b.click("button.shorten")
	b.wait(fmt.Sprintf(`document.querySelector("#link")?.value == %q`, want))
	if text := b.clipboard(); text != want {
		t.Errorf("copied %q, want %q", text, want)
	}
	for _, where := range []string{shareText, shareSaid} {
		if text := eval[string](b, where); !strings.Contains(text, "short link is copied") || !strings.Contains(text, "stores this scenario on this host") {
			t.Errorf("it says %q", text)
		}
	}
	b.write("#f-runs", "3") // another question
	b.press(kb.Tab)
	b.wait(`!document.querySelector("#link")`)
	b.open("lab/" + small)
	b.finish(b.question())

	for _, c := range []struct {
		status, kind, text, want string
	}{
		{"400", "text/plain; charset=utf-8", "runs=0: want <b>1</b> to 1000", "The host says: runs=0: want <b>1</b> to 1000"},
		{"429", "text/plain; charset=utf-8", "too many links from you today", "too many links from you today"},
		{"503", "text/plain; charset=utf-8", "no room for more links", "no room for more links"},
		{"404", "text/plain; charset=utf-8", "404: there is no such page here", "This host makes no short links"},
		{"405", "text/plain; charset=utf-8", "405: want GET or HEAD", "This host makes no short links"},
		{"200", "text/html", "<!doctype html>", "This host makes no short links"},
		{"200", "application/json", `{"path":"//evil.example/s/a"}`, "This host makes no short links"},
	} {
		answer.Store([3]string{c.status, c.kind, c.text})
		b.focus("button.shorten")
		b.press(kb.Enter)
		for _, where := range []string{shareText, shareSaid} {
			b.wait(fmt.Sprintf("%s.includes(%q)", where, c.want))
		}
		b.wait(shareText + `.includes("works everywhere") && !document.querySelector("#link, .share b")`)
		if !eval[bool](b, `document.activeElement.matches("button.shorten")`) {
			t.Error("the button has lost the focus")
		}
		if c.status != "200" {
			b.forgive(c.status) // the browser logs it by itself
		}
	}
	b.site.Close()
	b.focus("button.shorten")
	b.press(kb.Enter)
	b.wait(shareText + `.includes("can't be reached")`)
	b.forgive("ERR_")
}

// TestHangingHost: a host that does not answer is not waited for for ever.
func TestHangingHost(t *testing.T) {
	page := assets(t)
	b := newTab(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/links" {
			page.ServeHTTP(w, r)
			return
		}
		io.Copy(io.Discard, r.Body) // else nobody notices that the client is gone
		w.Header().Set("Content-Type", "application/json")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	// The time is over when the test says so.
	b.before(`AbortSignal.timeout = (ms) => {
		const controller = new AbortController();
		self.over = () => controller.abort(new DOMException("signal timed out", "TimeoutError"));
		self.most = ms;
		return controller.signal;
	}`)
	b.open(small)
	b.finish(b.question())
	const waiting = `document.querySelector("button.shorten[aria-disabled=true]")`
	b.click("button.shorten")
	b.wait("self.over && " + waiting)
	if ms := eval[int](b, "self.most"); ms < 5000 || ms > 60000 {
		t.Errorf("it waits for %d ms", ms)
	}
	eval[any](b, "self.over(), null")
	b.wait(shareText + `.includes("has not answered in time") && !` + waiting)
}

// TestNoClipboard: what can't be copied can be read.
func TestNoClipboard(t *testing.T) {
	b := newTab(t, assets(t))
	b.before(`Object.defineProperty(navigator, "clipboard", {value: undefined}); document.execCommand = () => false`)
	b.open(small)
	b.finish(b.question())
	b.focus("button.copy")
	b.press(kb.Enter)
	b.wait(fmt.Sprintf(`document.querySelector("#link")?.value == %q`, b.base+small))
	b.wait(shareSaid + `.includes("by hand")`)
}
