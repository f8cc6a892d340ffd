package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"schedlab/core/stats"
	"schedlab/core/sweep"
)

// An EffectChart shows what patches gain or lose along one axis: for each arm
// a line through its effects, with their intervals as a band. A dot is filled where
// the effect is significant and hollow where it is not. What is not known yet
// is left out.
type EffectChart struct {
	Table *sweep.Table
	Arms  []int    // to draw; the first arm, 0, is what they are compared with
	Title string   // stands above the picture; "" for none
	Basis []string // what the figures rest on: lines that stand beneath it, broken if they are too long
	Width float64  // pixels
}

// EffectMarks says what the marks of an EffectChart mean.
const EffectMarks = "Lines: improvement of the means. Bands: 95 % interval of the paired changes. Filled dots: significant (p" + space + "<" + space + "0.05)."

// SVG draws the picture; "" if there is nothing to draw. Classes: arm1, arm2 … with curve, band, dots,
// sure (the filled ones) and label; zero (its line), turn (where the sign changes); gain,
// loss; grid, axis, tick, what (an axis's name), title, basis.
func (d EffectChart) SVG() string {
	t := d.Table
	if !slices.ContainsFunc(d.Arms, func(arm int) bool { return t.Known(arm) > 0 }) {
		return ""
	}
	width := max(d.Width, 200)
	const side = 40.0 // for the words gain and loss
	left, right := 52.0, width-side
	basis := breakLines(d.Basis, width-8)
	top := 8.0
	if d.Title != "" {
		top += lineSize + 4
	}
	plot := math.Round(min(max(width*0.38, 190), 320))
	floor := top + plot
	height := floor + 17 + lineSize + 8
	if len(basis) > 0 {
		height += lineSize*float64(len(basis)) + 4
	}

	x := newAcross(t.Sweep.Axes[0], left+8, right-8)
	lo, hi := d.span()
	y := func(v float64) float64 { return floor - plot*(min(max(v, lo), hi)-lo)/(hi-lo) }

	var c canvas
	c.open("effect", d.Words(), width, height)
	if d.Title != "" {
		c.text("title", "start", 4, 15, cut(d.Title, width-8, titleSize))
	}
	var grid, axis, zero pen
	step := roundStep((hi - lo) / 6)
	for i := math.Ceil(lo / step * (1 - 1e-9)); i*step <= hi*(1+1e-9); i++ {
		v := i * step
		if i != 0 {
			grid.move(left, y(v))
			grid.h(right)
		}
		c.text("tick", "end", left-6, y(v)+4, signedTick(v))
	}
	var ticks []tickText
	for _, tick := range x.ticks() {
		grid.move(x.at(tick.v), top)
		grid.v(floor)
		axis.move(x.at(tick.v), floor)
		axis.v(floor + 4)
		ticks = append(ticks, tick)
	}
	axis.move(left, floor)
	axis.h(right)
	zero.move(left, y(0))
	zero.h(right)
	c.path("grid", grid.String())

	lines := make([]effectLine, len(d.Arms))
	for i, arm := range d.Arms {
		lines[i] = d.line(arm, max(4.4-0.8*float64(i), 2), x, y)
		c.path(fmt.Sprintf("band arm%d", arm), lines[i].band)
	}
	c.path("zero", zero.String())
	c.path("axis", axis.String())
	for i, arm := range d.Arms {
		class := fmt.Sprintf("arm%d", arm)
		c.path("curve "+class, lines[i].curve)
		c.path("dots "+class, lines[i].hollow)
		c.path("sure "+class, lines[i].filled)
	}
	for _, tick := range ticks {
		w := textWidth(tick.text, tickSize) / 2
		c.text("tick", "middle", min(max(x.at(tick.v), w), width-w), floor+17, tick.text)
	}
	c.text("what", "end", right, floor+17+lineSize, cut(axisTitle(t.Sweep, 0, right-left), right-left, tickSize))
	// Beside the plot, where no line can meet them.
	above, below := y(0)-4, y(0)+12
	if above < top+8 {
		above, below = top+8, top+24
	}
	if below > floor+4 {
		above, below = floor-12, floor+4
	}
	c.text("gain", "start", right+5, above, "gain")
	c.text("loss", "start", right+5, below, "loss")

	for _, p := range d.labels(lines, x, y, box{left + 2, top, right - 2, floor}) {
		c.text(p.class, "start", p.x0, p.y1-descent, p.text)
	}
	var turns pen
	for _, arm := range d.Arms {
		for _, crossing := range t.Crossings(arm, 0) {
			turns.move(x.at(crossing.At), y(0)-5)
			turns.v(y(0) + 5)
		}
	}
	c.path("turn", turns.String())
	for i, line := range basis {
		c.text("basis", "start", 4, height-4-lineSize*float64(len(basis)-1-i), line)
	}
	return c.close()
}

// span returns the ends of the axis of effects: 0, all effects, and of their
// intervals as much as leaves the effects some height.
func (d EffectChart) span() (lo, hi float64) {
	ciLo, ciHi := 0.0, 0.0
	for _, arm := range d.Arms {
		for p := range d.Table.Sweep.Points() {
			e := d.Table.Effect(p, arm)
			if !e.ImprovementPct.OK {
				continue
			}
			lo, hi = min(lo, e.ImprovementPct.V), max(hi, e.ImprovementPct.V)
			if e.CI95.OK {
				ciLo, ciHi = min(ciLo, e.CI95.Lo), max(ciHi, e.CI95.Hi)
			}
		}
	}
	room := max(hi-lo, 0.1) // at least: a tenth of a percent is nothing to enlarge
	lo, hi = min(lo, max(ciLo, lo-1.5*room)), max(hi, min(ciHi, hi+1.5*room))
	room = max((hi-lo)*0.06, 0.05)
	return lo - room, hi + room
}

// An effectLine is one arm's paths, and its line in pixels: NaN where it has a gap.
type effectLine struct {
	curve, band, hollow, filled string
	xs, ys                      []float64
}

// line draws an arm with dots of radius r: smaller ones for later arms, so that equal
// ones don't hide those before.
func (d EffectChart) line(arm int, r float64, x across, y func(float64) float64) effectLine {
	t := d.Table
	var l effectLine
	var curve, band, hollow, filled pen
	type edge struct{ x, lo, hi float64 }
	var run []edge // neighbouring points with intervals
	flush := func() {
		switch {
		case len(run) == 1: // a band without width
			run = []edge{{run[0].x - 1.5, run[0].lo, run[0].hi}, {run[0].x + 1.5, run[0].lo, run[0].hi}}
			fallthrough
		case len(run) > 1:
			band.move(run[0].x, run[0].hi)
			for _, e := range run[1:] {
				band.line(e.x, e.hi)
			}
			for _, e := range slices.Backward(run) {
				band.line(e.x, e.lo)
			}
			band.close()
		}
		run = nil
	}
	drawing := false
	for i, v := range x.values {
		e := t.Effect(i, arm)
		if !e.ImprovementPct.OK || !e.CI95.OK {
			flush()
		}
		if !e.ImprovementPct.OK {
			drawing = false
			l.xs, l.ys = append(l.xs, x.at(v)), append(l.ys, math.NaN())
			continue
		}
		px, py := x.at(v), y(e.ImprovementPct.V)
		l.xs, l.ys = append(l.xs, px), append(l.ys, py)
		if drawing {
			curve.line(px, py)
		} else {
			curve.move(px, py)
		}
		drawing = true
		if e.CI95.OK {
			run = append(run, edge{px, y(e.CI95.Lo), y(e.CI95.Hi)})
		}
		if e.Significant {
			filled.circle(px, py, r)
		} else {
			hollow.circle(px, py, r)
		}
	}
	flush()
	l.curve, l.band, l.hollow, l.filled = curve.String(), band.String(), hollow.String(), filled.String()
	return l
}

// maxTurns is how many changes of sign get their values written beside them:
// more are noise.
const maxTurns = 4

// labels places the arms' names at their lines, and the values where signs change.
func (d EffectChart) labels(lines []effectLine, x across, y func(float64) float64, room box) []placed {
	var labels []label
	for i, arm := range d.Arms {
		at := -1 // the point where the lines are farthest apart
		best := -1.0
		for j, py := range lines[i].ys {
			apart := math.Inf(1)
			for k := range lines {
				if k != i {
					apart = min(apart, math.Abs(lines[k].ys[j]-py)) // NaN if it is not known there
				}
			}
			if apart = min(apart, math.Abs(y(0)-py)); !math.IsNaN(py) && !math.IsNaN(apart) && apart >= best {
				at, best = j, apart
			}
		}
		if at >= 0 {
			labels = append(labels, label{fmt.Sprintf("label arm%d", arm), d.Table.Arm(arm), lines[i].xs[at], lines[i].ys[at]})
		}
		crossings := d.Table.Crossings(arm, 0)
		if len(crossings) > maxTurns {
			continue
		}
		for _, c := range crossings {
			if c.Step {
				continue
			}
			labels = append(labels, label{"label turn", "≈" + space + digits(c.At, 3), x.at(c.At), y(0)})
		}
	}
	for i := range labels {
		labels[i].text = cut(labels[i].text, room.x1-room.x0, labelSize)
	}
	cost := func(b box) float64 {
		hidden := 0.0
		if b.y0-1 < y(0) && y(0) < b.y1+1 {
			hidden += 100
		}
		for _, l := range lines {
			for j := range l.xs {
				if math.IsNaN(l.ys[j]) {
					continue
				}
				if b.distance(l.xs[j], l.ys[j]) < 6 {
					hidden += 60 // a dot
				}
				if j == 0 || math.IsNaN(l.ys[j-1]) {
					continue
				}
				const steps = 16
				for k := range steps {
					f := float64(k) / steps
					if b.distance(l.xs[j-1]+(l.xs[j]-l.xs[j-1])*f, l.ys[j-1]+(l.ys[j]-l.ys[j-1])*f) < 2 {
						hidden += 12
					}
				}
			}
		}
		return hidden
	}
	return place(labels, room, cost)
}

// Words says what the picture shows.
func (d EffectChart) Words() string {
	t := d.Table
	var b strings.Builder
	fmt.Fprintf(&b, "Effect on %s in percent, positive is better, along %s from %s to %s.", t.Metric().Name, t.Sweep.Title(0), x0(t, 0), x1(t, 0))
	for _, line := range d.Basis {
		b.WriteString(" " + strings.TrimSuffix(line, ".") + ".")
	}
	for _, arm := range d.Arms {
		fmt.Fprintf(&b, " %s against %s: %s", t.Arm(arm), t.Arm(0), summary(t, arm))
		crossings := t.Crossings(arm, 0)
		for _, c := range crossings {
			turn := c.Turn()
			if values := t.Sweep.Axes[0].Values; c.Step {
				fmt.Fprintf(&b, "; %s between %s and %s", turn, values[c.Below], values[c.Below+1])
			} else {
				fmt.Fprintf(&b, "; %s at about %s", turn, digits(c.At, 3))
			}
		}
		if len(crossings) == 0 && t.Known(arm) > 0 {
			b.WriteString("; no change of sign")
		}
		b.WriteString(".")
	}
	return b.String()
}

// x0 and x1 return the first and the last value of an axis.
func x0(t *sweep.Table, axis int) string { return t.Sweep.Axes[axis].Values[0] }
func x1(t *sweep.Table, axis int) string {
	v := t.Sweep.Axes[axis].Values
	return v[len(v)-1]
}

// summary says between what bounds an arm's effects lie.
func summary(t *sweep.Table, arm int) string {
	known, gains, losses, sure := 0, 0, 0, 0
	var least, most stats.Number
	var at [2]int
	for p := range t.Sweep.Points() {
		e := t.Effect(p, arm)
		v := e.ImprovementPct
		if !v.OK {
			continue
		}
		known++
		if !least.OK || v.V < least.V {
			least, at[0] = v, p
		}
		if !most.OK || v.V > most.V {
			most, at[1] = v, p
		}
		switch {
		case v.V > 0:
			gains++
		case v.V < 0:
			losses++
		}
		if e.Significant {
			sure++
		}
	}
	if known == 0 {
		return "nothing is known yet"
	}
	where := func(p int) string {
		var values []string
		for i, index := range t.Sweep.Points()[p].Index {
			values = append(values, t.Sweep.Axes[i].Key+" "+t.Sweep.Axes[i].Values[index])
		}
		return strings.Join(values, " and ")
	}
	s := fmt.Sprintf("from %s at %s to %s at %s; %d of %d points gain, %d lose, %d are significant",
		SignedPercent(least.V), where(at[0]), SignedPercent(most.V), where(at[1]), gains, known, losses, sure)
	if n := len(t.Sweep.Points()); known < n {
		s += fmt.Sprintf("; %d more points are not known", n-known)
	}
	return s
}

// An across is a sweep's axis from left to right: linear, or logarithmic if its
// values are spaced so.
type across struct {
	axis        sweep.Axis
	values      []float64
	log         bool
	left, right float64
}

func newAcross(a sweep.Axis, left, right float64) across {
	return across{a, a.Numbers(), a.Log(), left, right}
}

// at returns the pixel of a value.
func (a across) at(v float64) float64 {
	lo, hi := a.values[0], a.values[len(a.values)-1]
	if a.log {
		return Log{lo, hi, a.left, a.right}.At(v)
	}
	return a.left + (a.right-a.left)*(v-lo)/(hi-lo)
}

// A tickText is a place on an axis with its label.
type tickText struct {
	v    float64
	text string
}

// ticks returns the axis's own values, if there is room for all their labels, else
// round ones.
func (a across) ticks() []tickText {
	var own []tickText
	end := math.Inf(-1)
	for _, v := range a.values {
		text := axisNumber(v)
		w := textWidth(text, tickSize)
		if a.at(v)-w/2 < end+8 {
			return a.round()
		}
		end = a.at(v) + w/2
		own = append(own, tickText{v, text})
	}
	return own
}

func (a across) round() []tickText {
	lo, hi := a.values[0], a.values[len(a.values)-1]
	widest := max(textWidth(axisNumber(lo), tickSize), textWidth(axisNumber(hi), tickSize)) + 12
	var list []tickText
	if a.log {
		for _, t := range (Log{lo, hi, a.left, a.right}).Ticks(widest) {
			if t.Major {
				list = append(list, tickText{t.V, axisNumber(t.V)})
			}
		}
		return list
	}
	step := roundStep((hi - lo) / max(math.Floor((a.right-a.left)/widest), 1))
	for i := math.Ceil(lo / step * (1 - 1e-9)); i*step <= hi*(1+1e-9); i++ {
		list = append(list, tickText{i * step, axisNumber(i * step)})
	}
	return list
}

// axisNumber writes a value of an axis: four digits at most behind a point, and no zeros at its end.
func axisNumber(v float64) string {
	s := Figure(v)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// axisTitle names an axis with what it stands for, if there is room for that.
func axisTitle(s sweep.Sweep, axis int, width float64) string {
	long := s.Title(axis) + ": " + s.Text(axis)
	if textWidth(long, tickSize) <= width {
		return long
	}
	return s.Title(axis)
}

// signedTick writes a round percentage with its sign.
func signedTick(v float64) string {
	switch {
	case v > 0:
		return "+" + tickPercent(v)
	case v < 0:
		return minus + tickPercent(-v)
	}
	return "0"
}

// titleSize is the font size of titles, pixels.
const titleSize = 13.0

// breakLines breaks lines at spaces to fit a width, and words that are longer
// than that, such as links, where they must.
func breakLines(lines []string, width float64) []string {
	var list []string
	for _, text := range lines {
		line := ""
		for word := range strings.SplitSeq(text, " ") {
			for most := max(int(width/textWidth("x", tickSize+1.5)), 1); utf8.RuneCountInString(word) > most; {
				if line != "" {
					list = append(list, line)
				}
				runes := []rune(word)
				line, word = string(runes[:most]), string(runes[most:])
			}
			if line != "" && textWidth(line+" "+word, tickSize) > width {
				list = append(list, line)
				line = ""
			}
			if line != "" {
				line += " "
			}
			line += word
		}
		if line != "" {
			list = append(list, line)
		}
	}
	return list
}

// line draws a straight line.
func (p *pen) line(x, y float64) { p.b.WriteString("L" + num(x) + " " + num(y)) }
