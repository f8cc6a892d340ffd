package ui

// Folds remembers how the visitor has the page: which parts are folded away, and which of
// several things a part shows. All go by names. The zero value has everything as
// it is by default.
type Folds struct {
	open    map[string]bool
	chosen  map[string]string
	version uint64 // counts changes
}

// Open tells whether a part is open; def is how it begins.
func (f *Folds) Open(name string, def bool) bool {
	if open, ok := f.open[name]; ok {
		return open
	}
	return def
}

// Keep opens a part that nobody has folded away, for good.
func (f *Folds) Keep(name string) {
	if _, ok := f.open[name]; !ok {
		f.Toggle(name, false)
	}
}

// Toggle opens or closes a part.
func (f *Folds) Toggle(name string, def bool) {
	if f.open == nil {
		f.open = map[string]bool{}
	}
	f.open[name] = !f.Open(name, def)
	f.version++
}

// Chosen returns what a part shows; "" if nothing was chosen.
func (f *Folds) Chosen(name string) string { return f.chosen[name] }

// Choose has a part show something.
func (f *Folds) Choose(name, what string) {
	if f.chosen == nil {
		f.chosen = map[string]string{}
	}
	f.chosen[name] = what
	f.version++
}
