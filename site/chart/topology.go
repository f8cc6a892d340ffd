package chart

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"

	"schedlab/core/machine"
)

// A Topology is a machine's picture: sockets, nodes, last-level caches, clusters, cores
// and their threads, small enough for a form and no larger for a large machine. The CPUs
// that send and those that are called are marked by their shape: a full cell
// sends, a hollow one is called, a full one in a hollow one does both.
type Topology struct {
	Machine  *machine.Machine
	From, To []int // senders and targets of calls; CPUs that the machine doesn't have are left out
	Width    float64
}

// SVG draws the picture. Classes: socket, node, llc, cluster, core (a thread's cell); sender,
// target, call; label.
func (t Topology) SVG() string {
	p := &plan{from: known(t.Machine, t.From), to: known(t.Machine, t.To), paths: map[string][]*pen{}}
	p.plan(t.Machine)
	width := max(t.Width, 200)
	p.arrange(width)
	top := p.legend(t.Machine, width)
	p.box(p.root, 0, 0, top)
	p.calls()
	var c canvas
	words := t.Words()
	c.open("topology", words, width, top+p.layer[0].height())
	c.b.WriteString("<title>" + html.EscapeString(words) + "</title><desc>" + html.EscapeString(t.parts()) + "</desc>")
	for _, class := range []string{"socket", "node", "llc", "cluster", "core", "target", "sender", "call"} {
		for _, d := range p.paths[class] {
			c.path(class, d.String())
		}
	}
	for _, l := range p.labels {
		c.text("label", "start", l.x, l.y, l.text)
	}
	return c.close()
}

// Words says what the picture shows.
func (t Topology) Words() string {
	m := t.Machine
	s := fmt.Sprintf("%d CPUs: ", len(m.CPUs))
	for i, k := range kinds {
		parts := count(m, k.of)
		if parts == 0 || k.class == "node" && parts == count(m, socketOf) {
			continue // no clusters; nodes that are the sockets
		}
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%s %d", k.plural, parts)
	}
	from, to := known(m, t.From), known(m, t.To)
	if len(from) == 0 || len(to) == 0 {
		return s
	}
	verb := "calls"
	if len(from) > 1 {
		verb = "call"
	}
	return s + fmt.Sprintf("; %s %s %s", named(from, 0), verb, targets(m, from, to, 0))
}

// targets names the CPUs that are called, as named does.
func targets(m *machine.Machine, from, to []int, most int) string {
	switch others := len(m.CPUs) - len(from); {
	case others < 2:
	case len(to) == len(m.CPUs):
		return "every CPU"
	case len(to) == others && !slices.ContainsFunc(to, func(c int) bool { return slices.Contains(from, c) }):
		return "every other CPU"
	}
	return named(to, most)
}

// parts lists the machine's sockets, nodes and caches with their CPUs, for those
// who don't see the picture.
func (t Topology) parts() string {
	var s []string
	m := t.Machine
	seen := map[[3]int16]bool{}
	for i := range m.CPUs {
		c := &m.CPUs[i]
		at := [3]int16{c.Socket, c.Node, c.LLC}
		if seen[at] {
			continue
		}
		seen[at] = true
		var cpus []int
		for j := range m.CPUs {
			if d := &m.CPUs[j]; at == [3]int16{d.Socket, d.Node, d.LLC} {
				cpus = append(cpus, j)
			}
		}
		s = append(s, fmt.Sprintf("socket %d, node %d, last-level cache %d: %s", c.Socket, c.Node, c.LLC, named(cpus, 0)))
	}
	return strings.Join(s, "; ") + "."
}

// A kind is one sort of part of a machine. Of numbers the parts through the
// machine from 0; −1: none.
type kind struct {
	class, one, plural string
	of                 func(*machine.CPU) int
}

var kinds = []kind{
	{"socket", "socket", "sockets", socketOf},
	{"node", "node", "nodes", nodeOf},
	{"llc", "LLC", "last-level caches", llcOf},
	{"cluster", "cluster", "clusters", clusterOf},
	{"", "core", "cores", coreOf},
}

func socketOf(c *machine.CPU) int  { return int(c.Socket) }
func nodeOf(c *machine.CPU) int    { return int(c.Node) }
func llcOf(c *machine.CPU) int     { return int(c.LLC) }
func clusterOf(c *machine.CPU) int { return int(c.Cluster) - 1 }
func coreOf(c *machine.CPU) int    { return int(c.Core) }

func count(m *machine.Machine, of func(*machine.CPU) int) int {
	seen := map[int]bool{}
	for i := range m.CPUs {
		if n := of(&m.CPUs[i]); n >= 0 {
			seen[n] = true
		}
	}
	return len(seen)
}

// known returns those of the CPUs that the machine has, each once and ascending.
func known(m *machine.Machine, cpus []int) []int {
	cpus = slices.DeleteFunc(slices.Clone(cpus), func(c int) bool { return c < 0 || c >= len(m.CPUs) })
	slices.Sort(cpus)
	return slices.Compact(cpus)
}

// named writes ascending CPUs as people do: "CPU 8", "CPUs 0–7, 12". If that is longer
// than most characters (0: any number), it is only how many they are.
func named(cpus []int, most int) string {
	if len(cpus) == 1 {
		return fmt.Sprintf("CPU %d", cpus[0])
	}
	var runs []string
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		switch {
		case j == i:
			runs = append(runs, strconv.Itoa(cpus[i]))
		case j == i+1:
			runs = append(runs, strconv.Itoa(cpus[i]), strconv.Itoa(cpus[j]))
		default:
			runs = append(runs, fmt.Sprintf("%d–%d", cpus[i], cpus[j]))
		}
		i = j + 1
	}
	s := "CPUs " + strings.Join(runs, ", ")
	if most > 0 && len([]rune(s)) > most {
		return fmt.Sprintf("%d CPUs", len(cpus))
	}
	return s
}

// A plan is the layout of a picture: layers of boxes, each within the boxes of
// the layer above, and cores in the last one. All boxes of a layer are alike,
// after the one that holds most.
type plan struct {
	from, to         []int
	root             *part
	layer            []layer
	core, thread     layer
	high             float64 // of a core with two threads, at least
	wordless         float64 // what speaks against parts without labels
	paths            map[string][]*pen
	labels           []caption
	senders, targets []spot
}

// A spot is the middle of a cell.
type spot struct{ x, y float64 }

// A caption is a text at its baseline.
type caption struct {
	x, y float64
	text string
}

// A part is a box with what is in it: smaller boxes, or cores.
type part struct {
	number int // −1: the cores that are in no cluster
	label  string
	parts  []*part
	cores  [][]int // CPUs of each
}

// A layer is the geometry of one sort of part.
type layer struct {
	kind        kind
	also        []kind // kinds of which this one's parts hold one each
	most, total int    // parts in one part of the layer above, and in all
	cols, rows  int    // of the parts in one of the layer above
	w, h, gap   float64
	pad, head   float64 // within each: around its content, and of its label
	labelled    bool
	word        float64 // how wide the labels are at least
}

const (
	partLabel  = 11.0    // font size of labels, pixels
	headHeight = 15.0    // of a line with a label
	longPath   = 8 << 10 // bytes, beyond which a path is continued in another one
)

// plan finds the layers that the machine has, largest first, and what is in each part. A
// kind of which every part of the layer above holds one is no layer of its own.
func (p *plan) plan(m *machine.Machine) {
	for _, k := range kinds[:len(kinds)-1] {
		switch n := len(p.layer); {
		case count(m, k.of) == 0:
		case n == 0 || split(m, p.layer[n-1].kind, k):
			p.layer = append(p.layer, layer{kind: k})
		default:
			p.layer[n-1].also = append(p.layer[n-1].also, k)
		}
	}
	type key struct {
		in *part
		n  int
	}
	parts, cores := map[key]*part{}, map[key]int{}
	p.root = &part{}
	for i := range m.CPUs {
		cpu := &m.CPUs[i]
		in := p.root
		for _, l := range p.layer {
			k := key{in, l.kind.of(cpu)}
			if parts[k] == nil {
				parts[k] = &part{number: k.n, label: l.label(cpu)}
				in.parts = append(in.parts, parts[k])
			}
			in = parts[k]
		}
		k := key{in, coreOf(cpu)}
		at, ok := cores[k]
		if !ok {
			at = len(in.cores)
			cores[k] = at
			in.cores = append(in.cores, nil)
		}
		in.cores[at] = append(in.cores[at], i)
	}
	p.count(p.root, 0)
}

// split tells whether some part of the kind above holds two of the kind k.
func split(m *machine.Machine, above, k kind) bool {
	holds := map[int]int{}
	for i := range m.CPUs {
		a, n := above.of(&m.CPUs[i]), k.of(&m.CPUs[i])
		if had, ok := holds[a]; ok && had != n {
			return true
		}
		holds[a] = n
	}
	return false
}

// label names the part of the layer that a CPU is in, and those that it is one with:
// "socket 0, node 0".
func (l *layer) label(cpu *machine.CPU) string {
	if l.kind.of(cpu) < 0 {
		return "no " + l.kind.one
	}
	s := fmt.Sprintf("%s %d", l.kind.one, l.kind.of(cpu))
	for _, k := range l.also {
		s += fmt.Sprintf(", %s %d", k.one, k.of(cpu))
	}
	return s
}

// count finds how many parts the fullest part of each layer holds.
func (p *plan) count(in *part, depth int) {
	if depth < len(p.layer) {
		p.layer[depth].most = max(p.layer[depth].most, len(in.parts))
		for _, child := range in.parts {
			p.count(child, depth+1)
		}
		return
	}
	p.core.most = max(p.core.most, len(in.cores))
	p.core.total += len(in.cores)
	for _, threads := range in.cores {
		p.thread.most = max(p.thread.most, len(threads))
	}
}

// arrange gives every layer its columns and sizes, for a picture of this width.
func (p *plan) arrange(width float64) {
	p.core.gap, p.thread.gap, p.high, p.wordless = 4, 1, 22, .5
	for i := range p.layer {
		l := &p.layer[i]
		l.gap, l.pad = []float64{8, 5, 4, 3}[i], []float64{6, 4, 3, 3}[i]
		if width < 500 {
			l.gap, l.pad = l.gap*.75, l.pad*.75
		}
		l.word = p.shortest(p.root, i, 0)
	}
	if width < 500 {
		p.core.gap, p.thread.gap, p.high, p.wordless = 2.4, .7, 9.5, .2
	}
	// Few cores don't fill the width.
	a := p.fit(0, min(width, max(170, 24+56*float64(columns(p.core.total, 2)))))
	for i := range p.layer {
		l := &p.layer[i]
		l.cols, l.rows, l.w, l.h, l.head = a.cols[i], rows(l.most, a.cols[i]), a.w[i], a.h[i], 0
		if l.labelled = p.labelled(i, l.w); l.labelled {
			l.head = headHeight
		}
	}
	n := len(p.layer)
	c, t := &p.core, &p.thread
	c.cols, c.w, c.h = a.cols[n], a.w[n], a.h[n]
	// Threads are as square as they can be.
	best := math.Inf(1)
	for cols := 1; cols <= t.most; cols++ {
		w := (c.w - t.gap*float64(cols-1)) / float64(cols)
		h := (c.h - t.gap*float64(rows(t.most, cols)-1)) / float64(rows(t.most, cols))
		if odd := math.Abs(math.Log(max(w, .1)/max(h, .1))) + float64(rows(t.most, cols)*cols-t.most); odd < best {
			best, t.cols, t.w, t.h = odd, cols, w, h
		}
	}
}

// An arrangement is the columns and sizes of some layers and of the cores in them, from the
// smallest to the largest, and what speaks against it.
type arrangement struct {
	cols   []int
	w, h   []float64
	height float64 // of the parts together
	cost   float64
}

// fit arranges layer i and those in it within this room: as low as possible, with
// full rows and boxes that are not too long.
func (p *plan) fit(i int, room float64) arrangement {
	best := arrangement{cost: math.Inf(1)}
	most, gap := p.core.most, p.core.gap
	if i < len(p.layer) {
		most, gap = p.layer[i].most, p.layer[i].gap
	}
	for cols := 1; cols <= most; cols++ {
		r := rows(most, cols)
		if cols > 1 && rows(most, cols-1) == r {
			continue // no row less: emptier ones
		}
		w := (room - gap*float64(cols-1)) / float64(cols)
		var a arrangement
		if i < len(p.layer) {
			l := &p.layer[i]
			if i == 0 && cols > 1 && w < 110 {
				continue
			}
			a = p.fit(i+1, w-2*l.pad)
			h := 2*l.pad + a.height
			if p.labelled(i, w) {
				h += headHeight
			} else {
				a.cost += p.wordless
			}
			a.cols, a.w, a.h = append([]int{cols}, a.cols...), append([]float64{w}, a.w...), append([]float64{h}, a.h...)
			a.cost += 0.1 * math.Abs(math.Log(max(w, 1)/h/1.5))
		} else {
			h := max(p.high*math.Sqrt(math.Ceil(float64(p.thread.most)/2)), min(w*.6, 2*p.high))
			a = arrangement{cols: []int{cols}, w: []float64{w}, h: []float64{h}}
			if least := h * .55; w < least {
				a.cost += 4 * (least/max(w, .1) - 1)
			}
		}
		a.height = a.h[0]*float64(r) + gap*float64(r-1)
		a.cost += 3 * float64(r*cols-most) / float64(most)
		if c := a.cost + math.Log(a.height); c < best.cost {
			best, best.cost = a, c
		}
	}
	best.cost -= math.Log(best.height)
	return best
}

func rows(n, cols int) int { return (n + cols - 1) / cols }

// labelled tells whether the parts of a layer have their labels, if each is so wide. Sockets
// always have.
func (p *plan) labelled(i int, w float64) bool {
	return i == 0 || p.layer[i].word <= w-2*p.layer[i].pad
}

// shortest returns how wide the labels of a layer are at least.
func (p *plan) shortest(in *part, layer, depth int) (w float64) {
	for _, child := range in.parts {
		if depth < layer {
			w = max(w, p.shortest(child, layer, depth+1))
		} else {
			short, _, _ := strings.Cut(child.label, ", ")
			w = max(w, textWidth(short, partLabel))
		}
	}
	return w
}

// legend writes which CPUs are marked and how, and returns where it ends.
func (p *plan) legend(m *machine.Machine, width float64) (bottom float64) {
	both := slices.DeleteFunc(slices.Clone(p.from), func(c int) bool { return !slices.Contains(p.to, c) })
	const mark, most = 9.0, 24 // the size of a mark, characters that name CPUs
	x, y := 0.0, 3.0
	entry := func(n int, who, one, many string, from, to bool) {
		if n == 0 {
			return
		}
		s := who + " " + one
		if n > 1 && !strings.HasPrefix(who, "every") {
			s = who + " " + many
		}
		w := mark + 5 + textWidth(s, partLabel)
		if x > 0 && x+w > width {
			x, y = 0, y+headHeight
		}
		p.cell(from, to, x, y, mark, mark)
		p.labels = append(p.labels, caption{x + mark + 5, y + mark, s})
		x += w + 12
	}
	entry(len(p.from), named(p.from, most), "calls", "call", true, false)
	entry(len(p.to), targets(m, p.from, p.to, most), "is called", "are called", false, true)
	entry(len(both), named(both, most), "does both", "do both", true, true)
	if len(p.labels) == 0 {
		return 0
	}
	return y + headHeight
}

// height returns how high the parts of the layer are together.
func (l *layer) height() float64 { return l.h*float64(l.rows) + l.gap*float64(l.rows-1) }

// box draws what is in a part, whose content begins at (x0, y0).
func (p *plan) box(in *part, depth int, x0, y0 float64) {
	if depth == len(p.layer) {
		for i, threads := range in.cores {
			x := x0 + float64(i%p.core.cols)*(p.core.w+p.core.gap)
			y := y0 + float64(i/p.core.cols)*(p.core.h+p.core.gap)
			for j, cpu := range threads {
				t := &p.thread
				p.cpu(cpu, x+float64(j%t.cols)*(t.w+t.gap), y+float64(j/t.cols)*(t.h+t.gap))
			}
		}
		return
	}
	l := &p.layer[depth]
	for i, child := range in.parts {
		x := x0 + float64(i%l.cols)*(l.w+l.gap)
		y := y0 + float64(i/l.cols)*(l.h+l.gap)
		p.rect(l.kind.class, x+.5, y+.5, l.w-1, l.h-1)
		if l.labelled {
			p.labels = append(p.labels, caption{x + l.pad, y + l.pad + partLabel - 1, p.labelOf(child, depth)})
		}
		p.box(child, depth+1, x+l.pad, y+l.pad+l.head)
	}
}

// labelOf is a part's label: as much of it as there is room for, and which parts it holds
// if those have no labels.
func (p *plan) labelOf(in *part, depth int) string {
	short, _, _ := strings.Cut(in.label, ", ")
	labels := []string{in.label, short}
	if depth+1 < len(p.layer) && !p.layer[depth+1].labelled {
		one, first, last := p.layer[depth+1].kind.one, math.MaxInt, -1
		for _, child := range in.parts {
			if child.number >= 0 {
				first, last = min(first, child.number), max(last, child.number)
			}
		}
		if first < last {
			holds := fmt.Sprintf(": %ss %d–%d", one, first, last)
			labels = []string{in.label + holds, short + holds, in.label, short}
		}
	}
	for _, s := range labels {
		if textWidth(s, partLabel) <= p.layer[depth].w-2*p.layer[depth].pad {
			return s
		}
	}
	return short
}

// cpu draws the cell of a CPU.
func (p *plan) cpu(cpu int, x, y float64) {
	_, from := slices.BinarySearch(p.from, cpu)
	_, to := slices.BinarySearch(p.to, cpu)
	p.cell(from, to, x, y, p.thread.w, p.thread.h)
	middle := spot{x + p.thread.w/2, y + p.thread.h/2}
	if from {
		p.senders = append(p.senders, middle)
	}
	if to {
		p.targets = append(p.targets, middle)
	}
}

// cell draws a cell, whose shape says what its CPU does.
func (p *plan) cell(from, to bool, x, y, w, h float64) {
	switch {
	case from && to:
		p.rect("target", x+.5, y+.5, w-1, h-1)
		p.rect("sender", x+w/4, y+h/4, w/2, h/2)
	case to:
		p.rect("target", x+.5, y+.5, w-1, h-1)
	case from:
		p.rect("sender", x, y, w, h)
	default:
		p.rect("core", x, y, w, h)
	}
}

// calls draws an arrow from one sender to each of a few targets. More arrows, or those of several
// senders, would say nothing.
func (p *plan) calls() {
	if len(p.senders) != 1 || len(p.targets) > 8 {
		return
	}
	a := p.senders[0]
	for _, b := range p.targets {
		dx, dy := b.x-a.x, b.y-a.y
		n := math.Hypot(dx, dy)
		if n == 0 {
			continue
		}
		const head = 6
		dx, dy = dx/n*head, dy/n*head
		p.line("call", a.x, a.y, b.x, b.y)
		p.line("call", b.x-dx-dy/2, b.y-dy+dx/2, b.x, b.y)
		p.line("call", b.x-dx+dy/2, b.y-dy-dx/2, b.x, b.y)
	}
}

// path returns the path of a class to draw on.
func (p *plan) path(class string) *pen {
	ds := p.paths[class]
	if n := len(ds); n > 0 && ds[n-1].b.Len() < longPath {
		return ds[n-1]
	}
	d := &pen{}
	p.paths[class] = append(ds, d)
	return d
}

func (p *plan) rect(class string, x, y, w, h float64) { p.path(class).rect(x, y, w, h) }

func (p *plan) line(class string, x0, y0, x1, y1 float64) {
	d := p.path(class)
	d.move(x0, y0)
	d.b.WriteString("L" + num(x1) + " " + num(y1))
}

// columns returns how many columns arrange n things in a rectangle that is
// wide times as wide as it is high.
func columns(n int, wide float64) int {
	c := int(math.Ceil(math.Sqrt(float64(n) * wide)))
	return max(min(c, n), 1)
}
