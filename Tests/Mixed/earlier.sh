#!/usr/bin/env bash
# usage: Tests/Mixed/earlier.sh COMMIT    builds the programs of an earlier commit, unless they are there, and prints the
# folder that has them (`make test-mixed`)
#
# The commit is checked out in a clone below .build-mixed, where all commits share one folder of what was built: a second
# one is compiled in a part of the time.
set -euo pipefail
cd "$(dirname "$0")/../.."
commit=$(git rev-parse --short=12 --verify "$1^{commit}")
folder=$PWD/.build-mixed
programs=$folder/$commit
if ! [ -x "$programs/rtm" ]; then
    echo "mixed: building $commit in $folder, which takes as long as a first build does" >&2
    [ -d "$folder/source" ] || git clone --quiet --shared --no-checkout . "$folder/source"
    git -C "$folder/source" fetch --quiet origin "$commit" 2>/dev/null || git -C "$folder/source" fetch --quiet
    git -C "$folder/source" checkout --quiet --detach "$commit"
    mkdir -p "$programs"
    for program in rtm-messaging rtm-presence rtm-storage rtm-edge rtm; do
        RTM_COMMIT=$commit swift build --package-path "$folder/source" --scratch-path "$folder/build" --product "$program" >&2
    done
    install "$folder"/build/debug/{rtm-messaging,rtm-presence,rtm-storage,rtm-edge,rtm} "$programs"
fi
echo "$programs"
