-- Passwords of mailboxes for Dovecot 2.3: asks Postern, POST /check-password.
-- Copy to /etc/dovecot/postern.lua, readable by root and dovecot only: it has the secret.

local postern = "http://127.0.0.1:8081"
-- The content of services.secret_file.
local secret = "the-services-secret"

local http = require "socket.http"
local ltn12 = require "ltn12"
local json = require "cjson.safe"

http.TIMEOUT = 10

local function form(fields)
  local pairs_ = {}
  for name, value in pairs(fields) do
    local coded = value:gsub("[^%w]", function(byte)
      return string.format("%%%02X", byte:byte())
    end)
    table.insert(pairs_, name .. "=" .. coded)
  end
  return table.concat(pairs_, "&")
end

function auth_password_verify(request, password)
  local body = form {
    user = request.user, password = password, protocol = request.service,
    -- Failed logins are counted by the address of the client.
    client = request.rip ~= "" and request.rip or nil,
  }
  local answer = {}
  local _, status = http.request {
    url = postern .. "/check-password",
    method = "POST",
    headers = {
      ["Content-Type"] = "application/x-www-form-urlencoded",
      ["Content-Length"] = #body,
      ["X-Services-Secret"] = secret,
    },
    source = ltn12.source.string(body),
    sink = ltn12.sink.table(answer),
  }
  if status == 200 then
    local account = json.decode(table.concat(answer))
    if account then
      return dovecot.auth.PASSDB_RESULT_OK, {
        user = account.user,
        -- In Dovecot 0 is no limit.
        userdb_quota_rule = string.format("*:bytes=%d", math.max(account.quota, 1)),
      }
    end
  elseif status == 401 and table.concat(answer):find('"invalid_credentials"', 1, true) then
    return dovecot.auth.PASSDB_RESULT_PASSWORD_MISMATCH, "wrong address or password"
  elseif status == 403 then
    return dovecot.auth.PASSDB_RESULT_USER_DISABLED, "disabled"
  end
  -- Too many failed logins, a wrong secret, or no answer: clients must not take it for a wrong
  -- password and forget theirs.
  return dovecot.auth.PASSDB_RESULT_INTERNAL_FAILURE, "Postern answered " .. tostring(status)
end

function script_init()
  return 0
end

function script_deinit()
end
