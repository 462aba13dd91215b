-- A session's user comes, returns within the presence timeout (S-43), takes over from another client object of the same
-- user (S-12), or becomes quiet or visible.
-- ARGV  7 user, 8 session, 9 instance, 10 lease, 11 quiet, 12 timeout, 13 whether to make no event if nobody has seen the roster,
--       14 how many users there may be; 0 means any number, 15 the claim of the session's inbox
-- Result: as `finish`, outcome 1, 0 if the channel has all its users, or 2 if a newer login of the user is in the channel. Cost: O(log n) in both modes; a change of the mode costs O(batch).
local user, silently = ARGV[7], ARGV[13] == '1' and redis.call('HGET', H, 'shown') ~= '1'
local new = { session = ARGV[8], instance = ARGV[9], lease = ARGV[10], quiet = ARGV[11] == '1', timeout = ARGV[12],
  phase = 'o', till = '0', had = false, claim = ARGV[15] }
local old = member(user)
local same = old and (old.session == new.session or (new.instance ~= '0' and old.instance == new.instance)
  or old.phase == 'l')
-- A newer login of the user is online in the channel, so what comes of this one comes late.
if old and old.phase == 'o' and old.session ~= new.session and new.claim ~= '0'
    and tonumber(new.claim) < tonumber(old.claim) then
  gone = { user, new.lease }
  return finish(2)
end
local usersMax = tonumber(ARGV[14])
if not old and usersMax > 0 and redis.call('HLEN', M) >= usersMax then
  gone = { user, new.lease }
  return finish(0)
end
if old and not same then
  depart(user, old, 'leave', new.session)
  old, silently = nil, false
end
save(user, new)
if not old then
  if not new.quiet then appear(user, new, silently) end
else
  redis.call('ZREM', D, user)
  if old.quiet and not new.quiet then
    appear(user, new, false)
    if states(user) ~= '' then announceStates(user, new) end
  elseif not old.quiet and new.quiet then
    disappear(user, 'leave', new.session)
  elseif not new.quiet then
    redis.call('ZADD', O, 0, user)
    if old.phase == 'l' and old.had then announceStates(user, new) end
  end
end
return finish(1)
