#!/usr/bin/env bash
# Events and webhooks of separate processes that are killed; HELIOGRAPH_RELEASE=FOLDER takes programs that are there.
set -euo pipefail
cd "$(dirname "$0")/../.."
.ci/setup tests
[ -n "${HELIOGRAPH_RELEASE:-}" ] || packaging/build.sh
MINUTES=${MINUTES:-10} exec Tests/Webhooks/soak.py
