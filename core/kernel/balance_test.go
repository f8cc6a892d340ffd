package kernel

import (
	"fmt"
	"testing"

	"schedlab/core/machine"
	"schedlab/core/sim"
)

// resting returns a kernel in which nothing happens, and a CPU of it.
func resting(t *testing.T, m *machine.Machine, id int) (*Kernel, *cpu) {
	k := newKernel(t, m, Features{}, 0)
	c := &k.cpus[id]
	c.t = sim.Second
	return k, c
}

func TestAvgIdle(t *testing.T) {
	for _, c := range []struct{ before, idle, want sim.Time }{
		{800, 400, 750}, // an eighth of the way
		{800, 1600, 900},
		{900, 10_000, 1000}, // capped at twice max_idle_balance_cost
		{500, 500, 500},
	} {
		k, cpu := resting(t, small(t), 3)
		r := &cpu.rq
		r.avgIdle = c.before * sim.Microsecond
		r.idleStamp = cpu.t - c.idle*sim.Microsecond
		k.tasks = append(k.tasks, task{spec: &TaskSpec{}, fairEntity: fairEntity{weight: nice0}, rand: k.work})
		k.activate(cpu, cpu, 0, wayLocal)
		if got := r.avgIdle / sim.Microsecond; got != c.want || r.idleStamp != 0 {
			t.Errorf("avg_idle of %d µs is %d after %d µs of idling, want %d; idle_stamp = %d", c.before, got, c.idle, c.want, r.idleStamp)
		}
		k.dequeue(cpu, 0)
		cpu.t += sim.Second
		k.activate(cpu, cpu, 0, wayLocal)
		if got := r.avgIdle / sim.Microsecond; got != c.want {
			t.Errorf("a wakeup that ended no idle period changed avg_idle to %d", got)
		}
	}
}

// Every newidle call rewrites idle_stamp, the cheap ones and the walks.
func TestNewidleRewritesIdleStamp(t *testing.T) {
	for _, overloaded := range []bool{false, true} {
		k := newKernel(t, small(t), Features{}, 0)
		spawn(t, k, storm(5, 50, 1))
		for !k.opened && k.status == Running {
			k.Step(1)
		}
		k.setOverloaded(overloaded)
		first := k.cpus[5].rq.idleStamp
		finish(t, k)
		if last := k.cpus[5].rq.idleStamp; last < k.begin || last == first {
			t.Errorf("overloaded %v: idle_stamp is still %s", overloaded, last)
		}
	}
}

// A walk goes up as long as what it has spent and what the next level has cost stay
// below avg_idle.
func TestNewidleStopsInTime(t *testing.T) {
	m := lookup(t, "epyc-2x64")
	for level := range len(m.Domains[16]) {
		k := newKernel(t, m, Features{}, 0)
		spawn(t, k, TaskSpec{Name: "one call", CPUs: []int{0}, Kthread: true, Prog: []Op{
			{Kind: OpSleep, D: 10 * sim.Millisecond}, {Kind: OpBegin}, {Kind: OpCall, Obj: 16, N: 1},
			{Kind: OpCompute, D: 100 * sim.Microsecond}, {Kind: OpEnd}}})
		for !k.opened && k.status == Running {
			k.Step(1)
		}
		k.setOverloaded(true)
		r := &k.cpus[16].rq
		// Each level is remembered to cost 20 µs, and none costs nearly that: with n
		// times 20 µs to spend, what was spent below decides about the last level.
		for i := range r.domains {
			r.domains[i].maxCost = 20 * sim.Microsecond
		}
		r.avgIdle = 20*sim.Microsecond + sim.Nanosecond
		for i := range level {
			r.domains[i].maxCost = 0
			r.avgIdle = 20 * sim.Microsecond // not enough above what the passes below cost
		}
		finish(t, k)
		s := k.counters
		want := max(level, 1)
		if got := s[NewidleWalks1+Counter(want)-1]; got != 1 {
			t.Errorf("level %d: %d walks of %d passes, want 1", level, got, want)
		}
	}
}

func TestMaxCostDecays(t *testing.T) {
	k, c := resting(t, small(t), 3)
	c.rq.domains[0].maxCost = 256 * sim.Microsecond
	c.rq.domains[1].maxCost = 512 * sim.Microsecond
	c.rq.nextDecay = c.t
	k.decay(c, c.t)
	k.decay(c, c.t+sim.Second/2) // not yet again
	if a, b := c.rq.domains[0].maxCost, c.rq.domains[1].maxCost; a != 253*sim.Microsecond || b != 506*sim.Microsecond {
		t.Errorf("costs of 256 and 512 µs are %s and %s after a second, want 253 and 506 µs", a, b)
	}
	k.decay(c, c.t+sim.Second)
	if a := c.rq.domains[0].maxCost; a != 253*sim.Microsecond*253/256 {
		t.Errorf("after two seconds %s", a)
	}
}

// One CPU of a group makes the periodic passes: the first idle one, on an idle core
// above the threads.
func TestShouldBalance(t *testing.T) {
	m := small(t) // cores {0,8} {1,9} in one cache, {2,10} {3,11} in the other of the socket
	for _, c := range []struct {
		busy  []int
		level int
		group int // whose group is meant
		want  int16
		old   int16 // before 6.6, when all idle CPUs were alike
	}{
		{nil, 1, 0, 0, 0},
		{[]int{0}, 1, 0, 8, 8}, // only a thread of a busy core is left
		{[]int{0}, 2, 0, 1, 1}, // the first idle core
		{[]int{1}, 2, 1, 0, 0},
		{[]int{0, 9}, 2, 0, 1, 1}, // no idle core: the first idle thread
		{[]int{0, 1}, 2, 0, 8, 8},
		{[]int{0, 1, 8, 9}, 2, 0, 0, 0}, // nobody idle: the first
		{[]int{0}, 3, 0, 1, 1},
		{[]int{8}, 3, 0, 1, 0}, // CPU 0 is idle, and its core is not
		{nil, 3, 4, 4, 4},
		{[]int{0}, 0, 8, 8, 8},
	} {
		for _, first := range []bool{true, false} {
			k, _ := resting(t, m, 0)
			k.base.IdleCoreFirst = first
			want := c.want
			if !first {
				want = c.old
			}
			for _, b := range c.busy {
				k.tasks = append(k.tasks, task{spec: &TaskSpec{}, fairEntity: fairEntity{weight: nice0}})
				k.enqueue(&k.cpus[b], int32(len(k.tasks)-1))
			}
			d := m.Domains[c.group][c.level]
			for _, x := range d.Groups[d.GroupOf[c.group]].CPUs {
				if got := k.shouldBalance(&k.cpus[x], c.level); got != (x == want) {
					t.Errorf("busy %v, level %d, idle cores first %v: CPU %d balances: %v, want only CPU %d", c.busy, c.level, first, x, got, want)
				}
			}
		}
	}
}

// Of groups alike the one after a CPU's own is pulled from, and gets a new task: each CPU's ring begins with its own.
func TestGroupsInTheOrderOfTheRing(t *testing.T) {
	m := lookup(t, "epyc-2x64")
	k, _ := resting(t, m, 0)
	for _, x := range []int{0, 8, 24, 40} { // two tasks each, under other caches
		for range 2 {
			k.tasks = append(k.tasks, task{spec: &TaskSpec{}, fairEntity: fairEntity{weight: nice0}})
			k.enqueue(&k.cpus[x], int32(len(k.tasks)-1))
		}
	}
	level := len(m.Domains[16]) - 2 // the caches of a node
	d := m.Domains[16][level]
	p := &pass{dst: &k.cpus[16], level: level, idle: true}
	if got, want := k.findBusiestGroup(d, p), int(d.GroupOf[24]); got != want {
		t.Errorf("CPU 16 pulls from group %d, want %d", got, want)
	}
	fork := &task{spec: &TaskSpec{}}
	if got, want := k.findIdlestGroup(d, fork, d.GroupOf[24]), d.GroupOf[32]; got != want {
		t.Errorf("a task forked on CPU 24 goes to group %d, want %d", got, want)
	}
}

// How many tasks a node may run before others are spread is each kernel's.
func TestNUMASpread(t *testing.T) {
	m := lookup(t, "xeon-e5-2699v3") // two nodes of 36 CPUs, each with one cache
	level := len(m.Domains[0]) - 1
	d := m.Domains[0][level]
	for _, c := range []struct {
		spread     NUMASpread
		stay, even int // with how many tasks on its node a new one stays, and two more than on the other are left alone
	}{{SpreadEvenly, 0, 0}, {SpreadQuarter, 8, 8}, {SpreadEighth, 2, 3}} {
		for tasks := range 12 {
			k, _ := resting(t, m, 0)
			k.base.NUMASpread = c.spread
			k.numaSlack[d.ID] = k.newNUMASlack(d)
			load := func(cpu int) {
				k.tasks = append(k.tasks, task{spec: &TaskSpec{}, fairEntity: fairEntity{weight: nice0}})
				k.enqueue(&k.cpus[cpu], int32(len(k.tasks)-1))
			}
			for i := range tasks {
				load(i)
			}
			if stays := k.findIdlestGroup(d, &task{spec: &TaskSpec{}}, 0) == 0; stays != (tasks <= c.stay) {
				t.Errorf("rule %d, %d tasks on the node: a new one stays: %v", c.spread, tasks, stays)
			}
			for i := range tasks + 2 {
				load(18 + i) // the other node
			}
			p := &pass{dst: &k.cpus[17], level: level, idle: true}
			if alone := k.findBusiestGroup(d, p) < 0; alone != (tasks <= c.even && c.even > 0) {
				t.Errorf("rule %d, %d tasks here and two more there: left alone: %v", c.spread, tasks, alone)
			}
		}
	}
}

// How long CPUs have idled at the start differs, and from run to run: so nothing prefers the first thread of a core.
func TestIdleSinceBeforeTheStart(t *testing.T) {
	m := lookup(t, "power9-smt8")
	first := 0
	const runs = 64
	for run := range uint32(runs) {
		k := newKernel(t, m, Features{}, run)
		x := k.findIdlestGroupCPU(m.Domains[0][0].CPUs, &task{spec: &TaskSpec{}})
		first += b2i(x == 0)
		for i := range k.cpus {
			if idle := -k.cpus[i].rq.idleStamp; idle < 1 || idle > longestIdle {
				t.Fatalf("CPU %d has idled for %s", i, idle)
			}
		}
	}
	if first > runs/3 {
		t.Errorf("in %d of %d runs the first of eight threads had idled least", first, runs)
	}
}

func TestFindBusiestGroup(t *testing.T) {
	m := small(t)
	load := func(k *Kernel, cpu, n int) {
		for range n {
			k.tasks = append(k.tasks, task{spec: &TaskSpec{}, fairEntity: fairEntity{weight: nice0}})
			k.enqueue(&k.cpus[cpu], int32(len(k.tasks)-1))
		}
	}
	for _, c := range []struct {
		name  string
		tasks map[int]int // by CPU
		dst   int
		level int
		idle  bool
		want  bool // something to pull
	}{
		{"a pair on the sibling", map[int]int{8: 2}, 0, 0, true, true},
		{"a single task on the sibling", map[int]int{8: 1}, 0, 0, true, false},
		{"a pair on another core", map[int]int{9: 2}, 0, 1, true, true},
		{"a pair there, a task here", map[int]int{9: 2, 8: 1}, 0, 1, true, false},
		{"a pair there, but dst is busy", map[int]int{9: 2}, 0, 1, false, false},
		{"a pair under another cache", map[int]int{2: 2}, 0, 2, true, true},
		{"a pair on another node: left alone", map[int]int{4: 2}, 0, 3, true, false},
		{"three on another node", map[int]int{4: 2, 5: 1}, 0, 3, true, true},
		{"an overloaded node", map[int]int{4: 9}, 0, 3, true, true},
		{"an overloaded node, dst busy", map[int]int{4: 9, 0: 1}, 0, 3, false, true},
		{"both overloaded alike", map[int]int{4: 9, 0: 9}, 0, 3, false, false},
	} {
		k, _ := resting(t, m, 0)
		for x := range len(m.CPUs) {
			load(k, x, c.tasks[x])
		}
		dst := &k.cpus[c.dst]
		p := &pass{dst: dst, level: c.level, idle: c.idle}
		if got := k.findBusiestGroup(m.Domains[c.dst][c.level], p) >= 0; got != c.want {
			t.Errorf("%s: something to pull: %v, want %v", c.name, got, c.want)
		}
		if root := c.level == 3; root && k.overloaded != (k.over > 0) {
			t.Errorf("%s: overloaded = %v after a pass over the root domain", c.name, k.overloaded)
		}
	}
}

// A pass without a CPU rewrites the root's flag without it.
func TestRedoRewritesTheFlagWithoutTheCPU(t *testing.T) {
	m := small(t)
	k, _ := resting(t, m, 0)
	for range 2 {
		k.tasks = append(k.tasks, task{spec: &TaskSpec{}, fairEntity: fairEntity{weight: nice0}})
		k.enqueue(&k.cpus[4], int32(len(k.tasks)-1))
	}
	p := &pass{dst: &k.cpus[0], level: 3, idle: true}
	k.findBusiestGroup(m.Domains[0][3], p)
	if !k.overloaded {
		t.Error("the first pass saw no pair")
	}
	p.without[0], p.out = 4, 1
	k.findBusiestGroup(m.Domains[0][3], p)
	if k.overloaded {
		t.Error("the second pass saw the pair that it leaves out")
	}
}

// A kick by a store never makes the kicked CPU balance, for the callback takes the
// flag that woke it for work of its own, unless it is patched; a kick by interrupt does.
func TestNohzKick(t *testing.T) {
	for _, c := range []struct {
		machine  string
		f        Features
		balances bool
	}{{"epyc-2x64", Features{}, false}, {"epyc-2x64", Features{NohzAnyway: true}, true}, {"power9-smt8", Features{}, true}} {
		m := lookup(t, c.machine)
		k := newKernel(t, m, c.f, 0)
		last := len(m.CPUs) - 1
		for i := range 2 {
			spawn(t, k, hog(fmt.Sprint("hog", i), last))
		}
		for k.now < 500*sim.Millisecond && k.Step(1) == Running {
		}
		if k.counters[NohzKicks] < 10 {
			t.Errorf("%s: %d kicks in half a second of two tasks on a CPU", c.machine, k.counters[NohzKicks])
		}
		if balanced := k.cpus[40].rq.domains[0].last > 100*sim.Millisecond; balanced != c.balances {
			t.Errorf("%s: somebody has balanced for CPU 40: %v, want %v", c.machine, balanced, c.balances)
		}
	}
}

// The idle loop updates blocked load at most every 32 ms.
func TestBlockedUpdate(t *testing.T) {
	k := newKernel(t, lookup(t, "epyc-2x64"), Features{}, 0)
	k.cpus[16].rq.avgIdle = 2 * k.base.MigrationCost
	spawn(t, k, storm(16, 100_000, 1))
	k.check = false
	s := finish(t, k)
	updates := s.Elapsed/blockedPeriod + 1
	each := 254 * k.cost[CostNohzVisit]
	if got := sim.Time(s.Time[TimeBalance]); got < updates*each/2 || got > 4*updates*each {
		t.Errorf("%s of balancing in %s, want about %d updates of %s", got, s.Elapsed, updates, each)
	}
}

// At most one kick a jiffy, however many CPUs are busy.
func TestOneKickAJiffy(t *testing.T) {
	m := lookup(t, "epyc-2x64")
	k := newKernel(t, m, Features{}, 0)
	k.check = false
	for i := range 16 {
		spawn(t, k, hog(fmt.Sprint("hog", i), 64+i))
	}
	for k.now < sim.Second && k.Step(1) == Running {
	}
	if n := k.counters[NohzKicks]; n < 200 || n > 251 {
		t.Errorf("%d kicks in 250 jiffies with 16 busy CPUs", n)
	}
}

// A CPU that balances for others stops when it has work of its own.
func TestNohzBalanceGivesUp(t *testing.T) {
	for _, x := range []struct{ flag, anyway, task, ends bool }{
		{},
		{flag: true, ends: true},
		{flag: true, anyway: true}, // it is the flag that it was kicked by
		{flag: true, anyway: true, task: true, ends: true},
	} {
		k, c := resting(t, small(t), 0)
		k.base.NohzAnyway = x.anyway
		c.frame[0].waiting = false
		c.pass = pass{dst: c, level: 0, kind: TimeBalance}
		c.soft = rebalance{running: true, nohz: true}
		c.needResched, c.rq.wakePending = x.flag, b2i(x.task)
		k.rebalancePassed(c)
		if got := c.frame[0].step == stSoftirqEnded; got != x.ends {
			t.Errorf("%+v: ended %v", x, got)
		}
	}
}

// max_idle_balance_cost follows the dearest walk up, and the levels' sum down, from
// the migration cost on.
func TestMaxIdleCost(t *testing.T) {
	const us = sim.Microsecond
	k, c := resting(t, small(t), 3)
	c.frame[0].waiting = false
	k.acquire(c, &c.rq.lock, stNewidleLocked)
	c.nb.spent = 800 * us
	k.newidleLocked(c)
	if got := c.rq.maxIdleCost; got != 800*us {
		t.Errorf("after a walk of 800 µs it is %s", got)
	}
	for i := range c.rq.domains {
		c.rq.domains[i].maxCost = 256 * us
	}
	c.rq.nextDecay = c.t
	k.decay(c, c.t)
	if got, want := c.rq.maxIdleCost, 253*us*sim.Time(len(c.rq.domains)); got != want {
		t.Errorf("with levels of 253 µs it is %s, want %s", got, want)
	}
}

// A task that has used up its slice gives way to one that wakes, though it would
// run on to parity.
func TestExpiredGivesWay(t *testing.T) {
	for _, expired := range []bool{false, true} {
		k, c := resting(t, small(t), 3)
		for range 2 {
			k.tasks = append(k.tasks, task{spec: &TaskSpec{}, fairEntity: fairEntity{weight: nice0}})
		}
		k.enqueue(c, 0)
		k.setNext(c, 0)
		k.setCurr(c, 0)
		k.enqueue(c, 1)
		c.rq.expired = expired
		if got := k.wakePreempts(c, 1); got != expired {
			t.Errorf("expired %v: the waking task preempts: %v", expired, got)
		}
	}
}

// A pass moves as many tasks as even the groups out, but not past the two CPUs, looks at 32 at
// most, and with PREEMPT_RT at 8 and moves one at newidle.
func TestMoveTasks(t *testing.T) {
	m := small(t) // cores {0,8} {1,9} in one cache, {2,10} {3,11} in the other of the socket
	for _, c := range []struct {
		name   string
		here   int // tasks on CPU 0, to which is moved
		there  int // on src
		src    int
		level  int
		pinned int // of those, to src: the oldest
		rt     bool
		kind   TimeKind
		want   int
	}{
		{"a pair", 0, 2, 8, 0, 0, false, TimeBalance, 1},
		{"between threads: half the difference", 0, 9, 8, 0, 0, false, TimeBalance, 4},
		{"newidle alike", 0, 9, 8, 0, 0, false, TimeNewidle, 4},
		{"where tasks run already", 3, 9, 8, 0, 0, false, TimeBalance, 3},
		{"between cores: of five on one thread", 0, 5, 9, 1, 0, false, TimeBalance, 2},
		{"no more than the CPUs differ by", 6, 10, 9, 1, 0, false, TimeBalance, 2},
		{"a group with room", 0, 2, 9, 1, 0, false, TimeBalance, 1},
		{"32 are looked at", 0, 100, 8, 0, 0, false, TimeBalance, 32},
		{"with those that are pinned", 0, 100, 8, 0, 10, false, TimeBalance, 22},
		{"all of them pinned", 0, 100, 8, 0, 60, false, TimeBalance, 0},
		{"PREEMPT_RT", 0, 100, 8, 0, 0, true, TimeBalance, 8},
		{"PREEMPT_RT at newidle", 0, 100, 8, 0, 0, true, TimeNewidle, 1},
	} {
		k, dst := resting(t, m, 0)
		if c.rt {
			k.base = k.base.WithRT()
		}
		src := &k.cpus[c.src]
		for i := range c.there + c.here {
			s := hog("", c.src)
			if i >= c.pinned {
				s.CPUs = nil
			}
			spawn(t, k, s)
			k.tasks[i].state = taskRunning
			if i < c.there {
				k.enqueue(src, int32(i))
			} else {
				k.enqueue(dst, int32(i))
			}
		}
		d := m.Domains[0][c.level]
		dst.pass = pass{dst: dst, level: c.level, kind: c.kind, idle: true}
		if k.findBusiestGroup(d, &dst.pass) < 0 {
			t.Fatalf("%s: in balance", c.name)
		}
		pinned := k.moveTasks(dst, d, src)
		if got := dst.rq.runnable.n - c.here; got != c.want || pinned != (c.want == 0) {
			t.Errorf("%s: %d tasks are moved, want %d; pinned: %v", c.name, got, c.want, pinned)
		}
		for i := range c.want {
			if id := c.pinned + i; k.tasks[id].cpu != 0 {
				t.Errorf("%s: task %d stays, which came before others that go", c.name, id)
			}
		}
		// What was looked at in vain is in nobody's way at the next pass.
		if c.pinned > nrMigrate {
			k.moveTasks(dst, d, src)
			if n := dst.rq.runnable.n; n != 2*nrMigrate-c.pinned {
				t.Errorf("%s: the next pass moves %d", c.name, n)
			}
		}
		k.checkQueue(src)
		k.checkQueue(dst)
		if k.status == Broken {
			t.Errorf("%s: %s", c.name, k.fault)
		}
	}
}

// Passes prefer tasks that have not run for long, and leave alone who runs or has just run.
func TestMoveTasksColdestFirst(t *testing.T) {
	m := small(t)
	k, dst := resting(t, m, 0)
	src := &k.cpus[2] // under another cache
	for i := range 4 {
		s := hog("", 2)
		s.CPUs = nil
		spawn(t, k, s)
		k.tasks[i].state = taskRunning
		k.enqueue(src, int32(i))
	}
	for _, next := range []int32{0, 1, 3} { // each has its turn
		k.setNext(src, next)
		k.setCurr(src, next)
	}
	k.tasks[0].ranTill, k.tasks[1].ranTill = dst.t-k.base.MigrationCost, dst.t
	d := m.Domains[0][2]
	move := func(want ...int32) {
		t.Helper()
		dst.pass = pass{dst: dst, level: 2, kind: TimeBalance, idle: true, want: 1}
		k.moveTasks(dst, d, src)
		for i := range k.tasks {
			moved := false
			for _, w := range want {
				moved = moved || int(w) == i
			}
			if (k.tasks[i].cpu == 0) != moved {
				t.Errorf("task %d is on CPU %d, want %v moved", i, k.tasks[i].cpu, want)
			}
		}
	}
	move(2)    // never ran
	move(2, 0) // ran longest ago
	move(2, 0) // 1 is warm and 3 runs
	dst.rq.domains[2].failed = 2
	move(2, 0, 1)
	move(2, 0, 1)
}

// Two tasks that compute on the threads of one core while other cores idle: neither waits, so
// that nothing can be pulled, and one is pushed to a core of its own. Not a pinned one.
func TestActiveBalance(t *testing.T) {
	for _, pinned := range []bool{false, true} {
		for i := range Bases {
			k := newKernel(t, small(t), Features{}, 1)
			k.base = Bases[i]
			core := k.m.Domains[0][0].CPUs
			for _, x := range core {
				spawn(t, k, TaskSpec{Name: "job", CPUs: []int{int(x)}, Prog: []Op{{Kind: OpCompute, D: 10 * sim.Second}}})
			}
			for k.now < sim.Millisecond && k.Step(1) == Running {
			}
			if !pinned {
				for j := range k.tasks {
					k.tasks[j].allowed, k.tasks[j].pinned = nil, false
				}
			}
			for k.now < 200*sim.Millisecond && k.Step(1) == Running {
			}
			if k.status != Running {
				t.Fatal(k.fault)
			}
			apart := k.m.CPUs[k.tasks[0].cpu].Core != k.m.CPUs[k.tasks[1].cpu].Core
			if apart == pinned || apart != (k.busy[k.m.CPUs[core[0]].Core] == 1) {
				t.Errorf("%s, pinned %v: tasks on CPUs %d and %d after %s", k.base.Key, pinned, k.tasks[0].cpu, k.tasks[1].cpu, k.now)
			}
		}
	}
}
