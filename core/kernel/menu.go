package kernel

import "schedlab/core/sim"

// The menu governor as 6.11 has it: it predicts how long the CPU will be idle
// from the last eight idle spells and, if those say "long", from the next timer.

const (
	menuIntervals = 8
	menuBuckets   = 6
	menuUnity     = 1024 * 8             // the correction factor 1
	menuLong      = 15 * sim.Microsecond // predictions below do not ask for the next timer
	menuClip      = 50 * sim.Millisecond // longer spells do not teach the correction factor
	menuTickSpell = menuClip * 9 / 10    // what a spell that the tick ended counts as
	menuSteady    = 20                   // µs: a standard deviation that counts as a pattern
)

type menu struct {
	intervals [menuIntervals]int32 // µs
	next      int
	factor    [menuBuckets]int32 // correction of the time to the next timer
	bucket    int
	timer     sim.Time // time to the next timer at the last choice; sim.Never: not asked for
	tickWoke  bool
}

// init draws an idle history: spells between a tick and half a second, as on
// a machine where little happens.
func (m *menu) init(k *Kernel) {
	for i := range m.intervals {
		m.intervals[i] = int32(k.initial.Between(4*sim.Millisecond, 500*sim.Millisecond) / sim.Microsecond)
	}
	for i := range m.factor {
		m.factor[i] = menuUnity
	}
	m.timer = sim.Never
}

func menuBucket(d sim.Time) int {
	b := 0
	for lim := 10 * sim.Microsecond; b < menuBuckets-1 && d >= lim; lim *= 10 {
		b++
	}
	return b
}

// typical returns the length that the last idle spells had in common, in µs, or
// false if they had none. Spells far above the others are left out, up to a
// quarter of them.
func (m *menu) typical() (int64, bool) {
	limit := int64(1<<31 - 1)
	for {
		var n, sum, most int64
		for _, v := range m.intervals {
			if v := int64(v); v <= limit {
				n++
				sum += v
				most = max(most, v)
			}
		}
		if n == 0 {
			return 0, false
		}
		avg := sum / n
		var sq int64
		for _, v := range m.intervals {
			if v := int64(v); v <= limit {
				sq += (v - avg) * (v - avg)
			}
		}
		variance := sq / n
		if avg*avg > 36*variance && 4*n >= 3*menuIntervals || variance <= menuSteady*menuSteady {
			return avg, true
		}
		if 4*n <= 3*menuIntervals {
			return 0, false
		}
		limit = most - 1
	}
}

// menuSelect returns the idle state for c, and whether to stop the tick.
func (k *Kernel) menuSelect(c *cpu) (state int, stopTick bool) {
	m := &c.menu
	predicted := sim.Never
	if us, ok := m.typical(); ok {
		predicted = sim.Time(us) * sim.Microsecond
	}
	m.timer, m.bucket = sim.Never, menuBuckets-1
	if predicted > menuLong {
		m.timer = k.nextTimer(c) - c.t
		m.bucket = menuBucket(m.timer)
		expected := m.timer
		if m.timer < 1<<40 { // above, the product would overflow and the factor is near 1
			expected = m.timer * sim.Time(m.factor[m.bucket]) / menuUnity
		}
		predicted = min(predicted, expected)
	}
	states := k.m.Idle
	jiffy := k.base.Jiffy()
	if len(states) == 1 || m.timer < states[1].Residency && !states[0].Disabled {
		return 0, !states[0].Polling
	}
	latency := sim.Never
	if c.tick.stopped {
		// A wrong short prediction would leave the CPU in a shallow state for
		// long, with no tick to bring it out.
		if predicted < jiffy {
			predicted = m.timer
		}
	} else {
		latency = predicted // divided by 1 + 10 for every task that waits for I/O: none does
	}
	state = -1
	for i := range states {
		s := &states[i]
		if s.Disabled {
			continue
		}
		if state == -1 {
			state = i
		}
		if s.Residency > predicted {
			// Polling is left for a real state if the wait may be worth it.
			if states[state].Polling && s.Exit <= latency && s.Residency <= m.timer {
				predicted = s.Residency
				state = i
			}
			break
		}
		if s.Exit > latency {
			break
		}
		state = i
	}
	if state == -1 {
		state = 0
	}
	if states[state].Polling || predicted < jiffy {
		return state, false
	}
	return state, true
}

// menuReflect learns from an idle spell.
func (k *Kernel) menuReflect(c *cpu, spell sim.Time) {
	m := &c.menu
	s := &k.m.Idle[c.idle.state]
	if m.tickWoke && m.timer != sim.Never && m.timer > k.base.Jiffy() {
		spell = menuTickSpell
	} else if !s.Polling {
		// The exit was not idle time.
		if spell > 2*s.Exit {
			spell -= s.Exit
		} else {
			spell /= 2
		}
	}
	m.tickWoke = false
	spell = min(spell, m.timer)
	f := m.factor[m.bucket]
	f -= f / 8
	switch {
	case m.timer > 0 && spell < menuClip && m.timer != sim.Never:
		f += int32(1024 * spell / m.timer)
	default:
		f += 1024
	}
	m.factor[m.bucket] = max(f, 1)
	m.intervals[m.next] = int32(min(spell/sim.Microsecond, 1<<31-1))
	m.next = (m.next + 1) % menuIntervals
}
