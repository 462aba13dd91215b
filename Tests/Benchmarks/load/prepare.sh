# For bench-peers and bench-growth, which source this file after setting `here` (for messages), BENCH_OUT and `servers`, the names
# of the servers that are to be measured. It checks what is needed, names the Debian packages that are missing and installs
# nothing; then it builds the load generator and the ceiling, makes the certificate, and raises the limit of open files.

fail() { echo "$here: $*" >&2; exit 1; }

export PATH=$PATH:/usr/sbin PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH=$PWD/Tests/Benchmarks/load
load=$PWD/Tests/Benchmarks/load

[ "$(nproc)" -ge 2 ] || fail "this needs two processor cores, one for the server and one for the load generator"

missing=()
need() { command -v "$2" >/dev/null || missing+=("$1"); }
need gcc gcc
need make make
need python3 python3
need util-linux taskset
[ -f /usr/include/openssl/ssl.h ] || missing+=(libssl-dev)
# A server that isn't measured needn't be installed.
[[ ,$servers, != *,redis* ]] || need redis-server redis-server
[[ ,$servers, != *,mosquitto* ]] || need mosquitto mosquitto
[[ ,$servers, != *-tls,* ]] || need openssl openssl
[ ${#missing[@]} -eq 0 ] || fail "missing: ${missing[*]}. On Debian: apt-get install ${missing[*]}"

# HELIOGRAPH_RELEASE=FOLDER takes programs that are there.
[ -n "${HELIOGRAPH_RELEASE:-}" ] || packaging/build.sh >&2
export HELIOGRAPH_RELEASE=${HELIOGRAPH_RELEASE:-$PWD/.build/release}
for program in standalone edge messaging presence storage; do
    [ -x "$HELIOGRAPH_RELEASE/rtm-$program" ] || fail "$HELIOGRAPH_RELEASE/rtm-$program isn't there: make build"
done

descriptors=$(ulimit -Hn)
[ "$descriptors" = unlimited ] || [ "$descriptors" -ge 12000 ] ||
    fail "this needs 12,000 open files and the limit is $descriptors: raise it with ulimit -n"
ulimit -n "$descriptors" 2>/dev/null || true

mkdir -p "$BENCH_OUT"
[[ ,$servers, != *,nats* && ,$servers, != *,jetstream,* && ,$servers, != *,valkey,* && ,$servers, != *,streams,* ]] ||
    Tests/Python/setup.sh "$BENCH_OUT/peers" Tests/Benchmarks/load/peers.txt
make --no-print-directory -C "$load" BENCH_OUT="$BENCH_OUT" check >&2
[[ ,$servers, != *-tls,* ]] || make --no-print-directory -C "$load" BENCH_OUT="$BENCH_OUT" certificate >&2
