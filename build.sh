#!/usr/bin/env bash
# Builds schedlab and tests it:
#
#   ./build.sh          the command, into .bin/
#   ./build.sh test     all that must hold
#   ./build.sh bench    how fast the model is
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# need COMMAND PACKAGE...: installs what is missing, or says what to install.
need() {
	local command=$1
	shift
	command -v "$command" >/dev/null && return
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		apt-get -q update >&2
		DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends "$@" >&2 </dev/null
	fi
	command -v "$command" >/dev/null || fail "this needs $command: please install $*"
}

fail() {
	echo "build.sh: $*" >&2
	exit 1
}

step() { echo "== $*"; }

build() {
	go build -trimpath -o .bin/schedlab ./site/schedlab
	echo "built .bin/schedlab"
}

tests() {
	need node nodejs
	need gcc gcc libc6-dev # the race detector's

	step "format and vet"
	local unformatted
	unformatted=$(gofmt -l core site)
	[ -z "$unformatted" ] || fail "gofmt would change:"$'\n'"$unformatted"
	go vet ./...
	GOOS=js GOARCH=wasm go vet ./core/...

	step "core, native"
	go test ./core/...

	step "site, with the race detector"
	CGO_ENABLED=1 go test -race ./site/...

	# The same tests, so the same digests. Go's js/wasm start-up has room for a
	# small environment only, and a CI's is often large: so it gets a new one.
	step "core, as WebAssembly"
	GOOS=js GOARCH=wasm go test ./core/... -exec \
		"env -i 'PATH=$PATH' '$(go env GOROOT)/lib/wasm/go_js_wasm_exec'"
}

command -v go >/dev/null || fail "this needs Go 1.26 or later: see https://go.dev/dl/"
case "${1-}" in
"") build ;;
test) tests ;;
bench) go test -run '^$' -bench . -benchmem ./core/... ;;
*) fail "$1: want nothing, test or bench" ;;
esac
