package ui

// Parts are parts of the answer.
type Parts uint8

// The parts.
const (
	verdict Parts = 1 << iota
	histogram
	account
	calls
	statistics
	published
	counters
	everyPart Parts = 1<<iota - 1
)

// turns are the parts that take turns while results stream, so that no render
// takes long: the tables are a second old at most.
var turns = []Parts{account, statistics, calls | counters, published}

// has tells whether some of the other parts are among them.
func (p Parts) has(other Parts) bool { return p&other != 0 }

// scrolls tells whether a table of so many arms may be wider than there is room in an answer of
// that width. Then it must be possible to come to it by keyboard, so that it
// can be scrolled.
func scrolls(arms int, width float64) bool { return arms > 2 || width < 900 }
