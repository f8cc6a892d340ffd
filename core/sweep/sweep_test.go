package sweep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"schedlab/core"
	"schedlab/core/scenario"
	"schedlab/core/stats"
)

// sweepOf returns a sweep that must be right.
func sweepOf(t testing.TB, link string, specs ...string) Sweep {
	t.Helper()
	s, problems := tryTo(link, specs...)
	if len(problems) > 0 {
		t.Fatalf("%s %v: %v", link, specs, problems)
	}
	return s
}

func tryTo(link string, specs ...string) (Sweep, []scenario.Problem) {
	base, problems := scenario.Parse(link)
	var axes []Axis
	for _, spec := range specs {
		a, err := ParseAxis(base, spec)
		if err != nil {
			problems = append(problems, err.(scenario.Problem))
		}
		axes = append(axes, a)
	}
	if len(problems) > 0 {
		return Sweep{}, problems
	}
	return New(base, axes)
}

// result makes up the result of a point: of each arm done runs, with this effect in percent.
func result(s scenario.Scenario, done int, effect func(arm int) float64) *core.Result {
	r := core.NewResult(s)
	for arm := range s.Arms {
		for run := range done {
			figure := float64(1_000_000_000 + 1_000_000*run)
			if arm > 0 {
				figure *= 1 - effect(arm)/100
			}
			r.Put(&core.Part{Job: core.Job{Arm: arm, Run: run}, Done: true, Events: 1, Primary: int64(math.Round(figure))})
		}
	}
	return r
}

// tableOf makes up a complete table of effects in percent, with NaN where nothing is known.
func tableOf(t testing.TB, s Sweep, effect func(x, y, arm int) float64) *Table {
	t.Helper()
	table := NewTable(s)
	for p, point := range s.Points() {
		y := 0
		if len(point.Index) > 1 {
			y = point.Index[1]
		}
		if math.IsNaN(effect(point.Index[0], y, 1)) {
			continue
		}
		table.Put(p, result(point.Scenario, s.Base.Runs, func(arm int) float64 { return effect(point.Index[0], y, arm) }))
	}
	return table
}

func TestPoints(t *testing.T) {
	s := sweepOf(t, "?bg=quiet&runs=6&numipi=500&seed=7&c.rq_visit=99&c.relax=40", "c.rq_visit=15,30.5,45", "numipi=100,200")
	var got []string
	for i, p := range s.Points() {
		got = append(got, fmt.Sprint(p.Index, " ", s.Name(i)))
		want, problems := scenario.Parse(fmt.Sprintf("?bg=quiet&runs=6&numipi=%s&seed=7&c.rq_visit=%s&c.relax=40", s.Axes[1].Values[p.Index[1]], s.Axes[0].Values[p.Index[0]]))
		if len(problems) > 0 || p.Scenario.Query() != want.Query() {
			t.Errorf("point %d is %s, want %s", i, p.Scenario.Query(), want.Query())
		}
	}
	want := "[0 0] c.rq_visit=15&numipi=100, [1 0] c.rq_visit=30.5&numipi=100, [2 0] c.rq_visit=45&numipi=100, " +
		"[0 1] c.rq_visit=15&numipi=200, [1 1] c.rq_visit=30.5&numipi=200, [2 1] c.rq_visit=45&numipi=200"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
	if s.Title(0) != "c.rq_visit, ns" || s.Title(1) != "numipi" || s.Text(0) == "" || s.Text(1) == "" {
		t.Errorf("%q, %q, %q, %q", s.Title(0), s.Title(1), s.Text(0), s.Text(1))
	}
}

func TestNewProblems(t *testing.T) {
	for _, c := range []struct {
		link  string
		specs []string
		want  string // its beginning
	}{
		{"?", nil, "axes=0: want 1 or 2 axes"},
		{"?", []string{"wait=0,1", "numipi=1,2", "delay=1,2"}, "axes=3: want 1 or 2 axes"},
		{"?", []string{"numipi=1,2", "numipi=3,4"}, "axis=numipi: want two different keys"},
		{"?arm=sm-idle-v2", []string{"numipi=1,2"}, "arm=sm-idle-v2: want a second arm: a sweep compares each with the first one"},
		{"?runs=100", []string{"numipi=1..100/64", "offset=1..100/64"}, "axes=64 × 64: want at most 1089 points in all, as of 33 × 33, not 4096"},
		{"?runs=10", []string{"numipi=1..100/33", "offset=1..100/33"}, "runs=10: want at most 9: a sweep simulates 20000 runs at most, and this one has 1089 points of 2 arms"},
		{"?delay=1000&numipi=10", []string{"numipi=1000,100000"}, "point=numipi=100000: want a valid scenario; here "},
		{"?", []string{"numipi=1000,100000", "delay=0,1000"}, "point=numipi=100000&delay=1000: want a valid scenario; here "},
	} {
		s, problems := tryTo(c.link, c.specs...)
		if len(problems) == 0 {
			t.Errorf("%s %v: %v", c.link, c.specs, s)
			continue
		}
		if got := problems[0].String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %v:\n%s\nwant\n%s", c.link, c.specs, got, c.want)
		}
		if len(s.Points()) > 0 {
			t.Errorf("%s %v: points of a sweep that is not valid", c.link, c.specs)
		}
	}
	// Programs may hand over any axis and any base.
	for _, a := range []Axis{{}, {Key: "m", Values: []string{"x", "y"}}, {Key: "numipi"}, {"numipi", []string{"1", "x"}}} {
		if _, problems := New(scenario.Default(), []Axis{a}); len(problems) != 1 {
			t.Errorf("%v: %v", a, problems)
		}
	}
	bad := scenario.Default()
	bad.Runs = 0
	if _, problems := New(bad, []Axis{{"numipi", []string{"1", "2"}}}); len(problems) != 1 || problems[0].Key != "runs" {
		t.Errorf("%v", problems)
	}
	if _, problems := tryTo("?", "delay=1000..1000000/64"); len(problems) != maxProblems+1 {
		t.Errorf("%d problems are named", len(problems))
	}
	// Values come in any order and spelling.
	s, problems := New(scenario.Default(), []Axis{{"c.relax", []string{"50", "040.50"}}})
	if len(problems) > 0 || s.Axes[0].String() != "c.relax=40.5,50" {
		t.Errorf("%v, %v", s.Axes, problems)
	}
}

// The largest map is ready before anybody waits for it.
func TestLargest(t *testing.T) {
	s := sweepOf(t, "?runs=9", "c.relax=0..100/33", "c.rq_visit=0..100/33")
	if n := len(s.Points()); n != MaxMapPoints {
		t.Errorf("%d points", n)
	}
}

// The table is the same however the results come: in any order, partial ones
// before and after whole ones.
func TestAnyOrder(t *testing.T) {
	s := sweepOf(t, "?bg=quiet&runs=6&arm=&arm=sm-idle-v1&arm=sm-idle-v2", "c.rq_visit=0..100/5", "c.relax=10,20,30")
	effect := func(p int) func(int) float64 {
		return func(arm int) float64 { return float64(p%4-1) * float64(arm) }
	}
	var want string
	for seed := range uint64(5) {
		table := NewTable(s)
		r := rand.New(rand.NewPCG(seed, 1))
		type put struct{ point, runs int }
		var puts []put
		for p := range s.Points() {
			for _, runs := range []int{0, 3, 6} {
				puts = append(puts, put{p, runs})
			}
		}
		r.Shuffle(len(puts), func(i, j int) { puts[i], puts[j] = puts[j], puts[i] })
		for _, p := range puts {
			if got := known(table); strings.Contains(got, "Inf") || strings.Contains(got, "NaN") || strings.Contains(got, "%!") {
				t.Fatal(got)
			}
			table.Put(p.point, result(s.Points()[p.point].Scenario, p.runs, effect(p.point)))
		}
		table.Put(-1, result(s.Base, 6, effect(0)))
		table.Put(len(s.Points()), result(s.Base, 6, effect(0)))
		table.Put(0, core.NewResult(sweepOf(t, "?", "wait=0,1").Base))
		if !table.Complete() {
			n, of := table.Finished()
			t.Errorf("%d of %d runs", n, of)
		}
		if got := known(table); want == "" {
			want = got
		} else if got != want {
			t.Errorf("seed %d:\n%s\nnot\n%s", seed, got, want)
		}
	}
}

// known writes all that a table knows and says.
func known(t *Table) string {
	var b strings.Builder
	for arm := 1; arm < len(t.Sweep.Base.Arms); arm++ {
		fmt.Fprintln(&b, t.Verdict(arm), t.Contour(arm))
		for p := range t.Sweep.Points() {
			fmt.Fprintf(&b, "%+v\n", *t.Effect(p, arm))
		}
		_, ny := t.Size()
		for row := range ny {
			fmt.Fprintln(&b, t.Crossings(arm, row))
		}
	}
	n, of := t.Finished()
	fmt.Fprintln(&b, n, of, t.Warnings([]int{1, 2}), t.Basis())
	return b.String()
}

func TestEffect(t *testing.T) {
	s := sweepOf(t, "?runs=6", "numipi=100,200")
	table := tableOf(t, s, func(x, _, _ int) float64 { return float64(10 - 20*x) })
	for p, want := range []float64{10, -10} {
		e := table.Effect(p, 1)
		base, mean := e.PerEvent()
		if e.N != 6 || math.Abs(e.ImprovementPct.V-want) > 1e-6 || !e.CI95.OK || !e.Significant || e.Baseline != 1_002_500 ||
			math.Abs(mean/base-(1-want/100)) > 1e-6 || base != 1_002_500/float64(100*(p+1)) {
			t.Errorf("%+v", e)
		}
	}
	if known := table.Known(1); known != 2 {
		t.Errorf("%d points known", known)
	}
}

func TestCrossings(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		effects []float64
		want    string
	}{
		{[]float64{1, 2, 3}, ""},
		{[]float64{-1, -2}, ""},
		{[]float64{1, -1}, "50 loss"},
		{[]float64{-1, 3}, "25 gain"},
		{[]float64{10, -10, 20}, "50 loss, 133.333 gain"},
		{[]float64{5, 0, -3}, "100 loss"},
		{[]float64{-5, 0, 3}, "100 gain"},
		{[]float64{5, 0, 5}, ""},
		{[]float64{-5, 0, -5}, ""},
		{[]float64{0, 0, 0}, ""},
		{[]float64{0, -1}, ""},
		{[]float64{5, 0, 0, -3}, "200 loss"},
		{[]float64{5, nan, -3}, ""},
		{[]float64{nan, 5, -5, nan}, "150 loss"},
		{[]float64{5, 0, nan, 0, -5}, ""},
	} {
		s := sweepOf(t, "?runs=6", fmt.Sprintf("c.rq_visit=0..%d/%d", 100*(len(c.effects)-1), len(c.effects)))
		table := tableOf(t, s, func(x, _, _ int) float64 { return c.effects[x] })
		var got []string
		for _, x := range table.Crossings(1, 0) {
			got = append(got, fmt.Sprintf("%.6g %s", x.At, map[bool]string{true: "gain", false: "loss"}[x.Gain]))
			if x.Below != int(math.Nextafter(x.At, 0))/100 && x.Below != int(x.At)/100 {
				t.Errorf("%v: at %v, above point %d", c.effects, x.At, x.Below)
			}
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%v: %s, want %s", c.effects, text, c.want)
		}
		if table.Crossings(1, 1) != nil || table.Crossings(1, -1) != nil {
			t.Error("crossings in a row that is not there")
		}
	}
	// On a logarithmic axis the place is between the points there, too.
	table := tableOf(t, sweepOf(t, "?runs=6", "numipi=100..100000/4log"), func(x, _, _ int) float64 { return float64(3 - 2*x) })
	if got := table.Crossings(1, 0); len(got) != 1 || got[0].At != 3162.28 || got[0].Below != 1 {
		t.Errorf("%+v", got)
	}
	// Between whole numbers that are next to each other there is nothing.
	for spec, want := range map[string]bool{"wait=0,1": true, "numipi=5,6": true, "numipi=5,7": false, "c.rq_visit=0,1": false} {
		table := tableOf(t, sweepOf(t, "?runs=6", spec), func(x, _, _ int) float64 { return float64(3 - 5*x) })
		if got := table.Crossings(1, 0); len(got) != 1 || got[0].Step != want {
			t.Errorf("%s: %+v", spec, got)
		}
	}
	// Significance is that of both neighbours.
	for _, c := range []struct {
		below, above float64
		want         bool
	}{{5, -5, true}, {5, -0.001, false}, {0.001, -5, false}} {
		table := tableOf(t, sweepOf(t, "?runs=6", "c.rq_visit=0,100"), func(x, _, _ int) float64 { return []float64{c.below, c.above}[x] })
		if got := table.Crossings(1, 0); len(got) != 1 || got[0].Sure != c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// surface makes a grid of a function; NaN is what is not known.
func surface(nx, ny int, f func(x, y float64) float64) []stats.Number {
	var values []stats.Number
	for y := range ny {
		for x := range nx {
			v := f(float64(x), float64(y))
			if math.IsNaN(v) {
				values = append(values, stats.Number{})
			} else {
				values = append(values, stats.Number{V: v, OK: true})
			}
		}
	}
	return values
}

func TestContour(t *testing.T) {
	// A plane: one straight line through it, from border to border.
	for _, f := range []func(x, y float64) float64{
		func(x, y float64) float64 { return x + 2*y - 7.3 },
		func(x, y float64) float64 { return y - x + 0.25 },
		func(x, _ float64) float64 { return 3.5 - x },
		func(_, y float64) float64 { return y - 2.5 },
		func(x, _ float64) float64 { return x - 3 }, // through the points themselves
		func(x, y float64) float64 { return x - y }, // and across the squares
	} {
		lines := contour(surface(8, 6, f), 8)
		if len(lines) != 1 {
			t.Errorf("%d lines through a plane: %v", len(lines), lines)
			continue
		}
		for _, p := range lines[0] {
			if math.Abs(f(p.X, p.Y)) > 1e-9 {
				t.Errorf("the plane is %v at %v", f(p.X, p.Y), p)
			}
		}
		for _, p := range []Place{lines[0][0], lines[0][len(lines[0])-1]} {
			if p.X > 1e-9 && p.X < 7-1e-9 && p.Y > 1e-9 && p.Y < 5-1e-9 {
				t.Errorf("the line ends at %v", p)
			}
		}
	}
	// A circle: closed, and about as long as it should be.
	lines := contour(surface(21, 21, func(x, y float64) float64 { return 49 - (x-10)*(x-10) - (y-10)*(y-10) }), 21)
	if len(lines) != 1 || lines[0][0] != lines[0][len(lines[0])-1] {
		t.Fatalf("%v", lines)
	}
	length := 0.0
	for i, p := range lines[0][1:] {
		length += math.Hypot(p.X-lines[0][i].X, p.Y-lines[0][i].Y)
	}
	if math.Abs(length-2*math.Pi*7) > 0.5 {
		t.Errorf("a circle of radius 7 is %v round", length)
	}
}

func TestContourCases(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		rows [][]float64 // lowest first
		want string
	}{
		{"gains only", [][]float64{{1, 2}, {3, 4}}, "[]"},
		{"a corner", [][]float64{{-1, 1}, {1, 1}}, "[[{0.5 0} {0 0.5}]]"},
		{"a saddle of losses", [][]float64{{1, -3}, {-3, 1}}, "[[{0.25 0} {0 0.25}] [{1 0.75} {0.75 1}]]"},
		{"a saddle of gains", [][]float64{{3, -1}, {-1, 3}}, "[[{0.75 0} {1 0.25}] [{0 0.75} {0.25 1}]]"},
		{"the other saddle of losses", [][]float64{{-3, 1}, {1, -3}}, "[[{0.75 0} {1 0.25}] [{0 0.75} {0.25 1}]]"},
		{"the other saddle of gains", [][]float64{{-1, 3}, {3, -1}}, "[[{0.25 0} {0 0.25}] [{1 0.75} {0.75 1}]]"},
		{"a loss among gains", [][]float64{{1, 1, 1}, {1, -1, 1}, {1, 1, 1}}, "[[{1 0.5} {0.5 1} {1 1.5} {1.5 1} {1 0.5}]]"},
		{"a gap", [][]float64{{1, -1, 1}, {1, -1, nan}}, "[[{0.5 0} {0.5 1}]]"},
		{"gaps everywhere", [][]float64{{1, nan}, {nan, -1}}, "[]"},
		{"no effect at all", [][]float64{{0, 0}, {0, 0}}, "[]"},
		{"no effect beside gains", [][]float64{{0, 1}, {0, 1}}, "[]"},
		{"no effect beside losses", [][]float64{{0, -1}, {0, -1}}, "[]"},
		{"no effect between gains and losses", [][]float64{{2, 0, -1}, {2, 0, -1}}, "[[{1 0} {1 1}]]"},
	} {
		nx := len(c.rows[0])
		lines := contour(surface(nx, len(c.rows), func(x, y float64) float64 { return c.rows[int(y)][int(x)] }), nx)
		if lines == nil {
			lines = []Line{}
		}
		if got := fmt.Sprint(lines); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// However wild the surface, lines are whole: they end at the border or at gaps, and stay on the map.
func TestContourSound(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		nx, ny := 2+r.IntN(7), 2+r.IntN(7)
		values := surface(nx, ny, func(float64, float64) float64 {
			switch r.IntN(8) {
			case 0:
				return 0
			case 1:
				return math.NaN()
			}
			return r.Float64() - 0.5
		})
		for _, line := range contour(values, nx) {
			if len(line) < 2 {
				t.Fatalf("a line of %d places", len(line))
			}
			for i, p := range line {
				if !(p.X >= 0 && p.X <= float64(nx-1) && p.Y >= 0 && p.Y <= float64(ny-1)) {
					t.Fatalf("%v is not on a map of %d by %d", p, nx, ny)
				}
				if i > 0 && (p == line[i-1] || math.Abs(p.X-line[i-1].X) > 1 || math.Abs(p.Y-line[i-1].Y) > 1) {
					t.Fatalf("a step from %v to %v", line[i-1], p)
				}
			}
		}
	}
}

// What a verdict says of effects in several places.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		runs    int
		effects []float64
		want    string
	}{
		{6, []float64{10, 20}, "elapsed with sm-idle-v2 is 10.0 to 20.0 % lower than with baseline, by wait (means; 6 pairs of runs a point; significant at 2 of 2 points)."},
		{6, []float64{-10, -20}, "elapsed with sm-idle-v2 is 10.0 to 20.0 % higher than with baseline, by wait"},
		{6, []float64{10, -20}, "elapsed with sm-idle-v2 is from 10.0 % lower to 20.0 % higher than with baseline, by wait"},
		{6, []float64{10, 10}, "elapsed with sm-idle-v2 is 10.0 % lower than with baseline, by wait"},
		{6, []float64{0.01, -0.02}, "elapsed with sm-idle-v2 differs significantly from baseline at none of 2 points, by wait (means: -0.0 to +0.0 %; 6 pairs of runs a point)."},
		{3, []float64{10, -20}, "no verdict on sm-idle-v2, for a verdict needs 4 pairs of runs a point and there are 3 (means: -10.0 to +20.0 %)."},
		{3, []float64{math.NaN(), math.NaN()}, "no verdict on sm-idle-v2, for no pair of runs has finished."},
	} {
		table := tableOf(t, sweepOf(t, fmt.Sprint("?runs=", c.runs), "wait=0,1"), func(x, _, _ int) float64 { return c.effects[x] })
		if got := table.Verdict(1); !strings.Contains(got, "simulated: "+c.want) {
			t.Errorf("%v: %s", c.effects, got)
		}
	}
}

// A real one: the effects are those of the scenarios of the points.
func TestSimulated(t *testing.T) {
	s := sweepOf(t, "?bg=pair&numipi=200&runs=6", "c.rq_visit=0,100")
	table := NewTable(s)
	for i, p := range s.Points() {
		r, err := core.Run(p.Scenario, nil)
		if err != nil {
			t.Fatal(err)
		}
		table.Put(i, r)
		if e := table.Effect(i, 1); e.ImprovementPct != r.Compare(1).ImprovementPct {
			t.Errorf("%+v", e)
		}
	}
	if free, dear := table.Effect(0, 1), table.Effect(1, 1); free.Baseline >= dear.Baseline || !dear.Significant {
		t.Errorf("visits of run queues cost nothing: %+v, 100 ns: %+v", free, dear)
	}
}
