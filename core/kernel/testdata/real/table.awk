# table.awk: means and, in brackets, ranges from counts.csv, per message or as shares of the wakeups, as a table for README.md.
BEGIN {
	FS = ","
	print "| clock | topology | channel | tasks | groups | messages | runs | µs | switches | wakeups | migrations | on CPU of waker, % | in LLC of waker, % | in LLC of prev. CPU, % | moved, % | preempted, % |"
	print "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
}
NR == 1 { for (f = 1; f <= NF; f++) at[$f] = f; next }
$at["loops"] == 1 || !$at["traced"] { next }
{
	key = $at["clock"] " | " $at["topology"] " | " $at["channel"] " | " $at["tasks"] " | " $at["groups"] " | " $at["messages"]
	if (!(key in runs)) order[++keys] = key
	runs[key]++
	n = $at["messages"]
	w = $at["wakeups"]
	add("time", $at["seconds"] * 1e6 / n)
	add("ctxt", $at["ctxt"] / n)
	add("wake", w / n)
	add("migr", $at["migrations"] / n)
	add("self", 100 * $at["self"] / w)
	add("llc", 100 * ($at["self"] + $at["core"] + $at["llc"]) / w)
	add("prev", 100 * $at["in_prev_llc"] / w)
	add("moved", 100 * $at["moved"] / w)
	add("pre", 100 * $at["involuntary"] / ($at["voluntary"] + $at["involuntary"]))
}
function add(what, x) {
	if (!((key, what) in sum) || x < min[key, what]) min[key, what] = x
	if (!((key, what) in sum) || x > max[key, what]) max[key, what] = x
	sum[key, what] += x
}
function show(what, format) {
	return sprintf(" " format " (" format "–" format ") |", sum[key, what] / runs[key], min[key, what], max[key, what])
}
END {
	for (k = 1; k <= keys; k++) {
		key = order[k]
		print "| " key " | " runs[key] " |" show("time", "%.1f") show("ctxt", "%.3f") show("wake", "%.3f") show("migr", "%.3f") \
			show("self", "%.0f") show("llc", "%.0f") show("prev", "%.0f") show("moved", "%.0f") show("pre", "%.0f")
	}
}
