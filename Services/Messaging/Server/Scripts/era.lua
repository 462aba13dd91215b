-- Gives a shard whose journal begins for the first time the epochs that all shards of the installation share. A journal that
-- begins again, because it was lost, must not have them: so each shard has them once, and the process that was given them asks
-- only until it has led.
-- KEYS  1 era (hash: `era`, and for each shard who had it and when, in ms)
-- ARGV  1 shard, 2 an era if there is none, 3 node, 4 lease in ms
-- Result: the era; '' if the shard had it before; 'wait' if another node has just got it and may begin.
-- Cost: O(1).
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSETNX', KEYS[1], 'era', ARGV[2])
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[3] .. ' ' .. now)
local node, at = string.match(redis.call('HGET', KEYS[1], ARGV[1]), '^(.*) (%d+)$')
if node == ARGV[3] then return redis.call('HGET', KEYS[1], 'era') end
return at + 2 * ARGV[4] > now and 'wait' or ''
