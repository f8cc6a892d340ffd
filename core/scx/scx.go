// Package scx holds sched_ext schedulers: those of the scx repository and of the kernel's own
// examples, as they were in November and December 2024 (scx 1.0.6 to 1.0.8, with Linux 6.12).
//
// They are written from what is documented about them (READMEs, descriptions of pull requests, release
// notes, articles), not from their sources. What the documents leave open follows the simplest rule that
// fits, and a comment or the scheduler's Note says so. Each callback reads the clock as often as that
// scheduler's does.
//
// A scheduler is a plain value of callbacks on what the kernel model lets a scheduler call. It computes
// in integers, and keeps what it knows of tasks in slices that grow as tasks come.
package scx

import (
	"fmt"
	"strings"

	"schedlab/core/kernel"
)

// A Scheduler is one that can be loaded.
type Scheduler struct {
	Key   string // how links name it
	Title string
	Link  string // its documentation
	Brief string // what it does, in a sentence
	Note  string // what is simplified and left out, and which version it is
	Load  func(*kernel.Ext) kernel.ExtOps
}

// Schedulers is the catalogue.
var Schedulers = []Scheduler{lavd, bpfland, rusty, simple, central, flatcg}

// Lookup returns the scheduler with this key.
func Lookup(key string) (*Scheduler, error) {
	keys := make([]string, len(Schedulers))
	for i := range Schedulers {
		if Schedulers[i].Key == key {
			return &Schedulers[i], nil
		}
		keys[i] = Schedulers[i].Key
	}
	return nil, fmt.Errorf("no scheduler %q: there are %s", key, strings.Join(keys, ", "))
}
