package evidence

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// A figure that nothing in the model moves can't disagree with it, and so says nothing. power.csv lists what moves
// a row of each kind, and how far, with each constant of the model at nothing and at four times its value, and with each
// switch thrown: TestPower writes it (see there), with the model that it names.

//go:embed power.csv
var powerCSV string

// A Mover is a constant or a switch that moves a figure.
type Mover struct {
	Table  string // a key, which may end in *
	Figure FigureName
	What   string  // "pipe_write", "bg=quiet"
	None   float64 // the figure's change, in percent or in points, with the constant at 0 or the switch thrown
	Four   float64 // with the constant at four times its value; 0 for a switch
	Noise  float64 // what changes of the random numbers alone come to
}

// moves tells whether it does, beyond chance.
func (m *Mover) moves() bool { return max(m.None, -m.None, m.Four, -m.Four) > m.Noise }

// movers reads power.csv.
var movers = sync.OnceValue(func() (list []Mover) {
	for line := range strings.Lines(powerCSV) {
		f := strings.Split(strings.TrimSpace(line), ",")
		if len(f) != 6 || f[0] == "table" {
			continue
		}
		list = append(list, Mover{f[0], FigureName(f[1]), f[2], parse(f[3]), parse(f[4]), parse(f[5])})
	}
	return list
})

// Movers returns what moves a figure of a table, the strongest first, and whether that was looked for.
func Movers(key string, figure FigureName) (list []Mover, known bool) {
	for _, m := range movers() {
		prefix, open := strings.CutSuffix(m.Table, "*")
		if m.Figure != figure || m.Table != key && !(open && strings.HasPrefix(key, prefix)) {
			continue
		}
		known = true
		if m.moves() {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b Mover) int {
		x, y := max(a.None, -a.None, a.Four, -a.Four), max(b.None, -b.None, b.Four, -b.Four)
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return list, known
}
