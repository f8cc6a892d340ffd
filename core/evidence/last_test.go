package evidence

import (
	"os"
	"testing"
)

// What is stored can be read, and is of figures that there are.
func TestLast(t *testing.T) {
	s, err := ReadStored(last)
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		t.Skip("no full run has been stored yet")
	}
	known := map[string]bool{}
	for _, table := range Matching("") {
		for _, f := range Figures(table, "") {
			known[f.ID] = true
		}
	}
	for id := range s.Findings {
		if !known[id] {
			t.Errorf("%s is stored, and is no figure that is judged: run schedlab evidence -format json anew", id)
		}
	}
}

func TestReadStored(t *testing.T) {
	text, err := os.ReadFile("testdata/stored.json")
	if err != nil {
		t.Fatal(err)
	}
	s, err := ReadStored(text)
	if err != nil || s.Model != 2 || s.Date != "2026-11-30" || len(s.Findings) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	if f := s.Findings["select-idle-core-power9/baseline/mean"]; f.Simulated == nil || *f.Simulated != 655.5 || f.Verdict != Agrees {
		t.Errorf("%+v", f)
	}
	if f := s.Findings["select-idle-core-power9/select-idle-core/mean"]; f.Simulated != nil || f.Verdict != NotModelled {
		t.Errorf("%+v", f)
	}
	if s, err := ReadStored(nil); s != nil || err != nil {
		t.Errorf("nothing gives %v, %v", s, err)
	}
	for _, wrong := range []string{"{", "{}", `{"model": 3}`, `{"date": "2026-11-30"}`} {
		if s, err := ReadStored([]byte(wrong)); s != nil || err == nil {
			t.Errorf("%s gives %v", wrong, s)
		}
	}
}
