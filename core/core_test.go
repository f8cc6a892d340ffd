package core

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/patch"
	"schedlab/core/scenario"
	"schedlab/core/sim"
	"schedlab/core/workload"
)

var update = flag.Bool("update", false, "write the golden files anew")

func parse(t testing.TB, link string) scenario.Scenario {
	t.Helper()
	s, problems := scenario.Parse(link)
	for _, p := range problems {
		t.Fatalf("%s: %s", link, p)
	}
	return s
}

func mustRun(t testing.TB, s scenario.Scenario) *Result {
	t.Helper()
	r, err := Run(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for arm := range r.Parts {
		for run := range r.Parts[arm] {
			if p := &r.Parts[arm][run]; !p.Done || p.Fault != "" {
				t.Fatalf("%s: arm %d, run %d is not done: %s", s.Query(), arm, run, p.Fault)
			}
		}
	}
	return r
}

// The digests of a set of scenarios are the same on every platform and in every
// release of Go: this test runs natively and as WebAssembly. They may change only
// together with kernel.Model; then run it with -update.
func TestGoldenDigests(t *testing.T) {
	const file = "testdata/digests.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	lines := bufio.NewScanner(strings.NewReader(string(data)))
	model := ""
	for lines.Scan() {
		line := lines.Text()
		link, want, _ := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(line, "#"), line == "":
			out.WriteString(line + "\n")
			continue
		case link == "model":
			model = want
			fmt.Fprintf(&out, "model %d\n", Model)
			continue
		}
		got := fmt.Sprintf("%016x", mustRun(t, parse(t, link)).Digest())
		fmt.Fprintln(&out, link, got)
		if got != want && !*update {
			t.Errorf("%s\ndigest %s, want %s: results have changed, so raise kernel.Model and run go test ./core -run Golden -update", link, got, want)
		}
	}
	if model != fmt.Sprint(Model) && !*update {
		t.Errorf("%s is of model %s, and the model is %d: go test ./core -run Golden -update", file, model, Model)
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// randomScenario draws a valid scenario, small enough to check after every event.
func randomScenario(r *sim.Rand) string {
	pick := func(list []string) string { return list[r.Below(int64(len(list)))] }
	m, k := pick(scenario.Machines()), pick(scenario.Kernels())
	arms := func(patched string) string {
		base, _ := kernel.LookupBase(k)
		if base.SchedExt && r.Below(2) == 0 {
			list := map[string][]string{
				"6.12": {"scx-now-v1", "scx-now-v4", "scx-now", "scx-queued-wakeup", "scx-now,scx-queued-wakeup", "always-ipi"},
				"6.14": {"scx-ktime", "scx-queued-wakeup", "scx-ktime,scx-queued-wakeup", "always-ipi"},
			}[k]
			return "&arm=&arm=" + pick(list) + "&k=" + k + "&scx=" + pick(scenario.Schedulers())
		}
		if _, err := patch.Apply(base, strings.Split(patched, ",")); err != nil {
			return "&arm=&k=" + k
		}
		return "&arm=&arm=" + patched + "&k=" + k
	}
	mach, _ := machine.Lookup(m)
	q := fmt.Sprintf("?m=%s&bg=%s&runs=1&seed=%d&check=1", m, pick(scenario.Backgrounds()), uint32(r.Uint64()))
	calls := 1 + r.Below(60)
	if r.Below(4) == 0 {
		q += "&single=0"
		calls = 1
	}
	senders := []string{strconv.Itoa(int(r.Below(int64(len(mach.CPUs)))))}
	for range r.Below(2) * r.Below(4) {
		senders = append(senders, strconv.Itoa(int(r.Below(int64(len(mach.CPUs))))))
	}
	q += fmt.Sprintf("&numipi=%d&cpulist=%s&offset=%d&mask=%d&wait=%d&modified=%d", calls, strings.Join(senders, ","), r.Below(300), r.Below(2)*r.Below(300), r.Below(2), r.Below(2))
	if r.Below(3) == 0 {
		q += fmt.Sprintf("&delay=%d", 1+r.Below(3000))
	}
	if s := &mach.Idle[r.Below(int64(len(mach.Idle)))]; r.Below(3) == 0 && (!s.Polling || len(mach.CPUs) <= 16) {
		q += "&idle=" + s.Name // many CPUs that spin all the while take too long to check
	}
	if r.Below(3) == 0 {
		q = fmt.Sprintf("?m=%s&bg=%s&runs=1&seed=%d&check=1&%s", pick([]string{"laptop", "vm-2", "power9-smt8"}), pick(scenario.Backgrounds()), uint32(r.Uint64()), pick([]string{
			"w=hackbench&groups=1&loops=2&fds=5", "w=hackbench&groups=2&loops=2&fds=3&pipe=1&threads=1", "w=messaging&group=1&nr_loops=1&pipe=1",
			"w=schbench&threads=3&runtime=10&warmuptime=1", "w=schbench&version=old&threads=3&sleeptime=200&cputime=300&runtime=5&warmuptime=1",
			"w=netperf&runtime=1&warmuptime=1", "w=netperf&test=UDP_STREAM&runtime=1&warmuptime=1", "w=tbench&clients=2&runtime=1&warmuptime=1",
			"w=pgbench&clients=3&runtime=2&warmuptime=1", "w=pgbench&clients=3&version=9.5&runtime=2&warmuptime=1",
		}))
	} else if r.Below(4) == 0 {
		q = fmt.Sprintf("?m=%s&bg=%s&runs=1&seed=%d&check=1&w=spinlock&tasks=%d&cpus=%d&loops=%d&hold=%d&gap=%d", m, pick([]string{"quiet", "pair"}), uint32(r.Uint64()),
			1+r.Below(9), 1+r.Below(min(4, int64(len(mach.CPUs)))), 1+r.Below(60), r.Below(30), r.Below(30))
		if r.Below(2) == 0 {
			return q + "&rt=1" + arms(pick([]string{"sm-idle-v2", "sm-idle-v1.fast", "notify-ipi", "always-ipi"})) // v1's fault is no surprise
		}
	}
	q += arms(pick([]string{"sm-idle-v1", "sm-idle-v2", "sm-idle-v1.fast", "sm-idle-v2.exact", "always-ipi", "skip-newidle", "notify-ipi", "notify-ipi,sm-idle-v2", "always-ipi,skip-newidle"}))
	for range r.Below(4) {
		c := &kernel.Costs[r.Below(int64(len(kernel.Costs)))]
		if !strings.Contains(q, "c."+c.Key+"=") {
			q += fmt.Sprintf("&c.%s=%d", c.Key, []int64{0, 1, 100, 5000, 100_000}[r.Below(5)])
		}
	}
	return q
}

// Whatever a link can ask for, no invariant breaks.
func TestRandomScenariosKeepTheInvariants(t *testing.T) {
	n := 50
	if testing.Short() {
		n = 10
	}
	r := sim.NewRand(2027, 0, sim.Ties)
	for range n {
		mustRun(t, parse(t, randomScenario(&r)))
	}
}

func FuzzScenario(f *testing.F) {
	f.Add(uint32(0))
	f.Fuzz(func(t *testing.T, seed uint32) {
		r := sim.NewRand(seed, 1, sim.Ties)
		mustRun(t, parse(t, randomScenario(&r)))
	})
}

// SM_IDLE v1's fault on PREEMPT_RT is told of, and stops a run that is checked.
func TestKernelFault(t *testing.T) {
	for _, c := range []struct {
		link  string
		fault bool
	}{
		{"?w=spinlock&rt=1&runs=1&loops=100&bg=quiet&arm=&arm=sm-idle-v1&arm=sm-idle-v1.above&arm=sm-idle-v2", true},
		{"?w=spinlock&rt=0&runs=1&loops=100&bg=quiet&arm=&arm=sm-idle-v1&arm=sm-idle-v1.above&arm=sm-idle-v2", false},
		{"?w=spinlock&rt=1&runs=1&loops=100&bg=quiet&arm=&arm=notify-ipi&arm=skip-newidle&arm=always-ipi", false},
		{"?w=spinlock&rt=1&runs=1&loops=100&bg=quiet&hold=0&gap=0&arm=&arm=sm-idle-v2", false},
	} {
		for _, check := range []string{"", "&check=1"} {
			r, err := Run(parse(t, c.link+check), nil)
			if err != nil {
				t.Fatal(err)
			}
			for arm := range r.Parts {
				want := c.fault && strings.HasPrefix(ArmName(r.Scenario.Arms[arm]), "sm-idle-v1")
				if got := r.KernelFault(arm); check == "" && (got != "") != want {
					t.Errorf("%s, arm %d: %q", c.link, arm, got)
				}
				if p := &r.Parts[arm][0]; p.Done == (want && check != "") || strings.Contains(p.Fault, "blocked and on the queue") != (want && check != "") {
					t.Errorf("%s, arm %d: done %v, %q", c.link+check, arm, p.Done, p.Fault)
				}
			}
		}
	}
}

// The time account sums over CPUs and runs to CPUs × Σ elapsed, exactly.
func TestTimeAccountIsWhole(t *testing.T) {
	for _, link := range []string{
		"?m=xeon-240&numipi=500&runs=3&bg=mixed",
		"?m=epyc-2x64&numipi=500&runs=3&bg=pair",
		"?m=power9-smt8&numipi=500&runs=3&bg=housekeeping&delay=100",
	} {
		s := parse(t, link)
		m, _ := machine.Lookup(s.Machine)
		r := mustRun(t, s)
		for arm := range r.Parts {
			total := r.Total(arm)
			var sum, elapsed int64
			for _, x := range total.Time {
				sum += x
			}
			for run := range r.Parts[arm] {
				elapsed += r.Parts[arm][run].Primary
			}
			if want := elapsed * int64(len(m.CPUs)); sum != want {
				t.Errorf("%s, arm %d: the account sums to %d ps, want %d", link, arm, sum, want)
			}
		}
	}
}

// A patch that changes nothing on the road that a run takes changes nothing in the
// run: the arms draw the same numbers.
func TestRunsArePaired(t *testing.T) {
	s := parse(t, "?m=epyc-2x64&numipi=1000&runs=3&bg=mixed&arm=&arm=sm-idle-v2.exact&arm=sm-idle-v1&arm=sm-idle-v2")
	r := mustRun(t, s)
	for run := range s.Runs {
		if a, b := r.Parts[0][run].Primary, r.Parts[1][run].Primary; a != b {
			t.Errorf("run %d: %d ps in the baseline and %d with a patch that does nothing here", run, a, b)
		}
		if a, b := r.Parts[2][run].Primary, r.Parts[3][run].Primary; a != b {
			t.Errorf("run %d: %d ps with v1 and %d with v2, which differ on PREEMPT_RT alone", run, a, b)
		}
		if a, b := r.Parts[0][run].Primary, r.Parts[3][run].Primary; a == b {
			t.Errorf("run %d: the patch changes nothing", run)
		}
	}
}

// Parts may be read at any time and come in any order.
func TestPartsInAnyOrder(t *testing.T) {
	s := parse(t, "?m=xeon-240&numipi=300&runs=3&bg=quiet")
	var parts []Part
	whole, err := Run(s, func(p *Part) bool { parts = append(parts, *p); return true })
	if err != nil {
		t.Fatal(err)
	}
	r := NewResult(s)
	for _, i := range []int{5, 3, 0, 1, 4, 2, 0, 5} {
		early := parts[i]
		early.Done, early.Events, early.Primary = false, early.Events/2, 0
		p := parts[i]
		r.Put(&p)
		r.Put(&early) // late: must not replace what is done
	}
	r.Put(&Part{Job: Job{Arm: 7, Run: 0}, Events: 1})
	r.Put(&Part{Job: Job{Arm: 0, Run: -1}, Events: 1})
	if r.Digest() != whole.Digest() {
		t.Errorf("digest %x in another order, want %x", r.Digest(), whole.Digest())
	}
}

func TestRunStops(t *testing.T) {
	s := parse(t, "?numipi=100000&runs=10")
	n := 0
	r, err := Run(s, func(*Part) bool { n++; return n < 3 })
	if err != nil || n != 3 || r.Complete() {
		t.Errorf("stopped after %d parts (complete: %v, %v), want 3", n, r.Complete(), err)
	}
}

func TestStartRefuses(t *testing.T) {
	s := parse(t, "?runs=2")
	for _, j := range []Job{{-1, 0}, {2, 0}, {0, 2}, {0, -1}} {
		if _, err := Start(s, j); err == nil {
			t.Errorf("Start(%v) of 2 arms and 2 runs succeeds", j)
		}
	}
	s.Machine = "vax"
	if _, err := Start(s, Job{}); err == nil || !strings.Contains(err.Error(), "vax") {
		t.Errorf("Start on an unknown machine: %v", err)
	}
}

// Stepping by one event, by many, and reading in between give the same result.
func TestStepsDoNotMatter(t *testing.T) {
	s := parse(t, "?m=epyc-2x64&numipi=200&runs=1&bg=mixed")
	var want string
	for _, n := range []int{1, 7, 1 << 20} {
		m, err := Start(s, Job{1, 0})
		if err != nil {
			t.Fatal(err)
		}
		var p Part
		for m.Step(n) == kernel.Running {
			m.Part(&p)
		}
		m.Part(&p)
		got := fmt.Sprint(p)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("steps of %d: %s\nwant %s", n, got, want)
		}
	}
}

// No event allocates once a run is under way.
func TestNoAllocationsPerEvent(t *testing.T) {
	for _, link := range []string{
		"?m=xeon-240&bg=quiet&arm=sm-idle-v2",
		"?m=xeon-240&bg=pair&arm=",
		"?m=epyc-2x64&bg=mixed&arm=&delay=10",
		"?m=laptop&k=6.12&scx=lavd&w=messaging&group=20&thread=1&nr_loops=600&arm=scx-now-v1&bg=quiet",
	} {
		m, err := Start(parse(t, link), Job{})
		if err != nil {
			t.Fatal(err)
		}
		m.Step(1_000_000) // queues grow to what they need
		if n := testing.AllocsPerRun(20, func() { m.Step(5000) }); n != 0 {
			t.Errorf("%s: %v allocations in 5000 events, want 0", link, n)
		}
	}
}

// BenchmarkCall is one call of ipistorm by arm and background, with the events
// that it takes: compare sim.BenchmarkQueue for the queue's part.
func BenchmarkCall(b *testing.B) {
	for _, mk := range []string{"xeon-240", "epyc-2x64"} {
		for _, bg := range []string{"quiet", "pair"} {
			for _, arm := range []string{"", "sm-idle-v2"} {
				name := ArmName(strings.Fields(arm))
				b.Run(fmt.Sprintf("machine=%s/bg=%s/arm=%s", mk, bg, name), func(b *testing.B) {
					s := parse(b, fmt.Sprintf("?m=%s&bg=%s&runs=1&arm=%s", mk, bg, arm))
					w, _ := workload.Lookup(s.Workload)
					s.Params[w.Param("numipi")].N = 10_000_000
					m, err := Start(s, Job{})
					if err != nil {
						b.Fatal(err)
					}
					m.Step(100_000)
					var before, after Part
					m.Part(&before)
					b.ReportAllocs()
					b.ResetTimer()
					for range b.N {
						m.Step(1000)
					}
					b.StopTimer()
					m.Part(&after)
					events := float64(after.Events - before.Events)
					calls := float64(after.Counters[kernel.CallsSent] - before.Counters[kernel.CallsSent])
					b.ReportMetric(events/b.Elapsed().Seconds()/1e6, "Mev/s")
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/calls, "ns/call")
					b.ReportMetric(events/calls, "events/call")
					b.ReportMetric(0, "ns/op") // an op is 1000 events: say nothing
				})
			}
		}
	}
}

// BenchmarkScheduler is perf bench sched messaging with 800 threads on 16 CPUs, by sched_ext scheduler.
func BenchmarkScheduler(b *testing.B) {
	for _, scheduler := range scenario.Schedulers() {
		b.Run("scx="+scheduler, func(b *testing.B) {
			s := parse(b, "?m=laptop&k=6.12&w=messaging&group=20&thread=1&nr_loops=60&arm=&runs=1&bg=quiet&scx="+scheduler)
			events := uint64(0)
			for range b.N {
				r, err := Run(s, nil)
				if err != nil {
					b.Fatal(err)
				}
				events += r.Total(0).Events
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds()/1e6, "Mev/s")
		})
	}
}

// Links that once broke the model.
func TestLinksThatBroke(t *testing.T) {
	for _, link := range []string{
		// An interrupt in the moment between a softirq's end and its return.
		"?m=power9-smt8&bg=busy&c.nohz_visit=100000&numipi=3000&runs=6&arm=",
		"?m=power9-smt8&bg=pair&c.nohz_visit=50000&numipi=3000&runs=3",
		// A waker that waits for a task to leave its CPU and takes no time to look.
		"?w=hackbench&m=icx-2x32&k=5.18&rt=1&runs=1&seed=49&bg=pair&groups=1&loops=3&fds=4&arm=&c.relax=0&c.enqueue=1&c.schedule_head=0",
		// Schedulers that left tasks to starve which may run on one CPU only, until the watchdog came.
		"?m=vm-2&k=6.12&scx=flatcg&w=spinlock&tasks=4&cpus=2&loops=20000&hold=1000&gap=1000&arm=&bg=housekeeping&runs=1&seed=7",
		"?m=vm-2&k=6.12&scx=central&w=spinlock&tasks=4&cpus=2&loops=20000&hold=1000&gap=1000&arm=&bg=housekeeping&runs=1&seed=7",
		"?m=vm-2&k=6.12&scx=bpfland&w=schbench&version=old&message-threads=1&threads=100&sleeptime=0&cputime=500&runtime=12000&warmuptime=0&arm=&bg=pair&runs=1&seed=7",
	} {
		mustRun(t, parse(t, link))
	}
}

// A scheduler's timers run also where CPUs can only poll.
func TestSchedulersTimers(t *testing.T) {
	for _, scheduler := range []string{"lavd", "rusty", "central"} {
		r := mustRun(t, parse(t, "?m=apu-8&k=6.12&w=pgbench&clients=4&runtime=210&arm=&bg=housekeeping&runs=1&idle=POLL&scx="+scheduler))
		if n := r.Total(0).Counters[kernel.ExtCalls+kernel.Counter(kernel.ExtTimer)]; n == 0 {
			t.Errorf("%s: its timer was never called", scheduler)
		}
	}
}

// A program of calls that cost nothing comes out of each event.
func TestCallsThatCostNothing(t *testing.T) {
	m, err := Start(parse(t, "?m=vm-2&k=6.11&w=netperf&test=UDP_STREAM&runtime=1&warmuptime=1&bg=quiet&runs=1&arm=&c.syscall=0&c.copy=0&c.udp_send=0"), Job{})
	if err != nil {
		t.Fatal(err)
	}
	if status := m.Step(200_000); status != kernel.Running {
		t.Errorf("status %d after 200,000 events of a run that can hardly end", status)
	}
}

// The longest runs that a link may ask for fit into the sums.
func TestLongestRunsFit(t *testing.T) {
	s, problems := scenario.Parse("?runs=1000&numipi=60&delay=1000000&bg=quiet&arm=")
	if len(problems) != 1 || problems[0].Key != "runs" {
		t.Fatalf("%v, want a problem with runs", problems)
	}
	s.Arms = s.Arms[:1]
	var most int
	if _, err := fmt.Sscanf(problems[0].Want, "at most %d", &most); err != nil {
		t.Fatal(err)
	}
	s.Runs = most
	m, err := Start(s, Job{0, most - 1})
	if err != nil {
		t.Fatal(err)
	}
	for m.Step(1<<20) == kernel.Running {
	}
	var p Part
	if m.Part(&p); !p.Done {
		t.Errorf("one of %d runs of 60 s: %s", most, p.Fault)
	}
}

// A run that reaches a limit says so, and is not taken for a broken one.
func TestLimit(t *testing.T) {
	s := parse(t, "?runs=1000&numipi=1000000&arm=&bg=quiet&c.call_func=100000")
	m, err := Start(s, Job{})
	if err != nil {
		t.Fatal(err)
	}
	for m.Step(1<<20) == kernel.Running {
	}
	var p Part
	if m.Part(&p); p.Done || !p.Limit || !strings.Contains(p.Fault, "as long as a run may last") {
		t.Errorf("done %v, limit %v, %q", p.Done, p.Limit, p.Fault)
	}
}
