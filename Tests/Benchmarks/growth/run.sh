#!/usr/bin/env bash
# Measures how cost grows with subscribers, channels and sessions, and writes docs/growth.md and docs/growth.png: a table, a
# plot, and what it says for a million sessions.
#
# usage: BENCH=harness/folder Tests/Benchmarks/growth/run.sh
#   QUICK=1     few points and short runs: a look, not figures to quote
#   SERVERS=a,b default heliograph,heliograph-4
#   PARTS=a,b   default subscribers,channels,sessions,logins,heartbeats
#   RUNS=n      default 3, QUICK 1; the page has medians
#   BENCH_OUT   folder for binaries and results; default .build/bench-growth
#
# With QUICK, SERVERS or PARTS the page isn't the whole one, and is written to BENCH_OUT instead of docs.
# The plot needs matplotlib. Where python3 has none, it is installed from PyPI into BENCH_OUT/venv.
set -euo pipefail
cd "$(dirname "$0")/../../.."

bench=${BENCH:-../shared/bench}
here=$PWD/Tests/Benchmarks/growth
export HELIOGRAPH_RELEASE=${HELIOGRAPH_RELEASE:-$PWD/.build/release}
export BENCH_OUT=${BENCH_OUT:-$PWD/.build/bench-growth}
export BENCH_SERVERS=$PWD/Tests/Benchmarks/peers/servers_heliograph.py PYTHONDONTWRITEBYTECODE=1 BENCH=$bench

fail() { echo "bench-growth: $*" >&2; exit 1; }

[ -f "$bench/loadgen/lg.h" ] || fail "there is no measuring harness in $bench; name its folder: make bench-growth BENCH=FOLDER"
[ "$(nproc)" -ge 2 ] || fail "this needs two processor cores, one for the server and one for the load"
missing=()
need() { command -v "$2" >/dev/null || missing+=("$1"); }
need gcc gcc
need make make
need python3 python3
need util-linux taskset
[ -f /usr/include/openssl/ssl.h ] || missing+=(libssl-dev)
[ ${#missing[@]} -eq 0 ] || fail "missing: ${missing[*]}. On Debian: apt-get install ${missing[*]}"
for program in standalone edge messaging presence storage; do
    [ -x "$HELIOGRAPH_RELEASE/rtm-$program" ] || fail "$HELIOGRAPH_RELEASE/rtm-$program isn't there: make build"
done
# For 20,000 sessions; with less it is as many as fit.
ulimit -n 21000 2>/dev/null || ulimit -n "$(ulimit -Hn)"
[ "$(ulimit -n)" -ge 12000 ] || fail "this needs 12,000 open files and the limit is $(ulimit -n): raise it with ulimit -n"

mkdir -p "$BENCH_OUT"
python=python3
if ! python3 -c 'import matplotlib' 2>/dev/null; then
    python=$BENCH_OUT/venv/bin/python3
    if ! "$python" -c 'import matplotlib' 2>/dev/null; then
        echo "bench-growth: installing matplotlib into $BENCH_OUT/venv" >&2
        python3 -m venv "$BENCH_OUT/venv" && "$BENCH_OUT/venv/bin/pip" install --quiet matplotlib >&2 ||
            fail "that failed. Without PyPI: apt-get install python3-matplotlib"
    fi
fi
make --no-print-directory -C "$bench" BENCH_OUT="$BENCH_OUT" ADAPTERS="$PWD/Tests/Benchmarks/peers/adapter_heliograph.c" >&2

results=$BENCH_OUT/growth.jsonl
pages=docs
[ -z "${QUICK:-}${SERVERS:-}${PARTS:-}" ] || pages=$BENCH_OUT
: >"$results"
python3 "$here/measure.py" "$results" >&2
"$python" "$here/report.py" "$results" "$pages"
