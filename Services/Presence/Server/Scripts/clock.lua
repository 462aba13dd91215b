-- Gives the time that all presence nodes share, in milliseconds. It follows the clock of Redis but doesn't leap with it: a
-- clock that is set back would leave users listed for that long, and one that is set ahead would end all leases at once.
-- KEYS  1 clock (hash: seen = the time of Redis at the last call, time = the shared time then)    ARGV  1 the longest step
-- Result: the shared time. Cost: O(1).
local parts = redis.call('TIME')
local seen = tonumber(parts[1]) * 1000 + math.floor(tonumber(parts[2]) / 1000)
local last = redis.call('HMGET', KEYS[1], 'seen', 'time')
local time = seen
if last[1] then time = tonumber(last[2]) + math.max(0, math.min(seen - tonumber(last[1]), tonumber(ARGV[1]))) end
time = string.format('%.0f', time)
redis.call('HSET', KEYS[1], 'seen', string.format('%.0f', seen), 'time', time)
return time
