package lab

import "syscall/js"

// NewWorkers returns Workers that run script, an URL, and are sent module, the
// compiled program. No worker is started yet.
func NewWorkers(script string, module js.Value) *Workers {
	threads := 1
	if n := js.Global().Get("navigator").Get("hardwareConcurrency"); n.Type() == js.TypeNumber {
		threads = max(n.Int(), 1)
	}
	return newWorkers(threads, func(receive func(message)) remote {
		w := webWorker{Value: js.Global().Get("Worker").New(script)}
		w.message = js.FuncOf(func(_ js.Value, args []js.Value) any {
			receive(fromJS(args[0].Get("data")))
			return nil
		})
		w.failure = js.FuncOf(func(_ js.Value, args []js.Value) any {
			text := "it could not be loaded"
			if m := args[0].Get("message"); m.Type() == js.TypeString {
				text = m.String()
			}
			args[0].Call("preventDefault") // the page will hear of it from us
			receive(message{Kind: "died", Text: text})
			return nil
		})
		w.Set("onmessage", w.message)
		w.Set("onerror", w.failure)
		w.Call("postMessage", map[string]any{"module": module})
		return w
	})
}

// A webWorker is the remote of a Web Worker.
type webWorker struct {
	js.Value
	message, failure js.Func
}

func (w webWorker) Post(m message) { post(w.Value, m) }

func (w webWorker) Terminate() {
	w.Set("onmessage", nil)
	w.Set("onerror", nil)
	w.Call("terminate")
	w.message.Release()
	w.failure.Release()
}
