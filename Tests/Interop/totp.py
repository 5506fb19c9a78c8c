"""One-time codes as an app computes them (RFC 6238), with the standard library alone."""

import base64
import hashlib
import hmac
import struct
import urllib.parse


def code(uri, time):
    """The code of an otpauth URI at a Unix time."""
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(uri).query)
    secret = query["secret"][0]
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    step = struct.pack(">Q", int(time) // int(query["period"][0]))
    mac = hmac.new(key, step, getattr(hashlib, query["algorithm"][0].lower())).digest()
    offset = mac[-1] & 15
    number = struct.unpack(">I", mac[offset:offset + 4])[0] & 0x7FFFFFFF
    digits = int(query["digits"][0])
    return str(number % 10**digits).zfill(digits)


def enable(boxes, token, time):
    """Turns one-time codes on at this Unix time of the server, for the user with the token. Returns
    the otpauth URI and the recovery codes."""
    begun = boxes.call("POST", "/api/user/totp", token).json()
    confirmed = boxes.call("POST", "/api/user/totp/confirm", token, {
        "enrolment": begun["enrolment"], "code": code(begun["uri"], time)})
    assert confirmed.status_code == 201, confirmed.text
    return begun["uri"], confirmed.json()["recovery_codes"]
