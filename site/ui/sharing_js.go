package ui

import (
	"syscall/js"
	"time"
)

// mostWait is how long a host may take to answer.
const mostWait = 20 * time.Second

// postText posts a text to an address beside the page, and gives what the host answers.
func postText(to, text string, done func(Reply)) {
	go func() {
		options := map[string]any{
			"method": "POST", "headers": map[string]any{"Content-Type": "text/plain"}, "body": text, "cache": "no-store",
		}
		var limit js.Value
		if signal := js.Global().Get("AbortSignal"); signal.Truthy() && signal.Get("timeout").Truthy() { // not in browsers of before 2022
			limit = signal.Call("timeout", mostWait.Milliseconds())
			options["signal"] = limit
		}
		response, err := await(js.Global().Call("fetch", to, options))
		var body js.Value
		if err == nil {
			body, err = await(response.Call("text"))
		}
		if err != nil {
			// What is thrown is not always the limit's own error, as where it ends an answer that has begun.
			done(Reply{Late: limit.Truthy() && limit.Get("aborted").Bool()})
			return
		}
		r := Reply{Status: response.Get("status").Int(), Text: body.String()}
		if kind := response.Get("headers").Call("get", "Content-Type"); kind.Type() == js.TypeString {
			r.Type = kind.String()
		}
		done(r)
	}()
}

// await waits for a promise.
func await(promise js.Value) (js.Value, error) {
	type outcome struct {
		value js.Value
		err   error
	}
	settled := make(chan outcome, 1)
	yes := js.FuncOf(func(_ js.Value, args []js.Value) any { settled <- outcome{value: args[0]}; return nil })
	no := js.FuncOf(func(_ js.Value, args []js.Value) any { settled <- outcome{err: js.Error{Value: args[0]}}; return nil })
	defer yes.Release()
	defer no.Release()
	promise.Call("then", yes, no)
	o := <-settled
	return o.value, o.err
}

// copyText puts a text on the clipboard: by the clipboard's own interface, or
// where there is none, as on a page that was not loaded safely, by the old command.
func copyText(text string, done func(ok bool)) {
	clipboard := js.Global().Get("navigator").Get("clipboard")
	if !clipboard.Truthy() {
		done(copyByCommand(text))
		return
	}
	var yes, no js.Func
	release := func() { yes.Release(); no.Release() }
	yes = js.FuncOf(func(js.Value, []js.Value) any { release(); done(true); return nil })
	no = js.FuncOf(func(js.Value, []js.Value) any { release(); done(copyByCommand(text)); return nil })
	clipboard.Call("writeText", text).Call("then", yes, no)
}

func copyByCommand(text string) bool {
	document := js.Global().Get("document")
	area := document.Call("createElement", "textarea")
	area.Set("value", text)
	area.Set("className", "hidden")
	body := document.Get("body")
	body.Call("appendChild", area)
	defer body.Call("removeChild", area)
	focused := document.Get("activeElement")
	area.Call("select")
	ok := document.Call("execCommand", "copy").Bool()
	if focused.Truthy() {
		focused.Call("focus")
	}
	return ok
}
