package scx

import (
	"testing"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
)

func TestFrequency(t *testing.T) {
	var f frequency
	for i := range 40 {
		f.happens(sim.Time(i) * sim.Millisecond)
	}
	if f.rate < 980 || f.rate > 1020 {
		t.Errorf("once in a millisecond is %d times in a second", f.rate)
	}
	for range 40 {
		f.happens(f.at) // the clocks of two CPUs can differ
	}
	if f.rate > maxRate || f.rate < maxRate*95/100 {
		t.Errorf("at once again is %d times in a second", f.rate)
	}
}

// A deadline is the nearer, the more often a task is blocked and wakes others, the shorter it runs, and the more it weighs.
func TestRequest(t *testing.T) {
	const us = sim.Microsecond
	for _, c := range []struct {
		name         string
		nearer, than int64
	}{
		{"blocked often", request(100*us, 100, 5000, 1000), request(100*us, 100, 50, 1000)},
		{"wakes often", request(100*us, 100, 1000, 5000), request(100*us, 100, 1000, 50)},
		{"wakes rather than is blocked", request(100*us, 100, 100, 10_000), request(100*us, 100, 10_000, 100)},
		{"runs shortly", request(10*us, 100, 1000, 1000), request(1000*us, 100, 1000, 1000)},
		{"weighs more", request(100*us, 1000, 1000, 1000), request(100*us, 10, 1000, 1000)},
	} {
		if c.nearer >= c.than {
			t.Errorf("%s: %d, else %d", c.name, c.nearer, c.than)
		}
	}
	for _, w := range []int64{1, 100, 10_000} {
		for _, avg := range []sim.Time{0, 1, sim.Second, 1000 * sim.Second} {
			for _, f := range []int64{0, 1, maxRate} {
				if r := request(avg, w, f, f); r < 0 || r > int64(maxRequest) {
					t.Errorf("request(%s, %d, %d, %d) = %d", avg, w, f, f, r)
				}
			}
		}
	}
	if n := len(latencyWeights); latencyWeights[0] != 15 || latencyWeights[n-1] < 85_000 || latencyWeights[n-1] > 95_000 {
		t.Errorf("latency weights from %d to %d", latencyWeights[0], latencyWeights[n-1])
	}
}

func TestLavdArithmetic(t *testing.T) {
	const us, ms = sim.Microsecond, sim.Millisecond
	for _, c := range []struct {
		name       string
		more, than int64
	}{
		{"waits often", lavdCritical(1000, 10, ms, 100), lavdCritical(10, 10, ms, 100)},
		{"wakes often", lavdCritical(10, 1000, ms, 100), lavdCritical(10, 10, ms, 100)},
		{"runs shortly", lavdCritical(10, 10, 100*us, 100), lavdCritical(10, 10, 15*ms, 100)},
		{"weighs more", lavdCritical(10, 10, ms, 400), lavdCritical(10, 10, ms, 100)},
		{"greedy", lavdPenalty(150_000, 100_000, true), lavdPenalty(100_000, 100_000, true)},
		{"not critical", lavdDeadline(ms, 1000, 100), lavdDeadline(ms, 1000, 900)},
		{"has run for long", lavdDeadline(5*ms, 1000, 100), lavdDeadline(ms, 1000, 100)},
	} {
		if c.more <= c.than {
			t.Errorf("%s: %d, else %d", c.name, c.more, c.than)
		}
	}
	for _, c := range []struct{ service, average, want int64 }{
		{0, 0, 1000}, {10, 0, 1000}, {50, 100, 1000}, {1_500_000, 1_001_000, 1498}, {900, 100, 2000}, {1 << 62, 1 << 61, 2000}, {1<<62 - 1, 1 << 61, 1999},
	} {
		if got := lavdPenalty(c.service, c.average, true); got != c.want {
			t.Errorf("lavdPenalty(%d, %d) = %d, want %d", c.service, c.average, got, c.want)
		}
	}
	if got := lavdPenalty(0, 100, false); got != 2000 {
		t.Errorf("a new task's penalty is %d", got)
	}
	if got := lavdCritical(maxRate, maxRate, 0, 50_000); lavdDeadline(0, 1000, got) <= 0 {
		t.Error("the most critical task has no deadline")
	}
	for _, c := range []struct {
		cpus, runnable int64
		want           sim.Time
	}{{8, 0, lavdSliceMax}, {8, 8, lavdSliceMax}, {8, 80, 2 * ms}, {8, 8000, lavdSliceMin}} {
		if got := lavdSlice(c.cpus, c.runnable); got != c.want {
			t.Errorf("%d runnable tasks on %d CPUs: a slice of %s, want %s", c.runnable, c.cpus, got, c.want)
		}
	}
	// Under twice the load the clock goes half as fast, and a time before it changes nothing.
	l := lavdSched{load: 2000}
	l.advance(10 * ms)
	l.advance(4 * ms)
	if l.clock != 5*ms || l.clockAt != 10*ms {
		t.Errorf("the logical clock says %s", l.clock)
	}
}

func TestBpflandSlice(t *testing.T) {
	for _, c := range []struct {
		waiting int
		want    sim.Time
	}{{0, 20 * sim.Millisecond}, {1, 10 * sim.Millisecond}, {4, 4 * sim.Millisecond}, {500, sim.Millisecond}} {
		if got := bpflandSliceFor(c.waiting); got != c.want {
			t.Errorf("%d wait: %s, want %s", c.waiting, got, c.want)
		}
	}
}

// Domains hold each CPU once, and the nearest of others come first.
func TestDomains(t *testing.T) {
	for _, m := range machine.Catalogue() {
		all := llcs(m)
		n := 0
		for _, d := range all {
			n += len(d.list)
			for _, cpu := range d.list {
				if !d.cpus.Has(cpu) || int(m.CPUs[cpu].Node) != d.node {
					t.Errorf("%s: CPU %d is in a domain of node %d", m.Key, cpu, d.node)
				}
			}
		}
		if n != len(m.CPUs) {
			t.Errorf("%s: %d CPUs of %d are in domains", m.Key, n, len(m.CPUs))
		}
		for d, near := range nearest(m, all) {
			if len(near) != len(all)-1 {
				t.Errorf("%s: domain %d has %d others of %d", m.Key, d, len(near), len(all)-1)
			}
			left := false
			for _, other := range near {
				if all[other].node != all[d].node {
					left = true
				} else if left {
					t.Errorf("%s: domain %d comes to one of its node after others", m.Key, d)
				}
			}
		}
	}
}

func TestRing(t *testing.T) {
	var r ring
	next, want := kernel.TaskID(0), kernel.TaskID(0)
	for i := range 1000 {
		for range i % 7 {
			r.push(next)
			next++
		}
		for range min(i%5, r.n) {
			if got := r.pop(); got != want {
				t.Fatalf("task %d comes instead of %d", got, want)
			}
			want++
		}
	}
	if int(next-want) != r.n {
		t.Errorf("%d are left of %d", r.n, next-want)
	}
}
