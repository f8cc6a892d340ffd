package kernel

import (
	"math/bits"

	"schedlab/core/sim"
)

// PELT: how much a task, or a run queue, has had to do of late. Time is counted in units of
// 1024 ns, and 1024 of those make a period, about a millisecond. Each period counts
// half as much as the one 32 periods later. A sum over all time is at most peltMax; an average is a sum
// divided by what it can be at most, and is worked out only when a period has ended.
//
// A task's load is its weight by the part of time in which it was runnable, its utilisation
// the part in which it ran. A run queue's are those of the tasks whose home it is, also
// while they sleep. A task that wakes up elsewhere takes its share along; its old
// queue hears of that at its own next update.

const (
	peltMax    = 47742
	peltPeriod = 1024 // units of 1024 ns
	capacity   = 1024 // utilisation of a CPU that always runs
)

// peltDecay is 2^(-n/32) of 2^32 − 1, rounded down.
var peltDecay = [32]uint32{
	0xffffffff, 0xfa83b2da, 0xf5257d14, 0xefe4b99a,
	0xeac0c6e6, 0xe5b906e6, 0xe0ccdeeb, 0xdbfbb796,
	0xd744fcc9, 0xd2a81d91, 0xce248c14, 0xc9b9bd85,
	0xc5672a10, 0xc12c4cc9, 0xbd08a39e, 0xb8fbaf46,
	0xb504f333, 0xb123f581, 0xad583ee9, 0xa9a15ab4,
	0xa5fed6a9, 0xa2704302, 0x9ef5325f, 0x9b8d39b9,
	0x9837f050, 0x94f4efa8, 0x91c3d373, 0x8ea4398a,
	0x8b95c1e3, 0x88980e80, 0x85aac367, 0x82cd8698,
}

// decayed returns what is left of a sum after n periods.
func decayed(sum, n uint64) uint64 {
	if n >= 32*64 {
		return 0
	}
	hi, lo := bits.Mul64(sum>>(n/32), uint64(peltDecay[n%32]))
	return hi<<32 | lo>>32
}

// A pelt is the load and the utilisation of a task.
type pelt struct {
	last             int64  // up to when, in ns
	part             uint64 // of the period that has not ended, in units of 1024 ns
	loadSum, utilSum uint64
	load, util       int64 // the averages
	attached         bool  // its share is in its home's sums
}

// An rqPelt is those of a run queue.
type rqPelt struct {
	pelt
	tasks   int      // whose shares are in the sums
	removed struct { // shares of those that have woken up elsewhere
		nr         int
		load, util int64
	}

	// Of queued tasks alone.
	queuedSum  uint64
	queuedLoad int64
}

// elapse moves p on to now and returns how many periods have ended since, and how much
// the time since then adds to the sum of what was there all the time, in which periods
// that have ended count less. It is false if no time has passed.
func (p *pelt) elapse(now int64) (periods, share uint64, passed bool) {
	if now-p.last < 1024 {
		return 0, 0, false
	}
	d := uint64(now-p.last) >> 10
	p.last += int64(d << 10)
	all := d + p.part
	if periods = all / peltPeriod; periods == 0 {
		p.part = all
		return 0, d, true
	}
	share = decayed(peltPeriod-p.part, periods)
	share += peltMax - decayed(peltMax, periods) - peltPeriod
	p.part = all % peltPeriod
	return periods, share + p.part, true
}

// most is what a sum can be at most at this point of a period.
func (p *pelt) most() uint64 { return peltMax - peltPeriod + p.part }

// update brings p, of something with this weight, up to now. Since its last update it has
// been runnable or not, and running or not.
func (p *pelt) update(now int64, weight uint64, runnable, running bool) {
	periods, share, passed := p.elapse(now)
	if !passed {
		return
	}
	if periods > 0 {
		p.loadSum, p.utilSum = decayed(p.loadSum, periods), decayed(p.utilSum, periods)
	}
	if runnable {
		p.loadSum += share
		if running {
			p.utilSum += share * capacity
		}
	}
	if periods > 0 {
		p.load, p.util = int64(weight*p.loadSum/p.most()), int64(p.utilSum/p.most())
	}
}

// updateRQ brings the run queue's sums up to now, without the shares that have left it.
func (k *Kernel) updateRQ(r *rq, now int64) {
	p := &r.pelt
	if p.removed.nr > 0 {
		p.less(p.removed.load, uint64(p.removed.load)*p.most(), p.removed.util, uint64(p.removed.util)*p.most())
		p.removed.nr, p.removed.load, p.removed.util = 0, 0, 0
	}
	periods, share, passed := p.elapse(now)
	if !passed {
		return
	}
	if periods > 0 {
		p.loadSum, p.utilSum, p.queuedSum = decayed(p.loadSum, periods), decayed(p.utilSum, periods), decayed(p.queuedSum, periods)
	}
	if r.load > 0 {
		p.loadSum += uint64(r.load) * share
		p.queuedSum += uint64(r.load) * share
		if r.curr != noTask && k.tasks[r.curr].queued {
			p.utilSum += share * capacity
		}
	}
	if periods > 0 {
		p.load, p.util = int64(p.loadSum/p.most()), int64(p.utilSum/p.most())
		p.queuedLoad = int64(p.queuedSum / p.most())
	}
}

// less takes a share out of the sums and averages. The two were rounded apart, so that what is
// left of the sums is made to fit the averages.
func (p *rqPelt) less(load int64, loadSum uint64, util int64, utilSum uint64) {
	p.load, p.util = max(p.load-load, 0), max(p.util-util, 0)
	p.loadSum = max(p.loadSum-min(loadSum, p.loadSum), uint64(p.load)*(peltMax-peltPeriod))
	p.utilSum = max(p.utilSum-min(utilSum, p.utilSum), uint64(p.util)*(peltMax-peltPeriod))
}

// updateLoad brings task t, whose home is c, and c's run queue up to the queue's clock.
func (k *Kernel) updateLoad(c *cpu, t *task) {
	now := peltTime(c.rq.clock)
	t.pelt.update(now, uint64(t.weight), t.queued, t.onCPU(k))
	k.updateRQ(&c.rq, now)
}

func peltTime(t sim.Time) int64 { return int64(t / sim.Nanosecond) }

// loadEnqueued tells that t, not queued yet, joins c's run queue.
func (k *Kernel) loadEnqueued(c *cpu, t *task) {
	r := &c.rq
	if t.pelt.attached && t.cpu != c.id { // moved by the balancer, which has brought both queues up to date
		k.detachLoad(&k.cpus[t.cpu].rq, t)
	}
	if t.pelt.attached {
		k.updateLoad(c, t)
	} else {
		k.updateRQ(r, peltTime(r.clock))
		if !t.started {
			t.pelt.begin(t.weight, &r.pelt.pelt)
		}
		k.attachLoad(r, t)
	}
	r.pelt.queuedLoad += t.pelt.load
	r.pelt.queuedSum += uint64(t.weight) * t.pelt.loadSum
}

// loadDequeued tells that t, queued yet, leaves c's run queue.
func (k *Kernel) loadDequeued(c *cpu, t *task) {
	k.updateLoad(c, t)
	p := &c.rq.pelt
	p.queuedLoad = max(p.queuedLoad-t.pelt.load, 0)
	p.queuedSum = max(p.queuedSum-min(uint64(t.weight)*t.pelt.loadSum, p.queuedSum), uint64(p.queuedLoad)*(peltMax-peltPeriod))
	if t.state == taskExited {
		k.removeLoad(t)
	}
}

// loadSwitched brings the loads of the tasks up to date between which c switches.
func (k *Kernel) loadSwitched(c *cpu, prev, next int32) {
	if prev != noTask && k.tasks[prev].queued {
		k.updateLoad(c, &k.tasks[prev])
	}
	if next != noTask {
		k.updateLoad(c, &k.tasks[next])
	}
}

// loadTick brings the load of c's task up to date.
func (k *Kernel) loadTick(c *cpu) {
	if t := c.rq.curr; t != noTask && k.tasks[t].queued {
		k.updateLoad(c, &k.tasks[t])
	}
}

// updateBlocked lets what sleeping tasks have left on c's run queue decay.
func (k *Kernel) updateBlocked(c *cpu, now sim.Time) {
	k.updateRQ(&c.rq, peltTime(max(now, c.rq.clock)))
}

// begin gives a new task its first values: all of its weight for the load; for the utilisation
// what tasks of its weight have on its queue, up to half of what is left of the CPU.
func (p *pelt) begin(weight int64, r *pelt) {
	p.load = weight
	spare := max(capacity-r.util, 0) / 2
	p.util = spare
	if r.util > 0 {
		p.util = min(r.util*weight/(r.load+1), spare)
	}
}

// attachLoad adds t's share to r's sums, at whose time and place in the period it goes on.
func (k *Kernel) attachLoad(r *rq, t *task) {
	p, q := &t.pelt, &r.pelt
	p.last, p.part = q.last, q.part
	p.utilSum = uint64(p.util) * q.most()
	p.loadSum = max(uint64(p.load)*q.most()/uint64(t.weight), 1)
	q.load += p.load
	q.loadSum += uint64(t.weight) * p.loadSum
	q.util += p.util
	q.utilSum += p.utilSum
	q.tasks++
	p.attached = true
}

// detachLoad takes it out again.
func (k *Kernel) detachLoad(r *rq, t *task) {
	p, q := &t.pelt, &r.pelt
	q.less(p.load, uint64(t.weight)*p.loadSum, p.util, p.utilSum)
	q.tasks--
	p.attached = false
}

// removeLoad takes the share of t, which sleeps, along to another CPU. The sums of the old
// one, whose lock nobody holds, are left for it to put right.
func (k *Kernel) removeLoad(t *task) {
	p, q := &t.pelt, &k.cpus[t.cpu].rq.pelt
	if !p.attached {
		return
	}
	p.update(q.last, uint64(t.weight), false, false)
	q.removed.nr++
	q.removed.load += p.load
	q.removed.util += p.util
	q.tasks--
	p.attached = false
}

// checkLoads sees that each task's share is in its home's sums, unless it has left them, and that
// no task has more than its weight. (A queue's sums can be less than those of its tasks,
// which are updated at other times.)
func (k *Kernel) checkLoads() {
	attached := 0
	for i := range k.tasks {
		t := &k.tasks[i]
		p := &t.pelt
		attached += b2i(p.attached)
		if p.load < 0 || p.load > t.weight || p.util < 0 || p.util > capacity || p.part >= peltPeriod {
			k.broken("task %s of weight %d has a load of %d and a utilisation of %d", t.spec.Name, t.weight, p.load, p.util)
		}
		if t.queued && !p.attached {
			k.broken("task %s is queued on CPU %d, which does not count its load", t.spec.Name, t.cpu)
		}
		if p.attached && p.last > k.cpus[t.cpu].rq.pelt.last {
			k.broken("the load of task %s is ahead of its queue's", t.spec.Name)
		}
	}
	for i := range k.cpus {
		p := &k.cpus[i].rq.pelt
		attached -= p.tasks
		if p.tasks < 0 || p.load < 0 || p.util < 0 || p.queuedLoad < 0 || p.removed.nr == 0 && p.removed.load != 0 {
			k.broken("CPU %d counts %d tasks with a load of %d, of which %d queued, and a utilisation of %d", i, p.tasks, p.load, p.queuedLoad, p.util)
		}
	}
	if attached != 0 {
		k.broken("the books have %d tasks' loads less than there are", attached)
	}
}
