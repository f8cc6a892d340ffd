package kernel

import (
	"fmt"
	"testing"

	"schedlab/core/sim"
)

// Many writers fill a channel again and again, and all of them get through: who is
// woken alone wakes the next.
func TestWritersGetThrough(t *testing.T) {
	const writers, loops = 8, 60
	for _, base := range Bases {
		for kind := range ChannelKind(NumChannelKinds) {
			for _, work := range []sim.Time{1, 5 * sim.Microsecond} {
				k := newKernel(t, small(t), Features{}, 1)
				k.base = base
				ch := int32(k.Channel(ChannelSpec{Kind: kind, Bytes: 100, Capacity: 40, Low: 30}))
				n := int32(writers * loops)
				read := []Op{{Kind: OpRead, Obj: ch}, {Kind: OpCompute, D: work}, {Kind: OpLoop, Obj: 2, N: n}, {Kind: OpEnd, N: writers + 1}}
				if channelRules[kind].drops { // nobody waits to write, so that nothing but the writers ends the run
					read = []Op{{Kind: OpRead, Obj: ch}, {Kind: OpCompute, D: work}, {Kind: OpLoop, Obj: 2}}
					n = 0
				}
				spawn(t, k, TaskSpec{Name: "reader", Prog: read})
				for i := range writers {
					spawn(t, k, TaskSpec{Name: fmt.Sprint("writer/", i), Prog: []Op{{Kind: OpSleep, D: sim.Microsecond}, {Kind: OpBegin},
						{Kind: OpWrite, Obj: ch}, {Kind: OpLoop, Obj: 1, N: loops}, {Kind: OpEnd, N: writers + int32(b2i(n > 0))}}})
				}
				s := finish(t, k)
				if sent, lost := s.Counters[Messages], s.Counters[MessagesLost]; sent+lost != writers*loops || (lost > 0) != (n == 0) {
					t.Errorf("%s, kind %d: %d messages, %d lost", base.Key, kind, sent, lost)
				}
			}
		}
	}
}

// Who polls is told which channels can be read, and has a stamp for each.
func TestPollFinds(t *testing.T) {
	k := newKernel(t, small(t), Features{}, 1)
	metric := int32(k.Metric())
	const channels, loops = 3, 20
	var in, out int32
	for i := range 2 * channels {
		id := int32(k.Channel(ChannelSpec{Kind: TCP, Bytes: 10, Capacity: 1}))
		switch i {
		case 0:
			in = id
		case channels:
			out = id
		}
	}
	spawn(t, k, TaskSpec{Name: "poller", Prog: []Op{
		{Kind: OpPoll, Obj: in, N: channels}, {Kind: OpRead, At: AtFound, Obj: in}, {Kind: OpMark, At: AtFound, Obj: metric},
		{Kind: OpStamp, At: AtFound}, {Kind: OpWrite, At: AtFound, Obj: out}, {Kind: OpLoop, Obj: 5},
	}})
	for i := range int32(channels) {
		prog := []Op{{Kind: OpSleep, D: sim.Microsecond}, {Kind: OpBegin}, {Kind: OpWrite, Obj: in + i}, {Kind: OpRead, Obj: out + i}}
		if i == 1 { // by epoll
			prog = append(prog[:3:3], Op{Kind: OpEpoll, Obj: out + i}, prog[3])
		}
		pause := sim.Time(i+1) * 100 * sim.Microsecond
		prog = append(prog, Op{Kind: OpCompute, D: pause}, Op{Kind: OpLoop, Obj: int32(len(prog)) - 1, N: loops}, Op{Kind: OpEnd, N: channels})
		spawn(t, k, TaskSpec{Name: fmt.Sprint("asker/", i), Prog: prog})
	}
	s := finish(t, k)
	if got := s.Counters[Messages]; got != 2*channels*loops {
		t.Errorf("%d messages, want %d there and back", got, 2*channels*loops)
	}
	// From an answer to the next question of the same one: its own pause, and not another's.
	h := &s.Hists[metric]
	if h.N < channels*(loops-1) || sim.Time(h.Quantile(1, 6)) < 100*sim.Microsecond || sim.Time(h.Quantile(1, 6)) > 200*sim.Microsecond || sim.Time(h.Quantile(5, 6)) < 300*sim.Microsecond {
		t.Errorf("%d pauses, a sixth below %s and a sixth above %s", h.N, sim.Time(h.Quantile(1, 6)), sim.Time(h.Quantile(5, 6)))
	}
}

// What a program does for each call of poll it does not do for what the call before has found as well.
func TestRoundsOfPoll(t *testing.T) {
	const channels, loops = 8, 10
	for _, c := range []struct {
		round sim.Time
		fewer bool
	}{{0, false}, {sim.Millisecond, true}} {
		k := newKernel(t, small(t), Features{}, 1)
		in := int32(0)
		for i := range channels {
			if id := int32(k.Channel(ChannelSpec{Kind: TCP, Bytes: 10, Capacity: loops})); i == 0 {
				in = id
			}
		}
		// Messages come every 100 µs. With a round of 1 ms a call finds many of them.
		spawn(t, k, TaskSpec{Name: "poller", CPUs: []int{0}, Prog: []Op{
			{Kind: OpRound, D: c.round}, {Kind: OpPoll, Obj: in, N: channels}, {Kind: OpRead, At: AtFound, Obj: in}, {Kind: OpLoop, Obj: 3, N: channels * loops}, {Kind: OpEnd}}})
		prog := []Op{{Kind: OpBegin}}
		for i := range int32(channels) {
			prog = append(prog, Op{Kind: OpCompute, D: 100 * sim.Microsecond}, Op{Kind: OpWrite, Obj: in + i})
		}
		spawn(t, k, TaskSpec{Name: "writer", CPUs: []int{1}, Prog: append(prog, Op{Kind: OpLoop, Obj: 2 * channels, N: loops})})
		s := finish(t, k)
		rounds := s.Time[TimeUser] / int64(sim.Millisecond)
		if c.fewer && (rounds < 8+loops/2 || rounds > 8+3*loops) {
			t.Errorf("%d ms of user time, want 8 of the writer and a round of 1 ms for every ten messages or so", rounds)
		}
		if !c.fewer && rounds > 10 {
			t.Errorf("%d ms of user time without rounds", rounds)
		}
	}
}

// Who is dismissed counts from the beginning of the dismissal, so that the last one of
// many waits for the others' wakeups too.
func TestDismissalCountsFromItsBeginning(t *testing.T) {
	k := newKernel(t, small(t), Features{}, 1)
	metric := int32(k.Metric())
	e := int32(k.Event())
	const members = 10
	for i := range members {
		spawn(t, k, TaskSpec{Name: fmt.Sprint("member/", i), CPUs: []int{i}, Prog: []Op{
			{Kind: OpEnlist, Obj: e}, {Kind: OpAwait, Obj: int32(OwnEvent)}, {Kind: OpMark, Obj: metric, N: 1}, {Kind: OpEnd, N: members}}})
	}
	spawn(t, k, TaskSpec{Name: "head", CPUs: []int{12}, Prog: []Op{{Kind: OpSleep, D: sim.Millisecond}, {Kind: OpBegin}, {Kind: OpDismiss, Obj: e}}})
	s := finish(t, k)
	if h := &s.Hists[metric]; h.N != members || h.Max < h.Min+int64(members-1)*int64(k.cost[CostFutex])/2 {
		t.Errorf("%d wakeups from %s to %s: want %d, the last one later by the other wakeups", h.N, sim.Time(h.Min), sim.Time(h.Max), members)
	}
}

// A mutex has one owner at a time, whether those who want it sleep or spin; who spins
// does so on the CPU's time, and gives way to who is to run.
func TestMutex(t *testing.T) {
	const tasks, loops, hold = 4, 30, 20 * sim.Microsecond
	for _, kind := range []OpKind{OpMutexLock, OpMutexSpin} {
		for _, cpus := range []int{tasks, 1} {
			k := newKernel(t, small(t), Features{}, 1)
			m := int32(k.Mutex())
			for i := range tasks {
				spawn(t, k, TaskSpec{Name: fmt.Sprint("task/", i), CPUs: []int{i % cpus}, Prog: []Op{
					{Kind: OpSleep, D: sim.Microsecond}, {Kind: OpBegin},
					{Kind: kind, Obj: m}, {Kind: OpCompute, D: hold}, {Kind: OpMutexUnlock}, {Kind: OpLoop, Obj: 3, N: loops}, {Kind: OpEnd, N: tasks}}})
			}
			s := finish(t, k)
			user := sim.Time(s.Time[TimeUser])
			if s.Elapsed < tasks*loops*hold || user < tasks*loops*hold {
				t.Errorf("operation %d on %d CPUs: %s held in turn, in %s", kind, cpus, sim.Time(tasks*loops)*hold, s.Elapsed)
			}
			if spins := user > 2*tasks*loops*hold; spins != (kind == OpMutexSpin && cpus > 1) {
				t.Errorf("operation %d on %d CPUs: %s in user mode, %s of it with the mutex", kind, cpus, user, sim.Time(tasks*loops)*hold)
			}
		}
	}
}

// Programs that are about what is not there are refused.
func TestSpawnObjects(t *testing.T) {
	k := newKernel(t, small(t), Features{}, 1)
	ch := int32(k.Channel(ChannelSpec{Kind: Pipe, Bytes: 1, Capacity: 1}))
	k.Metric()
	m := int32(k.Mutex())
	pause := Op{Kind: OpSleep, D: 1}
	for _, c := range []struct {
		spec TaskSpec
		ok   bool
	}{
		{TaskSpec{Prog: []Op{{Kind: OpPoll, Obj: ch, N: 1}, {Kind: OpRead, Obj: ch, At: AtFound}}}, true},
		{TaskSpec{Prog: []Op{{Kind: OpPoll, Obj: ch, N: 2}}}, false},
		{TaskSpec{Prog: []Op{{Kind: OpRead, Obj: ch, At: AtFound}}}, false},
		{TaskSpec{Prog: []Op{{Kind: OpStamp, At: AtFound}}}, false},
		{TaskSpec{Prog: []Op{{Kind: OpStamp, At: AtCPU}}}, false},
		{TaskSpec{Prog: []Op{{Kind: OpMark, Obj: 1}}}, false},
		{TaskSpec{Prog: []Op{{Kind: OpMutexSpin, Obj: m}, pause, {Kind: OpMutexUnlock}}}, true},
		{TaskSpec{Kthread: true, Prog: []Op{{Kind: OpMutexSpin, Obj: m}, pause, {Kind: OpMutexUnlock}}}, false},
		{TaskSpec{Prog: []Op{{Kind: OpMutexSpin, Obj: m, At: AtCPU}, {Kind: OpMutexUnlock}}}, false}, // one for each CPU
		{TaskSpec{Prog: []Op{{Kind: OpMutexSpin, Obj: m}}}, false},
		{TaskSpec{Prog: []Op{{Kind: OpMutexSpin, Obj: m}, {Kind: OpMutexLock, Obj: m}}}, false},
	} {
		if err := k.Spawn(c.spec); (err == nil) != c.ok {
			t.Errorf("%v: %v", c.spec.Prog, err)
		}
	}
}

// A full pipe with writers that wait: each read wakes one of them, up to 6.13 also while no page is free,
// and whoever is woken and fills the last page wakes nobody.
func TestPipeWakesWriters(t *testing.T) {
	type state struct {
		n            int32
		wakeups, all int64
	}
	for _, c := range []struct {
		kernel string
		want   [2]state
	}{
		// After the first read the page is half read: one looks in vain. After the second it is free: one writes two
		// messages, and waits again.
		{"5.18", [2]state{{7, 1, 3}, {8, 3, 3}}},
		{"6.14", [2]state{{7, 0, 3}, {8, 2, 3}}},
	} {
		k := newKernel(t, small(t), Features{}, 1)
		k.base = base(t, c.kernel)
		ch := int32(k.Channel(ChannelSpec{Kind: Pipe, Bytes: 100, Capacity: 8, Low: 6})) // four pages of two
		for i := range 3 {
			spawn(t, k, TaskSpec{Name: fmt.Sprint("writer/", i), CPUs: []int{4 * i}, Prog: []Op{
				{Kind: OpSleep, D: sim.Time(1+i) * 10 * sim.Microsecond}, {Kind: OpWrite, Obj: ch}, {Kind: OpLoop, Obj: 1}}})
		}
		spawn(t, k, TaskSpec{Name: "reader", CPUs: []int{12}, Prog: []Op{
			{Kind: OpSleep, D: sim.Millisecond}, {Kind: OpBegin}, {Kind: OpRead, Obj: ch}, {Kind: OpSleep, D: sim.Millisecond},
			{Kind: OpRead, Obj: ch}, {Kind: OpSleep, D: sim.Millisecond}, {Kind: OpEnd}}})
		for !k.opened && k.Step(1) == Running {
		}
		p := &k.channels[ch]
		for i, want := range c.want {
			at := sim.Time(i+1)*sim.Millisecond - 100*sim.Microsecond
			for k.now < k.begin+at && k.Step(1) == Running {
			}
			// The reader's own wakeup, after its first sleep, is one of them.
			if got := (state{p.n, k.counters[Wakeups], int64(len(p.writers))}); got != want {
				t.Errorf("%s: at %s: messages, wakeups and writers that wait: %v, want %v", c.kernel, at, got, want)
			}
		}
	}
}
