package kernel

import "schedlab/core/sim"

// A ChannelKind is what a channel is made of.
type ChannelKind uint8

// The kinds of channels.
const (
	Pipe            ChannelKind = iota
	UnixStream                  // an AF_UNIX stream socket
	TCP                         // over loopback
	UDP                         // over loopback
	NumChannelKinds = iota
)

// channelRules says how each kind works. A sync wakeup promises that the waker is about
// to sleep: those of readers are sync for all kinds. One made in softirq is made by the
// receive path of the network, which over loopback runs on the sender's CPU as its
// call ends, and so not in the context of a task.
var channelRules = [NumChannelKinds]struct {
	write, read Cost
	locked      int64 // percent of a call that pass under the channel's lock
	exclusive   bool  // one waiter is woken, else all
	edge        bool  // readers are woken by the message that finds the channel empty, else by each
	pages       bool  // its Capacity is that of pages, the last one of which takes what is more than Low
	softirq     bool  // wakes from softirq
	syncWriters bool  // wakeups of writers are sync
	drops       bool  // a message that finds it full is lost, and nobody waits to write
}{
	Pipe:       {write: CostPipeWrite, read: CostPipeRead, locked: 50, exclusive: true, edge: true, pages: true, syncWriters: true},
	UnixStream: {write: CostUnixWrite, read: CostUnixRead, locked: 10, syncWriters: true},
	TCP:        {write: CostTCPSend, read: CostTCPReceive, locked: 20, softirq: true},
	UDP:        {write: CostUDPSend, read: CostUDPReceive, locked: 10, softirq: true, drops: true},
}

// A ChannelSpec describes a channel. Its messages are all of one size.
type ChannelSpec struct {
	Kind     ChannelKind
	Bytes    int64 // of a message
	Capacity int32 // messages
	Low      int32 // writers that wait are woken when no more than so many are left; of a pipe: what all its pages but one hold
}

type channel struct {
	ChannelSpec
	lock             lock
	file             line    // the count of references to the open file
	n                int32   // messages in it
	head             int32   // of a pipe: messages read from its first page
	readers, writers []int32 // tasks that wait
	pollers          []int32 // tasks whose programs poll it, whether they wait or not
}

// full tells whether a pipe has all its pages in use: then there is room in the last one at the most.
func (ch *channel) full() bool { return ch.head+ch.n > ch.Low }

// takes tells whether there is room for another message. A pipe's writer that has waited
// looks for a page; others find room in the last one too.
func (ch *channel) takes(waited bool) bool {
	if channelRules[ch.Kind].pages && waited {
		return !ch.full()
	}
	return ch.head+ch.n < ch.Capacity
}

// Channel adds a channel.
func (k *Kernel) Channel(s ChannelSpec) ChannelID {
	k.channels = append(k.channels, channel{ChannelSpec: s, lock: lock{holder: -1, line: k.newLine(0)}, file: k.newLine(0)})
	return ChannelID(len(k.channels) - 1)
}

// messageCost returns what writing or reading a message costs.
func (k *Kernel) messageCost(ch *channel, op OpKind) sim.Time {
	n := channelRules[ch.Kind].write
	if op == OpRead {
		n = channelRules[ch.Kind].read
	}
	return k.cost[n] + k.cost[CostCopy]*sim.Time(ch.Bytes)/1024
}

// channelLocked is c's task under the lock of the channel that it reads or writes.
func (k *Kernel) channelLocked(c *cpu) bool {
	id := c.rq.curr
	t := &k.tasks[id]
	op := &t.spec.Prog[t.pc]
	ch := &k.channels[t.object(c, op)]
	rules := &channelRules[ch.Kind]
	work := k.jitter(c, k.messageCost(ch, op.Kind)*sim.Time(rules.locked)/100)
	if op.Kind == OpWrite {
		if !ch.takes(t.blocked) {
			if rules.drops {
				k.count(MessagesLost)
				k.charge(c, TimeSyscall, k.paced(c, work))
				k.release(c, &ch.lock)
				t.done()
				return true
			}
			ch.writers = append(ch.writers, id)
			k.release(c, &ch.lock)
			k.sleepOnObject(c, t)
			return false
		}
		k.count(Messages)
		if ch.Kind == TCP {
			k.tcpSent(c)
		}
		k.charge(c, TimeSyscall, k.paced(c, work))
		ch.n++
		c.note.flags.sync = true
		if rules.exclusive && t.blocked && !ch.full() { // it was woken alone, so it passes that on
			k.tell(c, &ch.writers, 1)
		}
		if !rules.edge || ch.n == 1 {
			k.tellReaders(c, ch)
		}
	} else {
		if ch.n == 0 {
			ch.readers = append(ch.readers, id)
			k.release(c, &ch.lock)
			k.sleepOnObject(c, t)
			return false
		}
		n := min(ch.n, max(op.N, 1))
		k.charge(c, TimeSyscall, k.paced(c, work+k.cost[CostCopy]*sim.Time(ch.Bytes)*sim.Time(n-1)/1024))
		full := ch.full()
		ch.n -= n
		c.note.flags.sync = rules.syncWriters
		if rules.exclusive && t.blocked && ch.n > 0 {
			k.tell(c, &ch.readers, 1)
		}
		switch {
		case rules.pages:
			if ch.head += n; ch.n == 0 || ch.head >= ch.Capacity-ch.Low {
				ch.head = 0
			}
			// From 5.5 to 6.13 though the page may not be read to its end, and who is woken sleep on.
			if full && !(k.base.PipeRoomOnly && ch.full()) {
				k.tell(c, &ch.writers, 1)
			}
		case ch.n <= ch.Low:
			k.tell(c, &ch.writers, len(ch.writers))
		}
	}
	k.release(c, &ch.lock)
	k.refer(c, t, ch)
	t.done()
	c.bh = rules.softirq
	return k.notify(c)
}

// refer charges for the reference to ch's file that a call takes and gives back, if its
// descriptor table is shared: a task on its own needs none.
func (k *Kernel) refer(c *cpu, t *task, ch *channel) {
	if k.processes[t.spec.Process] > 1 {
		k.charge(c, TimeSyscall, k.write(&ch.file, c.id))
	}
}

// pollChannels looks which of the channels can be read, and waits if none can.
func (k *Kernel) pollChannels(c *cpu, t *task, op *Op) bool {
	t.ready = t.ready[:0]
	n := max(op.N, 1)
	for i := range n {
		if k.channels[op.Obj+i].n > 0 {
			t.ready = append(t.ready, i)
		}
	}
	looked := n
	if op.Kind == OpEpoll { // which is told of those
		looked = int32(len(t.ready))
	}
	k.charge(c, TimeSyscall, k.paced(c, k.jitter(c, k.cost[CostPollChannel]*sim.Time(looked))))
	if len(t.ready) == 0 {
		t.polls, t.epolls = true, op.Kind == OpEpoll
		k.sleepOnObject(c, t)
		return false
	}
	t.done()
	t.pc-- // to take the first of them
	return true
}

// tellReaders does so with those who wait for a message in ch.
func (k *Kernel) tellReaders(c *cpu, ch *channel) {
	n := len(ch.readers)
	if channelRules[ch.Kind].exclusive {
		n = min(n, 1)
	}
	k.tell(c, &ch.readers, n)
	for _, id := range ch.pollers {
		if t := &k.tasks[id]; t.polls && t.state == taskSleeping {
			c.note.tasks = append(c.note.tasks, id)
			c.note.polling++
		}
	}
}

// polled returns how many channels the operations of a program poll at most.
func polled(prog []Op) (n int32) {
	for i := range prog {
		if op := &prog[i]; op.Kind == OpPoll || op.Kind == OpEpoll {
			n = max(n, op.N, 1)
		}
	}
	return n
}

// pollsFrom enters task id among the pollers of the channels that its program polls.
func (k *Kernel) pollsFrom(id int32, prog []Op) {
	for i := range prog {
		op := &prog[i]
		if op.Kind != OpPoll && op.Kind != OpEpoll {
			continue
		}
		for ch := op.Obj; ch < op.Obj+max(op.N, 1); ch++ {
			// Tasks come one after another, so a second operation on the same channel finds itself last.
			if p := &k.channels[ch].pollers; len(*p) == 0 || (*p)[len(*p)-1] != id {
				*p = append(*p, id)
			}
		}
	}
}
