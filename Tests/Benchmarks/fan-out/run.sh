#!/usr/bin/env bash
# Starts a stack of its own and measures the three cases that a change on the path of a message is judged by: one
# publisher to 100 and to 1000 subscribers, and 500 pairs. It prints deliveries per second, and seconds of the server's
# processor time per million deliveries. The load comes from the same machine, so on few cores it takes its share of them.
#
# usage: ARGS='--duration 10s --json' make bench     ARGS are options of `rtm bench`
set -euo pipefail
cd "$(dirname "$0")/../../.."

packaging/build.sh >&2
read -ra options <<<"${ARGS:-}"

release=.build/release
address=127.0.0.1:7910
directory=$(mktemp -d)
"$release/rtm-standalone" --listen "$address" --admin 127.0.0.1:7911 --rates-unlimited >"$directory/log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true; rm -rf "$directory"' EXIT

for attempt in {1..100}; do
    "$release/rtm" ping --server "$address" --connect-timeout 1s >/dev/null 2>&1 && break
    [ "$attempt" -lt 100 ] && kill -0 "$server" 2>/dev/null || { cat "$directory/log" >&2; exit 1; }
    sleep 0.1
done

echo "release build, all services in one process, on this machine" >&2
for shape in "--fan-out 100" "--fan-out 1000" "--pairs 500"; do
    # shellcheck disable=SC2086
    "$release/rtm" bench $shape --server "$address" --server-pid "$server" ${options[@]+"${options[@]}"}
done
