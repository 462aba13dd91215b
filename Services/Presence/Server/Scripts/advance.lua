-- Does what is due: presence timeouts, held-back leaves, the end of an interval.
-- Result: as `finish`, outcome 1. Cost: O(due * log n); O(1) when nothing is due.
while true do
  local first = redis.call('ZRANGEBYSCORE', D, '-inf', int(now), 'LIMIT', 0, 1)[1]
  if not first then break end
  local m = member(first)
  redis.call('ZREM', D, first)
  if m and m.phase == 'a' then depart(first, m, 'timeout', '0') end
  if m and m.phase == 'l' then depart(first, m, 'leave', '0') end
end
if flushAt and flushAt <= now then
  flush()
  mode = shallBeInterval()
end
return finish(1)
