package evidence

import (
	"fmt"
	"math"
	"testing"

	"schedlab/core/stats"
)

// Negative controls: what must come out as nothing.

// small are scenarios of all workloads, as short as they make sense.
var small = []string{
	"?w=ipistorm&numipi=200&bg=mixed",
	"?w=spinlock&k=6.11&bg=quiet",
	"?m=laptop&w=hackbench&groups=2&loops=10&bg=housekeeping",
	"?m=laptop&w=messaging&group=2&nr_loops=20&bg=housekeeping",
	"?m=laptop&w=schbench&runtime=20&bg=housekeeping",
	"?m=laptop&w=netperf&runtime=5&bg=housekeeping",
	"?m=laptop&w=tbench&runtime=5&bg=housekeeping",
	"?m=laptop&w=pgbench&clients=4&runtime=10&bg=housekeeping",
}

// Two samples of runs of the same kernel differ significantly no more often than the test promises: in at most 5 %
// of all cases. The runs are not paired here, as if the patch had changed everything but what is measured.
func TestSameKernelTwice(t *testing.T) {
	const each = 10 // runs of a sample
	runs := 160
	if *full {
		runs = 1000
	}
	if testing.Short() {
		t.Skip("it takes a thousand runs")
	}
	all, false_ := 0, 0
	for _, link := range small {
		r := simulate(t, fmt.Sprintf("%s&arm=&runs=%d", link, runs))
		v := r.Primaries(0)
		n, found := 0, 0
		for i := 0; i+2*each <= len(v); i += 2 * each {
			n++
			if stats.Compare(v[i:i+each], v[i+each:i+2*each], stats.Better(r.Metric().Better)).Significant {
				found++
			}
		}
		t.Logf("%s: %d of %d", link, found, n)
		all, false_ = all+n, false_+found
	}
	// The number of false ones is binomial: more than three deviations beyond 5 % are as rare as one in a thousand.
	mean := 0.05 * float64(all)
	if limit := mean + 3*math.Sqrt(mean*0.95); float64(false_) > limit {
		t.Errorf("%d of %d comparisons of a kernel with itself are significant; 5 %% are %.0f", false_, all, mean)
	}
}

// A patch that changes no step of a workload changes no figure of it, whatever the seed.
func TestPatchWithoutAnEffect(t *testing.T) {
	for _, link := range []string{
		"?m=laptop&k=5.18&w=hackbench&groups=2&loops=10&bg=quiet&arm=&arm=irq-nosync",
		"?m=laptop&k=6.11&w=hackbench&groups=2&loops=10&bg=quiet&arm=&arm=irq-nosync",
		"?m=laptop&k=6.1&w=messaging&group=2&nr_loops=20&bg=quiet&arm=&arm=irq-nosync",
	} {
		for seed := range uint32(20) {
			r := simulate(t, fmt.Sprintf("%s&runs=4&seed=%d", link, seed))
			if c := r.Compare(1); c.Significant || c.ImprovementPct.V != 0 {
				t.Errorf("%s, seed %d: %+.3f %%, p %.3f", link, seed, c.ImprovementPct.V, c.P)
			}
		}
	}
}

// Where what a patch saves costs nothing, the patch gains nothing.
func TestMechanismWithoutACost(t *testing.T) {
	for _, c := range []struct{ link, dear, free string }{
		{"?m=xeon-240&bg=pair&numipi=2000", "", "&c.pick=0&c.newidle=0&c.pass=0&c.rq_visit=0&c.group_visit=0&c.detach_check=0"},
		{"?m=epyc-2x64&bg=pair&numipi=2000", "", "&c.pick=0&c.newidle=0&c.pass=0&c.rq_visit=0&c.group_visit=0&c.detach_check=0"},
		// What a sync wakeup loses there is the way out of a deep idle state.
		{"?m=xeon-e5-2699v3&k=5.18&w=pgbench&clients=12&runtime=200&bg=housekeeping&arm=&arm=irq-nosync", "", "&idle=POLL,C1"},
		// A clock that is read in 23 ns is hardly worth caching: so one that takes as long as an HPET.
		{"?m=epyc-1x32&k=6.14&scx=lavd&w=messaging&bg=quiet&nr_loops=30&arm=scx-ktime&arm=", "&c.clock_read=3000", "&c.clock_read=0&c.clock_cached=0"},
	} {
		gain := func(link string) stats.Comparison { return simulate(t, link+"&runs=6").Compare(1) }
		if x := gain(c.link + c.dear); x.ImprovementPct.V < 10 {
			t.Errorf("%s: a gain of %.1f %%: there is nothing to take away", c.link+c.dear, x.ImprovementPct.V)
		}
		if x := gain(c.link + c.free); x.Significant || math.Abs(x.ImprovementPct.V) > 6 {
			t.Errorf("%s%s: a gain of %.1f %%, p %.3f", c.link, c.free, x.ImprovementPct.V, x.P)
		}
	}
	// Lines that move between caches have no constant: they are what is left.
	saved := func(free string) float64 {
		r := simulate(t, "?m=power9-smt8&k=5.4&w=schbench&version=old&message-threads=2&runtime=1000&metric=idlecore&bg=housekeeping&arm=&arm=select-idle-core&runs=4"+free)
		return stats.Summarize(r.Primaries(0)).Mean - stats.Summarize(r.Primaries(1)).Mean
	}
	if with, without := saved(""), saved("&c.clear_bit=0&c.and_not=0&c.idle_check=0&c.idle_miss=0"); without > with/2 {
		t.Errorf("select_idle_core saves %s ns a search, and %s where its looks cost nothing", fmt.Sprintf("%.0f", with), fmt.Sprintf("%.0f", without))
	}
}
