#!/usr/bin/env bash
# Measures Heliograph beside other servers and beside the ceiling, a broker that only copies bytes to sockets: server
# pinned to one core, load generator to another, all servers in turn within each run. Prints one table per workload.
#
# usage: BENCH=harness/folder Tests/Benchmarks/peers/run.sh
#   QUICK=1       one run of a second or two per workload and fewer idle sessions: a look, not a figure to quote
#   SERVERS=a,b   default null,heliograph,heliograph-4,redis,nats,mosquitto
#   TLS_SERVERS=  default heliograph-tls,redis-tls,nats-tls, or none if there is SERVERS
#   RUNS=1,2,3    QUICK: 1
#   ONLY=a,b      only these workloads, for example w1_100_1,w2_500_W8
#   PARTS=a,b     default A,W4,W5,TLS. A is w1 to w3; TLS is w1_100_1 and w2_500_W8 with TLS on; SW is w1 and w2 with
#                 several windows
#   BENCH_OUT     folder for binaries and results.jsonl, to which every run appends; default .build/bench-peers
set -euo pipefail
cd "$(dirname "$0")/../../.."

bench=${BENCH:-../shared/bench}
here=$PWD/Tests/Benchmarks/peers
export HELIOGRAPH_RELEASE=${HELIOGRAPH_RELEASE:-$PWD/.build/release}
export BENCH_OUT=${BENCH_OUT:-$PWD/.build/bench-peers}
export BENCH_SERVERS=$here/servers_heliograph.py PYTHONDONTWRITEBYTECODE=1
servers=${SERVERS:-null,heliograph,heliograph-4,redis,nats,mosquitto}
tls_servers=${TLS_SERVERS:-}
[ -n "${SERVERS:-}${TLS_SERVERS:-}" ] || tls_servers=heliograph-tls,redis-tls,nats-tls
parts=${PARTS:-A,W4,W5,TLS}

without() { tr , '\n' <<<"$1" | grep -vxF "$2" | paste -sd, || true; }
both() { tr , '\n' <<<"$1" | grep -xF "$(tr , '\n' <<<"$2")" | paste -sd, || true; }
plain_parts=$(without "$parts" TLS)
tls_tests=$(both w1_100_1,w2_500_W8 "${ONLY:-w1_100_1,w2_500_W8}")
[ -n "$plain_parts" ] || servers=
[[ ,$parts, == *,TLS,* ]] && [ -n "$tls_tests" ] || tls_servers=

fail() { echo "bench-peers: $*" >&2; exit 1; }

[ -f "$bench/loadgen/lg.h" ] || fail "there is no measuring harness in $bench; name its folder: make bench-peers BENCH=FOLDER"
[ "$(nproc)" -ge 2 ] || fail "this needs two processor cores, one for the server and one for the load generator"

# Servers that aren't measured needn't be installed.
missing=()
need() { PATH=$PATH:/usr/sbin command -v "$2" >/dev/null || missing+=("$1"); }
need gcc gcc
need make make
need python3 python3
need util-linux taskset
[ -f /usr/include/openssl/ssl.h ] || missing+=(libssl-dev)
all=,$servers,$tls_servers,
[[ $all != *,redis* ]] || need redis-server redis-server
[[ $all != *,nats* ]] || need nats-server nats-server
[[ $all != *,mosquitto* ]] || need mosquitto mosquitto
[ -z "$tls_servers" ] || need openssl openssl
[ ${#missing[@]} -eq 0 ] || fail "missing: ${missing[*]}. On Debian: apt-get install ${missing[*]}"

for program in standalone edge messaging presence storage; do
    [ -x "$HELIOGRAPH_RELEASE/rtm-$program" ] || fail "$HELIOGRAPH_RELEASE/rtm-$program isn't there: make build"
done

export PATH=$PATH:/usr/sbin
mkdir -p "$BENCH_OUT"
make --no-print-directory -C "$bench" BENCH_OUT="$BENCH_OUT" ADAPTERS="$here/adapter_heliograph.c" >&2
descriptors=$(ulimit -Hn)
[ "$descriptors" = unlimited ] || [ "$descriptors" -ge 12000 ] ||
    fail "w4 needs 12,000 open files and the limit is $descriptors: raise it with ulimit -n"
ulimit -n "$descriptors" 2>/dev/null || true

# The peers with TLS and ours have one certificate, signed by itself: the generator doesn't check it.
[ -z "$tls_servers" ] || [ -f "$BENCH_OUT/run/tls/cert.pem" ] ||
    make --no-print-directory -C "$bench" BENCH_OUT="$BENCH_OUT" tls >&2

before=$(wc -l 2>/dev/null <"$BENCH_OUT/results.jsonl" || echo 0)
BENCH=$bench
export BENCH
script=$bench/run.py runs=${RUNS:-1,2,3}
[ -z "${QUICK:-}" ] || { script=$here/quick.py runs=${RUNS:-1}; }
measure() { python3 "$script" --modes pin --runs "$runs" "$@" >&2; }
[ -z "$servers" ] || measure --groups "$plain_parts" --servers "$servers" --only "${ONLY:-}"
[ -z "$tls_servers" ] || measure --groups A --servers "$tls_servers" --only "$tls_tests"
tail -n "+$((before + 1))" "$BENCH_OUT/results.jsonl" >"$BENCH_OUT/last.jsonl"
python3 "$bench/agg.py" "$BENCH_OUT/last.jsonl"
echo
python3 "$here/ratios.py" "$BENCH_OUT/last.jsonl" "$servers,$tls_servers"
