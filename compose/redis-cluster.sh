#!/bin/sh
# usage: redis-cluster.sh SUBNET     makes a Redis Cluster of the nodes SUBNET.21 to SUBNET.26, unless they are one already
set -eu
nodes=""
for number in 21 22 23 24 25 26; do
    until redis-cli -h "$1.$number" ping >/dev/null 2>&1; do sleep 0.2; done
    nodes="$nodes $1.$number:6379"
done
if redis-cli -h "$1.21" cluster info | grep -q '^cluster_slots_assigned:16384'; then
    echo "the nodes are a Cluster already"
    exit 0
fi
# shellcheck disable=SC2086 # one word for each node
redis-cli --cluster create $nodes --cluster-replicas 1 --cluster-yes
