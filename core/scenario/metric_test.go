package scenario

import (
	"slices"
	"strings"
	"testing"

	"schedlab/core/kernel"
	"schedlab/core/stats"
)

// Reads of the clock are a figure where a scheduler is loaded, and nowhere else.
func TestFigures(t *testing.T) {
	for _, w := range Workloads() {
		without, _ := Parse("?k=6.12&w=" + w)
		with, _ := Parse("?k=6.12&scx=lavd&w=" + w)
		if got, want := Metrics(with), append(Metrics(without), "clock_reads"); !slices.Equal(got, want) || slices.Contains(Metrics(without), "clock_reads") {
			t.Errorf("%s: %v with a scheduler, want %v", w, got, want)
		}
		if got := with.Figure(); got.Key != Metrics(with)[0] {
			t.Errorf("%s is judged by %s", w, got.Key)
		}
		with.Metric = "clock_reads"
		m := with.Figure()
		if m.Key != "clock_reads" || m.Better != "lower" || m.Noun != without.Figure().Noun || !strings.HasPrefix(m.Name, "clock reads per 1000 "+m.Noun) {
			t.Errorf("%s: %+v", w, m)
		}
	}
	if s := (Scenario{Machine: "epyc", Workload: "ipistorm"}); s.Figures() != nil || s.Figure().Of != nil {
		t.Errorf("an unknown machine has figures: %v", s.Figures())
	}
}

func TestClockReads(t *testing.T) {
	for _, c := range []struct {
		link     string
		rounds   int     // samples
		reads    []int64 // of the first callbacks
		want     int64   // thousandths
		messages int64
	}{
		{"?k=6.12&scx=lavd&w=messaging&metric=clock_reads", 3, []int64{30, 12, 3}, 45_000_000 / 60, 60}, // a round has 20 messages
		{"?k=6.12&scx=lavd&metric=clock_reads", 4, []int64{1}, 250_000, 4},
		{"?k=6.12&scx=lavd&metric=clock_reads", 0, []int64{1}, 0, 0},
		{"?k=6.12&scx=lavd&metric=clock_reads", 1, []int64{1<<63 - 1, 1<<63 - 1}, 1<<63 - 1, 1},
	} {
		s, problems := Parse(c.link)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		var h stats.Hist
		for range c.rounds {
			h.Add(1)
		}
		snap := kernel.Snapshot{Hists: []stats.Hist{h}, Counters: make([]int64, kernel.NumCounters)}
		for i := range snap.Counters {
			snap.Counters[i] = 7 // of no matter
		}
		for cb := range kernel.NumCallbacks {
			snap.Counters[int(kernel.ClockReads)+cb] = 0
		}
		copy(snap.Counters[kernel.ClockReads:], c.reads)
		m := s.Figure()
		if got := m.Of(&snap); got != c.want {
			t.Errorf("%s: %d, want %d", c.link, got, c.want)
		}
		if got := m.Count(snap.Hists, snap.Counters); got != c.messages {
			t.Errorf("%s: %d events, want %d", c.link, got, c.messages)
		}
	}
}
