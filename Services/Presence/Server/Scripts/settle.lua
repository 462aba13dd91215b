-- Moves or removes an entry of a sorted set, unless another node has moved it since it was read.
-- KEYS  1 zset    ARGV  1 member, 2 the score that was read, 3 the new score ('' = remove)
-- Result: 1 if the entry was moved or removed. Cost: O(log n).
local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not score or tonumber(score) ~= tonumber(ARGV[2]) then return 0 end
if ARGV[3] == '' then redis.call('ZREM', KEYS[1], ARGV[1]) else redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1]) end
return 1
