package main

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the commands print into the README")

// TestREADME runs the commands in the README's console blocks and compares what
// they print.
func TestREADME(t *testing.T) {
	const file = "../../README.md"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	blocks := regexp.MustCompile("(?s)```console\n.*?```")
	text := blocks.ReplaceAllStringFunc(string(data), func(block string) string {
		var b strings.Builder
		b.WriteString("```console\n")
		for line := range strings.SplitSeq(block, "\n") {
			command, ok := strings.CutPrefix(line, "$ ")
			if !ok {
				continue
			}
			args, ok := strings.CutPrefix(command, "go run ./site/schedlab ")
			if !ok {
				args, ok = strings.CutPrefix(command, "schedlab ")
			}
			if !ok {
				t.Fatalf("%q is not a command that can be tested: use another kind of block", command)
			}
			b.WriteString(line + "\n")
			var out bytes.Buffer
			if code := run(t.Context(), words(args), &out, &out); code != 0 {
				t.Errorf("%s: exit status %d, %s", command, code, out.String())
			}
			b.Write(out.Bytes())
			ran++
		}
		b.WriteString("```")
		return b.String()
	})
	if ran < 3 {
		t.Errorf("%d commands in the README", ran)
	}
	switch {
	case text == string(data):
	case *update:
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		has, prints := strings.Split(string(data), "\n"), strings.Split(text, "\n")
		i := 0
		for i < len(has) && i < len(prints) && has[i] == prints[i] {
			i++
		}
		t.Errorf("%s:%d: the commands print something else now, from this line on; go test ./site/schedlab -update writes it down", file, i+1)
	}
}

// words splits a command line as a shell does, as far as the README needs it.
func words(line string) []string {
	var list []string
	for _, w := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
		list = append(list, strings.Trim(w, "'"))
	}
	return list
}

// TestREADMELinks: every scenario link in the README is right.
func TestREADMELinks(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`\?[a-z]+=[^\s'"\x60)…]*`).FindAllString(string(data), -1)
	if len(links) < 3 {
		t.Errorf("%d links in the README", len(links))
	}
	for _, link := range links {
		if _, err := readLink(streams{new(bytes.Buffer), new(bytes.Buffer)}, link); err != nil {
			t.Errorf("%s: %v", link, err)
		}
	}
}
