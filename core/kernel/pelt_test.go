package kernel

import (
	"math/big"
	"testing"

	"schedlab/core/machine"
	"schedlab/core/sim"
)

// The table is 2^(-n/32) of 2^32 − 1: x is the largest number of which x^32·2^n is no
// more than (2^32 − 1)^32.
func TestPeltDecay(t *testing.T) {
	power := func(x uint64) *big.Int { return new(big.Int).Exp(new(big.Int).SetUint64(x), big.NewInt(32), nil) }
	one := power(1<<32 - 1)
	for n, x := range peltDecay {
		fits := func(x uint64) bool { return new(big.Int).Lsh(power(x), uint(n)).Cmp(one) <= 0 }
		if !fits(uint64(x)) || fits(uint64(x)+1) {
			t.Errorf("entry %d is not %#x", n, x)
		}
	}
	// A sum that gains a period and decays ever again comes to rest at the maximum.
	sum := uint64(0)
	for range 1000 {
		sum = decayed(sum, 1) + peltPeriod
	}
	if sum != peltMax {
		t.Errorf("sums end at %d, want %d", sum, peltMax)
	}
	for _, c := range []struct{ n, want uint64 }{{0, peltMax - 1}, {32, peltMax/2 - 1}, {64, peltMax/4 - 1}, {2048, 0}, {1 << 40, 0}} {
		if got := decayed(peltMax, c.n); got != c.want {
			t.Errorf("after %d periods %d is left, want %d", c.n, got, c.want)
		}
	}
}

// A reference is a sum that the integers are compared with.
type reference struct{ sum *big.Float }

// wait lets d units pass, in which the thing was there or not.
func (r *reference) wait(part *uint64, d uint64, there bool) {
	y := halfLife()
	for d > 0 {
		step := min(d, peltPeriod-*part)
		if there {
			r.sum.Add(r.sum, new(big.Float).SetUint64(step))
		}
		*part += step
		d -= step
		if *part == peltPeriod {
			*part = 0
			r.sum.Mul(r.sum, y)
		}
	}
}

// halfLife is the 32nd root of a half: five square roots.
func halfLife() *big.Float {
	y := new(big.Float).SetPrec(100).SetFloat64(0.5)
	for range 5 {
		y.Sqrt(y)
	}
	return y
}

// The integers stay near what they stand for.
func TestPeltAgainstReference(t *testing.T) {
	r := sim.NewRand(1, 0, sim.Workload)
	var p pelt
	load, util := reference{new(big.Float).SetPrec(100)}, reference{new(big.Float).SetPrec(100)}
	var part, part2 uint64
	now := int64(0)
	for i := range 3000 {
		d := int64(1) << r.Below(26)
		now += d
		units := uint64(now-p.last) >> 10
		state := r.Below(3)
		p.update(now, nice0, state > 0, state > 1)
		load.wait(&part, units, state > 0)
		util.wait(&part2, units, state > 1)
		if part != p.part {
			t.Fatalf("step %d: %d units into a period, want %d", i, p.part, part)
		}
		for _, c := range []struct {
			what string
			got  uint64
			ref  *reference
		}{{"load", p.loadSum, &load}, {"utilisation", p.utilSum / capacity, &util}} {
			want, _ := c.ref.sum.Int64()
			if diff := int64(c.got) - want; diff < -64 || diff > 64 { // of 47742, which itself is 45 less than the sum of the series
				t.Fatalf("step %d: the sum of %s is %d, want %d", i, c.what, c.got, want)
			}
		}
		if p.load < 0 || p.load > nice0 || p.util < 0 || p.util > capacity {
			t.Fatalf("step %d: load %d, utilisation %d", i, p.load, p.util)
		}
	}
}

// Load halves in 32 periods and is full after some 350.
func TestPeltHalfLife(t *testing.T) {
	const period = 1 << 20 // ns
	p := pelt{}
	p.update(345*period, nice0, true, true)
	if p.load < 1023 || p.util < 1023 {
		t.Errorf("after 345 periods: load %d, utilisation %d", p.load, p.util)
	}
	p.update(377*period, nice0, false, false)
	if p.load < 511 || p.load > 513 || p.util < 511 || p.util > 513 {
		t.Errorf("32 periods later: load %d, utilisation %d", p.load, p.util)
	}
	// Within a period nothing shows.
	p.update(377*period+period-1024, nice0, true, true)
	if p.load > 513 || p.util > 513 {
		t.Errorf("within the next period: load %d, utilisation %d", p.load, p.util)
	}
	p.update(378*period, nice0, true, true)
	if p.load < 520 {
		t.Errorf("after it: load %d", p.load)
	}
}

// A task that is runnable half of the time has half of its weight for a load.
func TestPeltDuty(t *testing.T) {
	for _, nice := range []int{0, -10, 10} {
		k := newKernel(t, small(t), Features{}, 0)
		spawn(t, k, TaskSpec{Name: "half", CPUs: []int{3}, Nice: nice, Prog: []Op{
			{Kind: OpCompute, D: sim.Millisecond}, {Kind: OpSleep, D: sim.Millisecond}, {Kind: OpLoop, Obj: 2}}})
		for k.now < 600*sim.Millisecond && k.Step(1) == Running {
		}
		tk := &k.tasks[0]
		r := &k.cpus[3].rq
		weight := niceWeight[nice+20]
		for _, c := range []struct {
			what      string
			got, want int64
		}{{"load", tk.pelt.load, weight / 2}, {"utilisation", tk.pelt.util, 512}, {"queue's load", r.pelt.load, weight / 2}, {"queue's utilisation", r.pelt.util, 512}} {
			if c.got < c.want*94/100 || c.got > c.want*106/100 {
				t.Errorf("nice %d: %s %d, want about %d", nice, c.what, c.got, c.want)
			}
		}
	}
}

// A sleeping task that is woken elsewhere takes its load along: its old queue gives it up at its own
// next update.
func TestPeltMoves(t *testing.T) {
	for _, balanced := range []bool{false, true} {
		k := placing(t, shaped(t, twoCaches), "6.11")
		a, b := &k.cpus[1], &k.cpus[4]
		id := occupy(t, k, 1)
		tk := &k.tasks[id]
		at := func(c *cpu, ms sim.Time) { c.rq.clock = ms * sim.Millisecond }
		at(a, 400)
		k.loadTick(a)
		if tk.pelt.load < 1020 || a.rq.pelt.load < 1020 || a.rq.pelt.tasks != 1 {
			t.Fatalf("after 400 ms: %+v, %+v", tk.pelt, a.rq.pelt)
		}
		if !balanced {
			tk.state = taskSleeping
		}
		k.setCurr(a, noTask)
		k.dequeue(a, id)
		if a.rq.pelt.load < 1020 || a.rq.pelt.queuedLoad > 2 {
			t.Errorf("a sleeping task's load has left its queue: %+v", a.rq.pelt)
		}
		at(b, 401)
		if !balanced {
			k.removeLoad(tk)
			if a.rq.pelt.load < 1020 || a.rq.pelt.removed.nr != 1 || a.rq.pelt.tasks != 0 {
				t.Errorf("the old queue has changed at once: %+v", a.rq.pelt)
			}
		}
		k.enqueue(b, id)
		if b.rq.pelt.load < 1000 || b.rq.pelt.util < 1000 || b.rq.pelt.tasks != 1 || b.rq.pelt.queuedLoad != tk.pelt.load {
			t.Errorf("balanced %v: the new queue has %+v", balanced, b.rq.pelt)
		}
		k.updateBlocked(a, 402*sim.Millisecond)
		if a.rq.pelt.load > 2 || a.rq.pelt.util > 2 || a.rq.pelt.loadSum > 2*peltMax || a.rq.pelt.tasks != 0 || a.rq.pelt.removed.nr != 0 {
			t.Errorf("balanced %v: the old queue has %+v", balanced, a.rq.pelt)
		}
	}
}

// A new task counts with its full weight, and with half of what is left of its CPU.
func TestPeltBegins(t *testing.T) {
	for _, c := range []struct{ weight, rqUtil, rqLoad, util int64 }{
		{1024, 0, 0, 512}, {1024, 400, 1023, 312}, {1024, 100, 1023, 100}, {335, 400, 1023, 130}, {1024, 1024, 1024, 0}, {1024, 1100, 1024, 0},
	} {
		var p pelt
		if p.begin(c.weight, &pelt{util: c.rqUtil, load: c.rqLoad}); p.load != c.weight || p.util != c.util {
			t.Errorf("%+v: load %d, utilisation %d", c, p.load, p.util)
		}
	}
}

// Loads of a whole simulation stay within what queues can hold.
func TestPeltInASimulation(t *testing.T) {
	k := newKernel(t, shaped(t, machine.Topology{Sockets: 2, NodesPerSocket: 1, LLCsPerNode: 1, CoresPerLLC: 2, ThreadsPerCore: 1}), Features{}, 0)
	for range 6 {
		spawn(t, k, TaskSpec{Name: "x", Prog: []Op{{Kind: OpCompute, D: 3 * sim.Millisecond, N: 50}, {Kind: OpSleep, D: sim.Millisecond, N: 50}, {Kind: OpLoop, Obj: 2}}})
	}
	for k.now < 500*sim.Millisecond && k.Step(1) == Running {
	}
	sum, util := int64(0), int64(0)
	for i := range k.cpus {
		sum += k.cpus[i].rq.pelt.load
		util += k.cpus[i].rq.pelt.util
	}
	if k.status != Running || sum < 4*1024 || sum > 6*1024 || util < 3*1024 || util > 4*1100 {
		t.Errorf("load %d, utilisation %d of four CPUs with six tasks; %s", sum, util, k.fault)
	}
}

func BenchmarkPeltUpdate(b *testing.B) {
	for _, c := range []struct {
		name string
		step int64
	}{{"within a period", 2048}, {"a period", 1 << 20}} {
		b.Run(c.name, func(b *testing.B) {
			var p pelt
			now := int64(0)
			for b.Loop() {
				now += c.step
				p.update(now, nice0, true, true)
			}
		})
	}
}
