#!/usr/bin/env bash
# usage: Tests/Compose/build-image.sh      makes localhost/heliograph-build, in the place of the official image of Swift, if it isn't
#                                          there, and prints the options with which a build in it finds what it needs
#
# The image has the Debian packages that the toolchain needs, as the official one has them. The toolchain itself is this
# machine's, which is mounted for the build. Where this machine takes packages of Swift from a copy, so does the build.
set -euo pipefail
engine=${ENGINE:-podman}
toolchain=$(cd "$(dirname "$(readlink -f "$(command -v swift)")")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if ! "$engine" image exists localhost/heliograph-build; then
    mmdebstrap --quiet --variant=minbase --aptopt='Apt::Install-Recommends "false"' \
        --include=binutils,ca-certificates,gcc,git,libc6-dev,libcurl4,libedit2,libncurses6,libpython3.11,libsqlite3-0,libstdc++-12-dev,libxml2,tzdata,zlib1g-dev \
        bookworm "$folder/build.tar"
    "$engine" import --change "ENV PATH=$toolchain/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
        "$folder/build.tar" localhost/heliograph-build:latest >/dev/null
fi

options=(--network host --volume "$toolchain:$toolchain:ro")
copies=$(git config --system --get-regexp '^url\./.*\.insteadof$' | sed 's/^url\.\(.*\)\.insteadof .*/\1/' | sort -u) || true
for place in $copies; do options+=(--volume "$place:$place:ro"); done
[ -z "$copies" ] || options+=(--volume /etc/gitconfig:/etc/gitconfig:ro)
echo "${options[@]}"
