package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"text/tabwriter"

	"schedlab/core"
	"schedlab/core/evidence"
	"schedlab/core/scenario"
)

func setupFit(flags *flag.FlagSet) func(context.Context, streams, string) error {
	only := flags.String("only", "", "fit these constants only, by the `KEY` of the fitting")
	workers := flags.Int("j", runtime.GOMAXPROCS(0), "runs to simulate at a time")
	return func(ctx context.Context, s streams, arg string) error {
		if arg != "" {
			return badInput("fit takes no link: want -only for one of the fittings")
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
		fmt.Fprintln(w, "fitting\tconstant\tis\tfitted\tfactor\tfitted to\tpublished\tmodel\tmodel, fitted")
		for i := range evidence.Fittings {
			f := &evidence.Fittings[i]
			if *only != "" && f.Key != *only {
				continue
			}
			got, err := f.Fit(func(question scenario.Scenario) (*core.Result, error) {
				return try(ctx, s, question, f.Key, *workers)
			})
			if err != nil {
				return err
			}
			for _, v := range got.Values {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.3f\t%s\t%.5g\t%.5g\t%.5g\n", f.Key, v.Key, v.Was, v.Fitted, got.Factor, f.Table, got.Published, got.Now, got.Found)
			}
		}
		return w.Flush()
	}
}
