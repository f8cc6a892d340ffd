package main

import (
	"bytes"
	"compress/gzip"
	"html"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"schedlab/core/scenario"
)

func small() map[string][]byte {
	return map[string][]byte{
		"index.html": []byte(`<!doctype html>
<html lang="en"><head>
	<!-- a comment -->
	<link rel="stylesheet" href="style.css"> <link rel="icon" href='icon.svg'>
	<script src="app.js" defer></script>
</head><body>
	<!--mount--><div  id="app">  <b>as</b>  it is <!-- too --> app.js</div><!--/mount-->
</body></html>`),
		"style.css": []byte("body { background : url(icon.svg); color: #ff0000 }"),
		"app.js":    []byte("// The program.\nconst where = \"app.wasm\"; console.log(where, 'other.wasm', self.app.js);\n"),
		"app.wasm":  bytes.Repeat([]byte("\x00asm and more of the same, "), 1000),
		"icon.svg":  []byte("<svg xmlns=\"http://www.w3.org/2000/svg\">\n\t<!-- two -->\n\t<path d=\"M 1 1 L 2 2\"/>\n</svg>"),
	}
}

// at returns a page's file whose name has that beginning and that end.
func at(t *testing.T, page map[string][]byte, start, end string) (name, data string) {
	t.Helper()
	for name, data := range page {
		if strings.HasPrefix(name, start) && strings.HasSuffix(name, end) {
			return name, string(data)
		}
	}
	t.Fatalf("no file %s…%s among %v", start, end, slices.Collect(maps.Keys(page)))
	return
}

func TestAssemble(t *testing.T) {
	page, err := assemble(small())
	if err != nil {
		t.Fatal(err)
	}
	_, html := at(t, page, "index.html", "")
	cssName, css := at(t, page, "style.", ".css")
	jsName, js := at(t, page, "app.", ".js")
	wasmName, wasm := at(t, page, "app.", ".wasm")
	iconName, icon := at(t, page, "icon.", ".svg")
	for name := range page {
		if name != index && !regexp.MustCompile(`^\w+\.[0-9a-f]{12}\.\w+$`).MatchString(name) {
			t.Errorf("file %s has no hash in its name", name)
		}
	}
	for where, want := range map[string][]string{
		html: {cssName, jsName, iconName, `<div  id="app">  <b>as</b>  it is <!-- too --> app.js</div>`},
		css:  {"url(" + iconName + ")", "red"},
		js:   {`"` + wasmName + `"`, "other.wasm", "self.app.js"},
	} {
		for _, w := range want {
			if !strings.Contains(where, w) {
				t.Errorf("no %s in %s", w, where)
			}
		}
	}
	if strings.Contains(html, "a comment") || strings.Contains(js, "The program") || strings.Contains(icon, "two") || strings.Contains(html, "/>\n") {
		t.Errorf("not minified: %s %s %s", html, js, icon)
	}
	if wasm != string(small()["app.wasm"]) {
		t.Error("the program was changed")
	}
}

// TestDeterministic: the same sources give the same bytes, and others other names.
func TestDeterministic(t *testing.T) {
	one, _ := assemble(small())
	two, _ := assemble(small())
	if !reflect.DeepEqual(one, two) {
		t.Error("two pages of the same sources differ")
	}
	for _, level := range []int{quick, release} {
		a, err := compress(one, level)
		b, _ := compress(two, level)
		if err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("level %d: the compressed forms differ, %v", level, err)
		}
	}
	// A file's name depends on the files that it names, too.
	changed := small()
	changed["app.wasm"] = append(changed["app.wasm"], '!')
	three, _ := assemble(changed)
	before, _ := at(t, one, "app.", ".js")
	after, _ := at(t, three, "app.", ".js")
	if before == after {
		t.Error("another program leaves the loader's name as it was")
	}
}

func TestAssembleFails(t *testing.T) {
	for want, change := range map[string]func(map[string][]byte){
		"names itself":   func(s map[string][]byte) { s["app.js"] = []byte(`import("app.js")`) },
		"no index.html":  func(s map[string][]byte) { delete(s, index) },
		"names it":       func(s map[string][]byte) { s["style.css"] = []byte("@import 'index.html';") },
		"app.js: ":       func(s map[string][]byte) { s["app.js"] = []byte("const = ;") },
		"has got lost: ": func(s map[string][]byte) { s[index] = append(s[index], "@mounted@"...) },
	} {
		s := small()
		change(s)
		if _, err := assemble(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestCompress(t *testing.T) {
	page := map[string][]byte{"large": bytes.Repeat([]byte("again "), 1000), "tiny": []byte("x"), "empty": {}}
	forms, err := compress(page, release)
	if err != nil {
		t.Fatal(err)
	}
	if f := forms["tiny"]; f.gzip != nil || f.brotli != nil {
		t.Error("a byte has become less")
	}
	z, err := gzip.NewReader(bytes.NewReader(forms["large"].gzip))
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]io.Reader{"gzip": z, "brotli": brotli.NewReader(bytes.NewReader(forms["large"].brotli))} {
		if back, err := io.ReadAll(r); err != nil || !bytes.Equal(back, page["large"]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "www")
	page := map[string][]byte{"index.html": []byte("1"), "a.js": []byte("2")}
	forms := map[string]compressed{"a.js": {brotli: []byte("3")}}
	list := func() (names []string) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	if err := write(dir, page, forms); err != nil || !slices.Equal(list(), []string{"a.js", "a.js.br", "index.html"}) {
		t.Errorf("%v, %v", list(), err)
	}
	os.WriteFile(filepath.Join(dir, ".keep"), nil, 0o666)
	delete(page, "a.js")
	if err := write(dir, page, forms); err != nil || !slices.Equal(list(), []string{".keep", "index.html"}) {
		t.Errorf("%v, %v", list(), err)
	}
	// A folder that was named by mistake is safe.
	other := t.TempDir()
	os.WriteFile(filepath.Join(other, "thesis.txt"), nil, 0o666)
	if err := write(other, page, forms); err == nil || !strings.Contains(err.Error(), "name an empty folder") {
		t.Error(err)
	}
}

// Every link of the catalogue to a scenario is one, and every entry can be found.
func TestCatalogueLinks(t *testing.T) {
	doc, err := catalogue()
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`href="\./(\?[^"]*)"`).FindAllStringSubmatch(string(doc), -1)
	for _, m := range links {
		if _, problems := scenario.Parse(html.UnescapeString(m[1])); len(problems) > 0 {
			t.Errorf("%s: %v", m[1], problems)
		}
	}
	if len(links) < len(scenario.Machines())+len(scenario.Patches())+len(scenario.Schedulers()) {
		t.Errorf("%d links to scenarios", len(links))
	}
	for _, want := range []string{`id="scheduler-lavd"`, `href="#scheduler-rusty"`, `?v=1&amp;k=6.14&amp;scx=lavd&amp;arm=&amp;arm=scx-ktime`, `id="machine-apu-8"`, `id="counters"`} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("no %s in the catalogue", want)
		}
	}
}
