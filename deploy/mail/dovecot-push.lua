-- Tells Postern of new messages, for the webhooks of users: PUT /delivered/dovecot.
-- Copy to /etc/dovecot/dovecot-push.lua, readable by root and vmail only: it has the secret.
-- dovecot-push.conf loads it.

local postern = "http://127.0.0.1:8081"
-- The content of services.secret_file.
local secret = "the-services-secret"

local http = require "socket.http"
local ltn12 = require "ltn12"
local json = require "cjson.safe"

-- A delivery waits for it.
http.TIMEOUT = 5

function dovecot_lua_notify_begin_txn(user)
  return user
end

function dovecot_lua_notify_event_message_new(user, event)
  local body = json.encode {
    user = user.username, event = "messageNew", folder = event.mailbox,
    from = event.from_address or event.from, subject = event.subject_utf8 or event.subject,
    snippet = event.snippet,
  }
  local _, status = http.request {
    url = postern .. "/delivered/dovecot",
    method = "PUT",
    headers = {
      ["Content-Type"] = "application/json",
      ["Content-Length"] = #body,
      ["X-Services-Secret"] = secret,
    },
    source = ltn12.source.string(body),
  }
  if status ~= 200 then
    dovecot.i_warning("Postern was not told of a message: " .. tostring(status))
  end
end

function dovecot_lua_notify_end_txn(user, success)
end
