package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestLoad holds 2,000 connections to the local server for 30 seconds, each asking
// again as soon as it has its answer, and prints what that takes:
//
//	SCHEDLAB_LOAD=1 go test -run Load -v ./site/schedlab
//
// It fails if any answer is wrong, or if memory goes on growing.
func TestLoad(t *testing.T) {
	if os.Getenv("SCHEDLAB_LOAD") == "" {
		t.Skip("only with SCHEDLAB_LOAD=1")
	}
	const (
		connections = 2000
		length      = 30 * time.Second
	)
	p := start(t, "-links", filepath.Join(t.TempDir(), "links.db"))
	post, err := from(0).Post(p.url+"api/links", "text/plain", strings.NewReader("?seed=2"))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(post.Body)
	post.Body.Close()
	_, path, _ := strings.Cut(string(body), `"path":"`)
	path, _, _ = strings.Cut(path, `"`)
	paths := []struct {
		path   string
		status int
	}{{"", 200}, {"?m=xeon-240", 200}, {path, 302}, {"api/health", 200}, {"nothing", 404}, {"api/run?runs=1&numipi=100&m=laptop", 200}, {"api/run?runs=0", 400}}
	client := &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       time.Minute,
	}
	var answers, errors atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	var group sync.WaitGroup
	end := time.Now().Add(length)
	for i := range connections {
		group.Go(func() {
			for n := i; time.Now().Before(end); n++ {
				ask := paths[n%len(paths)]
				began := time.Now()
				response, err := client.Get(p.url + ask.path)
				if err != nil {
					if errors.Add(1) < 10 {
						t.Error(err)
					}
					continue
				}
				if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != ask.status {
					if errors.Add(1) < 10 {
						t.Errorf("%s: %d, %v", ask.path, response.StatusCode, err)
					}
				}
				response.Body.Close()
				answers.Add(1)
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
			}
		})
	}
	var memory []int // MB, by second
	for time.Now().Before(end) {
		time.Sleep(time.Second)
		memory = append(memory, resident(t, p.Process.Pid))
	}
	group.Wait()
	slices.Sort(took)
	quantile := func(q float64) time.Duration { return took[int(q*float64(len(took)-1))].Round(time.Millisecond) }
	t.Logf("%d answers in %v (%.0f a second), %d errors; p50 %v, p99 %v, max %v; resident MB by second: %s",
		answers.Load(), length, float64(answers.Load())/length.Seconds(), errors.Load(), quantile(0.5), quantile(0.99), quantile(1), fmt.Sprint(memory))
	early, late := slices.Max(memory[len(memory)/4:len(memory)/2]), slices.Max(memory[len(memory)/2:])
	if late > early+early/4+10 {
		t.Errorf("memory grows: %d MB, then %d MB", early, late)
	}
}

// resident returns how much memory a process has, in MB.
func resident(t *testing.T, pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kB, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kB >> 10
}
