-- Makes this node the leader if no other node leads: the lease of the leader before has ended, the leader has transferred the leadership
-- to this node, or there is no journal.
-- KEYS  1 head (hash)
-- ARGV  1 the new leader token, 2 node, 3 lease in ms, 4 history of this server, 5 whether to begin a journal where there is none,
--       6 epoch and 7 secret if one begins, 8 the layout of the channels, 9 the election delay: for how many ms no node must have led,
--       unless the leader has named this node as its successor, 10 what this node waits for before it acknowledges: `journal`, `replica`
--       or `disk`, 11 the last batch that it has read ahead, and 12 the leader token under which that was written, 13 how many ms a
--       leader that lives has to report that Redis has lost something, 14 the second replication id of this server, which it had as a
--       replica, 15 when it started, in ms, 16 whether it has read its append-only file
-- Result: {'held', node, ms until its lease ends, term, last batch}, {'empty'}, {'other', layout}, or
--   {'successor', leader token, term, last batch, epoch, secret}: this node becomes the leader as soon as it has read what is there and
--   the leader has transferred the leadership, or
--   {'granted', term, last batch, whether the journal has all that was acknowledged, epoch, secret, the terms whose logs this one
--   continues, the newest first, the leader token before}. The journal hasn't if the history of the server isn't the one that the leader
--   before knew: that server may have lost something, unless the leader before had each batch confirmed, and this server can show that
--   it has what was confirmed.
-- Cost: O(1).
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local head = redis.call('HMGET', KEYS[1], 'term', 'node', 'until', 'history', 'last', 'whole', 'epoch', 'secret', 'layout', 'successor',
  'doubt', 'confirms', 'leaderToken', 'transferred', 'offered', 'lineage')
-- Servers that know nothing of each other must not give the same term.
local jump = 1 + string.sub(ARGV[1], -3)
if not head[1] then
  if ARGV[5] ~= '1' then return {'empty'} end
  local first = string.format('%.0f', now + jump)
  redis.call('HSET', KEYS[1], 'term', first, 'leaderToken', ARGV[1], 'node', ARGV[2], 'until', now + ARGV[3], 'history', ARGV[4],
    'last', 0, 'whole', 1, 'epoch', ARGV[6], 'secret', ARGV[7], 'layout', ARGV[8], 'successor', '',
    'confirms', ARGV[10])
  return {'granted', first, '0', '1', ARGV[6], ARGV[7], '', ''}
end
if head[9] ~= ARGV[8] then return {'other', head[9]} end
local function held(ends) return {'held', head[2], ends - now, head[1], head[5]} end
local isSuccessor, isSameHistory = head[10] == ARGV[2], head[4] == ARGV[4]
local hasRead = head[13] == ARGV[12] and ARGV[11] or '0'
local isReady = isSuccessor and isSameHistory and head[14] == '1' and hasRead == head[5]
if not isReady then
  local isOffered = head[14] == '1' or (tonumber(head[15]) or 0) > now
  if isSuccessor and isOffered and isSameHistory and tonumber(head[3]) > now then
    redis.call('HSET', KEYS[1], 'ahead', hasRead)
    return {'successor', head[13], head[1], head[5], head[7], head[8]}
  end
  local electionDelay = isSuccessor and 0 or ARGV[9]
  if head[3] + electionDelay > now then return held(head[3] + electionDelay) end
end
-- Another history may lack something. A leader that lives gets the time to report that first.
if not isSameHistory then
  local doubt = head[11] and head[11] ~= '' and tonumber(head[11])
  if not doubt then
    doubt = now
    redis.call('HSET', KEYS[1], 'doubt', now)
  end
  if doubt + ARGV[13] > now then return held(doubt + ARGV[13]) end
end
-- A replica has what was confirmed if it was promoted out of the history that the leader wrote to, and has run since before the last
-- renewal of the lease: then it has received its data, and not read them from an older snapshot. Clocks may differ by 2 s. A disk has it if
-- the server has read its append-only file, and no other server was the master in between.
local function hasWhatWasConfirmed()
  local epoch, replication = string.match(head[4] or '', '^%S* (%d+) (%S*)$')
  if head[12] == 'replica' then
    return replication ~= '' and replication == ARGV[14] and ARGV[15] ~= '' and ARGV[15] + 2000 <= head[3] - ARGV[3]
  end
  return head[12] == 'disk' and ARGV[16] == '1' and epoch == string.match(ARGV[4], '^%S* (%d+) ')
end
-- A term that Redis has forgotten must not be given again.
local term = string.format('%.0f', math.max(head[1], now) + jump)
-- A node that has to begin with new logs may die before it does, and the next one must know of that.
local whole = (isSameHistory or hasWhatWasConfirmed()) and head[6] or '0'
-- As `Lineage` in Swift: 16 terms at most.
local lineage, count = {}, 0
for earlier in string.gmatch(head[1] .. ' ' .. (head[16] or ''), '%d+') do
  if count < 16 then count = count + 1; lineage[count] = earlier end
end
lineage = table.concat(lineage, ' ')
redis.call('HSET', KEYS[1], 'term', term, 'leaderToken', ARGV[1], 'node', ARGV[2], 'until', now + ARGV[3], 'history', ARGV[4],
  'whole', whole, 'successor', '', 'transferred', '', 'doubt', '', 'confirms', ARGV[10],
  'lineage', lineage, 'base', head[5])
return {'granted', term, head[5], whole, head[7], head[8], lineage, head[13]}
