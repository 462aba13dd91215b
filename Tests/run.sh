#!/usr/bin/env bash
# Runs tests that are built, with the arguments of `swift test`, and says at the end once more what failed: in the
# output of a thousand tests nobody finds it otherwise.
set -uo pipefail
cd "$(dirname "$0")/.."

# Tests that keep times share the cores with few others; more at once make nothing faster.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${TESTS_AT_ONCE:-8}
# A simulated history is the same wherever it runs only if dictionaries are in the same order.
export SWIFT_DETERMINISTIC_HASHING=1

log=$(mktemp)
trap 'rm -f "$log"' EXIT
swift test --skip-build --disable-xctest "$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if [ "$status" -ne 0 ]; then
    echo
    echo "What failed:"
    grep -A 3 -E ' recorded an issue|^error:|Fatal error' "$log" | cut -c 1-400 | head -200
fi >&2
exit "$status"
