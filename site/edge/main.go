// Edge builds the Cloudflare Worker out of wasm/edge, and the page's files for
// it out of site/dist/www, into .bin/edge/:
//
//	go run ./site/edge
//
// wrangler.jsonc beside it says what Cloudflare needs to know, and the tests
// run both in Cloudflare's own runtime.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"schedlab/site/server"
)

// maxSize is what a Worker may have, in bytes of gzip.
const maxSize = 3 << 20

// inlined are the packages that simulations are done in. Without inlining, all others are
// smaller: 6 % of the Worker.
var inlined = []string{"schedlab/core/kernel", "schedlab/core/scx", "schedlab/core/machine", "schedlab/core/sim", "schedlab/core/stats"}

func main() {
	out := flag.String("o", filepath.Join(".bin", "edge"), "`folder` for the Worker and its files")
	revision := flag.String("revision", "", "what the Worker calls its version")
	flag.Parse()
	if err := build(*out, *revision); err != nil {
		fmt.Fprintln(os.Stderr, "edge:", err)
		os.Exit(1)
	}
}

func build(out, revision string) error {
	worker := filepath.Join(out, "worker")
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := run("go", "tool", "workers-assets-gen", "-mode=go", "-o", worker); err != nil {
		return err
	}
	program := filepath.Join(worker, "app.wasm")
	args := []string{"build", "-trimpath", "-buildvcs=false", "-o", program, "-gcflags=all=-l"}
	for _, hot := range inlined {
		args = append(args, "-gcflags="+hot+"=")
	}
	flags := "-s -w -buildid= -X schedlab/site/server.revision=" + revision
	if err := run("go", append(args, "-ldflags="+flags, "./wasm/edge")...); err != nil {
		return err
	}
	if err := copyPage(filepath.Join("site", "dist", "www"), filepath.Join(out, "www")); err != nil {
		return err
	}
	plain, packed, err := size(worker)
	if err != nil {
		return err
	}
	fmt.Printf("built %s: %d bytes, %d with gzip (%d %% of what is allowed)\n", out, plain, packed, 100*packed/maxSize)
	if packed > maxSize {
		return fmt.Errorf("a Worker may have %d bytes with gzip", maxSize)
	}
	return nil
}

// copyPage copies the page's files without their compressed forms, which Cloudflare makes itself,
// and adds _headers: files don't pass through the Worker.
func copyPage(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, name), data, 0o666); err != nil {
			return err
		}
		names = append(names, name)
	}
	if _, err := os.Stat(filepath.Join(to, "index.html")); errors.Is(err, fs.ErrNotExist) {
		return errors.New("no page is built: go run ./site/build")
	}
	return os.WriteFile(filepath.Join(to, "_headers"), []byte(server.HeadersFile(names)), 0o666)
}

// size returns how large the files in a folder are, and with gzip.
func size(dir string) (plain, packed int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, 0, err
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return 0, 0, err
		}
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(data) // to memory
		z.Close()
		plain += len(data)
		packed += b.Len()
	}
	return plain, packed, nil
}

// run runs a command that makes WebAssembly, if it makes anything.
func run(name string, args ...string) error {
	command := exec.Command(name, args...)
	if args[0] == "build" {
		command.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	}
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
