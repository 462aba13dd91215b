#!/usr/bin/env bash
# Makes .build/python, with which the clients that nobody here wrote run: a virtual environment with the packages of
# requirements.txt. Does nothing while it is up to date; fails when something is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."

env=.build/python
mkdir -p .build
exec 9>.build/python.lock
flock 9

made_of=$(cat Tests/Python/requirements.txt Tests/Python/setup.sh | sha256sum)
[ "$(cat "$env/made-of" 2>/dev/null)" != "$made_of" ] || exit 0

say() { echo "Tests/Python/setup.sh: $*" >&2; }

if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    say "Python with venv is missing; on Debian: apt-get install python3-venv"
    exit 1
fi
rm -rf "$env"
python3 -m venv "$env"
if ! "$env/bin/pip" install --quiet --disable-pip-version-check --requirement Tests/Python/requirements.txt; then
    say "pip could not install the packages of Tests/Python/requirements.txt"
    exit 1
fi
echo "$made_of" >"$env/made-of"
