#!/usr/bin/env bash
# Runs against a server of this build what others make of docs/http/openapi.yaml (`make test-http-api`): a client that
# openapi-python-client generates, and then schemathesis, whose right and wrong requests have to get answers of the document.
#
#   EXAMPLES=100   requests of each kind for each operation
#   SEED=1         the same requests again
set -euo pipefail
cd "$(dirname "$0")/../.."
env=.build/python-http
programs=$(swift build --show-bin-path)

made_of=$(sha256sum <Tests/HTTP/requirements.txt)
if [ "$(cat "$env/made-of" 2>/dev/null)" != "$made_of" ]; then
    rm -rf "$env"
    python3 -m venv "$env"
    "$env/bin/pip" install --quiet --disable-pip-version-check --requirement Tests/HTTP/requirements.txt
    echo "$made_of" >"$env/made-of"
fi

data=$(mktemp -d)
made=$("$programs/rtm" key create '*/admin' --json)
key=$(printf %s "$made" | grep -o 'rtmk_[0-9A-Za-z_]*')
printf %s "$made" | sed -n 's/.*"line":"\([^"]*\)".*/\1/p' >"$data/keys"
RTM_GATEWAY_KEYS_FILE="$data/keys" "$programs/rtm-standalone" --listen 127.0.0.1:0 --admin 127.0.0.1:0 --gateway-listen 127.0.0.1:7959 --edge-web-socket-listen 127.0.0.1:0 --data "$data" \
    --gateway-rates-key 0 --gateway-rates-app 0 >"$data/out" 2>"$data/log" &
server=$!
trap 'kill $server; wait $server 2>/dev/null || true; rm -rf "$data"' EXIT
for _ in $(seq 100); do
    grep -q '"message":"started"' "$data/log" && break
    kill -0 $server || { cat "$data/log" >&2; exit 1; }
    sleep 0.1
done

"$env/bin/openapi-python-client" generate --path docs/http/openapi.yaml --output-path "$data/generated" --meta none \
    --config Tests/HTTP/generator.yaml --fail-on-warning
PYTHONPATH=$data "$env/bin/python" Tests/HTTP/generated_calls.py http://127.0.0.1:7959 "$key"

# What a body may be beyond its schema (names, lengths in bytes) is refused with 400, so an accepted answer isn't expected of
# every request that fits the schema; and one that doesn't fit may name something that isn't there.
repository=$PWD
# It leaves notes of its own where it runs.
cd "$data"
"$repository/$env/bin/schemathesis" --config-file "$repository/Tests/HTTP/schemathesis.toml" \
    run "$repository/docs/http/openapi.yaml" \
    --url http://127.0.0.1:7959 --header "Authorization: Bearer $key" --max-examples "${EXAMPLES:-100}" \
    --seed "${SEED:-1}" --no-color "$@"
