-- Keeps a lease alive.
-- KEYS  1 leases (zset, when they end), 2 known (set)    ARGV  1 lease, 2 when it ends
-- Result: 1 if it had been renewed before and hasn't ended since. Cost: O(log leases).
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
return 1 - redis.call('SADD', KEYS[2], ARGV[1])
