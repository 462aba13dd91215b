#!/usr/bin/env bash
# usage: Tests/Compose/base.sh      makes the images that the tests begin with, of Debian's packages, if they aren't there
#
#   localhost/heliograph-base    what an image of ours needs below it: a C library
#   localhost/heliograph-tools   that, and Redis and HAProxy in the place of their official images
#   localhost/heliograph-prometheus   and Prometheus in the place of its one
#   localhost/heliograph-postgres     and PostgreSQL
#
# No registry of images is needed for that, and podman alone runs it: `import` makes an image of an archive.
set -euo pipefail
engine=${ENGINE:-podman}
release=bookworm
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The documents are left out, as they are from the official slim image.
lean=(--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*'
    --dpkgopt='path-exclude=/usr/share/doc/*' --aptopt='Apt::Install-Recommends "false"')

make() {
    local name=$1 variant=$2
    shift 2
    "$engine" image exists "localhost/$name" && return
    mmdebstrap --quiet --variant="$variant" "${lean[@]}" "$@" "$release" "$folder/$name.tar"
    "$engine" import "$folder/$name.tar" "localhost/$name:latest" >/dev/null
    rm "$folder/$name.tar"
}

make heliograph-base essential
# Nothing starts inside; the official image of Redis has its data in /data, which belongs to user 999.
make heliograph-tools essential --include=redis-server,redis-tools,haproxy \
    --customize-hook='install -d -o 999 -g 999 "$1/data"'
make heliograph-prometheus essential --include=prometheus \
    --customize-hook='install -d -o 65534 -g 65534 "$1/prometheus"'
# As in the official image, the server's user is 999, and its data lie in a folder of that user. Debian's package would make data
# of its own.
make heliograph-postgres essential --include=postgresql-15 \
    --essential-hook='mkdir -p "$1/etc/postgresql-common" && echo "create_main_cluster = false" >"$1/etc/postgresql-common/createcluster.conf"' \
    --customize-hook='chroot "$1" usermod --uid 999 postgres && chroot "$1" groupmod --gid 999 postgres' \
    --customize-hook='install -d -o 999 -g 999 -m 0700 "$1/var/lib/postgresql/data"'
