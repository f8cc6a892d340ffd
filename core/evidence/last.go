package evidence

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
)

// A Stored run is one of all tables that was made earlier, perhaps with another model.
type Stored struct {
	Model    int
	Date     string // the day on which it ended: "2026-12-01"
	Findings map[string]StoredFinding
}

// A StoredFinding is what has been found of the figure of an ID.
type StoredFinding struct {
	ID        string
	Simulated *float64 // nil if no run gave it
	Verdict   Verdict
}

// last is what "schedlab evidence -format json" wrote when it was last run in full; empty if it never was.
//
//go:embed last.json
var last []byte

// Last returns the stored run of all tables, nil if there is none.
var Last = sync.OnceValue(func() *Stored {
	s, err := ReadStored(last)
	if err != nil {
		return nil // a test looks whether the file can be read
	}
	return s
})

// ReadStored reads what the command wrote; nothing is no run.
func ReadStored(text []byte) (*Stored, error) {
	if len(text) == 0 {
		return nil, nil
	}
	var file struct {
		Model    int
		Date     string
		Findings []StoredFinding
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("a stored run: %w", err)
	}
	if file.Model == 0 || file.Date == "" {
		return nil, fmt.Errorf("a stored run has to say its model and its date, not %d and %q", file.Model, file.Date)
	}
	s := &Stored{file.Model, file.Date, make(map[string]StoredFinding, len(file.Findings))}
	for _, f := range file.Findings {
		s.Findings[f.ID] = f
	}
	return s, nil
}
