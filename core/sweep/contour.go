package sweep

import "schedlab/core/stats"

// A Crossing is a place on the first axis where the effect of an arm changes
// its sign.
type Crossing struct {
	At    float64 // the axis's value, between the neighbouring points' on the axis's scale
	Below int     // index on the axis of the point before it; the next one is behind it
	Gain  bool    // loss turns to gain with growing values; else gain to loss
	Sure  bool    // the effects at both neighbouring points are significant
	Step  bool    // there is no value between the neighbouring points': they are names, or whole numbers next to each other. At is none
}

// Turn says which way the effect turns, in words.
func (c Crossing) Turn() string {
	if c.Gain {
		return "loss turns to gain"
	}
	return "gain turns to loss"
}

// Crossings returns where an arm's effect changes sign along a row of points,
// ascending; row is 0 if there is one axis only. Between two points the effect is taken to change
// evenly. A point that is not known leaves a gap, of which nothing is
// said. A point without any effect, exactly 0, is no change of sign by
// itself: 5, 0, 5 has none, and 5, 0, −5 has one at the 0.
func (t *Table) Crossings(arm, row int) []Crossing {
	nx, ny := t.Size()
	if row < 0 || row >= ny {
		return nil
	}
	values := t.improvements(arm)[row*nx : (row+1)*nx]
	signs := signsOf(values, nx)
	axis := t.Sweep.Axes[0]
	k, _ := kindOf(t.Sweep.Base, axis.Key)
	numbers := axis.Numbers()
	var list []Crossing
	for i := range nx - 1 {
		if signs[i]*signs[i+1] >= 0 {
			continue
		}
		e := t.effects[row*nx:]
		list = append(list, Crossing{
			At:    axis.between(i, crossing(values[i].V, values[i+1].V)),
			Below: i,
			Gain:  signs[i+1] > 0,
			Sure:  e[i][arm].Significant && e[i+1][arm].Significant,
			Step:  k.names || !k.cost && numbers[i+1] == numbers[i]+1,
		})
	}
	return list
}

// crossing returns at what fraction of the way from a value to another the line
// between them is 0.
func crossing(from, to float64) float64 { return from / (from - to) }

// signsOf returns the sign of each value of a grid nx wide: 0 where there is none,
// and where zeros lie among zeros only. Other zeros count with what they lie next to:
// with the gains if gains are there, else with the losses. So there is a
// border where zeros part gains from losses, and none where they don't.
func signsOf(values []stats.Number, nx int) []int {
	signs := make([]int, len(values))
	for i, v := range values {
		switch {
		case v.OK && v.V > 0:
			signs[i] = 1
		case v.OK && v.V < 0:
			signs[i] = -1
		}
	}
	for _, sign := range []int{1, -1} {
		var found []int // what has this sign and whose neighbours have not been looked at
		for i, s := range signs {
			if s == sign {
				found = append(found, i)
			}
		}
		for len(found) > 0 {
			i := found[len(found)-1]
			found = found[:len(found)-1]
			x, y := i%nx, i/nx
			for _, d := range neighbours {
				nextX, nextY := x+d[0], y+d[1]
				if nextX < 0 || nextX >= nx || nextY < 0 || nextY >= len(values)/nx {
					continue
				}
				if j := nextY*nx + nextX; signs[j] == 0 && values[j].OK {
					signs[j] = sign
					found = append(found, j)
				}
			}
		}
	}
	return signs
}

// neighbours are the steps to the points around one.
var neighbours = [8][2]int{{-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}}

// A Place is a place on a map in indices of the axes: (0, 0) is the first
// point of the first row, and fractions lie between points.
type Place struct{ X, Y float64 }

// A Line is a line on a map. One that is closed ends where it begins.
type Line []Place

// Contour returns the lines of a map that part an arm's gains from its losses,
// in an order that depends on the effects only; none if there is one axis. Along the edges
// between neighbouring points the effect is taken to change evenly; where four
// points leave open which of them belong together, their mean decides. Among
// points that are not known there are no lines.
func (t *Table) Contour(arm int) []Line {
	nx, _ := t.Size()
	return contour(t.improvements(arm), nx)
}

// contour walks the squares between the points of a grid nx wide.
func contour(values []stats.Number, nx int) []Line {
	ny := len(values) / nx
	signs := signsOf(values, nx)
	// Edge 2i leads from point i to the right, edge 2i+1 up. Where a line
	// crosses one, it goes on to the edges that are joined to it, of which there is
	// at most one on either side.
	joined := make([][]int, 2*len(values))
	join := func(a, b int) {
		joined[a] = append(joined[a], b)
		joined[b] = append(joined[b], a)
	}
	for y := range ny - 1 {
		for x := range nx - 1 {
			i := y*nx + x
			corners := [4]int{i, i + 1, i + nx + 1, i + nx}        // around the square
			edges := [4]int{2 * i, 2*i + 3, 2 * (i + nx), 2*i + 1} // from each of them to the next
			known, sum := true, 0.0
			var crossed []int
			for c, corner := range corners {
				known = known && signs[corner] != 0
				sum += values[corner].V
				if signs[corner] != signs[corners[(c+1)%4]] {
					crossed = append(crossed, edges[c])
				}
			}
			switch {
			case !known:
			case len(crossed) == 2:
				join(crossed[0], crossed[1])
			case len(crossed) == 4 && (sum >= 0) == (signs[i] > 0): // the first corner belongs to the third one
				join(edges[0], edges[1])
				join(edges[2], edges[3])
			case len(crossed) == 4:
				join(edges[3], edges[0])
				join(edges[1], edges[2])
			}
		}
	}

	place := func(edge int) Place {
		i := edge / 2
		p := Place{float64(i % nx), float64(i / nx)}
		if edge%2 == 0 {
			p.X += crossing(values[i].V, values[i+1].V)
		} else {
			p.Y += crossing(values[i].V, values[i+nx].V)
		}
		return p
	}
	seen := make([]bool, len(joined))
	var lines []Line
	walk := func(edge int) {
		var line Line
		add := func(p Place) {
			if n := len(line); n == 0 || line[n-1] != p { // edges that meet at a 0 are crossed at the same place
				line = append(line, p)
			}
		}
		first := edge
		for edge >= 0 {
			seen[edge] = true
			add(place(edge))
			next := -1
			for _, e := range joined[edge] {
				if !seen[e] {
					next = e
					break
				}
			}
			if next < 0 && edge != first && len(joined[first]) == 2 {
				add(place(first)) // a closed line
			}
			edge = next
		}
		if len(line) > 1 {
			lines = append(lines, line)
		}
	}
	for _, ends := range []int{1, 2} { // lines that end somewhere, then closed ones
		for edge := range joined {
			if len(joined[edge]) == ends && !seen[edge] {
				walk(edge)
			}
		}
	}
	return lines
}
