package machine

import (
	"fmt"
	"strings"
	"sync"

	"schedlab/core/fitted"
	"schedlab/core/sim"
)

// Catalogue returns the machines, the default one first. They are built once
// and shared: don't change them.
var Catalogue = sync.OnceValue(func() []*Machine {
	machines := []*Machine{epyc2x64(), xeon240(), power9(), xeon128(), e5v3(), epyc2x128(), epyc1x32(), icelake(), kunpeng(), laptop(), apu(), vm()}
	for _, m := range machines {
		if err := m.Build(); err != nil {
			panic(err) // a mistake in the data, which the tests catch
		}
	}
	return machines
})

// Lookup returns the machine of the catalogue with this key. The error names
// those that there are.
func Lookup(key string) (*Machine, error) {
	var keys []string
	for _, m := range Catalogue() {
		if m.Key == key {
			return m, nil
		}
		keys = append(keys, m.Key)
	}
	return nil, fmt.Errorf("no machine %q; there are %s", key, strings.Join(keys, ", "))
}

const (
	ps = sim.Picosecond
	ns = sim.Nanosecond
	us = sim.Microsecond
)

// The reclaim distances of Linux: on AMD's Zen processors tasks are woken across sockets,
// on POWER never to another node.
const (
	zenReclaim   = 32
	powerReclaim = 10
)

// exactly is a figure without spread.
func exactly(t sim.Time, b Basis, source string) Figure { return Figure{t, t, t, b, source} }

// about is a figure with a spread of ±percent.
func about(t sim.Time, percent int64, b Basis, source string) Figure {
	spread := t * sim.Time(percent) / 100
	return Figure{t - spread, t, t + spread, b, source}
}

// lightSleep is what leaving the shallowest MWAIT state costs here, whatever
// the driver's table says.
var lightSleep = Figure{200 * ns, 250 * ns, 300 * ns, Assumed,
	"200 to 300 ns, a usual figure for light sleeps; the 1 µs of the driver tables is excluded by the fastest published ipistorm " +
		"runs (1.13 µs for a whole call, if the unit is ns for 100,000 calls)"}

// smt2 is how two threads share a core.
func smt2() Sharing {
	return Sharing{[]int64{100, 160}, []int64{100, 160}, Assumed, "no figure was found: two threads are taken to give 1.25 times the throughput of one, as is usual for mixed work"}
}

// poll is cpuidle's polling state.
func poll() IdleState {
	return IdleState{Name: "POLL", Polling: true, Basis: Cited, Source: "cpuidle's polling state: no latency, no residency",
		Wake: exactly(0, Derived, "when the loop sees the flag is the kernel's cost relax")}
}

// intelIdle is a state of the intel_idle driver.
func intelIdle(part, name string, exit, residency sim.Time, wake Figure) IdleState {
	return IdleState{Name: name, Monitor: true, Exit: exit, Residency: residency, Wake: wake,
		Basis: Cited, Source: "intel_idle driver table for " + part}
}

// icxIdle lists the idle states of Ice Lake.
func icxIdle() []IdleState {
	return []IdleState{
		poll(),
		intelIdle("Ice Lake", "C1", 1*us, 1*us, lightSleep),
		intelIdle("Ice Lake", "C1E", 4*us, 4*us, upTo(4*us)),
		intelIdle("Ice Lake", "C6", 170*us, 600*us, Figure{86 * us, 128 * us, 170 * us, Derived,
			"the driver had 128 µs, the median that its authors measured, until they put in the worst case, 170 µs (March 2021); as far below as above"}),
	}
}

// upTo is what leaving a state takes whose table states the worst case.
func upTo(exit sim.Time) Figure {
	return Figure{exit / 2, exit * 3 / 4, exit, Assumed, "the table's latency as the worst case, half of it as the best"}
}

// never is the figure of a distance at which no two CPUs of the machine are.
func never(f Figure) Figure {
	f.Basis, f.Source = Assumed, "no two CPUs of this machine are so far apart: the figure of another distance, never used"
	return f
}

// icxLine is the cache-line figure of Ice Lake for a distance beyond a CPU, with the
// basis and the words that it deserves on a machine.
func icxLine(d Distance, b Basis, words string) Figure {
	mid := [NumDistances]sim.Time{SameCore: 8 * ns, SameLLC: 51 * ns, SameSocket: 51 * ns, OtherSocket: 108 * ns}[d]
	return about(mid, 10, b, fmt.Sprintf("core-to-core-latency, Intel 8375C (Ice Lake) CSV: %d ns, median%s; ±10 %% assumed", mid/ns, words))
}

// x2apic is how many CPUs a write to a local APIC in x2APIC mode reaches.
func x2apic() Count {
	return Count{16, Assumed, "Intel's manual (volume 3A, 10.12.10): a cluster has 16 logical x2APIC identifiers; that the kernel addresses clusters " +
		"is assumed: where the firmware asks for physical destinations it writes once for each CPU"}
}

// stableTSC is the offset between the two clocks of x86, as boot logs have it.
func stableTSC() Figure {
	return Figure{2800 * us, 20_300 * us, 1200 * sim.Millisecond, Assumed,
		"the range of eleven boot logs in public posts, of other machines than these, and so not named: the last number of \"sched_clock: Marking stable (a, b)->(c, offset)\": from -2.8 ms to -1.2 s, among them -3.6, -12.6, -14.9, -20.3, -31.0 and -92 ms; always negative. How far does not matter, as long as it is longer than the time between two reads"}
}

// apic is the time of an x86 interrupt from the write to the handler's first
// instruction, by distance.
func apic() (f [NumDistances]Figure) {
	for d, mid := range [NumDistances]sim.Time{350 * ns, 380 * ns, 400 * ns, 420 * ns, 450 * ns} {
		f[d] = Figure{mid - 50*ns, mid, mid + 50*ns, Assumed,
			"delivery and kernel entry are assumed to take 600 ns in all; the kernel's entry path is a cost of its own (about 200 ns), the rest is here; growth with distance and ±50 ns are guesses"}
	}
	return f
}

// milan is what machines with EPYC processors of generation 3 have in common.
func milan(t Topology) Machine {
	return Machine{
		KHz:             3_400_000,
		Uncore:          Scale{100, 110, Assumed, "the fabric clock is fixed under load; 10 % for its power states"},
		Sharing:         smt2(),
		CPUs:            t.CPUs(),
		Nodes:           t.Nodes(),
		ReclaimDistance: zenReclaim,
		Idle:            []IdleState{poll(), zenC1()},
		Line: [NumDistances]Figure{
			SameCPU:     exactly(1200*ps, Derived, "an L1 hit: 4 cycles at 3.4 GHz"),
			SameCore:    about(10*ns, 10, Derived, "core-to-core-latency, AMD 7R13 (Milan) CSV: 10 ns, median; ±10 % assumed"),
			SameLLC:     about(23*ns, 13, Derived, "core-to-core-latency, AMD 7R13 (Milan) CSV: 23 ns, median; ±13 % assumed (Milan-X: 26 ns)"),
			SameSocket:  Figure{88 * ns, 100 * ns, 111 * ns, Derived, "core-to-core-latency, AMD 7R13 (Milan) CSV: 88–111 ns, medians by pair of CCXs (Milan-X 7773X: 87–140 ns)"},
			OtherSocket: Figure{187 * ns, 195 * ns, 204 * ns, Derived, "core-to-core-latency, AMD 7R13 (Milan) CSV: 187–204 ns, medians"},
		},
		IPI:       apic(),
		Multicast: x2apic(),
		Shorthand: true,
		ClockLag:  stableTSC(),
		Costs: []CostFigure{
			{"clock", 12 * ns, Measured, "rdtsc on Milan: about 12 ns"},
			{"relax", 19 * ns, Assumed, "a PAUSE of about 65 cycles at 3.4 GHz on Zen 3"},
		},
	}
}

// zenC1 is the shallow state of EPYC servers.
func zenC1() IdleState {
	return IdleState{Name: "C1", Monitor: true, Exit: 1 * us, Residency: 2 * us, Wake: lightSleep,
		Basis: Assumed, Source: "ACPI tables of EPYC servers commonly give C1 1 µs; acpi_idle doubles it for the residency"}
}

// zenC2 is their deep one, where it is enabled.
func zenC2(generation string) IdleState {
	return IdleState{Name: "C2", Exit: 400 * us, Residency: 800 * us,
		Basis: Assumed, Source: "ACPI tables of EPYC servers give C2 from 100 to 400 µs, this one " + generation + "; acpi_idle doubles it for the residency",
		Wake: Figure{12 * us, 25 * us, 50 * us, Assumed,
			"on Zen 2 it was measured to be far below the table (Schöne et al., Energy Efficiency Aspects of the AMD Zen 2 Architecture, 2021); 25 µs, half and twice of it are guesses"}}
}

func epyc2x64() *Machine {
	m := milan(Topology{Sockets: 2, NodesPerSocket: 1, LLCsPerNode: 8, CoresPerLLC: 8, ThreadsPerCore: 2})
	m.Key = "epyc-2x64"
	m.Title = "2 × AMD EPYC gen 3, 64 cores / 128 threads each"
	m.Brief = "Two EPYC gen 3 processors whose last-level caches serve eight cores each: the machine that SM_IDLE was first measured on."
	m.Note = "EPYC 7763 class. Boost on, C2 disabled, one node per socket (NPS1), as in the SM_IDLE runs. " +
		"The clock of a core among mostly idle ones is assumed to be 3.4 GHz (up to 3.5)."
	m.Idle = append(m.Idle, IdleState{Name: "C2", Exit: 400 * us, Residency: 800 * us, Disabled: true,
		Basis: Cited, Source: "ACPI tables of EPYC servers give C2 about 400 µs; acpi_idle doubles it for the residency; disabled in the SM_IDLE runs",
		Wake: exactly(400*us, Assumed, "taken as the table's latency; the state is disabled")})
	m.Costs = append(m.Costs,
		CostFigure{"rq_visit", 15 * ns, Derived, "402 visits of a full walk (SMT 2 + MC 16 + PKG 128 + NUMA 256) against the published mean ratio 1.00 : 0.25, SM_IDLE <20240710090210.41856-3-kprateek.nayak@amd.com>"},
		CostFigure{"group_visit", 0, Derived, "the same ratio is met without a cost per group"})
	return &m
}

func epyc1x32() *Machine {
	m := milan(Topology{Sockets: 1, NodesPerSocket: 1, LLCsPerNode: 8, CoresPerLLC: 4, ThreadsPerCore: 2})
	m.Key = "epyc-1x32"
	m.Title = "1 × AMD EPYC gen 3, 32 cores / 64 threads (64 CPUs)"
	m.Brief = "One EPYC gen 3 processor with eight last-level caches for four cores each: many small caches in one node."
	m.Note = "EPYC 7543P class: 256 MB of last-level cache, so that each of eight dies has four cores. One node (NPS1) and C2 on are assumed. " +
		"Lines and costs are those of the 64-core part of the generation, measured with eight cores a cache; so is the clock of 3.4 GHz (this part boosts up to 3.7). " +
		"No published run of the catalogue is known to be from this machine."
	m.Idle = append(m.Idle, zenC2("as on the larger part"))
	m.Line[OtherSocket] = never(m.Line[OtherSocket])
	m.Costs = append(m.Costs,
		CostFigure{"rq_visit", 15 * ns, Assumed, onMilan + "402 visits against a published ratio"},
		CostFigure{"group_visit", 0, Assumed, onMilan + "none is needed"})
	return &m
}

// onMilan begins the source of a figure that was found on two EPYC gen 3 of 64 cores.
const onMilan = "as on EPYC gen 3: "

func xeon240() *Machine {
	t := Topology{Sockets: 2, NodesPerSocket: 1, LLCsPerNode: 1, CoresPerLLC: 60, ThreadsPerCore: 2}
	const standIn = "core-to-core-latency, Intel 8375C (Ice Lake) CSV, median, which stands in for Sapphire Rapids; ±10 % assumed"
	spr := func(name string, exit, residency sim.Time, disabled bool, wake Figure) IdleState {
		return IdleState{Name: name, Monitor: true, Exit: exit, Residency: residency, Disabled: disabled, Wake: wake,
			Basis: Cited, Source: "intel_idle driver table for Sapphire Rapids"}
	}
	return &Machine{
		Key:   "xeon-240",
		Title: "2 × Intel Xeon, 60 cores / 120 threads each (240 CPUs)",
		Brief: "Two large Xeons with one cache each: the machine whose runs without SM_IDLE spread sevenfold.",
		Note: "The report gives 240 CPUs in 2 nodes and no model; Sapphire Rapids (Xeon 8490H class) is assumed, without sub-NUMA clusters. " +
			"C-states from C1E down disabled, performance governor, turbo off, as in the SM_IDLE runs: the clock is that part's base of 1.9 GHz.",
		KHz:     1_900_000,
		Uncore:  Scale{100, 170, Assumed, "the mesh clock follows the load, here light, between its limits of about 1.4 and 2.4 GHz whatever the cores' governor"},
		Sharing: smt2(),
		CPUs:    t.CPUs(),
		Nodes:   t.distances(nearNode, 21),
		Idle: []IdleState{
			poll(),
			spr("C1", 1*us, 1*us, false, lightSleep),
			spr("C1E", 2*us, 4*us, true, exactly(2*us, Assumed, "taken as the table's latency; the state is disabled")),
			spr("C6", 290*us, 800*us, true, exactly(290*us, Assumed, "taken as the table's latency; the state is disabled")),
		},
		Line: [NumDistances]Figure{
			SameCPU:     exactly(2600*ps, Derived, "an L1 hit: 5 cycles at 1.9 GHz"),
			SameCore:    about(8*ns, 10, Assumed, "8 ns: "+standIn),
			SameLLC:     about(51*ns, 10, Assumed, "51 ns: "+standIn),
			SameSocket:  about(51*ns, 10, Assumed, "51 ns, as within the LLC: "+standIn),
			OtherSocket: about(108*ns, 10, Assumed, "108 ns: "+standIn),
		},
		IPI:       apic(),
		Multicast: x2apic(),
		Shorthand: true,
		ClockLag:  stableTSC(),
		Costs: []CostFigure{
			fit("xeon-240", "schedule_tail", "fitted: ten patched runs without a background then have the published patched mean of 1.43 µs a call, <8bcdee16-88d5-7ec5-7d88-1ac11566c28a@amd.com>"),
			{"rq_visit", 38 * ns, Derived, "fitted with group_visit to one slow published ipistorm run: about 7.3 µs a call if every other call walks 362 run queues, <8bcdee16-88d5-7ec5-7d88-1ac11566c28a@amd.com>"},
			{"group_visit", 60 * ns, Derived, "fitted with rq_visit to the same run; 37–49 ns a run queue and nothing a group fits as well"},
		},
	}
}

func power9() *Machine {
	eight := []int64{100, 140, 190, 240, 300, 360, 420, 480}
	t := Topology{Sockets: 2, NodesPerSocket: 1, LLCsPerNode: 10, CoresPerLLC: 1, ThreadsPerCore: 8, Numbering: ThreadsAdjacent}
	stop := func(name string, exit, residency sim.Time) IdleState {
		return IdleState{Name: name, Exit: exit, Residency: residency,
			Basis: Cited, Source: "IBM's firmware (skiboot), table of POWER9 idle states, which calls its values estimates",
			Wake: exactly(exit, Assumed, "taken as the firmware's latency")}
	}
	return &Machine{
		Key:   "power9-smt8",
		Title: "2 × IBM POWER9, 10 SMT8 cores each (160 CPUs)",
		Brief: "Two POWER9 processors whose cores run eight threads each: the machine of the select_idle_core patch.",
		Note: "Sockets, cores and the clock of 3.7 GHz are assumed: the report says POWER9 SMT8 only. The last-level cache that the scheduler sees is " +
			"the L2 of one core. The timebase runs at 512 MHz: a tick is 1.953 ns. No MWAIT: only the polling state wakes without an interrupt.",
		KHz:             3_700_000,
		Uncore:          Scale{100, 120, Assumed, "the nest clock is fixed; 20 % for what is not known"},
		Sharing:         Sharing{eight, eight, Assumed, "no figure was found: a core of eight threads is taken to give some 1.7 times the throughput of one"},
		CPUs:            t.CPUs(),
		Nodes:           t.Nodes(),
		ReclaimDistance: powerReclaim,
		Idle: []IdleState{
			{Name: "snooze", Polling: true, Basis: Cited, Source: "powernv cpuidle's polling state: no latency, no residency",
				Wake: exactly(0, Derived, "when the loop sees the flag is the kernel's cost relax")},
			stop("stop0_lite", 1*us, 10*us),
			stop("stop0", 2*us, 20*us),
			stop("stop1", 5*us, 50*us),
			stop("stop2", 10*us, 100*us),
		},
		Line: [NumDistances]Figure{
			SameCPU:     exactly(1100*ps, Assumed, "an L1 hit: 4 cycles at 3.7 GHz"),
			SameCore:    about(10*ns, 20, Assumed, "no figure known; x86 threads of a core need 8–10 ns"),
			SameLLC:     about(10*ns, 20, Assumed, "as between threads: the cache belongs to one core"),
			SameSocket:  about(173*ns, 20, Assumed, "core-to-core-latency, Power7 CSV: 173 ns, median, which stands in for POWER9; ±20 % assumed"),
			OtherSocket: about(443*ns, 20, Assumed, "core-to-core-latency, Power7 CSV: 443 ns, median, which stands in for POWER9; ±20 % assumed"),
		},
		IPI:       power9IPI(),
		Multicast: Count{1, Assumed, "a doorbell and a trigger of the XIVE controller are each for one thread"},
		Costs: []CostFigure{
			{"relax", 10 * ns, Assumed, "one turn of a spinning loop at low thread priority, guessed"},
			{"clock_read", 25 * ns, Assumed, "reading the timebase takes tens of cycles on some of these processors and can stall the pipeline (M. Ellerman, <87pmki7uwf.fsf@mpe.ellerman.id.au>): 50 cycles, and as many to make nanoseconds of it, are guesses"},
			fit("power9-smt8", "idle_mask", "fitted: searches without the patch then take 295 ns at least, as posted, <20191206081654.GA22330@linux.vnet.ibm.com>, probably with a tracer's overhead"),
			fit("power9-smt8", "idle_miss", "fitted: searches without the patch then take the posted mean of 630 ns, <20191206081654.GA22330@linux.vnet.ibm.com>"),
		},
	}
}

// power9IPI is a doorbell within a core and an interrupt through XIVE beyond it.
func power9IPI() (f [NumDistances]Figure) {
	for d, mid := range [NumDistances]sim.Time{250 * ns, 250 * ns, 250 * ns, 500 * ns, 700 * ns} {
		source := "a doorbell within the core, guessed"
		if Distance(d) > SameLLC {
			source = "an interrupt through the XIVE controller, guessed from x86's 400 ns and the slower fabric"
		}
		f[d] = about(mid, 20, Assumed, source)
	}
	return f
}

func xeon128() *Machine {
	t := Topology{Sockets: 2, NodesPerSocket: 2, LLCsPerNode: 1, CoresPerLLC: 16, ThreadsPerCore: 2}
	const standIn = ", which stands in for the Gold 6338"
	return &Machine{
		Key:   "xeon-128-4n",
		Title: "2 × Intel Xeon in 4 nodes, 32 cores / 64 threads each (128 CPUs)",
		Brief: "The test robot's Xeon with two nodes a socket: on it hackbench, netperf and schbench ran with and without SM_IDLE.",
		Note: "The report gives 128 CPUs in 4 NUMA nodes and no model. Two Xeon Gold 6338 (Ice Lake) with two sub-NUMA clusters each are assumed: " +
			"the same robot posted runs with four nodes on \"128 threads 4 sockets\" of that part, which goes into two sockets at most " +
			"(<202301301057.e55dad5b-oliver.sang@intel.com>). Its clock is taken as 2.6 GHz, that part's turbo on all cores (base 2.0), and all idle states are on.",
		KHz:     2_600_000,
		Uncore:  Scale{100, 150, Assumed, "the mesh clock follows the load; how far is a guess"},
		Sharing: Sharing{[]int64{100, fitted.Value("xeon-128-4n", "sharing")}, []int64{100, 160}, Derived, "user mode fitted, system calls assumed as on other machines: schbench, 90th percentile at one worker a CPU 9328 µs against 4562 µs at one in all, <8bcdee16-88d5-7ec5-7d88-1ac11566c28a@amd.com>: two threads that multiply matrices together do no more than one"},
		CPUs:    t.CPUs(),
		Nodes:   t.distances(11, 21),
		Idle:    icxIdle(),
		Line: [NumDistances]Figure{
			SameCPU:     exactly(1900*ps, Derived, "an L1 hit: 5 cycles at 2.6 GHz"),
			SameCore:    icxLine(SameCore, Assumed, standIn),
			SameLLC:     icxLine(SameLLC, Assumed, standIn+"; it was measured without sub-NUMA clusters"),
			SameSocket:  icxLine(SameSocket, Assumed, standIn+"; for the other node of a socket as within a node"),
			OtherSocket: icxLine(OtherSocket, Assumed, standIn),
		},
		IPI:       apic(),
		Multicast: x2apic(),
		Shorthand: true,
		ClockLag:  stableTSC(),
		Costs: []CostFigure{
			fit("xeon-128-4n", "pipe_write", robot("pipe_read", "hackbench-pipe-process at 25 %, 846099 KB/s")),
			fit("xeon-128-4n", "pipe_read", robot("pipe_write", "hackbench-pipe-process at 25 %, 846099 KB/s")),
			fit("xeon-128-4n", "unix_write", robot("unix_read", "hackbench-socket-process at 25 %, 395784 KB/s")),
			fit("xeon-128-4n", "unix_read", robot("unix_write", "hackbench-socket-process at 25 %, 395784 KB/s")),
			icxClockRead,
			fit("xeon-128-4n", "tcp_send", robot("tcp_receive, udp_send and udp_receive", "TCP_RR at 25 %, 2449875 transactions a second")),
			fit("xeon-128-4n", "tcp_receive", robot("tcp_send", "TCP_RR at 25 %")),
			fit("xeon-128-4n", "udp_send", robot("tcp_send", "TCP_RR at 25 %")),
			fit("xeon-128-4n", "udp_receive", robot("tcp_send", "TCP_RR at 25 %")),
		},
	}
}

// fit is a cost of a machine that was fitted to a published figure.
func fit(of, key, source string) CostFigure {
	return CostFigure{key, fitted.Time(of, key), Derived, source}
}

// oneRow and robot say of a cost of a message, fitted by one factor with another one, to which row.
func oneRow(with, row string) string {
	return "fitted with " + with + " to one posted row of hackbench, " + row + ", <20220711224704.1672831-1-libo.chen@oracle.com>"
}

func robot(with, row string) string {
	return "fitted with " + with + " to one posted row, " + row + ", <8bcdee16-88d5-7ec5-7d88-1ac11566c28a@amd.com>"
}

func e5v3() *Machine {
	t := Topology{Sockets: 2, NodesPerSocket: 1, LLCsPerNode: 1, CoresPerLLC: 18, ThreadsPerCore: 2}
	const standIn = "core-to-core-latency, Intel E5-2680 v4 CSV, which stands in for the E5-2699 v3: "
	hsx := func(name string, exit, residency sim.Time, wake Figure) IdleState {
		return intelIdle("Haswell servers", name, exit, residency, wake)
	}
	return &Machine{
		Key:   "xeon-e5-2699v3",
		Title: "2 × Intel Xeon E5-2699 v3, 18 cores / 36 threads each (72 CPUs)",
		Brief: "Two Haswell Xeons, whose idle states are slow to leave: the machine of the hackbench and pgbench runs of the in_task() patch.",
		Note: "The reports name the part. The clock is taken as 2.8 GHz, its turbo on all cores (base 2.3); one node a socket and " +
			"all idle states on are assumed.",
		KHz:     2_800_000,
		Uncore:  Scale{100, 150, Assumed, "the ring clock follows the load between 1.2 and 3.0 GHz; half the span is a guess"},
		Sharing: smt2(),
		CPUs:    t.CPUs(),
		Nodes:   t.distances(nearNode, 21),
		Idle: []IdleState{
			poll(),
			hsx("C1", 2*us, 2*us, lightSleep),
			hsx("C1E", 10*us, 20*us, upTo(10*us)),
			hsx("C3", 33*us, 100*us, upTo(33*us)),
			hsx("C6", 133*us, 400*us, upTo(133*us)),
		},
		Line: [NumDistances]Figure{
			SameCPU:     exactly(1400*ps, Derived, "an L1 hit: 4 cycles at 2.8 GHz"),
			SameCore:    about(8*ns, 10, Assumed, standIn+"8 ns, median; ±10 % assumed"),
			SameLLC:     Figure{35 * ns, 45 * ns, 54 * ns, Assumed, standIn + "45 ns, median; 35–54 ns by pair of cores"},
			SameSocket:  never(Figure{35 * ns, 45 * ns, 54 * ns, Assumed, ""}),
			OtherSocket: Figure{115 * ns, 127 * ns, 140 * ns, Assumed, standIn + "127 ns, median; 115–140 ns by pair of cores"},
		},
		IPI:       apic(),
		Multicast: x2apic(),
		Shorthand: true,
		ClockLag:  stableTSC(),
		Costs: []CostFigure{
			{"relax", 4 * ns, Cited, "a pause instruction takes about 10 cycles on Intel cores before Skylake"},
			fit("xeon-e5-2699v3", "pipe_write", oneRow("pipe_read", "process-pipes at 48 groups, 9.3873 s")),
			fit("xeon-e5-2699v3", "pipe_read", oneRow("pipe_write", "process-pipes at 48 groups, 9.3873 s")),
			fit("xeon-e5-2699v3", "unix_write", oneRow("unix_read", "process-sockets at 48 groups, 31.0724 s")),
			fit("xeon-e5-2699v3", "unix_read", oneRow("unix_write", "process-sockets at 48 groups, 31.0724 s")),
		},
	}
}

func epyc2x128() *Machine {
	t := Topology{Sockets: 2, NodesPerSocket: 1, LLCsPerNode: 16, CoresPerLLC: 8, ThreadsPerCore: 2}
	const genoa = "core-to-core-latency, issue 132, 2 × EPYC 9274F (gen 4), which stands in for Zen 4c: "
	return &Machine{
		Key:   "epyc-2x128",
		Title: "2 × AMD EPYC gen 4, 128 cores / 256 threads each (512 CPUs)",
		Brief: "512 CPUs around 32 caches: the largest machine here, for what grows with the number of CPUs.",
		Note: "EPYC 9754 (Bergamo) class: 16 cores a die, as two groups of 8 Zen 4c cores with a cache each. No figures of this part are known here: cache lines " +
			"are taken from a faster part of the generation, costs from gen 3. One node per socket (NPS1), C2 on, and a clock of 3.0 GHz (boost up to 3.1) are assumed.",
		KHz:             3_000_000,
		Uncore:          Scale{100, 110, Assumed, "as on EPYC gen 3: the fabric clock is fixed under load; 10 % for its power states"},
		Sharing:         smt2(),
		CPUs:            t.CPUs(),
		Nodes:           t.Nodes(),
		ReclaimDistance: zenReclaim,
		Idle:            []IdleState{poll(), zenC1(), zenC2("as on gen 3")},
		Line: [NumDistances]Figure{
			SameCPU:     exactly(1300*ps, Derived, "an L1 hit: 4 cycles at 3.0 GHz"),
			SameCore:    about(12*ns, 10, Assumed, genoa+"9 ns, in its cycles at 3.0 GHz; ±10 % assumed"),
			SameLLC:     Figure{26 * ns, 29 * ns, 33 * ns, Assumed, genoa + "22–26 ns, in its cycles at 3.0 GHz (about 30–35 ns), less a tenth, since here eight cores share a smaller cache"},
			SameSocket:  Figure{97 * ns, 100 * ns, 104 * ns, Assumed, genoa + "97–104 ns within the socket next to the line's memory"},
			OtherSocket: Figure{187 * ns, 195 * ns, 202 * ns, Assumed, genoa + "187–202 ns"},
		},
		IPI:       apic(),
		Multicast: x2apic(),
		Shorthand: true,
		ClockLag:  stableTSC(),
		Costs: []CostFigure{
			{"relax", 22 * ns, Assumed, "a PAUSE of about 65 cycles at 3.0 GHz, as on Zen 3"},
			{"rq_visit", 15 * ns, Assumed, onMilan + "402 visits against a published ratio"},
			{"group_visit", 0, Assumed, onMilan + "none is needed"},
		},
	}
}

func icelake() *Machine {
	t := Topology{Sockets: 2, NodesPerSocket: 1, LLCsPerNode: 1, CoresPerLLC: 32, ThreadsPerCore: 2}
	return &Machine{
		Key:   "icx-2x32",
		Title: "2 × Intel Xeon Ice Lake, 32 cores / 64 threads each (128 CPUs)",
		Brief: "A common Xeon server with its idle states on, and the one whose cache lines were measured.",
		Note: "Xeon Platinum 8375C or 8358 class, one node a socket. The clock is taken as 3.3 GHz, the turbo on all cores of the 8358 (base 2.6); " +
			"all idle states on are assumed. No published run of the catalogue is from this machine.",
		KHz:     3_300_000,
		Uncore:  Scale{100, 150, Assumed, "the mesh clock follows the load; how far is a guess"},
		Sharing: smt2(),
		CPUs:    t.CPUs(),
		Nodes:   t.distances(nearNode, 21),
		Idle:    icxIdle(),
		Line: [NumDistances]Figure{
			SameCPU:     exactly(1500*ps, Derived, "an L1 hit: 5 cycles at 3.3 GHz"),
			SameCore:    icxLine(SameCore, Derived, ""),
			SameLLC:     icxLine(SameLLC, Derived, ""),
			SameSocket:  never(icxLine(SameSocket, Derived, "")),
			OtherSocket: icxLine(OtherSocket, Derived, ""),
		},
		IPI:       apic(),
		Multicast: x2apic(),
		Shorthand: true,
		ClockLag:  stableTSC(),
		Costs:     []CostFigure{icxClockRead},
	}
}

// icxClockRead is a scheduler's read of the clock on Ice Lake.
var icxClockRead = CostFigure{"clock_read", 23 * ns, Derived,
	"clock_gettime, which reads the same counter in order and makes nanoseconds of it in user mode, takes 23 ns on a Xeon Gold 5318Y (Ice Lake), https://github.com/dendibakh/perf-book/issues/84"}

func kunpeng() *Machine {
	t := Topology{Sockets: 2, NodesPerSocket: 2, LLCsPerNode: 1, CoresPerLLC: 32, CoresPerCluster: 4, ThreadsPerCore: 1}
	const csv = "core-to-core-latency, Kunpeng 920-6426 CSV: "
	die := Figure{30 * ns, 36 * ns, 38 * ns, Derived, csv + "36 ns, median; 30–38 ns by cluster or pair of clusters"}
	return &Machine{
		Key:   "kunpeng-920",
		Title: "2 × Huawei Kunpeng 920, 64 cores each (128 CPUs)",
		Brief: "An arm64 server with clusters of four cores, on which nothing but an interrupt wakes an idle CPU.",
		Note: "Each socket has two dies of 32 cores, which are nodes with a last-level cache each; four cores form a cluster that shares cache tags. A line " +
			"takes as long between cores of a cluster as between those of a die (30–38 ns in either case), so clusters have no distance of their own. The firmware's node distances (10, 12, 20, 22, 24) make " +
			"spans that overlap, which are not modelled: here the other socket is one distance away. No MWAIT, no polling state, no cpuidle driver (as on a " +
			"server with Linux 6.6): idle is WFI. The kernel of 6.11 has no polling flag on arm64 either, so that every signal needs an interrupt.",
		KHz:    2_600_000,
		Uncore: Scale{100, 120, Assumed, "the clocks are fixed; 20 % for what is not known"},
		CPUs:   t.CPUs(),
		Nodes:  t.distances(12, 22),
		Idle: []IdleState{
			{Name: "WFI", Exit: 1 * us, Residency: 1 * us, Basis: Assumed,
				Source: "without a driver there is no table; the psci driver gives WFI 1 µs. Nothing depends on it: there is no other state",
				Wake:   Figure{50 * ns, 100 * ns, 200 * ns, Assumed, "the clock is gated, nothing is lost: a guess"}},
		},
		Line: [NumDistances]Figure{
			SameCPU:     exactly(1500*ps, Assumed, "an L1 hit: 4 cycles at 2.6 GHz"),
			SameCore:    never(die),
			SameLLC:     die,
			SameSocket:  Figure{72 * ns, 80 * ns, 87 * ns, Derived, csv + "80 ns, median; 72–87 ns by pair of clusters on different dies"},
			OtherSocket: about(190*ns, 30, Assumed, "no figure known; the x86 servers of this list need 108 to 204 ns"),
		},
		IPI:           gicIPI(),
		NoPollingFlag: true,
		Multicast:     Count{1, Derived, "a write of ICC_SGI1R_EL1 reaches up to 16 CPUs that differ in affinity level 0 alone; boot logs number these cores in level 1 (CPU 1 is 0x80100)"},
		Costs: []CostFigure{
			{"relax", 5 * ns, Assumed, "arm64 waits for the line itself (WFE) rather than looking again and again"},
			{"clock", 20 * ns, Assumed, "reading the generic timer, guessed"},
			{"clock_read", 30 * ns, Assumed, "reading the generic timer behind a barrier, and making nanoseconds of it, guessed"},
			noGovernor,
		},
	}
}

// noGovernor is for machines whose idle loop has no cpuidle driver.
var noGovernor = CostFigure{"governor", 0, Assumed, "without a cpuidle driver the idle loop has nothing to choose"}

// gicIPI is an interrupt through GICv3.
func gicIPI() (f [NumDistances]Figure) {
	for d, mid := range [NumDistances]sim.Time{400 * ns, 400 * ns, 450 * ns, 500 * ns, 700 * ns} {
		f[d] = about(mid, 20, Assumed, "an interrupt through GICv3, guessed from x86's 400 ns and the fabric between the dies")
	}
	return f
}

// zen3Laptop is what laptops with Zen 3 cores around one cache have in common. hit and pause are 4 and
// 65 cycles of its clock; core and llc are the times of a line between threads of a core and between cores.
func zen3Laptop(cores int, khz int64, hit, pause sim.Time, core, llc Figure) Machine {
	t := Topology{Sockets: 1, NodesPerSocket: 1, LLCsPerNode: 1, CoresPerLLC: cores, ThreadsPerCore: 2, Numbering: ThreadsAdjacent}
	const acpi = "ACPI tables of Ryzen laptops, as cpupower prints them, with acpi_idle's residency of twice the latency: "
	ghz := fmt.Sprintf("%g GHz", float64(khz)/1e6)
	return Machine{
		KHz:     khz,
		Uncore:  Scale{100, 150, Assumed, "fabric and memory clocks step down on a quiet laptop; how far is a guess"},
		Sharing: smt2(),
		CPUs:    t.CPUs(),
		Nodes:   t.Nodes(),
		Idle: []IdleState{
			poll(),
			{Name: "C1", Monitor: true, Exit: 1 * us, Residency: 2 * us, Wake: lightSleep, Basis: Cited, Source: acpi + "C1 1 µs"},
			{Name: "C2", Exit: 18 * us, Residency: 36 * us, Wake: upTo(18 * us), Basis: Cited, Source: acpi + "C2 18 µs, by an I/O port"},
			{Name: "C3", Exit: 350 * us, Residency: 700 * us, Basis: Cited, Source: acpi + "C3 350 µs, by an I/O port",
				Wake: Figure{25 * us, 60 * us, 150 * us, Assumed, "below the table, as was measured for the deepest state of Zen 2 servers; how far is a guess"}},
		},
		Line: [NumDistances]Figure{
			SameCPU:     exactly(hit, Derived, "an L1 hit: 4 cycles at "+ghz),
			SameCore:    core,
			SameLLC:     llc,
			SameSocket:  never(llc),
			OtherSocket: never(llc),
		},
		IPI:       apic(),
		Shorthand: true,
		ClockLag:  stableTSC(),
		Multicast: Count{1, Assumed, "boot logs of such laptops say \"physical flat\": without interrupt remapping there is no x2APIC mode, and each CPU has a write of its own"},
		Costs:     []CostFigure{{"relax", pause, Assumed, "a PAUSE of about 65 cycles at " + ghz + " on Zen 3"}},
	}
}

// cezanne begins the source of a figure of the eight-core laptop.
const cezanne = "core-to-core-latency, AMD Ryzen 7 5800U CSV: "

func laptop() *Machine {
	m := zen3Laptop(8, 4_200_000, 950*ps, 15*ns,
		about(7700*ps, 5, Derived, cezanne+"7.7 ns, median; ±5 % assumed"),
		Figure{16600 * ps, 19 * ns, 21300 * ps, Derived, cezanne + "19 ns, median; 16.6–21.3 ns by pair of cores"})
	m.Key = "laptop"
	m.Title = "Laptop, 8 AMD Zen 3 cores / 16 threads (16 CPUs)"
	m.Brief = "Eight cores around one cache: what a patch does to the machine that you may be sitting at."
	m.Note = "Ryzen 7 5800U class: all cores are alike and share one cache. Hybrid processors, whose cores differ in speed, are not modelled. " +
		"The clock is taken as 4.2 GHz (boost up to 4.4), on mains power."
	return &m
}

func apu() *Machine {
	const slower = " in the cycles of 4.2 GHz, at 3.8 GHz: the larger part of the same die"
	m := zen3Laptop(4, 3_800_000, 1050*ps, 17*ns,
		about(8500*ps, 5, Assumed, cezanne+"7.7 ns, median,"+slower),
		Figure{18300 * ps, 21 * ns, 23500 * ps, Assumed, cezanne + "19 ns, median (16.6–21.3 ns by pair of cores)," + slower})
	m.Key = "apu-8"
	m.Title = "Laptop, 4 AMD Zen 3 cores / 8 threads (8 CPUs)"
	m.Brief = "Four cores around one cache: a small laptop, on which eight CPUs share all there is."
	m.Note = "Ryzen 3 5400U class: the die of the eight-core laptop with half of its cores. " +
		"The clock is taken as 3.8 GHz (boost up to 4.0), on mains power."
	return &m
}

func vm() *Machine {
	t := Topology{Sockets: 1, NodesPerSocket: 1, LLCsPerNode: 1, CoresPerLLC: 2, ThreadsPerCore: 1}
	const pvIPI = "KVM's pv-IPI patch (Linux commit 4180bf1b655a) measured 2.24 µs from a call to its handler in a Skylake guest, if it made 100,000 calls"
	const leave = "programming the timer leaves the guest: 1 µs for the exit is a guess"
	llc := icxLine(SameLLC, Assumed, ", which stands in for the host: the vCPUs are assumed to run on two cores of one cache")
	return &Machine{
		Key:   "vm-2",
		Title: "Virtual machine, 2 vCPUs on KVM (2 CPUs)",
		Brief: "Two virtual CPUs: what a patch does where every interrupt and every wake-up goes through the hypervisor.",
		Note: "A KVM guest on an Ice Lake class host, as most are set up: no MWAIT in the guest and no cpuidle driver (neither haltpoll nor any other), so idle is HLT, which only an " +
			"interrupt ends. The host's threads are assumed to run the vCPUs at once and undisturbed: no time is stolen.",
		KHz:    3_000_000,
		Uncore: Scale{100, 170, Assumed, "the host's mesh clock follows the load of all its guests"},
		CPUs:   t.CPUs(),
		Nodes:  t.Nodes(),
		Idle: []IdleState{
			{Name: "HLT", Exit: 1 * us, Residency: 1 * us, Basis: Assumed,
				Source: "without a driver there is no table. Nothing depends on it: there is no other state",
				Wake: Figure{700 * ns, 900 * ns, 2 * us, Assumed, "the host still polls for a vCPU that has just halted (for 200 µs by default): " + pvIPI +
					". What a longer halt costs, a way through the host's scheduler, \"a few micro-seconds\" in the kernel's documentation, is left out"}},
		},
		Line: [NumDistances]Figure{
			SameCPU:     exactly(1700*ps, Derived, "an L1 hit: 5 cycles at 3.0 GHz"),
			SameCore:    never(llc),
			SameLLC:     llc,
			SameSocket:  never(llc),
			OtherSocket: never(llc),
		},
		IPI:      postedIPI(),
		ClockLag: stableTSC(),
		Multicast: Count{128, Assumed, "the hypercall KVM_HC_SEND_IPI is for up to 128 vCPUs (Linux commit 4180bf1b655a); that the guest uses it is assumed. " +
			"It makes no difference to two"},
		Costs: []CostFigure{
			{"ipi_send", 1 * us, Assumed, "the write leaves the guest: " + pvIPI + "; 1 µs of it is taken as the sender's exit"},
			{"tick_stop", 1100 * ns, Assumed, leave},
			{"tick_restart", 1100 * ns, Assumed, leave},
			{"timer_arm", 1100 * ns, Assumed, leave},
			{"clock_read", 30 * ns, Assumed, "a guest reads the processor's counter without leaving: as on an Ice Lake host (23 ns), and kvm-clock scales it once more, guessed"},
			noGovernor,
		},
	}
}

// postedIPI is an interrupt that the hypervisor posts to a running vCPU.
func postedIPI() (f [NumDistances]Figure) {
	for d := range f {
		f[d] = about(500*ns, 40, Assumed, "a posted interrupt, which reaches a running vCPU without an exit: guessed from x86's 400 ns")
	}
	return f
}
