// Edge is the page's server as a Cloudflare Worker: the handler of site/server,
// given what Cloudflare has for links, limits, files and answers. A new instance
// of it answers each request, so it keeps nothing in memory.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"syscall/js"

	"github.com/syumai/workers"
	"github.com/syumai/workers/cloudflare"

	"schedlab/core/scenario"
	"schedlab/site/server"
)

// The bindings, as site/edge/wrangler.jsonc names them.
const (
	files = "ASSETS"
	links = "LINKS"
)

var limits = map[server.Action]string{server.MakeLink: "LINK_LIMIT", server.Simulate: "RUN_LIMIT"}

func main() {
	s := server.New(http.HandlerFunc(serveFile))
	s.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	s.Allow = allow
	s.Cache = cache{}
	if namespace := cloudflare.GetBinding(links); namespace.Truthy() {
		s.Links = store{namespace}
	}
	guard()
	clients := server.ByHeader("Cf-Connecting-Ip", s)
	workers.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := readBody(r); err != nil {
			server.Unreadable(w, "400: the request broke off")
			return
		}
		r.Host = r.URL.Host
		clients.ServeHTTP(w, r)
	}))
}

// guard answers requests whose address Go can't read, such as /s/%zz, for which the package workers would
// fail. Elsewhere Go's own server does.
func guard() {
	binding := js.Global().Get("context").Get("binding")
	handle := binding.Get("handleRequest")
	binding.Set("handleRequest", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if _, err := url.Parse(args[0].Get("url").String()); err == nil {
			return handle.Invoke(args[0])
		}
		answer := &unread{header: make(http.Header)}
		server.Unreadable(answer, "400: an address has two hexadecimal digits after each %")
		header, init := object(), object()
		for key := range answer.header {
			header.Set(key, answer.header.Get(key))
		}
		init.Set("headers", header)
		init.Set("status", answer.status)
		return js.Global().Get("Response").New(answer.String(), init)
	}))
}

// An unread is a ResponseWriter into memory.
type unread struct {
	bytes.Buffer
	header http.Header
	status int
}

func (u *unread) Header() http.Header { return u.header }

func (u *unread) WriteHeader(status int) { u.status = status }

// readBody takes a request's body in, as far as any answer looks at it, and the rest away: one
// that is not read to its end holds up the next request of its connection.
func readBody(r *http.Request) error {
	const rest = 1 << 20 // who sends more is cut off
	data, err := io.ReadAll(io.LimitReader(r.Body, scenario.MaxLink+1))
	if err != nil {
		return err
	}
	if _, err := io.CopyN(io.Discard, r.Body, rest); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	r.Body.Close()
	r.Body = io.NopCloser(bytes.NewReader(data))
	return nil
}

// serveFile serves a file of the page. The assets have it under its own name.
func serveFile(w http.ResponseWriter, r *http.Request) {
	path := r.URL.EscapedPath()
	if path == "/" {
		path = "/index.html"
	}
	header := object()
	if tag := r.Header.Get("If-None-Match"); tag != "" {
		header.Set("If-None-Match", tag)
	}
	init := object()
	init.Set("headers", header)
	response, err := await(cloudflare.GetBinding(files).Call("fetch", "https://assets.local"+path, init))
	if err != nil {
		panic(err)
	}
	status := response.Get("status").Int()
	if status != http.StatusOK && status != http.StatusNotModified {
		server.NotFound(w, r)
		return
	}
	for _, key := range []string{"Content-Type", "Etag"} {
		if value := response.Get("headers").Call("get", key); value.Truthy() {
			w.Header().Set(key, value.String())
		}
	}
	body, err := bytesOf(response)
	if err != nil {
		panic(err)
	}
	w.WriteHeader(status)
	w.Write(body)
}

// A store is a server.Store in Workers KV. That has no way to add only what is not there, but a link's id says what
// is under it, so that two who add it at once add the same.
type store struct{ namespace js.Value }

func (s store) Get(_ context.Context, id string) (string, error) {
	value, err := await(s.namespace.Call("get", id))
	if err != nil || value.IsNull() {
		return "", err
	}
	return value.String(), nil
}

func (s store) Add(ctx context.Context, id, query string) (string, error) {
	held, err := s.Get(ctx, id)
	if held != "" || err != nil {
		return held, err
	}
	_, err = await(s.namespace.Call("put", id, query))
	return query, err
}

// allow asks the limiter for an action. Without one, all is allowed.
func allow(r *http.Request, what server.Action) bool {
	limiter := cloudflare.GetBinding(limits[what])
	if !limiter.Truthy() {
		return true
	}
	options := object()
	options.Set("key", server.ClientOf(r.RemoteAddr).String())
	outcome, err := await(limiter.Call("limit", options))
	return err != nil || outcome.Get("success").Bool() // a limiter that fails must not close the page
}

// A cache is a server.Cache in the data centre's cache, which other than a Worker's memory outlives a request.
type cache struct{}

func (cache) url(key string) string {
	hash := sha256.Sum256([]byte(key))
	return "https://cache.invalid/" + hex.EncodeToString(hash[:])
}

func (c cache) Get(_ context.Context, key string) []byte {
	response, err := await(js.Global().Get("caches").Get("default").Call("match", c.url(key)))
	if err != nil || !response.Truthy() {
		return nil
	}
	body, err := bytesOf(response)
	if err != nil {
		return nil
	}
	return body
}

func (c cache) Put(_ context.Context, key string, data []byte) {
	header, init := object(), object()
	header.Set("Cache-Control", "max-age=86400")
	init.Set("headers", header)
	array := js.Global().Get("Uint8Array").New(len(data))
	js.CopyBytesToJS(array, data)
	// One that fails is simulated again.
	await(js.Global().Get("caches").Get("default").Call("put", c.url(key), js.Global().Get("Response").New(array, init)))
}

func object() js.Value { return js.Global().Get("Object").New() }

// bytesOf reads a response's body.
func bytesOf(response js.Value) ([]byte, error) {
	buffer, err := await(response.Call("arrayBuffer"))
	if err != nil {
		return nil, err
	}
	array := js.Global().Get("Uint8Array").New(buffer)
	data := make([]byte, array.Length())
	js.CopyBytesToGo(data, array)
	return data, nil
}

// await waits for a promise.
func await(promise js.Value) (value js.Value, err error) {
	done := make(chan struct{})
	resolved := js.FuncOf(func(_ js.Value, args []js.Value) any {
		value = args[0]
		close(done)
		return nil
	})
	defer resolved.Release()
	rejected := js.FuncOf(func(_ js.Value, args []js.Value) any {
		err = errors.New(args[0].Call("toString").String())
		close(done)
		return nil
	})
	defer rejected.Release()
	promise.Call("then", resolved, rejected)
	<-done
	return value, err
}
