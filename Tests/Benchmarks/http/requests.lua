-- The request that wrk sends on all connections: to PATH, with the key KEY and MESSAGES messages of 128 bytes.
local messages = tonumber(os.getenv("MESSAGES"))
local body = {}
for number = 1, messages do
    body[number] = string.format('{"channel":"room-%d","message":"%s"}', number, string.rep("x", 128))
end

wrk.method = "POST"
wrk.path = messages == 1 and "/v1/dev/publish" or "/v1/dev/batch"
wrk.headers["Authorization"] = "Bearer " .. os.getenv("KEY")
wrk.headers["Content-Type"] = "application/json"
wrk.body = messages == 1 and body[1] or '{"messages":[' .. table.concat(body, ",") .. ']}'

-- With a rate each connection sends at random times, as independent backends do: on average the same number a second.
local pause = tonumber(os.getenv("PAUSE_MILLISECONDS") or "0")
if pause > 0 then
    function delay() return math.random(0, 2 * pause) end
end
