package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// TestLinkFileFull: on a full disk a link is refused, those before it stay, and so does the file.
func TestLinkFileFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no small disk to be had: %v", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	l := &linkFile{path: filepath.Join(dir, "links.db")}
	defer func() { l.close() }()
	var stored []string
	var full error
	for i := 0; i < 1000 && full == nil; i++ {
		id := fmt.Sprint("id", i)
		if _, full = l.Add(t.Context(), id, "?"+strings.Repeat("x", 4000)); full == nil {
			stored = append(stored, id)
		}
	}
	if full == nil || !strings.Contains(full.Error(), "can't be written") || len(stored) == 0 {
		t.Fatalf("%d links on a small disk: %v", len(stored), full)
	}
	for range 2 {
		for _, id := range stored {
			if query, err := l.Get(t.Context(), id); len(query) != 4001 || err != nil {
				t.Fatalf("%s: %d bytes, %v", id, len(query), err)
			}
		}
		l.close() // and from the disk
		l = &linkFile{path: l.path}
	}
}

// TestLinkFileReadOnly: of a file that may not be written, the links that it has are read, and others refused.
func TestLinkFileReadOnly(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err == nil {
		defer syscall.Unmount(dir, syscall.MNT_DETACH)
	} else if os.Getuid() == 0 {
		t.Skipf("no disk to be had that root may not write to: %v", err)
	}
	l := &linkFile{path: filepath.Join(dir, "links.db")}
	if _, err := l.Add(t.Context(), "a", "?seed=1"); err != nil {
		t.Fatal(err)
	}
	l.close()
	if os.Chmod(l.path, 0o400) != nil || os.Getuid() == 0 {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
	}
	l = &linkFile{path: l.path}
	defer l.close()
	for range 2 {
		if query, err := l.Get(t.Context(), "a"); query != "?seed=1" || err != nil {
			t.Errorf("%q, %v", query, err)
		}
		if held, err := l.Add(t.Context(), "a", "?seed=1"); held != "?seed=1" || err != nil {
			t.Errorf("%q, %v", held, err)
		}
		if held, err := l.Add(t.Context(), "b", "?seed=2"); err == nil || !strings.Contains(err.Error(), l.path+" can't be written") {
			t.Errorf("%q, %v", held, err)
		}
	}
}

// from returns a client with an address of its own, since each has a limit.
func from(i int) *http.Client {
	local := &net.TCPAddr{IP: net.IPv4(127, 1, byte(i>>8), byte(i))}
	return &http.Client{
		Transport:     &http.Transport{DialContext: (&net.Dialer{LocalAddr: local}).DialContext, DisableKeepAlives: true},
		Timeout:       time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// TestKilled: a server that is killed while it stores links loses none that it has
// said to have, and spoils nothing.
func TestKilled(t *testing.T) {
	links := filepath.Join(t.TempDir(), "links.db")
	var mu sync.Mutex
	stored := make(map[string]string) // path by query
	const rounds, each, clients = 3, 25, 4
	for round := range rounds {
		p := start(t, "-links", links)
		before := len(stored)
		var group sync.WaitGroup
		for c := range clients {
			group.Go(func() {
				for i := 0; ; i++ {
					query := fmt.Sprintf("?seed=%d", 1_000_000*(round+1)+10_000*c+i)
					response, err := from(round<<12+c<<10+i>>3).Post(p.url+"api/links", "text/plain", strings.NewReader(query))
					if err != nil {
						return // it is dead
					}
					body, err := io.ReadAll(response.Body)
					response.Body.Close()
					if err != nil || response.StatusCode != 201 {
						if err == nil {
							t.Errorf("%d %s", response.StatusCode, body)
						}
						return
					}
					_, path, _ := strings.Cut(string(body), `"path":"`)
					path, _, _ = strings.Cut(path, `"`)
					mu.Lock()
					stored[query] = path
					if len(stored) == before+each {
						p.Process.Kill() // SIGKILL, while the others are at it
					}
					mu.Unlock()
				}
			})
		}
		group.Wait()
		p.Wait()
	}
	db, err := bbolt.Open(links, 0o600, &bbolt.Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	db.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			t.Error(err)
		}
		return nil
	})
	db.Close()
	p := start(t, "-links", links)
	for query, path := range stored {
		response, err := from(1).Get(p.url + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if to := response.Header.Get("Location"); response.StatusCode != 302 || !strings.HasSuffix(to, strings.Replace(query, "?", "&", 1)) {
			t.Errorf("%s: %s: %d %s", query, path, response.StatusCode, to)
		}
	}
	if len(stored) < rounds*each {
		t.Errorf("%d links", len(stored))
	}
}
