-- Lets another node lead: this one has written everything, and says nothing more. It asks again until another node leads, because
-- nobody else has the shard in memory before.
-- KEYS  1 head (hash)
-- ARGV  1 token, 2 the last batch, 3 run of this server, 4 the node that is to lead; empty: whoever comes, 5 lease in ms, for which
--       only that node may lead
-- Result: 'done'; 'ended' if another node leads; 'lost' if this server may not have all that the leader knows to be written.
-- Cost: O(1).
local head = redis.call('HMGET', KEYS[1], 'token', 'last', 'run')
if not head[1] or head[3] ~= ARGV[3] then return 'lost' end
if head[1] ~= ARGV[1] then return 'ended' end
if head[2] ~= ARGV[2] then return 'lost' end
local time = redis.call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + (ARGV[4] == '' and 0 or ARGV[5])
redis.call('HSET', KEYS[1], 'until', ends, 'heir', ARGV[4], 'handed', 1)
return 'done'
