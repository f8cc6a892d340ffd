package dist

import (
	"io/fs"
	"path"
	"strings"
	"testing"
)

// TestSize: what a browser fetches before it shows a first result, which is all
// there is but the catalogue, in the smallest form.
func TestSize(t *testing.T) {
	const most = 1_520_000 // bytes
	page, ok := Page()
	if !ok {
		t.Skip("no page is built: go run ./site/build")
	}
	sizes := make(map[string]int64)
	err := fs.WalkDir(page, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		plain := name
		if ext := path.Ext(name); ext == ".br" || ext == ".gz" {
			plain = strings.TrimSuffix(name, ext)
		}
		if plain == "catalogue.html" {
			return nil
		}
		if n, ok := sizes[plain]; !ok || info.Size() < n {
			sizes[plain] = info.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, n := range sizes {
		sum += n
	}
	if sum > most {
		t.Errorf("the page is %d bytes, more than %d: %v", sum, most, sizes)
	}
	t.Logf("%d bytes in %d files", sum, len(sizes))
}
