-- One hit, as `dwar_ratelimit::Window::hit` judges it.
--
-- KEYS[1]  the instants of the admissions that may still occupy a place, oldest first, in
--          milliseconds since 1970
-- ARGV     now and the length of the window, in milliseconds; the limit
--
-- Gives whether it was admitted, how many places are taken, and the instant of the admission whose
-- end makes room, if none is free.
local log = KEYS[1]
local now, window, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

local function expired(at)
    return at and now - tonumber(at) >= window
end

-- Mostly none or one has expired; after a burst it is thousands, and a script holds up all others.
local batch = 1
while expired(redis.call('LINDEX', log, 0)) do
    local oldest = redis.call('LRANGE', log, 0, batch - 1)
    local gone = 0
    while expired(oldest[gone + 1]) do
        gone = gone + 1
    end
    redis.call('LTRIM', log, gone, -1)
    batch = math.min(2 * batch, 1000)
end

local taken = redis.call('LLEN', log)
local admitted = taken < limit
if admitted then
    -- A clock that is behind the last one's does not break the order.
    local last = redis.call('LINDEX', log, -1)
    local at = math.max(now, tonumber(last or now))
    taken = redis.call('RPUSH', log, string.format('%.0f', at))
    redis.call('PEXPIRE', log, window)
end
local next_free = taken >= limit and redis.call('LINDEX', log, taken - limit)
return { admitted and 1 or 0, taken, next_free }
