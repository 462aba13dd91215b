-- What the roster scripts share: one channel's roster, its events, its mode. It is put in front of each of them, behind
-- part.lua.
-- It follows the same rules as Roster.swift, IntervalBatch.swift and ChangedStates.swift, and passes the same tests.
--
-- KEYS  1 members   hash   user -> "session instance lease quiet timeout phase until hadStates ownership"
--       2 states    hash   user -> key and value of each state as netstrings, in the order of the keys
--       3 online    zset   visible users that aren't leaving, all with score 0, so in the order of their bytes
--       4 deadlines zset   users that are away or leaving -> when that ends
--       5 header    hash   src, seq, acked, pos, n (visible), mode, flush, run, turn (whose states were announced last)
--       6 batch     zset   users of the pending interval -> 1 joined, 2 joined left, 3 joined timed out, 4 left, 5 timed out
--       7 changed   zset   "user key" with \1 between them for each state that the next interval has to announce, "user" and
--                          \1 alone for all states of the user; all with score 0, so in the order of their bytes
--       8 outbox    list   events that aren't acknowledged yet
--       and for all channels of the part:
--       9 due       zset   channels -> when a sweep has to look at them
--      10 under     zset   "lease channel user" with NUL between them, all with score 0
--      11 part      hash   see part.lua
--      12 absent           never exists, see part.lua
--      13 link             the number of the newest link of the edge, see hold.lua
-- ARGV  1 now, 2 announce max, 3 interval, 4 debounce (milliseconds), 5 source for a new roster, 6 the run of Redis,
--       7 the channel in `due` and `under`, 8 how long after a change its events have to be acknowledged (milliseconds),
--       9 the number of the edge's link over which the change comes; 0 = no edge's, or unknown,
--       10 bytes of states of one interval (L-51). A change has its user next.
-- All times are in milliseconds. All numbers are below 2^53; others (sessions, instances, leases, sources) stay text.
local M, S, O, D, H, B, C, X = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local DUE, UNDER = KEYS[9], KEYS[10]
local now = tonumber(ARGV[1])
local announceMax, interval, debounce = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local intervalBytesMax, movesMax, keysMax, statesBytesMax = 32 * 1024, 16384, 64, tonumber(ARGV[10])
local born, run = readPart(KEYS[11], now, ARGV[6])

local head = redis.call('HMGET', H, 'src', 'seq', 'acked', 'n', 'mode', 'flush', 'pos', 'run')
local src = head[1]
local seq, acked, visible = tonumber(head[2] or 0), tonumber(head[3] or 0), tonumber(head[4] or 0)
local mode, flushAt, position = head[5] == '1', tonumber(head[6] or nil), head[7] or ''
local events, gone = {}, {}

-- Another run of Redis has the roster since it was changed last, and what it has may be older than what was announced:
-- the numbers that follow may have been used already. With a new source they count anew. Events that are in the outbox
-- keep their source and number, so that who has them already recognises them.
if src and head[8] ~= run then src = ARGV[5] end

local function net(text) return #text .. ':' .. text end

-- Compares by bytes: Redis compares strings by the locale, but names are in the order of their bytes.
local function before(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

local function member(user)
  local row = redis.call('HGET', M, user)
  if not row then return nil end
  local f = {}
  for field in string.gmatch(row, '%S+') do f[#f + 1] = field end
  return { session = f[1], instance = f[2], lease = f[3], quiet = f[4] == '1', timeout = f[5],
    phase = f[6], till = f[7], had = f[8] == '1', ownership = f[9] }
end

local function save(user, m)
  redis.call('HSET', M, user, table.concat({ m.session, m.instance, m.lease, m.quiet and '1' or '0', m.timeout,
    m.phase, m.till, m.had and '1' or '0', m.ownership }, ' '))
end

-- The members under a lease, for the day on which it ends.
local function index(user, m) redis.call('ZADD', UNDER, 0, m.lease .. '\0' .. ARGV[7] .. '\0' .. user) end
local function unindex(user, m) redis.call('ZREM', UNDER, m.lease .. '\0' .. ARGV[7] .. '\0' .. user) end

local function states(user) return redis.call('HGET', S, user) or '' end

-- Puts the states from this argument on over those that a user has: key and value of each. Gives all of them as a text and
-- their number, and those that the user had.
local function merge(user, first)
  local old, had, values, keys = split(states(user)), {}, {}, {}
  for i = 1, #old, 2 do had[old[i]], values[old[i]] = old[i + 1], old[i + 1] end
  for i = first, #ARGV, 2 do values[ARGV[i]] = ARGV[i + 1] end
  for key in pairs(values) do keys[#keys + 1] = key end
  table.sort(keys, before)
  for i, key in ipairs(keys) do keys[i] = net(key) .. net(values[key]) end
  return table.concat(keys), #keys, had
end

local function emit(kind, user, session, payload)
  seq = seq + 1
  local event = net(int(seq)) .. net(kind) .. net(user) .. net(session) .. net(payload)
    .. net(src or ARGV[5])
  events[#events + 1] = event
  redis.call('RPUSH', X, event)
end

-- The entries of a user in `changed` lie between these.
local function entries(user) return '[' .. user .. '\1', '(' .. user .. '\2' end

-- Notes which states of a user the next interval has to announce; without keys all of them.
local function mark(user, keys)
  local from, to = entries(user)
  if keys then
    if redis.call('ZSCORE', C, user .. '\1') then return end
    for _, key in ipairs(keys) do redis.call('ZADD', C, 0, user .. '\1' .. key) end
    if redis.call('ZLEXCOUNT', C, from, to) <= keysMax then return end
  end
  redis.call('ZREMRANGEBYLEX', C, from, to)
  redis.call('ZADD', C, 0, user .. '\1')
end

local function forgetStates(user)
  local from, to = entries(user)
  redis.call('ZREMRANGEBYLEX', C, from, to)
end

-- The change of one user as an event carries it, and how many bytes it counts as. keys: a set of the changed keys, or nil
-- for all states; text: the states that the user has now.
local function changeOf(user, keys, text)
  local old, items, removed, cost = split(text), {}, {}, #user + 16
  for i = 1, #old, 2 do
    local key, value = old[i], old[i + 1]
    if not keys or keys[key] then
      items[#items + 1] = net(key) .. net(value)
      cost = cost + #key + #value + 8
      if keys then keys[key] = nil end
    end
  end
  for key in pairs(keys or {}) do
    removed[#removed + 1] = key
    cost = cost + #key + 8
  end
  table.sort(removed, before)
  for i, key in ipairs(removed) do removed[i] = net(key) end
  return net(user) .. net(table.concat(items)) .. net(table.concat(removed)) .. net(keys and '0' or '1'), cost
end

-- Reads entries of `changed`: the users, and by user the set of keys, or false for all. The last user of a full reading
-- may have more entries, and is left for the next one.
local function readChanged(from)
  local found, users, keys = redis.call('ZRANGEBYLEX', C, from, '+', 'LIMIT', 0, 1000), {}, {}
  for _, entry in ipairs(found) do
    local at = string.find(entry, '\1', 1, true)
    local user, key = string.sub(entry, 1, at - 1), string.sub(entry, at + 1)
    if keys[user] == nil then
      users[#users + 1] = user
      keys[user] = {}
    end
    if key == '' then keys[user] = false else keys[user][key] = true end
  end
  if #found == 1000 then users[#users] = nil end
  return users, keys
end

-- Gives the changes of states to `add`, user by user in turns, and removes them. What exceeds the bytes of an interval
-- stays for the next one.
local function takeChanged(add)
  local turn = redis.call('HGET', H, 'turn')
  local from, isAround = turn and '(' .. turn .. '\2' or '-', not turn
  local bytes, last, isFull = 0, nil, false
  while not isFull do
    local users, keys = readChanged(from)
    if #users == 0 and isAround then break end
    if #users == 0 then
      from, isAround = '-', true
    else
      local texts, done = redis.call('HMGET', S, unpack(users)), nil
      for i, user in ipairs(users) do
        local change, cost = changeOf(user, keys[user] or nil, texts[i] or '')
        bytes = bytes + cost
        isFull = bytes > statesBytesMax and last ~= nil
        if isFull then break end
        add(change, cost)
        last, done = user, user
      end
      if done then
        redis.call('ZREMRANGEBYLEX', C, '[' .. users[1] .. '\1', '(' .. done .. '\2')
        from = '(' .. done .. '\2'
      end
    end
  end
  if redis.call('ZCARD', C) == 0 then
    redis.call('HDEL', H, 'turn')
  else
    redis.call('HSET', H, 'turn', last)
    flushAt = now + interval
  end
end

-- Emits the pending interval as events of bounded size.
local function flush()
  flushAt = nil
  local users = redis.call('ZRANGE', B, 0, -1, 'WITHSCORES')
  redis.call('DEL', B)
  local parts, bytes = {}, 0
  local function add(list, text, cost)
    if #parts == 0 or bytes + cost > intervalBytesMax then
      parts[#parts + 1] = { {}, {}, {}, {} }
      bytes = 0
    end
    bytes = bytes + cost + 2
    local into = parts[#parts][list]
    into[#into + 1] = net(text)
  end
  for i = 1, #users, 2 do
    if users[i + 1] < '4' then add(1, users[i], #users[i]) end
  end
  for i = 1, #users, 2 do
    if users[i + 1] == '2' or users[i + 1] == '4' then add(2, users[i], #users[i]) end
  end
  for i = 1, #users, 2 do
    if users[i + 1] == '3' or users[i + 1] == '5' then add(3, users[i], #users[i]) end
  end
  takeChanged(function(change, cost) add(4, change, cost) end)
  for _, part in ipairs(parts) do
    local lists = {}
    for list = 1, 4 do lists[list] = net(table.concat(part[list])) end
    emit('interval', '', '0', table.concat(lists))
  end
end

-- While states wait that didn't fit into the last interval, a channel stays in interval mode, so that all that was collected
-- comes before the first single event (P-26).
local function shallBeInterval()
  if visible > announceMax then return true end
  return mode and (redis.call('ZCARD', B) > 0 or redis.call('ZCARD', C) > 0)
end

-- Chooses between announcing each change and interval mode (P-21). The pending interval is flushed before the first
-- event of the other mode (P-26).
local function chooseMode()
  if mode and visible == announceMax then flush() end
  mode = shallBeInterval()
end

local function collect()
  if redis.call('ZCARD', B) >= movesMax then flushAt = now end
  if not flushAt then flushAt = now + interval end
end

-- Some states of a user have changed: keys lists them; items and removed are texts for the event.
local function announceStates(user, m, keys, items, removed)
  if m.quiet then return end
  if not mode then return emit('state', user, m.session, net(items) .. net(removed) .. net('0')) end
  mark(user, keys)
  collect()
end

local function announceAllStates(user, m)
  if m.quiet then return end
  if not mode then return emit('state', user, m.session, net(states(user)) .. net('') .. net('1')) end
  mark(user)
  collect()
end

-- The states with which a user comes are the event behind that of the join, or stand in the same interval (P-46).
local function appear(user, m, silently)
  visible = visible + 1
  redis.call('ZADD', O, 0, user)
  chooseMode()
  if silently then return end
  local hasStates = states(user) ~= ''
  if not mode then
    emit('join', user, m.session, hasStates and '1' or '')
  else
    local was = tonumber(redis.call('ZSCORE', B, user) or 0)
    redis.call('ZADD', B, 1, user)
    -- Who departed within this interval is at the subscribers still with the states of before.
    if was > 1 then mark(user) end
    collect()
  end
  if hasStates then announceAllStates(user, m) end
end

-- Takes a user out of the roster; kind is 'leave' or 'timeout'.
local function disappear(user, kind, session)
  visible = visible - 1
  redis.call('ZREM', O, user)
  forgetStates(user)
  chooseMode()
  if not mode then return emit(kind, user, session, '') end
  local was = tonumber(redis.call('ZSCORE', B, user) or 0)
  local joined = was >= 1 and was <= 3
  local code = kind == 'leave' and (joined and 2 or 4) or (joined and 3 or 5)
  redis.call('ZADD', B, code, user)
  collect()
end

local function depart(user, m, kind, session)
  redis.call('HDEL', M, user)
  redis.call('HDEL', S, user)
  redis.call('ZREM', D, user)
  unindex(user, m)
  gone[#gone + 1] = user
  if not m.quiet then disappear(user, kind, session) end
end

-- Writes the header, says when the channel is due for a visit, and gives: the outcome, the source, the number of the last
-- event and of the last acknowledged one, the position of the latter, 1 if nobody is in the channel, the events, the users
-- who are gone, and how many there are.
local function finish(outcome)
  local count = redis.call('HLEN', M)
  local isEmpty = count == 0 and not flushAt
  if not src then
    if not isEmpty or seq > 0 then src = ARGV[5] end
  end
  if src then
    redis.call('HSET', H, 'src', src, 'seq', int(seq), 'n', int(visible), 'mode', mode and '1' or '0', 'run', run)
    if flushAt then redis.call('HSET', H, 'flush', int(flushAt)) else redis.call('HDEL', H, 'flush') end
    if isEmpty then
      redis.call('PEXPIRE', H, 3600000)
      redis.call('PEXPIRE', X, 3600000)
    else
      redis.call('PERSIST', H)
      redis.call('PERSIST', X)
    end
  end
  local due = tonumber(redis.call('ZRANGE', D, 0, 0, 'WITHSCORES')[2] or nil)
  if flushAt and (not due or flushAt < due) then due = flushAt end
  -- If the node dies that has made the events, another one takes them from the outbox.
  if seq > acked and (not due or now + tonumber(ARGV[8]) < due) then due = now + tonumber(ARGV[8]) end
  if due then redis.call('ZADD', DUE, int(due), ARGV[7]) else redis.call('ZREM', DUE, ARGV[7]) end
  return { outcome, src or '', int(seq), int(acked), position, isEmpty and 1 or 0, events, gone, count }
end

-- The edge uses a newer link, perhaps to another node, and has reported everything anew there. What came over this one
-- comes late: outcome 3 of every change.
if ARGV[9] ~= '0' then
  local newest = redis.call('GET', KEYS[13])
  if newest and tonumber(newest) > tonumber(ARGV[9]) then
    gone = { ARGV[11] }
    return finish(3)
  end
end
