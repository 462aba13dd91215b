-- Gives visible users in the order of their bytes, with their states.
-- KEYS  1 online, 2 states, 3 absent (part.lua)    ARGV  1 where to begin: '-' for the first, or '(' and the user before, 2 how many
-- Result: the user and states of each. Cost: O(log n + page).
local users = redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], '+', 'LIMIT', 0, ARGV[2])
local result = {}
if #users == 0 then return result end
local states = redis.call('HMGET', KEYS[2], unpack(users))
for i, user in ipairs(users) do
  result[#result + 1] = user
  result[#result + 1] = states[i] or ''
end
return result
