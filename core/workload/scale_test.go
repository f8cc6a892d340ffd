package workload

import (
	"fmt"
	"testing"

	"schedlab/core/kernel"
	"schedlab/core/machine"
)

// sized returns a machine with so many CPUs: two sockets with the caches of a large EPYC, or as
// many as are needed, at the figures of a machine of the catalogue.
func sized(t testing.TB, cpus int) *machine.Machine {
	t.Helper()
	model, err := machine.Lookup("epyc-2x64")
	if err != nil {
		t.Fatal(err)
	}
	m := *model
	cores := min(cpus/4, 8)
	topology := machine.Topology{Sockets: 2, NodesPerSocket: 1, LLCsPerNode: cpus / cores / 4, CoresPerLLC: cores, ThreadsPerCore: 2}
	m.Key, m.CPUs, m.Nodes = fmt.Sprint("sized-", cpus), topology.CPUs(), topology.Nodes()
	if err := m.Build(); err != nil {
		t.Fatal(err)
	}
	if len(m.CPUs) != cpus {
		t.Fatalf("%d CPUs, want %d", len(m.CPUs), cpus)
	}
	return &m
}

// BenchmarkScale shows what an event costs as the machine grows, hackbench with it: with as many
// groups as fill the machine's queues with 40 tasks a CPU, or with one task for each.
func BenchmarkScale(b *testing.B) {
	for _, base := range []string{"6.11", "5.18"} {
		for _, cpus := range []int{8, 64, 256, 1024} {
			for _, tasks := range []int{1, 40} {
				b.Run(fmt.Sprintf("kernel=%s/cpus=%d/tasks=%d", base, cpus, tasks*cpus), func(b *testing.B) {
					m := sized(b, cpus)
					v := hackbench.Defaults()
					v[hackbench.Param("groups")].N = int64(max(tasks*cpus/40, 1))
					v[hackbench.Param("loops")].N = 100_000
					v[hackbench.Param("pipe")].N = 1
					measure(b, m, base, &hackbench, v)
				})
			}
		}
	}
}

// measure simulates in steps of a thousand events after the tasks have begun.
func measure(b *testing.B, m *machine.Machine, key string, w *Workload, v Values) {
	base, err := kernel.LookupBase(key)
	if err != nil {
		b.Fatal(err)
	}
	k, err := kernel.New(kernel.Config{Machine: m, Base: base, Costs: kernel.CostsOn(m), Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	if err := w.Build(k, v); err != nil {
		b.Fatal(err)
	}
	var before, after kernel.Snapshot
	for k.Read(&before); before.Elapsed == 0; k.Read(&before) {
		if k.Step(10_000) != kernel.Running {
			b.Fatal("the run is over before it began")
		}
	}
	k.Step(100_000)
	k.Read(&before)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if k.Step(1000) != kernel.Running {
			b.Fatal("the run is over")
		}
	}
	b.StopTimer()
	k.Read(&after)
	events := float64(after.Events - before.Events)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/events, "ns/event")
	b.ReportMetric(events/b.Elapsed().Seconds()/1e6, "Mev/s")
	b.ReportMetric(0, "ns/op") // an op is 1000 events: say nothing
}
