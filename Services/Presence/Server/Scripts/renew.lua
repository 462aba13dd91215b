-- Keeps a lease alive.
-- KEYS  1 leases (zset, when they end), 2 known (set), 3 link (hold.lua), 4 absent (part.lua)
-- ARGV  1 lease, 2 when it ends, 3 the number of the edge's link; 0 = unknown
-- Result: 1 if its members have been reported and it hasn't ended since, otherwise 0; 3 if the edge uses a newer link by now.
-- Cost: O(log leases).
if ARGV[3] ~= '0' then
  local newest = redis.call('GET', KEYS[3])
  if newest and tonumber(newest) > tonumber(ARGV[3]) then return 3 end
end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])
return redis.call('SISMEMBER', KEYS[2], ARGV[1])
