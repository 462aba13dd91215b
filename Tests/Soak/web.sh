#!/usr/bin/env bash
# The console's tail and the sample for an hour (MINUTES): memory, and every message accounted for.
set -euo pipefail
cd "$(dirname "$0")/../.."
.ci/setup tests
[ -n "${HELIOGRAPH_RELEASE:-}" ] || swift build
HELIOGRAPH_RELEASE=${HELIOGRAPH_RELEASE:-$(swift build --show-bin-path)} MINUTES=${MINUTES:-60} exec node Tests/Web/hour.js
