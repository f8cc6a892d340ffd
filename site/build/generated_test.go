package main

import (
	"bytes"
	"go/format"
	"os"
	"path/filepath"
	"testing"
)

// TestGenerated: the Go files that vugugen makes of site/ui's components are
// committed, and up to date.
func TestGenerated(t *testing.T) {
	const ui = "../ui"
	temp := t.TempDir()
	components, err := filepath.Glob(filepath.Join(ui, "*.vugu"))
	if err != nil || len(components) == 0 {
		t.Fatalf("no components: %v", err)
	}
	sources, err := filepath.Glob(filepath.Join(ui, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(components, sources...) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(temp, filepath.Base(name)), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := output("", nil, "go", "tool", "vugugen", "-skip-go-mod", "-skip-main", temp); err != nil {
		t.Fatal(err)
	}
	made, err := filepath.Glob(filepath.Join(temp, "*_gen.go"))
	if err != nil || len(made) < len(components) {
		t.Fatalf("%d files of %d components: %v", len(made), len(components), err)
	}
	for _, name := range made {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if want, err = format.Source(want); err != nil {
			t.Fatal(err)
		}
		committed, err := os.ReadFile(filepath.Join(ui, filepath.Base(name)))
		if err != nil || !bytes.Equal(committed, want) {
			t.Errorf("%s is not what vugugen makes of its component (%v): go generate ./site/ui", filepath.Base(name), err)
		}
	}
}
