#!/usr/bin/env bash
# Two of each service (of storage, where it is built for PostgreSQL): every process is restarted in turn under load, and the
# timeline becomes docs/rolling.png. Where python3 has no matplotlib, it is installed from PyPI into .build/bench/venv.
set -euo pipefail
cd "$(dirname "$0")/../../.."

.ci/setup
swift build --build-tests
ROLLING_TIMELINE=$PWD/.build/rolling.csv Tests/run.sh --filter 'IntegrationTests.RollingTests'

python=python3
if ! python3 -c 'import matplotlib' 2>/dev/null; then
    python=.build/bench/venv/bin/python3
    if ! "$python" -c 'import matplotlib' 2>/dev/null; then
        echo "rolling: installing matplotlib into .build/bench/venv" >&2
        python3 -m venv .build/bench/venv && .build/bench/venv/bin/pip install --quiet matplotlib >&2
    fi
fi
exec "$python" Tests/Benchmarks/rolling/plot.py .build/rolling.csv docs/rolling.png
