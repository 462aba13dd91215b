-- Names the node that is to lead next. It reads ahead what is in the journal while this one still leads.
-- KEYS  1 head (hash)    ARGV  1 token, 2 that node, 3 for how many ms the offer holds, if it isn't repeated
-- Result: the last batch that it has read, 0 if it has read none; -1 if another node leads.
-- Cost: O(1).
local head = redis.call('HMGET', KEYS[1], 'token', 'heir', 'ahead')
if head[1] ~= ARGV[1] then return -1 end
local time = redis.call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[3]
local ahead = head[2] == ARGV[2] and tonumber(head[3]) or 0
redis.call('HSET', KEYS[1], 'heir', ARGV[2], 'ahead', ahead, 'offered', ends)
return ahead
