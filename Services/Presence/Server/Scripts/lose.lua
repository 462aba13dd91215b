-- A session is lost. Its user has the presence timeout to come back (S-42).
-- ARGV  11 user, 12 session ('' = any), 13 lease ('' = any)
-- Result: as `finish`, outcome 1 if the session was lost now. Cost: O(log n).
local user = ARGV[11]
local m = member(user)
local hit = m and m.phase == 'o' and (ARGV[12] == '' or m.session == ARGV[12]) and (ARGV[13] == '' or m.lease == ARGV[13])
if hit then
  m.phase, m.till = 'a', int(now + tonumber(m.timeout))
  save(user, m)
  redis.call('ZADD', D, m.till, user)
end
return finish(hit and 1 or 0)
