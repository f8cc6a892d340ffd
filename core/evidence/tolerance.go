package evidence

import "strings"

// Tolerances say how far the model may be from a published figure and still agree with it. They were
// written down before the rows were first judged by them, from the noise that the posters state and from the aims that the
// project had set itself, and are not widened afterwards: a rule that turns out to be wrong stays, and
// a new one with its reason comes before it. Those of POWER9's shortest and median search and of their deviation came later than the others, with the
// model's own beside them.

// A Tolerance is how far a simulated figure may be from a published one.
type Tolerance struct {
	Percent float64 // of the published figure; 0: Points counts
	Points  float64 // of a percentage, either way
	Noise   float64 // if not 0: the published change is noise, and the simulated one must be within so many percent of none
	Reason  string
}

// Tolerances lists them: the first one that fits a row's key and its figure holds. A key ends in * if
// it stands for all that begin so.
var Tolerances = []struct {
	Key    string
	Figure FigureName
	Tolerance
}{
	{"irq-nosync-hackbench-*", Improvement, Tolerance{Noise: 3, Reason: "the poster calls 3 % either way normal on that machine, and no change was posted outside of it"}},
	{"irq-nosync-hackbench-*", Mean, Tolerance{Percent: 8, Reason: "the aim set beforehand: 8 %, which is the 3 % of the machine's noise for each of two kernels and as much again for other kernels' configurations"}},
	{"irq-nosync-pgbench-6", Improvement, Tolerance{Points: 10, Reason: "sign and size: the poster calls 5 % either way common, for each of the two means"}},
	{"irq-nosync-pgbench-12", Improvement, Tolerance{Points: 10, Reason: "sign and size: the poster calls 5 % either way common, for each of the two means"}},
	{"irq-nosync-pgbench-*", Improvement, Tolerance{Noise: 5, Reason: "the poster calls 5 % either way common, and above twelve clients no change was posted outside of it but one of −5.9 %"}},
	{"irq-nosync-pgbench-*", Mean, Tolerance{Percent: 10, Reason: "5 % either way is common there, for each of two kernels"}},
	{"sm-idle-robot-*", Improvement, Tolerance{Noise: 6, Reason: "no false change: those that were posted are between −1.7 and +6.0 %"}},
	{"sm-idle-robot-*", Mean, Tolerance{Percent: 15, Reason: "the aim set beforehand: 15 % on levels, since the machine's configuration was not said"}},
	{"select-idle-core-power9", Improvement, Tolerance{Points: 4, Reason: "the aim set beforehand: 4 points, about the standard error of the gain from 130 and 164 searches with the deviations posted"}},
	{"select-idle-core-power9", Mean, Tolerance{Percent: 10, Reason: "the aim set beforehand: 10 %, between two and three standard errors of the means posted"}},
	{"select-idle-core-power9", Min, Tolerance{Percent: 10, Reason: "the shortest search is a matter of the path's length: as the mean"}},
	{"select-idle-core-power9", Median, Tolerance{Percent: 10, Reason: "as the mean"}},
	{"select-idle-core-power9", PopulationSD, Tolerance{Percent: 25, Reason: "130 searches with a long tail give a deviation within an eighth: two standard errors"}},
	{"sm-idle-*", Improvement, Tolerance{Points: 10, Reason: "ten runs that spread sevenfold give the mean within a sixth"}},
	{"sm-idle-*", Ratio, Tolerance{Points: 0.1, Reason: "as the improvement"}},
	{"sm-idle-*", Mean, Tolerance{Percent: 30, Reason: "ten runs that spread sevenfold give the mean within a sixth: two standard errors"}},
	{"sm-idle-*", Min, Tolerance{Percent: 10, Reason: "the fastest of ten runs is a matter of the paths' lengths, not of chance"}},
	{"sm-idle-*", PopulationSD, Tolerance{Percent: 50, Reason: "ten runs give a deviation within a quarter: two standard errors"}},
	{"scx-now-*", Improvement, Tolerance{Points: 10, Reason: "the aim set beforehand: within 10 points under the first version's semantics, since the number of CPUs, which was not said, is chosen from four"}},
}

// ToleranceOf returns the tolerance of a figure of a table, or false if it has none: it is not judged.
func ToleranceOf(key string, figure FigureName) (Tolerance, bool) {
	for _, t := range Tolerances {
		prefix, open := strings.CutSuffix(t.Key, "*")
		if t.Figure == figure && (t.Key == key || open && strings.HasPrefix(key, prefix)) {
			return t.Tolerance, true
		}
	}
	return Tolerance{}, false
}
