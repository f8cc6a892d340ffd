package kernel

import (
	"fmt"
	"testing"

	"schedlab/core/sim"
)

// randomTask returns a task whose program is made from r: whatever Spawn takes
// must run without breaking an invariant.
func randomTask(r *sim.Rand, k *Kernel, i int) TaskSpec {
	cpus, locks := len(k.cpus), len(k.locks)
	s := TaskSpec{Name: fmt.Sprint("task/", i), Kthread: r.Below(2) == 0, Nice: int(r.Below(40)) - 20, Process: int(r.Below(3))}
	if r.Below(3) > 0 {
		for c := range cpus {
			if r.Below(3) == 0 {
				s.CPUs = append(s.CPUs, c)
			}
		}
		if s.CPUs == nil {
			s.CPUs = []int{int(r.Below(int64(cpus)))}
		}
	}
	span := func() sim.Time { return sim.Nanosecond << r.Below(23) } // 1 ns to 4 ms
	for range 1 + r.Below(5) {
		switch r.Below(9 + 8*int64(b2i(len(k.channels) > 0))) {
		case 0, 1:
			s.Prog = append(s.Prog, Op{Kind: OpCompute, D: span(), N: int32(r.Below(100))})
		case 2, 3:
			s.Prog = append(s.Prog, Op{Kind: OpSleep, D: span(), N: int32(r.Below(100))})
		case 4:
			s.Prog = append(s.Prog, Op{Kind: OpCall, Obj: int32(r.Below(int64(cpus))), N: int32(r.Below(2))})
		case 5:
			s.Prog = append(s.Prog, Op{Kind: OpResched})
		case 6:
			s.Prog = append(s.Prog, Op{Kind: OpCallAll, N: int32(r.Below(2))})
		case 9, 10, 11, 12:
			s.Prog = append(s.Prog, randomMessages(r, k)...)
		case 13, 14:
			s.Prog = append(s.Prog, randomEvents(r, k)...)
		case 15:
			m := Op{Kind: OpMutexLock, Obj: int32(r.Below(int64(cpus)))}
			if r.Below(2) == 0 && !s.Kthread {
				m.Kind = OpMutexSpin
			}
			if r.Below(2) == 0 {
				m.Obj, m.At = 0, AtCPU
			}
			s.Prog = append(s.Prog, m, Op{Kind: OpCompute, D: span(), N: 50})
			if r.Below(3) == 0 { // it may sleep with it, and for ever
				s.Prog = append(s.Prog, randomMessages(r, k)...)
			}
			s.Prog = append(s.Prog, Op{Kind: OpMutexUnlock})
		default:
			l := int32(r.Below(int64(locks)))
			s.Prog = append(s.Prog, Op{Kind: OpLock, Obj: l})
			for range r.Below(3) {
				s.Prog = append(s.Prog, Op{Kind: OpCompute, D: span() / 8, N: int32(r.Below(100))})
			}
			s.Prog = append(s.Prog, Op{Kind: OpUnlock, Obj: l})
		}
	}
	// A loop over all, with a pause of at least a microsecond so that time goes on.
	s.Prog = append(s.Prog, Op{Kind: OpSleep, D: sim.Microsecond + span(), N: 50})
	if n := int32(len(s.Prog)); r.Below(4) > 0 {
		s.Prog = append(s.Prog, Op{Kind: OpLoop, Obj: int32(n), N: int32(r.Below(3)) * 50})
	}
	return s
}

// randomMessages are operations on channels, whoever may be on their other ends.
func randomMessages(r *sim.Rand, k *Kernel) []Op {
	all := int32(len(k.channels))
	ch := int32(r.Below(int64(all)))
	switch r.Below(5) {
	case 0:
		return []Op{{Kind: OpWrite, Obj: ch}}
	case 1:
		return []Op{{Kind: OpStamp, N: 1}, {Kind: OpWrite, Obj: ch}, {Kind: OpRead, Obj: (ch + 1) % all}, {Kind: OpMark, N: 1}}
	case 2:
		return []Op{{Kind: OpRead, Obj: ch, N: int32(r.Below(4))}}
	case 3:
		return []Op{{Kind: OpEpoll, Obj: ch}, {Kind: OpRead, Obj: ch}}
	}
	n := min(all, 2)
	ch = min(ch, all-n)
	return []Op{{Kind: OpPoll, Obj: ch, N: n}, {Kind: OpRead, At: AtFound, Obj: ch}, {Kind: OpMark, At: AtFound}, {Kind: OpStamp, At: AtFound}, {Kind: OpWrite, At: AtFound, Obj: all - n}}
}

// randomEvents are operations on events.
func randomEvents(r *sim.Rand, k *Kernel) []Op {
	e := int32(r.Below(int64(len(k.gates))))
	switch r.Below(4) {
	case 0:
		return []Op{{Kind: OpPost, Obj: e}}
	case 1:
		return []Op{{Kind: OpAwait, Obj: e}}
	case 2:
		return []Op{{Kind: OpDismiss, Obj: e}}
	}
	return []Op{{Kind: OpEnlist, Obj: e}, {Kind: OpAwait, Obj: int32(OwnEvent)}, {Kind: OpMark, N: 1}}
}

// randomObjects adds what tasks can have in common.
func randomObjects(r *sim.Rand, k *Kernel) {
	k.Metric()
	for range 1 + r.Below(6) {
		s := ChannelSpec{Kind: ChannelKind(r.Below(int64(NumChannelKinds))), Bytes: r.Below(4096), Capacity: 1 + int32(r.Below(9))}
		s.Low = int32(r.Below(int64(s.Capacity)))
		k.Channel(s)
	}
	for range 1 + r.Below(3) {
		k.Event()
	}
	for range k.cpus {
		k.Mutex()
	}
}

// randomRun runs random tasks on the small machine in checking mode.
func randomRun(t *testing.T, seed uint32) {
	r := sim.NewRand(seed, 0, sim.Workload)
	f := Features{NohzAnyway: r.Below(2) == 0, IdleReentry: IdleMode(r.Below(3)), PreemptTest: PreemptTest(r.Below(3)), CallSignal: CallSignal(r.Below(4)),
		IdleCoreExit: r.Below(2) == 0, SyncInTaskOnly: r.Below(2) == 0}
	k := newKernel(t, small(t), f, seed)
	k.base.Tunables = Bases[r.Below(int64(len(Bases)))].Tunables
	if r.Below(4) == 0 && f.PreemptTest != PreemptAbove {
		k.base = k.base.WithRT()
	}
	if r.Below(3) == 0 {
		k.base.ExtClock, k.base.ExtQueuedWakeups = ExtClock(r.Below(4)), r.Below(2) == 0
		if err := k.loadExt(chaos(r.Fork(1))); err != nil {
			t.Fatal(err)
		}
	}
	locks := 1 + int(r.Below(3))
	for range locks {
		k.Lock()
	}
	if r.Below(2) == 0 {
		randomObjects(&r, k)
	}
	for i := range 1 + int(r.Below(40)) {
		spawn(t, k, randomTask(&r, k, i))
	}
	spawn(t, k, TaskSpec{Name: "clock", CPUs: []int{int(r.Below(16))}, Nice: -20, Prog: []Op{
		{Kind: OpSleep, D: sim.Microsecond}, {Kind: OpBegin}, {Kind: OpSleep, D: sim.Time(1+r.Below(30)) * sim.Millisecond}, {Kind: OpEnd}}})
	for k.Step(1000) == Running {
		if k.events > 60_000 { // enough of a crowded one
			break
		}
	}
	if k.status == Broken {
		t.Fatalf("seed %d: %s", seed, k.fault)
	}
}

func TestRandomPrograms(t *testing.T) {
	n := uint32(150)
	if testing.Short() {
		n = 20
	}
	for seed := range n {
		randomRun(t, seed)
	}
}

func FuzzPrograms(f *testing.F) {
	f.Add(uint32(1))
	f.Add(uint32(1 << 20))
	f.Fuzz(randomRun)
}
