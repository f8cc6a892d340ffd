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
// quarter of them. Spells that all round to nothing are no pattern.
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
		if most == 0 {
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
	states, jiffy := k.m.Idle, k.base.Jiffy()
	predicted := m.predict(k.nextTimer(c) - c.t)
	if len(states) == 1 || m.timer < states[1].Residency && !states[0].Disabled {
		return 0, !states[0].Polling
	}
	// With the tick stopped nothing would end a wrongly shallow state: only the
	// next timer counts. Otherwise a state must not take longer to leave than the
	// CPU will idle (by a tenth of that for each task that waits for I/O; none does).
	latency := predicted
	if c.tick.stopped {
		latency = sim.Never
		if predicted < jiffy {
			predicted = m.timer
		}
	}
	state, deeper := k.deepest(predicted, latency)
	if states[state].Polling && deeper >= 0 && states[deeper].Exit <= latency && states[deeper].Residency <= m.timer {
		state = deeper // rather a state a little too deep than to spin
		predicted = states[state].Residency
	}
	return state, !states[state].Polling && predicted >= jiffy
}

// predict returns how long the CPU will be idle when the next timer, the tick left
// out, is so far away.
func (m *menu) predict(timer sim.Time) sim.Time {
	predicted := sim.Never
	if us, ok := m.typical(); ok {
		predicted = sim.Time(us) * sim.Microsecond
	}
	m.timer, m.bucket = sim.Never, menuBuckets-1
	if predicted > menuLong {
		m.timer, m.bucket = timer, menuBucket(timer)
		predicted = min(predicted, timer/menuUnity*sim.Time(m.factor[m.bucket]))
	}
	return predicted
}

// deepest returns the deepest enabled state that fits both limits, at least the
// shallowest, and the next one if that is too deep for the prediction, else -1.
func (k *Kernel) deepest(predicted, latency sim.Time) (state, deeper int) {
	state = -1
	for i := range k.m.Idle {
		s := &k.m.Idle[i]
		switch {
		case s.Disabled:
		case state >= 0 && s.Residency > predicted:
			return state, i
		case state >= 0 && s.Exit > latency:
			return state, -1
		default:
			state = i
		}
	}
	return state, -1
}

// menuReflect learns from the last idle spell.
func (k *Kernel) menuReflect(c *cpu) {
	m := &c.menu
	s := &k.m.Idle[c.idle.state]
	spell := c.idle.spell
	switch {
	case m.tickWoke && m.timer > k.base.Jiffy():
		spell = menuTickSpell
	case s.Polling && c.idle.timedOut:
		spell = m.timer
	case spell > 2*s.Exit:
		spell -= s.Exit // which was not idle time
	default:
		spell /= 2
	}
	m.tickWoke = false
	spell = min(spell, m.timer)
	f := m.factor[m.bucket]
	f -= f / 8
	switch {
	case m.timer > 0 && spell < menuClip:
		f += int32(1024 * spell / m.timer)
	default:
		f += 1024
	}
	m.factor[m.bucket] = max(f, 1)
	m.intervals[m.next] = int32(min(spell/sim.Microsecond, 1<<31-1))
	m.next = (m.next + 1) % menuIntervals
}
