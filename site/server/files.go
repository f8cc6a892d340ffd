//go:build !js

package server

import (
	"io/fs"
	"mime"
	"net/http"
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
		name := r.URL.Path
		if strings.Contains(name, "/.") || strings.HasSuffix(name, ".br") || strings.HasSuffix(name, ".gz") {
			NotFound(w, r) // they are forms of files, or notes for git and the like, or folders of them
			return
		}
		r = r.Clone(r.Context())
		r.Header.Set("Accept-Encoding", accepted(r.Header.Values("Accept-Encoding")))
		known := r.Header.Values("If-None-Match")
		r.Header.Del("If-None-Match") // statigz's entity tags have no quotes, and it compares with one only
		for _, condition := range []string{"If-Match", "If-Range"} {
			// It would never find a match. Without it there is no part to be had, which could be one of
			// another version than the client's: all of the file is right whatever they have.
			if r.Header.Get(condition) != "" {
				r.Header.Del(condition)
				r.Header.Del("Range")
			}
		}
		if len(known) > 0 {
			head := r.Clone(r.Context())
			head.Method = http.MethodHead
			now := &buffer{header: make(http.Header)}
			files.ServeHTTP(now, head)
			if tag := now.header.Get("Etag"); tag != "" && names(known, tag) {
				w.Header().Set("Etag", `"`+tag+`"`)
				w.Header().Set("Vary", now.header.Get("Vary"))
				w.WriteHeader(http.StatusNotModified)
				return
			}
		}
		q := quoting{ResponseWriter: w}
		files.ServeHTTP(&q, r)
		q.quote()
	})
}

// accepted returns those codings of Accept-Encoding headers that there are forms in, since statigz looks for their
// names anywhere in a header.
func accepted(headers []string) string {
	var list []string
	for part := range strings.SplitSeq(strings.ToLower(strings.Join(headers, ",")), ",") {
		coding, parameters, _ := strings.Cut(part, ";")
		coding = strings.TrimSpace(coding)
		if coding != "gzip" && coding != "br" {
			continue
		}
		weight := 1.0
		if key, q, _ := strings.Cut(parameters, "="); strings.TrimSpace(key) == "q" {
			weight, _ = strconv.ParseFloat(strings.TrimSpace(q), 64) // 0 if it is no number
		}
		if weight > 0 {
			list = append(list, coding)
		}
	}
	return strings.Join(list, ",")
}

// names tells whether If-None-Match headers have an entity tag among them, or the star that stands for any.
func names(headers []string, tag string) bool {
	for part := range strings.SplitSeq(strings.Join(headers, ","), ",") { // no tag of ours has a comma
		part = strings.TrimSpace(part)
		if part == "*" || strings.TrimPrefix(part, "W/") == `"`+tag+`"` {
			return true
		}
	}
	return false
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
