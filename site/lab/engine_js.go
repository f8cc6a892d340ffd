package lab

import "syscall/js"

// ServeEngine makes a Web Worker an engine for the Workers of its page, and does not return.
func ServeEngine() {
	self := js.Global()
	channel := self.Get("MessageChannel").New()
	// A message to oneself comes behind those that the page has sent meanwhile,
	// and without the delay of a timer.
	e := &engine{
		post:  func(m message) { post(self, m) },
		again: func() { channel.Get("port2").Call("postMessage", nil) },
		start: startCore,
	}
	channel.Get("port1").Set("onmessage", js.FuncOf(func(js.Value, []js.Value) any {
		e.tick()
		return nil
	}))
	self.Set("onmessage", js.FuncOf(func(_ js.Value, args []js.Value) any {
		e.receive(fromJS(args[0].Get("data")))
		return nil
	}))
	e.ready(0)
	select {}
}

// post sends m to a Worker, or from one to its page.
func post(to js.Value, m message) {
	o := map[string]any{"t": m.Kind, "gen": m.Gen}
	switch m.Kind {
	case "run":
		o["link"], o["arm"], o["run"] = m.Link, m.Arm, m.Run
	case "ready":
		o["model"] = m.Model
	case "fail", "died":
		o["text"] = m.Text
	case "part", "done":
		bytes := js.Global().Get("Uint8Array").New(len(m.Part))
		js.CopyBytesToJS(bytes, m.Part)
		buf := bytes.Get("buffer")
		o["buf"], o["memory"] = buf, m.Memory
		to.Call("postMessage", o, []any{buf})
		return
	}
	to.Call("postMessage", o)
}

// fromJS reads what post sent. What is not there, or is of another type, is zero.
func fromJS(o js.Value) (m message) {
	if o.Type() != js.TypeObject {
		return m
	}
	text := func(key string) string {
		if v := o.Get(key); v.Type() == js.TypeString {
			return v.String()
		}
		return ""
	}
	number := func(key string) int {
		if v := o.Get(key); v.Type() == js.TypeNumber {
			return v.Int()
		}
		return 0
	}
	m = message{
		Kind: text("t"), Gen: number("gen"), Link: text("link"), Arm: number("arm"), Run: number("run"),
		Model: number("model"), Text: text("text"), Memory: number("memory"),
	}
	if buf := o.Get("buf"); buf.InstanceOf(js.Global().Get("ArrayBuffer")) {
		bytes := js.Global().Get("Uint8Array").New(buf)
		m.Part = make([]byte, bytes.Length())
		js.CopyBytesToGo(m.Part, bytes)
	}
	return m
}
