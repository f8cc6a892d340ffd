package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"schedlab/site/dist"
	"schedlab/site/server"
)

// The browser that all tests share, and why there is none.
var (
	chromium context.Context
	lacking  string
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		program := ""
		for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
			if path, err := exec.LookPath(name); err == nil {
				program = path
				break
			}
		}
		_, built := dist.Page()
		switch {
		case os.Getenv("SCHEDLAB_E2E") == "":
		case program == "":
			lacking = "no Chromium is installed"
		case !built:
			lacking = "no page is built: go run ./site/build -fast"
		default:
			var stop func()
			chromium, stop = startBrowser(program)
			defer stop()
		}
		return m.Run()
	}())
}

// searchEngine is the host to which the browser connects by itself, whatever the page does: under this name
// TestOnlyItsHost can tell that it was not the page. Without the last two features it has no other.
const searchEngine = "search-engine.invalid"

func startBrowser(program string) (context.Context, func()) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"), // nothing leaves this machine
		chromedp.Flag("disable-features", // which no page asks for
			"Translate,BlinkGenPropertyTrees,AutofillServerCommunication,PreconnectToSearch,SearchEnginePreconnect2"),
		chromedp.Flag("google-base-url", "https://"+searchEngine+"/"),
		chromedp.Flag("hide-scrollbars", true),
	)
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil { // without a timeout, which would end the browser
		lacking = "Chromium does not start: " + err.Error()
	}
	return ctx, func() { stop(); stopAllocator() }
}

// A tab is a page in a browser profile of its own, and what went wrong in it.
type tab struct {
	*testing.T
	ctx  context.Context
	base string // the page's address, with / at its end
	site *httptest.Server

	mu       sync.Mutex
	problems []string
}

// assets serves the built page.
func assets(t testing.TB) http.Handler {
	t.Helper()
	need(t)
	built, _ := dist.Page()
	return server.New(server.Files(built))
}

// need skips a test that nobody asked for, and fails it if it can't be run.
func need(t testing.TB) {
	t.Helper()
	if os.Getenv("SCHEDLAB_E2E") == "" {
		t.Skip("SCHEDLAB_E2E is not set")
	}
	if lacking != "" {
		t.Fatal(lacking)
	}
}

// newTab opens a tab, with nothing in it so far. At the test's end it fails if
// anything was wrong in it: an error on the console or of the policy, or a request
// to another place than the page's.
func newTab(t *testing.T, handler http.Handler) *tab { return newTabFor(t, handler, 5*time.Minute) }

// newTabFor opens one for tests that take longer, or that want another profile.
func newTabFor(t *testing.T, handler http.Handler, most time.Duration, profile ...func(site *httptest.Server) chromedp.CreateBrowserContextOption) *tab {
	t.Helper()
	need(t)
	site := httptest.NewServer(handler)
	t.Cleanup(site.Close)
	var options []chromedp.CreateBrowserContextOption
	for _, p := range profile {
		options = append(options, p(site))
	}
	ctx, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext(options...))
	t.Cleanup(cancel)
	ctx, cancelTime := context.WithTimeout(ctx, most)
	t.Cleanup(cancelTime)
	b := &tab{T: t, ctx: ctx, base: site.URL + "/", site: site}
	b.check(chromedp.Listen(ctx, b.hear))
	b.screen(1440, false)
	t.Cleanup(func() {
		for _, p := range b.heard() {
			t.Error(p)
		}
	})
	return b
}

// heard are the problems so far.
func (b *tab) heard() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.problems
}

// hear notes what is wrong of what the browser tells.
func (b *tab) hear(event any) {
	var problem string
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		var text []string
		for _, arg := range e.Args {
			text = append(text, strings.TrimSpace(string(arg.Value)+" "+arg.Description))
		}
		if slices.Contains([]string{"error", "warning", "assert"}, string(e.Type)) {
			problem = fmt.Sprintf("console.%s: %s", e.Type, strings.Join(text, " "))
		}
	case *runtime.EventExceptionThrown:
		problem = "exception: " + fmt.Sprintf("%+v", e.ExceptionDetails)
	case *log.EventEntryAdded:
		slow := strings.Contains(e.Entry.Text, "was preloaded using link preload but not used within a few seconds") // so is this machine
		if !slow && e.Entry.Level != log.EntryLevelInfo && e.Entry.Level != log.EntryLevelVerbose {
			problem = fmt.Sprintf("the browser logs: %s (%s)", e.Entry.Text, e.Entry.URL)
		}
	case *page.EventJavascriptDialogOpening:
		problem = "a dialog opens: " + e.Message
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, b.base) && !strings.HasPrefix(e.Request.URL, "data:") {
			problem = "a request to another place: " + e.Request.URL
		}
	}
	if problem != "" {
		b.mu.Lock()
		b.problems = append(b.problems, problem)
		b.mu.Unlock()
	}
}

// forgive drops the problems so far that mention text, and fails if there is none.
func (b *tab) forgive(text string) {
	b.Helper()
	if !b.forgiveAll(text) {
		b.Errorf("no problem with %q in it: %q", text, b.heard())
	}
}

// forgiveAll drops them, and tells whether there was one.
func (b *tab) forgiveAll(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.problems)
	b.problems = slices.DeleteFunc(b.problems, func(p string) bool { return strings.Contains(p, text) })
	return len(b.problems) < n
}

func (b *tab) check(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	b.check(chromedp.Do(b.ctx, steps...))
}

// open goes to a link of the page.
func (b *tab) open(link string) {
	b.Helper()
	if strings.Contains(link, "#") { // else it may be the same document with another place in it
		b.do(chromedp.Navigate("about:blank"))
	}
	b.do(chromedp.Navigate(b.base + link))
}

// What the tests look at, as JavaScript expressions.
const (
	live           = `document.querySelector("#app[aria-busy=false] form.ask")`
	histogramThere = `document.querySelector(".figure svg path")`
	digest         = `document.querySelector("article.answer").dataset.digest`
)

// is is true when the simulation has that status.
func is(status string) string {
	return `document.querySelector(".answer .progress[data-status=` + status + `]")`
}

// swept is true when the sweep has that status.
func swept(status string) string {
	return `document.querySelector(".sweep .progress[data-status=` + status + `]")`
}

// eval returns the value of a JavaScript expression.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return v
}

const patience = time.Minute

// until waits until something is so.
func (b *tab) until(is func() bool) {
	b.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("not even after %v", patience)
		}
	}
}

// wait waits until a JavaScript expression is true.
func (b *tab) wait(expression string) {
	b.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		// A page that is just being loaded has no answer.
		if is, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+expression+")")); err == nil && is {
			return
		} else if err != nil && !strings.Contains(err.Error(), "navigated") {
			b.Fatalf("%s: %v", expression, err)
		}
		if time.Now().After(deadline) {
			b.Fatalf("after %v still not: %s\nthe page, at %s, begins with: %s", patience, expression,
				eval[string](b, "location.search"), eval[string](b, "document.body.innerText.slice(0, 1500)"))
		}
	}
}
