package kernel

import (
	"testing"

	"schedlab/core/machine"
	"schedlab/core/sim"
)

func TestMenuTypical(t *testing.T) {
	for _, c := range []struct {
		spells [menuIntervals]int32 // µs
		want   int64
		ok     bool
	}{
		{[8]int32{100, 100, 100, 100, 100, 100, 100, 100}, 100, true},
		{[8]int32{100, 110, 90, 105, 95, 100, 108, 92}, 100, true},
		{[8]int32{0, 0, 0, 0, 0, 0, 0, 0}, 0, false}, // nothing is no pattern
		{[8]int32{0, 0, 0, 1, 0, 0, 0, 0}, 0, true},  // but next to nothing is one
		{[8]int32{100, 100, 100, 100, 100, 100, 9000, 9000}, 100, true},
		{[8]int32{100, 200, 300, 100, 250, 9000, 9000, 9000}, 0, false}, // more than a quarter would be left out
		{[8]int32{1, 500, 20, 9000, 70, 3000, 250, 12000}, 0, false},
		{[8]int32{600, 600, 600, 600, 900, 600, 600, 600}, 637, true}, // avg² > 36 variance
	} {
		m := menu{intervals: c.spells}
		if got, ok := m.typical(); got != c.want || ok != c.ok {
			t.Errorf("typical of %v = %d, %v, want %d, %v", c.spells, got, ok, c.want, c.ok)
		}
	}
}

// idle states: POLL, a shallow one of 2 µs, a deep one of 100 µs.
func menuMachine(t *testing.T) *machine.Machine {
	m := *small(t)
	m.Idle = []machine.IdleState{
		{Name: "POLL", Polling: true},
		{Name: "C1", Monitor: true, Exit: 2 * sim.Microsecond, Residency: 2 * sim.Microsecond},
		{Name: "C6", Exit: 100 * sim.Microsecond, Residency: 300 * sim.Microsecond},
	}
	return &m
}

func TestMenuSelect(t *testing.T) {
	const ms, us = sim.Millisecond, sim.Microsecond
	for _, c := range []struct {
		name    string
		spell   int32 // µs, all eight
		stopped bool
		timer   sim.Time // away; 0: none
		state   int
		stop    bool
	}{
		{"a short spell and a running tick: polling, for leaving C1 takes longer", 1, false, 0, 0, false},
		{"3 µs pay for C1", 3, false, 0, 1, false},
		{"a short spell and a stopped tick: the next timer alone counts", 1, true, 0, 2, true},
		{"200 µs do not pay for C6", 200, false, 0, 1, false},
		{"500 µs do", 500, false, 0, 2, false},
		{"long spells stop the tick", 9000, false, 0, 2, true},
		{"long spells, but a timer is near", 9000, false, 50 * us, 1, false},
		{"a timer within C1's residency: nothing else is considered", 9000, false, us, 0, false},
		{"a timer beyond the next tick", 9000, false, 20 * ms, 2, true},
	} {
		k := newKernel(t, menuMachine(t), Features{}, 0)
		cpu := &k.cpus[0]
		for i := range cpu.menu.intervals {
			cpu.menu.intervals[i] = c.spell
		}
		cpu.tick.stopped = c.stopped
		cpu.t = sim.Second
		if c.timer > 0 {
			cpu.tick.timers.add(cpu.t + c.timer)
		}
		state, stop := k.menuSelect(cpu)
		if state != c.state || !c.stopped && stop != c.stop {
			t.Errorf("%s: state %s, stop the tick: %v; want %s, %v", c.name, k.m.Idle[state].Name, stop, k.m.Idle[c.state].Name, c.stop)
		}
	}
}

func TestMenuReflect(t *testing.T) {
	const ms, us = sim.Millisecond, sim.Microsecond
	for _, c := range []struct {
		name     string
		state    int8
		spell    sim.Time
		timer    sim.Time
		tickWoke bool
		timedOut bool
		learns   int32 // µs
	}{
		{"the exit is not idle time", 1, 10 * us, sim.Never, false, false, 8},
		{"a spell hardly longer than its exit counts half", 1, 3 * us, sim.Never, false, false, 1},
		{"polling has no exit", 0, 10 * us, sim.Never, false, false, 10},
		{"a spell that the tick ended counts as long", 1, 3 * ms, sim.Second, true, false, 45000},
		{"not if a timer would have ended it too", 1, 3 * ms, 3 * ms, true, false, 2998},
		{"polling to its limit counts as up to the timer", 0, 250 * us, 7 * ms, false, true, 7000},
		{"no longer than to the timer", 1, 10 * ms, 5 * ms, false, false, 5000},
	} {
		k := newKernel(t, menuMachine(t), Features{}, 0)
		cpu := &k.cpus[0]
		m := &cpu.menu
		m.timer, m.bucket, m.tickWoke = c.timer, 2, c.tickWoke
		cpu.idle.state, cpu.idle.spell, cpu.idle.timedOut = c.state, c.spell, c.timedOut
		at := m.next
		k.menuReflect(cpu)
		if got := m.intervals[at]; got != c.learns {
			t.Errorf("%s: learnt %d µs, want %d", c.name, got, c.learns)
		}
	}
	// The correction factor of a bucket goes down if timers there are never reached.
	k := newKernel(t, menuMachine(t), Features{}, 0)
	cpu := &k.cpus[0]
	for range 100 {
		cpu.menu.timer, cpu.menu.bucket = 10*ms, 4
		cpu.idle.state, cpu.idle.spell = 0, ms
		k.menuReflect(cpu)
	}
	if f := cpu.menu.factor[4]; f < menuUnity/12 || f > menuUnity/8 {
		t.Errorf("the factor is %d of %d after spells of a tenth of the timer", f, menuUnity)
	}
}

func TestPollLimit(t *testing.T) {
	for _, c := range []struct{ residency, want sim.Time }{
		{2 * sim.Microsecond, sim.Second / 250 / 16}, // too short to count
		{20 * sim.Microsecond, 20 * sim.Microsecond},
		{sim.Second, sim.Second / 250 / 16},
	} {
		m := menuMachine(t)
		m.Idle[1].Residency = c.residency
		m.Idle[2].Disabled = true
		k := newKernel(t, m, Features{}, 0)
		if got := k.pollLimit(); got != c.want {
			t.Errorf("with a state of %s above it, polling ends after %s, want %s", c.residency, got, c.want)
		}
	}
}

// Polling that no signal has ended has reached its limit.
func TestPollTimesOut(t *testing.T) {
	for _, signalled := range []bool{false, true} {
		k := newKernel(t, menuMachine(t), Features{}, 0)
		c := &k.cpus[0]
		c.frame[0].waiting = false
		c.idle.state, c.idle.phase, c.needResched = 0, idlePolling, signalled
		k.idleStateLeave(c)
		if c.idle.timedOut == signalled {
			t.Errorf("signalled %v: timed out %v", signalled, c.idle.timedOut)
		}
	}
}
