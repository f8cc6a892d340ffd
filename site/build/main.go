// Build makes the page, a static site, out of site/web, wasm/playground and the
// catalogues, of which it writes a document:
//
//	go run ./site/build [-fast] [-o DIR]
//
// It compiles the program, minifies, gives each file a name that changes with
// what is in it, and puts compressed forms beside it. The same sources give the
// same bytes. It needs Go alone.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"schedlab/core/kernel"
)

func main() {
	fast := flag.Bool("fast", false, "compress in a second instead of twenty; a tenth larger")
	out := flag.String("o", "", "`folder` for the page, emptied first (default site/dist/www)")
	flag.Parse()
	if err := build(*fast, *out); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func build(fast bool, out string) error {
	root, err := output("", nil, "go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return err
	}
	if out == "" {
		out = filepath.Join(root, "site", "dist", "www")
	}
	sources, err := collect(root)
	if err != nil {
		return err
	}
	page, err := assemble(sources)
	if err != nil {
		return err
	}
	if err := stamp(page, kernel.Model); err != nil {
		return err
	}
	level := release
	if fast {
		level = quick
	}
	forms, err := compress(page, level)
	if err != nil {
		return err
	}
	if err := write(out, page, forms); err != nil {
		return err
	}
	report(page, forms)
	return nil
}

// notInlined are the packages that only the page's own work is done in, none of
// the engine's. Without inlining they are smaller: 6 % of the whole program.
var notInlined = []string{
	"schedlab/site/ui", "schedlab/site/lab", "schedlab/site/chart", "schedlab/core/sweep", "schedlab/core/evidence", "schedlab/core/scenario", "schedlab/core/scx", "schedlab/core/workload", "github.com/vugu/...", "net/url", "strings", "slices", "math/big", "encoding/json", "fmt", "log", "reflect", "strconv", "time",
}

// collect returns the sources of the page by name: the files of site/web, with
// what is not ours put into app.js, and the compiled program, app.wasm.
func collect(root string) (map[string][]byte, error) {
	web := filepath.Join(root, "site", "web")
	sources := make(map[string][]byte)
	entries, err := os.ReadDir(web)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if sources[e.Name()], err = os.ReadFile(filepath.Join(web, e.Name())); err != nil {
			return nil, err
		}
	}

	for _, i := range icons {
		if sources[i.name], err = drawIcon(sources["icon.svg"], i.size, i.whole); err != nil {
			return nil, fmt.Errorf("icon.svg: %w", err)
		}
	}
	if sources["catalogue.html"], err = catalogue(); err != nil {
		return nil, err
	}
	goroot, err := output(root, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	wasmExec, err := os.ReadFile(filepath.Join(goroot, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return nil, err
	}
	domrender, err := output(root, []string{"GOOS=js", "GOARCH=wasm"}, "go", "list", "-f", "{{.Dir}}", "github.com/vugu/vugu/domrender")
	if err != nil {
		return nil, err
	}
	helper, err := stringConst(filepath.Join(domrender, "renderer-js-script.go"), "jsHelperScript")
	if err != nil {
		return nil, err
	}
	sources["app.js"] = slices.Concat(
		wasmExec,
		[]byte("\nif (typeof document !== \"undefined\") ((TextDecoder) => {\n"), []byte(helper), []byte("\n})("+wholeCharacters+");\n"),
		sources["app.js"],
	)

	temp, err := os.MkdirTemp("", "schedlab-build-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	program := filepath.Join(temp, "app.wasm")
	args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", program}
	for _, pattern := range notInlined {
		args = append(args, "-gcflags="+pattern+"=-l")
	}
	if _, err := output(root, []string{"GOOS=js", "GOARCH=wasm"}, "go", append(args, "./wasm/playground")...); err != nil {
		return nil, err
	}
	sources["app.wasm"], err = os.ReadFile(program)
	return sources, err
}

// wholeCharacters is what Vugu's helper decodes texts with. One that is too long for Vugu's buffer comes in pieces, which
// may be cut within a character: this keeps such a beginning for the next piece.
const wholeCharacters = `class extends TextDecoder { decode(bytes) { return super.decode(bytes, { stream: true }) } }`

// stringConst returns the value of a string constant in a Go file.
func stringConst(file, name string) (value string, err error) {
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	err = fmt.Errorf("%s: no string constant %s", file, name)
	ast.Inspect(tree, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) == 1 && len(spec.Values) == 1 && spec.Names[0].Name == name {
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
				value, err = strconv.Unquote(literal.Value)
			}
		}
		return true
	})
	return value, err
}

// output runs a command in a folder and returns what it prints.
func output(dir string, env []string, name string, args ...string) (string, error) {
	command := exec.Command(name, args...)
	command.Dir = dir
	command.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(stdout.String()), nil
}

// write replaces what is in the folder dir by the page, except files that begin with a dot.
func write(dir string, page map[string][]byte, forms map[string]compressed) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	old, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(old) > 0 && !slices.ContainsFunc(old, func(e fs.DirEntry) bool { return e.Name() == ".keep" || e.Name() == "index.html" }) {
		return errors.New(dir + " has files that are no page: name an empty folder")
	}
	for _, e := range old {
		if !strings.HasPrefix(e.Name(), ".") {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	for name, data := range page {
		for ext, data := range map[string][]byte{"": data, ".gz": forms[name].gzip, ".br": forms[name].brotli} {
			if data == nil {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, name+ext), data, 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}

// report prints how large the page is.
func report(page map[string][]byte, forms map[string]compressed) {
	var names []string
	for name := range page {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(page[b]), len(page[a])), cmp.Compare(a, b))
	})
	fmt.Printf("%-26s %9s %9s %9s\n", "bytes", "plain", "gzip", "brotli")
	var sum [3]int
	for _, name := range names {
		f := forms[name]
		size := [3]int{len(page[name]), len(page[name]), len(page[name])}
		if f.gzip != nil {
			size[1] = len(f.gzip)
		}
		if f.brotli != nil {
			size[2] = len(f.brotli)
		}
		fmt.Printf("%-26s %9d %9d %9d\n", name, size[0], size[1], size[2])
		for i := range sum {
			sum[i] += size[i]
		}
	}
	fmt.Printf("%-26s %9d %9d %9d\n", "all", sum[0], sum[1], sum[2])
}
