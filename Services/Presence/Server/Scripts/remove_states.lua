-- Removes the named states of the session's user (P-44).
-- ARGV  10 user, 11 session, then the keys; without keys all states are removed
-- Result: as `finish`; outcome 1 if it was done, 0 if the user is not in the channel. Cost: O(states).
local user = ARGV[10]
local m = member(user)
if not m or m.session ~= ARGV[11] or m.phase == 'l' then return finish(0) end
local named, kept = {}, {}
for i = 12, #ARGV do named[ARGV[i]] = true end
local old = split(states(user))
for i = 1, #old, 2 do
  if #ARGV >= 12 and not named[old[i]] then kept[#kept + 1] = net(old[i]) .. net(old[i + 1]) end
end
if #kept == 0 then redis.call('HDEL', S, user) else redis.call('HSET', S, user, table.concat(kept)) end
if not m.quiet then announceStates(user, m) end
return finish(1)
