-- Takes channels of a part that are due. Each is taken for one node; another node gets it only when this one hasn't looked
-- at it in time, because every change of a roster says anew when it is due. It is put behind part.lua.
-- KEYS  1 due, 2 part, 3 absent
-- ARGV  1 now, 2 until when the channels belong to this node, 3 how many to take, 4 the run of Redis
-- Result: when the data of the part began, then the channels. Cost: O(due * log n).
local born = readPart(KEYS[2], tonumber(ARGV[1]), ARGV[4])
local result = { int(born) }
for _, channel in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])) do
  redis.call('ZADD', KEYS[1], ARGV[2], channel)
  result[#result + 1] = channel
end
return result
