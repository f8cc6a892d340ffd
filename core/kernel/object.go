package kernel

import "schedlab/core/sim"

// What tasks have in common: channels, which carry messages from writers to readers,
// events, which one task gives and another waits for, and mutexes of user space. Each
// has its rule of whom it wakes, with what promise and from which context, and so
// leads to the wakeups that the scheduler places.
//
// A system call first computes, outside of any lock. Then it acts: it takes the
// object's lock, and finds what it came for or goes to sleep, to look again when it
// is woken. What it wakes it wakes after it has given the lock back.

// ChannelID, EventID and MutexID name such objects in an operation's Obj.
type (
	ChannelID int32
	EventID   int32
	MutexID   int32
)

// OwnEvent is the event that every task has of its own.
const OwnEvent EventID = -1

// An event is given by one task and taken by another. Beside it goes a list of tasks
// that wait on their own events until somebody lets all of them go.
type event struct {
	given   bool
	waiters []int32
	list    []int32
	line    line
}

// A mutex is one of user space: a free one is taken without the kernel.
type mutex struct {
	owner    int32 // noTask: free
	waiters  []int32
	spinners []int16 // CPUs whose tasks try it over and over
	line     line
}

// A notice is whom a CPU's task still has to wake.
type notice struct {
	tasks   []int32
	polling int // of these, the last ones: they polled when they were noted
	pos     int
	flags   wakeFlags
	dismiss bool     // they were on an event's list, and are each given their own event
	since   sim.Time // when that began
}

// Event adds an event.
func (k *Kernel) Event() EventID {
	k.gates = append(k.gates, event{line: k.newLine(0)})
	return EventID(len(k.gates) - 1)
}

// Mutex adds a mutex.
func (k *Kernel) Mutex() MutexID {
	k.mutexes = append(k.mutexes, mutex{owner: noTask, line: k.newLine(0)})
	return MutexID(len(k.mutexes) - 1)
}

// objects returns how many objects of its kind there are for op, and how many from
// Obj on it is about: none if it is about none.
func (k *Kernel) objects(op *Op) (all, about int) {
	about = 1
	switch op.Kind {
	case OpWrite, OpRead:
		all = len(k.channels)
	case OpPoll, OpEpoll:
		return len(k.channels), max(int(op.N), 1)
	case OpPost, OpEnlist, OpDismiss:
		all = len(k.gates)
	case OpAwait:
		if EventID(op.Obj) == OwnEvent {
			return 0, 0
		}
		all = len(k.gates)
	case OpMutexLock, OpMutexSpin:
		all = len(k.mutexes)
	default:
		return 0, 0
	}
	if op.At == AtCPU {
		about = len(k.cpus)
	}
	return all, about
}

// object returns which object t's operation is about, on c.
func (t *task) object(c *cpu, op *Op) int32 {
	switch op.At {
	case AtFound:
		return op.Obj + t.found
	case AtCPU:
		return op.Obj + int32(c.id)
	}
	return op.Obj
}

// withoutKernel does t's operation if user space can do that alone.
func (k *Kernel) withoutKernel(c *cpu, t *task, op *Op) bool {
	switch op.Kind {
	case OpPoll, OpEpoll: // the last call has found more
		if len(t.ready) == 0 {
			return false
		}
		t.found = t.ready[0]
		t.ready = t.ready[:copy(t.ready, t.ready[1:])]
	case OpPost, OpEnlist:
		g := &k.gates[op.Obj]
		if op.Kind == OpEnlist && !t.enlisted {
			t.enlisted = true
			t.own.given = false
			g.list = append(g.list, c.rq.curr)
		}
		k.charge(c, TimeUser, k.write(&g.line, c.id))
		if len(g.waiters) > 0 {
			return false
		}
		g.given = true
	case OpAwait:
		g := k.gate(t, op)
		k.charge(c, TimeUser, k.write(&g.line, c.id))
		if !g.given {
			return false
		}
		g.given = false
	case OpDismiss:
		g := &k.gates[op.Obj]
		k.charge(c, TimeUser, k.write(&g.line, c.id))
		if len(g.list) > 0 {
			return false
		}
	case OpMutexLock:
		if t.mutex == noTask {
			t.mutex = t.object(c, op)
		}
		m := &k.mutexes[t.mutex]
		k.charge(c, TimeUser, k.write(&m.line, c.id))
		if m.owner != noTask {
			return false
		}
		m.owner = c.rq.curr
	case OpMutexUnlock:
		m := &k.mutexes[t.mutex]
		k.charge(c, TimeUser, k.write(&m.line, c.id))
		k.freeMutex(c, m)
		if len(m.waiters) > 0 {
			return false
		}
		t.mutex = noTask
	default:
		return false
	}
	return true
}

// spinForMutex takes the mutex that t's operation is about, and returns false if its
// owner must give it back first: the task then spins on, and tries again when that
// has happened or when it has given way to others. It pauses between its tries, which
// leaves the core's units to the other threads.
func (k *Kernel) spinForMutex(c *cpu, t *task, op *Op) bool {
	for {
		if t.mutex == noTask {
			t.mutex = t.object(c, op)
		}
		m := &k.mutexes[t.mutex]
		k.charge(c, TimeUser, k.write(&m.line, c.id))
		if m.owner != noTask {
			m.spinners = append(m.spinners, c.id)
			k.coreChanged(c, c, false)
			k.await(c, stTask, TimeUser)
			return false
		}
		if t.mutex == t.object(c, op) {
			m.owner = c.rq.curr
			return true
		}
		t.mutex = noTask // it was moved while it waited, and this is another CPU's
	}
}

// freeMutex frees m and lets those try that spin for it.
func (k *Kernel) freeMutex(c *cpu, m *mutex) {
	m.owner = noTask
	for _, i := range m.spinners {
		w := &k.cpus[i]
		k.coreChanged(w, c, true)
		k.rouse(w, 0, c.t+k.store(&m.line, c.id, i)+w.noise.Between(0, k.cost[CostRelax]))
	}
	m.spinners = m.spinners[:0]
}

// gate returns the event that t's operation is about.
func (k *Kernel) gate(t *task, op *Op) *event {
	if EventID(op.Obj) == OwnEvent {
		return &t.own
	}
	return &k.gates[op.Obj]
}

// syscallCost returns how long t's call computes before it acts.
func (k *Kernel) syscallCost(c *cpu, t *task, op *Op) sim.Time {
	switch op.Kind {
	case OpWrite, OpRead:
		ch := &k.channels[t.object(c, op)]
		return k.cost[CostSyscall] + k.messageCost(ch, op.Kind)*sim.Time(100-channelRules[ch.Kind].locked)/100
	case OpPoll:
		return k.cost[CostSyscall] + k.cost[CostPoll]
	case OpEpoll:
		return k.cost[CostSyscall] + k.cost[CostEpoll]
	}
	return k.cost[CostSyscall] + k.cost[CostFutex]
}

// act is c's task t in a system call that now has to look at its object. It returns
// false if the path goes on elsewhere: the task waits, or wakes others.
func (k *Kernel) act(c *cpu, t *task, op *Op) bool {
	switch op.Kind {
	case OpWrite, OpRead:
		return k.acquire(c, &k.channels[t.object(c, op)].lock, stChannelLocked) && k.channelLocked(c)
	case OpPoll, OpEpoll:
		return k.pollChannels(c, t, op)
	case OpPost, OpEnlist:
		g := &k.gates[op.Obj]
		g.given = true
		t.done()
		return k.wakeFirst(c, &g.waiters)
	case OpAwait:
		g := k.gate(t, op)
		if g.given {
			g.given, t.awaits = false, false
			t.done()
			return true
		}
		t.awaits = true
		if g != &t.own {
			g.waiters = append(g.waiters, c.rq.curr)
		}
	case OpDismiss:
		g := &k.gates[op.Obj]
		t.done()
		c.note.tasks = append(c.note.tasks, g.list...)
		g.list = g.list[:0]
		c.note.dismiss, c.note.since = true, c.t
		return k.notify(c)
	case OpMutexLock:
		m := &k.mutexes[t.mutex]
		if m.owner == noTask {
			m.owner = c.rq.curr
			t.done()
			return true
		}
		m.waiters = append(m.waiters, c.rq.curr)
	case OpMutexUnlock:
		m := &k.mutexes[t.mutex]
		t.mutex = noTask
		t.done()
		return k.wakeFirst(c, &m.waiters)
	}
	k.sleepOnObject(c, t)
	return false
}

// done ends t's system call.
func (t *task) done() {
	t.inSyscall, t.blocked, t.polls, t.epolls = false, false, false, false
	t.pc++
}

// sleepOnObject lets c's task sleep until it is woken: then it acts again.
func (k *Kernel) sleepOnObject(c *cpu, t *task) {
	t.state, t.blocked = taskSleeping, true
	k.pay(c, TimeSyscall, CostBlock)
	k.then(c, stBlock)
}

// tell puts the first n of those who wait among those to wake.
func (k *Kernel) tell(c *cpu, waiters *[]int32, n int) {
	n = min(n, len(*waiters))
	c.note.tasks = append(c.note.tasks, (*waiters)[:n]...)
	*waiters = (*waiters)[:copy(*waiters, (*waiters)[n:])]
}

// wakeFirst wakes the first of those who wait.
func (k *Kernel) wakeFirst(c *cpu, waiters *[]int32) bool {
	k.tell(c, waiters, 1)
	return k.notify(c)
}

// notify begins to wake those that c's task has noted, with interrupts off. It returns
// true if there is nobody.
func (k *Kernel) notify(c *cpu) bool {
	if len(c.note.tasks) == 0 {
		c.note = notice{tasks: c.note.tasks}
		c.bh = false
		return true
	}
	c.irqsOff[0] = true
	k.notifyNext(c)
	return false
}

func (k *Kernel) notifyNext(c *cpu) {
	n := &c.note
	for n.pos < len(n.tasks) {
		id := n.tasks[n.pos]
		n.pos++
		t := &k.tasks[id]
		if n.dismiss {
			t.own.given, t.enlisted = true, false
			t.stamp[1] = n.since
			if !t.awaits {
				continue
			}
			t.awaits = false
			k.pay(c, TimeSyscall, CostFutex)
		}
		if t.state != taskSleeping || n.pos > len(n.tasks)-n.polling && !t.polls { // another one has woken it
			continue
		}
		// The callback of epoll wakes its waiter anew, without the promise, until late 2024.
		flags := n.flags
		flags.sync = flags.sync && !t.epolls
		k.wakeUp(c, id, flags, stNotify)
		return
	}
	c.note = notice{tasks: n.tasks[:0]}
	c.bh = false
	k.then(c, stTask)
	k.irqsOn(c)
}
