// Package machine describes the computers that the model runs on: topology,
// scheduling domains, idle states and latencies. It is data with units and
// sources; it knows nothing of the kernel that runs on it.
//
// Everything is integers and fixed order: times are sim.Time (picoseconds),
// lists are sorted, and no map is walked, so that a machine means the same
// simulation on every platform.
package machine

import "schedlab/core/sim"

// A Basis says how far a figure can be trusted.
type Basis string

// The bases, from the firmest to the weakest.
const (
	Measured Basis = "measured" // measured by us on such a machine
	Cited    Basis = "cited"    // printed by the source named
	Derived  Basis = "derived"  // arithmetic on printed figures
	Assumed  Basis = "assumed"  // a guess that the source line explains
)

// A Figure is a time with its provenance. Lo ≤ Mid ≤ Hi: Mid is the typical value; a
// run draws from [Lo, Hi] around it. A figure without spread has all three equal.
type Figure struct {
	Lo, Mid, Hi sim.Time
	Basis       Basis
	Source      string
}

// A Scale is a factor in percent, with its provenance. A run draws from [Lo, Hi].
type Scale struct {
	Lo, Hi int64
	Basis  Basis
	Source string
}

// A Count is a number with its provenance.
type Count struct {
	N      int
	Basis  Basis
	Source string
}

// Sharing says how threads of a core slow each other down: the i-th figure is how long
// work takes with i+1 of them busy, against 100 alone, in user mode and in system calls.
// More threads than figures take the last one.
type Sharing struct {
	User, Kernel []int64
	Basis        Basis
	Source       string
}

// A Distance is how far two CPUs are apart.
type Distance uint8

// The distances, nearest first.
const (
	SameCPU    Distance = iota
	SameCore            // another thread of the core
	SameLLC             // another core that shares the last-level cache
	SameSocket          // the same package, another last-level cache
	OtherSocket
	NumDistances = iota
)

// String returns the distance in words: "same socket".
func (d Distance) String() string {
	return [NumDistances]string{"same CPU", "same core", "same LLC", "same socket", "other socket"}[d]
}

// A CPU is one hardware thread, at the index that Linux numbers it with.
type CPU struct {
	Socket, Node, LLC, Core int16 // numbered through the whole machine, from 0
	Thread                  int16 // within the core, from 0
	// Cluster is the group of cores, smaller than those of the last-level cache, that
	// share a part of the caches: numbered through the whole machine from 1, or
	// 0 where there is none or it is the core.
	Cluster int16
}

// An IdleState is one way for a CPU to idle, shallowest first in a Machine.
type IdleState struct {
	Name      string
	Exit      sim.Time // exit latency as the driver's table has it: what the governor goes by
	Residency sim.Time // target residency, likewise
	Wake      Figure   // time from the wake-up to the first instruction: what an exit really takes
	Polling   bool     // a busy loop, not a state of the processor
	Monitor   bool     // entered by MWAIT on the flags word: a store there wakes it without an interrupt
	Disabled  bool
	Basis     Basis  // of Exit and Residency
	Source    string // of Exit and Residency
}

// A CostFigure sets one of the kernel model's costs for this machine (by its
// key, as `schedlab costs` lists them) where it differs from the general one.
type CostFigure struct {
	Key    string
	Value  sim.Time
	Basis  Basis
	Source string
}

// A Machine is a computer. It is read-only after it is built, and shared.
type Machine struct {
	Key   string // how links name it
	Title string // one line for people
	Brief string // one sentence for people: what it is, and why it is here
	Note  string // what was assumed about it
	KHz   int64  // clock of a core under load, for costs in cycles
	// Uncore is how much slower what lies between the cores (mesh or fabric, memory)
	// is in a run than at its fastest: it scales Line beyond a core, IPI, and the
	// costs that wait for it. The figures themselves are those at 100 %.
	Uncore  Scale
	Sharing Sharing // of a core by its threads; none: they do not slow each other down
	CPUs    []CPU
	Nodes   [][]int // distance between NUMA nodes, as numactl -H prints it: symmetric, 10 on the diagonal
	Idle    []IdleState
	Line    [NumDistances]Figure // one-way transfer of a cache line between two CPUs
	IPI     [NumDistances]Figure // from the write that sends an interrupt to the first instruction of its handler
	Costs   []CostFigure
	// Multicast is how many CPUs one write to the interrupt controller reaches at
	// most, when a call goes to many: those of one MulticastGroup.
	Multicast Count
	// ClockLag is how far sched_clock_cpu(), which run queues' clocks are read from, is behind
	// sched_clock(): an offset that x86 fixes at boot, when it marks its clock stable. Without a source there is none.
	ClockLag Figure
	// Shorthand says that one write reaches every CPU but the sender, as x86's
	// interrupt controllers can, and Linux makes use of it since 5.4.
	Shorthand bool
	// NoPollingFlag says that the architecture's idle loop does not tell others when it
	// looks at its flags: all signals are interrupts. So it is on arm64 in 6.11.
	NoPollingFlag bool
	// ReclaimDistance is the distance between nodes up to which Linux wakes and starts tasks
	// on another node; 0: 30, as everywhere but on AMD's Zen and on POWER.
	ReclaimDistance int

	// Domains holds each CPU's scheduling domains, smallest first. CPUs in
	// the same domain share one *Domain. A single-CPU machine has none.
	Domains [][]*Domain
	// All is every *Domain once, indexed by Domain.ID: level by level, smallest
	// first, and within a level in the order of the first CPU.
	All []*Domain

	multicast []int // by CPU: its MulticastGroup
}

// A Domain is a set of CPUs within which the scheduler balances, split into
// groups: the child domains, or single CPUs at the lowest level.
//
// The kernel starts each CPU's ring of groups with the CPU's own group. Here
// all CPUs share one list in the order of the groups' first CPUs, and GroupOf
// says which is a CPU's own: a walk in the kernel's order starts there and
// wraps.
type Domain struct {
	ID      int     // index into Machine.All
	Level   int     // 0 without child domains, else one above the highest child: in a regular machine, the index into Domains[cpu]
	Name    string  // "SMT", "CLS", "MC", "PKG", "NUMA"
	CPUs    []int16 // the span, ascending
	Groups  []Group // at least two, in the order of their first CPU
	GroupOf []int16 // by CPU of the machine: index into Groups, or -1 outside the span
	NUMA    bool    // the level crosses nodes
	LLC     bool    // the CPUs share the last-level cache (so do those of an SMT or a CLS domain)
	SMT     bool    // the CPUs share a core
}

// A Group is one part of a domain.
type Group struct {
	CPUs  []int16 // ascending
	Child *Domain // the domain with the same span; nil for a single CPU
}

// Distance returns how far CPUs a and b are apart. Both must be CPUs of the machine.
func (m *Machine) Distance(a, b int) Distance {
	x, y := &m.CPUs[a], &m.CPUs[b]
	switch {
	case a == b:
		return SameCPU
	case x.Core == y.Core:
		return SameCore
	case x.LLC == y.LLC:
		return SameLLC
	case x.Socket == y.Socket:
		return SameSocket
	}
	return OtherSocket
}

// SMT tells whether the machine has a core with more than one thread.
func (m *Machine) SMT() bool {
	for i := range m.CPUs {
		if m.CPUs[i].Thread > 0 {
			return true
		}
	}
	return false
}

// Affine tells whether no nodes of d are farther apart than the reclaim distance.
func (m *Machine) Affine(d *Domain) bool {
	limit := m.ReclaimDistance
	if limit == 0 {
		limit = 30
	}
	if !d.NUMA {
		return true
	}
	in := make([]bool, len(m.Nodes))
	for _, c := range d.CPUs {
		in[m.CPUs[c].Node] = true
	}
	for a, row := range m.Nodes {
		for b, distance := range row {
			if in[a] && in[b] && distance > limit {
				return false
			}
		}
	}
	return true
}

// MulticastGroup returns which of the machine's multicast groups a CPU is in. Groups are
// numbered through the whole machine from 0; each holds up to Multicast.N CPUs of
// a socket that follow each other in the order of their cores, the threads of a
// core together, as interrupt controllers number them. (Where a socket's cores are
// no power of two, real identifiers have gaps, and a group can hold fewer.)
func (m *Machine) MulticastGroup(cpu int) int { return m.multicast[cpu] }

// Cycles returns the time that n cycles take under load, rounded down.
func (m *Machine) Cycles(n int64) sim.Time { return sim.Time(n * 1e9 / m.KHz) }
