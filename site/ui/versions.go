package ui

import "fmt"

// Versions are the versions of the page that there are.
type Versions struct {
	This  Build
	Kept  *Build // for the time without a network; nil: none
	Why   string // there is none, if it is known
	Newer *Build // that is ready to take over; nil: none
	Take  func() // has it take over

	put bool // off, by the visitor
}

// A Build is one version of the page.
type Build struct {
	Name  string
	Model int
}

func (b Build) String() string { return fmt.Sprintf("Version %s, model %d", b.Name, b.Model) }

// label names a button that leads to it.
func (b Build) label() string { return fmt.Sprintf("Reload as version %s, model %d", b.Name, b.Model) }
