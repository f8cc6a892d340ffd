package chart

import (
	"fmt"
	"math"

	"schedlab/core/machine"
)

// A Topology is a machine's picture, small enough to stand in a form: sockets,
// last-level caches and cores.
type Topology struct {
	Machine  *machine.Machine
	From, To int // a call's sender and its target: CPUs, or -1
	Width    float64
}

// SVG draws the picture. Classes: socket, llc, core; sender, target, call.
func (t Topology) SVG() string {
	m := t.Machine
	sockets := tree(m)
	const gap, pad = 8.0, 5.0
	width := max(t.Width, 160)
	inner := (width - gap*float64(len(sockets)-1)) / float64(len(sockets))

	// All sockets are drawn alike, after the largest one.
	mostLLCs, mostCores := 1, 1
	for _, s := range sockets {
		mostLLCs = max(mostLLCs, len(s))
		for _, l := range s {
			mostCores = max(mostCores, len(l))
		}
	}
	llcCols := columns(mostLLCs, 2)
	llcRows := (mostLLCs + llcCols - 1) / llcCols
	const llcGap = 3.0
	llcW := (inner - 2*pad - llcGap*float64(llcCols-1)) / float64(llcCols)
	coreCols := max(min(int(llcW/7), columns(mostCores, 1.2)), 1)
	coreRows := (mostCores + coreCols - 1) / coreCols
	const corePad, coreGap = 2.0, 1.5
	coreW := (llcW - 2*corePad - coreGap*float64(coreCols-1)) / float64(coreCols)
	coreH := min(max(38/float64(llcRows*coreRows)*2, 3.5), 12)
	llcH := 2*corePad + coreH*float64(coreRows) + coreGap*float64(coreRows-1)
	height := 2*pad + llcH*float64(llcRows) + llcGap*float64(llcRows-1)

	var socketPath, llcPath, corePath, sender, target pen
	var fromX, fromY, toX, toY float64
	for i, s := range sockets {
		x0 := float64(i) * (inner + gap)
		socketPath.rect(x0+.5, .5, inner-1, height-1)
		for j, l := range s {
			x := x0 + pad + float64(j%llcCols)*(llcW+llcGap)
			y := pad + float64(j/llcCols)*(llcH+llcGap)
			llcPath.rect(x, y, llcW, llcH)
			for k, core := range l {
				cx := x + corePad + float64(k%coreCols)*(coreW+coreGap)
				cy := y + corePad + float64(k/coreCols)*(coreH+coreGap)
				p := &corePath
				if t.To >= 0 && t.To < len(m.CPUs) && int(m.CPUs[t.To].Core) == core {
					p = &target
					toX, toY = cx+coreW/2, cy
				}
				if t.From >= 0 && t.From < len(m.CPUs) && int(m.CPUs[t.From].Core) == core {
					p = &sender
					fromX, fromY = cx+coreW/2, cy
				}
				p.rect(cx, cy, coreW, coreH)
			}
		}
	}
	var c canvas
	c.open("topology", t.Words(), width, height)
	c.path("socket", socketPath.String())
	c.path("llc", llcPath.String())
	c.path("core", corePath.String())
	c.path("target", target.String())
	c.path("sender", sender.String())
	if sender.String() != "" && target.String() != "" {
		var call pen
		call.move(fromX, fromY)
		bow := max(min(fromY, toY)-12, 1) // as high as the picture allows
		call.b.WriteString("Q" + num((fromX+toX)/2) + " " + num(bow) + " " + num(toX) + " " + num(toY))
		c.path("call", call.String())
	}
	return c.close()
}

// Words says what the picture shows.
func (t Topology) Words() string {
	sockets := tree(t.Machine)
	llcs, cores := 0, 0
	for _, s := range sockets {
		llcs += len(s)
		for _, l := range s {
			cores += len(l)
		}
	}
	s := fmt.Sprintf("%d CPUs: sockets %d, last-level caches %d, cores %d", len(t.Machine.CPUs), len(sockets), llcs, cores)
	if t.From >= 0 && t.To >= 0 {
		s += fmt.Sprintf("; CPU %d calls CPU %d", t.From, t.To)
	}
	return s
}

// tree returns the machine's cores by socket and last-level cache.
func tree(m *machine.Machine) [][][]int {
	var sockets [][][]int
	llcAt, seen := map[int16]int{}, map[int16]bool{} // index of an LLC in its socket; cores
	for i := range m.CPUs {
		c := &m.CPUs[i]
		for int(c.Socket) >= len(sockets) {
			sockets = append(sockets, nil)
		}
		s := &sockets[c.Socket]
		at, ok := llcAt[c.LLC]
		if !ok {
			at = len(*s)
			llcAt[c.LLC] = at
			*s = append(*s, nil)
		}
		if !seen[c.Core] {
			seen[c.Core] = true
			(*s)[at] = append((*s)[at], int(c.Core))
		}
	}
	return sockets
}

// columns returns how many columns arrange n things in a rectangle that is
// wide times as wide as it is high.
func columns(n int, wide float64) int {
	c := int(math.Ceil(math.Sqrt(float64(n) * wide)))
	return max(min(c, n), 1)
}
