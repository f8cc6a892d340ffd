package kernel

// irqEnter is the start of an interrupt on c: the pending one of the highest priority.
func (k *Kernel) irqEnter(c *cpu) {
	k.pay(c, TimeIRQ, CostIRQEntry)
	k.then(c, stIRQ)
}

// irq handles it.
func (k *Kernel) irq(c *cpu) {
	switch {
	case c.pending&irqCall != 0:
		c.pending &^= irqCall
		if len(c.callq) == 0 {
			k.irqExit(c)
			return
		}
		k.flush(c)
	case c.pending&irqResched != 0:
		c.pending &^= irqResched
		k.irqExit(c)
	case c.pending&irqWork != 0:
		c.pending &^= irqWork
		k.kickCPUs(c)
		k.irqExit(c)
	default:
		c.pending &^= irqTimer
		k.timer(c)
	}
}

// irqExit ends the handler.
func (k *Kernel) irqExit(c *cpu) {
	k.pay(c, TimeIRQ, CostIRQExit)
	k.then(c, stIRQReturn)
}

// irqReturn goes back to what was interrupted, after the softirqs, or to
// schedule() if that is due and what was interrupted can be preempted.
func (k *Kernel) irqReturn(c *cpu) {
	if c.soft.running { // beneath this interrupt
		k.resume(c)
		return
	}
	c.irqsOff[1] = true
	if c.softirq != 0 {
		k.softirqStart(c)
		return
	}
	if c.needResched && c.rq.curr != noTask && c.frame[0].step == stComputed {
		if t := &k.tasks[c.rq.curr]; k.preemptible(t) {
			t.left = k.unpaced(c, k.abandon(c))
			c.t = k.now
			c.mode = modeNone // as on the way back to user mode: its state is runnable, so that the mode makes no difference
			k.schedule(c)
			return
		}
	}
	k.resume(c)
}
