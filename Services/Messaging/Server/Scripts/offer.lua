-- Names the successor, and answers how far it has read. The successor reads the journal ahead while the leader still serves.
-- KEYS  1 head (hash)
-- ARGV  1 leader token, 2 the successor, 3 for how many ms the offer holds, if it isn't repeated
-- Result: the last batch that the successor has read, 0 if it has read none; -1 if another node leads.
-- Cost: O(1).
local head = redis.call('HMGET', KEYS[1], 'leaderToken', 'successor', 'ahead')
if head[1] ~= ARGV[1] then return -1 end
local time = redis.call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[3]
local ahead = head[2] == ARGV[2] and tonumber(head[3]) or 0
redis.call('HSET', KEYS[1], 'successor', ARGV[2], 'ahead', ahead, 'offered', ends)
return ahead
