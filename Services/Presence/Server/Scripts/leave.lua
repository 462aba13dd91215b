-- A session has left. The leave is held back for the debounce time (P-25), unless another session superseded it (S-12).
-- ARGV  11 user, 12 session, 13 superseded
-- Result: as `finish`, outcome 1. Cost: O(log n).
local user, session = ARGV[11], ARGV[12]
local m = member(user)
if m and m.session == session and m.phase ~= 'l' then
  if m.quiet or ARGV[13] == '1' or debounce == 0 then
    depart(user, m, 'leave', session)
  else
    m.phase, m.till, m.had = 'l', int(now + debounce), states(user) ~= ''
    save(user, m)
    redis.call('HDEL', S, user)
    redis.call('ZREM', O, user)
    redis.call('ZADD', D, m.till, user)
  end
end
return finish(1)
