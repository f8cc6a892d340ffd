// Package stats counts and compares. Hist holds the many per-event samples of
// a run, in integers only, for the simulation to fill; Summarize and Compare work on the few
// per-run figures, in floating point, for page and reports.
//
// The two never mix: events within a run depend on each other, so pooling them
// would fake significance. What is said about a patch rests on runs.
//
// The opinions, which are those of the people who post such patches where they
// agree, and of benchstat where they don't: improvement is positive when the
// patched kernel is better, whichever way the metric points; the test is
// Mann–Whitney's, which assumes no distribution; the interval is made of order
// statistics of the paired changes, which assumes none either; what a number
// of runs can't support is not printed but is a warning.
package stats
