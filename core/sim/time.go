// Package sim holds what every discrete-event model needs and nothing about
// schedulers: simulated time, an event queue and separate random streams.
//
// Everything here is integer arithmetic, so that a run gives the same bits
// natively and as WebAssembly.
package sim

import (
	"fmt"
	"strconv"
	"strings"
)

// Time is simulated time, or a span of it, in picoseconds.
//
// Picoseconds, because the machines' own units are not whole nanoseconds: a
// POWER9 timebase tick is 1.953 ns and a cycle at 3.4 GHz is 0.294 ns. The
// range of an int64 is then 106 days. Times that are summed over CPUs and runs
// have to share it: hours for a run on hundreds of CPUs.
type Time int64

// Spans.
const (
	Picosecond  Time = 1
	Nanosecond       = 1000 * Picosecond
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
)

// Never is later than every event.
const Never Time = 1<<63 - 1

// String prints t in the largest unit of which it has at least one, with up
// to four significant digits: "1.130 µs".
func (t Time) String() string {
	if t < 0 {
		return "-" + (-t).String()
	}
	switch {
	case t >= Second:
		return fmt.Sprintf("%.4g s", float64(t)/float64(Second))
	case t >= Millisecond:
		return fmt.Sprintf("%.4g ms", float64(t)/float64(Millisecond))
	case t >= Microsecond:
		return fmt.Sprintf("%.4g µs", float64(t)/float64(Microsecond))
	case t >= Nanosecond:
		return fmt.Sprintf("%.4g ns", float64(t)/float64(Nanosecond))
	}
	return strconv.FormatInt(int64(t), 10) + " ps"
}

// Nanoseconds prints t in nanoseconds, exactly: as many decimals as it needs,
// three at most.
func (t Time) Nanoseconds() string {
	sign := ""
	u := uint64(t)
	if t < 0 {
		sign, u = "-", -u
	}
	s := sign + strconv.FormatUint(u/1000, 10)
	if f := u % 1000; f != 0 {
		d := fmt.Sprintf(".%03d", f)
		for d[len(d)-1] == '0' {
			d = d[:len(d)-1]
		}
		s += d
	}
	return s
}

// ParseNanoseconds reads what Nanoseconds prints for times that are not negative: a
// decimal number of nanoseconds, up to 10¹⁵, with up to three decimals.
func ParseNanoseconds(s string) (Time, bool) {
	whole, fraction, point := strings.Cut(s, ".")
	if point && fraction == "" || len(fraction) > 3 || len(whole) > 16 {
		return 0, false
	}
	digits := whole + (fraction + "000")[:3]
	if whole == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	t, err := strconv.ParseInt(digits, 10, 64)
	return Time(t), err == nil
}
