package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"schedlab/core/sweep"
)

// An EffectMap shows what a patch gains or loses over two axes: a cell for each
// point, coloured by the effect, and a thick line where gain turns to loss. Cells are
// equally large whatever the distances of the axes' values.
type EffectMap struct {
	Table *sweep.Table
	Arm   int
	Title string   // stands above the picture; "" for none
	Basis []string // what the figures rest on: lines that stand beneath it, broken if they are too long
	Width float64  // pixels
}

// EffectMapMarks says what the marks of an EffectMap mean.
const EffectMapMarks = "Cells: improvement of the means, in percent; ~ is not significant, and in cells without figures − is a loss. " +
	"The thick line: gain turns to loss."

// shadeBounds are the effects, in percent, at which the next darker shade
// begins: the same in all maps, so that they can be compared.
var shadeBounds = []float64{1, 3, 10, 30}

// shade returns the class of an effect's colour: even, gain0 … gain4 or loss0 … loss4.
func shade(v float64) string {
	if v == 0 {
		return "even"
	}
	n := 0
	for n < len(shadeBounds) && math.Abs(v) >= shadeBounds[n] {
		n++
	}
	if v > 0 {
		return "gain" + strconv.Itoa(n)
	}
	return "loss" + strconv.Itoa(n)
}

// shades lists the classes from the largest loss to the largest gain.
func shades() []string {
	var list []string
	for i := len(shadeBounds); i >= 0; i-- {
		list = append(list, "loss"+strconv.Itoa(i))
	}
	list = append(list, "even")
	for i := range len(shadeBounds) + 1 {
		list = append(list, "gain"+strconv.Itoa(i))
	}
	return list
}

// SVG draws the picture; "" if there is nothing to draw. Classes: loss0 … loss4, even, gain0 … gain4 for
// cells and the legend, missing for cells that are not known; cell (a figure in one), unsure (its ~ where there is
// no figure), minus; zero and halo (the line, and what sets it off); gain, loss; axis, tick, what (an axis's
// name), title, basis.
func (d EffectMap) SVG() string {
	t := d.Table
	if t.Known(d.Arm) == 0 {
		return ""
	}
	nx, ny := t.Size()
	width := max(d.Width, 200)
	xs, ys := t.Sweep.Axes[0].Numbers(), []float64{0}
	yTitle := ""
	if len(t.Sweep.Axes) > 1 {
		ys = t.Sweep.Axes[1].Numbers()
		yTitle = axisTitle(t.Sweep, 1, width-24)
	}
	left := 0.0
	for _, v := range ys {
		left = max(left, textWidth(axisNumber(v), tickSize)+10)
	}
	// Cells are whole pixels, so that all look alike.
	cw := max(math.Floor((width-8-left)/float64(nx)), 3)
	ch := math.Round(min(max(cw*0.62, 16), 34))
	if float64(ny)*ch > width { // many rows
		ch = max(math.Floor(width/float64(ny)), 8)
	}
	gap := 1.0
	if cw < 9 {
		gap = 0
	}
	basis := breakLines(d.Basis, width-8)
	top := lineSize + 6
	if d.Title != "" {
		top += lineSize + 4
	}
	bottom := top + ch*float64(ny)
	right := left + cw*float64(nx)
	legend := bottom + 17 + lineSize + 12
	height := legend + 10 + lineSize + 6
	if len(basis) > 0 {
		height += lineSize*float64(len(basis)) + 4
	}

	var c canvas
	c.open("map", d.Words(), width, height)
	if d.Title != "" {
		c.text("title", "start", 4, 15, cut(d.Title, width-8, titleSize))
	}
	if yTitle != "" {
		c.text("what", "start", 4, top-7, cut("↑ "+yTitle, width-8, tickSize))
	}

	cells := newLayers(append(shades(), "missing"))
	format := d.format(cw-gap-2, ch)
	marks := newLayers([]string{"minus", "unsure"})
	type figure struct {
		x, y float64 // of its middle
		text string
	}
	var figures []figure
	for j := range ny {
		for i := range nx {
			x, y := left+float64(i)*cw, bottom-float64(j+1)*ch
			e := t.Effect(j*nx+i, d.Arm)
			if !e.ImprovementPct.OK {
				cells.pen("missing").rect(x+.5, y+.5, cw-gap-1, ch-gap-1)
				continue
			}
			v := e.ImprovementPct.V
			class := shade(v)
			cells.pen(class).rect(x, y, cw-gap, ch-gap)
			mx, my := x+(cw-gap)/2, y+(ch-gap)/2
			switch {
			case format != nil:
				figures = append(figures, figure{mx, my, format(v, e.Significant)})
			case cw < 9:
			case !e.Significant:
				p := marks.pen("unsure")
				p.move(mx-3, my+.5)
				p.b.WriteString("q1.5-3 3 0t3 0")
			case v < 0:
				p := marks.pen("minus")
				p.move(mx-2.5, my)
				p.h(mx + 2.5)
			}
		}
	}
	cells.draw(&c)
	marks.draw(&c)
	var line pen
	type point struct{ x, y float64 }
	var on []point // the line, every other pixel
	for _, places := range t.Contour(d.Arm) {
		var last point
		for k, p := range places {
			x, y := left+(p.X+.5)*cw-gap/2, bottom-(p.Y+.5)*ch-gap/2
			if k > 0 {
				line.line(x, y)
				steps := math.Ceil(math.Hypot(x-last.x, y-last.y) / 2)
				for f := range int(steps) {
					on = append(on, point{last.x + (x-last.x)*float64(f)/steps, last.y + (y-last.y)*float64(f)/steps})
				}
			}
			last = point{x, y}
			if k%200 == 0 { // a new beginning, where pieces can part a long line
				line.move(x, y)
			}
		}
	}
	for _, class := range []string{"halo", "zero"} {
		for _, part := range pieces(line.String()) {
			c.path(class, part)
		}
	}

	for _, f := range figures { // above the line, and out of its way as far as the cell allows
		w, free := textWidth(f.text, tickSize)/2, max((ch-gap-13)/2, 0)
		best, nearest := 0.0, -1.0
		for _, dy := range []float64{0, -free, free} {
			b := box{f.x - w, f.y + dy - 5, f.x + w, f.y + dy + 5}
			d := 4.0 // is far enough
			for _, p := range on {
				d = min(d, b.distance(p.x, p.y))
			}
			if d > nearest {
				best, nearest = dy, d
			}
		}
		c.text("cell", "middle", f.x, f.y+best+4, f.text)
	}
	d.ticks(&c, xs, ys, left, bottom, cw, ch)
	title := axisTitle(t.Sweep, 0, right-20) + " →"
	w := textWidth(title, tickSize)
	c.text("what", "end", max(right-gap, w), bottom+17+lineSize, cut(title, width-8, tickSize))
	d.legend(&c, left, legend, width)
	for i, text := range basis {
		c.text("basis", "start", 4, height-4-lineSize*float64(len(basis)-1-i), text)
	}
	return c.close()
}

// format returns how to write the effects so that all of them fit into their
// cells: with a decimal, without, or nil for not at all.
func (d EffectMap) format(width, height float64) func(v float64, sure bool) string {
	if height < 14 {
		return nil
	}
	mark := map[bool]string{true: "", false: "~"}
	formats := []func(float64, bool) string{
		func(v float64, sure bool) string { return SignedTenths(v) + mark[sure] },
		func(v float64, sure bool) string {
			s := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
			switch {
			case s == "0":
			case v > 0:
				s = "+" + s
			default:
				s = minus + s
			}
			return s + mark[sure]
		},
	}
	for _, format := range formats {
		fits := true
		for p := range d.Table.Sweep.Points() {
			if e := d.Table.Effect(p, d.Arm); e.ImprovementPct.OK {
				fits = fits && textWidth(format(e.ImprovementPct.V, e.Significant), tickSize) <= width
			}
		}
		if fits {
			return format
		}
	}
	return nil
}

// ticks writes the axes' values at the middles of columns and rows: as many of
// them as fit.
func (d EffectMap) ticks(c *canvas, xs, ys []float64, left, bottom, cw, ch float64) {
	widest := 0.0
	for _, v := range xs {
		widest = max(widest, textWidth(axisNumber(v), tickSize)+8)
	}
	every := max(int(math.Ceil(widest/cw)), 1)
	var axis pen
	for i := 0; i < len(xs); i += every {
		x := left + (float64(i)+.5)*cw - .5
		axis.move(x, bottom)
		axis.v(bottom + 4)
		text := axisNumber(xs[i])
		c.text("tick", "middle", max(x, textWidth(text, tickSize)/2), bottom+17, text)
	}
	every = max(int(math.Ceil(14/ch)), 1)
	if len(d.Table.Sweep.Axes) > 1 {
		for j := 0; j < len(ys); j += every {
			y := bottom - (float64(j)+.5)*ch - .5
			axis.move(left-4, y)
			axis.h(left - 1)
			c.text("tick", "end", left-7, y+4, axisNumber(ys[j]))
		}
	}
	c.path("axis", axis.String())
}

// legend shows what the shades stand for.
func (d EffectMap) legend(c *canvas, left, y, width float64) {
	const word = 48.0
	list := shades()
	list = append(list[:len(shadeBounds)+1], list[len(shadeBounds)+2:]...) // even is nothing to show
	w := math.Floor(min((width-8-2*word)/float64(len(list)), 34))
	x0 := word
	if left+2*word+w*float64(len(list)) <= width-8 {
		x0 += left
	}
	c.text("loss", "end", x0-6, y+9, "loss")
	for i, class := range list {
		var p pen
		p.rect(x0+w*float64(i), y, w-1, 10)
		c.path(class, p.String())
	}
	c.text("gain", "start", x0+w*float64(len(list))+5, y+9, "gain, %")
	n := len(shadeBounds)
	for i := range list[1:] {
		if w < textWidth("+30", tickSize)+6 && (i-n)%2 != 0 {
			continue // no room for all of them
		}
		x := x0 + w*float64(i+1) - .5
		text := "0"
		switch {
		case i < n:
			text = minus + axisNumber(shadeBounds[n-1-i])
		case i > n:
			text = "+" + axisNumber(shadeBounds[i-n-1])
		}
		c.text("tick", "middle", x, y+10+13, text)
	}
}

// Words says what the picture shows.
func (d EffectMap) Words() string {
	t := d.Table
	var b strings.Builder
	fmt.Fprintf(&b, "Map of the effect on %s in percent, positive is better, over %s from %s to %s", t.Metric().Name, t.Sweep.Title(0), x0(t, 0), x1(t, 0))
	if len(t.Sweep.Axes) > 1 {
		fmt.Fprintf(&b, " and %s from %s to %s", t.Sweep.Title(1), x0(t, 1), x1(t, 1))
	}
	b.WriteString(".")
	for _, line := range d.Basis {
		b.WriteString(" " + strings.TrimSuffix(line, ".") + ".")
	}
	fmt.Fprintf(&b, " %s against %s: %s", t.Arm(d.Arm), t.Arm(0), summary(t, d.Arm))
	switch n := len(t.Contour(d.Arm)); {
	case n == 1:
		b.WriteString("; a line parts gains from losses.")
	case n > 1:
		fmt.Fprintf(&b, "; %d lines part gains from losses.", n)
	default:
		b.WriteString("; no change of sign.")
	}
	return b.String()
}

// layers are pens by class, drawn in a fixed order.
type layers struct {
	classes []string
	pens    map[string]*pen
}

func newLayers(classes []string) layers { return layers{classes, make(map[string]*pen)} }

func (l layers) pen(class string) *pen {
	p := l.pens[class]
	if p == nil {
		p = new(pen)
		l.pens[class] = p
	}
	return p
}

func (l layers) draw(c *canvas) {
	for _, class := range l.classes {
		if p := l.pens[class]; p != nil {
			for _, part := range pieces(p.String()) {
				c.path(class, part)
			}
		}
	}
}

// pieces splits a path, before moves, into parts of a size that browsers and
// the page take in their stride.
func pieces(d string) []string {
	const most = 8 << 10
	var list []string
	for len(d) > most {
		at := strings.LastIndexByte(d[:most], 'M')
		if at <= 0 {
			break
		}
		list = append(list, d[:at])
		d = d[at:]
	}
	return append(list, d)
}
