package report

import (
	"testing"
	"time"

	"schedlab/core"
	"schedlab/core/evidence"
	"schedlab/core/stats"
)

// What is written as JSON can be stored and read again.
func TestEvidenceIsStored(t *testing.T) {
	text := EvidenceJSON([]evidence.Finding{
		{ID: "a/baseline/mean", Simulated: stats.Number{V: 12.5, OK: true}, Verdict: evidence.Agrees},
		{ID: "a/baseline/min", Verdict: evidence.NotModelled},
	}, time.Date(2026, 12, 1, 23, 0, 0, 0, time.UTC))
	s, err := evidence.ReadStored([]byte(text))
	if err != nil || s.Model != core.Model || s.Date != "2026-12-01" || len(s.Findings) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	if f := s.Findings["a/baseline/mean"]; f.Simulated == nil || *f.Simulated != 12.5 || f.Verdict != evidence.Agrees {
		t.Errorf("%+v", f)
	}
	if f := s.Findings["a/baseline/min"]; f.Simulated != nil || f.Verdict != evidence.NotModelled {
		t.Errorf("%+v", f)
	}
}
