#!/usr/bin/env bash
# What a topic of a stream channel costs beside a message channel of the same shape, and what a join costs beside a subscribe.
#
# usage: Tests/Benchmarks/topics/run.sh
#   QUICK=1        one round of a second each, printed and not written into docs/performance.md
#   BENCH_OUT      folder for binaries and servers; default .build/bench
set -euo pipefail
cd "$(dirname "$0")/../../.."

here=bench-topics
export BENCH_OUT=${BENCH_OUT:-$PWD/.build/bench}
servers=heliograph
. Tests/Benchmarks/load/prepare.sh
exec python3 Tests/Benchmarks/topics/measure.py
