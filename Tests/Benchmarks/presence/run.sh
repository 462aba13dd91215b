#!/usr/bin/env bash
# Measures what presence costs, in memory and over a redis-server that it starts for itself (`make bench WHAT=presence`).
set -euo pipefail
cd "$(dirname "$0")/../../.."
packaging/build.sh --product rtm-presence-bench >&2
folder=$(mktemp -d)
redis-server --port 0 --unixsocket "$folder/redis" --save '' --appendonly no --dir "$folder" >/dev/null &
server=$!
trap 'kill "$server"; wait "$server" 2>/dev/null; rm -rf "$folder"' EXIT
until [ -S "$folder/redis" ]; do sleep 0.05; done
used() { redis-cli -s "$folder/redis" info memory | tr -d '\r' | sed -n 's/^used_memory://p'; }
before=$(used)
.build/release/rtm-presence-bench "$folder/redis"
# The bench leaves 1,000 users in one channel and 10,000 in another. Each of them also stands in the set of the user's
# channels, in the set of the lease, and in the list of joins that the next interval announces.
echo "  memory in Redis per online user: $((($(used) - before) / 11000)) bytes"
