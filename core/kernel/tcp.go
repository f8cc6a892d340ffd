package kernel

import "schedlab/core/sim"

// TCP's timers, as far as the scheduler feels them. Sending arms two on the CPU: the receiver's delayed
// acknowledgement, for over loopback the receive path runs there too, and the sender's retransmission. The next
// message puts them off, and an answer makes them pointless, but nobody takes them out. So a CPU that has
// sent of late has a timer soon, which its governor reckons with, and when it is over and nothing was
// sent since, an interrupt that finds nothing to do. Of many connections only the last one counts here.

// When they expire: the least that the kernel allows.
const (
	delayedAck = 40 * sim.Millisecond  // TCP_DELACK_MIN
	retransmit = 200 * sim.Millisecond // TCP_RTO_MIN
)

// tcpTimers are those of a CPU.
type tcpTimers struct {
	sent    sim.Time // when it sent last
	pending bool     // an event is on its way to where the next one expired when it was added
	due     bool
}

// next returns when the next one expires; sim.Never: none is pending.
func (t *tcpTimers) next(now sim.Time) sim.Time {
	switch {
	case !t.pending:
		return sim.Never
	case t.sent+delayedAck > now:
		return t.sent + delayedAck
	}
	return max(t.sent+retransmit, now)
}

// tcpSent arms the timers on c.
func (k *Kernel) tcpSent(c *cpu) {
	c.tcp.sent = c.t
	if !c.tcp.pending {
		c.tcp.pending = true
		k.q.At(c.t+delayedAck, evTCP, uint16(c.id), 0)
	}
}

// tcpExpires is when a timer of c expires, unless it was put off.
func (k *Kernel) tcpExpires(c *cpu) {
	t := &c.tcp
	switch at := k.now; {
	case at < t.sent+delayedAck:
		k.q.At(t.sent+delayedAck, evTCP, uint16(c.id), 0)
		return
	case at < t.sent+retransmit:
		k.q.At(t.sent+retransmit, evTCP, uint16(c.id), 0)
		if at > t.sent+delayedAck { // it was put off, and the acknowledgement's is over
			return
		}
	default:
		t.pending = false
	}
	t.due = true
	k.raise(c, irqTimer)
}
