-- Takes due entries of a sorted set. Each entry is taken for one node; another node gets it only when this one hasn't
-- finished in time. A node that marks an entry meanwhile lowers its score, and `settle` then leaves the entry alone.
-- KEYS  1 zset    ARGV  1 now, 2 until when the entries belong to this node, 3 how many to take
-- Result: the members. Cost: O(due * log n).
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, member in ipairs(due) do redis.call('ZADD', KEYS[1], ARGV[2], member) end
return due
