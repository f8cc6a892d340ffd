// Package patch is the catalogue of patches. A patch is a switch or several:
// it sets features of the kernel model, part by part, and never names a cost,
// a speed-up, a machine or a workload.
package patch

import (
	"fmt"
	"slices"
	"strings"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/scx"
)

// A Part is a piece of a patch that can be applied alone, to see what it does
// alone. Links name it patch.part.
type Part struct {
	Key  string
	Text string // what it changes, in plain words
	Set  func(*kernel.Features)
}

// A Patch is one version of a change that was posted.
type Patch struct {
	Key      string
	Title    string // its version and its subject as posted, if it was
	Link     string // where it was posted
	Brief    string // what it does, in a sentence
	Story    string // what it changes and why, in plain words
	Fate     string // what became of it
	Show     string // link of a scenario that shows what Fate tells; "" if there is none
	Bases    []string
	Excludes []string // patches that can't be applied together with it
	NeedsSMT bool     // it changes nothing on a machine whose cores have one thread each
	NeedsExt bool     // it changes nothing while no sched_ext scheduler is loaded
	FairOnly bool     // it changes nothing while one is: it is about the fair class, or its balancing
	Parts    []Part
}

// Patches is the catalogue, oldest first within a thread.
var Patches = slices.Concat(placement, reentry, ext)

// Lookup returns the patch that key names, and the parts of it that key
// selects: all for "patch", one for "patch.part".
func Lookup(key string) (*Patch, []Part, error) {
	name, part, one := strings.Cut(key, ".")
	for i := range Patches {
		p := &Patches[i]
		if p.Key != name {
			continue
		}
		if !one {
			return p, p.Parts, nil
		}
		for j := range p.Parts {
			if p.Parts[j].Key == part {
				return p, p.Parts[j : j+1], nil
			}
		}
		return nil, nil, fmt.Errorf("patch %s has no part %q", name, part)
	}
	return nil, nil, fmt.Errorf("no patch %q", name)
}

// Suits says why the patch that key names can do nothing on machine m, where a sched_ext
// scheduler is loaded or none is; nil if it can.
func Suits(m *machine.Machine, loaded bool, key string) error {
	p, _, err := Lookup(key)
	switch {
	case err != nil:
		return err
	case p.NeedsSMT && !m.SMT():
		return fmt.Errorf("%s needs a machine whose cores have more than one thread", p.Key)
	case p.NeedsExt && !loaded:
		var keys []string
		for i := range scx.Schedulers {
			keys = append(keys, scx.Schedulers[i].Key)
		}
		return fmt.Errorf("%s needs a sched_ext scheduler: scx=%s", p.Key, strings.Join(keys, ", "))
	case p.FairOnly && loaded:
		return fmt.Errorf("%s is about the fair class, which has no tasks while a sched_ext scheduler is loaded", p.Key)
	}
	return nil
}

// Apply returns b with the patches that keys name. It fails on an unknown
// key, a key given twice, a patch for another kernel, and patches that
// exclude each other.
func Apply(b kernel.Base, keys []string) (kernel.Base, error) {
	var applied []*Patch
	var parts []*Part
	for _, key := range keys {
		p, own, err := Lookup(key)
		if err != nil {
			return b, err
		}
		if !slices.Contains(p.Bases, b.Key) {
			return b, fmt.Errorf("%s applies to %s, not to %s", p.Key, strings.Join(p.Bases, ", "), b.Key)
		}
		for _, q := range applied {
			if slices.Contains(p.Excludes, q.Key) || slices.Contains(q.Excludes, p.Key) {
				return b, fmt.Errorf("%s and %s exclude each other", q.Key, p.Key)
			}
		}
		applied = append(applied, p)
		for i := range own {
			part := &own[i]
			if slices.Contains(parts, part) {
				return b, fmt.Errorf("%s.%s is given twice", p.Key, part.Key)
			}
			parts = append(parts, part)
			part.Set(&b.Features)
		}
	}
	return b, nil
}
