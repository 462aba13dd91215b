-- Merges states into those of the session's user: a new value replaces the old one (P-40).
-- ARGV  11 user, 12 session, 13 how many states are allowed, then key and value of each, in the order of the keys
-- Result: as `finish`; outcome 1 if it was done, 0 if the user is not in the channel, -n if there would be n states,
-- which are too many (L-31). Cost: O(states).
local user = ARGV[11]
local m = member(user)
if not m or m.session ~= ARGV[12] or m.phase == 'l' then return finish(0) end
local text, count = merge(user, 14)
if count > tonumber(ARGV[13]) then return finish(-count) end
redis.call('HSET', S, user, text)
local set, items = {}, {}
for i = 14, #ARGV, 2 do
  set[#set + 1] = ARGV[i]
  items[#items + 1] = net(ARGV[i]) .. net(ARGV[i + 1])
end
announceStates(user, m, set, table.concat(items), '')
return finish(1)
