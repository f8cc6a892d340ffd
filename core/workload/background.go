package workload

import (
	"fmt"

	"schedlab/core/kernel"
	"schedlab/core/machine"
)

// A Background is what else runs on the machine: a list of tasks, and nothing
// but tasks, so that whatever state it leaves in the kernel comes out of the
// kernel's own rules.
type Background struct {
	Key   string // how links name it
	Title string
	Note  string
	Tasks func(*machine.Machine) []kernel.TaskSpec
}

// LookupBackground returns the background with this key.
func LookupBackground(key string) (*Background, error) {
	for i := range Backgrounds {
		if Backgrounds[i].Key == key {
			return &Backgrounds[i], nil
		}
	}
	return nil, fmt.Errorf("no background %q", key)
}
