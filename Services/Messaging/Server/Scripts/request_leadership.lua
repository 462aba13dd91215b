-- Makes this node the leader if no other node leads: the lease of the leader before has ended, the leader has transferred the leadership
-- to this node, or there is no journal.
-- KEYS  1 head (hash)
-- ARGV  1 the new leader token, 2 node, 3 lease in ms, 4 run of this server, 5 whether to begin a journal where there is none,
--       6 epoch and 7 secret if one begins, 8 the layout of the channels, 9 the election delay: for how many ms no node must have led,
--       unless the leader has named this node as its successor, 10 whether this node acknowledges only what a replica or a disk of
--       Redis has, 11 the last batch that it has read ahead, and 12 the leader token under which that was written, 13 how many ms a
--       leader that lives has to report that Redis has lost something
-- Result: {'held', node, ms until its lease ends}, {'empty'}, {'other', layout}, or
--   {'successor', leader token, term, last batch, epoch, secret}: this node becomes the leader as soon as it has read what is there and
--   the leader has transferred the leadership, or
--   {'granted', term, last batch, whether the journal has all that was acknowledged, epoch, secret, the term before, the leader token
--   before}. The journal hasn't if the run of the server isn't the one that the leader before knew: that server may have lost something,
--   unless the leader before had each batch confirmed.
-- Cost: O(1).
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local head = redis.call('HMGET', KEYS[1], 'term', 'node', 'until', 'run', 'last', 'whole', 'epoch', 'secret', 'layout', 'successor',
  'doubt', 'confirms', 'leaderToken', 'transferred', 'offered')
if not head[1] then
  if ARGV[5] ~= '1' then return {'empty'} end
  local first = string.format('%.0f', now)
  redis.call('HSET', KEYS[1], 'term', first, 'leaderToken', ARGV[1], 'node', ARGV[2], 'until', now + ARGV[3], 'run', ARGV[4],
    'last', 0, 'whole', 1, 'epoch', ARGV[6], 'secret', ARGV[7], 'layout', ARGV[8], 'successor', '',
    'confirms', ARGV[10])
  return {'granted', first, '0', '1', ARGV[6], ARGV[7], first, ''}
end
if head[9] ~= ARGV[8] then return {'other', head[9]} end
local isSuccessor, isSameRun = head[10] == ARGV[2], head[4] == ARGV[4]
local hasRead = head[13] == ARGV[12] and ARGV[11] or '0'
local isReady = isSuccessor and isSameRun and head[14] == '1' and hasRead == head[5]
if not isReady then
  local isOffered = head[14] == '1' or (tonumber(head[15]) or 0) > now
  if isSuccessor and isOffered and isSameRun and tonumber(head[3]) > now then
    redis.call('HSET', KEYS[1], 'ahead', hasRead)
    return {'successor', head[13], head[1], head[5], head[7], head[8]}
  end
  local electionDelay = isSuccessor and 0 or ARGV[9]
  if head[3] + electionDelay > now then return {'held', head[2], head[3] + electionDelay - now} end
end
-- Another server, or one that was restarted, may have lost something. A leader that lives gets the time to report that first.
if not isSameRun then
  local doubt = head[11] and head[11] ~= '' and tonumber(head[11])
  if not doubt then
    doubt = now
    redis.call('HSET', KEYS[1], 'doubt', now)
  end
  if doubt + ARGV[13] > now then return {'held', head[2], doubt + ARGV[13] - now} end
end
-- A term that Redis has forgotten must not be given again.
local term = string.format('%.0f', math.max(head[1] + 1, now))
-- A node that has to begin with new logs may die before it does, and the next one must know of that.
local whole = (isSameRun or head[12] == '1') and head[6] or '0'
redis.call('HSET', KEYS[1], 'term', term, 'leaderToken', ARGV[1], 'node', ARGV[2], 'until', now + ARGV[3], 'run', ARGV[4],
  'whole', whole, 'successor', '', 'transferred', '', 'doubt', '', 'confirms', ARGV[10],
  'before', head[13], 'base', head[5])
return {'granted', term, head[5], whole, head[7], head[8], head[1], head[13]}
