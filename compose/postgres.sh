#!/bin/sh
# usage: postgres.sh primary|standby     runs a PostgreSQL of postgres.yaml, over the data in its working folder
#
# The primary's data are made at its first start, the standby's are a copy of the primary's. Each gets its name when it
# is whole, so that whoever is killed meanwhile begins anew.
#
# Two primaries would lose data, because each storage node takes the first one that it reaches. So a primary that starts again
# asks the other server before, and refuses to start if that was promoted meanwhile. It waits for an answer: without a standby
# it could keep nothing anyway. With an empty volume it becomes the standby of the one that was promoted.
set -eu
role=$1
other=postgres
[ "$role" = standby ] || other=postgres-standby
# Debian doesn't have the server's programs on the path.
PATH=$PATH:$(echo /usr/lib/postgresql/*/bin)
secret() { cat "/run/secrets/$1-password"; }

make_primary() {
    initdb -D new -U postgres --auth=trust --encoding=UTF8 --locale=C >/dev/null
    # Inside of its container everything is allowed to everybody; over the network two roles have a password.
    cat >new/pg_hba.conf <<RULES
local all all trust
host heliograph heliograph all scram-sha-256
host replication,postgres standby all scram-sha-256
RULES
    # In this mode each line is a statement.
    postgres --single -D new postgres >/dev/null <<ROLES
CREATE ROLE heliograph LOGIN PASSWORD '$(secret database)'
CREATE ROLE standby LOGIN REPLICATION PASSWORD '$(secret standby)'
CREATE DATABASE heliograph OWNER heliograph
ROLES
}

make_standby() {
    # -R writes down that it is a standby, of whom, and the password.
    until pg_basebackup -D new -R -X stream -c fast -d "host=$other user=standby"; do
        sleep 1
        rm -rf new
    done
}

# Whether the other server is a standby, t or f; nothing if it doesn't answer.
is_standby() {
    psql -A -t -d "host=$other user=standby dbname=postgres connect_timeout=2" -c 'SELECT pg_is_in_recovery()' || true
}

PGPASSWORD=$(secret standby)
export PGPASSWORD
if [ "$role" = primary ] && [ ! -f data/standby.signal ]; then
    answer=$(is_standby)
    while [ -d data ] && [ -z "$answer" ]; do
        sleep 1
        answer=$(is_standby)
    done
    if [ -d data ] && [ "$answer" = f ]; then
        echo "$other was promoted. What this server has is older: remove its volume, and it becomes the standby" >&2
        exit 1
    fi
    [ "$answer" != f ] || role=standby
fi
if [ ! -d data ]; then
    rm -rf new
    "make_$role"
    mv new data
fi
# A commit waits until the standby has it, too, which calls itself by its cluster_name. Who was promoted waits for nobody, unless
# ALTER SYSTEM says so.
set --
[ "$role" = standby ] || [ -f data/standby.signal ] || set -- -c synchronous_standby_names=standby
# What a standby that was away may have missed is kept, up to this much.
exec postgres -D data -c listen_addresses='*' -c unix_socket_directories=/tmp -c cluster_name=standby -c wal_keep_size=256MB "$@"
