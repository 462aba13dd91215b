-- Ends this node's lease, so that the next one needn't wait for it.
-- KEYS  1 head (hash)    ARGV  1 token
-- Cost: O(1).
if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 0 end
return redis.call('HSET', KEYS[1], 'until', 0)
