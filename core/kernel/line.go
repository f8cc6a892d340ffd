package kernel

import (
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// A line is a cache line that CPUs fight over: the last CPU that wrote it and
// one other that has read it since. What an access costs follows from who
// touched it last. That is a simplification of MESI that is exact for two
// CPUs; with more readers it forgets all but the latest.
type line struct {
	owner, reader int16
	draw          int16 // where in the range of latencies this line lies in this run, 0 to 1023
}

const drawn = 1024

// newLine returns a line in the cache of cpu. Its place in the range of
// latencies is drawn per run: which slice of the cache it hashes to is luck.
func (k *Kernel) newLine(cpu int) line {
	return line{int16(cpu), -1, int16(k.noise.Below(drawn))}
}

// spread returns the value at the draw-th of 1024 steps through f's range,
// with the median in the middle.
func spread(f *machine.Figure, draw int16) sim.Time {
	d := sim.Time(draw)
	if d < drawn/2 {
		return f.Lo + (f.Mid-f.Lo)*d/(drawn/2)
	}
	return f.Mid + (f.Hi-f.Mid)*(d-drawn/2)/(drawn/2)
}

func (k *Kernel) transfer(l *line, a, b int16) sim.Time {
	dist := k.m.Distance(int(a), int(b))
	t := spread(&k.m.Line[dist], l.draw)
	if dist > machine.SameCore {
		t = t * sim.Time(k.uncore) / 100
	}
	return t
}

// flight returns how long an interrupt from a takes to reach CPU b.
func (k *Kernel) flight(a, b *cpu) sim.Time {
	return k.jitter(a, spread(&k.m.IPI[k.m.Distance(int(a.id), int(b.id))], b.flags.draw)*sim.Time(k.uncore)/100)
}

// read returns what reading l costs cpu.
func (k *Kernel) read(l *line, cpu int16) sim.Time {
	if l.owner == cpu || l.reader == cpu {
		return k.m.Line[machine.SameCPU].Mid
	}
	l.reader = cpu
	return k.transfer(l, l.owner, cpu)
}

// write returns what an atomic write to l costs cpu.
func (k *Kernel) write(l *line, cpu int16) sim.Time {
	other := l.owner
	if other == cpu {
		other = l.reader
	}
	l.owner, l.reader = cpu, -1
	if other < 0 || other == cpu {
		return k.m.Line[machine.SameCPU].Mid
	}
	return k.transfer(l, cpu, other)
}

// store writes l from a store buffer, which costs cpu nothing, and returns how
// much later a CPU that spins on the line sees it.
func (k *Kernel) store(l *line, cpu, spinner int16) sim.Time {
	l.owner, l.reader = cpu, spinner
	return k.transfer(l, cpu, spinner)
}

// A stateLine is the cache line of a run queue that says whether its CPU is idle. Most
// CPUs only read it, so unlike a line it remembers all that have since its last write.
type stateLine struct {
	line
	readers []uint64 // by core, whose threads share the nearest caches, a bit each
}

// readState returns what reading s costs cpu.
func (k *Kernel) readState(s *stateLine, cpu int16) sim.Time {
	core := k.m.CPUs[cpu].Core
	word, bit := &s.readers[core>>6], uint64(1)<<(core&63)
	if s.owner == cpu || *word&bit != 0 {
		return k.m.Line[machine.SameCPU].Mid
	}
	*word |= bit
	s.reader = cpu
	return k.transfer(&s.line, s.owner, cpu)
}

// writeState charges c for writing the state line of target's run queue.
func (k *Kernel) writeState(c, target *cpu, kind TimeKind) {
	s := &target.rq.state
	if s.reader >= 0 {
		clear(s.readers)
	}
	k.charge(c, kind, k.write(&s.line, c.id))
}
