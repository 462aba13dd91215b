#!/usr/bin/env bash
# usage: compose/programs.sh OUT     builds what an image holds, into OUT:
#
#   OUT/root     the root of the image's own files: the executables, and the shared libraries that no base image brings
#   OUT/symbols  the symbols of the executables, for a debugger
#   OUT/data     storage's folder
#
# The Swift runtime and Foundation are shared libraries beside the executables. Linked into each of the seven executables they
# would take 280 MB more: most of it is Unicode's tables, of which one copy is enough. Storage on PostgreSQL is built in, so libpq
# and what it loads are there, too: 9 MB.
#
# It runs in the Containerfile's build stage, and outside of it where a toolchain is there (`make images PROGRAMS=host`).
# CONFIGURATION=debug takes the programs that the tests have run: CI compiles no others.
set -euo pipefail
out=$(realpath -m "${1:?usage: compose/programs.sh OUT}")
cd "$(dirname "$0")/.."

programs=$(cat packaging/programs)
configuration=${CONFIGURATION:-release}
[ "$configuration" = debug ] || POSTGRESQL=1 packaging/build.sh
built=$(swift build -c "$configuration" --show-bin-path)

rm -rf "$out"
mkdir -p "$out/root/usr/bin" "$out/symbols"
for program in $programs; do
    objcopy --only-keep-debug "$built/$program" "$out/symbols/$program.debug"
    strip -o "$out/root/usr/bin/$program" "$built/$program"
    (cd "$out/symbols" && objcopy --add-gnu-debuglink="$program.debug" "$out/root/usr/bin/$program")
done

# Each library lies where it lay: there the loader looks for it. Those of the C library are the base image's.
ldd "$out"/root/usr/bin/* | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -v -E '/(libc|libm|libdl|libpthread|librt|libresolv|libutil|ld-linux[^/]*)\.so' |
    while read -r library; do
        folder=$(realpath "$(dirname "$library")")
        install -D -m 0755 "$(realpath "$library")" "$out/root$folder/$(basename "$library")"
        strip "$out/root$folder/$(basename "$library")"
    done
# Clients and links over TLS trust what the system trusts.
install -D -m 0644 /etc/ssl/certs/ca-certificates.crt "$out/root/etc/ssl/certs/ca-certificates.crt"
# What is in it, by whom, and under which licences.
documents=$out/root/usr/share/doc/heliograph
install -D -m 0644 -t "$documents" LICENSE THIRD-PARTY-NOTICES
packaging/supply.py sbom --version "$(sed -n 's/.*static let version = "\(.*\)"/\1/p' Shared/Model/Release.swift)" \
    --commit "${RTM_COMMIT:-$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)}" \
    --root "$out/root" --copyrights "$documents/licenses" >"$documents/sbom.cdx.json"
# A volume that is mounted here takes over to whom the folder belongs.
mkdir -p "$out/data"
echo "This folder holds the database of rtm-storage." >"$out/data/README"
