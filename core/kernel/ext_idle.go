package kernel

import "math/bits"

// Which CPUs are idle, as the ext class tracks it for schedulers. A CPU enters the set when it
// goes idle, and leaves it when it runs a task or when somebody claims it to send a task there: so two
// wakers do not choose the same one.

// A CPUSet is a set of CPUs, one bit each.
type CPUSet []uint64

// NewCPUSet returns a set of CPUs below n that holds those for which in is true.
func NewCPUSet(n int, in func(cpu int) bool) CPUSet {
	s := make(CPUSet, (n+63)/64)
	for i := range n {
		if in(i) {
			s.Add(i)
		}
	}
	return s
}

// Has tells whether the set holds a CPU.
func (s CPUSet) Has(cpu int) bool { return s[cpu/64]>>(cpu%64)&1 != 0 }

// Add puts a CPU into the set.
func (s CPUSet) Add(cpu int) { s[cpu/64] |= 1 << (cpu % 64) }

// Drop takes a CPU out of the set.
func (s CPUSet) Drop(cpu int) { s[cpu/64] &^= 1 << (cpu % 64) }

// none tells whether the set is empty.
func (s CPUSet) none() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// after returns the first CPU from from on that is in both sets (a nil set holds all) and that t may
// run on, around the end of the sets; -1: there is none.
func (s CPUSet) after(from int, in CPUSet, t *task) int {
	word := func(i int) uint64 {
		if in == nil {
			return s[i]
		}
		return s[i] & in[i]
	}
	for n := range len(s) + 1 {
		i := (from/64 + n) % len(s)
		w := word(i)
		switch n {
		case 0:
			w &= ^uint64(0) << (from % 64)
		case len(s):
			w &= 1<<(from%64) - 1
		}
		for ; w != 0; w &= w - 1 {
			if cpu := i*64 + bits.TrailingZeros64(w); t.allows(int16(cpu)) {
				return cpu
			}
		}
	}
	return -1
}

// trackIdle enters c into the sets of idle CPUs, or takes it out.
func (x *Ext) trackIdle(c *cpu, idle bool) {
	if !idle {
		x.idle.Drop(int(c.id))
		x.dropCore(c)
		return
	}
	x.idle.Add(int(c.id))
	for _, t := range x.k.near[c.id].threads {
		if !x.idle.Has(int(t)) {
			return
		}
	}
	for _, t := range x.k.near[c.id].threads {
		x.cores.Add(int(t))
	}
}

// dropCore takes c's core out of the set of idle ones.
func (x *Ext) dropCore(c *cpu) {
	for _, t := range x.k.near[c.id].threads {
		x.cores.Drop(int(t))
	}
}

// look charges for a look at the sets.
func (x *Ext) look() {
	x.k.pay(x.c, TimeExt, CostIdleCheck)
	x.k.charge(x.c, TimeExt, x.k.read(&x.idleLine, x.c.id))
}

// Idle tells whether a CPU is idle and nobody has claimed it.
func (x *Ext) Idle(cpu int) bool {
	x.look()
	return x.idle.Has(cpu)
}

// CoreIdle tells whether all CPUs of a core are idle.
func (x *Ext) CoreIdle(cpu int) bool {
	x.look()
	return x.cores.Has(cpu)
}

// AnyIdle tells whether some CPU is idle.
func (x *Ext) AnyIdle() bool {
	x.look()
	return !x.idle.none()
}

// ClaimIdle tells whether a CPU is idle, and if so claims it: nobody else will take it for idle until it has
// looked for work.
func (x *Ext) ClaimIdle(cpu int) bool {
	x.look()
	if !x.idle.Has(cpu) {
		return false
	}
	x.k.charge(x.c, TimeExt, x.k.write(&x.idleLine, x.c.id))
	x.idle.Drop(cpu)
	x.dropCore(&x.k.cpus[cpu])
	return true
}

// PickIdle claims an idle CPU of the set (nil: any) on which t may run: one whose whole core idles, if there is one, and if
// core is set no other. It returns -1 if there is none.
func (x *Ext) PickIdle(t TaskID, in CPUSet, core bool) int {
	x.k.pay(x.c, TimeExt, CostIdleMask)
	x.look()
	// Each CPU goes on behind the one that it has found last, so that not all find the same.
	cpu := -1
	if core || x.k.smt {
		cpu = x.cores.after(int(x.c.extFound), in, &x.k.tasks[t])
	}
	if cpu < 0 && !core {
		cpu = x.idle.after(int(x.c.extFound), in, &x.k.tasks[t])
	}
	if cpu < 0 {
		return -1
	}
	x.c.extFound = int16((cpu + 1) % len(x.k.cpus))
	x.ClaimIdle(cpu)
	return cpu
}

// SelectDefault chooses a CPU as the kernel does for schedulers without a SelectCPU, and tells whether
// it was idle and has been claimed: the waker's if it is about to sleep, else prev, and CPUs with idle cores first.
func (x *Ext) SelectDefault(t TaskID, prev int, f WakeFlags) (cpu int, idle bool) {
	k := x.k
	tk := &k.tasks[t]
	if f.Sync {
		this := int(x.c.id)
		if k.base.ExtByCache && k.sharesCache(x.c.id, int16(prev)) && tk.allows(int16(prev)) && x.ClaimIdle(prev) {
			return prev, true
		}
		curr := x.c.rq.curr
		if curr != noTask && k.tasks[curr].state != taskExited && x.c.rq.local.n == 0 && tk.allows(x.c.id) && x.AnyIdle() {
			return this, true
		}
	}
	var cache CPUSet
	if k.base.ExtByCache {
		cache = x.caches[prev]
	}
	if k.smt {
		if x.CoreIdle(prev) && x.ClaimIdle(prev) {
			return prev, true
		}
		if cache != nil {
			if cpu = x.PickIdle(t, cache, true); cpu >= 0 {
				return cpu, true
			}
		}
		if cpu = x.PickIdle(t, nil, true); cpu >= 0 {
			return cpu, true
		}
	}
	if x.ClaimIdle(prev) {
		return prev, true
	}
	if cache != nil {
		if cpu = x.PickIdle(t, cache, false); cpu >= 0 {
			return cpu, true
		}
	}
	if cpu = x.PickIdle(t, nil, false); cpu >= 0 {
		return cpu, true
	}
	return prev, false
}
