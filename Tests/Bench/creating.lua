-- Creations by many owners in turn. PREFIX and OWNERS are set before this text; the token of an
-- owner is computed as in mailboxes.py and postgres.py.
local json = '{"address":"%s-%d-%d@mail.test","auth_key":"' .. string.rep("ab", 32) .. '"}'
local threads, count = 0, 0

function setup(thread)
    thread:set("NUMBER", threads)
    threads = threads + 1
end

function request()
    count = count + 1
    -- Two threads, so that they use different owners at the same time.
    local headers = {
        ["Content-Type"] = "application/json",
        ["Authorization"] = "Bearer tm_pro_bench-" .. (2 * count + NUMBER) % OWNERS,
    }
    local body = string.format(json, PREFIX, NUMBER, count)
    return wrk.format("POST", "/api/accounts", headers, body)
end
