-- A session's user comes, returns within the presence timeout (S-43), takes over from another client object of the same
-- user (S-12), or becomes quiet or visible.
-- ARGV  11 user, 12 session, 13 instance, 14 lease, 15 quiet, 16 timeout, 17 how long after the part has begun no event is made
--       if nobody has seen the roster (milliseconds), 18 how many users there may be; 0 means any number, 19 the ownership of the
--       session's inbox, 20 how many states are allowed, then key and value of each state that the user brings (P-46), in the
--       order of the keys
-- Result: as `finish`, outcome 1, 0 if the channel has all its users, 2 if a newer login of the user is in the channel, or 4 as 1
-- but without the states, because the user would have too many (L-31) or its session is in the channel already and shows others.
-- Cost: O(log n + states) in both modes; a change of the mode costs O(batch).
local user = ARGV[11]
local silently = now < born + tonumber(ARGV[17]) and redis.call('HGET', H, 'shown') ~= '1'
local new = { session = ARGV[12], instance = ARGV[13], lease = ARGV[14], quiet = ARGV[15] == '1', timeout = ARGV[16],
  phase = 'o', till = '0', had = false, ownership = ARGV[19] }
local old = member(user)
local same = old and (old.session == new.session or (new.instance ~= '0' and old.instance == new.instance)
  or old.phase == 'l')
-- A newer login of the user is online in the channel, so what comes of this one comes late.
if old and old.phase == 'o' and old.session ~= new.session and new.ownership ~= '0'
    and tonumber(new.ownership) < tonumber(old.ownership) then
  gone = { user }
  return finish(2)
end
local usersMax = tonumber(ARGV[18])
if not old and usersMax > 0 and redis.call('HLEN', M) >= usersMax then
  gone = { user }
  return finish(0)
end
if old and not same then
  depart(user, old, 'leave', new.session)
  old, silently = nil, false
end
if old and old.lease ~= new.lease then unindex(user, old) end
save(user, new)
index(user, new)
local outcome, changed, items = 1, {}, {}
if #ARGV > 20 then
  local text, count, had = merge(user, 21)
  for i = 21, #ARGV, 2 do
    if had[ARGV[i]] ~= ARGV[i + 1] then
      changed[#changed + 1] = ARGV[i]
      items[#items + 1] = net(ARGV[i]) .. net(ARGV[i + 1])
    end
  end
  -- A session that is in the channel keeps the states that it has: a call may have changed them while its subscribe, or the
  -- report of its edge, was on the way.
  local isKnown = old and old.session == new.session and old.phase ~= 'l'
  if #changed > 0 and (isKnown or count > tonumber(ARGV[20])) then
    outcome, changed = 4, {}
  elseif #changed > 0 then
    redis.call('HSET', S, user, text)
  end
end
if not old then
  if not new.quiet then appear(user, new, silently) end
else
  redis.call('ZREM', D, user)
  if old.quiet and not new.quiet then
    appear(user, new, false)
  elseif not old.quiet and new.quiet then
    disappear(user, 'leave', new.session)
  elseif not new.quiet then
    redis.call('ZADD', O, 0, user)
    if old.phase == 'l' then
      if old.had or states(user) ~= '' then announceAllStates(user, new) end
    elseif #changed > 0 then
      announceStates(user, new, changed, table.concat(items), '')
    end
  end
end
return finish(outcome)
