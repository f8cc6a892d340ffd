package lab

import (
	"context"
	"errors"
	"testing"
	"time"

	"schedlab/core"
	"schedlab/core/scenario"
)

// parse returns the scenario of a link.
func parse(t *testing.T, link string) scenario.Scenario {
	t.Helper()
	s, problems := scenario.Parse(link)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return s
}

// TestPoolSameBits: the order in which parts come makes no difference.
func TestPoolSameBits(t *testing.T) {
	s := parse(t, "?numipi=2000&runs=4&arm=&arm=sm-idle-v1&arm=sm-idle-v2")
	one, err := core.Run(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{0, 1, 3, 50} {
		r := core.NewResult(s)
		parts, err := collect(t.Context(), Pool{Workers: workers}, s, core.Jobs(s))
		if err != nil {
			t.Fatal(err)
		}
		for i := range parts {
			r.Put(&parts[len(parts)-1-i]) // last come first
		}
		if !r.Complete() || r.Digest() != one.Digest() {
			t.Errorf("%d workers: digest %x, complete is %v; one run after the other: %x", workers, r.Digest(), r.Complete(), one.Digest())
		}
	}
}

// TestPoolStopsCore: a job that is in the middle of things stops soon.
func TestPoolStopsCore(t *testing.T) {
	s := parse(t, "?numipi=10000000&runs=100&bg=quiet")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	parts, err := collect(ctx, Pool{}, s, core.Jobs(s))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("took %v to stop", d)
	}
	if len(parts) == 0 {
		t.Error("no part came in 200 ms")
	}
}

// TestPoolInvalid: what can't be simulated is an error, not a panic.
func TestPoolInvalid(t *testing.T) {
	s := scenario.Default()
	s.Machine = "cray-1"
	if parts, err := collect(t.Context(), Pool{}, s, core.Jobs(s)); err == nil || len(parts) > 0 {
		t.Errorf("%v, %d parts", err, len(parts))
	}
}
