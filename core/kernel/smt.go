package kernel

import "schedlab/core/sim"

// Threads of a core share its units, so that a task computes more slowly while others run on
// the core's other threads. What is computed is carried as the time that it takes on a
// core of its own; the time it takes follows from how many threads are busy, and
// changes when that does. Kernel paths are short, and run at their one pace.

// initCores makes room for the books.
func (k *Kernel) initCores() {
	cores := 0
	for i := range k.m.CPUs {
		cores = max(cores, int(k.m.CPUs[i].Core)+1)
	}
	k.busy = make([]int16, cores)
}

// paced returns the time that work of d takes c's task now.
func (k *Kernel) paced(c *cpu, d sim.Time) sim.Time { return d * k.pace(c, *k.busyOf(c)) / 100 }

// unpaced returns the work that it does in time d.
func (k *Kernel) unpaced(c *cpu, d sim.Time) sim.Time { return d * 100 / k.pace(c, *k.busyOf(c)) }

// busyOf returns how many threads of c's core run tasks.
func (k *Kernel) busyOf(c *cpu) *int16 { return &k.busy[k.m.CPUs[c.id].Core] }

// pace is how long work of c's task takes, in percent, with so many threads of the core busy.
func (k *Kernel) pace(c *cpu, busy int16) sim.Time {
	s := k.m.Sharing.User
	if c.rq.curr != noTask && k.tasks[c.rq.curr].inSyscall {
		s = k.m.Sharing.Kernel
	}
	if busy < 2 || len(s) == 0 {
		return 100
	}
	return sim.Time(s[min(int(busy), len(s))-1])
}

// coreChanged lets the other threads of c's core go on at their new pace, as c begins or
// ends to need the core's units. That happens in a path of CPU by, which knows its own pace.
func (k *Kernel) coreChanged(c, by *cpu, busy bool) {
	n := k.busyOf(c)
	was := *n
	*n += int16(2*b2i(busy) - 1)
	ds := k.m.Domains[c.id]
	if len(ds) == 0 || !ds[0].SMT {
		return
	}
	for _, x := range ds[0].CPUs {
		o := &k.cpus[x]
		if o == c || o == by || o.rq.curr == noTask || o.frame[0].step != stComputed {
			continue
		}
		if a, b := k.pace(o, was), k.pace(o, *n); a != b {
			k.repace(o, a, b)
		}
	}
}

// repace stretches what c's task still has to compute, or shortens it.
func (k *Kernel) repace(c *cpu, was, is sim.Time) {
	f := &c.frame[0]
	if k.tasks[c.rq.curr].till > 0 { // it goes by the clock
		return
	}
	if c.depth == 0 {
		k.settle(c, k.now)
	}
	if f.ledger.n == 0 {
		return
	}
	e := &f.ledger.e[f.ledger.n-1]
	d := e.d*is/was - e.d
	e.d += d
	f.at += d
	if c.depth == 0 {
		k.q.Cancel(f.ev)
		f.ev = k.q.At(f.at, evRun, uint16(c.id), 0)
	}
}
