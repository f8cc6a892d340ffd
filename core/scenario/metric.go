package scenario

import (
	"math/bits"

	"schedlab/core/kernel"
	"schedlab/core/machine"
	"schedlab/core/workload"
)

// Figures returns what runs can be judged by, the workload's own figure first: the workload's figures, and with a
// sched_ext scheduler how often that reads the hardware's clock. Nil if machine or workload is unknown.
func (s Scenario) Figures() []workload.Metric {
	w, err := workload.Lookup(s.Workload)
	m, unknown := machine.Lookup(s.Machine)
	if err != nil || unknown != nil || len(s.Params) != len(w.Params) {
		return nil
	}
	list := w.Metrics(m, s.Params)
	if s.Scheduler != "" {
		list = append(list, clockReads(list[0]))
	}
	return list
}

// Figure returns what the scenario's runs are judged by; the zero Metric if machine or workload is unknown.
func (s Scenario) Figure() workload.Metric {
	list := s.Figures()
	for _, m := range list {
		if m.Key == s.Metric {
			return m
		}
	}
	if list == nil {
		return workload.Metric{}
	}
	return list[0]
}

// ClockReads is the key of that figure.
const ClockReads = "clock_reads"

// clockReads counts a scheduler's reads of the hardware's clock for each thousand events that a metric of the workload counts.
func clockReads(of workload.Metric) workload.Metric {
	m := workload.Metric{
		Key: ClockReads, Name: "clock reads per 1000 " + of.Nouns(), Unit: "reads", Better: "lower", Noun: of.Noun,
		Events: func(s *kernel.Snapshot) int64 { return of.Count(s.Hists, s.Counters) },
	}
	m.Of = func(s *kernel.Snapshot) int64 {
		reads := uint64(0)
		for cb := range kernel.Counter(kernel.NumCallbacks) {
			reads += uint64(s.Counters[kernel.ClockReads+cb])
		}
		n := uint64(m.Events(s))
		if n == 0 {
			return 0
		}
		hi, lo := bits.Mul64(reads, 1_000_000)
		if hi >= n {
			return 1<<63 - 1
		}
		v, _ := bits.Div64(hi, lo, n)
		return int64(min(v, 1<<63-1))
	}
	return m
}
