package chart

import "math"

// A box is a rectangle, x0 ≤ x1 and y0 ≤ y1, in pixels.
type box struct{ x0, y0, x1, y1 float64 }

func (b box) meets(o box) bool { return b.x0 < o.x1 && o.x0 < b.x1 && b.y0 < o.y1 && o.y0 < b.y1 }

func (b box) within(o box) bool { return b.x0 >= o.x0 && b.x1 <= o.x1 && b.y0 >= o.y0 && b.y1 <= o.y1 }

// distance returns how far a point is from the box.
func (b box) distance(x, y float64) float64 {
	return math.Hypot(max(b.x0-x, x-b.x1, 0), max(b.y0-y, y-b.y1, 0))
}

// A label is a text with a point that it belongs to.
type label struct {
	class, text string
	x, y        float64 // of the point
}

// A placed label has its box; the text's baseline is at (x0, y1 − descent).
type placed struct {
	label
	box
}

const (
	labelSize = 12.0 // font size of labels on curves, pixels
	tickSize  = 11.0 // font size along the axes
	lineSize  = 16.0 // height of a label's box
	descent   = 4.0
)

// place finds a place in room for each label, near its point, so that no two
// of them overlap. Of the places that are free it takes the nearest; cost, if
// not nil, says by how many pixels a place counts as farther away than it is.
// A label that can't be placed is left out.
func place(labels []label, room box, cost func(box) float64) []placed {
	var done []placed
	for _, l := range labels {
		w := textWidth(l.text, labelSize)
		best, found := placed{}, false
		least := 0.0
		try := func(x, y float64) {
			x = min(max(x, room.x0), max(room.x1-w, room.x0))
			b := box{x, y - lineSize, x + w, y}
			if !b.within(room) {
				return
			}
			c := b.distance(l.x, l.y)
			if found && c >= least {
				return
			}
			for _, p := range done {
				if b.meets(p.box) {
					return
				}
			}
			if cost != nil {
				c += cost(b)
			}
			if !found || c < least {
				best, found, least = placed{l, b}, true, c
			}
		}
		for y := room.y0 + lineSize; y <= room.y1; y += lineSize / 2 {
			for _, x := range []float64{l.x + 8, l.x - 8 - w, l.x - w/2} {
				try(x, y)
			}
			for x := room.x0; x <= room.x1-w; x += 20 {
				try(x, y)
			}
		}
		if found {
			done = append(done, best)
		}
	}
	return done
}
