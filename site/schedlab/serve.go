package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing/fstest"
	"time"

	"schedlab/site/dist"
	"schedlab/site/server"
)

// A service is what serve serves, and where.
type service struct {
	addr   string
	page   fs.ReadDirFS
	links  string // file of short links
	log    string // what to log: one of logLevels
	client string // header that says who the client is; "": who has connected
}

// logLevels are the values of -log.
var logLevels = []string{"errors", "requests", "nothing"}

// headerName is what -client may be.
var headerName = regexp.MustCompile(`^[A-Za-z0-9-]*$`)

func setupServe(flags *flag.FlagSet) func(context.Context, streams, string) error {
	addr := flags.String("addr", "127.0.0.1:8080", "`host:port` to serve on; port 0 takes any that is free")
	links := flags.String("links", defaultLinks(), "`file` for short links, made when the first one is stored")
	level := flags.String("log", logLevels[0], "what to log: "+strings.Join(logLevels, ", ")+"; no addresses and no questions")
	client := flags.String("client", "", "`header` in which a proxy in front writes the client's address, such as X-Real-IP, for limits for each client; leave it out where there is no proxy")
	return func(ctx context.Context, s streams, dir string) error {
		if strings.ContainsAny(dir, "?=") {
			return badInput("serve: want a folder, or no argument: a link's question belongs to the page's address, behind /")
		}
		if _, _, err := net.SplitHostPort(*addr); err != nil {
			return badInput(fmt.Sprintf("-addr=%s: want host:port, such as 127.0.0.1:8080", *addr))
		}
		if !slices.Contains(logLevels, *level) {
			return unknown("-log", *level, logLevels)
		}
		if !headerName.MatchString(*client) {
			return badInput(fmt.Sprintf("-client=%s: want the name of a header, such as X-Real-IP, of letters, digits and hyphens", *client))
		}
		page, err := pageIn(dir)
		if err != nil {
			return err
		}
		return serve(ctx, s, service{*addr, page, *links, *level, *client})
	}
}

// pageIn returns the page in a folder, or that within the command if dir is "".
func pageIn(dir string) (fs.ReadDirFS, error) {
	if dir == "" {
		page, ok := dist.Page()
		if !ok {
			return nil, errors.New("this command was built without the page: ./build.sh builds both, as .bin/schedlab")
		}
		return page, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, badInput(fmt.Sprintf("serve: %s: want a folder with the page in it, such as site/dist/www (%v)", dir, errors.Unwrap(err)))
	}
	defer root.Close()
	if info, err := root.Stat("index.html"); err != nil || !info.Mode().IsRegular() {
		return nil, badInput(fmt.Sprintf("serve: %s: want a folder with the page in it, such as site/dist/www; this one has no index.html", dir))
	}
	page, err := inMemory(root.FS(), maxPage)
	if err != nil {
		return nil, badInput(fmt.Sprintf("serve: %s: want a folder with the page in it and nothing else: %v", dir, err))
	}
	return page, nil
}

// maxPage is how many bytes a folder may have: the page has a few million.
const maxPage = 200 << 20

// inMemory reads all files of a folder but those whose name begins with a dot, or whose folder's does, which are never
// served. They are served as they are now: who builds the page anew beneath a running server would else mix files
// of both, under the entity tags of the first. What is no file to read, such as a link that leads out of the
// folder, is an error.
func inMemory(folder fs.FS, limit int64) (fstest.MapFS, error) {
	files := make(fstest.MapFS)
	left := limit
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		hidden := name != "." && strings.HasPrefix(d.Name(), ".")
		switch {
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden:
			return nil
		case err != nil || d.IsDir():
			return err
		}
		info, err := fs.Stat(folder, name)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no file", name) // and might be waited for, for ever
		}
		data, err := readUpTo(folder, name, left)
		if err != nil {
			return err
		}
		left -= int64(len(data))
		files[name] = &fstest.MapFile{Data: data}
		return nil
	})
	if errors.Is(err, errTooLarge) {
		err = fmt.Errorf("it has more than %d MB", limit>>20)
	}
	return files, err
}

var errTooLarge = errors.New("too large")

// readUpTo reads a file, unless it has more bytes than a limit.
func readUpTo(folder fs.FS, name string, limit int64) ([]byte, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > limit {
		return nil, errTooLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1)) // it may grow
	if err == nil && int64(len(data)) > limit {
		err = errTooLarge
	}
	return data, err
}

// serve serves until ctx is done, and then lets those that are being answered
// get their answer.
func serve(ctx context.Context, s streams, what service) error {
	addr := what.addr
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("another program serves on %s: -addr chooses another port", addr)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("may not serve on %s: -addr chooses another port, from 1024", addr)
	case err != nil:
		return fmt.Errorf("can't serve on %s: %w", addr, err)
	}
	links := &linkFile{path: what.links}
	defer links.close()
	handler := server.New(server.Files(what.page))
	handler.Links = links
	handler.Cache = &server.Memory{Limit: 32 << 20}
	handler.Allow = new(server.Limiter).Allow
	handler.Log = newLog(s.err, what.log)
	clients := http.Handler(handler)
	if what.client != "" {
		clients = server.ByHeader(what.client, handler)
	}
	http := newHTTP(clients, complaints{s, what.log == "nothing"})
	fmt.Fprintf(s.out, "the page is at http://%s/ (Ctrl-C stops)\n", listener.Addr())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		patience, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if http.Shutdown(patience) != nil {
			http.Close()
		}
	}()
	if err := http.Serve(listener); ctx.Err() == nil {
		return fmt.Errorf("serving on %s: %w", addr, err)
	}
	<-stopped
	return nil
}

// newHTTP returns a server that waits for no client for ever.
func newHTTP(handler http.Handler, errors io.Writer) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      3 * time.Minute, // for a simulation, or the whole page on a slow line
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10, // links are up to 16 KB
		ErrorLog:          log.New(errors, "", 0),
	}
}

// newLog returns a log of what a level names.
func newLog(w io.Writer, level string) *slog.Logger {
	least := map[string]slog.Level{"requests": slog.LevelInfo, "errors": slog.LevelError, "nothing": slog.LevelError + 1}[level]
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: least}))
}

// complaints is a Writer of what the HTTP server logs, of which there may be an
// address in each line: it leaves that out.
type complaints struct {
	streams
	quiet bool
}

var remote = regexp.MustCompile(` (from )?(\[[0-9a-fA-F:.%a-z]*\]|[0-9.]+):[0-9]+`)

func (c complaints) Write(b []byte) (int, error) {
	if !c.quiet {
		c.say(remote.ReplaceAllString(string(b[:max(len(b)-1, 0)]), "")) // without the line's end
	}
	return len(b), nil
}
