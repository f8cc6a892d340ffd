package kernel

import (
	"slices"

	"schedlab/core/sim"
)

// Remote function calls: a lock-free queue per CPU, in which only the pusher
// that finds it empty signals the CPU. A polling CPU is signalled by setting its
// NEED_RESCHED flag (or as CallSignal has it), any other by an
// interrupt. Task wakeups travel through the same queue. A call to all other CPUs
// puts an entry on each one's queue and signals them by interrupts, without asking
// whether they poll.

// callKind orders the entries of a queue as a flush serves them.
type callKind uint8

const (
	callSync  callKind = iota // somebody waits: run, then unlock the descriptor
	callAsync                 // nobody waits. The kernel unlocks before the function; here, where functions do nothing, after it
	callNohz                  // asynchronous: asks the CPU to balance for all idle ones
	callWake                  // wakes task ref
	callKinds
)

type call struct {
	kind callKind
	all  bool   // to all other CPUs
	ref  uint32 // of callSync the task that waits; of callAsync, callNohz and all the sender's CPU
}

// A desc is a call descriptor: locked from the call until it is served.
type desc struct {
	locked bool
	line   line
	waiter int16    // the CPU whose task spins on it; -1: none
	since  sim.Time // the beginning of the call that it is in use for
}

// desc returns the descriptor of a function call that is on c's queue.
func (k *Kernel) desc(c *cpu, e call) *desc {
	switch {
	case e.all:
		return &k.cpus[e.ref].all[c.id]
	case e.kind == callSync:
		return &k.tasks[e.ref].call
	}
	return &k.cpus[e.ref].async
}

// callStart begins smp_call_function_single on behalf of c's task.
func (k *Kernel) callStart(c *cpu, target int16, wait bool) {
	t := &k.tasks[c.rq.curr]
	t.callCPU, t.callSince = target, c.t
	k.count(CallsSent)
	k.pay(c, TimeCall, CostCallSetup)
	if target == c.id {
		// On one's own CPU the function is simply called, with interrupts off.
		k.count(CallsLocal)
		k.pay(c, TimeCall, CostCallFunc)
		k.then(c, stCallLocal)
		return
	}
	t.callWaits = wait
	if !wait && c.async.locked {
		// The CPU's one descriptor for calls that nobody waits for is in use.
		c.async.waiter = c.id
		k.await(c, stCallLocked, TimeCallWait)
		return
	}
	k.then(c, stCallPush)
}

func (k *Kernel) callLocalDone(c *cpu) {
	k.delivered(k.tasks[c.rq.curr].callSince)
	k.pay(c, TimeCall, CostCallReturn)
	k.runTask(c)
}

func (k *Kernel) callLocked(c *cpu) {
	c.async.waiter = -1
	k.charge(c, TimeCallWait, k.read(&c.async.line, c.id))
	k.then(c, stCallPush)
}

// callPush puts the call on the target's queue.
func (k *Kernel) callPush(c *cpu) {
	id := c.rq.curr
	t := &k.tasks[id]
	e := call{kind: callSync, ref: uint32(id)}
	if !t.callWaits {
		e = call{kind: callAsync, ref: uint32(c.id)}
	}
	target := &k.cpus[t.callCPU]
	d := k.desc(target, e)
	d.locked, d.since = true, t.callSince
	k.charge(c, TimeCall, k.write(&d.line, c.id))
	if k.push(c, target, e, TimeCall) {
		k.then(c, stCallSignal)
		return
	}
	k.count(CallsQueued)
	k.callWait(c)
}

// push adds e to the target's queue and tells whether the queue was empty, so
// that c has to signal.
func (k *Kernel) push(c, target *cpu, e call, kind TimeKind) (first bool) {
	k.sent++
	first = len(target.callq) == 0
	target.signals += b2i(first)
	target.callq = append(target.callq, e)
	k.pay(c, kind, CostCallPush)
	k.charge(c, kind, k.write(&target.callLine, c.id))
	return first
}

func (k *Kernel) callSignal(c *cpu) {
	target := &k.cpus[k.tasks[c.rq.curr].callCPU]
	if path, polled := k.signal(c, target, TimeCall, true); polled {
		k.count(path)
	}
	k.callWait(c)
}

// signal makes target look at its call queue, and returns the way a polling
// target is met in. counted says that it is for a workload's call, whose
// interrupt counts by the path that it takes.
func (k *Kernel) signal(c, target *cpu, kind TimeKind, counted bool) (path Counter, polled bool) {
	if k.pollable(kind) {
		if target.polling && target.called() { // it is on its way out of idle already
			target.signals--
			k.charge(c, kind, k.read(&target.flags, c.id))
			return target.pollPath(), true
		}
		if target.polling {
			target.signals--
			flag := &target.needResched
			if k.base.CallSignal == SignalNotify {
				flag = &target.notified
			}
			return k.pollWake(c, target, kind, flag), true
		}
		k.charge(c, kind, k.read(&target.flags, c.id))
	}
	k.count(IPIs)
	k.pay(c, kind, CostIPISend)
	arg := uint32(0)
	if counted {
		arg = 1
	}
	k.q.At(c.t+k.flight(c, target), evCall, uint16(target.id), arg)
	return 0, false
}

// pollable tells whether a polling CPU can be made to look at its queue without an
// interrupt, for what this kind of work has pushed there.
func (k *Kernel) pollable(kind TimeKind) bool {
	switch k.base.CallSignal {
	case SignalIPI:
		return false
	case SignalWakeups:
		return kind == TimeWakeup && !k.m.NoPollingFlag
	}
	return !k.m.NoPollingFlag
}

// pollWake sets a flag of a polling CPU that ends its idle loop: no interrupt. A CPU in the POLL
// state sees the store at its next look, one in MWAIT is woken by it, and one
// that only has its polling flag set finds it at its next check.
func (k *Kernel) pollWake(c, target *cpu, kind TimeKind, flag *bool) Counter {
	k.count(PollWakes)
	seen := c.t + k.transfer(&target.flags, c.id, target.id)
	*flag = true
	k.charge(c, kind, k.write(&target.flags, c.id))
	return k.idleSignalled(target, seen)
}

// callWait spins until the call has been served, if the caller wants to know.
func (k *Kernel) callWait(c *cpu) {
	t := &k.tasks[c.rq.curr]
	if !t.callWaits {
		k.then(c, stCallDone)
		return
	}
	if !t.call.locked {
		// Served before the caller looked: it reads the target's line.
		k.charge(c, TimeCallWait, k.read(&t.call.line, c.id))
		k.then(c, stCallDone)
		return
	}
	t.call.waiter = c.id
	k.await(c, stCallDone, TimeCallWait)
}

func (k *Kernel) callDone(c *cpu) {
	k.pay(c, TimeCall, CostCallReturn)
	k.runTask(c)
}

// callAll begins smp_call_function, a call to every other CPU, on behalf of c's task.
func (k *Kernel) callAll(c *cpu, wait bool) {
	t := &k.tasks[c.rq.curr]
	t.callSince, t.callWaits = c.t, wait
	k.pay(c, TimeCall, CostCallSetup)
	t.callCPU = -1
	k.callAllNext(c)
}

// callAllNext goes on to the next target, or to the signal after the last one.
func (k *Kernel) callAllNext(c *cpu) {
	t := &k.tasks[c.rq.curr]
	t.callCPU++
	if t.callCPU == c.id {
		t.callCPU++
	}
	switch {
	case int(t.callCPU) < len(k.cpus):
		k.then(c, stCallAllPush)
	case len(k.cpus) == 1:
		k.then(c, stCallDone)
	default:
		k.then(c, stCallAllSignal)
	}
}

// callAllPush puts the call on the queue of one target, once the descriptor for
// that target is free: an earlier call that nobody waits for may hold it.
func (k *Kernel) callAllPush(c *cpu) {
	t := &k.tasks[c.rq.curr]
	d := &c.all[t.callCPU]
	if d.locked {
		d.waiter = c.id
		k.await(c, stCallAllPush, TimeCallWait)
		return
	}
	k.count(CallsSent)
	e := call{kind: callAsync, all: true, ref: uint32(c.id)}
	if t.callWaits {
		e.kind = callSync
	}
	d.locked, d.since = true, t.callSince
	k.charge(c, TimeCall, k.write(&d.line, c.id))
	c.first[t.callCPU] = k.push(c, &k.cpus[t.callCPU], e, TimeCall)
	k.callAllNext(c)
}

// callAllSignal interrupts those targets whose queues were empty: all with one write
// if the controller can and they are all others, else as many with one as it can reach.
// A single one is signalled like the target of any call.
func (k *Kernel) callAllSignal(c *cpu) {
	k.tasks[c.rq.curr].callCPU = 0 // whose descriptor to look at first
	n, one := 0, 0
	for i, first := range c.first {
		if first {
			n, one = n+1, i
		}
	}
	k.counters[CallsQueued] += int64(len(k.cpus) - 1 - n)
	if n == 1 {
		c.first[one] = false
		if path, polled := k.signal(c, &k.cpus[one], TimeCall, true); polled {
			k.count(path)
		}
		k.callAllWait(c)
		return
	}
	everyone := n == len(k.cpus)-1 && k.m.Shorthand
	group := -1
	for _, i := range k.signalOrder {
		if !c.first[i] {
			continue
		}
		c.first[i] = false
		if g := k.m.MulticastGroup(int(i)); group < 0 || g != group && !everyone {
			group = g
			k.pay(c, TimeCall, CostIPISend)
		}
		target := &k.cpus[i]
		k.count(IPIs)
		k.q.At(c.t+k.flight(c, target), evCall, uint16(i), 1)
	}
	k.callAllWait(c)
}

// callAllWait spins until the call has been served everywhere, if the caller wants
// to know: it looks at one target's descriptor after the other, and is charged for
// each line's way, though a processor would let some of them overlap.
func (k *Kernel) callAllWait(c *cpu) {
	t := &k.tasks[c.rq.curr]
	for ; t.callWaits && int(t.callCPU) < len(c.all); t.callCPU++ {
		d := &c.all[t.callCPU]
		if d.locked {
			d.waiter = c.id
			k.await(c, stCallAllWait, TimeCallWait)
			return
		}
		if t.callCPU != c.id {
			k.charge(c, TimeCallWait, k.read(&d.line, c.id))
		}
	}
	k.then(c, stCallDone)
}

// prepareCallAll gives CPU i what calls to all others need.
func (k *Kernel) prepareCallAll(i int) {
	c := &k.cpus[i]
	if c.all != nil {
		return
	}
	c.all, c.first = make([]desc, len(k.cpus)), make([]bool, len(k.cpus))
	for j := range c.all {
		c.all[j] = desc{line: k.newLine(i), waiter: -1}
	}
	if k.signalOrder == nil {
		for j := range k.cpus {
			k.signalOrder = append(k.signalOrder, int16(j))
		}
		slices.SortStableFunc(k.signalOrder, func(a, b int16) int {
			return k.m.MulticastGroup(int(a)) - k.m.MulticastGroup(int(b))
		})
	}
}

// SampleDelivery adds a histogram of the times from a call's first instruction to
// the end of its function on the target.
func (k *Kernel) SampleDelivery() MetricID {
	k.delivery = k.Metric()
	return k.delivery
}

func (k *Kernel) delivered(since sim.Time) {
	if k.opened && k.delivery >= 0 {
		k.metrics[k.delivery].Add(int64(k.now - since))
	}
}

// unlock opens a descriptor and releases whoever spins on it.
func (k *Kernel) unlock(c *cpu, d *desc) {
	d.locked = false
	if d.waiter < 0 {
		k.write(&d.line, c.id)
		return
	}
	w := &k.cpus[d.waiter]
	lat := k.store(&d.line, c.id, d.waiter)
	d.waiter = -1
	// A spinner looks once a pause.
	k.rouse(w, 0, k.now+lat+w.noise.Between(0, k.cost[CostRelax]))
}

// flush starts serving c's call queue: all that is on it now.
func (k *Kernel) flush(c *cpu) {
	k.pay(c, TimeFlush, CostFlush)
	k.charge(c, TimeFlush, k.write(&c.callLine, c.id))
	c.callq, c.batch = c.batch[:0], c.callq
	c.batchPos, c.batchCls = 0, 0
	k.flushNext(c)
}

// flushNext goes on to the next entry in the order of the kinds.
func (k *Kernel) flushNext(c *cpu) {
	for ; c.batchCls < callKinds; c.batchCls++ {
		for ; c.batchPos < len(c.batch); c.batchPos++ {
			if c.batch[c.batchPos].kind != c.batchCls {
				continue
			}
			switch c.batchCls {
			case callSync, callAsync, callNohz:
				k.pay(c, TimeFlush, CostCallFunc)
			case callWake:
				k.pay(c, TimeFlush, CostFlushWake)
			}
			k.then(c, stFlush)
			return
		}
		c.batchPos = 0
	}
	c.batch = c.batch[:0]
	k.pay(c, TimeFlush, CostFlushExit)
	if c.depth > 0 {
		k.irqExit(c)
		return
	}
	k.idleFlushed(c)
}

// flushEntry completes the entry whose function has run.
func (k *Kernel) flushEntry(c *cpu) {
	e := c.batch[c.batchPos]
	switch e.kind {
	case callSync, callAsync:
		d := k.desc(c, e)
		k.delivered(d.since)
		k.unlock(c, d)
	case callNohz:
		k.nohz.kicked = false
		if c.idleCPU() && (!c.needResched || k.base.NohzAnyway) {
			c.softirq |= softNohz
		}
		// Else the callback gives up: it takes the flag for work of the CPU's own.
		// A poll-wake has just set it, so a CPU that was kicked that way never balances.
	case callWake:
		if k.acquire(c, &c.rq.lock, stFlushWakeLocked) {
			k.flushWakeLocked(c)
		}
		return
	}
	k.flushed(c)
}

func (k *Kernel) flushed(c *cpu) {
	k.handled++
	c.batchPos++
	k.flushNext(c)
}

func (k *Kernel) flushWakeLocked(c *cpu) {
	t := int32(c.batch[c.batchPos].ref)
	k.updateRQClock(c, c)
	k.account(c, func() { c.rq.wakePending-- })
	k.writeState(c, c, TimeWakeup)
	k.tasks[t].waking = false
	k.activate(c, c, t, wayQueued)
	k.pay(c, TimeWakeup, CostEnqueue)
	if k.wakePreempts(c, t) {
		c.needResched = true
	}
	k.unlockRQ(c, c)
	k.flushed(c)
}

// callArrives is a call interrupt at its target. One that a workload's call sent
// counts by what it finds.
func (k *Kernel) callArrives(c *cpu, counted bool) {
	if counted {
		k.count(c.callPath())
	}
	c.signals--
	k.raise(c, irqCall)
}

func (c *cpu) callPath() Counter {
	switch {
	case c.idle.phase == idleAsleep && c.depth == 0:
		return CallsAsleep
	case c.irqsOff[c.depth] && (c.depth > 0 || c.idle.phase == idleAway):
		return CallsIRQsOff
	case c.rq.curr == noTask:
		return CallsIdleEntry
	}
	return CallsBusy
}
