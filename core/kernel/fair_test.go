package kernel

import (
	"fmt"
	"testing"

	"schedlab/core/sim"
)

// What the theory of fair queueing promises, whoever keeps the queue. All of it is checked after every event.

// Tasks that share a CPU get time by their weights, under either policy.
func TestSharesByWeight(t *testing.T) {
	const window, piece = 8 * sim.Second, sim.Millisecond
	for _, key := range []string{"6.11", "6.1"} {
		for _, nice := range [][]int{{0, 0}, {0, 5}, {-5, 5}, {0, 0, 0, 0, 0, 0, 0, 0}, {-10, 0, 10}, {19, 19, 19}, {-20, -20, -15}, {-3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}} {
			k := newKernel(t, small(t), Features{}, 1)
			k.base = base(t, key)
			weights := int64(0)
			for _, n := range nice {
				s := hog("", 3)
				s.Nice = n
				s.Prog = []Op{{Kind: OpCompute, D: piece}, {Kind: OpMark, Obj: int32(k.Metric())}, {Kind: OpLoop, Obj: 2}}
				spawn(t, k, s)
				weights += niceWeight[20+n]
			}
			spawn(t, k, TaskSpec{Name: "clock", CPUs: []int{5}, Prog: []Op{{Kind: OpBegin}, {Kind: OpSleep, D: window}, {Kind: OpEnd}}})
			got, all := finish(t, k).Hists, 0.0
			for i := range got {
				all += float64(got[i].N)
			}
			if whole := float64(window / piece); all < 0.98*whole {
				t.Errorf("%s, nice %v: %v of %v ms were used", key, nice, all, whole)
			}
			for i, n := range nice {
				share, want := float64(got[i].N)/all, float64(niceWeight[20+n])/float64(weights)
				if share < want-0.005 || share > want+0.005 {
					t.Errorf("%s, nice %v: task %d got %.4f of the CPU, want %.4f", key, nice, i, share, want)
				}
			}
		}
	}
}

// Under EEVDF no task is far from its share. In real time times its part of the CPU: a task that begins
// its turn is owed something, runs for its slice and until the tick that sees it, and owes that much
// at most then. A task that waits is owed a slice at most, and for each of the others what it ran over
// until the tick. So with a tick that is short both stay within a slice, as the theory has it.
//
// Who comes or goes with a lag moves the mean, and with it the lag of the others, by that much at
// most: two slices or a tick. In theory several might do so in a row.
func TestLagBound(t *testing.T) {
	const slice = 3 * sim.Millisecond
	span := func(r *sim.Rand) sim.Time {
		return 10*sim.Microsecond + r.Between(0, 100*sim.Microsecond<<r.Below(9)) // to 26 ms
	}
	for _, c := range []struct {
		hz    int64
		sleep bool
	}{{10000, false}, {1000, false}, {250, false}, {100, false}, {10000, true}, {1000, true}, {250, true}, {100, true}} {
		for seed := range uint32(8) {
			r := sim.NewRand(seed, 0, sim.Workload)
			b := Bases[0]
			b.HZ = c.hz
			m := small(t)
			k, err := New(Config{Machine: m, Base: b, Costs: CostsOn(m), Seed: 1, Run: seed, Check: true})
			if err != nil {
				t.Fatal(err)
			}
			nice, n := 1+r.Below(20), 2+r.Below(12)
			owes, owed := slice+b.Jiffy(), slice+b.Jiffy()*sim.Time(n-1)
			if c.sleep {
				owes, owed = owes+max(2*slice, b.Jiffy()), owed+max(2*slice, b.Jiffy())
			}
			for range n {
				s := TaskSpec{Name: "t", CPUs: []int{3}, Nice: int(r.Below(2*nice) - nice), Prog: []Op{{Kind: OpCompute, D: span(&r), N: 50}}}
				if c.sleep {
					s.Prog = append(s.Prog, Op{Kind: OpSleep, D: span(&r), N: 50})
				}
				s.Prog = append(s.Prog, Op{Kind: OpLoop, Obj: int32(len(s.Prog))})
				spawn(t, k, s)
			}
			for k.now < 300*sim.Millisecond && k.Step(1) == Running {
				avg := k.cpus[3].rq.avgV()
				for i := range k.tasks {
					tk := &k.tasks[i]
					if lag := sim.Time((avg - tk.v) * tk.weight / nice0); tk.queued && (lag < -owes || lag > owed) {
						t.Fatalf("HZ=%d, sleeping %v, seed %d: at %s the lag of task %d, of nice %d, is %s", c.hz, c.sleep, seed, k.now, i, tk.spec.Nice, lag)
					}
				}
			}
			if k.status != Running {
				t.Fatal(k.fault)
			}
		}
	}
}

// No CPU stays idle for long while another one under the same cache has two tasks: until that cache
// domain's next pass, which is twice its interval away if the last one moved nothing, at the
// tick or the kick after that.
func TestWorkConservation(t *testing.T) {
	m := small(t)
	cache := []int{0, 1, 8, 9}
	for _, key := range []string{"6.11", "6.1"} {
		for _, signal := range []CallSignal{SignalResched, SignalNotify, SignalIPI} {
			for seed := range uint32(4) {
				r := sim.NewRand(seed, 0, sim.Workload)
				b := base(t, key)
				b.CallSignal = signal
				k, err := New(Config{Machine: m, Base: b, Costs: CostsOn(m), Seed: 1, Run: seed, Check: true})
				if err != nil {
					t.Fatal(err)
				}
				limit := 2*sim.Time(len(cache))*sim.Millisecond + b.Jiffy()
				for range 3 + r.Below(6) {
					s := hog("t", 0)
					s.CPUs = cache
					if r.Below(2) == 0 {
						s.Prog = []Op{
							{Kind: OpCompute, D: 10*sim.Microsecond + r.Between(0, 100*sim.Microsecond<<r.Below(9)), N: 50},
							{Kind: OpSleep, D: 10*sim.Microsecond + r.Between(0, 100*sim.Microsecond<<r.Below(9)), N: 50},
							{Kind: OpLoop, Obj: 2},
						}
					}
					spawn(t, k, s)
				}
				var busy [16]sim.Time // when it last was, or nobody had two
				for k.now < 500*sim.Millisecond && k.Step(1) == Running {
					two := false
					for _, x := range cache {
						two = two || k.cpus[x].rq.nrRunning() >= 2
					}
					for _, x := range cache {
						if !two || !k.cpus[x].idleCPU() {
							busy[x] = k.now
						} else if d := k.now - busy[x]; d > limit {
							t.Fatalf("%s, signal %d, seed %d: at %s CPU %d has been idle for %s while another one had two tasks", key, signal, seed, k.now, x, d)
						}
					}
				}
				if k.status != Running {
					t.Fatal(k.fault)
				}
			}
		}
	}
}

// A crowd that comes to life on one CPU, while all others are busy, is spread over the machine.
func TestCrowdIsSpread(t *testing.T) {
	for _, key := range []string{"6.11", "6.1"} {
		k := newKernel(t, small(t), Features{}, 0)
		k.base = base(t, key)
		for i := 1; i < len(k.cpus); i++ {
			spawn(t, k, TaskSpec{Name: fmt.Sprint("busy", i), CPUs: []int{i}, Prog: []Op{{Kind: OpCompute, D: 5 * sim.Millisecond}}})
		}
		for range 6 * len(k.cpus) {
			spawn(t, k, TaskSpec{Name: "crowd", CPUs: []int{0}, Prog: []Op{{Kind: OpSleep, D: sim.Millisecond}, {Kind: OpCompute, D: 10 * sim.Second}}})
		}
		for k.now < 2*sim.Millisecond && k.Step(1) == Running {
		}
		if n := k.cpus[0].rq.nrRunning(); n != 6*len(k.cpus) {
			t.Errorf("%s: %d tasks on CPU 0 at first", key, n)
		}
		for i := range k.tasks { // from now on they may go
			if tk := &k.tasks[i]; tk.spec.Name == "crowd" {
				tk.allowed, tk.pinned = nil, false
			}
		}
		for k.now < sim.Second && k.Step(1) == Running {
		}
		for i := range k.cpus {
			if n := k.cpus[i].rq.nrRunning(); n < 3 || n > 9 {
				t.Errorf("%s: %d tasks on CPU %d, want 6 ± 3", key, n, i)
			}
		}
		if k.status != Running {
			t.Error(k.fault)
		}
	}
}

// A task that joins is owed what it was owed when it left, within two slices or a tick, by the mean
// that it has moved by joining.
func TestPlaceKeepsLag(t *testing.T) {
	const ms = int64(sim.Millisecond)
	for _, nice := range [][3]int{{0, 0, 0}, {0, 0, 19}, {0, 0, -20}, {19, 19, -20}, {-20, -20, 19}, {5, -5, 0}} {
		for _, lag := range []int64{0, 1, -1, ms, -ms, 6 * ms, -6 * ms, 7 * ms, -1000 * ms} { // at the weight of nice 0
			k, c := resting(t, small(t), 3)
			for i, n := range nice {
				s := hog("", 3)
				s.Nice = n
				spawn(t, k, s)
				k.tasks[i].state = taskRunning
				if i < 2 {
					k.enqueue(c, int32(i))
				}
			}
			e := &k.tasks[2].fairEntity
			e.started, e.lag = true, lag*nice0/e.weight
			k.enqueue(c, 2)
			want := max(min(lag, 6*ms), -6*ms) * nice0 / e.weight
			if got := c.rq.avgV() - e.v; got < want-1 || got > want+1 {
				t.Errorf("nice %v: a lag of %d becomes %d, want %d", nice, e.lag, got, want)
			}
		}
	}
}
