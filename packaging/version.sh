#!/usr/bin/env bash
# usage: packaging/version.sh     prints the version of a Debian package of this commit, such as 0.2.0+git20261125.143218.e90dc555
#
# Of two commits with the same version the later one is newer for apt: the time of the commit, in UTC, comes before its name.
set -euo pipefail
version=$(sed -n 's/.*static let version = "\(.*\)"/\1/p' "$(dirname "$0")/../Shared/Model/Release.swift")
commit=$(TZ=UTC git log -1 --format=%cd.%h --date=format-local:%Y%m%d.%H%M%S --abbrev=12 2>/dev/null) ||
    commit=$(date -u +%Y%m%d.%H%M%S).unknown
echo "$version+git$commit"
