package kernel

import "schedlab/core/sim"

// tick is a CPU's periodic tick and its other timers.
type tick struct {
	phase   sim.Time // of all ticks, within a jiffy
	stopped bool
	ev      sim.Handle
	timers  timers
}

// timers is when a CPU's timers expire: a heap, whose first one is the next. They are served in
// that order, so whose they are need not be known.
type timers []sim.Time

func (h *timers) add(at sim.Time) {
	*h = append(*h, at)
	s := *h
	i := len(s) - 1
	for ; i > 0 && at < s[(i-1)/2]; i = (i - 1) / 2 {
		s[i] = s[(i-1)/2]
	}
	s[i] = at
}

// drop takes out the first one.
func (h *timers) drop() {
	last := len(*h) - 1
	at := (*h)[last]
	s := (*h)[:last]
	*h = s
	i := 0
	for c := 1; c < last; c = 2*i + 1 {
		if c+1 < last && s[c+1] < s[c] {
			c++
		}
		if at <= s[c] {
			break
		}
		s[i] = s[c]
		i = c
	}
	if last > 0 {
		s[i] = at
	}
}

// armTimer wakes task at the given time, by an interrupt on c.
func (k *Kernel) armTimer(c *cpu, task uint32, at sim.Time) {
	c.tick.timers.add(at)
	k.q.At(at, evTimer, uint16(c.id), task)
}

// nextTimer returns when c's next timer expires, the tick left out: it is stopped
// if the CPU sleeps long.
func (k *Kernel) nextTimer(c *cpu) sim.Time {
	next := c.tcp.next(c.t)
	if len(c.tick.timers) > 0 {
		next = min(next, c.tick.timers[0])
	}
	return max(next, c.t)
}

func (k *Kernel) tickStop(c *cpu) {
	c.tick.stopped = true
	k.q.Cancel(c.tick.ev)
	k.count(TickStops)
}

func (k *Kernel) tickRestart(c *cpu) {
	c.tick.stopped = false
	k.count(TickRestarts)
	k.tickArm(c)
}

// tickArm sets the next tick.
func (k *Kernel) tickArm(c *cpu) {
	c.tick.ev = k.q.At(k.nextJiffy(c, c.t), evTick, uint16(c.id), 0)
}

// nextJiffy returns when the first jiffy after t begins: all CPUs tick at the same times.
func (k *Kernel) nextJiffy(c *cpu, t sim.Time) sim.Time {
	j := k.base.Jiffy()
	return t - (t-c.tick.phase+j)%j + j
}

// timer is the timer interrupt: first the sleeps that are over, then the tick.
func (k *Kernel) timer(c *cpu) {
	if c.duePos < len(c.due) {
		id := c.due[c.duePos]
		c.duePos++
		c.tick.timers.drop()
		k.pay(c, TimeTimer, CostTimerExpire)
		k.wakeUp(c, int32(id), wakeFlags{}, stTimer)
		return
	}
	c.due, c.duePos = c.due[:0], 0
	if c.tcp.due {
		c.tcp.due = false
		k.pay(c, TimeTimer, CostTimerExpire)
	}
	for ; c.extTimers > 0; c.extTimers-- {
		c.tick.timers.drop()
		k.extTimer(c)
	}
	if !c.tickDue {
		k.irqExit(c)
		return
	}
	c.tickDue = false
	k.count(Ticks)
	if !c.tick.stopped { // it was due when the CPU stopped it
		k.tickArm(c)
	}
	if c.rq.curr == noTask {
		c.menu.tickWoke = true
	}
	if k.acquire(c, &c.rq.lock, stTickLocked) {
		k.tickLocked(c)
	}
}

// tickLocked is the scheduler's tick.
func (k *Kernel) tickLocked(c *cpu) {
	k.pay(c, TimeTick, CostTick)
	k.updateClock(c)
	k.updateCurr(c)
	if k.ext == nil {
		k.loadTick(c)
	}
	if k.tickPreempts(c) {
		c.needResched = true
	}
	k.unlockRQ(c, c)
	if k.ext != nil { // the fair class has nothing to balance
		k.irqExit(c)
		return
	}
	if c.t >= c.rq.nextBalance {
		c.softirq |= softBalance
	}
	if k.wantsKick(c) {
		k.then(c, stNohzKick)
		return
	}
	k.irqExit(c)
}
