#!/bin/sh
# make docs: a static site of the client libraries' documentation, in .build/docs/site.
# BASE is the path under which a web server will show it, such as /heliograph.
set -eu
cd "$(dirname "$0")/.."
out=.build/docs
bin=$(swift build --show-bin-path)
swift build --target AgoraRtmKit
swift build --target RTMTestKit
rm -rf $out
mkdir -p $out/graphs
maps=
for map in "$bin"/*.build/module.modulemap .build/checkouts/*/Sources/*/include/module.modulemap \
    Shared/*/module.modulemap protocol/generated/c/include/module.modulemap; do
    [ -f "$map" ] && maps="$maps -Xcc -fmodule-map-file=$map"
done
target=$(swift -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p' | head -1)
site() {
    module=$1
    mkdir -p $out/graphs/"$module"
    # shellcheck disable=SC2086
    swift symbolgraph-extract -module-name "$module" -minimum-access-level public -target "$target" \
        -skip-synthesized-members -I "$bin/Modules" -Xcc -Iprotocol/generated/c/include $maps \
        -output-dir $out/graphs/"$module"
    rm -f $out/graphs/"$module"/*@*
    shift
    docc convert "$@" --additional-symbol-graph-dir $out/graphs/"$module" \
        --fallback-display-name "$module" --fallback-bundle-identifier "heliograph.$module" \
        --transform-for-static-hosting --hosting-base-path "${BASE:-/}" \
        --output-path $out/"$module".doccarchive
}
site RTMClient Clients/RTMClient/RTMClient.docc
site RTMModel
site AgoraRtmKit Clients/AgoraRtmKit/AgoraRtmKit.docc
site RTMTestKit TestKit/RTMTestKit.docc
docc merge $out/*.doccarchive --synthesized-landing-page-name Heliograph --output-path $out/site
echo "the site is in $out/site: python3 -m http.server --directory $out/site"
