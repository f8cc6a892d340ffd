package server

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// Policy is the page's content security policy. Everything comes from where
// the page comes from, nothing is framed, and the one liberty is to compile
// WebAssembly. site/web/index.html says the same, for hosts that send no
// headers; a test holds the two together.
const Policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; " +
	"worker-src 'self'; img-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; " +
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

// hashed tells whether a file's content never changes under its name, which is as site/build
// makes it: app.0123456789ab.js.
func hashed(name string) bool {
	parts := strings.Split(path.Base(name), ".")
	return len(parts) == 3 && len(parts[1]) == 12 && strings.Trim(parts[1], "0123456789abcdef") == ""
}

const (
	forever = "public, max-age=31536000, immutable"
	hourly  = "public, max-age=3600" // of what another version of the model may change
)

// cacheControl says how long browsers may keep a file.
func cacheControl(file string) string {
	if hashed(file) {
		return forever
	}
	return "no-cache"
}

// HeadersFile returns what the page's files need in a file named _headers beside
// them, so that a host which serves them by itself sends the same headers: Cloudflare and
// Netlify read it. names are the files, without a path before them.
func HeadersFile(names []string) string {
	var b strings.Builder
	b.WriteString("/*\n")
	for _, key := range slices.Sorted(maps.Keys(headers)) {
		b.WriteString("  " + key + ": " + headers[key] + "\n")
	}
	for _, name := range slices.Sorted(slices.Values(names)) {
		if hashed(name) {
			b.WriteString("/" + name + "\n  Cache-Control: " + forever + "\n")
		}
	}
	return b.String()
}
