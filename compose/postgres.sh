#!/bin/sh
# usage: postgres.sh primary|standby     runs a PostgreSQL of postgres.yaml, over the data in its working folder
#
# The primary's data are made at its first start, the standby's are a copy of the primary's. Each gets its name when it
# is whole, so that whoever is killed meanwhile begins anew.
set -eu
# Debian doesn't have the server's programs on the path.
PATH=$PATH:$(echo /usr/lib/postgresql/*/bin)
secret() { cat "/run/secrets/$1-password"; }

make_primary() {
    initdb -D new -U postgres --auth=trust --encoding=UTF8 --locale=C >/dev/null
    # Inside of its container everything is allowed to everybody; over the network two roles have a password.
    cat >new/pg_hba.conf <<RULES
local all all trust
host heliograph heliograph all scram-sha-256
host replication standby all scram-sha-256
RULES
    # In this mode each line is a statement.
    postgres --single -D new postgres >/dev/null <<ROLES
CREATE ROLE heliograph LOGIN PASSWORD '$(secret database)'
CREATE ROLE standby LOGIN REPLICATION PASSWORD '$(secret standby)'
CREATE DATABASE heliograph OWNER heliograph
ROLES
}

make_standby() {
    PGPASSWORD=$(secret standby)
    export PGPASSWORD
    # -R writes down that it is a standby, of whom, and the password.
    until pg_basebackup -D new -R -X stream -c fast -d 'host=postgres user=standby'; do
        sleep 1
        rm -rf new
    done
}

if [ ! -d data ]; then
    rm -rf new
    "make_$1"
    mv new data
fi
# A commit waits until the standby has it, too, which calls itself by its cluster_name. Once it is promoted it has none itself,
# and waits for nobody.
standbys=
[ "$1" = standby ] || standbys=standby
# What a standby that was away may have missed is kept, up to this much.
exec postgres -D data -c listen_addresses='*' -c unix_socket_directories=/tmp \
    -c cluster_name="$1" -c synchronous_standby_names="$standbys" -c wal_keep_size=256MB
