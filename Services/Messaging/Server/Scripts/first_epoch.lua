-- Gives a shard whose journal begins for the first time the epoch that all shards of the installation begin with. A journal that
-- begins again, because it was lost, must not have that epoch. So each shard gets it once, and the process that got it asks again
-- only until it leads.
-- KEYS  1 first epoch (hash: `epoch`, and for each shard, by its number, who got it and when, in ms)
-- ARGV  1 shard, 2 an epoch if there is none, 3 node, 4 lease in ms
-- Result: the epoch; '' if the shard had it before; 'wait' if another node has just got it and may begin.
-- Cost: O(1).
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSETNX', KEYS[1], 'epoch', ARGV[2])
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[3] .. ' ' .. now)
local node, at = string.match(redis.call('HGET', KEYS[1], ARGV[1]), '^(.*) (%d+)$')
if node == ARGV[3] then return redis.call('HGET', KEYS[1], 'epoch') end
return at + 2 * ARGV[4] > now and 'wait' or ''
