// Package server is the page's HTTP side: one handler, which serves the page's
// files with the headers that make a browser let as little happen as it can.
package server

import (
	"net/http"
	"regexp"
)

// Policy is the page's content security policy. Everything comes from where
// the page comes from, nothing is framed, and the one liberty is to compile
// WebAssembly. site/web/index.html says the same, for hosts that send no
// headers; a test holds the two together.
const Policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; " +
	"worker-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; " +
	"require-trusted-types-for 'script'; trusted-types default; " + policyInHeaderOnly

// policyInHeaderOnly is what has no effect in a document.
const policyInHeaderOnly = "frame-ancestors 'none'"

var headers = map[string]string{
	"Content-Security-Policy":      Policy,
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Embedder-Policy": "require-corp",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}

// hashed matches the names of files whose content never changes under them:
// site/build makes them.
var hashed = regexp.MustCompile(`/[\w-]+\.[0-9a-f]{12}\.\w+$`)

// New returns the handler for a page whose files assets serves.
func New(assets http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for key, value := range headers {
			h.Set(key, value)
		}
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "405: want GET or HEAD", http.StatusMethodNotAllowed)
			return
		case hashed.MatchString(r.URL.Path):
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		default:
			h.Set("Cache-Control", "no-cache")
		}
		assets.ServeHTTP(w, r)
	})
}

// notFound says that there is no such file.
func notFound(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store") // the next build may have one
	http.Error(w, "404: there is no such page here; the simulator is at /", http.StatusNotFound)
}
