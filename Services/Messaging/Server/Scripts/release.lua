-- Ends this node's lease, so that the next one needn't wait for it.
-- KEYS  1 head (hash)    ARGV  1 token, 2 the last batch, 3 run of this server, 4 the node that is to lead
-- Result: 1; 0 if another node leads, or if this server hasn't got all that the leader knows to be written.
-- Cost: O(1).
local head = redis.call('HMGET', KEYS[1], 'token', 'last', 'run')
if head[1] ~= ARGV[1] or head[2] ~= ARGV[2] or head[3] ~= ARGV[3] then return 0 end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'until', time[1] * 1000 + math.floor(time[2] / 1000), 'heir', ARGV[4])
return 1
