#!/usr/bin/env bash
# usage: Tests/beside.sh PATIENT HURRIED
#
# Runs two commands at the same time. HURRIED has the machine for itself whenever it wants it, and what PATIENT prints comes at
# the end. It fails if one of them fails.
set -uo pipefail
cd "$(dirname "$0")/.."

# `swift build` waits for `swift test`, so the programs are looked for before.
HELIOGRAPH_RELEASE=${HELIOGRAPH_RELEASE:-$(swift build --show-bin-path)}
export HELIOGRAPH_RELEASE
printed=$(mktemp)
# In a group of its own, so that all of it ends with this script.
set -m
nice -n 19 bash -c "$1" >"$printed" 2>&1 &
patient=$!
set +m
trap 'kill -- "-$patient" 2>/dev/null; rm -f "$printed"' EXIT
hurried_status=0
bash -c "$2" || hurried_status=$?
patient_status=0
wait "$patient" || patient_status=$?
cat "$printed"
[ "$hurried_status" = 0 ] && exit "$patient_status"
exit "$hurried_status"
