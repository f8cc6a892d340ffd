package chart

import (
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"schedlab/core/machine"
	"schedlab/core/stats"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a picture with the one that somebody has looked at.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".svg")
	// Each element on its own line, so that a difference can be read.
	got = strings.ReplaceAll(got, "><", ">\n<") + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s has changed; look at it, and run go test ./site/chart -update", path)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Time(0), "0 ns"},
		{Time(0.1234), "0.123 ns"},
		{Time(905.1), "905 ns"},
		{Time(999.4), "999 ns"},
		{Time(999.6), "1.00 µs"},
		{Time(3112.9), "3.11 µs"},
		{Time(9.996e3), "10.0 µs"},
		{Time(311293795), "311 ms"},
		{Time(1.25e9), "1.25 s"},
		{Time(1234.5e9), "1,234 s"},
		{Time(-2500), "−2.50 µs"},
		{Figure(0.25), "0.2500"},
		{Figure(905.12), "905.1"},
		{Figure(787669.4), "787,669"},
		{Figure(100000), "100,000"},
		{Figure(-0.0000001), "0.000000"},
		{Figure(9999.96), "10,000"},
		{Signed(12), "+12"},
		{Signed(-12.5), "−12.50"},
		{Signed(0), "0"},
		{Tenths(0), "0"},
		{Tenths(0.04), "< 0.1"},
		{Tenths(53.85), "53.9"},
		{Tenths(-1268.64), "−1,268.6"},
		{Tenths(547654.6), "547,655"},
		{SignedTenths(0.04), "0"},
		{SignedTenths(-0.06), "−0.1"},
		{SignedTenths(129.84), "+129.8"},
		{Percent(70.92), "70.9 %"},
		{SignedPercent(-76.94), "−76.9 %"},
		{SignedPercent(3), "+3.0 %"},
		{SignedPercent(-0.01), "0.0 %"},
		{SignedPercent(0.01), "0.0 %"},
		{Count(950), "950"},
		{Count(14_212_000), "14.2 M"},
		{Count(999_999), "1.00 M"},
		{Count(math.MaxUint64), "18,446,744 T"},
		{tickTime(500), "500 ns"},
		{tickTime(1000), "1 µs"},
		{tickTime(0.5), "0.5 ns"},
		{tickTime(2e6), "2 ms"},
	} {
		if want := strings.ReplaceAll(c.want, " ", space); c.got != want {
			t.Errorf("got %q, want %q", c.got, want)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, hi := range []float64{1.0005, 1.01, 1.3, 2, 3, 10, 47, 1e3, 1e6, 1e9} {
		for _, lo := range []float64{0.37, 1, 640, 1e5} {
			for _, width := range []float64{150, 320, 860} {
				const label = 40
				l := Log{lo, lo * hi, 30, 30 + width}
				last, lastX, majors := 0.0, math.Inf(-1), 0
				for _, tick := range l.Ticks(label) {
					if tick.V <= last || tick.V < l.Lo*(1-1e-6) || tick.V > l.Hi*(1+1e-6) {
						t.Fatalf("%v: tick at %v after %v", l, tick.V, last)
					}
					last = tick.V
					if !tick.Major {
						continue
					}
					majors++
					if x := l.At(tick.V); x-lastX < label {
						t.Errorf("%v: labels at %v and %v pixels touch", l, lastX, x)
					} else {
						lastX = x
					}
				}
				if majors < 1 || width > 300 && majors < 2 {
					t.Errorf("%v: %d labels", l, majors)
				}
			}
		}
	}
}

func TestLogStaysOnTheAxis(t *testing.T) {
	l := Log{100, 10000, 10, 210}
	for v, want := range map[float64]float64{100: 10, 1000: 110, 10000: 210, 1: 10, 0: 10, -5: 10, 1e9: 210} {
		if got := l.At(v); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v is at %v, want %v", v, got, want)
		}
	}
}

// hist returns n samples about each of the values, a fifth wide.
func hist(n int, values ...int64) *stats.Hist {
	var h stats.Hist
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		for _, v := range values {
			h.Add(v + (r.Int64N(v/5+1)+r.Int64N(v/5+1))/2 - v/10)
		}
	}
	return &h
}

// What lies in the bins is counted, whatever their width, and only that.
func TestShares(t *testing.T) {
	h := hist(1000, 700_000, 5_000_000)
	for _, width := range []float64{50, 333, 3000} {
		sum := 0.0
		for _, s := range NewBins(1000, 1e9, width).Shares(h) {
			if s < 0 || s > 1 {
				t.Fatalf("a share of %v", s)
			}
			sum += s
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("%v pixels: the shares sum to %v, want 1", width, sum)
		}
		low := 0.0
		for _, s := range NewBins(1000, 2e6, width).Shares(h) {
			low += s
		}
		if math.Abs(low-0.5) > 1e-9 {
			t.Errorf("%v pixels: %v of the samples are in the lower half, want 0.5", width, low)
		}
	}
	if s := NewBins(1, 10, 100).Shares(&stats.Hist{}); s[0] != 0 {
		t.Errorf("an empty histogram has a share of %v", s[0])
	}
}

// One sample is in the bin that holds it.
func TestSharesPlace(t *testing.T) {
	var h stats.Hist
	h.Add(777_777)
	b := NewBins(1000, 1e8, 800)
	for i, s := range b.Shares(&h) {
		if in := b.Edge(i) <= 777_777 && 777_777 < b.Edge(i+1); in && s < 0.99 || !in && s > 0.01 {
			t.Errorf("bin from %v to %v has a share of %v", b.Edge(i), b.Edge(i+1), s)
		}
	}
}

func TestLabelsNeverMeet(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		room := box{40, 0, 40 + 300 + r.Float64()*600, 100 + r.Float64()*200}
		var labels []label
		for range 1 + r.IntN(5) {
			labels = append(labels, label{text: strings.Repeat("x", 1+r.IntN(30)), x: room.x0 + r.Float64()*(room.x1-room.x0), y: r.Float64() * room.y1})
		}
		done := place(labels, room, nil)
		if len(done) != len(labels) {
			t.Errorf("%d of %d labels have a place in %v", len(done), len(labels), room)
		}
		for i, p := range done {
			if !p.within(room) {
				t.Errorf("%v leaves %v", p.box, room)
			}
			for _, q := range done[:i] {
				if p.meets(q.box) {
					t.Errorf("%v and %v overlap", p.box, q.box)
				}
			}
		}
	}
	if done := place([]label{{text: strings.Repeat("x", 200)}}, box{0, 0, 100, 50}, nil); len(done) != 0 {
		t.Error("a label that does not fit was placed")
	}
}

// Dots of a lane don't cover each other unless there are very many.
func TestStack(t *testing.T) {
	axis := Log{1, 100, 0, 500}
	values := []float64{10, 10, 10.1, 50, 10, 9.9}
	up, reach := stack(values, axis, 4)
	for i := range values {
		for j := range i {
			if d := math.Hypot(axis.At(values[i])-axis.At(values[j]), up[i]-up[j]); d < 8 {
				t.Errorf("dots %d and %d are %v pixels apart", i, j, d)
			}
		}
	}
	if up[3] != 0 || reach != 36 {
		t.Errorf("a lone dot is %v up, and the highest one %v", up[3], reach)
	}
	if _, reach := stack(make([]float64, 1000), axis, 2); reach > 40 {
		t.Errorf("a thousand equal runs reach %v pixels up", reach)
	}
}

var base = Curve{Name: "baseline", Samples: hist(5000, 800_000, 7_000_000), Runs: []float64{3900, 3910, 3920, 1200, 3905, 3900}}
var patched = Curve{Name: "SM_IDLE v2", Samples: hist(10000, 850_000), Runs: []float64{860, 861, 862, 850, 880, 870}}

var distributions = map[string]Distribution{
	"two-arms":   {Event: "one call", Basis: "simulated, model 1, busy background", Curves: []Curve{base, patched}, Width: 880},
	"phone":      {Event: "one call", Basis: "simulated, model 1, busy background", Curves: []Curve{base, patched}, Width: 358},
	"published":  {Curves: []Curve{{base.Name, base.Samples, base.Runs, []float64{1130, 7300, 8300}}, {patched.Name, patched.Samples, patched.Runs, []float64{1131, 1700}}}, Width: 700},
	"three-arms": {Curves: []Curve{base, patched, {Name: "SM_IDLE v2 (fast only)", Samples: hist(3000, 900_000, 2_000_000), Runs: []float64{1000}}}, Width: 700},
	"no-runs":    {Curves: []Curve{{Name: "baseline", Samples: base.Samples}, {Name: "SM_IDLE v2"}}, Width: 700},
	"one-value":  {Curves: []Curve{{Name: "baseline", Samples: hist(1, 1), Runs: []float64{0.001}}}, Width: 700},
	"markup":     {Event: "<b>&", Basis: "<i>", Curves: []Curve{{Name: `<script>"`, Samples: base.Samples}}, Width: 300},
}

func TestDistribution(t *testing.T) {
	for name, d := range distributions {
		svg := d.SVG()
		sound(t, name, svg)
		golden(t, name, svg)
	}
	if svg := (Distribution{Curves: []Curve{{Name: "baseline"}}, Width: 500}).SVG(); svg != "" {
		t.Errorf("of nothing there is a picture: %s", svg)
	}
}

// sound checks that a picture is XML without nonsense among its numbers, that
// no path is large, and that no text is small or out of the picture.
func sound(t *testing.T, name, svg string) {
	t.Helper()
	var width float64
	d := xml.NewDecoder(strings.NewReader(svg))
	var texts []string // x of each
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range e.Attr {
			switch a.Name.Local {
			case "d":
				if len(a.Value) > 12<<10 {
					t.Errorf("%s: a path of %d bytes", name, len(a.Value))
				}
			case "width":
				fmt.Sscan(a.Value, &width)
			case "x":
				texts = append(texts, a.Value)
			case "style":
				t.Errorf("%s: a style, which the policy forbids", name)
			}
		}
	}
	for _, x := range texts {
		var v float64
		if _, err := fmt.Sscan(x, &v); err != nil || v < 0 || v > width {
			t.Errorf("%s: a text at %s of %v", name, x, width)
		}
	}
	if regexp.MustCompile(`NaN|Inf|e[+-]\d`).MatchString(regexp.MustCompile(`aria-label="[^"]*"`).ReplaceAllString(svg, "")) {
		t.Errorf("%s: a number that is none", name)
	}
}

func TestWords(t *testing.T) {
	got := strings.ReplaceAll(distributions["published"].Words(), space, " ")
	for _, want := range []string{"baseline: 10,000 samples, median ", "6 runs from 1.20 µs to 3.92 µs", "3 published runs from 1.13 µs to 8.30 µs", "SM_IDLE v2: 10,000 samples"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

// Many runs of many arms, with any samples.
func FuzzDistribution(f *testing.F) {
	f.Add(uint64(1), uint8(2), 880.0)
	f.Add(uint64(2), uint8(8), 100.0)
	f.Fuzz(func(t *testing.T, seed uint64, arms uint8, width float64) {
		if !(width > 0 && width < 5000) {
			t.Skip()
		}
		r := rand.New(rand.NewPCG(seed, 0))
		d := Distribution{Width: width}
		for i := range arms % 9 {
			var h stats.Hist
			for range r.IntN(50) {
				h.Add(r.Int64() >> r.IntN(63))
			}
			c := Curve{Name: fmt.Sprint("arm ", i), Samples: &h}
			for range r.IntN(100) {
				c.Runs = append(c.Runs, math.Exp(r.Float64()*20-2))
			}
			d.Curves = append(d.Curves, c)
		}
		if svg := d.SVG(); svg != "" {
			sound(t, "fuzz", svg)
		}
	})
}

// call returns a picture of a machine on which one CPU calls another one.
func call(m *machine.Machine, width float64) Topology {
	if len(m.CPUs) < 17 {
		return Topology{m, []int{0}, []int{1}, width}
	}
	return Topology{m, []int{8}, []int{16}, width}
}

func lookup(t testing.TB, key string) *machine.Machine {
	m, err := machine.Lookup(key)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestTopology(t *testing.T) {
	for _, m := range machine.Catalogue() {
		svg := call(m, 300).SVG()
		sound(t, m.Key, svg)
		golden(t, m.Key, svg)
	}
	for key, top := range map[string]Topology{
		"large-kunpeng":  call(lookup(t, "kunpeng-920"), 900),
		"large-epyc":     call(lookup(t, "epyc-2x128"), 900),
		"several-xeon":   {lookup(t, "xeon-128-4n"), []int{0, 1, 40}, []int{1, 2, 3, 127}, 600},
		"everyone-xeon":  {lookup(t, "xeon-e5-2699v3"), []int{8}, others(72, 8), 300},
		"nobody-laptop":  {lookup(t, "laptop"), nil, nil, 300},
		"itself-power9":  {lookup(t, "power9-smt8"), []int{5}, []int{5}, 300},
		"unknown-laptop": {lookup(t, "laptop"), []int{-1, 16}, []int{3}, 300},
	} {
		svg := top.SVG()
		sound(t, key, svg)
		golden(t, key, svg)
	}
}

// others lists CPUs 0 to n − 1 without one.
func others(n, without int) (cpus []int) {
	for c := range n {
		if c != without {
			cpus = append(cpus, c)
		}
	}
	return cpus
}

// Whatever calls what, a picture is small, its texts are in it and legible, its cells are the
// machine's CPUs, and the boxes of a layer don't overlap.
func TestTopologyOfEveryMachine(t *testing.T) {
	for _, m := range machine.Catalogue() {
		n := len(m.CPUs)
		for _, width := range []float64{0, 250, 300, 358, 499, 500, 900, 1400} {
			for _, c := range []struct{ from, to []int }{
				{nil, nil}, {[]int{0}, []int{n - 1}}, {[]int{0}, others(n, 0)}, {others(n, -1), others(n, -1)}, {others(n, 0), nil},
			} {
				name := fmt.Sprintf("%s at %v, %d call %d", m.Key, width, len(c.from), len(c.to))
				svg := Topology{m, c.from, c.to, width}.SVG()
				sound(t, name, svg)
				if len(svg) > 40<<10 {
					t.Errorf("%s: %d bytes", name, len(svg))
				}
				checkTopology(t, name, svg, n, len(c.from), len(c.to))
			}
		}
	}
}

func checkTopology(t *testing.T, name, svg string, cpus, from, to int) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	var elements int
	var picture box
	boxes := map[string][]box{}
	for {
		token, err := d.Token()
		if err != nil {
			break
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		elements++
		attr := map[string]string{}
		for _, a := range e.Attr {
			attr[a.Name.Local] = a.Value
		}
		float := func(s string) (v float64) {
			if _, err := fmt.Sscan(s, &v); err != nil {
				t.Fatalf("%s: %q: %v", name, s, err)
			}
			return v
		}
		switch e.Name.Local {
		case "svg":
			picture = box{0, 0, float(attr["width"]), float(attr["height"])}
		case "path":
			if attr["class"] != "call" {
				boxes[attr["class"]] = append(boxes[attr["class"]], rects(t, attr["d"])...)
			}
		case "text":
			text, _ := d.Token()
			x, y := float(attr["x"]), float(attr["y"])
			if b := (box{x, y - partLabel, x + textWidth(string(text.(xml.CharData)), partLabel), y}); !b.within(picture) {
				t.Errorf("%s: the text %q at %v leaves the picture %v", name, text, b, picture)
			}
		}
	}
	if elements > 60 {
		t.Errorf("%s: %d elements", name, elements)
	}
	both := 0
	if from+to > cpus {
		both = from + to - cpus
	}
	legend := func(n int) int { return n + min(n, 1) }
	if got, want := len(boxes["sender"]), legend(from)+min(both, 1); got != want {
		t.Errorf("%s: %d cells of senders, want %d", name, got, want)
	}
	if got, want := len(boxes["target"]), legend(to)+min(both, 1); got != want {
		t.Errorf("%s: %d cells of targets, want %d", name, got, want)
	}
	if got, want := len(boxes["core"]), cpus-from-to+both; got != want {
		t.Errorf("%s: %d cells without a mark, want %d", name, got, want)
	}
	cells := boxes["core"]
	for _, class := range []string{"socket", "node", "llc", "cluster", "core"} {
		bs := boxes[class]
		for i, b := range bs {
			if !b.within(picture) || b.x1-b.x0 < 1 || b.y1-b.y0 < 1 {
				t.Errorf("%s: the %s at %v leaves the picture %v or is too small", name, class, b, picture)
			}
			for _, o := range bs[:i] {
				if b.meets(o) {
					t.Errorf("%s: two of %s, at %v and %v, overlap", name, class, b, o)
				}
			}
		}
	}
	for _, c := range cells {
		inside := 0
		for _, b := range boxes["socket"] {
			if c.within(b) {
				inside++
			}
		}
		if inside != 1 {
			t.Errorf("%s: the cell at %v is in %d sockets", name, c, inside)
		}
	}
}

// rects reads the rectangles of a path, smaller by what rounding may add.
func rects(t *testing.T, d string) (list []box) {
	t.Helper()
	for _, r := range strings.Split(strings.TrimSuffix(d, "z"), "z") {
		var x, y, w, h, back float64
		if _, err := fmt.Sscanf(r, "M%g %gh%gv%gh%g", &x, &y, &w, &h, &back); err != nil || back != -w {
			t.Fatalf("%q is no rectangle: %v", r, err)
		}
		list = append(list, box{x + .1, y + .1, x + w - .1, y + h - .1})
	}
	return list
}

func TestTopologyWords(t *testing.T) {
	for _, c := range []struct {
		key      string
		from, to []int
		want     string
	}{
		{"epyc-2x64", []int{8}, []int{16}, "256 CPUs: sockets 2, last-level caches 16, cores 128; CPU 8 calls CPU 16"},
		{"epyc-2x64", nil, []int{16}, "256 CPUs: sockets 2, last-level caches 16, cores 128"},
		{"kunpeng-920", []int{9, 8, 10, 9}, []int{16, 18, 20, 21, 22}, "128 CPUs: sockets 2, nodes 4, last-level caches 4, clusters 32, cores 128; CPUs 8–10 call CPUs 16, 18, 20–22"},
		{"vm-2", []int{0}, []int{1}, "2 CPUs: sockets 1, last-level caches 1, cores 2; CPU 0 calls CPU 1"},
		{"laptop", []int{4}, others(16, 4), "16 CPUs: sockets 1, last-level caches 1, cores 8; CPU 4 calls every other CPU"},
		{"laptop", []int{4}, others(16, -1), "16 CPUs: sockets 1, last-level caches 1, cores 8; CPU 4 calls every CPU"},
		{"laptop", []int{4}, others(16, 5), "16 CPUs: sockets 1, last-level caches 1, cores 8; CPU 4 calls CPUs 0–4, 6–15"},
		{"laptop", others(16, -1), others(16, -1), "16 CPUs: sockets 1, last-level caches 1, cores 8; CPUs 0–15 call CPUs 0–15"},
		{"laptop", []int{99, -1}, []int{1}, "16 CPUs: sockets 1, last-level caches 1, cores 8"},
	} {
		if got := (Topology{Machine: lookup(t, c.key), From: c.from, To: c.to}).Words(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A machine whose parts differ: a socket with clusters of one and of two cores, and a core in none.
func TestTopologyOfAnIrregularMachine(t *testing.T) {
	m := &machine.Machine{CPUs: []machine.CPU{
		{Cluster: 1}, {Thread: 1, Cluster: 1}, {Core: 1, Cluster: 2}, {Core: 2, Cluster: 2}, {Core: 3},
		{Socket: 1, Node: 1, LLC: 1, Core: 4}, {Socket: 1, Node: 2, LLC: 2, Core: 5},
	}}
	svg := Topology{m, []int{1}, []int{4, 6}, 900}.SVG()
	sound(t, "irregular", svg)
	golden(t, "irregular", svg)
	checkTopology(t, "irregular", svg, 7, 1, 2)
	for _, want := range []string{">node 0<", ">node 2<", "socket 1, node 2, last-level cache 2: CPU 6."} {
		if !strings.Contains(svg, want) {
			t.Errorf("nothing says %q", want)
		}
	}
}

func BenchmarkTopology(b *testing.B) {
	m := lookup(b, "epyc-2x128")
	for b.Loop() {
		call(m, 300).SVG()
	}
}

func BenchmarkDistribution(b *testing.B) {
	for b.Loop() {
		distributions["published"].SVG()
	}
}

// Published runs beneath simulated ones: few of these are dots, many a histogram.
func TestRunPanels(t *testing.T) {
	published := []float64{1130, 1580, 3020, 6770, 7290, 7310, 7380, 7440, 8310}
	many, few := make([]float64, 200), make([]float64, 10)
	for i := range many {
		many[i] = 1200 + float64(i*i)/6
	}
	for i := range few {
		few[i] = 1300 + 40*float64(i)
	}
	d := RunPanels{Basis: "simulated, model 1", Columns: 2, Width: 900, Panels: []Panel{
		{"baseline, bg=quiet", 0, few, published}, {"patched, bg=quiet", 1, few, nil},
		{"baseline, bg=pair", 0, many, published}, {"patched, bg=pair", 1, many, nil},
	}}
	golden(t, "run-panels", d.SVG())
	d.Width = 358
	golden(t, "run-panels-phone", d.SVG())
	if words := d.Words(); !strings.Contains(words, "baseline, bg=pair: 200 runs from 1.20\u00a0µs to 7.80\u00a0µs; 9 published runs from 1.13\u00a0µs to 8.31\u00a0µs.") {
		t.Error(words)
	}
	if (RunPanels{Panels: []Panel{{Title: "nothing"}}}).SVG() != "" {
		t.Error("a picture of nothing")
	}
}
