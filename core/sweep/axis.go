package sweep

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"schedlab/core/kernel"
	"schedlab/core/scenario"
	"schedlab/core/sim"
	"schedlab/core/workload"
)

// An Axis is a key of a scenario's link and the values that a sweep gives it:
// a constant of the model (c.<cost>) or a parameter of the workload whose
// values are numbers.
type Axis struct {
	Key    string
	Values []string // as links have them; ascending and distinct, once New or ParseAxis has seen them
}

// Limits of an axis.
const (
	MinPoints = 2
	MaxPoints = 64
	maxSpec   = 4 << 10 // bytes of an axis's text
)

const specForm = "KEY=VALUE,VALUE,… or KEY=FROM..TO/POINTS, such as c.rq_visit=0..120/7, or with log at the end for equal ratios"

// String writes the axis as ParseAxis reads it, value by value: "c.rq_visit=15,30,45".
func (a Axis) String() string { return a.Key + "=" + strings.Join(a.Values, ",") }

// ParseAxis reads the text of an axis, for a sweep of base, in one of these
// forms:
//
//	c.rq_visit=15,30,45      these values
//	c.rq_visit=0..120/7      seven values at equal distances, both ends included
//	numipi=100..100000/4log  four values at equal ratios
//
// Constants are in nanoseconds, with up to three decimals; parameters are
// whole numbers. Values of a range are rounded to that. They come ascending, and each
// only once, so there can be fewer than asked for.
//
// The error is a scenario.Problem.
func ParseAxis(base scenario.Scenario, spec string) (Axis, error) {
	spec = strings.TrimSpace(spec)
	key, text, ok := strings.Cut(spec, "=")
	switch {
	case len(spec) > maxSpec:
		return Axis{}, scenario.Problem{Key: "axis", Value: spec, Want: fmt.Sprintf("at most %d bytes, not %d", maxSpec, len(spec))}
	case !ok || key == "" || text == "":
		return Axis{}, scenario.Problem{Key: "axis", Value: spec, Want: specForm}
	}
	k, err := kindOf(base, key)
	if err != nil {
		return Axis{}, err
	}
	a := Axis{key, strings.Split(text, ",")}
	if from, rest, ok := strings.Cut(text, ".."); ok {
		a.Values, err = k.between(key, text, from, rest)
	}
	if err != nil {
		return Axis{}, err
	}
	return a.canonical(base)
}

// A kind is what a key's values may be.
type kind struct {
	text  string // what the key stands for
	unit  string
	cost  bool
	names bool  // there is nothing between two of its values
	least int64 // in thousandths for a cost
	most  int64
}

// kindOf says what the values of a key may be in base, or why it can't be an axis.
func kindOf(base scenario.Scenario, key string) (kind, error) {
	bad := func(want string) (kind, error) { return kind{}, scenario.Problem{Key: "axis", Value: key, Want: want} }
	if name, ok := strings.CutPrefix(key, "c."); ok {
		c, known := kernel.LookupCost(name)
		if !known {
			return bad("a constant of the model: c. and " + scenario.OneOf(name, scenario.Costs()))
		}
		return kind{text: kernel.Costs[c].Text, unit: "ns", cost: true, most: int64(kernel.MaxCost)}, nil
	}
	w, err := workload.Lookup(base.Workload)
	if err != nil {
		return bad("an axis of a known workload: w is " + scenario.OneOf(base.Workload, scenario.Workloads()))
	}
	var names []string
	for i := range w.Params {
		p := &w.Params[i]
		if !p.Number() {
			continue
		}
		names = append(names, p.Key)
		if p.Key != key {
			continue
		}
		k := kind{text: p.Help, unit: p.Unit, names: p.Names, least: p.Min, most: p.Max}
		if p.Kind == workload.Bool {
			k.names, k.least, k.most = true, 0, 1
		}
		return k, nil
	}
	for _, other := range workload.Workloads {
		if other.Param(key) >= 0 && other != w {
			return bad(fmt.Sprintf("w=%s with this parameter: %s has none of this name", other.Key, w.Key))
		}
	}
	want := "a constant or a parameter that is a number: " + scenario.OneOf(key, append(names, "c.<cost>"))
	if _, known := kernel.LookupCost(key); known {
		want += "; perhaps c." + key
	}
	return bad(want)
}

func (k kind) want() string {
	if k.cost {
		return fmt.Sprintf("nanoseconds from %s to %s, with up to three decimals", sim.Time(k.least).Nanoseconds(), sim.Time(k.most).Nanoseconds())
	}
	return fmt.Sprintf("a whole number from %d to %d", k.least, k.most)
}

// parse reads a value: of a cost its picoseconds.
func (k kind) parse(text string) (v int64, ok bool) {
	if k.cost {
		var t sim.Time
		t, ok = sim.ParseNanoseconds(text)
		v = int64(t)
	} else {
		var err error
		v, err = strconv.ParseInt(text, 10, 64)
		ok = err == nil
	}
	return v, ok && v >= k.least && v <= k.most
}

func (k kind) format(v int64) string {
	if k.cost {
		return sim.Time(v).Nanoseconds()
	}
	return strconv.FormatInt(v, 10)
}

// between returns the values of a range, of which text is the whole, from its
// beginning, and rest what follows the dots.
func (k kind) between(key, text, from, rest string) ([]string, error) {
	bad := func(want string) ([]string, error) {
		return nil, scenario.Problem{Key: key, Value: text, Want: want}
	}
	to, count, ok := strings.Cut(rest, "/")
	if !ok {
		return bad("the number of points behind the range, as in 0..120/7")
	}
	count, geometric := strings.CutSuffix(count, "log")
	n, err := strconv.Atoi(count)
	if err != nil || n < MinPoints || n > MaxPoints {
		return bad(fmt.Sprintf("%d to %d points", MinPoints, MaxPoints))
	}
	lo, ok1 := k.parse(from)
	hi, ok2 := k.parse(to)
	switch {
	case !ok1 || !ok2:
		return bad("ends that are each " + k.want())
	case lo >= hi:
		return bad("a range from a smaller value to a larger one")
	case geometric && lo == 0:
		return bad("a range from above 0, for equal ratios")
	}
	numbers := linear(lo, hi, n)
	if geometric {
		numbers = geometrically(lo, hi, n)
	}
	values := make([]string, n)
	for i, v := range numbers {
		values[i] = k.format(v)
	}
	return values, nil
}

// linear returns n numbers at equal distances, rounded: all in integers.
func linear(lo, hi int64, n int) []int64 {
	values := make([]int64, n)
	steps := int64(n - 1)
	whole, rest := (hi-lo)/steps, (hi-lo)%steps
	for i := range values {
		values[i] = lo + whole*int64(i) + (rest*int64(i)+steps/2)/steps
	}
	return values
}

// geometrically returns n numbers at equal ratios, rounded. The ratio is found with
// products alone, which are the same bits on every platform, as powers and
// logarithms are not.
func geometrically(lo, hi int64, n int) []int64 {
	least, most := 1.0, float64(hi)/float64(lo)
	for range 100 {
		ratio := (least + most) / 2
		v := float64(lo)
		for range n - 1 {
			v *= ratio
		}
		if v < float64(hi) {
			least = ratio
		} else {
			most = ratio
		}
	}
	values := make([]int64, n)
	v := float64(lo)
	for i := range values {
		values[i] = int64(math.Round(v))
		v *= most
	}
	values[n-1] = hi
	return values
}

// canonical returns the axis with its values as links write them, ascending
// and each only once.
func (a Axis) canonical(base scenario.Scenario) (Axis, error) {
	k, err := kindOf(base, a.Key)
	if err != nil {
		return Axis{}, err
	}
	numbers := make([]int64, 0, len(a.Values))
	for _, text := range a.Values {
		v, ok := k.parse(text)
		if !ok {
			return Axis{}, scenario.Problem{Key: a.Key, Value: text, Want: k.want()}
		}
		numbers = append(numbers, v)
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	if n := len(numbers); n < MinPoints || n > MaxPoints {
		return Axis{}, scenario.Problem{Key: a.Key, Value: strings.Join(a.Values, ","), Want: fmt.Sprintf("%d to %d different values, not %d", MinPoints, MaxPoints, n)}
	}
	values := make([]string, len(numbers))
	for i, v := range numbers {
		values[i] = k.format(v)
	}
	return Axis{a.Key, values}, nil
}

// Numbers returns the values as numbers, for a picture; NaN for what is none.
func (a Axis) Numbers() []float64 {
	numbers := make([]float64, len(a.Values))
	for i, text := range a.Values {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			v = math.NaN()
		}
		numbers[i] = v
	}
	return numbers
}

// Log tells whether the axis is better drawn, and read between its points, on
// a logarithmic scale: its values span a decade or more, and are spaced more evenly
// there.
func (a Axis) Log() bool {
	v := a.Numbers()
	if len(v) < 3 || v[0] <= 0 || v[len(v)-1] < 10*v[0] {
		return false
	}
	// The widest gap, as a part of the whole.
	widest := func(scale func(float64) float64) float64 {
		most := 0.0
		for i := 1; i < len(v); i++ {
			most = max(most, scale(v[i])-scale(v[i-1]))
		}
		return most / (scale(v[len(v)-1]) - scale(v[0]))
	}
	return widest(math.Log) < widest(func(v float64) float64 { return v })
}

// between returns the value at fraction t of the way from value i to the next
// one, on the axis's scale. It has six digits, so that the last bits of
// logarithms, which differ between platforms, don't show.
func (a Axis) between(i int, t float64) float64 {
	v := a.Numbers()
	lo, hi := v[i], v[i+1]
	at := lo + (hi-lo)*t
	if a.Log() {
		at = lo * math.Pow(hi/lo, t)
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(at, 'g', 6, 64), 64)
	if err != nil {
		return at
	}
	return min(max(short, lo), hi)
}
