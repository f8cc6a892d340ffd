package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

// TestPageIn: what can't be a page is refused at the start, however large it is.
func TestPageIn(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(dir string) error
		want  string
	}{
		"a folder for a page": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "index.html")), os.Mkdir(filepath.Join(dir, "index.html"), 0o777))
		}, "has no index.html"},
		"a large file":   {func(dir string) error { return os.Truncate(filepath.Join(dir, "app.wasm"), 3<<30) }, "it has more than 200 MB"}, // a hole
		"a pipe":         {func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666) }, "pipe is no file"},
		"a link nowhere": {func(dir string) error { return os.Symlink("nothing", filepath.Join(dir, "nowhere")) }, "nowhere"},
		"a hidden pipe":  {func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, ".pipe"), 0o666) }, ""},
	} {
		dir := t.TempDir()
		for _, file := range []string{"index.html", "app.wasm"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte("x"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.spoil(dir); err != nil {
			t.Fatal(err)
		}
		page, err := pageIn(dir)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var bad badInput
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v, %v", name, page, err)
		}
	}
	two := fstest.MapFS{"a": {Data: make([]byte, 600)}, "b": {Data: make([]byte, 600)}}
	if files, err := inMemory(two, 1200); err != nil || len(files) != 2 {
		t.Errorf("%d files, %v", len(files), err)
	}
	if _, err := inMemory(two, 1199); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("too much in two files: %v", err)
	}
}
