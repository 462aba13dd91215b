#!/usr/bin/env bash
# usage: protocol/generate.sh [--check]
#
# Writes from protocol/schema what the code is built on:
#   protocol/generated/c      the C codec that Shared/Wire decodes with (protoc-c)
#   protocol/generated/swift  the Swift codec of the client library (protoc-gen-swift)
#   protocol/generated/python the messages for the conformance suite and for tests in Python (protoc 3.21)
#   Shared/Wire/Schema        the messages as Wire writes and reads them (generate_wire.py)
#   Clients/web/src           the tables of the web client (generate_web.py)
# With --check it writes elsewhere and compares. It exits with 1 if what is committed is not what the generators write, and
# with 3 if a generator is missing.
#
# protoc and protoc-c come with Debian's protobuf-compiler and protobuf-c-compiler. protoc-gen-swift is built from source:
# git clone --branch 1.39.0 https://github.com/apple/swift-protobuf.git, then
# swift build -c release --product protoc-gen-swift, and put it on the PATH.
#
# The Python of protoc 3.21, which Debian 12 and 13 have, is accepted by every version of the package protobuf from 3.20 on. That
# of protoc 26 and newer refuses each protobuf that is older than itself, so with another protoc the committed files stay.
set -euo pipefail
cd "$(dirname "$0")"

for tool in protoc protoc-c protoc-gen-swift python3; do
    command -v "$tool" >/dev/null || { echo "generate.sh: $tool is not installed" >&2; exit 3; }
done

generated=$PWD/generated
messages=$(cd ../Shared/Wire && pwd)/Schema
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ "${1:-}" = --check ]; then
    committed_generated=$generated
    committed_messages=$messages
    generated=$scratch/generated
    messages=$scratch/messages
fi

rm -rf "$generated/c" "$generated/swift" "$messages"
mkdir -p "$generated/c/include" "$generated/swift" "$messages"
cd schema
schemas=$(find client service -name '*.proto' | sort)
# shellcheck disable=SC2086
protoc-c --c_out="$generated/c/include" $schemas
if protoc --version | grep --quiet '^libprotoc 3\.21\.'; then
    rm -rf "$generated/python"
    mkdir -p "$generated/python"
    # shellcheck disable=SC2086
    protoc --python_out="$generated/python" $schemas
    touch "$generated/python/client/__init__.py" "$generated/python/service/__init__.py"
else
    echo "generate.sh: $(protoc --version) is not 3.21, so protocol/generated/python is left as it is" >&2
    [ "${1:-}" != --check ] || cp -R "$committed_generated/python" "$generated/python"
fi
# shellcheck disable=SC2086
protoc --swift_out="$generated/swift" --swift_opt=Visibility=Package \
    --include_source_info --descriptor_set_out="$scratch/descriptors" $schemas
python3 -B ../generate_wire.py "$scratch/descriptors" "$messages"
# The C sources lie beside the include folder, so that the package exports the headers alone.
for schema in $schemas; do
    mkdir -p "$generated/c/$(dirname "$schema")"
    mv "$generated/c/include/${schema%.proto}.pb-c.c" "$generated/c/${schema%.proto}.pb-c.c"
done
{
    echo '// All generated C messages. Only Shared/Wire imports them.'
    for schema in $schemas; do echo "#include \"${schema%.proto}.pb-c.h\""; done
} > "$generated/c/include/messages.h"
python3 -B ../generate_web.py ${1:+"$1"}
printf 'module RTMProtocolC {\n    header "messages.h"\n    export *\n}\n' > "$generated/c/include/module.modulemap"

[ "${1:-}" != --check ] || { diff -r --exclude=__pycache__ "$generated" "$committed_generated" && diff -r "$messages" "$committed_messages"; }
