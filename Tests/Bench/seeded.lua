-- Requests for random seeded accounts. MODE, COUNT and TOKEN are set before this text.
-- Ids and addresses are computed as in mailboxes.py.
local body = '{"address":"seeded-%d@mail.test","auth_key":"' .. string.rep("ab", 32) .. '"}'
local json = { ["Content-Type"] = "application/json" }
local bearer = { ["Authorization"] = "Bearer " .. TOKEN }

function init()
    math.randomseed(os.time())
end

function request()
    local number = math.random(0, COUNT - 1)
    if MODE == "login" then
        return wrk.format("POST", "/api/token", json, string.format(body, number))
    end
    local id = string.format("%08x-0000-4000-8000-000000000000", number * 2654435761 % 2 ^ 32)
    return wrk.format("GET", "/api/accounts/" .. id, bearer)
end
