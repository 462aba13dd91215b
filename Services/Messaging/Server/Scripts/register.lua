-- Keeps the list of messaging nodes that live, and answers with their names. A node whose layout isn't that of the others is refused.
-- KEYS  1 nodes (hash: the time in ms at which each node's lease ends, by its name; `layout`)
-- ARGV  1 node, 2 the node's lease in ms; 0: the node leaves, 3 the layout of the channels
-- Result: {'nodes', name, ...}, or {'other', layout}.
-- Cost: O(nodes).
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local fields, living = redis.call('HGETALL', KEYS[1]), {}
local layout = ARGV[3]
for index = 1, #fields, 2 do
  local name, value = fields[index], fields[index + 1]
  if name == 'layout' then
    layout = value
  elseif name == ARGV[1] or tonumber(value) < now then
    redis.call('HDEL', KEYS[1], name)
  else
    living[#living + 1] = name
  end
end
if layout ~= ARGV[3] and #living > 0 then return {'other', layout} end
redis.call('HSET', KEYS[1], 'layout', ARGV[3])
if ARGV[2] ~= '0' then
  redis.call('HSET', KEYS[1], ARGV[1], now + ARGV[2])
  living[#living + 1] = ARGV[1]
end
return {'nodes', unpack(living)}
