-- Takes entries of a sorted set that are due, each for one node: another one gets it only when this one hasn't finished
-- in time. Whoever marks an entry meanwhile lowers its score, and `settle` leaves it alone.
-- KEYS  1 zset    ARGV  1 now, 2 until when they are this node's, 3 how many
-- Result: the members. Cost: O(due * log n).
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, member in ipairs(due) do redis.call('ZADD', KEYS[1], ARGV[2], member) end
return due
