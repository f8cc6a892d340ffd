package kernel

import (
	"slices"
	"strings"
	"testing"

	"schedlab/core/machine"
	"schedlab/core/sim"
)

// fifo is the simplest scheduler: idle CPUs get tasks at once, all others come from one queue.
func fifo(x *Ext) ExtOps {
	q := x.CreateDSQ()
	return ExtOps{
		Name: "fifo",
		SelectCPU: func(t TaskID, prev int, f WakeFlags) int {
			cpu, idle := x.SelectDefault(t, prev, f)
			if idle {
				x.Insert(t, DSQLocal, SliceDefault, 0)
			}
			return cpu
		},
		Enqueue: func(t TaskID, f EnqFlags) {
			if x.Pinned(t) {
				x.Insert(t, DSQLocal, SliceDefault, 0)
				return
			}
			x.Insert(t, q, SliceDefault, 0)
		},
		Dispatch: func(cpu int, prev TaskID) { x.MoveToLocal(q) },
	}
}

// reading is fifo, and reads the clock in every callback: read, if not nil, is told of what it got.
func reading(read func(x *Ext, now sim.Time)) func(x *Ext) ExtOps {
	return func(x *Ext) ExtOps {
		look := func() {
			if now := x.Now(); read != nil {
				read(x, now)
			}
		}
		o := fifo(x)
		sel, enq, disp := o.SelectCPU, o.Enqueue, o.Dispatch
		o.SelectCPU = func(t TaskID, prev int, f WakeFlags) int { look(); return sel(t, prev, f) }
		o.Enqueue = func(t TaskID, f EnqFlags) { look(); enq(t, f) }
		o.Dispatch = func(cpu int, prev TaskID) { look(); disp(cpu, prev) }
		o.Runnable = func(TaskID, EnqFlags) { look() }
		o.Running = func(TaskID) { look() }
		o.Stopping = func(TaskID, bool) { look() }
		o.Quiescent = func(TaskID) { look() }
		o.Tick = func(TaskID) { look() }
		o.UpdateIdle, o.KeepIdle = func(int, bool) { look() }, true
		return o
	}
}

// chaos is a scheduler that does whatever may be done, by chance.
func chaos(r sim.Rand) func(x *Ext) ExtOps {
	return func(x *Ext) ExtOps {
		one := func(n int64) bool { return r.Below(n) == 0 }
		slice := func() sim.Time { return sim.Microsecond << r.Below(16) }
		first, timed := x.CreateDSQ(), x.CreateDSQ()
		var held []TaskID
		timers := one(2)
		if timers {
			x.StartTimer(sim.Millisecond)
		}
		flags := func() (f EnqFlags) {
			if one(3) {
				f |= EnqHead
			}
			if one(3) {
				f |= EnqPreempt
			}
			return f
		}
		// give hands a task over, to a queue that CPUs come to where it may run.
		give := func(t TaskID) {
			if x.Pinned(t) {
				x.Insert(t, DSQLocal, slice(), flags())
				return
			}
			switch r.Below(4) {
			case 0:
				x.Insert(t, DSQGlobal, slice(), flags())
			case 1:
				x.Insert(t, first, slice(), flags())
			case 2:
				x.InsertVTime(t, timed, slice(), r.Below(100), 0)
			default:
				x.Insert(t, DSQLocal, slice(), flags())
			}
		}
		kick := func() {
			if one(4) {
				x.Kick(int(r.Below(int64(len(x.k.cpus)))), KickFlags(r.Below(4)))
			}
		}
		o := ExtOps{
			Name: "chaos", EnqLast: one(3), KeepIdle: one(2),
			SelectCPU: func(t TaskID, prev int, f WakeFlags) int {
				cpu := prev
				switch r.Below(4) {
				case 0:
					cpu, _ = x.SelectDefault(t, prev, f)
				case 1:
					cpu = max(x.PickIdle(t, x.caches[prev], one(2)), 0)
				case 2:
					cpu = int(r.Below(int64(len(x.k.cpus))))
				}
				if one(3) && x.Allows(t, cpu) {
					x.Insert(t, DSQLocal, slice(), flags())
				}
				kick()
				x.Now()
				return cpu
			},
			Enqueue: func(t TaskID, f EnqFlags) {
				x.Now()
				if f&EnqLast == 0 && one(4) {
					held = append(held, t)
					x.Kick(x.CPUOf(t), 0)
					return
				}
				give(t)
				kick()
			},
			Dispatch: func(cpu int, prev TaskID) {
				x.Now()
				kept := held[:0]
				for _, t := range held {
					if !x.Allows(t, cpu) {
						kept = append(kept, t)
						continue
					}
					x.Insert(t, LocalOn(cpu), slice(), flags())
				}
				held = kept
				for _, q := range []DSQ{first, timed} {
					if x.Queued(q) > 0 && x.MoveToLocal(q) {
						break
					}
				}
			},
			Holds: func(t TaskID) bool { return slices.Contains(held, t) },
		}
		if one(2) {
			o.Runnable = func(TaskID, EnqFlags) { x.Now() }
			o.Running = func(t TaskID) {
				if one(3) {
					x.SetSlice(t, slice())
				}
			}
			o.Stopping = func(TaskID, bool) { x.Now(); x.Now() }
			o.Quiescent = func(TaskID) { x.Now() }
			o.UpdateIdle = func(int, bool) { x.Now() }
		}
		if one(2) {
			o.Tick = func(t TaskID) {
				if one(2) {
					x.SetSlice(t, 0)
				}
			}
		}
		if timers {
			o.Timer = func() {
				x.Now()
				kick()
				x.StartTimer(slice() + sim.Microsecond)
			}
		}
		return o
	}
}

// extConfig is a checked run of a scheduler on 6.12.
func extConfig(t *testing.T, m string, load func(*Ext) ExtOps) Config {
	t.Helper()
	mach, err := machine.Lookup(m)
	if err != nil {
		t.Fatal(err)
	}
	base, err := LookupBase("6.12")
	if err != nil {
		t.Fatal(err)
	}
	return Config{Machine: mach, Base: base, Costs: CostsOn(mach), Seed: 1, Check: true, Ext: load}
}

func newExt(t *testing.T, cfg Config) *Kernel {
	t.Helper()
	k, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// pairs spawns pairs of tasks that send each other messages; the run ends when all have. on says where they may run.
func pairs(t *testing.T, k *Kernel, n int, loops int32, on ...[]int) {
	t.Helper()
	for i := range n {
		there := k.Channel(ChannelSpec{Kind: UnixStream, Bytes: 100, Capacity: 4, Low: 2})
		back := k.Channel(ChannelSpec{Kind: UnixStream, Bytes: 100, Capacity: 4, Low: 2})
		a, b := TaskSpec{Name: "a"}, TaskSpec{Name: "b"}
		if on != nil {
			a.CPUs, b.CPUs = on[2*i], on[2*i+1]
		}
		a.Prog = []Op{{Kind: OpBegin, N: 1}, {Kind: OpCompute, D: 5 * sim.Microsecond, N: 50}, {Kind: OpWrite, Obj: int32(there)}, {Kind: OpRead, Obj: int32(back)},
			{Kind: OpLoop, Obj: 3, N: loops}, {Kind: OpEnd, N: int32(n)}}
		b.Prog = []Op{{Kind: OpRead, Obj: int32(there)}, {Kind: OpWrite, Obj: int32(back)}, {Kind: OpLoop, Obj: 2, N: loops}}
		spawn(t, k, a)
		spawn(t, k, b)
	}
}

// calls returns how often a callback was called, asked for the time, and read the hardware's clock.
func calls(k *Kernel, b Callback) [3]int64 {
	n := Counter(b)
	return [3]int64{k.counters[ExtCalls+n], k.counters[ClockUses+n], k.counters[ClockReads+n]}
}

func TestExtRuns(t *testing.T) {
	for _, m := range []string{"vm-2", "laptop", "power9-smt8"} {
		for _, n := range []int{1, 3, 20} {
			k := newExt(t, extConfig(t, m, reading(nil)))
			pairs(t, k, n, 30)
			finish(t, k)
			if n := calls(k, ExtRunning)[0]; n < k.counters[Messages] {
				t.Errorf("%s, %d pairs: %d tasks ran, and %d messages were sent", m, n, n, k.counters[Messages])
			}
		}
	}
}

// Who runs is woken, made runnable, and becomes quiescent again, in this order, and without a loss.
func TestExtOrder(t *testing.T) {
	type step struct {
		call Callback
		task TaskID
	}
	var got []step
	load := func(x *Ext) ExtOps {
		o := fifo(x)
		note := func(b Callback, t TaskID) { got = append(got, step{b, t}) }
		sel, enq := o.SelectCPU, o.Enqueue
		o.SelectCPU = func(t TaskID, prev int, f WakeFlags) int { note(ExtSelectCPU, t); return sel(t, prev, f) }
		o.Enqueue = func(t TaskID, f EnqFlags) { note(ExtEnqueue, t); enq(t, f) }
		o.Runnable = func(t TaskID, f EnqFlags) { note(ExtRunnable, t) }
		o.Running = func(t TaskID) { note(ExtRunning, t) }
		o.Stopping = func(t TaskID, runnable bool) { note(ExtStopping, t) }
		o.Quiescent = func(t TaskID) { note(ExtQuiescent, t) }
		return o
	}
	k := newExt(t, extConfig(t, "vm-2", load))
	spawn(t, k, TaskSpec{Name: "once", Prog: []Op{{Kind: OpCompute, D: sim.Microsecond}}})
	spawn(t, k, TaskSpec{Name: "pinned", CPUs: []int{1}, Prog: []Op{{Kind: OpSleep, D: sim.Millisecond}}})
	spawn(t, k, TaskSpec{Name: "end", CPUs: []int{0, 1}, Prog: []Op{{Kind: OpSleep, D: 30 * sim.Millisecond}, {Kind: OpBegin}, {Kind: OpEnd}}})
	finish(t, k)
	for _, c := range []struct {
		task TaskID
		want []Callback
	}{
		{0, []Callback{ExtSelectCPU, ExtRunnable, ExtRunning, ExtStopping, ExtQuiescent}},
		{1, []Callback{ExtRunnable, ExtEnqueue, ExtRunning, ExtStopping, ExtQuiescent, ExtRunnable, ExtEnqueue, ExtRunning, ExtStopping, ExtQuiescent}},
	} {
		var own []Callback
		for _, s := range got {
			if s.task == c.task {
				own = append(own, s.call)
			}
		}
		if !slices.Equal(own, c.want) {
			t.Errorf("task %d: callbacks %v, want %v", c.task, own, c.want)
		}
	}
}

// Two tasks that compute share a CPU by slices, which end at ticks.
func TestExtSlices(t *testing.T) {
	k := newExt(t, extConfig(t, "vm-2", reading(nil)))
	for range 2 {
		spawn(t, k, TaskSpec{Name: "hog", CPUs: []int{1}, Prog: []Op{{Kind: OpBegin, N: 2}, {Kind: OpCompute, D: 100 * sim.Millisecond}, {Kind: OpEnd, N: 2}}})
	}
	finish(t, k)
	// 200 ms in slices of 20 ms, which the tick sees used up 20 to 24 ms after they began.
	if n := k.counters[SwitchesInvoluntary]; n < 6 || n > 10 {
		t.Errorf("%d switches in 200 ms with slices of 20 ms", n)
	}
	if c := calls(k, ExtEnqueue); c[0] != k.counters[SwitchesInvoluntary] {
		t.Errorf("%d preempted tasks, and %d calls of enqueue", k.counters[SwitchesInvoluntary], c[0])
	}
}

// A task that nobody else waits for runs on when its slice is used up, unless the scheduler wants to be asked.
func TestExtEnqLast(t *testing.T) {
	for _, last := range []bool{false, true} {
		asked := 0
		k := newExt(t, extConfig(t, "vm-2", func(x *Ext) ExtOps {
			o := fifo(x)
			o.EnqLast = last
			enq := o.Enqueue
			o.Enqueue = func(t TaskID, f EnqFlags) {
				if f&EnqLast != 0 {
					asked++
				}
				enq(t, f)
			}
			return o
		}))
		spawn(t, k, TaskSpec{Name: "hog", CPUs: []int{1}, Prog: []Op{{Kind: OpBegin}, {Kind: OpCompute, D: 100 * sim.Millisecond}, {Kind: OpEnd}}})
		finish(t, k)
		if (asked > 0) != last {
			t.Errorf("EnqLast %v: asked %d times", last, asked)
		}
	}
}

// Where the clock is valid, and for whose callbacks. Tasks a and b take turns, on two CPUs or on one.
func TestClockByWay(t *testing.T) {
	const turns = 200
	for _, c := range []struct {
		name   string
		clock  ExtClock
		queued bool
		on     [][]int
		want   map[Callback]int64 // reads of the hardware in a hundred uses
	}{
		{"hardware", ClockHardware, false, [][]int{{0}, {1}}, map[Callback]int64{ExtRunnable: 100, ExtEnqueue: 100, ExtRunning: 100, ExtStopping: 100, ExtQuiescent: 100}},
		// The flag looked at is the waker's, and its own run queue is not locked.
		{"merged, remote", ClockNow, false, [][]int{{0}, {1}}, map[Callback]int64{ExtRunnable: 100, ExtEnqueue: 100, ExtRunning: 100, ExtStopping: 0, ExtQuiescent: 0}},
		{"merged, queued", ClockNow, true, [][]int{{0}, {1}}, map[Callback]int64{ExtRunnable: 0, ExtEnqueue: 0, ExtRunning: 100, ExtStopping: 0, ExtQuiescent: 0}},
		{"merged, local", ClockNow, false, [][]int{{0}, {0}}, map[Callback]int64{ExtRunnable: 0, ExtEnqueue: 0, ExtRunning: 100, ExtStopping: 0, ExtQuiescent: 0}},
		// The first miss makes the waker's clock valid for the second callback.
		{"v1, remote, one clock", ClockNowV1, false, [][]int{{0}, {1}}, map[Callback]int64{ExtRunnable: 100, ExtEnqueue: 0, ExtStopping: 0, ExtQuiescent: 0}},
		// What an update has left is earlier than what the hardware said before: the first read after it misses.
		{"v1, remote, x86", ClockNowV1, false, [][]int{{0}, {1}}, map[Callback]int64{ExtRunnable: 100, ExtEnqueue: 0, ExtStopping: 100, ExtQuiescent: 0}},
		{"v4, remote, x86", ClockNowV4, false, [][]int{{0}, {1}}, map[Callback]int64{ExtRunnable: 100, ExtEnqueue: 0, ExtStopping: 0, ExtQuiescent: 0}},
	} {
		m := "vm-2"
		if strings.HasSuffix(c.name, "one clock") {
			m = "kunpeng-920"
		}
		cfg := extConfig(t, m, reading(nil))
		cfg.Base.ExtClock, cfg.Base.ExtQueuedWakeups = c.clock, c.queued
		k := newExt(t, cfg)
		pairs(t, k, 1, turns, c.on...)
		finish(t, k)
		for b, want := range c.want {
			n := calls(k, b)
			if n[1] < turns {
				t.Fatalf("%s: %s was called %d times in %d turns", c.name, Callbacks[b], n[1], turns)
			}
			// The ends of a run, and what else happens now and then.
			if got := (n[2]*100 + n[1]/2) / n[1]; got < want-3 || got > want+3 {
				t.Errorf("%s: %s read the hardware's clock in %d of %d cases, want %d %%", c.name, Callbacks[b], n[2], n[1], want)
			}
		}
	}
}

// What each version promises of the times that it gives, and what not.
func TestClockPromises(t *testing.T) {
	type look struct {
		cpu      int
		now, got sim.Time // when it was, and what it said
		updated  sim.Time // what the run queue's clock said then
		locked   bool     // the CPU's own run queue was
		hit      bool
	}
	record := func(clock ExtClock, pinned bool) (all []look) {
		cfg := extConfig(t, "laptop", nil)
		cfg.Base.ExtClock = clock
		reads := int64(0)
		cfg.Ext = reading(func(x *Ext, got sim.Time) {
			n := int64(0)
			for b := range NumCallbacks {
				n += x.k.counters[ClockReads+Counter(b)]
			}
			hit := n == reads || n == 0 // the counters begin anew with the measured window
			reads = n
			all = append(all, look{x.CPU(), x.c.t, got, x.c.rq.ext.at, x.locked == x.c, hit})
		})
		k := newExt(t, cfg)
		var on [][]int
		for i := range 40 {
			if pinned {
				on = append(on, []int{i % 16})
			}
		}
		pairs(t, k, 20, 40, on...)
		spawn(t, k, TaskSpec{Name: "hog", Prog: []Op{{Kind: OpCompute, D: 20 * sim.Millisecond}}})
		finish(t, k)
		return all
	}
	for _, clock := range []ExtClock{ClockHardware, ClockNowV1, ClockNowV4, ClockNow} {
		hits, unlocked, across, old := 0, 0, 0, sim.Time(0)
		for _, pinned := range []bool{false, true} {
			last := make([]sim.Time, 16)
			newest := look{}
			for _, l := range record(clock, pinned) {
				if l.got < last[l.cpu] {
					t.Errorf("clock %d: CPU %d was given %s after %s", clock, l.cpu, l.got, last[l.cpu])
				}
				last[l.cpu] = l.got
				if l.got > l.now {
					t.Errorf("clock %d: at %s CPU %d was given %s", clock, l.now, l.cpu, l.got)
				}
				if l.now > newest.now && l.got < newest.got && l.cpu != newest.cpu {
					across++
				}
				if l.got > newest.got {
					newest = l
				}
				if !l.hit {
					if l.now != l.got && clock != ClockNowV1 {
						t.Errorf("clock %d: at %s the hardware's clock said %s", clock, l.now, l.got)
					}
					continue
				}
				hits++
				old = max(old, l.now-l.got)
				if pinned && !l.locked {
					unlocked++
				}
			}
		}
		switch clock {
		case ClockHardware:
			if hits > 0 || across > 0 {
				t.Errorf("the hardware's clock: %d hits, %d times that one CPU saw less than another before it", hits, across)
			}
		case ClockNow:
			// Without moves of tasks between run queues no cached time outlives the lock under which it was updated.
			if unlocked > 0 {
				t.Errorf("merged: %d cached times without the lock of the own run queue", unlocked)
			}
		default:
			if unlocked == 0 {
				t.Errorf("clock %d: no cached time was given out without a lock, which a miss makes possible", clock)
			}
		}
		// None promises an order between CPUs, or an age: a time stays valid until the lock is next given back.
		if clock != ClockHardware && (across == 0 || old < sim.Microsecond) {
			t.Errorf("clock %d: %d times that one CPU saw less than another before it, oldest time %s: is the test too easy?", clock, across, old)
		}
	}
}

// A scheduler that loses a task is found out: by the checking mode at once, and by the watchdog in its time.
func TestExtForgets(t *testing.T) {
	load := func(x *Ext) ExtOps {
		o := fifo(x)
		o.Timeout = 200 * sim.Millisecond
		enq := o.Enqueue
		n := 0
		o.Enqueue = func(t TaskID, f EnqFlags) {
			if n++; n != 5 {
				enq(t, f)
			}
		}
		return o
	}
	for _, check := range []bool{true, false} {
		cfg := extConfig(t, "vm-2", load)
		cfg.Check = check
		k := newExt(t, cfg)
		pairs(t, k, 3, 100)
		for k.Step(1000) == Running {
		}
		status, says := Ejected, "the sched_ext scheduler fifo was thrown out: task"
		if check {
			status, says = Broken, "the sched_ext scheduler fifo has forgotten task"
		}
		if k.status != status || !strings.Contains(k.fault, says) {
			t.Errorf("check %v: status %d, %q", check, k.status, k.fault)
		}
		if !check && (k.now < 200*sim.Millisecond || k.now > 400*sim.Millisecond) {
			t.Errorf("the watchdog, set to 200 ms, ended the run at %s", k.now)
		}
	}
}

// Calls that make no sense end the run with a message, and do no more harm.
func TestExtMisuse(t *testing.T) {
	var x *Ext
	var far DSQ = 99
	for says, break_ := range map[string]func(o *ExtOps, q DSQ){
		"inserted into dispatch queue 99, which there is not": func(o *ExtOps, q DSQ) {
			o.Enqueue = func(t TaskID, f EnqFlags) { x.Insert(t, far, SliceDefault, 0) }
		},
		"inserted by virtual time into queue -2, which has none": func(o *ExtOps, q DSQ) {
			o.Enqueue = func(t TaskID, f EnqFlags) { x.InsertVTime(t, DSQLocal, SliceDefault, 1, 0) }
		},
		"task 1000 was inserted, and there is none": func(o *ExtOps, q DSQ) {
			o.Enqueue = func(t TaskID, f EnqFlags) { x.Insert(1000, q, SliceDefault, 0) }
		},
		"inserted by enqueue, where that can't be": func(o *ExtOps, q DSQ) {
			o.Enqueue = func(t TaskID, f EnqFlags) {
				x.Insert(t, q, SliceDefault, 0)
				x.Insert(t, q, SliceDefault, 0)
			}
		},
		"inserted by running, where that can't be": func(o *ExtOps, q DSQ) {
			o.Running = func(t TaskID) { x.Insert(t, q, SliceDefault, 0) }
		},
		"inserted into the local queue of CPU 0, where it may not run": func(o *ExtOps, q DSQ) {
			o.Enqueue = func(t TaskID, f EnqFlags) { x.Insert(t, LocalOn(1-x.CPUOf(t)), SliceDefault, 0) }
		},
		"whose tasks are ordered in the other way": func(o *ExtOps, q DSQ) {
			n := int64(0)
			o.Enqueue = func(t TaskID, f EnqFlags) {
				if n++; n%2 == 0 {
					x.Insert(t, q, SliceDefault, 0)
					return
				}
				x.InsertVTime(t, q, SliceDefault, n, 0)
			}
		},
		"enqueue moved a task from dispatch queue 0 to a local one": func(o *ExtOps, q DSQ) {
			o.Enqueue = func(t TaskID, f EnqFlags) { x.MoveToLocal(q) }
		},
		"select_cpu returned CPU 2 for task": func(o *ExtOps, q DSQ) {
			o.SelectCPU = func(t TaskID, prev int, f WakeFlags) int { return 2 }
		},
		"CPU -1 was kicked": func(o *ExtOps, q DSQ) {
			o.Running = func(t TaskID) { x.Kick(-1, 0) }
		},
		"there is no dispatch queue 99": func(o *ExtOps, q DSQ) {
			o.Running = func(t TaskID) { x.Queued(far) }
		},
	} {
		cfg := extConfig(t, "vm-2", func(e *Ext) ExtOps {
			x = e
			o := fifo(x)
			break_(&o, 0)
			return o
		})
		cfg.Check = false
		k := newExt(t, cfg)
		pairs(t, k, 3, 100)
		spawn(t, k, TaskSpec{Name: "pinned", CPUs: []int{1}, Prog: []Op{{Kind: OpSleep, D: sim.Microsecond, N: 50}, {Kind: OpLoop, Obj: 1}}})
		for k.Step(1000) == Running {
		}
		if k.status != Ejected || !strings.Contains(k.fault, says) {
			t.Errorf("want %q: status %d, %q", says, k.status, k.fault)
		}
	}
	cfg := extConfig(t, "vm-2", func(*Ext) ExtOps { return ExtOps{Name: "slow", Timeout: sim.Second * 31} })
	if _, err := New(cfg); err == nil {
		t.Error("a watchdog of 31 s is taken")
	}
	cfg = extConfig(t, "vm-2", fifo)
	cfg.Base, _ = LookupBase("6.11")
	if _, err := New(cfg); err == nil {
		t.Error("a scheduler is loaded into 6.11")
	}
}

// A task that is inserted to preempt, or a CPU that is kicked, does not wait for a tick.
func TestExtPreempts(t *testing.T) {
	for _, how := range []string{"none", "insert", "kick"} {
		k := newExt(t, extConfig(t, "vm-2", func(x *Ext) ExtOps {
			o := fifo(x)
			o.Enqueue = func(t TaskID, f EnqFlags) {
				var e EnqFlags
				if f&EnqWakeup != 0 && how == "insert" {
					e = EnqPreempt
				}
				x.Insert(t, DSQLocal, SliceDefault, e)
				if f&EnqWakeup != 0 && how == "kick" {
					x.Kick(x.CPUOf(t), KickPreempt)
				}
			}
			return o
		}))
		wait := k.Metric()
		spawn(t, k, TaskSpec{Name: "hog", CPUs: []int{1}, Prog: []Op{{Kind: OpCompute, D: sim.Second}}})
		spawn(t, k, TaskSpec{Name: "waker", CPUs: []int{1}, Prog: []Op{{Kind: OpSleep, D: 2 * sim.Millisecond}, {Kind: OpBegin},
			{Kind: OpStamp}, {Kind: OpSleep, D: sim.Microsecond}, {Kind: OpMark, Obj: int32(wait)}, {Kind: OpLoop, Obj: 3, N: 20}, {Kind: OpEnd}}})
		finish(t, k)
		worst := sim.Time(k.metrics[wait].Max)
		if how == "none" && worst < 10*sim.Millisecond || how != "none" && worst > 50*sim.Microsecond {
			t.Errorf("%s: a waking task waited for %s beside one that computes", how, worst)
		}
	}
}

// SM_IDLE's fast path is off while a scheduler is loaded.
func TestExtTurnsFastPathOff(t *testing.T) {
	for _, load := range []func(*Ext) ExtOps{nil, fifo} {
		k := newExt(t, extConfig(t, "laptop", load))
		spawn(t, k, TaskSpec{Name: "caller", CPUs: []int{0}, Prog: []Op{{Kind: OpBegin}, {Kind: OpCall, Obj: 8, N: 1}, {Kind: OpLoop, Obj: 1, N: 1000}, {Kind: OpEnd}}})
		finish(t, k)
		if fast := k.counters[IdleFastReentries]; (fast > 0) != (load == nil) {
			t.Errorf("scheduler loaded: %v, and %d fast re-entries of %d", load != nil, fast, k.counters[IdleReentries])
		}
	}
}
