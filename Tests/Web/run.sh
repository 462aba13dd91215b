#!/usr/bin/env bash
# Runs the tests of the web client (`make test-web`): in Node, and in headless Chromium where there is one.
#
#   HELIOGRAPH_RELEASE=FOLDER  the programs to run it against, instead of those of this build
#   SEEDS=100                  generated histories
#   SEED=7                     one of them
#   SKIPPED=FILE               gets a line for whatever is not tested
#
# Node 18 has no WebSocket, Node 20 one behind a flag: the tests take that of Debian's node-ws.
set -euo pipefail
cd "$(dirname "$0")/../.."

say() {
    echo "Tests/Web/run.sh: $*" >&2
    echo "$*" >>"${SKIPPED:-/dev/null}"
}
major=$(node --version 2>/dev/null | sed -n 's/^v\([0-9]*\).*/\1/p')
if [ "${major:-0}" -lt 18 ]; then
    say "there is no Node 18 or newer, so the web client is not tested"
    exit 0
fi
if [ "$major" -lt 22 ] && [ ! -d /usr/share/nodejs/ws ]; then
    say "there is no WebSocket for this Node (node-ws), so the web client is not tested"
    exit 0
fi
export HELIOGRAPH_RELEASE=${HELIOGRAPH_RELEASE:-$(swift build --show-bin-path)}
tests=(Tests/Web/*.test.js)
if ! node --eval 'import "node:fs"' 2>/dev/null; then
    say "this Node needs to be shown what is a module, so nothing is tested in Chromium, and the console not at all"
    tests=($(ls Tests/Web/*.test.js | grep --invert-match -e /browser -e /console))
fi
[ -x /usr/bin/chromium ] || [ -x /usr/bin/google-chrome ] || say "there is no Chromium, so the web client is tested in Node alone"
# One after the other: what is timed has the machine for itself. Node 18 knows no such option before 18.19.
options=(--test --test-concurrency=1)
node "${options[@]:1}" --version >/dev/null 2>&1 || options=(--test)
exec node "${options[@]}" "$@" "${tests[@]}"
