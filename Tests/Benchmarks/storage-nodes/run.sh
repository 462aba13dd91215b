#!/usr/bin/env bash
# usage: POSTGRESQL=1 DATABASE=postgres://… make bench WHAT=storage-nodes
# Measures one storage node and two over one database, each of them held to a part of a core (CORE_PERCENT, 20),
# so that on one machine the nodes are the limit and not the database. It needs root and the cgroup controller cpu.
set -euo pipefail

cd "$(dirname "$0")/../../.."
for program in rtm-messaging rtm-storage rtm-storage-bench; do packaging/build.sh --product "$program" >&2; done
programs=.build/release
percent=${CORE_PERCENT:-20}
work=$(mktemp -d)
group=/sys/fs/cgroup/cpu/storage-bench-$$
running=()

end() {
    for process in "${running[@]}"; do kill "$process" 2>/dev/null || true; done
    wait
    rmdir "$group"-* 2>/dev/null || true
    rm -rf "$work"
}
trap end EXIT

"$programs"/rtm-messaging --listen 127.0.0.1:17720 --admin 127.0.0.1:0 >"$work/messaging.log" 2>&1 &
running+=($!)

start() { # PORT
    mkdir -p "$group-$1" "$work/$1"
    echo $((percent * 1000)) >"$group-$1/cpu.cfs_quota_us"
    (
        echo "$BASHPID" >"$group-$1/cgroup.procs"
        exec "$programs"/rtm-storage --listen "127.0.0.1:$1" --admin "127.0.0.1:$(($1 + 100))" --data "$work/$1" \
            --messaging 127.0.0.1:17720 --database "$DATABASE" >"$work/$1.log" 2>&1
    ) &
    running+=($!)
}

lead() { # PORT SHARDS
    for _ in $(seq 120); do
        curl -fs "http://127.0.0.1:$(($1 + 100))/metrics" | grep -qx "rtm_storage_leading $2" && return
        sleep 0.5
    done
    echo "storage-nodes: the node at $1 doesn't lead $2 shards" >&2
    return 1
}

start 17740
lead 17740 4
NODES=127.0.0.1:17740 "$programs"/rtm-storage-bench nodes
start 17741
lead 17740 2
lead 17741 2
NODES=127.0.0.1:17740,127.0.0.1:17741 "$programs"/rtm-storage-bench nodes
