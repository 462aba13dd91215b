#!/usr/bin/env bash
# What presence costs, in memory and over a redis-server of its own (make bench-presence).
set -euo pipefail
folder=$(mktemp -d)
redis-server --port 0 --unixsocket "$folder/redis" --save '' --appendonly no --dir "$folder" >/dev/null &
server=$!
trap 'kill "$server"; wait "$server" 2>/dev/null; rm -rf "$folder"' EXIT
until [ -S "$folder/redis" ]; do sleep 0.05; done
used() { redis-cli -s "$folder/redis" info memory | tr -d '\r' | sed -n 's/^used_memory://p'; }
before=$(used)
.build/release/rtm-presence-bench "$folder/redis"
# The 1,000 and the 10,000 of the bench, each also in the sets of his user and of his lease, and in the list of
# joins that the next interval will tell.
echo "  memory in Redis per online user: $((($(used) - before) / 11000)) bytes"
