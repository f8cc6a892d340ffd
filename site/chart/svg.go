package chart

import (
	"html"
	"math"
	"strconv"
	"strings"
)

// A canvas collects the text of an <svg> element.
type canvas struct{ b strings.Builder }

// open begins the picture: width by height pixels, with words for those who
// don't see it.
func (c *canvas) open(class, words string, width, height float64) {
	c.b.WriteString(`<svg class="` + class + `" viewBox="0 0 ` + num(width) + " " + num(height) +
		`" width="` + num(width) + `" height="` + num(height) + `" role="img" aria-label="` + html.EscapeString(words) + `">`)
}

func (c *canvas) close() string {
	c.b.WriteString("</svg>")
	return c.b.String()
}

func (c *canvas) path(class, d string) {
	if d != "" {
		c.b.WriteString(`<path class="` + class + `" d="` + d + `"/>`)
	}
}

// text writes at (x, y), the baseline; anchor is "start", "middle" or "end".
func (c *canvas) text(class, anchor string, x, y float64, text string) {
	c.b.WriteString(`<text class="` + class + `" x="` + num(x) + `" y="` + num(y) + `"`)
	if anchor != "start" {
		c.b.WriteString(` text-anchor="` + anchor + `"`)
	}
	c.b.WriteString(">" + html.EscapeString(text) + "</text>")
}

// A pen writes the d of a path, in tenths of pixels.
type pen struct{ b strings.Builder }

func (p *pen) move(x, y float64) { p.b.WriteString("M" + num(x) + " " + num(y)) }
func (p *pen) h(x float64)       { p.b.WriteString("H" + num(x)) }
func (p *pen) v(y float64)       { p.b.WriteString("V" + num(y)) }
func (p *pen) close()            { p.b.WriteString("Z") }
func (p *pen) String() string    { return p.b.String() }

// rect draws a rectangle.
func (p *pen) rect(x, y, w, h float64) {
	p.move(x, y)
	p.b.WriteString("h" + num(w) + "v" + num(h) + "h" + num(-w) + "z")
}

// circle draws a circle around (x, y).
func (p *pen) circle(x, y, r float64) {
	p.move(x-r, y)
	arc := "a" + num(r) + " " + num(r) + " 0 1 0 "
	p.b.WriteString(arc + num(2*r) + " 0" + arc + num(-2*r) + " 0")
}

// num writes tenths of pixels.
func num(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10+0, 'f', -1, 64) // + 0 makes 0 of −0
}

// textWidth is about how wide a text is in a sans-serif font of a size: rather
// too much than too little, since the font is the reader's.
func textWidth(text string, size float64) float64 {
	n := 0
	for range text {
		n++
	}
	return float64(n) * size * 0.62
}
