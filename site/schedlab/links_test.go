package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLinkFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "links.db")
	l := &linkFile{path: path}
	if query, err := l.Get(t.Context(), "a"); query != "" || err != nil {
		t.Errorf("%q, %v", query, err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Error("a look made a file")
	}
	for _, c := range [][3]string{{"a", "?seed=1", "?seed=1"}, {"a", "?seed=2", "?seed=1"}, {"b", "?seed=2", "?seed=2"}} {
		if held, err := l.Add(t.Context(), c[0], c[1]); held != c[2] || err != nil {
			t.Errorf("%v: %q, %v", c, held, err)
		}
	}
	// Another server finds the file in use, and does once this one has gone.
	other := &linkFile{path: path}
	if _, err := other.Add(t.Context(), "c", "?seed=3"); err == nil || !strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("%v", err)
	}
	if err := l.close(); err != nil {
		t.Error(err)
	}
	other.retry = time.Time{}
	if query, err := other.Get(t.Context(), "a"); query != "?seed=1" || err != nil {
		t.Errorf("%q, %v", query, err)
	}
	other.close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestLinkFileRemoved: a link that is acknowledged is in the file that the next server finds, whoever removed the one
// before, or put another in its place.
func TestLinkFileRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "links.db")
	l := &linkFile{path: path}
	defer func() { l.close() }()
	add := func(id string) {
		t.Helper()
		if held, err := l.Add(t.Context(), id, "?"+id); held != "?"+id || err != nil {
			t.Fatalf("%s: %q, %v", id, held, err)
		}
	}
	get := func(id, want string) {
		t.Helper()
		if query, err := l.Get(t.Context(), id); query != want || err != nil {
			t.Errorf("%s: %q, %v", id, query, err)
		}
	}
	add("a")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	get("a", "?a") // from what is still open
	add("a")
	add("b")
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	add("b")
	l.close()
	l = &linkFile{path: path}
	get("a", "")
	get("b", "?b")

	other := &linkFile{path: path + ".other"}
	if _, err := other.Add(t.Context(), "c", "?c"); err != nil {
		t.Fatal(err)
	}
	other.close()
	if err := os.Rename(other.path, path); err != nil {
		t.Fatal(err)
	}
	get("c", "?c")
	get("b", "")
	add("b")
	get("b", "?b")
}

// TestLinkFileTrouble: what can't be a file of links is an error that names it, and no panic.
func TestLinkFileTrouble(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := &linkFile{path: filepath.Join(dir, "good.db")}
	if _, err := good.Add(t.Context(), "a", "?seed=1"); err != nil {
		t.Fatal(err)
	}
	good.close()
	data, err := os.ReadFile(good.path)
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"no place":        "",
		"a folder":        dir,
		"below a file":    filepath.Join(file("plain", nil), "links.db"),
		"read-only":       "/proc/links.db",
		"something else":  file("text", bytes.Repeat([]byte("not links\n"), 10000)),
		"cut":             file("cut.db", data[:len(data)/4]),
		"short":           file("short.db", []byte("x")),
		"nothing in it":   file("zero.db", make([]byte, 1<<16)),
		"damaged in both": file("damaged.db", append(bytes.Repeat([]byte{0xff}, 1<<14), data[1<<14:]...)),
	} {
		l := &linkFile{path: path}
		for range 2 {
			if held, err := l.Add(t.Context(), "b", "?seed=2"); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %q, %v", name, held, err)
			}
		}
		l.close()
	}
}
