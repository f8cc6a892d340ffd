package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"

	"schedlab/core"
	"schedlab/site/server"
)

func setupVersion(*flag.FlagSet) func(context.Context, streams, string) error {
	return func(_ context.Context, s streams, other string) error {
		if other != "" {
			return badInput("version: want no argument")
		}
		_, err := fmt.Fprintf(s.out, "schedlab %s, model %d, %s %s/%s\n", server.Version(), core.Model, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return err
	}
}
