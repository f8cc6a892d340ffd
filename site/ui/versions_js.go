package ui

import (
	"syscall/js"

	"schedlab/core"
)

// offline has v follow what offline.js finds out, and returns what starts that.
func offline(v *Versions, update func(change func())) (start func()) {
	o := js.Global().Get("offline")
	if !o.Truthy() { // the host has no such file
		v.This = Build{"unknown", core.Model}
		v.Why = "the host has a part of it only"
		return func() {}
	}
	build := func(key string) *Build {
		b := o.Get(key)
		if !b.Truthy() {
			return nil
		}
		return &Build{b.Get("version").String(), b.Get("model").Int()}
	}
	v.This = Build{o.Get("version").String(), core.Model}
	v.Take = func() { o.Call("take") }
	o.Set("changed", js.FuncOf(func(js.Value, []js.Value) any {
		update(func() { v.Kept, v.Why, v.Newer = build("kept"), o.Get("why").String(), build("newer") })
		return nil
	}))
	return func() {
		js.Global().Call("setTimeout", o.Get("start"), 0)
	}
}
