package sweep

import (
	"math"
	"slices"
	"strings"
	"testing"

	"schedlab/core/scenario"
)

var axes = []struct{ spec, want string }{
	{"c.rq_visit=15,30,45", "c.rq_visit=15,30,45"},
	{" c.rq_visit=45,15,30 ", "c.rq_visit=15,30,45"},
	{"c.rq_visit=30.500,30.5,007", "c.rq_visit=7,30.5"},
	{"c.rq_visit=0..120/7", "c.rq_visit=0,20,40,60,80,100,120"},
	{"c.rq_visit=0..1/4", "c.rq_visit=0,0.333,0.667,1"},
	{"c.rq_visit=0.5..1.5/3", "c.rq_visit=0.5,1,1.5"},
	{"c.rq_visit=0..0.002/5", "c.rq_visit=0,0.001,0.002"},
	{"c.rq_visit=0..100000/2", "c.rq_visit=0,100000"},
	{"c.rq_visit=10..1000/5log", "c.rq_visit=10,31.623,100,316.228,1000"},
	{"numipi=100..100000/4log", "numipi=100,1000,10000,100000"},
	{"numipi=1..10000000/8log", "numipi=1,10,100,1000,10000,100000,1000000,10000000"},
	{"numipi=1..4/64", "numipi=1,2,3,4"},
	{"numipi=1..4/64log", "numipi=1,2,3,4"},
	{"numipi=1..10/4", "numipi=1,4,7,10"},
	{"numipi=+5,6", "numipi=5,6"},
	{"wait=0..1/2", "wait=0,1"},
	{"wait=1,0", "wait=0,1"},
	{"offset=1,2,4,8", "offset=1,2,4,8"},
}

var badAxes = []struct{ spec, want string }{ // want ends in … if there is more to it
	{"", "axis=: want KEY=VALUE,VALUE,… or KEY=FROM..TO/POINTS, such as c.rq_visit=0..120/7, …"},
	{"c.rq_visit", "axis=c.rq_visit: want KEY=VALUE,VALUE,… or …"},
	{"c.rq_visit=", "axis=c.rq_visit=: want KEY=VALUE,VALUE,… or …"},
	{"=1,2", "axis==1,2: want KEY=VALUE,VALUE,… or …"},
	{"c.rq_visits=1,2", "axis=c.rq_visits: want a constant of the model: c. and one of call_setup, …"},
	{"rq_visit=1,2", "axis=rq_visit: want a constant or a parameter that is a number: one of numipi, …"},
	{"runs=1,2", "axis=runs: want a constant or a parameter that is a number: one of numipi, …"},
	{"seed=1,2", "axis=seed: want a constant or a parameter that is a number: one of numipi, …"},
	{"cpulist=1,2", "axis=cpulist: want a constant or a parameter that is a number: one of numipi, …"},
	{"\x1b[2J=1,2", `axis=\x1b[2J: want a constant or …`},
	{"c.rq_visit=15", "c.rq_visit=15: want 2 to 64 different values, not 1"},
	{"c.rq_visit=15,15.0", "c.rq_visit=15,15.0: want 2 to 64 different values, not 1"},
	{"c.rq_visit=15,", "c.rq_visit=: want nanoseconds from 0 to 100000, with up to three decimals"},
	{"c.rq_visit=15,-1", "c.rq_visit=-1: want nanoseconds from 0 to 100000, with up to three decimals"},
	{"c.rq_visit=15,100000.001", "c.rq_visit=100000.001: want nanoseconds from 0 to 100000, with up to three decimals"},
	{"c.rq_visit=15,1e3", "c.rq_visit=1e3: want nanoseconds from 0 to 100000, with up to three decimals"},
	{"c.rq_visit=0..1/3,7", "c.rq_visit=0..1/3,7: want 2 to 64 points"},
	{"c.rq_visit=0..120", "c.rq_visit=0..120: want the number of points behind the range, as in 0..120/7"},
	{"c.rq_visit=0..120/1", "c.rq_visit=0..120/1: want 2 to 64 points"},
	{"c.rq_visit=0..120/65", "c.rq_visit=0..120/65: want 2 to 64 points"},
	{"c.rq_visit=0..120/7lin", "c.rq_visit=0..120/7lin: want 2 to 64 points"},
	{"c.rq_visit=0..120/99999999999999999999", "c.rq_visit=0..120/99999999999999999999: want 2 to 64 points"},
	{"c.rq_visit=0..120/7log", "c.rq_visit=0..120/7log: want a range from above 0, for equal ratios"},
	{"c.rq_visit=120..0/7", "c.rq_visit=120..0/7: want a range from a smaller value to a larger one"},
	{"c.rq_visit=9..9/7", "c.rq_visit=9..9/7: want a range from a smaller value to a larger one"},
	{"c.rq_visit=0..200000/7", "c.rq_visit=0..200000/7: want ends that are each nanoseconds from 0 to 100000, with up to three decimals"},
	{"c.rq_visit=../7", "c.rq_visit=../7: want ends that are each nanoseconds …"},
	{"delay=0..1000001/3", "delay=0..1000001/3: want ends that are each a whole number from 0 to 1000000"},
	{"delay=1.5,2", "delay=1.5: want a whole number from 0 to 1000000"},
	{"wait=0,1,2", "wait=2: want a whole number from 0 to 1"},
	{"numipi=" + strings.Repeat("9,", 5000), "axis=numipi=9,9…"},
	{"numipi=" + strings.Join(sixtyFive(), ","), "numipi=100,101,…"},
}

func sixtyFive() []string {
	var list []string
	for i := range 65 {
		list = append(list, string([]byte{'1', byte('0' + i/10), byte('0' + i%10)}))
	}
	return list
}

func TestParseAxis(t *testing.T) {
	for _, c := range axes {
		a, err := ParseAxis(scenario.Default(), c.spec)
		if err != nil || a.String() != c.want {
			t.Errorf("%q: %s, %v, want %s", c.spec, a, err, c.want)
		}
		if again, err := ParseAxis(scenario.Default(), a.String()); err != nil || again.String() != a.String() {
			t.Errorf("%s becomes %s, %v", a, again, err)
		}
	}
	for _, c := range badAxes {
		a, err := ParseAxis(scenario.Default(), c.spec)
		if err == nil {
			t.Errorf("%.80q: %s", c.spec, a)
			continue
		}
		if _, ok := err.(scenario.Problem); !ok {
			t.Errorf("%.80q: %T", c.spec, err)
		}
		start, more := strings.CutSuffix(c.want, "…")
		if got := err.Error(); got != c.want && !(more && strings.HasPrefix(got, start)) {
			t.Errorf("%.80q:\n%s\nwant\n%s", c.spec, got, c.want)
		}
	}
	if _, err := ParseAxis(scenario.Default(), "rq_visit=1,2"); !strings.HasSuffix(err.Error(), "; perhaps c.rq_visit") {
		t.Errorf("%v", err)
	}
	if _, err := ParseAxis(scenario.Default(), "numipo=1,2"); !strings.HasSuffix(err.Error(), "; perhaps numipi") {
		t.Errorf("%v", err)
	}
}

func TestLog(t *testing.T) {
	for spec, want := range map[string]bool{
		"c.rq_visit=0..120/7":      false,
		"c.rq_visit=15,30,45":      false,
		"c.rq_visit=1,10":          false, // as even on either scale
		"numipi=100..100000/4log":  true,
		"numipi=10..1000/10":       false,
		"numipi=100,300,1000,3000": true,
		"numipi=10,20,40":          false, // less than a decade
	} {
		a, err := ParseAxis(scenario.Default(), spec)
		if err != nil || a.Log() != want {
			t.Errorf("%s: %v, %v", spec, a.Log(), err)
		}
	}
}

// Whatever the text, there is an axis that its own text gives again, or a message.
func FuzzAxis(f *testing.F) {
	for _, c := range axes {
		f.Add(c.spec)
	}
	for _, c := range badAxes {
		f.Add(c.spec)
	}
	base := scenario.Default()
	f.Fuzz(func(t *testing.T, spec string) {
		a, err := ParseAxis(base, spec)
		if err != nil {
			if text := err.Error(); strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
				t.Errorf("message %q", text)
			}
			return
		}
		if n := len(a.Values); n < MinPoints || n > MaxPoints {
			t.Errorf("%d values", n)
		}
		v := a.Numbers()
		for i := range v {
			if math.IsNaN(v[i]) || i > 0 && v[i] <= v[i-1] {
				t.Errorf("%s is not ascending", a)
			}
		}
		a.Log()
		again, err := ParseAxis(base, a.String())
		if err != nil || again.Key != a.Key || !slices.Equal(again.Values, a.Values) {
			t.Errorf("%s becomes %s, %v", a, again, err)
		}
		New(base, []Axis{a}) // doesn't panic
	})
}
