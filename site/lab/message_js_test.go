package lab

import (
	"reflect"
	"syscall/js"
	"testing"
	"time"
)

// TestMessagesThroughChannel sends messages as a page and its workers do.
func TestMessagesThroughChannel(t *testing.T) {
	channel := js.Global().Get("MessageChannel").New()
	got := make(chan message, 10)
	receive := js.FuncOf(func(_ js.Value, args []js.Value) any {
		got <- fromJS(args[0].Get("data"))
		return nil
	})
	defer receive.Release()
	channel.Get("port1").Set("onmessage", receive)
	defer channel.Get("port1").Call("close")
	for _, m := range []message{
		{Kind: "run", Gen: 7, Link: "?v=1&model=1", Arm: 1, Run: 999},
		{Kind: "cancel", Gen: 7},
		{Kind: "ready", Gen: 7, Model: 3},
		{Kind: "part", Gen: 7, Part: []byte{0, 1, 255}},
		{Kind: "done", Gen: 7, Part: []byte{}, Memory: 1 << 40},
		{Kind: "fail", Gen: 7, Text: "é <b>"},
		{Kind: "died", Text: "\x00"},
	} {
		post(channel.Get("port2"), m)
		select {
		case back := <-got:
			if !reflect.DeepEqual(back, m) {
				t.Errorf("%+v became %+v", m, back)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%+v did not arrive", m)
		}
	}
}

// TestMessagesOfOthers: what is no message is one that means nothing.
func TestMessagesOfOthers(t *testing.T) {
	for _, v := range []any{nil, js.Undefined(), 1, "run", true, map[string]any{}, map[string]any{"t": 1, "gen": "7", "buf": []any{1}, "link": map[string]any{}}} {
		if m := fromJS(js.ValueOf(v)); !reflect.DeepEqual(m, message{}) {
			t.Errorf("%v became %+v", v, m)
		}
	}
}

// TestTransfer: a part's bytes are moved, not copied.
func TestTransfer(t *testing.T) {
	var buf js.Value
	to := js.Global().Get("Object").New()
	send := js.FuncOf(func(_ js.Value, args []js.Value) any {
		buf = args[0].Get("buf")
		if list := args[1]; list.Length() != 1 || !list.Index(0).Equal(buf) {
			t.Error("the buffer is not in the list of what is transferred")
		}
		return nil
	})
	defer send.Release()
	to.Set("postMessage", send)
	post(to, message{Kind: "part", Part: make([]byte, 100)})
	if buf.Get("byteLength").Int() != 100 {
		t.Errorf("a buffer of %v bytes", buf.Get("byteLength"))
	}
}
