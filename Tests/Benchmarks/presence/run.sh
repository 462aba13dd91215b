#!/usr/bin/env bash
# What presence costs, in memory and over a redis-server of its own (make bench-presence).
set -euo pipefail
folder=$(mktemp -d)
redis-server --port 0 --unixsocket "$folder/redis" --save '' --appendonly no --dir "$folder" >/dev/null &
server=$!
trap 'kill "$server"; wait "$server" 2>/dev/null; rm -rf "$folder"' EXIT
until [ -S "$folder/redis" ]; do sleep 0.05; done
.build/release/rtm-presence-bench "$folder/redis"
