#!/usr/bin/env bash
# Counts the instructions of each step of a message, and compares them with baseline.txt; BASELINE=update writes that.
set -euo pipefail
cd "$(dirname "$0")/../../.."
packaging/build.sh --product rtm-microbench >&2
exec python3 Tests/Benchmarks/micro/measure.py ${BASELINE:-}
