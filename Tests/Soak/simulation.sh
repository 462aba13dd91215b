#!/usr/bin/env bash
# SEEDS (1,000) simulated histories from FIRST on, or the one of SEED, which TRACE=FILE writes down; SCENE chooses the scene.
set -euo pipefail
cd "$(dirname "$0")/../.."
swift build --build-tests
if [ -n "${SEED:-}" ]; then
    exec Tests/run.sh --filter SimulationTests/chosen
fi
SEEDS=${SEEDS:-1000} FIRST=${FIRST:-1000} exec Tests/run.sh --filter SimulationTests/soak
