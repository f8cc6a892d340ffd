package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"text/tabwriter"

	"schedlab/core"
	"schedlab/core/evidence"
	"schedlab/core/fitted"
	"schedlab/core/scenario"
)

func setupFit(flags *flag.FlagSet) func(context.Context, streams, string) error {
	only := flags.String("only", "", "fit these constants only, by the `KEY` of the fitting")
	format := flags.String("format", "text", "text, or csv: the file of all constants, core/fitted/constants.csv, with those that were fitted anew")
	workers := flags.Int("j", runtime.GOMAXPROCS(0), "runs to simulate at a time")
	return func(ctx context.Context, s streams, arg string) error {
		if arg != "" {
			return badInput("fit takes no link: want -only for one of the fittings")
		}
		if *format != "text" && *format != "csv" {
			return unknown("-format", *format, []string{"text", "csv"})
		}
		if *workers < 1 {
			return badInput(scenario.Problem{Key: "-j", Value: strconv.Itoa(*workers), Want: "a whole number from 1"}.String())
		}
		var keys []string
		for _, f := range evidence.Fittings {
			keys = append(keys, f.Key)
		}
		if givenEmpty(flags, "only") || *only != "" && !slices.Contains(keys, *only) {
			return unknown("-only", *only, keys)
		}
		w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "fitting\tconstant\tis\tfitted\tfitted to\tpublished\tmodel\tmodel, fitted")
		found := evidence.Beginnings()
		before := len(found)
		for i := range evidence.Fittings {
			f := &evidence.Fittings[i]
			if *only != "" && f.Key != *only {
				found = append(found, f.Constants()...)
				continue
			}
			got, err := f.Fit(found, func(question scenario.Scenario) (*core.Result, error) {
				return try(ctx, s, question, f.Key, *workers)
			})
			if err != nil {
				return err
			}
			found = append(found, got.Constants...)
			for _, c := range got.Constants {
				fmt.Fprintf(w, "%s\t%s of %s\t%d\t%d %s\t%s\t%.5g\t%.5g\t%.5g\n", f.Key, c.Key, c.Of, fitted.Value(c.Of, c.Key), c.Value, c.Unit, f.What(), got.Published, got.Now, got.Found)
			}
		}
		if *format == "csv" {
			out := fitted.Header
			for _, c := range found[before:] {
				out += c.Line()
			}
			_, err := io.WriteString(s.out, out)
			return err
		}
		return w.Flush()
	}
}
