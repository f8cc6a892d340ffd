// Playground is the page's program, and that of its workers: where there is no
// document to show anything in, it is an engine.
package main

import (
	"syscall/js"

	"schedlab/site/lab"
	"schedlab/site/ui"
)

func main() {
	if js.Global().Get("document").IsUndefined() {
		lab.ServeEngine()
	}
	boot := js.Global().Get("schedlab") // left there by the loader, app.js
	workers := lab.NewWorkers(boot.Get("script").String(), boot.Get("module"))
	workers.Warn = func(text string) { boot.Call("tell", text) }
	if err := ui.Main(workers); err != nil {
		panic(err) // the loader says that the page has stopped working
	}
}
