#!/usr/bin/env bash
# usage: packaging/build.sh [OPTION]…     builds the programs that are released, or the --product that is named
#
# Whatever is released or measured is built here, with the same flags: with other ones everything would be compiled again.
# Debug and test builds check exclusive access to memory at run time, and these don't (docs/decisions/0023). The flag isn't in Package.swift because SwiftPM refuses such flags in a package that is depended on.
set -euo pipefail
cd "$(dirname "$0")/.."
RTM_COMMIT=${RTM_COMMIT:-$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)}
export RTM_COMMIT
# The packages are those that were tested, with the same files.
packaging/supply.py pin
swift package resolve >&2
packaging/supply.py check
# The gateway has the web client's scripts in its binary.
Services/Gateway/Files/generate.py --scripts
case " $* " in *" --product "*) ;; *) EXECUTABLES=$(cat packaging/programs) && export EXECUTABLES ;; esac
exec swift build -c release -Xswiftc -enforce-exclusivity=unchecked "$@"
