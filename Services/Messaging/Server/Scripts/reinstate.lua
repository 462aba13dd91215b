-- Makes the leader the leader again after Redis may have lost something, under a new token and a later term, so that nothing counts that
-- it sent before, and whatever a server has from before has an earlier term. The journal isn't whole until the leader writes a batch that makes it
-- whole, because no other node knows what it should have.
--
-- Redis may have gone back in time, and then believes in another leadership. What it has is older, and may be replaced, if it is one that
-- this leadership continues or an earlier token of it. Another node's leadership that came out of those may be replaced, too, if the
-- history was another one and the node has written nothing: it may never have learned that it leads. If it has written something under an
-- earlier term, that was perhaps acknowledged and isn't in this leader's memory: the leader takes over and begins with new logs. Under a
-- later term it leads. A leader that has nothing to write again never replaces another node.
-- KEYS  1 head (hash), 2 batches (stream)
-- ARGV  1 the new leader token, 2 the leader token before, 3 node, 4 lease in ms, 5 history of this server, 6 whether to begin an empty
--       journal, 7 whether that is whole, 8 term, 9 epoch, 10 secret, 11 the layout of the channels, 12 as 10 of request_leadership.lua,
--       13 the terms whose logs that one continues, the newest first
-- Result: {'done', last batch, new term}; {'forked', '0', new term} if new logs have to begin; {'ended', term} if another node leads. It
--   may be run twice.
-- Cost: O(1), or O(batches) if the journal is emptied.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local head = redis.call('HMGET', KEYS[1], 'leaderToken', 'last', 'term', 'history', 'node', 'base', 'lineage')
local term, own = tonumber(head[3] or 0), tonumber(ARGV[8])
local isOwn = not head[1] or head[1] == ARGV[2] or head[1] == ARGV[1]
local terms = ' ' .. ARGV[8] .. ' ' .. ARGV[13] .. ' '
local oldest = tonumber(string.match(terms, '(%d+) *$'))
local function isKnown(term) return tonumber(term) < oldest or string.find(terms, ' ' .. term .. ' ', 1, true) end
local isContinued = head[3] and (isKnown(head[3]) or head[5] == ARGV[3] and term <= own)
local before = string.match(head[7] or '', '^%d+')
local isUnused = head[4] ~= ARGV[5] and head[6] == head[2] and before and isKnown(before)
local isForked = not isOwn and not isContinued and not isUnused
if not isOwn and ARGV[7] == '1' or isForked and term > own then return {'ended', head[3]} end
-- As in request_leadership.lua.
local new = string.format('%.0f', math.max(term, own, now) + 1 + string.sub(ARGV[1], -3))
redis.call('HSET', KEYS[1], 'term', new, 'leaderToken', ARGV[1], 'node', ARGV[3], 'until', now + ARGV[4], 'history', ARGV[5],
  'epoch', ARGV[9], 'secret', ARGV[10], 'layout', ARGV[11], 'successor', '', 'transferred', '', 'doubt', '',
  'lineage', ARGV[7] == '1' and '' or ARGV[8] .. ' ' .. ARGV[13], 'base', '', 'whole', ARGV[6] == '1' and ARGV[7] or 0,
  'confirms', ARGV[12])
if ARGV[6] == '1' or not head[1] or not isOwn then
  redis.call('UNLINK', KEYS[2])
  redis.call('HSET', KEYS[1], 'last', 0)
  return {isForked and 'forked' or 'done', '0', new}
end
return {'done', head[2], new}
