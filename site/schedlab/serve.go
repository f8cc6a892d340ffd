package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"net"
	"net/http"
	"syscall"
	"time"

	"schedlab/site/dist"
	"schedlab/site/server"
)

func setupServe(flags *flag.FlagSet) func(context.Context, streams, string) error {
	addr := flags.String("addr", "127.0.0.1:8080", "`host:port` to serve on; port 0 takes any that is free")
	return func(ctx context.Context, s streams, other string) error {
		if other != "" {
			return badInput("serve: want no argument: a link's question belongs to the page's address, behind /")
		}
		if _, _, err := net.SplitHostPort(*addr); err != nil {
			return badInput(fmt.Sprintf("-addr=%s: want host:port, such as 127.0.0.1:8080", *addr))
		}
		page, ok := dist.Page()
		if !ok {
			return errors.New("this command was built without the page: ./build.sh builds both, as .bin/schedlab")
		}
		return serve(ctx, s, *addr, page)
	}
}

// serve serves page until ctx is done, and then lets those that are being
// answered get their answer.
func serve(ctx context.Context, s streams, addr string, page fs.ReadDirFS) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("another program serves on %s: -addr chooses another port", addr)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("may not serve on %s: -addr chooses another port, from 1024", addr)
	case err != nil:
		return fmt.Errorf("can't serve on %s: %w", addr, err)
	}
	http := &http.Server{
		Handler:           server.New(server.Files(page)),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10, // links are up to 16 KB
		ErrorLog:          log.New(complaints{s}, "", 0),
	}
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

// complaints is a Writer of what the HTTP server logs.
type complaints struct{ streams }

func (c complaints) Write(b []byte) (int, error) {
	c.say(string(b[:max(len(b)-1, 0)])) // without the line's end
	return len(b), nil
}
