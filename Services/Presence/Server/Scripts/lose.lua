-- A session is lost. Its user has the presence timeout to come back (S-42).
-- ARGV  10 user, 11 session ('' = any), 12 lease ('' = any)
-- Result: as `finish`, outcome 1 if the session was lost now. Cost: O(log n).
local user = ARGV[10]
local m = member(user)
local hit = m and m.phase == 'o' and (ARGV[11] == '' or m.session == ARGV[11]) and (ARGV[12] == '' or m.lease == ARGV[12])
if hit then
  m.phase, m.till = 'a', int(now + tonumber(m.timeout))
  save(user, m)
  redis.call('ZADD', D, m.till, user)
end
return finish(hit and 1 or 0)
