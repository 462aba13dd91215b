#!/usr/bin/env bash
# Writes protocol/generated from protocol/schema: C with protoc-c (Debian: protobuf-c-compiler, protobuf-compiler) for the
# services, Swift with protoc-gen-swift for the client library. With --check it writes elsewhere and compares: exit 1 when
# what is committed is not what the generators write, exit 3 when a generator is missing.
#
# protoc-gen-swift: git clone --branch 1.39.0 https://github.com/apple/swift-protobuf.git, then
# swift build -c release --product protoc-gen-swift, and put it on the PATH.
set -euo pipefail
cd "$(dirname "$0")"

for tool in protoc protoc-c protoc-gen-swift; do
    command -v "$tool" >/dev/null || { echo "generate.sh: $tool is not installed" >&2; exit 3; }
done

generated=$PWD/generated
if [ "${1:-}" = --check ]; then
    generated=$(mktemp -d)
    trap 'rm -rf "$generated"' EXIT
fi

rm -rf "$generated/c" "$generated/swift"
mkdir -p "$generated/c/include" "$generated/swift"
cd schema
schemas=$(find client service -name '*.proto' | sort)
# shellcheck disable=SC2086
protoc-c --c_out="$generated/c/include" $schemas
# shellcheck disable=SC2086
protoc --swift_out="$generated/swift" --swift_opt=Visibility=Package $schemas
# The C sources lie beside the include folder, so that the package exports the headers alone.
for schema in $schemas; do
    mkdir -p "$generated/c/$(dirname "$schema")"
    mv "$generated/c/include/${schema%.proto}.pb-c.c" "$generated/c/${schema%.proto}.pb-c.c"
done
{
    echo '// All generated C messages; only Shared/Wire imports them.'
    for schema in $schemas; do echo "#include \"${schema%.proto}.pb-c.h\""; done
} > "$generated/c/include/messages.h"
printf 'module RTMProtocolC {\n    header "messages.h"\n    export *\n}\n' > "$generated/c/include/module.modulemap"

[ "$generated" = "$OLDPWD/generated" ] || diff -r "$generated" "$OLDPWD/generated"
