#!/usr/bin/env bash
# Measures Heliograph beside other servers and beside the ceiling, a broker that only copies bytes to sockets. The server is
# pinned to one core and the load generator to another, and all servers take turns within each run. Prints the medians, our
# ratios and the delivery checks, and fails if one of our servers lost, repeated or disordered a message or has no result
# where another server has one.
#
# usage: Tests/Benchmarks/peers/run.sh
#   QUICK=1        one run, a moment per workload and fewer sessions: a look, not figures to quote
#   RUNS=n         default 3, QUICK 1; the report has medians
#   SECONDS_EACH=n seconds of a throughput workload, default 2, QUICK 0.4; the other durations follow from it
#   SERVERS=a,b    default all of load/servers.py
#   PARTS=a,b      default all of peers/workloads.py but windows: fanout,pairs,rooms,payload,latency,idle,logins,tls
#   ONLY=a,b       only these workloads, for example fanout_100x1,pairs_500_w8
#   BENCH_OUT      folder for binaries and results; default .build/bench
#
# A whole run writes its tables into docs/performance.md. With any of these settings but BENCH_OUT the run isn't the whole one,
# and the page is written to BENCH_OUT instead.
set -euo pipefail
cd "$(dirname "$0")/../../.."

here=bench-peers
export BENCH_OUT=${BENCH_OUT:-$PWD/.build/bench}
page=$PWD/docs/performance.md
[ -z "${QUICK:-}${RUNS:-}${SECONDS_EACH:-}${SERVERS:-}${PARTS:-}${ONLY:-}" ] || page=$BENCH_OUT/performance.md
servers=${SERVERS:-ceiling,heliograph,heliograph-4,redis,valkey,nats,mosquitto,streams,jetstream,heliograph-tls,redis-tls,nats-tls,mosquitto-tls}
[[ ,${PARTS:-tls}, == *,tls,* ]] || servers=$(tr , '\n' <<<"$servers" | grep -v -- '-tls$' | paste -sd,)
. Tests/Benchmarks/load/prepare.sh

results=$BENCH_OUT/peers.jsonl
export SERVERS=$servers
python3 Tests/Benchmarks/peers/measure.py "$results" >&2
python3 Tests/Benchmarks/peers/report.py "$results" docs/performance.md "$page"
docs/wrap.py "$page"
