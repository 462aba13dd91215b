-- Removes the named states of the session's user (P-44).
-- ARGV  11 user, 12 session, then the keys; without keys all states are removed
-- Result: as `finish`; outcome 1 if it was done, 0 if the user is not in the channel. Cost: O(states).
local user = ARGV[11]
local m = member(user)
if not m or m.session ~= ARGV[12] or m.phase == 'l' then return finish(0) end
local named, kept, keys, removed = {}, {}, {}, {}
for i = 13, #ARGV do named[ARGV[i]] = true end
local old = split(states(user))
for i = 1, #old, 2 do
  if named[old[i]] then
    keys[#keys + 1] = old[i]
    removed[#removed + 1] = net(old[i])
  elseif #ARGV >= 13 then
    kept[#kept + 1] = net(old[i]) .. net(old[i + 1])
  end
end
if #kept == 0 then redis.call('HDEL', S, user) else redis.call('HSET', S, user, table.concat(kept)) end
if #ARGV < 13 then announceAllStates(user, m) else announceStates(user, m, keys, '', table.concat(removed)) end
return finish(1)
