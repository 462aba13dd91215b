#!/usr/bin/env bash
# Runs the tests under ThreadSanitizer and under AddressSanitizer, each with a build of its own (.build-tsan, .build-asan).
# The services that the tests start come from the same build and report to the same place. Fails when a test does or when a
# sanitizer has something to say.
#   SANITIZERS=thread   only one      FILTER='^EdgeTests'   not all tests
set -euo pipefail
cd "$(dirname "$0")/../.."

read -ra sanitizers <<<"${SANITIZERS:-thread address}"
filter=${FILTER:-}
# Tidy only reads text. Fuzz stays in: under AddressSanitizer every kept input is read once more.
skip='^TidyTests'
# Instrumented programs take ten times as long, and tests wait for them that much longer.
export TIME_SCALE=10
here=Tests/Sanitize

run() {
    local sanitizer=$1 scratch=$2
    local options=(--disable-xctest --sanitize="$sanitizer" --scratch-path "$scratch")
    local log=$scratch/report
    swift build --build-tests --sanitize="$sanitizer" --scratch-path "$scratch"
    # One test after the other: instrumented code takes ten times as long, and some tests have to keep times.
    options+=(--skip-build --no-parallel --skip "$skip")
    [ -z "$filter" ] || options+=(--filter "$filter")
    rm -f "$log".*
    echo "sanitize: tests under $sanitizer"
    if [ "$sanitizer" = thread ]; then
        clang -O1 -shared -fPIC -o "$scratch/synchronization.so" $here/synchronization.c -ldl
        TSAN_OPTIONS="suppressions=$PWD/$here/thread.suppressions log_path=$PWD/$log exitcode=66" \
            LD_PRELOAD="$PWD/$scratch/synchronization.so" swift test "${options[@]}"
    else
        ASAN_OPTIONS="detect_leaks=0 log_path=$PWD/$log" swift test "${options[@]}"
    fi
    if compgen -G "$log.*" >/dev/null; then
        cat "$log".*
        echo "sanitize: $sanitizer has found something" >&2
        return 1
    fi
}

for sanitizer in "${sanitizers[@]}"; do
    case $sanitizer in
    thread) run thread .build-tsan ;;
    address) run address .build-asan ;;
    *) echo "sanitize: there is no sanitizer '$sanitizer' here: thread, address" >&2 && exit 2 ;;
    esac
done
