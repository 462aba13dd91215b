-- Makes the leader the leader again after Redis may have lost something, under a new token, so that nothing counts that it sent
-- before. The journal isn't whole until the leader writes a batch that makes it whole, because no other node knows what it should
-- have. A server that came back with older data may know an earlier leadership only: its term shows that, and its batches aren't
-- those of this leader. A leader that has nothing to write again never replaces another node. The server before this one may have
-- given another node the leadership without that node having received the answer. If that node has written nothing, the leader before
-- it resumes, because it has the shard in memory. So it does if the head has an earlier token of its own leadership, which a server
-- that was replaced since had taken.
-- KEYS  1 head (hash), 2 batches (stream)
-- ARGV  1 the new leader token, 2 the leader token before, 3 node, 4 lease in ms, 5 run of this server, 6 whether to begin an empty
--       journal, 7 whether that is whole, 8 term, 9 epoch, 10 secret, 11 the layout of the channels, 12 as 10 of request_leadership.lua
-- Result: {'done', last batch}, or {'ended'} if another node leads. It may be run twice.
-- Cost: O(1), or O(batches) if the journal is emptied.
local time = redis.call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[4]
local head = redis.call('HMGET', KEYS[1], 'leaderToken', 'last', 'term', 'run', 'before', 'base', 'node')
local isOwn = head[1] == ARGV[2] or head[1] == ARGV[1]
local isUnused = head[4] ~= ARGV[5] and head[5] == ARGV[2] and head[6] == head[2]
local isEarlierToken = head[3] == ARGV[8] and head[7] == ARGV[3]
local isLater = tonumber(head[3] or 0) >= tonumber(ARGV[8]) and not isUnused and not isEarlierToken
if head[1] and not isOwn and (ARGV[7] == '1' or isLater) then return {'ended'} end
redis.call('HSET', KEYS[1], 'term', ARGV[8], 'leaderToken', ARGV[1], 'node', ARGV[3], 'until', ends, 'run', ARGV[5],
  'epoch', ARGV[9], 'secret', ARGV[10], 'layout', ARGV[11], 'successor', '', 'transferred', '', 'doubt', '',
  'before', '', 'base', '', 'whole', ARGV[6] == '1' and ARGV[7] or 0, 'confirms', ARGV[12])
if ARGV[6] == '1' or not isOwn then
  redis.call('UNLINK', KEYS[2])
  redis.call('HSET', KEYS[1], 'last', 0)
  return {'done', '0'}
end
return {'done', head[2]}
