package chart

import (
	"math"
	"slices"
)

// A Log is a logarithmic axis: from Lo to Hi, both above 0, over the pixels
// from Left to Right.
type Log struct {
	Lo, Hi      float64
	Left, Right float64
}

// At returns the pixel of v, held within the axis.
func (l Log) At(v float64) float64 {
	if v <= l.Lo {
		return l.Left
	}
	if v >= l.Hi {
		return l.Right
	}
	return l.Left + (l.Right-l.Left)*math.Log(v/l.Lo)/math.Log(l.Hi/l.Lo)
}

// A Tick is a place on an axis. Only major ones carry a label.
type Tick struct {
	V     float64
	Major bool
}

// Ticks returns ascending places at 1, 2 and 5 times powers of ten, or, where
// the axis is too short for three of those, at round steps between. Labels of
// labelWidth pixels fit at the major ones without touching each other. Where
// there is room, there are ticks at all nine multiples.
func (l Log) Ticks(labelWidth float64) []Tick {
	ticks := l.decades()
	majors := 0
	for _, t := range ticks {
		if t.Major {
			majors++
		}
	}
	if majors < 3 {
		ticks = l.linear(max(int((l.Right-l.Left)/labelWidth/1.5), 1))
	}
	// Powers of ten get their labels first, then fives, twos, threes and the
	// rest, each with more room about them than those before.
	var taken []float64
	for rank, digits := range [][]float64{{1}, {5}, {2}, {3}, {0, 4, 6, 7, 8, 9}} {
		for i := range ticks {
			t := &ticks[i]
			if !slices.Contains(digits, leading(t.V)) {
				continue
			}
			x, apart := l.At(t.V), labelWidth+8+float64(rank)*8
			t.Major = !slices.ContainsFunc(taken, func(other float64) bool { return math.Abs(x-other) < apart })
			if t.Major {
				taken = append(taken, x)
			}
		}
	}
	return ticks
}

func (l Log) decades() []Tick {
	var ticks []Tick
	minor := (l.Right-l.Left)/math.Log10(l.Hi/l.Lo) > 60 // pixels of a decade
	for e := int(math.Floor(math.Log10(l.Lo))); e <= int(math.Ceil(math.Log10(l.Hi))); e++ {
		for d := 1; d <= 9; d++ {
			v := float64(d) * math.Pow10(e)
			major := d == 1 || d == 2 || d == 5
			if v >= l.Lo*(1-1e-9) && v <= l.Hi*(1+1e-9) && (major || minor) {
				ticks = append(ticks, Tick{v, major})
			}
		}
	}
	return ticks
}

// linear returns at most about n places at equal round steps.
func (l Log) linear(n int) []Tick {
	step := roundStep((l.Hi - l.Lo) / float64(n))
	var ticks []Tick
	for i := math.Ceil(l.Lo / step * (1 - 1e-9)); i*step <= l.Hi*(1+1e-9); i++ {
		ticks = append(ticks, Tick{i * step, true})
	}
	return ticks
}

// roundStep returns the smallest of 1, 2 and 5 times a power of ten that is
// not below v.
func roundStep(v float64) float64 {
	p := math.Pow10(int(math.Floor(math.Log10(v))))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*p >= v*(1-1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// leading returns the first digit of v if it is all there is to it, else 0.
func leading(v float64) float64 {
	d := v / math.Pow10(int(math.Floor(math.Log10(v)+1e-9)))
	if r := math.Round(d); math.Abs(d-r) < 1e-6 {
		return r
	}
	return 0
}
