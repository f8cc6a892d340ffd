package ui

// Folds remembers which parts of the page are folded away, by name. The zero
// value has all of them as they are by default.
type Folds struct {
	open    map[string]bool
	version uint64 // counts changes
}

// Open tells whether a part is open; def is how it begins.
func (f *Folds) Open(name string, def bool) bool {
	if open, ok := f.open[name]; ok {
		return open
	}
	return def
}

// Toggle opens or closes a part.
func (f *Folds) Toggle(name string, def bool) {
	if f.open == nil {
		f.open = map[string]bool{}
	}
	f.open[name] = !f.Open(name, def)
	f.version++
}
