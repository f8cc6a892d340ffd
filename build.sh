#!/usr/bin/env bash
# Builds schedlab and tests it:
#
#   ./build.sh          the page, into site/dist/www/, and the command with it, into .bin/
#   ./build.sh serve    the same, less tightly compressed, and serves it on 127.0.0.1:8080
#   ./build.sh edge     the page and its server for Cloudflare, into .bin/edge/
#   ./build.sh test     all that must hold
#   ./build.sh bench    how fast the model and the page are
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

# revision: what the programs call their version.
revision() { git describe --always --dirty 2>/dev/null || true; }

# build [-fast]: the page first, since the command has it inside.
build() {
	go run ./site/build "$@"
	go build -trimpath -ldflags "-X schedlab/site/server.revision=$(revision)" -o .bin/schedlab ./site/schedlab
	echo "built .bin/schedlab"
}

# edge: the Worker, after the page.
edge() { go run ./site/edge -revision "$(revision)"; }

tests() {
	need node nodejs
	need npm npm
	need gcc gcc libc6-dev # the race detector's
	need chromium chromium
	local folder
	for folder in site/e2e site/edge; do
		(cd "$folder" && npm ci --silent --no-audit --no-fund) || fail "npm could not install what $folder/package-lock.json lists"
	done

	step "format and vet"
	local unformatted
	unformatted=$(gofmt -l core site wasm)
	[ -z "$unformatted" ] || fail "gofmt would change:"$'\n'"$unformatted"
	go vet ./...
	# The command and what tests and builds with it are no WebAssembly.
	# shellcheck disable=SC2046 # one argument a package
	GOOS=js GOARCH=wasm go vet $(go list ./... | grep -Ev '/site/(schedlab|build|e2e)$') ./wasm/...

	step "core, native"
	go test ./core/...

	step "page"
	build

	# What has goroutines of its own is watched for races, which takes twenty times as long.
	step "site, with the race detector where there is something to race"
	CGO_ENABLED=1 go test -race ./site/lab ./site/server ./site/schedlab
	# shellcheck disable=SC2046
	go test $(go list ./site/... | grep -Ev '/site/(e2e|lab|server|schedlab)$')

	step "page, in a browser"
	SCHEDLAB_E2E=1 go test -count=1 -timeout=30m ./site/e2e

	step "server, in Cloudflare's runtime"
	edge
	SCHEDLAB_EDGE=1 go test -count=1 ./site/edge

	# The same digests, and fewer of the random tests. Go's js/wasm start-up has room for a
	# small environment only, and a CI's is often large: so it gets a new one.
	step "core and workers, as WebAssembly"
	GOOS=js GOARCH=wasm go test -short ./core/... ./site/lab -exec \
		"env -i 'PATH=$PATH' '$(go env GOROOT)/lib/wasm/go_js_wasm_exec'"
}

bench() {
	need chromium chromium
	go test -run '^$' -bench . -benchmem ./core/...
	build
	step "page, in a browser: medians of 5"
	SCHEDLAB_E2E=1 SCHEDLAB_BENCH=1 go test -count=1 -run '^TestSpeed$' -v ./site/e2e
}

command -v go >/dev/null || fail "this needs Go 1.26 or later: see https://go.dev/dl/"
case "${1-}" in
"") build ;;
serve)
	build -fast
	shift
	exec .bin/schedlab serve "$@"
	;;
edge)
	build
	edge
	;;
test) tests ;;
bench) bench ;;
*) fail "$1: want nothing, serve, edge, test or bench" ;;
esac
