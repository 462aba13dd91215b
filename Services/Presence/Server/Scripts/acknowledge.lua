-- Events are in the channel's log: removes them from the outbox.
-- KEYS  1 header, 2 outbox, 3 absent (part.lua)    ARGV  1 source, 2 number of the event, 3 its position ("epoch offset")
-- Result: 1, or 0 if nothing is known of such an event. Cost: O(acknowledged).
local head = redis.call('HMGET', KEYS[1], 'src', 'acked')
if not head[1] then return 0 end
local isPresent = head[1] == ARGV[1]
local through, last = tonumber(head[2] or 0), tonumber(ARGV[2])

-- The answer to an append may come when Redis has lost the event, and counts on under another source from an older number.
-- Only what is in the outbox under the earlier source is acknowledged then, not what has the same number now.
if isPresent and last > through then through = last end
while true do
  local first = redis.call('LINDEX', KEYS[2], 0)
  if not first then break end
  local parts = split(first)
  local number, source = tonumber(parts[1]), parts[6]
  if number > last or not isPresent and source ~= ARGV[1] then break end
  redis.call('LPOP', KEYS[2])
  through = math.max(through, number)
end
if through == tonumber(head[2] or 0) then return isPresent and 1 or 0 end
redis.call('HSET', KEYS[1], 'acked', int(through), 'pos', ARGV[3])
return 1
