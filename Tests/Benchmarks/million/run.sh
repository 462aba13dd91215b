#!/usr/bin/env bash
# Logs in a million sessions on one machine, both ends of them, and kills all edges under them: memory, heartbeats, one message to
# a thousand of them, and how long it takes until all are back. Writes docs/performance.md.
#
# usage: Tests/Benchmarks/million/run.sh
#   QUICK=1        2,000 and 10,000 sessions, printed and not written into the page
#   SIZES=a,b      other numbers of sessions, printed and not written
#   BENCH_OUT      folder for binaries and servers; default .build/bench
#
# An edge and a load generator have as many sessions as they may have open files (ulimit -Hn), so there are as many of either as
# that takes. As root it runs in a network namespace of its own, where no connection is tracked and every port is free.
set -euo pipefail
cd "$(dirname "$0")/../../.."

if [ -z "${BENCH_MILLION_INSIDE:-}" ] && [ "$(id -u)" = 0 ] && unshare --net true 2>/dev/null; then
    export BENCH_MILLION_INSIDE=1
    exec unshare --net bash -c 'ip link set lo up && exec Tests/Benchmarks/million/run.sh'
fi

here=bench-million
export BENCH_OUT=${BENCH_OUT:-$PWD/.build/bench}
servers=heliograph-4
. Tests/Benchmarks/load/prepare.sh
exec python3 Tests/Benchmarks/million/measure.py
