#!/usr/bin/env bash
# One client against the installation: attacks with everything that one client may do, while a witness publishes and listens.
# Fails if the witness lost, repeated or disordered a message, was cut off, or waited longer than it may.
#
# usage: Tests/Benchmarks/attacks/run.sh
#   ONLY=a,b       only these attacks, for example names,heartbeats
#   SECONDS_EACH=n seconds of each attack, default 8
#   BENCH_OUT      folder for binaries and results; default .build/bench
set -euo pipefail
cd "$(dirname "$0")/../../.."

here=bench-attacks
export BENCH_OUT=${BENCH_OUT:-$PWD/.build/bench}
servers=heliograph
. Tests/Benchmarks/load/prepare.sh
PYTHONPATH+=:$PWD/Tests/Benchmarks/growth exec python3 Tests/Benchmarks/attacks/measure.py
