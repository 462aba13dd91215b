-- Takes leases that have ended, as `claim` takes channels. From now on they are unknown, so their edges report their members again.
-- KEYS  1 leases, 2 known, 3 absent (part.lua)    ARGV  1 now, 2 until when the leases belong to this node, 3 how many to take
-- Result: the leases. Cost: O(ended * log leases).
local ended = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, lease in ipairs(ended) do
  redis.call('SREM', KEYS[2], lease)
  redis.call('ZADD', KEYS[1], ARGV[2], lease)
end
return ended
