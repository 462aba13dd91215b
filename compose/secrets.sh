#!/usr/bin/env bash
# usage: compose/secrets.sh [NAME]   makes what the stack needs to keep secret, in compose/secrets, if it isn't there yet
#
#   link-secret   all services of the installation share it
#   apps          one line for each app whose clients may log in: ID, or ID:CERTIFICATE; the app `dev` at first
#   api-keys      one line for each API key, as `rtm key create` prints it; for the profile `gateway`
#   database-password, standby-password   of storage and of the standby in PostgreSQL; for postgres.yaml
#   tls-certificate.pem, tls-key.pem   for the profile `tls`: a certificate for NAME that is good for trying out
#
# The folder is open to its owner alone. The files in it can be read by the user of the containers, which has another
# number outside.
set -euo pipefail
cd "$(dirname "$0")"
name=${1:-localhost}
umask 077
mkdir -p secrets
cd secrets
for secret in link-secret database-password standby-password; do
    [ -f $secret ] || head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >$secret
done
[ -f apps ] || echo dev >apps
[ -f api-keys ] || : >api-keys
if [ ! -f tls-certificate.pem ] && command -v openssl >/dev/null; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=$name" \
        -addext "subjectAltName=DNS:$name" -keyout tls-key.pem -out tls-certificate.pem 2>/dev/null
fi
chmod 0444 ./*
