#!/bin/sh
# Counts what Linux 6.1 decides under hackbench: boots Debian's kernel in QEMU and prints CSV, one line a run. README.md says what it means.
#
#   ./run.sh [DIR] >counts.csv    DIR keeps downloads and the guests' logs, and logs found there are not made again (without it: a temporary folder)
#
# It wants Debian 12, whose packages it downloads and unpacks into DIR; if cpio or QEMU's libraries are missing and it is root, it installs
# cpio and qemu-system-x86. All of it takes most of an hour. What to run can be narrowed:
: "${CLOCKS:=icount-20 mttcg rr}"        # icount-N: virtual time by instructions, and all CPUs have had a turn each N µs; mttcg: a thread per CPU; rr: all on one
: "${TOPOLOGIES:=2x2x2 1x8x1}"           # sockets x cores x threads; a socket is a node and a last-level cache
: "${CHANNELS:=pipe socket}"             # a boot each
: "${TASKS:=process thread}"
: "${GROUP_COUNTS:=1 2 4}"
: "${FDS:=5}"
: "${MESSAGES:=25000}"                   # of a run, as near as whole loops come; a run of one loop goes with it, for what starting and ending cost
: "${REPEATS:=5}"
: "${TRACED:=1}"                         # 0: without trace events, 2: both
set -eu
here=$(cd "$(dirname "$0")" && pwd)

fail() {
	echo "run.sh: $*" >&2
	exit 1
}

# need COMMAND PACKAGE...
need() {
	command -v "$1" >/dev/null && return
	if [ "$(id -u)" = 0 ]; then DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends "$2" >&2 </dev/null; fi
	command -v "$1" >/dev/null || fail "this needs $1: please install $2"
}

# unpack DIR PACKAGE...: downloads Debian packages and unpacks them there. $apt has options.
unpack() {
	to=$1
	shift
	[ ! -e "$to/done" ] || return 0
	mkdir -p "$to/debs"
	# shellcheck disable=SC2086 # options are many
	(cd "$to/debs" && apt-get $apt -q -o APT::Sandbox::User=root download "$@" >&2)
	for deb in "$to"/debs/*.deb; do dpkg-deb -x "$deb" "$to"; done
	touch "$to/done"
}

# Under icount QEMU 7.2 starves all CPUs but one and 10.0 gives each a turn (since 8.1, it seems). Debian 12 has 10.0 in its backports; the host's apt is not told of them.
get_qemu() {
	need qemu-system-x86_64 qemu-system-x86
	version=$(qemu-system-x86_64 --version | sed -n 's/.*version \([0-9]*\.[0-9]*\).*/\1/p')
	qemu="qemu-system-x86_64"
	dpkg --compare-versions "$version" lt 8.1 || return 0
	if [ ! -e "$work/qemu/done" ]; then
		mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
		# shellcheck disable=SC2016 # apt fills these in
		apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
			sed -n 's,^bookworm ,deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ,p' | sed '1!d;s/$/ bookworm-backports main/' >"$work/apt/sources.list"
		[ -s "$work/apt/sources.list" ] || fail "QEMU $version is too old for icount and apt has no Debian 12 to find a newer one near"
		apt="-o Dir::Etc::SourceList=$work/apt/sources.list -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists=$work/apt/lists -o Dir::Cache=$work/apt/cache"
		# shellcheck disable=SC2086
		apt-get $apt -q update >&2
		unpack "$work/qemu" qemu-system-x86/bookworm-backports qemu-system-data/bookworm-backports seabios/bookworm-backports
		apt=
	fi
	qemu="$work/qemu/usr/bin/qemu-system-x86_64 -L $work/qemu/usr/share/qemu -L $work/qemu/usr/share/seabios"
}

get_guest() {
	image=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: \(linux-image-6\.1\..*-amd64\)$/\1/p')
	[ -n "$image" ] || fail "linux-image-amd64 is no 6.1 here"
	unpack "$work/kernel" "$image"
	unpack "$work/tools" busybox-static rt-tests
	kernel=$(echo "$work"/kernel/boot/vmlinuz-*)
	rm -rf "$work/root"
	mkdir -p "$work/root/bin"
	cp "$work/tools/bin/busybox" "$work/tools/usr/bin/hackbench" "$work/root/bin/"
	ldd "$work/tools/usr/bin/hackbench" | grep -o '/lib[^ ]*' | while read -r lib; do
		mkdir -p "$work/root$(dirname "$lib")"
		cp -L "$lib" "$work/root$lib"
	done
	cp "$here/init.sh" "$work/root/init"
	chmod +x "$work/root/init"
}

# boot CLOCK TOPOLOGY CHANNEL LOG
boot() {
	slice=0
	case $1 in
	icount-*) slice=${1#icount-} accel='-accel tcg,thread=single -icount shift=0,sleep=off -seed 1 -rtc base=2026-01-01,clock=vm' ;;
	mttcg) accel='-accel tcg,thread=multi' ;;
	rr) accel='-accel tcg,thread=single' ;;
	*) fail "no clock $1" ;;
	esac
	sockets=${2%%x*} threads=${2##*x} cores=${2#*x}
	cores=${cores%x*}
	cpus=$((sockets * cores * threads))
	nodes=
	n=0
	while [ $n -lt "$sockets" ]; do
		nodes="$nodes -object memory-backend-ram,id=m$n,size=$((1024 / sockets))M"
		nodes="$nodes -numa node,nodeid=$n,cpus=$((n * cores * threads))-$(((n + 1) * cores * threads - 1)),memdev=m$n"
		n=$((n + 1))
	done
	echo "repeats=$REPEATS slice=$slice" >"$work/root/settings"
	for tasks in $TASKS; do
		for groups in $GROUP_COUNTS; do
			for loops in $((MESSAGES / (groups * FDS * FDS))) 1; do
				o="-g $groups -f $FDS -l $loops"
				[ "$3" = socket ] || o="$o -p"
				[ "$tasks" = process ] || o="$o -T"
				[ "$TRACED" = 0 ] || echo "1 $o"
				[ "$TRACED" = 1 ] || echo "0 $o"
			done
		done
	done >"$work/root/runs"
	(cd "$work/root" && find . | cpio -o -H newc --quiet) >"$work/initramfs"
	# shellcheck disable=SC2086 # options are many
	timeout 1h nice -n 10 $qemu -nodefaults -no-user-config -display none -serial stdio -no-reboot -M q35,hpet=off -cpu Skylake-Server -m 1024 \
		-smp "$cpus,sockets=$sockets,cores=$cores,threads=$threads" $nodes $accel -kernel "$kernel" -initrd "$work/initramfs" \
		-append 'console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable numa_balancing=disable' \
		</dev/null >"$4.part" 2>"$4.err" || fail "QEMU failed, see $4.err"
	[ "$(grep -c '^@end' "$4.part")" = $((REPEATS * $(wc -l <"$work/root/runs"))) ] || fail "the guest ended early, see $4.part"
	mv "$4.part" "$4"
}

[ "$(dpkg --print-architecture)" = amd64 ] || fail "this is for Debian on amd64"
work=${1:-}
if [ -z "$work" ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"
work=$(cd "$work" && pwd)
apt=
need cpio cpio
get_qemu
get_guest
awk -v header=1 -f "$here/counts.awk"
for clock in $CLOCKS; do
	for topology in $TOPOLOGIES; do
		for channel in $CHANNELS; do
			log="$work/$clock.$topology.$channel.$TRACED.log"
			[ -e "$log" ] || boot "$clock" "$topology" "$channel" "$log"
			awk -v clock="$clock" -v topology="$topology" -f "$here/counts.awk" "$log"
		done
	done
done
