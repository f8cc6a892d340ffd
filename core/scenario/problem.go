package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Problem is something in a link that a person should hear of. Parse has
// already put something valid in its place.
//
// Key and Value are the user's own text, decoded and with control characters
// spelled out, and may hold anything else: who shows them in HTML escapes them.
type Problem struct {
	Key   string
	Value string // cut if long
	Want  string // what is allowed, to be read after "want"; of a notice, a sentence
	// Notice marks what does not make the link wrong.
	Notice bool
}

// String says the problem in one line: "runs=0: want a whole number from 1 to 1000".
func (p Problem) String() string {
	want := "want "
	if p.Notice {
		want = ""
	}
	return clip(p.Key) + "=" + clip(p.Value) + ": " + want + p.Want
}

// Error is String: a Problem is an error.
func (p Problem) Error() string { return p.String() }

func problem(key, value, want string) Problem {
	return Problem{Key: clip(key), Value: clip(value), Want: want}
}

const maxShown = 80 // bytes of a user's text that a message repeats

// clip makes text fit for a message: not long, and without characters that a
// terminal obeys instead of printing. Clipped text stays as it is.
func clip(s string) string {
	var b []byte
	end := 0 // where to cut, should there be too much
	for _, r := range s {
		if strconv.IsPrint(r) { // so is U+FFFD, which stands for what is not UTF-8
			b = utf8.AppendRune(b, r)
		} else {
			b = append(b, strings.Trim(strconv.QuoteRuneToASCII(r), "'")...)
		}
		if len(b) <= maxShown-len("…") {
			end = len(b)
		}
		if len(b) > maxShown {
			return string(b[:end]) + "…"
		}
	}
	return string(b)
}

// OneOf words the Want of a value that is not among those allowed: it lists
// them, and names the one that was perhaps meant.
func OneOf(value string, allowed []string) string {
	const most = 24
	var b strings.Builder
	if len(allowed) > 1 {
		b.WriteString("one of ")
	}
	b.WriteString(strings.Join(allowed[:min(len(allowed), most)], ", "))
	if len(allowed) > most {
		fmt.Fprintf(&b, ", … (%d in all)", len(allowed))
	}
	if near := nearest(value, allowed); near != "" && len(allowed) > 1 {
		b.WriteString("; perhaps " + near)
	}
	return b.String()
}

// nearest returns the name that value is a slip of the pen away from, or "".
func nearest(value string, names []string) string {
	best, least := "", 3 // edits
	value = strings.ToLower(value)
	for _, name := range names {
		if d := edits(value, strings.ToLower(name)); d < least && d < len(name) {
			best, least = name, d
		}
	}
	return best
}

// edits counts the bytes to insert, delete or replace to get from a to b.
// Long texts count as far apart.
func edits(a, b string) int {
	if len(a) > 40 || len(b) > 40 {
		return len(a) + len(b)
	}
	row := make([]int, len(b)+1) // distance of a[:i] from b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
