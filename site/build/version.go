package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
)

// worker is the service worker. Browsers look for the next version of the page under its name.
const worker = "sw.js"

// lasting tells whether a file keeps its name, whatever is in it.
func lasting(name string) bool { return path.Ext(name) == ".html" || name == worker }

// stamp tells an assembled page which version it is. Its documents have that in place of @version@, which
// is at the beginning and at the end of each, so that a part of one can be told from it. The
// service worker has it with a list of the version's files before it. Any change of any file
// makes another version.
func stamp(page map[string][]byte, model int) error {
	if page[worker] == nil {
		return fmt.Errorf("there is no %s", worker)
	}
	names := slices.Sorted(maps.Keys(page))
	all := sha256.New()
	for _, name := range names {
		fmt.Fprintf(all, "%s %d\n%s", name, len(page[name]), page[name])
	}
	version := hex.EncodeToString(all.Sum(nil)[:6])

	files := make(map[string]string)
	for _, name := range names {
		if path.Ext(name) == ".html" {
			place := []byte("@version@")
			if n := bytes.Count(page[name], place); n != 2 {
				return fmt.Errorf("%s has %d places for its version, want one at its beginning and one at its end", name, n)
			}
			page[name] = bytes.ReplaceAll(page[name], place, []byte(version))
		}
		switch {
		case name == worker:
		case name == index:
			files["./"] = "" // hosts may answer index.html with another address
		case lasting(name):
			files[name] = ""
		default:
			digest := sha256.Sum256(page[name])
			files[name] = "sha256-" + base64.StdEncoding.EncodeToString(digest[:])
		}
	}
	list, err := json.Marshal(files) // in the order of their names
	if err != nil {
		return err
	}
	page[worker] = fmt.Appendf(nil, "const version=%q,model=%d,files=%s;%s", version, model, list, page[worker])
	return nil
}
