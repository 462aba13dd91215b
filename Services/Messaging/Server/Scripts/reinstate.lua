-- Goes on after Redis may have lost something: this node leads under a new token, so that nothing it sent before counts. The
-- journal isn't whole until the leader says so with a batch, because nobody else knows what it should have. A server that came back
-- with older data may know of an earlier lead only: its term says so, and its batches aren't those of this leader. Who has nothing
-- to write again never takes the lead from another node. Another node may have been given the lead by the server before this one, and
-- may never have heard of it: if it has written nothing, the leader before it goes on, because it has the shard in memory.
-- KEYS  1 head (hash), 2 batches (stream)
-- ARGV  1 the new token, 2 the token before, 3 node, 4 lease in ms, 5 run of this server, 6 whether to begin an empty journal,
--       7 whether that is whole, 8 term, 9 epoch, 10 secret, 11 the layout of the channels, 12 as 10 of take.lua
-- Result: {'done', last batch}, or {'ended'} if another node leads. It may be run twice.
-- Cost: O(1), or O(batches) if the journal is emptied.
local time = redis.call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[4]
local head = redis.call('HMGET', KEYS[1], 'token', 'last', 'term', 'run', 'before', 'base')
local isOwn = head[1] == ARGV[2] or head[1] == ARGV[1]
local isUnused = head[4] ~= ARGV[5] and head[5] == ARGV[2] and head[6] == head[2]
local isLater = tonumber(head[3] or 0) >= tonumber(ARGV[8]) and not isUnused
if head[1] and not isOwn and (ARGV[7] == '1' or isLater) then return {'ended'} end
redis.call('HSET', KEYS[1], 'term', ARGV[8], 'token', ARGV[1], 'node', ARGV[3], 'until', ends, 'run', ARGV[5],
  'epoch', ARGV[9], 'secret', ARGV[10], 'layout', ARGV[11], 'heir', '', 'handed', '', 'doubt', '',
  'before', '', 'base', '', 'whole', ARGV[6] == '1' and ARGV[7] or 0, 'confirms', ARGV[12])
if ARGV[6] == '1' or not isOwn then
  redis.call('UNLINK', KEYS[2])
  redis.call('HSET', KEYS[1], 'last', 0)
  return {'done', '0'}
end
return {'done', head[2]}
