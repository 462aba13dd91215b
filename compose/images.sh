#!/usr/bin/env bash
# usage: compose/images.sh          builds the image localhost/heliograph:COMMIT, also named :latest
#
#   ENGINE=docker|podman    the first one that answers
#   BUILD_IMAGE, BASE_IMAGE the images that the Containerfile begins with; the official ones
#   BUILD_OPTIONS           further options of the engine's build, such as --network host
#   PROGRAMS=host           compiles outside, with the toolchain of this machine, instead of in BUILD_IMAGE
#   TAG=NAME                another name instead of the commit
set -euo pipefail
cd "$(dirname "$0")/.."
say() { echo "images: $*" >&2; }

engine=${ENGINE:-}
for candidate in docker podman; do
    [ -n "$engine" ] || { "$candidate" info >/dev/null 2>&1 && engine=$candidate; } || true
done
if [ -z "$engine" ]; then
    say "there is no engine: neither docker nor podman answers"
    exit 1
fi

commit=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
version=$(sed -n 's/.*static let version = "\(.*\)"/\1/p' Shared/Model/Release.swift)
tag=${TAG:-$commit}
read -ra options <<<"${BUILD_OPTIONS:-}"
arguments=(${options[@]+"${options[@]}"} --build-arg "COMMIT=$commit" --build-arg "VERSION=$version")
[ -z "${BUILD_IMAGE:-}" ] || arguments+=(--build-arg "BUILD_IMAGE=$BUILD_IMAGE")
[ -z "${BASE_IMAGE:-}" ] || arguments+=(--build-arg "BASE_IMAGE=$BASE_IMAGE")

if [ "${PROGRAMS:-build}" = host ]; then
    out=${OUT:-.build/image}
    [ -n "${BUILT:-}" ] || compose/programs.sh "$out"
    tar -C "$out" -c --owner=0 --group=0 --transform='s|^|out/|S' root symbols data |
        "$engine" import - localhost/heliograph-programs:latest >/dev/null
    containerfile() { sed 's|--from=build |--from=localhost/heliograph-programs:latest |; /^FROM .* AS build$/,/^RUN RTM_COMMIT/d' Containerfile; }
else
    containerfile() { cat Containerfile; }
fi

containerfile | "$engine" build "${arguments[@]}" --file - --tag "localhost/heliograph:$tag" .
"$engine" tag "localhost/heliograph:$tag" localhost/heliograph:latest
say "built localhost/heliograph:$tag, $("$engine" image inspect --format '{{.Size}}' "localhost/heliograph:$tag" |
    awk '{ printf "%.0f MB", $1 / 1e6 }')"
