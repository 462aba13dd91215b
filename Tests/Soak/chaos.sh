#!/usr/bin/env bash
# Processes are killed and lines are cut for MINUTES (10) by the plan of SEED.
set -euo pipefail
cd "$(dirname "$0")/../.."
.ci/setup
swift build --build-tests
CHAOS_MINUTES=${MINUTES:-10} CHAOS_SEED=${SEED:-} exec Tests/run.sh --filter 'IntegrationTests.(Service)?ChaosTests'
