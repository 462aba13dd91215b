-- Says which link of an edge is the newest, so that nothing is done that comes over an older one (roster.lua, renew.lua).
-- KEYS  1 link, a string    ARGV  1 the link's number, 2 how long the key lives (milliseconds)
-- Result: 1, or 0 if a newer link is known. Cost: O(1).
local newest = redis.call('GET', KEYS[1])
if newest and tonumber(newest) > tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
