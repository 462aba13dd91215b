#!/usr/bin/env bash
# usage: Tests/Python/setup.sh [FOLDER PACKAGES]
#
# Makes FOLDER a virtual environment of Python with the packages of the file PACKAGES: .build/python with those of
# requirements.txt, with which the clients that nobody here wrote run. Does nothing while it is up to date; fails when
# something is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."

env=${1:-.build/python}
packages=${2:-Tests/Python/requirements.txt}
mkdir -p "$(dirname "$env")"
exec 9>"$env.lock"
flock 9

made_of=$(cat "$packages" Tests/Python/setup.sh | sha256sum)
[ "$(cat "$env/made-of" 2>/dev/null)" != "$made_of" ] || exit 0

say() { echo "Tests/Python/setup.sh: $*" >&2; }

if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    say "Python with venv is missing; on Debian: apt-get install python3-venv"
    exit 1
fi
rm -rf "$env"
python3 -m venv "$env"
if ! "$env/bin/pip" install --quiet --disable-pip-version-check --requirement "$packages"; then
    say "pip could not install the packages of $packages"
    exit 1
fi
echo "$made_of" >"$env/made-of"
