#!/usr/bin/env bash
# check.sh FOLDER: runs each workload for a moment against the ceiling, and fails unless every message arrives once and in
# order. It says that the generator works, and nothing about speed.
set -euo pipefail
bin=$1
port=${PORT:-7979}
log=$(mktemp)
"$bin/ceiling" "$port" 2>"$log" &
ceiling=$!
trap 'kill "$ceiling" 2>/dev/null || true; wait "$ceiling" 2>/dev/null || true; rm -f "$log"' EXIT

fail() { echo "check: $*" >&2; cat "$log" >&2; exit 1; }

for attempt in {1..100}; do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    [ "$attempt" -lt 100 ] && kill -0 "$ceiling" 2>/dev/null || fail "the ceiling doesn't listen on port $port"
    sleep 0.05
done

run() {
    result=$("$bin/load" --adapter ceiling --port "$port" --warm-up 0.05 --seconds 0.1 --prefix "check$((count += 1))" "$@") ||
        fail "$* failed: $result"
    [[ $result == *'"lost":0,"gaps":0,"repeats":0,"foreign":0,"ended":0}' ]] || fail "$*: $result"
}

count=0
run --workload closed --subscribers 10 --publishers 3 --window 6
run --workload closed --channels 20 --subscribers 5 --payload 32768 --window 2
run --workload open --channels 20 --subscribers 5 --rate 5000
run --workload idle --sessions 50 --quiet 0.05
run --workload logins --sessions 50
result=$(timeout 1 "$bin/load" --adapter ceiling --port "$port" --prefix stay --first 7 --workload stay --sessions 50 --crowd 5) || true
[[ $result == *'"ready":50,'* ]] || fail "stay: $result"
