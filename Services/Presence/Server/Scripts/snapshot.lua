-- Gives the users in the channel according to the events so far. Users whose leave is held back are listed without states.
-- KEYS  1 online, 2 deadlines, 3 members, 4 states, 5 header, 6 part, 7 absent (part.lua)
-- ARGV  1 now, 2 how many users may be online, 3 how long after the part has begun edges fill the roster without events
--       (milliseconds); who is shown a roster meanwhile has to get what follows
-- Result: the number of the last event and of the last acknowledged one, the position of the latter, then the user and
-- states of each; nothing at all when more users are online. Cost: O(n).
if redis.call('ZCARD', KEYS[1]) > tonumber(ARGV[2]) then return {} end
local born = redis.call('HGET', KEYS[6], 'born') or ARGV[1]
local isFilling = tonumber(ARGV[1]) < tonumber(born) + tonumber(ARGV[3])
if isFilling and redis.call('EXISTS', KEYS[5]) == 1 then redis.call('HSET', KEYS[5], 'shown', 1) end
local head = redis.call('HMGET', KEYS[5], 'seq', 'acked', 'pos')
local result = { head[1] or '0', head[2] or '0', head[3] or '' }
local function add(users, withStates)
  for from = 1, #users, 1000 do
    local some = { unpack(users, from, math.min(from + 999, #users)) }
    local states = withStates and redis.call('HMGET', KEYS[4], unpack(some)) or {}
    for i, user in ipairs(some) do
      result[#result + 1] = user
      result[#result + 1] = states[i] or ''
    end
  end
end
add(redis.call('ZRANGE', KEYS[1], 0, -1), true)
local leaving = {}
for _, user in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  local row = redis.call('HGET', KEYS[3], user)
  if row and string.match(row, '^%S+ %S+ %S+ 0 %S+ l ') then leaving[#leaving + 1] = user end
end
add(leaving, false)
return result
