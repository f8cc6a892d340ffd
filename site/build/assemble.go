package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/html"
	"github.com/tdewolff/minify/v2/js"
	"github.com/tdewolff/minify/v2/json"
	"github.com/tdewolff/minify/v2/svg"
)

// index is the page's door. Like all documents it keeps its name.
const index = "index.html"

// assemble makes a page of sources: files by name. Text is minified; each file
// but documents and the service worker gets a name with a hash of its content in it, and a file that names
// another one in quotes, or as url(name), has its new name instead. No name has
// a path before it, so that the page works wherever it is put.
func assemble(sources map[string][]byte) (page map[string][]byte, err error) {
	a := assembly{sources: sources, page: make(map[string][]byte), names: make(map[string]string)}
	for name := range sources {
		if _, err := a.add(name); err != nil {
			return nil, err
		}
	}
	if a.page[index] == nil {
		return nil, fmt.Errorf("there is no %s", index)
	}
	return a.page, nil
}

type assembly struct {
	sources, page map[string][]byte
	names         map[string]string // new names by old; "" while in the making
}

// add puts a file and all that it names into the page, and returns its new name.
func (a *assembly) add(name string) (string, error) {
	if renamed, ok := a.names[name]; ok {
		if renamed == "" {
			return "", fmt.Errorf("%s names itself, or a file that names it", name)
		}
		return renamed, nil
	}
	a.names[name] = ""
	data := a.sources[name]
	if minifiers[path.Ext(name)] != nil {
		var err error
		if data, err = a.rename(name, data); err != nil {
			return "", err
		}
		if data, err = minified(name, data); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
	}
	renamed := name
	if !lasting(name) {
		hash := sha256.Sum256(data)
		ext := path.Ext(name)
		renamed = strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(hash[:6]) + ext
	}
	a.names[name], a.page[renamed] = renamed, data
	return renamed, nil
}

// reference matches what may name a file.
var reference = regexp.MustCompile(`(["'(])([\w-]+\.\w+)(["')])`)

// rename puts the new names of files in place of the old ones.
func (a *assembly) rename(name string, data []byte) ([]byte, error) {
	var failed error
	data = reference.ReplaceAllFunc(data, func(match []byte) []byte {
		parts := reference.FindSubmatch(match)
		if a.sources[string(parts[2])] == nil {
			return match // such as a domain name, or a property
		}
		renamed, err := a.add(string(parts[2]))
		if err != nil {
			failed = err
		}
		return slices.Concat(parts[1], []byte(renamed), parts[3])
	})
	return data, failed
}

// minifiers by file name extension: other files are no text.
var minifiers = map[string]minify.MinifierFunc{
	".css":         css.Minify,
	".html":        (&html.Minifier{KeepDocumentTags: true, KeepEndTags: true, KeepQuotes: true, KeepDefaultAttrVals: true}).Minify,
	".js":          js.Minify,
	".json":        json.Minify,
	".webmanifest": json.Minify,
	".svg":         svg.Minify,
}

// mount matches what is between the two comments that enclose the mounted
// part of a document. Vugu takes it over node by node, so it stays as it is.
var mount = regexp.MustCompile(`(?s)<!--mount-->(.*)<!--/mount-->`)

func minified(name string, data []byte) ([]byte, error) {
	const standIn = "@mounted@"
	var mounted []byte
	if m := mount.FindSubmatch(data); m != nil {
		mounted = m[1]
		data = bytes.Replace(data, m[0], []byte(standIn), 1)
	}
	var out bytes.Buffer
	if err := minifiers[path.Ext(name)](minify.New(), &out, bytes.NewReader(data), nil); err != nil {
		return nil, err
	}
	if mounted != nil {
		if n := bytes.Count(out.Bytes(), []byte(standIn)); n != 1 {
			return nil, fmt.Errorf("the mounted part has got lost: %d places for it", n)
		}
	}
	return bytes.Replace(out.Bytes(), []byte(standIn), mounted, 1), nil
}

// compressed is the forms of a file for browsers that take them; nil if it is
// no smaller.
type compressed struct{ gzip, brotli []byte }

// Levels of brotli: the smallest there is, and one for development.
const (
	release = 11
	quick   = 5
)

// compress returns the compressed forms of each file.
func compress(page map[string][]byte, level int) (map[string]compressed, error) {
	forms := make(map[string]compressed)
	var mu sync.Mutex
	var group sync.WaitGroup
	var failed error
	for name, data := range page {
		group.Go(func() {
			gz, err1 := squeeze(data, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, gzip.BestCompression) })
			br, err2 := squeeze(data, func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriterLevel(w, level), nil })
			mu.Lock()
			defer mu.Unlock()
			forms[name] = compressed{gz, br}
			for _, err := range []error{err1, err2} {
				if err != nil {
					failed = fmt.Errorf("%s: %w", name, err)
				}
			}
		})
	}
	group.Wait()
	return forms, failed
}

func squeeze(data []byte, writer func(io.Writer) (io.WriteCloser, error)) ([]byte, error) {
	var b bytes.Buffer
	w, err := writer(&b)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if b.Len() >= len(data) {
		return nil, nil
	}
	return b.Bytes(), nil
}
