-- Writes one batch, if this node still leads, and prolongs its lease. A batch that is there already isn't written again.
-- KEYS  1 head (hash), 2 batches (stream)
-- ARGV  1 leader token, 2 number of the batch, 3 history of this server, 4 lease in ms, 5 the oldest batch that is kept, 6 the batch;
--       empty: nothing is written and the number is that of the last batch, 7 whether the journal is whole with it
-- Result: 'done'; {'ended', term} if Redis has another leadership, of this term; 'gone' if there is no journal; 'doubt' if the history
--   isn't the one that the leader knows, or hasn't got the batch before.
-- Cost: O(1) and what is cut off.
local head = redis.call('HMGET', KEYS[1], 'leaderToken', 'last', 'history')
if not head[1] then return 'gone' end
if head[3] ~= ARGV[3] then return 'doubt' end
if head[1] ~= ARGV[1] then return {'ended', redis.call('HGET', KEYS[1], 'term')} end
local last, number = tonumber(head[2]), tonumber(ARGV[2])
local time = redis.call('TIME')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[4]
if last >= number then
  redis.call('HSET', KEYS[1], 'until', ends, 'whole', ARGV[7])
  return last == number and 'done' or 'doubt'
end
if last ~= number - 1 or ARGV[6] == '' then return 'doubt' end
redis.call('XADD', KEYS[2], 'MINID', '~', ARGV[5], ARGV[2] .. '-0', 'b', ARGV[6])
redis.call('HSET', KEYS[1], 'last', ARGV[2], 'until', ends, 'whole', ARGV[7])
return 'done'
