package ui

import (
	"hash/fnv"
	"runtime"

	"github.com/vugu/vugu"
	"github.com/vugu/vugu/js"
)

// A Picture shows the text of an <svg> element. Vugu would build it anew at every
// render; this does so only when it has changed.
type Picture struct {
	Class string
	SVG   string
}

// Build implements vugu.Builder.
func (c *Picture) Build(*vugu.BuildIn) *vugu.BuildOut {
	n := &vugu.VGNode{Type: vugu.ElementNode, Data: "div", Attr: []vugu.VGAttribute{{Key: "class", Val: c.Class}}}
	if runtime.GOOS == "js" {
		svg := c.SVG
		n.JSCreateHandler = vugu.JSValueFunc(func(el js.Value) {
			hash := fnv.New32a()
			hash.Write([]byte(svg))
			number := int(hash.Sum32())
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
