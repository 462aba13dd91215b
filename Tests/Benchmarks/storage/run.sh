#!/usr/bin/env bash
# What storage does beside bare SQLite, or over PostgreSQL: PARTS, DATA and DATABASE are explained in StorageBench.swift.
set -euo pipefail
cd "$(dirname "$0")/../../.."
packaging/build.sh --product rtm-storage-bench >&2
exec .build/release/rtm-storage-bench ${PARTS:-}
