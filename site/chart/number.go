package chart

import (
	"math"
	"strconv"
	"strings"
)

// space joins a number and its unit.
const space = "\u00a0"

// minus is the sign of negative numbers, as wide as a plus.
const minus = "−"

// Time writes nanoseconds with the unit that fits and three significant
// digits, or four from 1000: "905 ns", "3.11 µs", "1.25 s".
func Time(ns float64) string {
	v, unit := timeUnit(ns)
	return digits(v, 3) + space + unit
}

// timeUnit splits nanoseconds into a value from 1 to 1000, where there is a
// unit for that, and its unit.
func timeUnit(ns float64) (v float64, unit string) {
	switch a := math.Abs(ns); {
	case a < 999.5:
		return ns, "ns"
	case a < 999.5e3:
		return ns / 1e3, "µs"
	case a < 999.5e6:
		return ns / 1e6, "ms"
	}
	return ns / 1e9, "s"
}

// tickTime writes a round number of nanoseconds in as few digits as say it.
func tickTime(ns float64) string {
	v, unit := timeUnit(ns)
	return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64) + space + unit
}

// Figure writes a number with four significant digits, or all before the
// point, in groups of three: "0.2500", "905.1", "787,669".
func Figure(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return group(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return digits(v, 4)
}

// Signed is Figure with a sign, unless v is 0.
func Signed(v float64) string {
	if v > 0 {
		return "+" + Figure(v)
	}
	return Figure(v)
}

// Tenths writes a number with one decimal, "1,268.6", but from 100,000 with
// none, and "< 0.1" for what would be taken for nothing.
func Tenths(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v > 0 && v < 0.05:
		return "<" + space + "0.1"
	case math.Abs(v) >= 99999.95:
		return group(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return group(strconv.FormatFloat(v, 'f', 1, 64))
}

// SignedTenths is a difference with one decimal and a sign, unless it rounds to 0.
func SignedTenths(v float64) string {
	if math.Abs(v) < 0.05 {
		return "0"
	}
	if v > 0 {
		return "+" + Tenths(v)
	}
	return Tenths(v)
}

// Percent writes a percentage with one decimal: "70.9 %".
func Percent(v float64) string { return group(strconv.FormatFloat(v, 'f', 1, 64)) + space + "%" }

// SignedPercent is Percent with a sign, unless v rounds to 0.
func SignedPercent(v float64) string {
	if v >= 0.05 {
		return "+" + Percent(v)
	}
	return strings.Replace(Percent(v), minus+"0.0", "0.0", 1)
}

// Count writes a large number short: "950", "14.2 M".
func Count(n uint64) string {
	v := float64(n)
	for _, unit := range []string{"", "k", "M", "G", "T"} {
		if v < 999.5 || unit == "T" {
			if unit == "" {
				return strconv.FormatUint(n, 10)
			}
			return digits(v, 3) + space + unit
		}
		v /= 1000
	}
	panic("unreachable")
}

// digits writes v with n significant digits, or all before the point.
func digits(v float64, n int) string {
	decimals := 0
	if v != 0 {
		decimals = min(max(n-1-int(math.Floor(math.Log10(math.Abs(v)))), 0), 6)
		// 9.996 has a digit more once it is rounded.
		if rounded := round(v, decimals); decimals > 0 && math.Abs(rounded) >= math.Pow10(n-decimals) {
			decimals--
		}
	}
	return group(strconv.FormatFloat(v, 'f', decimals, 64))
}

func round(v float64, decimals int) float64 {
	p := math.Pow10(decimals)
	return math.Round(v*p) / p
}

// group puts commas between thousands and the sign of its width before them.
func group(s string) string {
	s, negative := strings.CutPrefix(s, "-")
	whole, rest, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	if negative && strings.Trim(whole, "0.,") != "" {
		return minus + whole
	}
	return whole
}
