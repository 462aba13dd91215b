#!/usr/bin/env bash
# usage: packaging/deb.sh [FOLDER]   makes the Debian package `heliograph` in FOLDER, .build/deb if none is given
#
#   DEBFULLNAME, DEBEMAIL   whose package it is
#
# It holds all programs, their units for systemd, the completions of shells, examples of configuration, alerts and dashboards,
# and the Swift runtime, in a folder of its own. It
# depends on the packages of all other libraries that the programs load.
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in dpkg-shlibdeps patchelf objcopy; do
    command -v "$tool" >/dev/null || { echo "deb: $tool is missing: .ci/setup deb installs what this needs" >&2; exit 1; }
done
folder=$(realpath -m "${1:-.build/deb}")
commit=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
release=$(packaging/version.sh)-1
# dpkg-deb dates its files by that, and not by the day of the build.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
export SOURCE_DATE_EPOCH
architecture=$(dpkg --print-architecture)

maintainer="${DEBFULLNAME:-The Heliograph authors} <${DEBEMAIL:-heliograph@localhost}>"
stage=$folder/stage
rm -rf "$stage"
[ -n "${BUILT:-}" ] || compose/programs.sh .build/image
packaging/install.sh .build/image/root/usr/bin "$stage" /usr

# The runtime isn't in Debian, so it comes along, where no other program finds it.
own=$stage/usr/lib/heliograph
install -d "$own"
find .build/image/root -path '*/swift/linux/*.so' -exec install -m 0644 {} "$own" ';'
patchelf --set-rpath /usr/lib/heliograph "$stage"/usr/bin/* "$own"/*.so

documents=$stage/usr/share/doc/heliograph
install -d "$documents" "$stage/DEBIAN" "$stage/usr/share/man/man1" "$stage/usr/share/man/man8"
cat >"$documents/copyright" <<COPYRIGHT
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Heliograph

Files: *
Copyright: 2026 The Heliograph authors
License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.
Comment: The programs contain packages of others and come with the runtime of
 Swift. THIRD-PARTY-NOTICES.gz has their licences, sbom.cdx.json their versions.
COPYRIGHT
gzip -9nc THIRD-PARTY-NOTICES >"$documents/THIRD-PARTY-NOTICES.gz"
packaging/supply.py sbom --version "$release" --commit "$commit" >"$documents/sbom.cdx.json"
{
    echo "heliograph ($release) unstable; urgency=medium"
    printf '\n  * Built from commit %s.\n\n' "$commit"
    echo " -- $maintainer  $(git log -1 --format=%cD 2>/dev/null || date -R)"
} | gzip -9n >"$documents/changelog.Debian.gz"
install -m 0644 docs/operations/*.md docs/configuration.md docs/metrics.md "$documents"
install -d "$documents/examples/dashboards"
install -m 0644 packaging/examples/* compose/observe/alerts.yaml "$documents/examples"
install -m 0644 compose/observe/dashboards/*.json "$documents/examples/dashboards"
install -d "$stage/usr/share/lintian/overrides"
cat >"$stage/usr/share/lintian/overrides/heliograph" <<'OVERRIDES'
# Yams, which reads our configuration, brings its own copy of libyaml.
heliograph: embedded-library libyaml *
# It isn't uploaded to Debian. Whoever hands it on says who they are with DEBEMAIL.
heliograph: initial-upload-closes-no-bugs *
heliograph: bogus-mail-host Maintainer heliograph@localhost
heliograph: bogus-mail-host-in-debian-changelog heliograph@localhost *
OVERRIDES

for program in "$stage"/usr/bin/*; do
    name=$(basename "$program")
    section=8
    [ "$name" = rtm ] && section=1
    packaging/manual.sh ".build/image/root/usr/bin/$name" "$section" | gzip -9n >"$stage/usr/share/man/man$section/$name.$section.gz"
done

# dpkg-shlibdeps wants a source package beside it.
mkdir -p "$folder/source/debian"
printf 'Source: heliograph\n\nPackage: heliograph\nArchitecture: any\n' >"$folder/source/debian/control"
depends=$(cd "$folder/source" && dpkg-shlibdeps -O --ignore-missing-info -l"$own" "$stage"/usr/bin/* "$own"/*.so 2>/dev/null | sed 's/^shlibs:Depends=//')
cat >"$stage/DEBIAN/control" <<CONTROL
Package: heliograph
Version: $release
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --exclude=DEBIAN "$stage" | cut -f1)
Depends: $depends, systemd | systemd-standalone-sysusers
Recommends: ca-certificates
Suggests: redis-server, haproxy
Section: net
Priority: optional
Description: self-hosted real-time messaging
 Five services, edge, messaging, presence, storage and the gateway for backends,
 and the command line rtm.
 Users log in, subscribe to channels, publish, and send messages to one another.
 .
 No service starts by itself: enable rtm-standalone for all of them in one
 process, or those that this machine should run.
CONTROL
cat >"$stage/DEBIAN/postinst" <<'SCRIPT'
#!/bin/sh
set -e
if [ "$1" = configure ]; then
    systemd-sysusers heliograph.conf
    systemd-tmpfiles --create heliograph.conf || true
    if [ -d /run/systemd/system ]; then
        systemctl daemon-reload
        # What runs goes on with the new version: each service drains first.
        [ -z "$2" ] || systemctl try-restart 'rtm-*.service'
    fi
fi
SCRIPT
cat >"$stage/DEBIAN/prerm" <<'SCRIPT'
#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    deb-systemd-invoke stop rtm-edge.service rtm-messaging.service rtm-presence.service rtm-storage.service rtm-gateway.service rtm-standalone.service
fi
SCRIPT
cat >"$stage/DEBIAN/postrm" <<'SCRIPT'
#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
fi
# The database and the secrets stay, unless the package is purged.
if [ "$1" = purge ]; then
    rm -rf /var/lib/heliograph /etc/heliograph
fi
SCRIPT
chmod 0755 "$stage"/DEBIAN/p*
dpkg-deb --root-owner-group --build "$stage" "$folder/heliograph_${release}_$architecture.deb" >&2
rm -rf "$folder/source"
