#!/usr/bin/env bash
# usage: plot.sh TIMELINE.csv PICTURE.png
# Draws what RollingTimeline wrote. Where python3 has no matplotlib, it is installed from PyPI into .build/bench/venv.
set -euo pipefail

python=python3
if ! python3 -c 'import matplotlib' 2>/dev/null; then
    python=.build/bench/venv/bin/python3
    if ! "$python" -c 'import matplotlib' 2>/dev/null; then
        echo "rolling: installing matplotlib into .build/bench/venv" >&2
        python3 -m venv .build/bench/venv && .build/bench/venv/bin/pip install --quiet matplotlib >&2
    fi
fi
exec "$python" "$(dirname "$0")/plot.py" "$@"
