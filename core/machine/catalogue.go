package machine

import (
	"fmt"
	"strings"
	"sync"

	"schedlab/core/sim"
)

// Catalogue returns the machines, the default one first. They are built once
// and shared: don't change them.
var Catalogue = sync.OnceValue(func() []*Machine {
	machines := []*Machine{epyc2x64(), xeon240(), power9()}
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

// apic is the time of an x86 interrupt from the write to the handler's first
// instruction, by distance.
func apic() (f [NumDistances]Figure) {
	for d, mid := range [NumDistances]sim.Time{350 * ns, 380 * ns, 400 * ns, 420 * ns, 450 * ns} {
		f[d] = Figure{mid - 50*ns, mid, mid + 50*ns, Assumed,
			"delivery and kernel entry are assumed to take 600 ns in all; the kernel's entry path is a cost of its own (about 200 ns), the rest is here; growth with distance and ±50 ns are guesses"}
	}
	return f
}

func epyc2x64() *Machine {
	t := Topology{Sockets: 2, NodesPerSocket: 1, LLCsPerNode: 8, CoresPerLLC: 8, ThreadsPerCore: 2}
	return &Machine{
		Key:   "epyc-2x64",
		Title: "2 × AMD EPYC gen 3, 64 cores / 128 threads each",
		Note: "EPYC 7763 class. Boost on, C2 disabled, one node per socket (NPS1), as in the SM_IDLE runs. " +
			"The clock of a core among mostly idle ones is assumed to be 3.4 GHz (up to 3.5).",
		KHz:    3_400_000,
		Uncore: Scale{100, 110, Assumed, "the fabric clock is fixed under load; 10 % for its power states"},
		CPUs:   t.CPUs(),
		Nodes:  t.Nodes(),
		Idle: []IdleState{
			{Name: "POLL", Polling: true, Basis: Cited, Source: "cpuidle's polling state: no latency, no residency",
				Wake: exactly(0, Derived, "when the loop sees the flag is the kernel's cost relax")},
			{Name: "C1", Monitor: true, Exit: 1 * us, Residency: 2 * us, Wake: lightSleep,
				Basis: Assumed, Source: "ACPI tables of EPYC servers commonly give C1 1 µs; acpi_idle doubles it for the residency"},
			{Name: "C2", Exit: 400 * us, Residency: 800 * us, Disabled: true,
				Basis: Cited, Source: "ACPI tables of EPYC servers give C2 about 400 µs; acpi_idle doubles it for the residency; disabled in the SM_IDLE runs",
				Wake: exactly(400*us, Assumed, "taken as the table's latency; the state is disabled")},
		},
		Line: [NumDistances]Figure{
			SameCPU:     exactly(1200*ps, Derived, "an L1 hit: 4 cycles at 3.4 GHz"),
			SameCore:    about(10*ns, 10, Derived, "core-to-core-latency, AMD 7R13 (Milan) CSV: 10 ns, median; ±10 % assumed"),
			SameLLC:     about(23*ns, 13, Derived, "core-to-core-latency, AMD 7R13 (Milan) CSV: 23 ns, median; ±13 % assumed (Milan-X: 26 ns)"),
			SameSocket:  Figure{88 * ns, 100 * ns, 111 * ns, Derived, "core-to-core-latency, AMD 7R13 (Milan) CSV: 88–111 ns, medians by pair of CCXs (Milan-X 7773X: 87–140 ns)"},
			OtherSocket: Figure{187 * ns, 195 * ns, 204 * ns, Derived, "core-to-core-latency, AMD 7R13 (Milan) CSV: 187–204 ns, medians"},
		},
		IPI: apic(),
		Costs: []CostFigure{
			{"clock", 12 * ns, Measured, "rdtsc on Milan: about 12 ns"},
			{"relax", 19 * ns, Assumed, "a PAUSE of about 65 cycles at 3.4 GHz on Zen 3"},
			{"rq_visit", 15 * ns, Derived, "402 visits of a full walk (SMT 2 + MC 16 + PKG 128 + NUMA 256) against the published mean ratio 1.00 : 0.25, SM_IDLE <20240710090210.41856-3-kprateek.nayak@amd.com>"},
			{"group_visit", 0, Derived, "the same ratio is met without a cost per group"},
		},
	}
}

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
		Note: "The report gives 240 CPUs in 2 nodes and no model; Sapphire Rapids (Xeon 8490H class) is assumed, without sub-NUMA clusters. " +
			"C-states from C1E down disabled, performance governor, turbo off, as in the SM_IDLE runs: the clock is that part's base of 1.9 GHz.",
		KHz:    1_900_000,
		Uncore: Scale{100, 170, Assumed, "the mesh clock follows the load, here light, between its limits of about 1.4 and 2.4 GHz whatever the cores' governor"},
		CPUs:   t.CPUs(),
		Nodes:  t.Nodes(),
		Idle: []IdleState{
			{Name: "POLL", Polling: true, Basis: Cited, Source: "cpuidle's polling state: no latency, no residency",
				Wake: exactly(0, Derived, "when the loop sees the flag is the kernel's cost relax")},
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
		IPI: apic(),
		Costs: []CostFigure{
			{"schedule_tail", 200 * ns, Derived, "fitted: ten patched runs without a background then have the published patched mean of 1.43 µs a call, <8bcdee16-88d5-7ec5-7d88-1ac11566c28a@amd.com>"},
			{"rq_visit", 38 * ns, Derived, "fitted with group_visit to one slow published ipistorm run: about 7.3 µs a call if every other call walks 362 run queues, <8bcdee16-88d5-7ec5-7d88-1ac11566c28a@amd.com>"},
			{"group_visit", 60 * ns, Derived, "fitted with rq_visit to the same run; 37–49 ns a run queue and nothing a group fits as well"},
		},
	}
}

func power9() *Machine {
	t := Topology{Sockets: 2, NodesPerSocket: 1, LLCsPerNode: 10, CoresPerLLC: 1, ThreadsPerCore: 8, Numbering: ThreadsAdjacent}
	stop := func(name string, exit, residency sim.Time) IdleState {
		return IdleState{Name: name, Exit: exit, Residency: residency,
			Basis: Cited, Source: "IBM's firmware (skiboot), table of POWER9 idle states, which calls its values estimates",
			Wake: exactly(exit, Assumed, "taken as the firmware's latency")}
	}
	return &Machine{
		Key:   "power9-smt8",
		Title: "2 × IBM POWER9, 10 SMT8 cores each (160 CPUs)",
		Note: "Sockets, cores and the clock of 3.7 GHz are assumed: the report says POWER9 SMT8 only. The last-level cache that the scheduler sees is " +
			"the L2 of one core. The timebase runs at 512 MHz: a tick is 1.953 ns. No MWAIT: only the polling state wakes without an interrupt.",
		KHz:    3_700_000,
		Uncore: Scale{100, 120, Assumed, "the nest clock is fixed; 20 % for what is not known"},
		CPUs:   t.CPUs(),
		Nodes:  t.Nodes(),
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
		IPI:   power9IPI(),
		Costs: []CostFigure{{"relax", 10 * ns, Assumed, "one turn of a spinning loop at low thread priority, guessed"}},
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
