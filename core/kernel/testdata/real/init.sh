#!/bin/busybox sh
# shellcheck shell=dash disable=SC2154,SC2016 # repeats and slice are from settings; what looks like expressions is for the kernel
# The guest's init: says what machine it sees, runs hackbench, and powers off. run.sh puts it into the initramfs.
# Lines that begin with "@" are for run.sh, the others for people.
/bin/busybox mkdir -p /proc /sys /dev /tmp
/bin/busybox mount -t proc proc /proc
/bin/busybox --install -s /bin
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
echo 1 >/proc/sys/kernel/sched_schedstats
echo 1 >/proc/sys/kernel/printk

# shellcheck source=/dev/null # repeats and slice: from run.sh
. /settings

# Slices of the emulator: with -icount it runs a CPU until the next timer is due. A PIT whose interrupt nobody listens to is one.
if [ "$slice" -gt 0 ]; then
	port() { printf '%b' "\\0$(printf %o "$2")" | dd of=/dev/port bs=1 seek="$1" 2>/dev/null; }
	count=$((slice * 1193182 / 1000000))
	port 67 $((0x34)) # channel 0, low and high byte, rate generator
	port 64 $((count & 255))
	port 64 $((count >> 8))
fi

cd /sys/devices/system/cpu || exit
for c in cpu[0-9]*; do
	echo "@cpu ${c#cpu} thread_siblings=$(cat "$c/topology/thread_siblings_list") package=$(cat "$c/topology/physical_package_id") llc=$(
		cat "$c/cache/index3/shared_cpu_list" 2>/dev/null || echo none)"
done
cat cpu0/cache/index*/level cpu0/cache/index*/shared_cpu_list | xargs echo "@info caches of CPU 0, level and CPUs:"
cat cpuidle/current_driver cpuidle/current_governor 2>/dev/null | xargs echo "@info cpuidle:"
cat cpu0/cpuidle/state*/name 2>/dev/null | xargs echo "@info idle states:"
cd /
uname -rv | sed 's/^/@info kernel: /'
sed 's/^/@info command line: /' /proc/cmdline
sed 's/^/@info clocksource: /' /sys/devices/system/clocksource/clocksource0/current_clocksource
cat /sys/devices/system/node/node*/cpulist | xargs echo "@info nodes:"
cd /sys/kernel/debug/sched || exit
for f in preempt features latency_ns min_granularity_ns idle_min_granularity_ns wakeup_granularity_ns migration_cost_ns nr_migrate tunable_scaling; do
	[ ! -e "$f" ] || xargs echo "@info $f:" <"$f"
done
for d in domains/cpu0/domain*; do
	echo "@info domain of CPU 0: $(cat "$d/name") $(cat "$d/flags") max_newidle_lb_cost=$(cat "$d/max_newidle_lb_cost")"
done
grep -A4 '^cpu0 ' /proc/schedstat | cut -d' ' -f1-2 | xargs echo "@info schedstat's domains of CPU 0:"
cd /
dmesg | grep -iE 'tsc|smp: |lapic|clockevent|unstable|idle|mitigat|sched_clock' | sed 's/^/dmesg: /'

t=/sys/kernel/tracing
echo 0 >$t/tracing_on # what fires goes into histograms only
trace_on() {
	echo 'wake u32 waker; int prev; int target' >$t/synthetic_events
	echo 'hist:keys=pid:w=common_cpu,p=target_cpu:size=4096 if comm=="hackbench"' >$t/events/sched/sched_waking/trigger
	echo 'hist:keys=pid:ww=$w,pp=$p:onmatch(sched.sched_waking).wake($ww,$pp,target_cpu):size=4096 if comm=="hackbench"' >$t/events/sched/sched_wakeup/trigger
	echo 'hist:keys=waker,prev,target' >$t/events/synthetic/wake/trigger
	echo 'hist:keys=orig_cpu,dest_cpu if comm=="hackbench"' >$t/events/sched/sched_migrate_task/trigger
	echo 'hist:keys=prev_state if prev_comm=="hackbench"' >$t/events/sched/sched_switch/trigger
}
trace_off() {
	for e in sched/sched_switch sched/sched_migrate_task synthetic/wake sched/sched_wakeup sched/sched_waking; do
		f=$t/events/$e/trigger
		grep '^hist' $f | sed 's/ \[.*//; s/^/!/' | while read -r l; do echo "$l" >$f; done
	done
	echo >$t/synthetic_events
}
hist() { # NAME EVENT: its counts
	sed -n '/^{/{s/[{},]//g;s/[a-z_]*: *//g;p}' "$t/events/$2/hist" | while read -r l; do
		# shellcheck disable=SC2086 # the numbers one by one
		echo "@$1" $l
	done
}
snapshot() { cat /proc/stat /proc/schedstat /proc/interrupts >/tmp/"$1"; }
sums() { # FILE: ctxt, per CPU and per domain sums, interrupts
	awk '$1 == "ctxt" { x = $2 }
		$1 == "cpu" && !u { u = $2; s = $4; i = $5; q = $7 + $8 }
		/^cpu[0-9]+ / && NF == 10 { for (f = 2; f <= 10; f++) c[f] += $f }
		/^domain/ { for (f = 3; f <= NF; f++) d[$1, f] += $f; if (!($1 in n)) { n[$1] = NF; o[++m] = $1 } }
		$1 ~ /^(RES|CAL|LOC):$/ { for (f = 2; f <= NF && $f ~ /^[0-9]+$/; f++) r[$1] += $f }
		END { printf "ctxt %.0f user %.0f system %.0f idle %.0f irq %.0f RES %.0f CAL %.0f LOC %.0f cpu", x, u, s, i, q, r["RES:"], r["CAL:"], r["LOC:"]
			for (f = 2; f <= 10; f++) printf " %.0f", c[f]
			for (k = 1; k <= m; k++) { printf " %s", o[k]; for (f = 3; f <= n[o[k]]; f++) printf " %.0f", d[o[k], f] }
			print "" }' "$1"
}

hackbench -g 1 -f 5 -l 20 >/dev/null # pages in
r=1
while [ "$r" -le "$repeats" ]; do
	while read -r trace options; do
		[ "$trace" = 0 ] || trace_on
		sleep 0.2
		snapshot before
		# shellcheck disable=SC2086 # options are many
		time=$(hackbench $options | sed -n 's/^Time: //p')
		snapshot after
		echo "@run $r $trace $options"
		echo "@time $time"
		[ "$trace" = 0 ] || {
			hist wake synthetic/wake
			hist migrate sched/sched_migrate_task
			hist switch sched/sched_switch
			hist waking sched/sched_waking | awk '{ s += $NF } END { print "@waking", s }'
			hist wakeup sched/sched_wakeup | awk '{ s += $NF } END { print "@wakeup", s }'
			trace_off
		}
		echo "@before $(sums /tmp/before)"
		echo "@after $(sums /tmp/after)"
		echo "@end"
	done </runs
	r=$((r + 1))
done

poweroff -f
