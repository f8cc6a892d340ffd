# counts.awk: turns what a guest printed into a line of CSV per run. run.sh sets clock and topology.
BEGIN {
	OFS = ","
	if (header) {
		print "clock,topology,channel,tasks,groups,fds,loops,messages,repeat,traced,seconds,task_ms,delay_ms,ctxt,ttwu,ttwu_local,goidle," \
			"lb_idle,lb_busy,lb_newidle,lb_active,affine,ipi_resched,ipi_call,ticks,voluntary,involuntary,migrations,wakeups,moved," \
			"self,self_prev,core,llc,prev_core,prev_llc,elsewhere,in_prev_llc"
		exit
	}
}
{ sub(/\r$/, "") }
$1 == "@cpu" { # @cpu N thread_siblings=A package=P llc=B
	for (f = 3; f <= 5; f++) { split($f, kv, "="); place[$2, kv[1]] = kv[2] }
}
$1 == "@run" {
	delete o
	split("", w)
	repeat = $2; traced = $3
	channel = "socket"; tasks = "process"
	for (f = 4; f <= NF; f++) {
		if ($f == "-p") channel = "pipe"
		else if ($f == "-T") tasks = "thread"
		else { o[$f] = $(f + 1); f++ }
	}
}
$1 == "@time" { seconds = $2 }
$1 == "@before" || $1 == "@after" {
	s = $1 == "@after" ? 1 : -1
	for (f = 2; f <= NF; f++) {
		if ($f ~ /^[a-zA-Z]/) { key = $f; k = 0 }
		else v[key, k++] += s * $f
		if ($f ~ /^domain/) levels[$f]
	}
}
$1 == "@wake" { # waker previous target count
	n = $5
	w["wakeups"] += n
	if ($3 != $4) w["moved"] += n
	if (same("llc", $4, $3)) w["in_prev_llc"] += n
	if ($4 == $2) { w["self"] += n; if ($3 == $4) w["self_prev"] += n }
	else if (same("thread_siblings", $4, $2)) w["core"] += n
	else if (same("llc", $4, $2)) w["llc"] += n
	else if (same("thread_siblings", $4, $3)) w["prev_core"] += n
	else if (same("llc", $4, $3)) w["prev_llc"] += n
	else w["elsewhere"] += n
}
$1 == "@migrate" { w["migrations"] += $4 }
$1 == "@switch" { w[$2 == 0 || $2 == 256 ? "involuntary" : "voluntary"] += $3 }
$1 == "@end" {
	for (d in levels) {
		idle += v[d, 4]; busy += v[d, 12]; newidle += v[d, 20]; active += v[d, 26]; affine += v[d, 34]
	}
	line = clock OFS topology OFS channel OFS tasks OFS o["-g"] OFS o["-f"] OFS o["-l"] OFS o["-g"] * o["-f"] * o["-f"] * o["-l"] OFS repeat OFS traced OFS seconds
	line = line OFS sprintf("%.1f", v["cpu", 6] / 1e6) OFS sprintf("%.1f", v["cpu", 7] / 1e6)
	line = line OFS v["ctxt", 0] OFS v["cpu", 4] OFS v["cpu", 5] OFS v["cpu", 3] OFS idle OFS busy OFS newidle OFS active OFS affine OFS v["RES", 0] OFS v["CAL", 0] OFS v["LOC", 0]
	n = split("voluntary involuntary migrations wakeups moved self self_prev core llc prev_core prev_llc elsewhere in_prev_llc", names, " ")
	for (k = 1; k <= n; k++) line = line OFS (traced ? w[names[k]] + 0 : "")
	print line
	split("", v)
	idle = busy = newidle = active = affine = 0
}
function same(what, a, b) { return place[a, what] == place[b, what] }
