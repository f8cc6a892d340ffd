package ui

import (
	"runtime"

	"github.com/vugu/vugu"
	"github.com/vugu/vugu/js"
)

// A Picture shows the text of an <svg> element. Vugu would build it anew at every
// render; this does so only when it has changed.
type Picture struct {
	Class string
	SVG   string

	drawn  string
	number int // of the drawn text, unlike that of any other picture
}

var pictures int

// Build implements vugu.Builder.
func (c *Picture) Build(*vugu.BuildIn) *vugu.BuildOut {
	n := &vugu.VGNode{Type: vugu.ElementNode, Data: "div", Attr: []vugu.VGAttribute{{Key: "class", Val: c.Class}}}
	if runtime.GOOS == "js" {
		if c.drawn != c.SVG || c.number == 0 {
			pictures++
			c.drawn, c.number = c.SVG, pictures
		}
		number, svg := c.number, c.SVG
		n.JSCreateHandler = vugu.JSValueFunc(func(el js.Value) {
			if shown := el.Get("picture"); shown.Type() == js.TypeNumber && shown.Int() == number {
				return
			}
			el.Set("innerHTML", svg)
			el.Set("picture", number)
		})
	} else {
		n.InnerHTML = &c.SVG
	}
	return &vugu.BuildOut{Out: []*vugu.VGNode{n}}
}
