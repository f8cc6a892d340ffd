package patch

import (
	"strings"
	"testing"

	"schedlab/core/kernel"
	"schedlab/core/machine"
)

func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for i := range Patches {
		p := &Patches[i]
		if p.Key == "" || p.Title == "" || p.Brief == "" || p.Story == "" || p.Fate == "" || !strings.HasPrefix(p.Link, "https://") || len(p.Parts) == 0 {
			t.Errorf("%+v: a patch has a key, a title, a link, a story, a fate and parts", p)
		}
		if seen[p.Key] || strings.ContainsAny(p.Key, ".,&") {
			t.Errorf("%q: a key is unique and has no mark of the link's syntax", p.Key)
		}
		seen[p.Key] = true
		for _, b := range p.Bases {
			base, err := kernel.LookupBase(b)
			if err != nil {
				t.Errorf("%s: %v", p.Key, err)
			}
			// Every part changes a feature, and nothing else.
			for j := range p.Parts {
				part := &p.Parts[j]
				changed, err := Apply(base, []string{p.Key + "." + part.Key})
				if err != nil {
					t.Error(err)
				}
				if changed.Features == base.Features {
					t.Errorf("%s.%s changes nothing", p.Key, part.Key)
				}
				changed.Features = base.Features
				if changed != base {
					t.Errorf("%s.%s changes more than features", p.Key, part.Key)
				}
			}
		}
		if p.Show != "" && !strings.Contains(p.Show, p.Key) {
			t.Errorf("%s is not in the scenario that shows it: %s", p.Key, p.Show)
		}
		for _, b := range p.Bases {
			if base, _ := kernel.LookupBase(b); p.NeedsExt && !base.SchedExt || p.NeedsExt && p.FairOnly {
				t.Errorf("%s needs a sched_ext scheduler, and applies to %s", p.Key, b)
			}
		}
		for _, x := range p.Excludes {
			if _, _, err := Lookup(x); err != nil {
				t.Errorf("%s excludes %v", p.Key, err)
			}
		}
	}
}

func TestApply(t *testing.T) {
	base := kernel.Bases[0]
	exit := base.IdleCoreExit
	both := kernel.Features{IdleReentry: kernel.IdleFast, PreemptTest: kernel.PreemptExactly}
	for _, c := range []struct {
		keys string
		want kernel.Features
		err  string
	}{
		{"", kernel.Features{}, ""},
		{"irq-nosync", kernel.Features{SyncInTaskOnly: true}, ""},
		{"irq-nosync,sm-idle-v2", kernel.Features{IdleReentry: kernel.IdleFast, PreemptTest: kernel.PreemptExactly, SyncInTaskOnly: true}, ""},
		{"select-idle-core", kernel.Features{}, "select-idle-core applies to 5.4, not to 6.11"},
		{"sm-idle-v2", both, ""},
		{"sm-idle-v2.fast", kernel.Features{IdleReentry: kernel.IdleFast}, ""},
		{"sm-idle-v2.fast,sm-idle-v2.exact", both, ""},
		{"sm-idle-v1", kernel.Features{IdleReentry: kernel.IdleFast, PreemptTest: kernel.PreemptAbove}, ""},
		{"skip-newidle", kernel.Features{IdleReentry: kernel.IdleNoNewidle}, ""},
		{"skip-newidle,notify-ipi", kernel.Features{IdleReentry: kernel.IdleNoNewidle, CallSignal: kernel.SignalNotify}, ""},
		{"always-ipi", kernel.Features{CallSignal: kernel.SignalIPI}, ""},
		{"always-ipi,notify-ipi", kernel.Features{}, "always-ipi and notify-ipi exclude each other"},
		{"sm-idle-v2,skip-newidle", kernel.Features{}, "sm-idle-v2 and skip-newidle exclude each other"},
		{"sm-idle-v1,sm-idle-v2", kernel.Features{}, "sm-idle-v1 and sm-idle-v2 exclude each other"},
		{"sm-idle-v1.above,sm-idle-v2.fast", kernel.Features{}, "exclude each other"},
		{"sm-idle-v2,sm-idle-v2", kernel.Features{}, "given twice"},
		{"sm-idle-v2,sm-idle-v2.fast", kernel.Features{}, "sm-idle-v2.fast is given twice"},
		{"sm-idle-v2.fast,sm-idle-v2", kernel.Features{}, "sm-idle-v2.fast is given twice"},
		{"sm-idle-v3", kernel.Features{}, `no patch "sm-idle-v3"`},
		{"sm-idle-v2.slow", kernel.Features{}, `no part "slow"`},
	} {
		var keys []string
		if c.keys != "" {
			keys = strings.Split(c.keys, ",")
		}
		got, err := Apply(base, keys)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("Apply(%s): error %v, want %q", c.keys, err, c.err)
			}
			continue
		}
		c.want.IdleCoreExit = exit
		if err != nil || got.Features != c.want {
			t.Errorf("Apply(%s) = %+v, %v, want %+v", c.keys, got.Features, err, c.want)
		}
	}
	// On the kernels with sched_ext.
	for _, c := range []struct {
		base, keys string
		want       kernel.ExtClock
		queued     bool
		err        string
	}{
		{"6.12", "scx-now-v1", kernel.ClockNowV1, false, ""},
		{"6.12", "scx-now-v4.clock", kernel.ClockNowV4, false, ""},
		{"6.12", "scx-now,scx-queued-wakeup", kernel.ClockNow, true, ""},
		{"6.12", "scx-queued-wakeup", kernel.ClockHardware, true, ""},
		{"6.12", "nohz-csd,always-ipi,irq-nosync", kernel.ClockHardware, false, ""},
		{"6.14", "scx-ktime,scx-queued-wakeup", kernel.ClockHardware, true, ""},
		{"6.14", "always-ipi", kernel.ClockNow, false, ""},
		{"6.12", "scx-ktime", 0, false, "scx-ktime applies to 6.14, not to 6.12"},
		{"6.14", "scx-now", 0, false, "scx-now applies to 6.12, not to 6.14"},
		{"6.14", "nohz-csd", 0, false, "nohz-csd applies to 6.1, 6.10, 6.11, 6.12, not to 6.14"},
		{"6.12", "sm-idle-v2", 0, false, "sm-idle-v2 applies to 6.10, 6.11, not to 6.12"},
		{"6.12", "scx-now-v1,scx-now-v4", 0, false, "scx-now-v1 and scx-now-v4 exclude each other"},
		{"6.12", "scx-now,scx-now-v1", 0, false, "scx-now and scx-now-v1 exclude each other"},
		{"6.12", "scx-now-v4,scx-now", 0, false, "scx-now-v4 and scx-now exclude each other"},
		{"6.11", "scx-now", 0, false, "scx-now applies to 6.12, not to 6.11"},
	} {
		b, err := kernel.LookupBase(c.base)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Apply(b, strings.Split(c.keys, ","))
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("Apply(%s) to %s: error %v, want %q", c.keys, c.base, err, c.err)
			}
			continue
		}
		if err != nil || got.ExtClock != c.want || got.ExtQueuedWakeups != c.queued || got.IdleReentry != kernel.IdleFast {
			t.Errorf("Apply(%s) to %s = %+v, %v, want clock %d, queued %v", c.keys, c.base, got.Features, err, c.want, c.queued)
		}
	}
	if _, err := Apply(kernel.Base{Key: "2.6.0"}, []string{"sm-idle-v2"}); err == nil || !strings.Contains(err.Error(), "applies to 6.10, 6.11, not to 2.6.0") {
		t.Errorf("Apply to another kernel: %v", err)
	}
}

func TestSuits(t *testing.T) {
	for _, c := range []struct {
		machine string
		loaded  bool
		key     string
		err     string
	}{
		{"power9-smt8", false, "select-idle-core", ""},
		{"power9-smt8", false, "select-idle-core.exit", ""},
		{"kunpeng-920", false, "select-idle-core.exit", "select-idle-core needs a machine whose cores have more than one thread"},
		{"vm-2", false, "select-idle-core", "more than one thread"},
		{"kunpeng-920", false, "irq-nosync", ""},
		{"kunpeng-920", false, "nothing", "no patch"},
		{"laptop", false, "scx-now", "scx-now needs a sched_ext scheduler: scx=lavd, bpfland, rusty, simple, central, flatcg"},
		{"laptop", false, "scx-ktime.hardware", "scx-ktime needs a sched_ext scheduler"},
		{"laptop", true, "scx-now", ""},
		{"laptop", true, "scx-queued-wakeup", ""},
		{"laptop", true, "always-ipi", ""},
		{"laptop", true, "irq-nosync", "irq-nosync is about the fair class, which has no tasks while a sched_ext scheduler is loaded"},
		{"laptop", true, "nohz-csd.anyway", "nohz-csd is about the fair class"},
	} {
		m, err := machine.Lookup(c.machine)
		if err != nil {
			t.Fatal(err)
		}
		if err := Suits(m, c.loaded, c.key); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s on %s (scheduler %v): %v, want %q", c.key, c.machine, c.loaded, err, c.err)
		}
	}
}
