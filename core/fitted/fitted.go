// Package fitted has the constants of machines and workloads that no source gives and that were fitted to a
// published figure each: constants.csv, which `schedlab fit -format csv` makes anew. Which figure that is, and how a
// constant was found, is said by the fitting of that name in package evidence; whose constant it is says so too, in its source.
package fitted

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"schedlab/core/sim"
)

//go:embed constants.csv
var file string

// A Constant is one of them.
type Constant struct {
	Of      string // a machine's or a workload's key
	Key     string // a cost or a parameter as links name it, or what the code calls it
	Value   int64
	Unit    string
	Fitting string
}

// Scale is the constant's unit, if that is one of time.
func (c *Constant) Scale() sim.Time {
	switch c.Unit {
	case "ns":
		return sim.Nanosecond
	case "ps":
		return sim.Picosecond
	}
	panic(c.Key + " of " + c.Of + " is no time")
}

// Header is the file's first line.
const Header = "of,constant,value,unit,fitting\n"

// Line is the file's line for c.
func (c *Constant) Line() string {
	return fmt.Sprintf("%s,%s,%d,%s,%s\n", c.Of, c.Key, c.Value, c.Unit, c.Fitting)
}

// Constants lists them.
var Constants = sync.OnceValue(func() (list []Constant) {
	for line := range strings.Lines(file) {
		f := strings.Split(strings.TrimSpace(line), ",")
		if line == Header {
			continue
		}
		v, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			panic(err) // a mistake in the data, which every test finds
		}
		list = append(list, Constant{f[0], f[1], v, f[3], f[4]})
	}
	return list
})

// Value returns a constant, in its unit. It panics if there is none of that name.
func Value(of, key string) int64 { return named(of, key).Value }

// Time returns a constant that is a time.
func Time(of, key string) sim.Time {
	c := named(of, key)
	return sim.Time(c.Value) * c.Scale()
}

func named(of, key string) *Constant {
	for i := range Constants() {
		if c := &Constants()[i]; c.Of == of && c.Key == key {
			return c
		}
	}
	panic(fmt.Sprintf("no constant %s of %s was fitted", key, of))
}
