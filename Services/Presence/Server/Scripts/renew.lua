-- Keeps a lease alive.
-- KEYS  1 leases (zset, when they end), 2 known (set)    ARGV  1 lease, 2 when it ends
-- Result: 1 if its members have been reported and it hasn't ended since. Cost: O(log leases).
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
return redis.call('SISMEMBER', KEYS[2], ARGV[1])
