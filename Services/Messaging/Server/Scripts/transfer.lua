-- Lets the successor lead: the leader has written everything, and sends nothing more. It asks again until the successor leads, because
-- no other node has the shard in memory before that.
-- KEYS  1 head (hash)
-- ARGV  1 leader token, 2 the last batch, 3 history of this server, 4 the successor; empty: any node may lead, 5 lease in ms, for which
--       only the successor may lead
-- Result: 'done'; {'ended', term} if Redis has another leadership, of this term; 'lost' if this server may not have everything that the
--   leader has written.
-- Cost: O(1).
local head = redis.call('HMGET', KEYS[1], 'leaderToken', 'last', 'history', 'term')
if not head[1] or head[3] ~= ARGV[3] then return 'lost' end
if head[1] ~= ARGV[1] then return {'ended', head[4]} end
if head[2] ~= ARGV[2] then return 'lost' end
local time = redis.call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + (ARGV[4] == '' and 0 or ARGV[5])
redis.call('HSET', KEYS[1], 'until', ends, 'successor', ARGV[4], 'transferred', 1)
return 'done'
