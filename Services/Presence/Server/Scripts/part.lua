-- What scripts share that touch one part of the rosters. It is put in front of them.
--
-- All keys of a part lie in one slot of a Redis Cluster, so they move and get lost together. While the slot moves from one
-- master to another, some keys are here and others there. A script that ran meanwhile could fail halfway. So each script
-- with several keys also names one that never exists: Redis then doesn't begin the script, and answers TRYAGAIN.

local function int(number) return string.format('%.0f', number) end

-- Splits a text into its netstrings.
local function split(text)
  local parts, at = {}, 1
  while at <= #text do
    local colon = string.find(text, ':', at, true)
    local length = tonumber(string.sub(text, at, colon - 1))
    parts[#parts + 1] = string.sub(text, colon + 1, colon + length)
    at = colon + length + 1
  end
  return parts
end

-- Reads what is known of the part. key: a hash with
--   born  when these data began; run  the history of the server that has them; turn  how often that was another one
-- Gives: born, and the run together with the turn. The data may be older than in the run before, and a server that has
-- lost them to another one and got them back isn't in the same run.
local function readPart(key, now, run)
  local part = redis.call('HMGET', key, 'born', 'run', 'turn')
  local born, turn = tonumber(part[1] or now), tonumber(part[3] or 0)
  if part[2] ~= run then
    turn = turn + 1
    redis.call('HSET', key, 'born', int(born), 'run', run, 'turn', int(turn))
  end
  return born, run .. '/' .. int(turn)
end
