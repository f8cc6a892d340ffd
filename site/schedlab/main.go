// Schedlab simulates Linux kernels with and without a scheduler patch, and
// says whether and by how much they differ.
//
//	schedlab run '?m=xeon-240&bg=quiet&arm=&arm=sm-idle-v2'
//
// The README has more, and schedlab help lists the commands.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"schedlab/core/scenario"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait for anything
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// What the command exits with, other than 0.
const (
	exitFailed      = 1 // a run broke, or the answer could not be given
	exitUsage       = 2 // the question was wrong: nothing was simulated
	exitInterrupted = 130
)

// A command is one word of the command line.
type command struct {
	name string
	args string // for the usage line
	text string // what it does, in one line
	// setup defines the flags and returns what to do with the arguments
	// beside them, of which there are at most one.
	setup func(*flag.FlagSet) func(context.Context, streams, string) error
}

// streams is where a command writes.
type streams struct {
	out io.Writer // the answer
	err io.Writer // everything else
}

// say writes a message for the user.
func (s streams) say(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(s.err, "schedlab: %s\n", printable(line))
	}
}

// commands lists the commands as help shows them.
func commands() []command {
	return append([]command{
		{"run", "[LINK]", "simulate a scenario, given its link or query", setupRun},
		{"serve", "[DIR]", "serve the page, the simulator in a browser; DIR has another build of it, read at the start", setupServe},
		{"sweep", "[LINK]", "simulate a scenario over a range of a constant or a parameter, or of two", setupSweep},
		{"evidence", "", "simulate what was published, and say which figures the model agrees with", setupEvidence},
		{"fit", "", "find again the constants that were fitted to published figures", setupFit},
	}, append(catalogues(), command{"version", "", "say which version this is, and of which model", setupVersion})...)
}

// run is the command without a process around it. It returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s := streams{stdout, stderr}
	err := dispatch(ctx, s, args)
	var bad badInput
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &bad):
		s.say(err.Error())
		return exitUsage
	}
	s.say(err.Error())
	return exitFailed
}

// badInput is an error that is the user's: one message per line.
type badInput string

func (b badInput) Error() string { return string(b) }

// unknown is the badInput for a value that is none of those allowed.
func unknown(what, value string, allowed []string) error {
	return badInput(scenario.Problem{Key: what, Value: value, Want: scenario.OneOf(value, allowed)}.String())
}

// givenEmpty tells whether a flag was given with nothing in it, which must not do what is done without the flag.
func givenEmpty(flags *flag.FlagSet, name string) (empty bool) {
	flags.Visit(func(f *flag.Flag) { empty = empty || f.Name == name && f.Value.String() == "" })
	return empty
}

func dispatch(ctx context.Context, s streams, args []string) error {
	if len(args) == 0 {
		help(s.err)
		return badInput("which command?")
	}
	name, args := args[0], args[1:]
	asksHelp := name == "help" || name == "-h" || name == "-help" || name == "--help"
	if asksHelp {
		if len(args) == 0 {
			help(s.out)
			return nil
		}
		name, args = args[0], []string{"-h"}
	}
	var names []string
	for _, c := range commands() {
		if c.name == name {
			return c.run(ctx, s, args)
		}
		names = append(names, c.name)
	}
	return unknown("command", name, append(names, "help"))
}

// run parses the arguments, flags before or after the other one, and does
// what the command does.
func (c command) run(ctx context.Context, s streams, args []string) error {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // its messages repeat what the user wrote as it is
	do := c.setup(flags)
	var others []string
	for {
		if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
			fmt.Fprintf(s.out, "usage: schedlab %s [flags] %s\n\n%s\n\n", c.name, c.args, sentence(c.text))
			flags.SetOutput(s.out)
			flags.PrintDefaults()
			return nil
		} else if err != nil {
			return badInput(err.Error() + "\nsee schedlab " + c.name + " -h")
		}
		if flags.NArg() == 0 {
			break
		}
		others = append(others, flags.Arg(0))
		args = flags.Args()[1:]
	}
	if len(others) > 1 {
		return badInput(fmt.Sprintf("%s: want %s only, not %d arguments; a link needs quotes around it", c.name, c.args, len(others)))
	}
	return do(ctx, s, strings.Join(others, ""))
}

func help(w io.Writer) {
	fmt.Fprint(w, "Schedlab simulates Linux kernels with and without a scheduler patch.\n\nusage: schedlab COMMAND [flags] [argument]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-24s %s\n", c.name+" "+c.args, c.text)
	}
	fmt.Fprintf(w, "  %-24s %s\n", "help [COMMAND]", "show this, or a command's flags")
}

// sentence makes a sentence of a text without capital and full stop.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

// formatFlag defines -format. The function checks what was given.
func formatFlag(flags *flag.FlagSet, formats ...string) func() (string, error) {
	format := flags.String("format", formats[0], "how to print: "+strings.Join(formats, ", "))
	return func() (string, error) {
		for _, f := range formats {
			if f == *format {
				return f, nil
			}
		}
		return "", unknown("-format", *format, formats)
	}
}
