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
	if _, err := Apply(kernel.Base{Key: "2.6.0"}, []string{"sm-idle-v2"}); err == nil || !strings.Contains(err.Error(), "applies to 6.10, 6.11, not to 2.6.0") {
		t.Errorf("Apply to another kernel: %v", err)
	}
}

func TestSuits(t *testing.T) {
	for _, c := range []struct {
		machine, key string
		err          string
	}{
		{"power9-smt8", "select-idle-core", ""},
		{"power9-smt8", "select-idle-core.exit", ""},
		{"kunpeng-920", "select-idle-core.exit", "select-idle-core needs a machine whose cores have more than one thread"},
		{"vm-2", "select-idle-core", "more than one thread"},
		{"kunpeng-920", "irq-nosync", ""},
		{"kunpeng-920", "nothing", "no patch"},
	} {
		m, err := machine.Lookup(c.machine)
		if err != nil {
			t.Fatal(err)
		}
		if err := Suits(m, c.key); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s on %s: %v, want %q", c.key, c.machine, err, c.err)
		}
	}
}
