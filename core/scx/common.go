package scx

import (
	"math/bits"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/sim"
)

// grow returns s with a place for task t.
func grow[T any](s []T, t kernel.TaskID) []T {
	for int(t) >= len(s) {
		var none T
		s = append(s, none)
	}
	return s
}

// average is the moving average of all of these schedulers: a quarter of it is new.
func average[T ~int64](old, new T) T { return old - old/4 + new/4 }

// log2 returns the binary logarithm of n, rounded down; 0 for n < 1.
func log2(n int64) int64 {
	if n < 1 {
		return 0
	}
	return int64(bits.Len64(uint64(n)) - 1)
}

// A frequency is how often something happens in a second, on average.
type frequency struct {
	rate int64
	at   sim.Time // when it last did
}

// maxRate bounds a frequency, so that products of some of them are numbers.
const maxRate = 100_000

// happens notes that it happens at time now.
func (f *frequency) happens(now sim.Time) {
	interval := max(now-f.at, sim.Second/maxRate)
	f.rate, f.at = average(f.rate, int64(sim.Second/interval)), now
}

// byWeight returns a virtual time: what a task of this weight is charged for running for time d.
func byWeight(d sim.Time, weight int64) int64 { return int64(d) * 100 / weight }

// latencyWeights are the weights of latency priorities, least first: as those of nice values, each is a
// quarter greater than the one before.
var latencyWeights = func() (w [40]int64) {
	milli := int64(15_000)
	for i := range w {
		w[i] = milli / 1000
		milli += milli / 4
	}
	return w
}()

// maxRequest is the farthest deadline.
const maxRequest = 50 * sim.Millisecond

// request returns how long after its virtual time a task's deadline is, as rusty has it and, since
// November 2024, bpfland: the shorter, the more often the task is blocked and wakes others, which count twice, and
// the less it runs at a time. avg is what it runs on average until it sleeps.
func request(avg sim.Time, weight, blocks, wakes int64) int64 {
	f := blocks * wakes * wakes
	if f > 1<<40 {
		f = f / 100 * weight
	} else {
		f = f * weight / 100
	}
	// The unit of the run time is not documented: a microsecond makes both logarithms about as large.
	prio := log2(f+1) - log2(byWeight(avg/sim.Microsecond, weight)+1)
	return min(byWeight(avg, latencyWeights[min(max(prio, 0), int64(len(latencyWeights)-1))]), int64(maxRequest))
}

// An llc is the CPUs that share a last-level cache.
type llc struct {
	cpus kernel.CPUSet
	list []int
	node int
	dsq  kernel.DSQ // if the scheduler has one for each
}

// llcs returns the machine's, by machine.CPU.LLC.
func llcs(m *machine.Machine) []llc {
	var all []llc
	for i, c := range m.CPUs {
		for int(c.LLC) >= len(all) {
			all = append(all, llc{cpus: kernel.NewCPUSet(len(m.CPUs), func(int) bool { return false })})
		}
		d := &all[c.LLC]
		d.cpus.Add(i)
		d.list, d.node = append(d.list, i), int(c.Node)
	}
	return all
}

// pickSync chooses the CPU of a task whose waker is about to sleep, as rusty and bpfland do: where it
// was, if that is near and idle, else the waker's, if nobody waits there and the machine has idle CPUs. It returns
// -1 where neither fits. Near is the waker's last-level cache. (Whether that has idle CPUs is documented to matter,
// and not to be had in one call: it is the machine here.)
func pickSync(x *kernel.Ext, near *llc, t kernel.TaskID, prev int) int {
	this := x.CPU()
	if near.cpus.Has(prev) && x.Allows(t, prev) && x.ClaimIdle(prev) {
		return prev
	}
	if x.Current() != kernel.NoTask && x.Allows(t, this) && x.Queued(kernel.LocalOn(this)) == 0 && x.AnyIdle() {
		return this
	}
	return -1
}

// A weighted is a queue in the order of weighted virtual times: simple's, and that of flatcg for a
// cgroup.
type weighted struct {
	x     *kernel.Ext
	queue kernel.DSQ
	now   int64 // the latest virtual time of those that have begun to run
}

func (w *weighted) enable(t kernel.TaskID) { w.x.SetVTime(t, w.now) }

// enqueue puts a task into the queue. One that has slept has saved up a slice at most.
func (w *weighted) enqueue(t kernel.TaskID, f kernel.EnqFlags) {
	v := max(w.x.VTime(t), w.now-int64(kernel.SliceDefault))
	w.x.InsertVTime(t, w.queue, kernel.SliceDefault, v, f)
}

func (w *weighted) running(t kernel.TaskID) { w.now = max(w.now, w.x.VTime(t)) }

// stopping charges the task for what it has used of its slice: no clock is needed.
func (w *weighted) stopping(t kernel.TaskID, _ bool) {
	w.x.SetVTime(t, w.x.VTime(t)+byWeight(kernel.SliceDefault-w.x.Slice(t), w.x.Weight(t)))
}

// selectIdle is the kernel's choice of a CPU; an idle one gets the task at once.
func selectIdle(x *kernel.Ext, t kernel.TaskID, prev int, f kernel.WakeFlags) int {
	cpu, idle := x.SelectDefault(t, prev, f)
	if idle {
		x.Insert(t, kernel.DSQLocal, kernel.SliceDefault, 0)
	}
	return cpu
}
