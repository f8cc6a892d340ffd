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

func TestTopology(t *testing.T) {
	for _, m := range machine.Catalogue() {
		top := Topology{Machine: m, From: 8, To: 16, Width: 300}
		svg := top.SVG()
		sound(t, m.Key, svg)
		golden(t, m.Key, svg)
		for _, class := range []string{"sender", "target", "call"} {
			if !strings.Contains(svg, `class="`+class+`"`) {
				t.Errorf("%s has no %s", m.Key, class)
			}
		}
		if svg := (Topology{Machine: m, From: -1, To: -1}).SVG(); strings.Contains(svg, "sender") || strings.Contains(svg, "call") {
			t.Errorf("%s: a call that nobody made", m.Key)
		}
	}
	m, _ := machine.Lookup("epyc-2x64")
	if got, want := (Topology{Machine: m, From: 8, To: 16}).Words(), "256 CPUs: sockets 2, last-level caches 16, cores 128; CPU 8 calls CPU 16"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func BenchmarkDistribution(b *testing.B) {
	for b.Loop() {
		distributions["published"].SVG()
	}
}
