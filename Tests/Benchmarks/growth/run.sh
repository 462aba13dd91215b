#!/usr/bin/env bash
# Measures how cost grows with subscribers, channels and sessions, and writes docs/growth.md and docs/growth.png: a table, a
# plot, and what it says for a million sessions and for ten. It also writes the costs and the example of
# docs/operations/sizing.md.
#
# usage: Tests/Benchmarks/growth/run.sh
#   QUICK=1     few points and short runs: a look, not figures to quote
#   SERVERS=a,b default heliograph,heliograph-4
#   PARTS=a,b   default subscribers,channels,journal,sessions,logins,heartbeats
#   RUNS=n      default 3, QUICK 1; the page has medians
#   BENCH_OUT   folder for binaries and results; default .build/bench
#
# With QUICK, SERVERS or PARTS the page isn't the whole one, and is written to BENCH_OUT instead of docs.
# The plot needs matplotlib. Where python3 has none, it is installed from PyPI into BENCH_OUT/venv.
set -euo pipefail
cd "$(dirname "$0")/../../.."

here=bench-growth
export BENCH_OUT=${BENCH_OUT:-$PWD/.build/bench}
servers=${SERVERS:-heliograph,heliograph-4},redis
. Tests/Benchmarks/load/prepare.sh
# For 20,000 sessions; with less it is as many as fit.
ulimit -n 21000 2>/dev/null || true

python=python3
if ! python3 -c 'import matplotlib' 2>/dev/null; then
    python=$BENCH_OUT/venv/bin/python3
    if ! "$python" -c 'import matplotlib' 2>/dev/null; then
        echo "bench-growth: installing matplotlib into $BENCH_OUT/venv" >&2
        python3 -m venv "$BENCH_OUT/venv" && "$BENCH_OUT/venv/bin/pip" install --quiet matplotlib >&2 ||
            fail "that failed. Without PyPI: apt-get install python3-matplotlib"
    fi
fi

results=$BENCH_OUT/growth.jsonl
pages=docs
[ -z "${QUICK:-}${SERVERS:-}${PARTS:-}" ] || pages=$BENCH_OUT
: >"$results"
python3 Tests/Benchmarks/growth/measure.py "$results" >&2
"$python" Tests/Benchmarks/growth/report.py "$results" "$pages"
docs/wrap.py "$(realpath "$pages")/growth.md"
