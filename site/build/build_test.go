package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
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

// TestStamp: the service worker lists all that there is, and any change makes another version.
func TestStamp(t *testing.T) {
	stamped := func(change func(map[string][]byte)) (page map[string][]byte, version string) {
		t.Helper()
		s := small()
		s["sw.js"] = []byte("onfetch = () => {}; // the worker\n")
		s[index] = bytes.Replace(s[index], []byte("</head>"), []byte(`<meta name="version" content="@version@"></head>`), 1)
		s[index] = bytes.Replace(s[index], []byte("</body>"), []byte(`<data hidden value="@version@"></data></body>`), 1)
		change(s)
		page, err := assemble(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := stamp(page, 7); err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`content="([0-9a-f]{12})"`).FindSubmatch(page[index])
		if m == nil {
			t.Fatalf("no version in %s", page[index])
		}
		if end := fmt.Sprintf(`<data hidden value="%s"></data></body></html>`, m[1]); !bytes.HasSuffix(page[index], []byte(end)) {
			t.Fatalf("no %s at the end of %s", end, page[index])
		}
		return page, string(m[1])
	}
	page, version := stamped(func(map[string][]byte) {})
	js := string(page["sw.js"])
	for name, data := range page {
		digest := sha256.Sum256(data)
		entry := fmt.Sprintf(`"%s":"sha256-%s"`, name, base64.StdEncoding.EncodeToString(digest[:]))
		switch name {
		case "sw.js":
			entry = fmt.Sprintf(`const version="%s",model=7,files={`, version)
		case index:
			entry = `"./":""`
		}
		if !strings.Contains(js, entry) {
			t.Errorf("no %s in %s", entry, js)
		}
	}
	if n := strings.Count(js, `":"`); n != len(page)-1 || !strings.HasSuffix(js, ";onfetch=()=>{}") {
		t.Errorf("%d files of %d: %s", n, len(page)-1, js)
	}
	if _, again := stamped(func(map[string][]byte) {}); again != version {
		t.Errorf("versions %s and %s of the same", version, again)
	}
	for name := range small() {
		if _, other := stamped(func(s map[string][]byte) {
			switch name {
			case index:
				s[name] = bytes.Replace(s[name], []byte("it is"), []byte("it was"), 1)
			case "icon.svg":
				s[name] = bytes.Replace(s[name], []byte("L 2"), []byte("L 3"), 1)
			case "style.css":
				s[name] = append(s[name], "b{color:#00f}"...)
			default:
				s[name] = append(s[name], "\nlet more"...)
			}
		}); other == version {
			t.Errorf("another %s is the same version", name)
		}
	}
	if err := stamp(map[string][]byte{index: []byte("@version@")}, 7); err == nil {
		t.Error("a page without a worker passes")
	}
	for _, doc := range []string{"", "@version@"} {
		if err := stamp(map[string][]byte{index: []byte(doc), "sw.js": []byte("1")}, 7); err == nil || !strings.Contains(err.Error(), "places for its version") {
			t.Errorf("a document without versions at both ends: %v", err)
		}
	}
}

// TestIcons: the icon is drawn as it is, and whole where corners are cut.
func TestIcons(t *testing.T) {
	svg, err := os.ReadFile("../web/icon.svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range icons {
		data, err := drawIcon(svg, i.size, i.whole)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := drawIcon(svg, i.size, i.whole); !bytes.Equal(data, again) {
			t.Errorf("%s differs from itself", i.name)
		}
		picture, err := png.Decode(bytes.NewReader(data))
		if err != nil || picture.Bounds().Size() != image.Pt(i.size, i.size) {
			t.Fatalf("%s: %v", i.name, err)
		}
		at := func(x, y float64) color.NRGBA {
			if i.whole {
				x, y = 16+(x-16)/1.4, 16+(y-16)/1.4
			}
			return color.NRGBAModel.Convert(picture.At(int(x*float64(i.size)/32), int(y*float64(i.size)/32))).(color.NRGBA)
		}
		_, _, _, corner := picture.At(0, 0).RGBA()
		if (corner == 0) == i.whole {
			t.Errorf("%s: the corner's alpha is %d", i.name, corner)
		}
		for where, want := range map[[2]float64]color.NRGBA{
			{20, 20}:   {0x00, 0x72, 0xb2, 255}, // within the baseline
			{11.5, 5}:  {0xd5, 0x5e, 0x00, 255}, // on the patched kernel's line
			{11.5, 15}: {0xff, 0xff, 0xff, 255}, // beneath it, where nothing is filled
			{27, 5}:    {0xff, 0xff, 0xff, 255},
		} {
			if got := at(where[0], where[1]); got != want {
				t.Errorf("%s: %v at %v, want %v", i.name, got, where, want)
			}
		}
	}
	for _, bad := range []string{"", "<svg", `<svg viewBox="0 0 32 32"><rect fill="red"/></svg>`, `<svg viewBox="0 0 32 32"><rect fill="#fff"/><path fill="#fff" d="M 1 1 Q 2 2 3 3"/></svg>`} {
		if _, err := drawIcon([]byte(bad), 32, false); err == nil {
			t.Errorf("drawn: %s", bad)
		}
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
