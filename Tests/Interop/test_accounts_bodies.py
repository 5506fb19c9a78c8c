"""Bodies that the accounts API refuses; none of them spends the challenge."""

import json

import pytest

from mailboxes import PASSWORD, Mailboxes, failed, fresh
from wire import Wire

KEY = "ab" * 32


@pytest.fixture(scope="module")
def proof(postern):
    """One solved challenge for the whole module: no request here may spend it."""
    return Mailboxes(postern.url).proof()


@pytest.fixture(scope="module")
def user(postern):
    return Mailboxes(postern.url).user()


def text(proof, **changes):
    """An account creation that is valid except for the changes; `...` removes a member."""
    body = {"address": fresh(), "password": PASSWORD, "pow": proof, **changes}
    return json.dumps({name: value for name, value in body.items() if value is not ...}).encode()


def send(boxes, body, path="/api/accounts", kind="application/json"):
    return boxes.http.post(
        boxes.url + path, data=body, headers={"Content-Type": kind} if kind else {}, timeout=60)


MALFORMED = {
    "nothing": lambda proof: b"",
    "half an object": lambda proof: text(proof)[:-1],
    "two values": lambda proof: text(proof) + b"{}",
    "an array": lambda proof: b"[" + text(proof) + b"]",
    "null": lambda proof: b"null",
    "a duplicate member": lambda proof: text(proof)[:-1] + b', "password": "another one"}',
    "a duplicate written otherwise": lambda proof: (
        text(proof)[:-1] + b', "p\\u0061ssword": "another one"}'),
    "NaN": lambda proof: text(proof)[:-1] + b', "extra": NaN}',
    "33 levels": lambda proof: text(proof)[:-1] + b', "extra": ' + b"[" * 32 + b"]" * 32 + b"}",
    "60,000 levels": lambda proof: b"[" * 60000,
    "invalid UTF-8": lambda proof: text(proof)[:-1] + b', "extra": "\xff\xfe"}',
    "an overlong form": lambda proof: text(proof)[:-1] + b', "extra": "\xc0\x80"}',
    "a lone surrogate": lambda proof: text(proof)[:-1] + b', "extra": "\\ud800"}',
    "a control character": lambda proof: text(proof)[:-1] + b', "extra": "\x00"}',
    "UTF-16": lambda proof: text(proof).decode().encode("utf-16"),
    "no address": lambda proof: text(proof, address=...),
    "null for the address": lambda proof: text(proof, address=None),
    "a number for the address": lambda proof: text(proof, address=1),
    "a list for the address": lambda proof: text(proof, address=[fresh()]),
    "no secret": lambda proof: text(proof, password=...),
    "null for the secret": lambda proof: text(proof, password=None),
    "a number for the password": lambda proof: text(proof, password=123456),
    "a password of 1,025 bytes": lambda proof: text(proof, password="x" * 1025),
    "a password of 1,025 bytes in 1,024 characters": lambda proof: text(
        proof, password="x" * 1023 + "é"),
    "a key of 63 digits": lambda proof: text(proof, auth_key=KEY[1:]),
    "a key of 65 digits": lambda proof: text(proof, auth_key=KEY + "a"),
    "a key that is not hex": lambda proof: text(proof, auth_key=KEY[1:] + "g"),
    "a key in full-width digits": lambda proof: text(proof, auth_key="１" * 64),
    "an empty key": lambda proof: text(proof, auth_key=""),
    "a text for the proof": lambda proof: text(proof, pow="easy"),
    "a proof without an id": lambda proof: text(proof, pow={"nonce": proof["nonce"]}),
    "a proof without a nonce": lambda proof: text(proof, pow={"id": proof["id"]}),
    "a list for the nonce": lambda proof: text(proof, pow={**proof, "nonce": [1]}),
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_creation_is_invalid(boxes, proof, kind):
    failed(send(boxes, MALFORMED[kind](proof)), 400, "invalid_request")


# Every endpoint that reads a body, with one that it would take.
TAKES_BODY = {
    "POST /api/accounts": {"address": "a-b@mail.test", "password": PASSWORD},
    "POST /api/token": {"address": "a-b@mail.test", "password": PASSWORD},
    "PUT /api/accounts/{account}/reset-password": {"password": PASSWORD},
    "PUT /api/user/accounts/{account}/reset-password": {"password": PASSWORD},
    "POST /api/user/register": {"email": "a@example.com", "password": PASSWORD},
    "POST /api/user/login": {"email": "a@example.com", "password": PASSWORD},
    "PUT /api/user/password": {"current_password": PASSWORD, "password": PASSWORD},
    "POST /api/user/domains": {"domain": "example.com"},
}


@pytest.fixture(scope="module")
def owned(postern, user):
    return Mailboxes(postern.url).mailbox(user.token)


@pytest.mark.parametrize("place", TAKES_BODY)
def test_no_endpoint_takes_a_body_that_is_not_what_it_asks_for(boxes, owned, user, place):
    method, path = place.split()
    path = path.format(account=owned.id)

    def put(data, kind="application/json"):
        return boxes.http.request(method, boxes.url + path, data=data, timeout=60, headers={
            "Content-Type": kind, "Authorization": f"Bearer {user.token}"})

    for data in [b"", b"{", b"[]", b'"x"', b"{}", b"null", b"\xff", b"[" * 60000, b"{}{}"]:
        failed(put(data), 400, "invalid_request")
    right = TAKES_BODY[place]
    for name in right:
        for wrong in [None, 1, True, [], {}, 1.5]:
            failed(put(json.dumps({**right, name: wrong}).encode()), 400, "invalid_request")
    failed(put(json.dumps(right).encode(), "text/plain"), 415, "unsupported_media_type")
    failed(put(b" " * 65537), 413, "payload_too_large")


def test_one_byte_over_the_limit_is_413_and_the_limit_itself_is_not(boxes, proof):
    body = text(proof, address="no address")
    over, full = [body + b" " * (size - len(body)) for size in (65537, 65536)]
    failed(send(boxes, over), 413, "payload_too_large")
    failed(send(boxes, full), 400, "invalid_address")


ADDRESSES = {
    "nothing": "", "no at": "box", "no local part": "@mail.test", "no domain": "box@",
    "two ats": "a@b@mail.test", "a space inside": "bo x@mail.test",
    "a line break inside": "box\r\nbcc: x@mail.test", "a line feed inside": "bo\nx@mail.test",
    "NUL": "box\0@mail.test", "DEL": "box\x7f@mail.test", "a bell": "box\a@mail.test",
    "a Kelvin sign": "box\u212a@mail.test", "a dotless i": "b\u0131x@mail.test",
    "Cyrillic": "b\u043ex@mail.test", "full width": "ｂｏｘ@mail.test",
    "an emoji": "b\U0001f4e7@mail.test",
    "a soft hyphen": "bo\u00adx@mail.test", "right to left": "\u202ebox@mail.test",
    "a no-break space at the end": "box@mail.test\u00a0",
    "a byte order mark": "\ufeffbox@mail.test",
    "an ideographic full stop": "box@mail\u3002test",
    "a dot first": ".box@mail.test", "a dot last": "box.@mail.test", "two dots": "b..x@mail.test",
    "a sub-address": "box+tag@mail.test", "an apostrophe": "o'box@mail.test",
    "a quoted local part": '"box"@mail.test', "a name around it": "Box <box@mail.test>",
    "a percent": "box%40x@mail.test", "a slash": "../box@mail.test",
    "65 bytes": "x" * 65 + "@mail.test",
    "60,000 bytes": "x" * 60000 + "@mail.test",
}


@pytest.mark.parametrize("kind", ADDRESSES)
def test_an_invalid_address_is_refused_and_never_converted(boxes, proof, kind):
    failed(send(boxes, text(proof, address=ADDRESSES[kind])), 400, "invalid_address")
    answer = boxes.login(ADDRESSES[kind])
    # A login learns only that the credentials are wrong.
    failed(answer, 401, "invalid_credentials")


@pytest.mark.parametrize("domain", ["example.org", "mail.test.example", "test", "mail.tes"])
def test_a_domain_of_another_server_is_refused(boxes, proof, domain):
    answer = send(boxes, text(proof, address=f"box@{domain}"))
    assert answer.status_code == 400
    assert answer.json()["error"] in ("invalid_domain", "invalid_address")


def test_reserved_names_are_taken(boxes):
    for name in ["postmaster", "Admin"]:
        failed(boxes.create(f"{name}@mail.test"), 409, "address_taken")


@pytest.mark.parametrize("password, taken", [
    ("", False), ("12345", False), ("éé", False), ("123456", True), ("ééé", True),
    ("x" * 1024, True), ("é" * 512, True), ("nul\0inside", True), ("\0" * 6, True),
    ("line\r\nbreaks", True), ("\U0001f512" * 2, True),
])
def test_a_password_is_6_to_1024_bytes_of_whatever_kind(boxes, user, password, taken):
    address = fresh()
    made = boxes.create(address, password, user.token if not taken else None)
    if not taken:
        failed(made, 400, "password_too_short")
        # At a login it is a wrong password.
        failed(boxes.login(address, password), 401, "invalid_credentials")
        return
    assert made.status_code == 201, made.text
    assert boxes.login(address, password).status_code == 200
    # Every byte of it is compared.
    failed(boxes.login(address, password[:-1]), 401, "invalid_credentials")
    if len(password.encode()) < 1024:
        failed(boxes.login(address, password + "\0"), 401, "invalid_credentials")


def test_passwords_are_not_normalised(boxes):
    box = boxes.mailbox(password="caf\u00e9-caf\u00e9")
    failed(boxes.login(box.address, "cafe\u0301-cafe\u0301"), 401, "invalid_credentials")


def test_a_short_new_password_changes_nothing(boxes):
    box = boxes.mailbox()
    failed(boxes.reset(box.id, box.token, "12345"), 400, "password_too_short")
    failed(boxes.reset(box.id, box.token, "x" * 1025), 400, "invalid_request")
    assert boxes.get(box.id, box.token).status_code == 200
    assert boxes.login(box.address).status_code == 200


STRANGE_IDS = [
    "..", "../..", "..%2f..", "%2e%2e", "%2e%2e%2fuser%2fme", "a%2fb", "%00", "%0d%0aX:%20y",
    "x" * 6000, "%41" * 2000, "*", "null", "0", "-1", "00000000-0000-0000-0000-000000000000",
    "'%20OR%201=1--", "%F0%9F%93%A7", "{account_id}", "%7Bid%7D", "me", "@", "%40mail.test",
]


@pytest.mark.parametrize("strange", STRANGE_IDS)
def test_an_unknown_or_invalid_id_is_not_found(postern, boxes, owned, user, strange):
    free = boxes.mailbox()
    for kind in ["accounts", "user/accounts", "user/tokens", "user/domains"]:
        for token, denied in [(user.token, {404, 405}), (free.token, {403, 404, 405})]:
            answer = as_it_is(postern, "DELETE", f"/api/{kind}/{strange}", token)
            # A target that breaks RFC 3986 is refused before it is routed.
            assert answer.status in denied | {400}, (kind, answer.body)
            if answer.status != 400:
                assert set(json.loads(answer.body)) == {"error", "message"}
    assert boxes.get(owned.id, user.token).status_code == 200
    assert boxes.get(free.id, free.token).status_code == 200


def as_it_is(server, method, path, token):
    """Sends the path as it is; a client library would normalise it."""
    with Wire(server) as wire:
        wire.send(
            f"{method} {path} HTTP/1.1\r\nHost: {server.host}\r\n"
            f"Authorization: Bearer {token}\r\n\r\n".encode())
        return wire.answer()


def test_an_address_is_an_id_in_any_encoding_and_case(boxes):
    box = boxes.mailbox()
    for name in [box.address, box.address.upper(), box.address.replace("@", "%40"),
                 "%62" + box.address[1:], box.id.upper()]:
        assert boxes.get(name, box.token).status_code == 200, name


def test_refused_bodies_did_not_spend_the_challenge_and_it_works_once(boxes, proof):
    assert send(boxes, text(proof)).status_code == 201
    failed(send(boxes, text(proof)), 403, "challenge not found or expired")
