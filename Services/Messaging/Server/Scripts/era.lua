-- Gives a shard whose journal begins for the first time the epochs that all shards of the installation share. A journal that
-- begins again, because it was lost, must not have them.
-- KEYS  1 era (hash: `era`, and each shard that had it)    ARGV  1 shard, 2 an era if there is none
-- Result: the era, or '' if the shard had it before.
-- Cost: O(1).
redis.call('HSETNX', KEYS[1], 'era', ARGV[2])
if redis.call('HSETNX', KEYS[1], ARGV[1], 1) == 0 then return '' end
return redis.call('HGET', KEYS[1], 'era')
