package ui

import (
	"fmt"
	"math"
	"strings"
	"syscall/js"
	"time"

	"github.com/vugu/vugu"
	"github.com/vugu/vugu/domrender"

	"schedlab/core/evidence"
	"schedlab/site/lab"
)

// Main mounts the page on the document's element #app and runs it until
// the document goes away. What #app already holds is adopted where it is like
// what is rendered, and replaced where it is not.
func Main(r lab.Runner) error {
	renderer, err := domrender.New("#app")
	if err != nil {
		return fmt.Errorf("mounting the page: %w", err)
	}
	env := renderer.EventEnv()
	// update changes the page from outside of a Vugu handler, which would hold the lock.
	update := func(change func()) {
		go func() {
			env.Lock()
			safely(change)
			env.UnlockRender()
		}()
	}

	state := lab.NewState(r, address{}, func() { update(func() {}) })
	app := &App{State: state, Width: 900, EvidenceWidth: 900, MostCases: 3, Stored: evidence.Last}
	app.Sharing = Sharing{
		Link: absolute,
		Copy: func(text string, done func(bool)) { copyText(text, func(ok bool) { update(func() { done(ok) }) }) },
		Post: func(to, text string, done func(Reply)) {
			postText(to, text, func(r Reply) { update(func() { done(r) }) })
		},
		Wait: func(wait time.Duration, f func()) { time.AfterFunc(wait, func() { update(f) }) },
	}
	startOffline := offline(&app.Versions, update)
	state.Open(link())
	listen("popstate", func() { update(func() { state.Open(link()) }) })
	build, err := vugu.NewBuildEnv(env)
	if err != nil {
		return fmt.Errorf("mounting the page: %w", err)
	}
	document := js.Global().Get("document")
	title := ""
	toSweep := state.View().Sweep.Open // what the link is about
	proving := state.View().Evidence.Open
	for first, ok := true, true; ok; first, ok = false, renderer.EventWait() {
		if err := renderer.Render(build.RunBuild(app)); err != nil {
			return fmt.Errorf("rendering the page: %w", err)
		}
		if t := app.title(); t != title {
			title = t
			document.Set("title", title)
		}
		if toSweep && app.view.Status != lab.Running { // nothing above it will grow any more
			toSweep = false
			if js.Global().Get("scrollY").Int() == 0 {
				document.Call("getElementById", "sweep").Call("scrollIntoView")
			}
		}
		if first {
			observeWidth(document.Call("querySelector", ".answer"), func(width float64) {
				update(func() { app.Width = width })
			})
			observeWidth(document.Call("querySelector", "#evidence"), func(width float64) {
				update(func() { app.EvidenceWidth = width })
			})
		}
		if app.proving() != proving { // another view: begin at its top, also with what is heard
			proving = app.proving()
			document.Call("querySelector", "main:not([hidden])").Call("focus")
			js.Global().Call("scrollTo", 0, 0)
		}
		if startOffline != nil && (app.answer != nil || app.proving() || app.view.Status != lab.Running) {
			startOffline() // nobody waits for a first picture any more
			startOffline = nil
		}
		if app.cases.more { // and the browser has its turn in between
			time.AfterFunc(5*time.Millisecond, func() { update(func() {}) })
		}
	}
	return nil
}

func location() js.Value { return js.Global().Get("location") }

// link returns what the address bar has behind the page's own address.
func link() string { return location().Get("search").String() + location().Get("hash").String() }

// absolute makes an address of a link, for others to open.
func absolute(link string) string {
	return js.Global().Get("URL").New(link, location().Get("href")).Get("href").String()
}

// listen calls f at each of the window's events of a type, for good.
func listen(event string, f func()) {
	js.Global().Call("addEventListener", event, js.FuncOf(func(js.Value, []js.Value) any {
		f()
		return nil
	}))
}

// observeWidth calls f with an element's width in pixels, soon and whenever it is
// another one. To ask for the width after each render would have the
// browser lay out the page each time.
func observeWidth(el js.Value, f func(width float64)) {
	width := 0.0
	observed := js.FuncOf(func(_ js.Value, args []js.Value) any {
		w := math.Floor(args[0].Index(0).Get("contentRect").Get("width").Float())
		if w != width && w > 0 {
			width = w
			time.AfterFunc(0, func() { f(w) }) // not while the browser is at its layout
		}
		return nil
	})
	js.Global().Get("ResizeObserver").New(observed).Call("observe", el)
}

// address is the browser's address bar.
type address struct{}

func (address) Push(link string)    { history("pushState", link) }
func (address) Replace(link string) { history("replaceState", link) }

func history(method, link string) {
	if !strings.HasPrefix(link, "?") { // by itself it would leave the query as it is
		link = location().Get("pathname").String() + link
	}
	js.Global().Get("history").Call(method, nil, "", link)
}
