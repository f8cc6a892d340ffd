package ui

import (
	"fmt"
	"runtime"

	"github.com/vugu/vugu"
)

// value returns what stands in the field that an event came from.
func value(event vugu.DOMEvent) string { return event.PropString("target", "value") }

// checked returns whether the box that an event came from is ticked.
func checked(event vugu.DOMEvent) bool { return event.PropBool("target", "checked") }

// prevent keeps the browser from doing what it would do by itself.
func prevent(event vugu.DOMEvent) {
	if runtime.GOOS == "js" {
		event.PreventDefault()
	}
}

// follow does what a link is for within the page, unless the visitor wants it in another place, such as a new tab.
func follow(event vugu.DOMEvent, do func()) {
	for _, key := range []string{"ctrlKey", "metaKey", "shiftKey", "altKey"} {
		if event.PropBool(key) {
			return
		}
	}
	prevent(event)
	safely(do)
}

// safely does what a handler is for. Vugu would end with a handler that
// panics, and leave a page that answers nothing.
func safely(do func()) {
	defer func() {
		if fault := recover(); fault != nil {
			fmt.Println("the page itself failed:", fault)
		}
	}()
	do()
}

// join puts the names that are not empty in a class attribute.
func join(names ...string) string {
	s := ""
	for _, name := range names {
		if name != "" {
			if s != "" {
				s += " "
			}
			s += name
		}
	}
	return s
}

// when is name if is, else nothing.
func when(is bool, name string) string {
	if is {
		return name
	}
	return ""
}

// some is an attribute that is left out if it would be empty.
func some(s string) any {
	if s == "" {
		return nil
	}
	return s
}
