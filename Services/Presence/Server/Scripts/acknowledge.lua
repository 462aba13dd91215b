-- Events are in the channel's log: removes them from the outbox.
-- KEYS  1 header, 2 outbox, 3 absent (part.lua)    ARGV  1 source, 2 number of the event, 3 its position ("epoch offset")
-- Result: 1, or 0 if the roster has a new source. Cost: O(acknowledged).
if redis.call('HGET', KEYS[1], 'src') ~= ARGV[1] then return 0 end
if tonumber(redis.call('HGET', KEYS[1], 'acked') or 0) >= tonumber(ARGV[2]) then return 1 end
redis.call('HSET', KEYS[1], 'acked', ARGV[2], 'pos', ARGV[3])
while true do
  local first = redis.call('LINDEX', KEYS[2], 0)
  if not first then break end
  local colon = string.find(first, ':', 1, true)
  local number = string.sub(first, colon + 1, colon + tonumber(string.sub(first, 1, colon - 1)))
  if tonumber(number) > tonumber(ARGV[2]) then break end
  redis.call('LPOP', KEYS[2])
end
return 1
