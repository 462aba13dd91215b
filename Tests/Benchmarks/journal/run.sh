#!/usr/bin/env bash
# What several messaging nodes cost and how fast they go on: Redis per publish beside a broker that runs a script for each
# message, and the time without an acknowledgement when the leading node is killed or told to stop.
#
# usage: Tests/Benchmarks/journal/run.sh
#   SECONDS_EACH=n seconds of each load, default 4
#   ROUNDS=n       how often a node is killed, and how often one is stopped, default 5
#   BENCH_OUT      folder for binaries and servers; default .build/bench
set -euo pipefail
cd "$(dirname "$0")/../../.."

here=bench-journal
export BENCH_OUT=${BENCH_OUT:-$PWD/.build/bench}
servers=heliograph,redis
. Tests/Benchmarks/load/prepare.sh
command -v redis-benchmark >/dev/null || fail "missing: redis-tools. On Debian: apt-get install redis-tools"
PYTHONPATH+=:$PWD/Tests/Benchmarks/growth:$PWD/Tests/Benchmarks/peers exec python3 Tests/Benchmarks/journal/measure.py
