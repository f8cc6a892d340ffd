//go:build !js

package server

import (
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/vearutop/statigz"
	"github.com/vearutop/statigz/brotli"
)

func init() {
	// Not every system's list has them, and some have others.
	for ext, kind := range map[string]string{
		".css":         "text/css; charset=utf-8",
		".html":        "text/html; charset=utf-8",
		".json":        "application/json",
		".svg":         "image/svg+xml",
		".wasm":        "application/wasm",
		".webmanifest": "application/manifest+json",
	} {
		if err := mime.AddExtensionType(ext, kind); err != nil {
			panic(err)
		}
	}
}

// Files returns a handler for the files of page, in the form (.br, .gz or
// plain) that is the smallest of those the browser takes. It reads all of page
// now, for the entity tags.
func Files(page fs.ReadDirFS) http.Handler {
	files := statigz.FileServer(page, brotli.AddEncoding, statigz.OnNotFound(NotFound))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := path.Base(r.URL.Path)
		if strings.HasPrefix(name, ".") && name != "." || strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz") {
			NotFound(w, r) // they are forms of files, or notes for git
			return
		}
		r = r.Clone(r.Context())
		r.Header.Set("Accept-Encoding", accepted(r.Header.Get("Accept-Encoding")))
		// statigz's entity tags have no quotes, and it compares with one only.
		r.Header.Set("If-None-Match", strings.Trim(strings.TrimPrefix(r.Header.Get("If-None-Match"), "W/"), `"`))
		for _, condition := range []string{"If-Match", "If-Range"} {
			r.Header.Del(condition) // it would never find a match, and answer with half a response
		}
		q := quoting{ResponseWriter: w}
		files.ServeHTTP(&q, r)
		q.quote()
	})
}

// accepted returns an Accept-Encoding without what it says is not wanted.
func accepted(header string) string {
	var list []string
	for part := range strings.SplitSeq(header, ",") {
		_, q, ok := strings.Cut(strings.ReplaceAll(part, " ", ""), ";q=")
		if weight, err := strconv.ParseFloat(q, 64); !ok || err == nil && weight > 0 {
			list = append(list, part)
		}
	}
	return strings.Join(list, ",")
}

// A quoting is a ResponseWriter that puts the ETag into the quotes it must have.
type quoting struct {
	http.ResponseWriter
	quoted bool
}

func (q *quoting) quote() {
	if tag := q.Header().Get("Etag"); tag != "" && !q.quoted {
		q.Header().Set("Etag", `"`+tag+`"`)
	}
	q.quoted = true
}

func (q *quoting) WriteHeader(status int) {
	q.quote()
	q.ResponseWriter.WriteHeader(status)
}

func (q *quoting) Write(b []byte) (int, error) {
	q.quote()
	return q.ResponseWriter.Write(b)
}
