package chart

import (
	"fmt"
	"math"
	"strings"

	"schedlab/core/stats"
)

// A Panel is the simulated runs of a kernel in one state, and the published ones: the mean event of each, ns.
type Panel struct {
	Title           string
	Arm             int
	Runs, Published []float64
}

// A RunPanels shows how published runs lie in the distribution of simulated ones: a small picture a panel, all on the same
// logarithmic axis. Many simulated runs are a histogram, few a dot each; published ones are ticks beneath.
type RunPanels struct {
	Basis   string  // what the figures rest on; stands in the picture
	Panels  []Panel // row by row
	Columns int     // where there is room for them
	Width   float64 // pixels
}

// manyDots is from how many runs on they are a histogram.
const manyDots = 40

// SVG draws the picture; "" if there is nothing to draw. Classes are those of a Distribution.
func (d RunPanels) SVG() string {
	lo, hi := math.Inf(1), 0.0
	for _, p := range d.Panels {
		for _, values := range [][]float64{p.Runs, p.Published} {
			for _, v := range values {
				if v > 0 {
					lo, hi = min(lo, v), max(hi, v)
				}
			}
		}
	}
	if hi == 0 {
		return ""
	}
	const (
		side  = 8.0
		gap   = 24.0 // between columns
		head  = 18.0 // the title's
		plot  = 52.0
		ticks = 13.0 // of published runs
		row   = head + plot + ticks + 8
	)
	width := max(d.Width, 200)
	columns := d.Columns
	if width < narrow {
		columns = 1
	}
	rows := (len(d.Panels) + columns - 1) / columns
	each := (width - 2*side - gap*float64(columns-1)) / float64(columns)
	bottom := float64(rows) * row
	basis := breakLines([]string{d.Basis}, width-2*side)
	height := bottom + 22 + lineSize*float64(len(basis))

	var c canvas
	c.open("runs", d.Words(), width, height)
	axes := make([]Log, columns)
	for i := range axes {
		left := side + float64(i)*(each+gap)
		axes[i] = Log{Lo: lo / endRoom, Hi: hi * endRoom, Left: left, Right: left + each}
		var grid pen
		for _, t := range axes[i].Ticks(textWidth("500 ns", tickSize)) {
			if t.Major {
				x := axes[i].At(t.V)
				grid.move(x, head)
				grid.v(bottom)
				w := textWidth(tickTime(t.V), tickSize) / 2
				c.text("tick", "middle", min(max(x, w), width-w), bottom+13, tickTime(t.V))
			}
		}
		c.path("grid", grid.String())
	}
	for i, p := range d.Panels {
		axis := axes[i%columns]
		top := float64(i/columns) * row
		floor := top + head + plot
		arm := fmt.Sprintf("arm%d", p.Arm)
		if len(p.Runs) > manyDots {
			c.path("curve "+arm, outline(p.Runs, axis, floor, plot, p.Arm == 0))
		} else {
			const r = 4.0
			up, _ := stack(p.Runs, axis, r)
			var dots pen
			for j, v := range p.Runs {
				dots.circle(axis.At(v), floor-r-1-up[j], r)
			}
			c.path("dots "+arm, dots.String())
		}
		var line, marks pen
		line.move(axis.Left, floor)
		line.h(axis.Right)
		c.path("lane "+arm, line.String())
		for _, v := range p.Published {
			marks.move(axis.At(v), floor+2)
			marks.v(floor + ticks)
		}
		c.path("published", marks.String())
		c.text("label "+arm, "start", axis.Left, top+12, cut(p.Title, each, labelSize))
	}
	for i, line := range basis {
		c.text("basis", "end", width-side, height-descent-lineSize*float64(len(basis)-1-i), line)
	}
	return c.close()
}

// outline draws runs as a histogram, as high as its highest bin.
func outline(runs []float64, axis Log, floor, height float64, filled bool) string {
	var h stats.Hist
	for _, v := range runs {
		h.Add(int64(v * 1000)) // which has whole ps
	}
	bins := NewBins(axis.Lo*1000, axis.Hi*1000, axis.Right-axis.Left)
	shares := bins.Shares(&h)
	highest := 0.0
	for _, s := range shares {
		highest = max(highest, s)
	}
	edge := make([]float64, bins.N+1)
	for i := range edge {
		edge[i] = axis.At(bins.Edge(i) / 1000)
	}
	return steps(edge, shares, func(share float64) float64 { return floor - height*share/highest }, floor, filled)
}

// Words says what the picture shows.
func (d RunPanels) Words() string {
	var b strings.Builder
	b.WriteString("Simulated runs, and published ones beneath them, on a logarithmic axis.")
	if d.Basis != "" {
		b.WriteString(" All but published runs: " + d.Basis + ".")
	}
	for _, p := range d.Panels {
		fmt.Fprintf(&b, " %s: %s; %s.", p.Title, spread(p.Runs, "run"), spread(p.Published, "published run"))
	}
	return b.String()
}
