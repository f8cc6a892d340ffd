package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"schedlab/core/stats"
)

// A Curve is one arm of a Distribution. All but Name may be missing.
type Curve struct {
	Name      string
	Samples   *stats.Hist // per event, ps
	Runs      []float64   // the mean event of each run, ns
	Published []float64   // the same of published runs, ns
}

// A Distribution shows how long an event took: a histogram of the events' samples,
// and beneath it on the same axis a dot for each run, with published runs as
// ticks.
type Distribution struct {
	Event  string  // what an event is
	Basis  string  // what the figures rest on; stands in the picture
	Curves []Curve // the first one is the baseline: it is filled, the others are outlines
	Width  float64 // pixels
	Plot   float64 // height of the histogram, pixels; 0: as the width asks
}

// narrow is the width below which names stand above their dots rather than beside them.
const narrow = 560

// room leaves this much at the axis's ends, as a factor.
const endRoom = 1.12

// SVG draws the picture; "" if there is nothing to draw. Classes: arm0, arm1 … with curve, median
// (its line), dots, published, label and name; grid, axis, tick, basis.
func (d Distribution) SVG() string {
	lo, hi, ok := d.domain()
	if !ok {
		return ""
	}
	width := max(d.Width, 200)
	left, right, name := 96.0, width-12, 84.0
	laneHead := 0.0
	for _, curve := range d.Curves {
		name = min(max(name, textWidth(curve.Name, tickSize)), 130)
		left = name + 12
	}
	if width < narrow {
		left, right, name = 34, width-8, 0
		laneHead = 16
	}
	// Above the highest curve there is a line for each curve's label.
	top := 4 + lineSize*float64(min(len(d.Curves), 4))
	plot := d.Plot
	if plot == 0 {
		plot = math.Round(min(max(width*0.3, 170), 290))
	}
	floor := top + plot
	axis := Log{Lo: lo, Hi: hi, Left: left, Right: right}
	bins := NewBins(lo*1000, hi*1000, right-left) // of samples, which are ps
	edge := make([]float64, bins.N+1)             // pixels
	for i := range edge {
		edge[i] = axis.At(bins.Edge(i) / 1000)
	}

	shares := make([][]float64, len(d.Curves))
	highest := 0.0
	for i, curve := range d.Curves {
		if curve.Samples != nil {
			shares[i] = bins.Shares(curve.Samples)
			highest = max(highest, slices.Max(shares[i]))
		}
	}
	lanes := d.lanes(axis, floor+26, laneHead)
	height := floor + 22
	if n := len(lanes); n > 0 {
		height = lanes[n-1].bottom + 4
	}
	bottom := height // of what is on the axis
	basis := breakLines([]string{d.Basis}, right-8)
	height += lineSize * float64(len(basis))

	var c canvas
	c.open("distribution", d.Words(), width, height)

	var grid, minor pen
	type tickText struct {
		x    float64
		text string
	}
	var texts []tickText
	for _, t := range axis.Ticks(textWidth("500 ns", tickSize)) {
		x := axis.At(t.V)
		if t.Major {
			grid.move(x, 4)
			grid.v(bottom - 4)
			texts = append(texts, tickText{x, tickTime(t.V)})
		} else {
			minor.move(x, floor)
			minor.v(floor + 4)
		}
	}
	up := func(share float64) float64 { return floor - plot*share/highest }
	if highest > 0 {
		step := roundStep(highest / 4)
		for v := step; v <= highest; v += step {
			grid.move(left, up(v))
			grid.h(right)
			c.text("tick", "end", left-6, up(v)+4, tickPercent(100*v))
		}
	}
	c.path("grid", grid.String())

	for i := range d.Curves {
		if shares[i] != nil && d.Curves[i].Samples.N > 0 {
			c.path(fmt.Sprintf("curve arm%d", i), steps(edge, shares[i], up, floor, i == 0))
		}
	}
	var marks pen
	marks.move(left, floor)
	marks.h(right)
	c.path("axis", marks.String()+minor.String())
	for _, t := range texts {
		w := textWidth(t.text, tickSize) / 2
		c.text("tick", "middle", min(max(t.x, w), width-w), floor+17, t.text)
	}

	// The median of each curve, and its name at its peak.
	var labels []label
	var medians []float64 // pixels
	for i, curve := range d.Curves {
		if shares[i] == nil || curve.Samples.N == 0 {
			continue
		}
		median := float64(curve.Samples.Quantile(1, 2)) / 1000
		var p pen
		x := axis.At(median)
		p.move(x, top-lineSize/2)
		p.v(floor)
		medians = append(medians, x)
		c.path(fmt.Sprintf("median arm%d", i), p.String())
		peak := 0
		for j, s := range shares[i] {
			if s > shares[i][peak] {
				peak = j
			}
		}
		labels = append(labels, label{
			class: fmt.Sprintf("label arm%d", i),
			text:  curve.Name + ", median " + Time(median),
			x:     (edge[peak] + edge[peak+1]) / 2,
			y:     up(shares[i][peak]),
		})
	}
	// A place on a curve is a bad one: the more of it, the worse. One across the line of
	// a median is not good, either.
	ridge := make([]float64, bins.N) // the highest curve in each bin, pixels
	for j := range ridge {
		ridge[j] = floor
		for i := range shares {
			if shares[i] != nil {
				ridge[j] = min(ridge[j], up(shares[i][j]))
			}
		}
	}
	cost := func(b box) float64 {
		hidden := 0.0
		first, _ := slices.BinarySearch(edge, b.x0-4)
		for j := max(first-1, 0); j < bins.N && edge[j] < b.x1+4; j++ {
			if ridge[j] < b.y1+2 && ridge[j] < floor-1 {
				hidden += 4 * (edge[j+1] - edge[j])
			}
		}
		for _, x := range medians {
			if b.x0-3 < x && x < b.x1+3 && b.y1 > top-lineSize/2 {
				hidden += 150
			}
		}
		return hidden
	}
	for _, p := range place(labels, box{left + 2, 0, right, floor - 4}, cost) {
		c.text(p.class, "start", p.x0, p.y1-descent, p.text)
	}

	for i, lane := range lanes {
		if lane.empty {
			continue
		}
		class := fmt.Sprintf("arm%d", i)
		if name > 0 {
			c.text("name "+class, "end", name, lane.line-2, cut(d.Curves[i].Name, name, tickSize))
		} else {
			c.text("name "+class, "start", left, lane.top+11, cut(d.Curves[i].Name, right-left, tickSize))
		}
		var line pen
		line.move(left, lane.line)
		line.h(right)
		c.path("lane "+class, line.String())
		c.path("dots "+class, lane.dots)
		c.path("published", lane.ticks)
	}
	for i, line := range basis {
		c.text("basis", "end", right, height-descent-lineSize*float64(len(basis)-1-i), line)
	}
	return c.close()
}

// steps draws a histogram's outline; a filled one is closed along the floor.
// Where it would only run along the axis, it is not drawn.
func steps(edge []float64, shares []float64, up func(float64) float64, floor float64, filled bool) string {
	const seen = 0.2 // pixels
	var p pen
	for i := 0; i < len(shares); i++ {
		if floor-up(shares[i]) < seen {
			continue
		}
		p.move(edge[i], floor)
		for ; i < len(shares) && floor-up(shares[i]) >= seen; i++ {
			p.v(up(shares[i]))
			p.h(edge[i+1])
		}
		p.v(floor)
		if filled {
			p.close()
		}
	}
	return p.String()
}

// domain returns the axis's ends in ns: around the samples but for a
// ten-thousandth on either side, and all runs, simulated and published.
func (d Distribution) domain() (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), 0
	see := func(v float64) {
		if v > 0 {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	for _, c := range d.Curves {
		if c.Samples != nil && c.Samples.N > 0 {
			see(max(float64(c.Samples.Quantile(1, 10000)), 100) / 1000)
			see(max(float64(c.Samples.Quantile(9999, 10000)), 100) / 1000)
		}
		for _, v := range slices.Concat(c.Runs, c.Published) {
			see(v)
		}
	}
	if hi == 0 {
		return 0, 0, false
	}
	return lo / endRoom, hi * endRoom, true
}

// A lane holds the runs of one arm.
type lane struct {
	top, line, bottom float64
	dots, ticks       string // paths
	empty             bool
}

// lanes lays out one lane below the other from y; none if no arm has a run.
// head is room for a name above each.
func (d Distribution) lanes(axis Log, y, head float64) []lane {
	most := 0
	for _, c := range d.Curves {
		most = max(most, len(c.Runs))
	}
	if most == 0 && !slices.ContainsFunc(d.Curves, func(c Curve) bool { return len(c.Published) > 0 }) {
		return nil
	}
	r := 4.0
	switch {
	case most > 200:
		r = 2
	case most > 40:
		r = 3
	}
	lanes := make([]lane, len(d.Curves))
	for i, c := range d.Curves {
		l := &lanes[i]
		l.top = y
		if l.empty = len(c.Runs)+len(c.Published) == 0; l.empty {
			l.bottom = y
			continue
		}
		up, reach := stack(c.Runs, axis, r)
		l.line = y + head + max(reach+2*r, 12) + 2
		l.bottom = l.line + 4
		var dots, ticks pen
		for j, v := range c.Runs {
			dots.circle(axis.At(v), l.line-r-1-up[j], r)
		}
		for _, v := range c.Published {
			ticks.move(axis.At(v), l.line+2)
			ticks.v(l.line + 11)
			l.bottom = l.line + 14
		}
		l.dots, l.ticks = dots.String(), ticks.String()
		y = l.bottom
	}
	return lanes
}

// stack says how far above their line dots of radius r stand, so that they don't cover each other:
// the smallest value stands lowest. It also returns the height of the highest one. Too many to
// fit come closer together.
func stack(values []float64, axis Log, r float64) (up []float64, reach float64) {
	const most = 40.0 // pixels
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	var ends []float64 // by row: pixel of its last dot
	rows := make([]int, len(values))
	for _, i := range order {
		x := axis.At(values[i])
		row := 0
		for row < len(ends) && x-ends[row] < 2*r+1 {
			row++
		}
		if row == len(ends) {
			ends = append(ends, 0)
		}
		ends[row], rows[i] = x, row
	}
	step := 2*r + 1
	if n := len(ends) - 1; n > 0 {
		step = min(step, most/float64(n))
		reach = step * float64(n)
	}
	up = make([]float64, len(values))
	for i, row := range rows {
		up[i] = step * float64(row)
	}
	return up, reach
}

// Words says what the picture shows.
func (d Distribution) Words() string {
	var b strings.Builder
	b.WriteString("Histogram")
	if d.Event != "" {
		b.WriteString(" of the time of " + d.Event)
	}
	b.WriteString(", on a logarithmic axis.")
	if d.Basis != "" {
		b.WriteString(" All but published runs: " + d.Basis + ".")
	}
	for _, c := range d.Curves {
		fmt.Fprintf(&b, " %s:", c.Name)
		if h := c.Samples; h != nil && h.N > 0 {
			q := func(num, den uint64) string { return Time(float64(h.Quantile(num, den)) / 1000) }
			fmt.Fprintf(&b, " %s samples, median %s, from %s to %s, 99 %% below %s;", Figure(float64(h.N)), q(1, 2), q(0, 1), q(1, 1), q(99, 100))
		} else {
			b.WriteString(" no samples;")
		}
		fmt.Fprintf(&b, " %s", spread(c.Runs, "run"))
		if len(c.Published) > 0 {
			fmt.Fprintf(&b, "; %s", spread(c.Published, "published run"))
		}
		b.WriteString(".")
	}
	return b.String()
}

// spread says how many there are, and from where to where.
func spread(values []float64, what string) string {
	switch len(values) {
	case 0:
		return "no " + what + "s"
	case 1:
		return "one " + what + " at " + Time(values[0])
	}
	return fmt.Sprintf("%d %ss from %s to %s", len(values), what, Time(slices.Min(values)), Time(slices.Max(values)))
}

// tickPercent writes a round percentage.
func tickPercent(v float64) string {
	s := fmt.Sprintf("%.3f", v)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".") + space + "%"
}

// cut shortens a text to a width.
func cut(text string, width, size float64) string {
	if textWidth(text, size) <= width {
		return text
	}
	r := []rune(text)
	for len(r) > 1 && textWidth(string(r)+"…", size) > width {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}
