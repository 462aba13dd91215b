#!/usr/bin/env bash
# Storage is killed a hundred times under load; nodes share a database of a thousand seeds; both engines are compared.
set -euo pipefail
cd "$(dirname "$0")/../.."
swift build --build-tests
SOAK=100 Tests/run.sh --filter '^(StorageTests.StorageKillTests|StoragePostgreSQLTests.PostgresKillTests)'
SEEDS=1000 Tests/run.sh --filter '^StorageTests.SharedDatabaseTests'
SEEDS=100 Tests/run.sh --filter '^(StorageTests.EngineTests|StoragePostgreSQLTests.PostgresEngineTests)'
