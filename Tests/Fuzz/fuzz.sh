#!/usr/bin/env bash
# Builds rtm-fuzz with libFuzzer and AddressSanitizer, apart from all other builds, and runs each target for SECONDS_EACH
# seconds, from the kept corpus and from what earlier runs have found. Fails when an input makes a target trap, read where
# it may not, disagree with itself or take long; says where that input is.
#   TARGETS='request link'  not all      KEEP=1  merges into the kept corpus, up to 32 files for each target
#   FUZZED=wire  leaves out broker, http and configuration, and what only they need
#   CONFIGURATION=debug  compiles in half of the time
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${SECONDS_EACH:-300}
servers=$([ "${FUZZED:-}" = wire ] || echo 'broker http configuration')
read -ra targets <<<"${TARGETS:-request call link message service stream websocket token jwt $servers}"
for target in "${targets[@]}"; do
    if [[ -z $servers && " broker http configuration " == *" $target "* ]]; then
        echo "fuzz: FUZZED=wire leaves out $target" >&2
        exit 2
    fi
done
configuration=${CONFIGURATION:-release}
scratch=.build/fuzz
found=$scratch/found
corpus=Tests/Fuzz/corpus
kept_max=32

# gold, the usual linker, can't link libFuzzer's archive.
swift build -c "$configuration" --scratch-path "$scratch" --product rtm-fuzz -Xswiftc -DFUZZING -Xswiftc -use-ld=lld \
    -Xswiftc -sanitize=fuzzer,address -Xcc -fsanitize=fuzzer-no-link,address

# Swift's own report of a crash would come before libFuzzer has kept the input.
export SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
fuzz() { FUZZ_TARGET=$1 "$scratch/$configuration/rtm-fuzz" "${@:2}"; }

failed=()
mkdir -p "$found/bad"
for target in "${targets[@]}"; do
    mkdir -p "$found/$target" "$corpus/$target"
    log=$found/$target.log
    echo "fuzz: $target for $seconds s"
    if ! fuzz "$target" -max_total_time="$seconds" -max_len=1500 -timeout=10 -artifact_prefix="$found/bad/$target-" \
        "$found/$target" "$corpus/$target" >"$log" 2>&1; then
        failed+=("$target")
        grep -E "^$target:|ERROR|SUMMARY|Test unit written" "$log" >&2 || tail -20 "$log" >&2
        continue
    fi
    grep DONE "$log" | sed 's/^/    /'
    if [ -n "${KEEP:-}" ]; then
        rm -rf "$found/kept" && mkdir "$found/kept"
        fuzz "$target" -set_cover_merge=1 -use_counters=0 "$found/kept" "$corpus/$target" "$found/$target" >"$log" 2>&1
        # What has a name of its own is kept for what it once did.
        find "$corpus/$target" -type f -regextype posix-extended -regex '.*/[0-9a-f]{40}' -delete
        # The largest reach most. The others stay in $found and are used by the next run here.
        find "$found/kept" -type f -printf '%s %p\n' | sort -k1,1nr -k2 | head -n "$kept_max" | cut -d' ' -f2- |
            xargs cp -t "$corpus/$target/"
    fi
done

if [ ${#failed[@]} -gt 0 ]; then
    echo "fuzz: ${failed[*]} went wrong; the inputs are in $found/bad, the reports in $found. To run one again:" >&2
    echo "    swift build --product rtm-fuzz && FUZZ_TARGET=${failed[0]} .build/debug/rtm-fuzz FILE" >&2
    exit 1
fi
