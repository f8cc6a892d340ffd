package kernel

import (
	"fmt"
	"math"
	"testing"

	"schedlab/core/sim"
)

// The fair class by walks over all tasks: what the tree and the sums must agree with.

func (k *Kernel) walk(c *cpu, visit func(t int32, e *fairEntity)) {
	for i := range k.tasks {
		if tk := &k.tasks[i]; tk.queued && tk.cpu == c.id {
			visit(int32(i), &tk.fairEntity)
		}
	}
}

func walkAvgV(k *Kernel, c *cpu) int64 {
	sum, load := int64(0), int64(0)
	k.walk(c, func(_ int32, e *fairEntity) {
		sum += (e.v - c.rq.minV) * e.weight
		load += e.weight
	})
	if load == 0 {
		return c.rq.minV
	}
	q := sum / load
	if sum%load < 0 {
		q--
	}
	return c.rq.minV + q
}

func walkMinV(k *Kernel, c *cpu) int64 {
	least := int64(math.MaxInt64)
	k.walk(c, func(_ int32, e *fairEntity) { least = min(least, e.v) })
	if least == math.MaxInt64 {
		return c.rq.minV
	}
	return max(c.rq.minV, least)
}

// walkFirst returns the first task by a key, leaving out one and those for which the key is not ok.
// Of equal ones the first in number comes first.
func walkFirst(k *Kernel, c *cpu, but int32, key func(e *fairEntity) (int64, bool)) int32 {
	best, least := noTask, int64(0)
	k.walk(c, func(t int32, e *fairEntity) {
		if v, ok := key(e); ok && t != but && (best == noTask || v < least) {
			best, least = t, v
		}
	})
	return best
}

func leftmost(e *fairEntity) (int64, bool) { return e.v, true }

func walkPick(k *Kernel, c *cpu) int32 {
	r := &c.rq
	if k.base.Policy == CFS {
		left := walkFirst(k, c, noTask, leftmost)
		switch {
		case left == noTask:
		case r.next != noTask && !k.behind(r.next, left):
			return r.next
		case r.last != noTask && !k.behind(r.last, left):
			return r.last
		}
		return left
	}
	avg := walkAvgV(k, c)
	if t := r.curr; t != noTask && k.tasks[t].queued {
		if e := &k.tasks[t].fairEntity; e.parity == e.deadline && e.v <= avg {
			return t
		}
	}
	return walkFirst(k, c, noTask, func(e *fairEntity) (int64, bool) { return e.deadline, e.v <= avg })
}

// fairProgram runs a program of bytes against two run queues and compares them after each
// step with the walks.
func fairProgram(t *testing.T, prog []byte) {
	if len(prog) == 0 {
		return
	}
	m := small(t)
	k, err := New(Config{Machine: m, Base: Bases[int(prog[0])%len(Bases)], Costs: CostsOn(m), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	const tasks = 100
	for i := range tasks {
		s := hog("", 3)
		s.CPUs = nil
		if prog[0]&16 != 0 {
			s.Nice = i*7%40 - 20
		}
		spawn(t, k, s)
	}
	two := []*cpu{&k.cpus[3], &k.cpus[9]}
	pick := func(c *cpu) {
		if next := k.pickFair(c); next != c.rq.curr {
			if next != noTask {
				k.setNext(c, next)
			}
			k.setCurr(c, next)
		}
	}
	for i := 1; i+1 < len(prog); i += 2 {
		op, x := prog[i], prog[i+1]
		c, other := two[op>>3&1], two[^op>>3&1]
		r := &c.rq
		id := int32(x) % tasks
		tk := &k.tasks[id]
		switch op & 7 {
		case 0: // time passes
			r.clock += sim.Time(x) << (op >> 4) * sim.Microsecond
			k.updateCurr(c)
		case 1, 2:
			k.updateCurr(c)
			pick(c)
		case 3, 4: // wakeup, with bursts of tasks that stand alike
			for j := range int32(op>>4) + 1 {
				id := (id + j) % tasks
				if tk := &k.tasks[id]; !tk.queued && two[0].rq.curr != id && two[1].rq.curr != id {
					tk.state = taskRunning
					k.enqueue(c, id)
					k.wakePreempts(c, id)
				}
			}
		case 5: // the one that runs sleeps, and is woken again before it is off its CPU if x says so
			if r.curr != noTask {
				tk := &k.tasks[r.curr]
				tk.state = taskSleeping
				k.dequeue(c, r.curr)
				if x&1 != 0 {
					tk.state = taskRunning
					k.enqueue(c, r.curr)
				}
				pick(c)
			}
		case 6: // a move
			if tk.queued && tk.cpu == c.id && id != r.curr {
				k.dequeue(c, id)
				k.enqueue(other, id)
			}
		case 7:
			k.updateCurr(c)
			want := r.expired
			if k.base.Policy == CFS {
				want = false
				if t := k.running(r); t != noTask && r.nrRunning() > 1 {
					e, slice := &k.tasks[t].fairEntity, k.sliceCFS(c, &k.tasks[t].fairEntity, 0)
					left := walkFirst(k, c, t, leftmost)
					want = e.ran > slice || e.ran >= k.base.CFS.MinGranularity && e.v-k.tasks[left].v > int64(slice)
				}
			}
			if got := k.tickPreempts(c); got != want {
				t.Fatalf("step %d: the tick preempts: %v, want %v", i, got, want)
			}
		}
		for _, c := range two {
			r := &c.rq
			k.checkQueue(c)
			if k.status == Broken {
				t.Fatalf("step %d: %s", i, k.fault)
			}
			saved := *r
			want, got := walkPick(k, c), k.pickFair(c)
			*r = saved // with its buddies
			if got != want {
				t.Fatalf("step %d: task %d is picked, want %d", i, got, want)
			}
			if k.base.Policy == CFS {
				want := walkMinV(k, c)
				k.updateMinV(&saved)
				if saved.minV != want {
					t.Fatalf("step %d: minV comes to %d, want %d", i, saved.minV, want)
				}
			} else if got, want := r.avgV(), walkAvgV(k, c); got != want {
				t.Fatalf("step %d: the mean is %d, want %d", i, got, want)
			}
		}
	}
}

func TestTreeAgainstWalks(t *testing.T) {
	r := sim.NewRand(1, 0, sim.Workload)
	for range 200 {
		prog := make([]byte, 2*r.Below(400))
		for i := range prog {
			prog[i] = byte(r.Uint64())
		}
		fairProgram(t, prog)
	}
}

func FuzzTree(f *testing.F) {
	for base := range byte(4) {
		f.Add([]byte{base, 0xf3, 0, 0xfb, 40, 1, 0, 0x30, 100, 0xa, 0, 5, 1, 6, 3, 7, 0, 1, 0})
	}
	f.Fuzz(fairProgram)
}

// A tree stays flat whatever order tasks come in: here all with the same key, by number.
func TestTreeIsFlat(t *testing.T) {
	k := cfsKernel(t)
	root := noTask
	const n = 11_520
	k.tasks = make([]task, n)
	for i := range int32(n) {
		root = k.insert(root, i)
	}
	var depth func(root int32) int
	depth = func(root int32) int {
		if root == noTask {
			return 0
		}
		return 1 + max(depth(k.tasks[root].lo), depth(k.tasks[root].hi))
	}
	if d := depth(root); d > 40 { // three times what is possible
		t.Errorf("%d tasks are %d deep", n, d)
	}
	for i := range int32(n) {
		if first := k.earliest(root, 0); first != i {
			t.Fatalf("task %d is first, want %d", first, i)
		}
		root = k.remove(root, i)
	}
}

// BenchmarkFair is a task's going to sleep, the pick of the next one, and a wakeup, on a CPU
// with so many tasks: once through enqueue, dequeue, pickFair and what they keep up to date.
func BenchmarkFair(b *testing.B) {
	for _, key := range []string{"6.11", "6.1"} {
		for _, n := range []int{1, 8, 64, 512} {
			b.Run(fmt.Sprintf("%s/tasks=%d", key, n), func(b *testing.B) {
				m := small(b)
				k, err := New(Config{Machine: m, Base: base(b, key), Costs: CostsOn(m)})
				if err != nil {
					b.Fatal(err)
				}
				c := &k.cpus[3]
				for i := range n + 1 {
					spawn(b, k, hog("", 3))
					if i > 0 {
						k.tasks[i].state = taskRunning
						k.enqueue(c, int32(i))
					}
				}
				asleep := int32(0)
				b.ReportAllocs()
				for b.Loop() {
					if t := c.rq.curr; t != noTask {
						c.rq.clock += 100 * sim.Microsecond
						k.tasks[t].state = taskSleeping
						k.dequeue(c, t)
						k.tasks[asleep].state = taskRunning
						k.enqueue(c, asleep)
						asleep = t
					}
					next := k.pickFair(c)
					k.setNext(c, next)
					k.setCurr(c, next)
				}
			})
		}
	}
}
