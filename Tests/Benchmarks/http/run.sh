#!/usr/bin/env bash
# How many messages backends publish over HTTP on one core: one message a request, and a hundred.
#
# usage: Tests/Benchmarks/http/run.sh
#   QUICK=1        one round of two seconds, printed and not written into docs/performance.md
#   BENCH_OUT      folder for binaries and servers; default .build/bench
set -euo pipefail
cd "$(dirname "$0")/../../.."

here=bench-http
export BENCH_OUT=${BENCH_OUT:-$PWD/.build/bench}
servers=heliograph
. Tests/Benchmarks/load/prepare.sh
command -v wrk >/dev/null || fail "missing: wrk. On Debian: apt-get install wrk"
exec python3 Tests/Benchmarks/http/measure.py
