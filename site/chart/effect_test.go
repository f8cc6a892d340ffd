package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"schedlab/core"
	"schedlab/core/scenario"
	"schedlab/core/sweep"
)

// A swept is a sweep with made-up effects, in percent: NaN where nothing is known,
// and noisy where noise says so.
type swept struct {
	link   string
	axes   []string
	effect func(x, y, arm int) float64
	noise  float64 // percent, from run to run
}

func (s swept) table(t testing.TB) *sweep.Table {
	t.Helper()
	base, problems := scenario.Parse(s.link)
	var axes []sweep.Axis
	for _, spec := range s.axes {
		a, err := sweep.ParseAxis(base, spec)
		if err != nil {
			t.Fatal(err)
		}
		axes = append(axes, a)
	}
	q, more := sweep.New(base, axes)
	if problems = append(problems, more...); len(problems) > 0 {
		t.Fatal(problems)
	}
	table := sweep.NewTable(q)
	for p, point := range q.Points() {
		y := 0
		if len(point.Index) > 1 {
			y = point.Index[1]
		}
		r := core.NewResult(point.Scenario)
		for arm := range base.Arms {
			for run := range base.Runs {
				v := 1e9
				if arm > 0 {
					e := s.effect(point.Index[0], y, arm)
					if math.IsNaN(e) {
						continue
					}
					v *= 1 - (e+s.noise*(float64(run)-float64(base.Runs-1)/2))/100
				}
				r.Put(&core.Part{Job: core.Job{Arm: arm, Run: run}, Done: true, Events: 1, Primary: int64(v)})
			}
		}
		table.Put(p, r)
	}
	return table
}

const twoArms, threeArms = "?runs=6&bg=quiet", "?runs=6&bg=quiet&arm=&arm=sm-idle-v1&arm=sm-idle-v2"

func falling(x, _, arm int) float64 { return 13 - float64(5*x*arm) }

var effects = map[string]struct {
	swept
	arms  []int
	title string
	basis []string
	width float64
}{
	"effect":         {swept{twoArms, []string{"c.rq_visit=0..120/7"}, falling, 1.5}, []int{1}, "What visits cost", []string{EffectMarks, "simulated"}, 900},
	"effect-phone":   {swept{twoArms, []string{"c.rq_visit=0..120/7"}, falling, 1.5}, []int{1}, "", []string{EffectMarks}, 358},
	"effect-arms":    {swept{threeArms, []string{"c.rq_visit=15,30,45"}, falling, 0.5}, []int{1, 2}, "", nil, 700},
	"effect-log":     {swept{twoArms, []string{"c.rq_visit=1..1000/7log"}, falling, 0}, []int{1}, "", nil, 500},
	"effect-gaps":    {swept{twoArms, []string{"c.rq_visit=0..120/7"}, func(x, _, _ int) float64 { return []float64{1, math.NaN(), 3, 2, math.NaN(), math.NaN(), -1}[x] }, 1}, []int{1}, "", nil, 500},
	"effect-gains":   {swept{twoArms, []string{"wait=0,1"}, func(x, _, _ int) float64 { return 70 + float64(x) }, 0}, []int{1}, "", nil, 300},
	"effect-nothing": {swept{twoArms, []string{"wait=0,1"}, func(int, int, int) float64 { return 0 }, 0}, []int{1}, "", nil, 300},
	"effect-many":    {swept{twoArms, []string{"c.rq_visit=0..1000/64"}, func(x, _, _ int) float64 { return 40 * math.Sin(float64(x)/4) }, 9}, []int{1}, "", nil, 700},
}

func TestEffectChart(t *testing.T) {
	for name, c := range effects {
		svg := EffectChart{Table: c.table(t), Arms: c.arms, Title: c.title, Basis: c.basis, Width: c.width}.SVG()
		sound(t, name, svg)
		golden(t, name, svg)
	}
	empty := swept{twoArms, []string{"wait=0,1"}, func(int, int, int) float64 { return math.NaN() }, 0}.table(t)
	if svg := (EffectChart{Table: empty, Arms: []int{1}, Width: 500}).SVG(); svg != "" {
		t.Errorf("of nothing there is a picture: %s", svg)
	}
}

func TestEffectMarks(t *testing.T) {
	table := swept{twoArms, []string{"c.rq_visit=0..40/5"}, func(x, _, _ int) float64 { return 9 - float64(4*x) }, 1}.table(t)
	sure := 0
	for p := range table.Sweep.Points() {
		if table.Effect(p, 1).Significant {
			sure++
		}
	}
	if sure == 0 || sure == 5 {
		t.Fatalf("%d of 5 effects are significant: no test of the marks", sure)
	}
	svg := EffectChart{Table: table, Arms: []int{1}, Width: 500}.SVG()
	for class, want := range map[string]int{"sure arm1": sure, "dots arm1": 5 - sure, "curve arm1": 1, "band arm1": 1, "turn": 1} {
		d := pathOf(svg, class)
		if n := strings.Count(d, "M"); n != want {
			t.Errorf("%s: %d marks, want %d: %s", class, n, want, d)
		}
	}
}

// pathOf returns the d of the paths of a class.
func pathOf(svg, class string) string {
	var all string
	for piece := range strings.SplitSeq(svg, "<path ") {
		if d, ok := strings.CutPrefix(piece, `class="`+class+`" d="`); ok {
			d, _, _ = strings.Cut(d, `"`)
			all += d
		}
	}
	return all
}

func TestEffectWords(t *testing.T) {
	table := swept{twoArms, []string{"c.rq_visit=0..40/5"}, func(x, _, _ int) float64 { return 9 - float64(4*x) }, 0}.table(t)
	got := strings.ReplaceAll(EffectChart{Table: table, Arms: []int{1}, Basis: []string{"simulated"}}.Words(), space, " ")
	want := "Effect on elapsed in percent, positive is better, along c.rq_visit, ns from 0 to 40. simulated. sm-idle-v2 against baseline: " +
		"from −7.0 % at c.rq_visit 40 to +9.0 % at c.rq_visit 0; 3 of 5 points gain, 2 lose, 5 are significant; gain turns to loss at about 22.5."
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	table = swept{twoArms, []string{"c.rq_visit=0..40/5"}, func(x, _, _ int) float64 { return []float64{1, math.NaN(), 2, 3, 4}[x] }, 0}.table(t)
	got = EffectChart{Table: table, Arms: []int{1}}.Words()
	if !strings.HasSuffix(got, "; 1 more points are not known; no change of sign.") {
		t.Error(got)
	}
}

func slope(x, y, _ int) float64 { return 7*float64(x) - 5*float64(y) - 9.5 }

var maps = map[string]struct {
	swept
	title string
	basis []string
	width float64
}{
	"map":       {swept{twoArms, []string{"c.relax=10..60/6", "c.rq_visit=0..100/6"}, slope, 2}, "Two costs", []string{EffectMapMarks, "simulated"}, 900},
	"map-phone": {swept{twoArms, []string{"c.relax=10..60/6", "c.rq_visit=0..100/6"}, slope, 2}, "", []string{EffectMapMarks}, 358},
	"map-dense": {swept{twoArms, []string{"c.relax=0..32/33", "c.rq_visit=0..32/33"}, func(x, y, _ int) float64 { return 100 - float64((x-16)*(x-16)+(y-12)*(y-12)) }, 20}, "", nil, 380},
	"map-gaps":  {swept{twoArms, []string{"wait=0,1", "c.rq_visit=1..1000/4log"}, func(x, y, _ int) float64 { return []float64{-2, math.NaN(), 0, 3}[y] }, 0}, "", nil, 300},
	"map-wide":  {swept{twoArms, []string{"c.relax=0..63/64", "wait=0,1"}, slope, 0}, "", nil, 300},
	"map-row":   {swept{twoArms, []string{"c.relax=0..63/8"}, falling, 0}, "", nil, 500},
}

func TestEffectMap(t *testing.T) {
	for name, c := range maps {
		svg := EffectMap{Table: c.table(t), Arm: 1, Title: c.title, Basis: c.basis, Width: c.width}.SVG()
		sound(t, name, svg)
		golden(t, name, svg)
	}
	empty := swept{twoArms, []string{"wait=0,1", "numipi=5,6"}, func(int, int, int) float64 { return math.NaN() }, 0}.table(t)
	if svg := (EffectMap{Table: empty, Arm: 1, Width: 500}).SVG(); svg != "" {
		t.Errorf("of nothing there is a picture: %s", svg)
	}
}

// Every point has a cell, of the shade that its effect has.
func TestEffectMapCells(t *testing.T) {
	table := maps["map"].table(t)
	svg := EffectMap{Table: table, Arm: 1, Width: 900}.SVG()
	want := map[string]int{}
	for p := range table.Sweep.Points() {
		want[shade(table.Effect(p, 1).ImprovementPct.V)]++
	}
	for _, class := range shades() {
		n := want[class]
		if class != "even" {
			n++ // the legend
		}
		if got := strings.Count(pathOf(svg, class), "M"); got != n {
			t.Errorf("%d cells of %s, want %d", got, class, n)
		}
	}
	if n := strings.Count(svg, `<text class="cell"`); n != 36 {
		t.Errorf("%d figures", n)
	}
	if pathOf(svg, "zero") == "" || pathOf(svg, "zero") != pathOf(svg, "halo") {
		t.Error("no line where gain turns to loss")
	}
}

func TestShades(t *testing.T) {
	for v, want := range map[float64]string{0: "even", 0.01: "gain0", -0.99: "loss0", 1: "gain1", -5: "loss2", 29: "gain3", 30: "gain4", -1e9: "loss4"} {
		if got := shade(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}

func TestEffectMapWords(t *testing.T) {
	got := strings.ReplaceAll(EffectMap{Table: maps["map"].table(t), Arm: 1, Basis: []string{"simulated."}}.Words(), space, " ")
	want := "Map of the effect on elapsed in percent, positive is better, over c.relax, ns from 10 to 60 and c.rq_visit, ns from 0 to 100. simulated. " +
		"sm-idle-v2 against baseline: from −34.5 % at c.relax 10 and c.rq_visit 100 to +25.5 % at c.relax 60 and c.rq_visit 0; 14 of 36 points gain, 22 lose, "
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "; a line parts gains from losses.") {
		t.Errorf("%s\nwant\n%s…", got, want)
	}
}

func TestBreakLines(t *testing.T) {
	got := breakLines([]string{"", "one two", "three " + strings.Repeat("x", 30) + " four"}, textWidth(strings.Repeat("x", 12), tickSize+1.5))
	if want := "[one two three xxxxxxxxxxxx xxxxxxxxxxxx xxxxxx four]"; fmt.Sprint(got) != want || len(got) != 5 {
		t.Errorf("%q, want %s", got, want)
	}
}

// Any effects on any axes.
func FuzzEffects(f *testing.F) {
	f.Add(uint64(1), uint8(7), uint8(3), 880.0)
	f.Add(uint64(2), uint8(64), uint8(2), 100.0)
	f.Fuzz(func(t *testing.T, seed uint64, nx, ny uint8, width float64) {
		if nx < 2 || nx > 12 || ny < 2 || ny > 6 || !(width > 0 && width < 5000) {
			t.Skip()
		}
		r := rand.New(rand.NewPCG(seed, 0))
		size := math.Exp(r.Float64()*20 - 10)
		effect := func(int, int, int) float64 {
			switch r.IntN(6) {
			case 0:
				return math.NaN()
			case 1:
				return 0
			}
			return size * (r.Float64() - 0.6)
		}
		x := fmt.Sprintf("c.relax=1..%d/%d%s", 2+r.IntN(99998), nx, []string{"", "log"}[r.IntN(2)])
		one := swept{threeArms, []string{x}, effect, r.Float64() * size}
		sound(t, "fuzz", EffectChart{Table: one.table(t), Arms: []int{1, 2}, Title: "title", Basis: []string{EffectMarks}, Width: width}.SVG())
		two := swept{threeArms, []string{x, fmt.Sprintf("numipi=1..90000/%d", ny)}, effect, r.Float64() * size}
		sound(t, "fuzz", EffectMap{Table: two.table(t), Arm: 2, Title: "title", Basis: []string{EffectMapMarks}, Width: width}.SVG())
	})
}

func BenchmarkEffectMap(b *testing.B) {
	table := maps["map-dense"].table(b)
	for b.Loop() {
		EffectMap{Table: table, Arm: 1, Width: 900}.SVG()
	}
}
