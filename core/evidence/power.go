package evidence

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// A figure that nothing in the model moves can't disagree with it, and so says nothing. power.csv lists what moves
// a row of each kind, and how far, with each constant of the model at nothing and at four times its value, and with each
// switch thrown, as far as that is beyond what chance does to three runs: TestPower writes it (see there). Where chance is large, what is not listed
// may still move the figure; where all that does is within chance, "chance" is listed, and where nothing has moved it at all, "nothing".

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
func (m *Mover) moves() bool { return m.far() > m.Noise }

func (m *Mover) far() float64 { return max(m.None, -m.None, m.Four, -m.Four) }

// What stands for a mover where there is none.
const (
	nothing = "nothing"
	chance  = "chance"
)

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

// Movers returns what moves a figure of a table beyond chance, the strongest first, and whether nothing moves it at all. The rows of the first
// table that fits are those that hold.
func Movers(key string, figure FigureName) (list []Mover, immovable bool) {
	for _, m := range tried(key, figure) {
		switch m.What {
		case nothing:
			immovable = true
		case chance:
		default:
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b Mover) int { return cmp.Compare(b.far(), a.far()) })
	return list, immovable
}

// drowned tells whether chance is larger than all that moves a figure.
func drowned(key string, figure FigureName) bool {
	return slices.ContainsFunc(tried(key, figure), func(m Mover) bool { return m.What == chance })
}

// tried returns the rows that hold for a figure of a table.
func tried(key string, figure FigureName) (list []Mover) {
	for _, m := range movers() {
		prefix, open := strings.CutSuffix(m.Table, "*")
		if m.Figure == figure && (m.Table == key || open && strings.HasPrefix(key, prefix)) && (len(list) == 0 || list[0].Table == m.Table) {
			list = append(list, m)
		}
	}
	return list
}
