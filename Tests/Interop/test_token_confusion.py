"""Every kind of token at every endpoint that takes one: each opens only its own."""

import base64
import uuid

import pytest

from agent import Agent, bearer
from hashhost import argon2
from hashlogin import HashLogin
from mailboxes import Mailboxes, failed, fresh, solve
from services import Services
from test_capability_token import encoded, signed
from test_accounts_flow import claims, header

# Each endpoint, and the kinds of token that it accepts.
ACCOUNT, USER = {"email", "pro", "api"}, {"pro", "api"}
PLACES = {
    "POST /api/v1/session": {"challenge"},
    "POST /api/v1/capability": {"session", "email"},
    "POST /api/v1/api-key": {"session"},
    "DELETE /api/v1/account": {"session"},
    "GET /.well-known/jmap": {"capability"},
    "GET /userinfo": {"capability", "email"},
    "GET /api/accounts/{account}": ACCOUNT,
    "DELETE /api/accounts/{account}": ACCOUNT,
    "PUT /api/accounts/{account}/reset-password": ACCOUNT,
    "DELETE /api/user/accounts/{account}": USER,
    "PUT /api/user/accounts/{account}/reset-password": USER,
    "POST /api/user/logout": USER,
    "PUT /api/user/password": USER,
    "GET /api/user/me": USER,
    "GET /api/user/accounts": USER,
    "GET /api/user/tokens": USER,
    "POST /api/user/tokens": USER,
    "DELETE /api/user/tokens/{any}": USER,
    "GET /api/user/domains": USER,
    "POST /api/user/domains": USER,
    "POST /api/user/domains/{any}/verify": USER,
    "DELETE /api/user/domains/{any}": USER,
}
KINDS = ["challenge", "session", "capability", "api key", "work", "email", "pro", "api"]


@pytest.fixture(scope="module")
def tokens(postern):
    """One valid token of each kind, and the account that the last three give access to."""
    agent, boxes = Agent(postern.url), Mailboxes(postern.url)
    signup = agent.session(username="confused-agent")
    user = boxes.user()
    box = boxes.mailbox(user.token)
    return {
        "challenge": agent.challenge(), "session": bearer(signup),
        "capability": bearer(agent.capability(bearer(signup))),
        "api key": signup.json()["apiKey"], "work": boxes.challenge()["id"],
        "email": box.token, "pro": user.token, "api": boxes.api_token(user)["token"],
        "account": box.id, "address": box.address,
    }


def knock(boxes, place, token, account, **options):
    """Calls an endpoint with a body that changes nothing there."""
    method, path = place.split()
    body = {"powHex": "0" * 128, "nonce": "0", "username": "newagent"}
    return boxes.call(
        method, path.format(account=account, any=uuid.UUID(int=7)), token, body, **options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", PLACES)
def test_no_token_is_accepted_as_another_kind(boxes, tokens, place, kind):
    if kind in PLACES[place]:
        return
    answer = knock(boxes, place, tokens[kind], tokens["account"])
    if place.split()[1].startswith("/api/user") and kind == "email":
        failed(answer, 403, "forbidden")
    elif place.split()[1].startswith(("/api/user", "/api/accounts", "/userinfo")):
        failed(answer, 401, "invalid_or_expired_token")
    else:
        assert answer.status_code == 401 and answer.headers["WWW-Authenticate"] == "Bearer"
        assert answer.json()["error"]["hint"]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ACCOUNT])
def test_a_foreign_token_does_not_make_accounts(boxes, tokens, kind):
    answer = boxes.create(fresh(), token=tokens[kind], pow=boxes.proof())
    failed(answer, 401, "invalid_or_expired_token")


def test_an_email_jwt_does_not_replace_the_proof_of_work(boxes, tokens):
    failed(boxes.create(fresh(), token=tokens["email"]), 400, "proof of work required")
    made = boxes.create(fresh(), token=tokens["email"], pow=boxes.proof())
    assert made.status_code == 201
    assert boxes.get(made.json()["id"], made.json()["token"]).json()["quota"] == 41_943_040


@pytest.mark.parametrize("kind", KINDS)
def test_no_other_token_is_accepted_as_a_challenge(boxes, tokens, kind):
    if kind == "work":
        return
    answer = boxes.create(fresh(), pow={"id": tokens[kind], "nonce": "0"})
    failed(answer, 403, "challenge not found or expired")


def test_the_agent_api_refuses_a_challenge_of_the_accounts_api(boxes, postern):
    work = boxes.challenge()
    answer = Agent(postern.url).post("/api/v1/session", work["id"], {
        "powHex": "0" * 128, "nonce": solve(work), "username": "newagent"})
    assert answer.status_code == 401
    assert answer.json()["error"]["message"] == "Invalid or expired challenge"


def test_another_servers_tokens_and_challenges_are_refused(boxes, tokens, start):
    foreign = Mailboxes(start(POSTERN_USERS_REGISTRATION="open").url)
    user = foreign.user()
    box, theirs = foreign.mailbox(user.token), foreign.proof()
    for token in [box.token, user.token, foreign.api_token(user)["token"]]:
        for place in ["GET /api/accounts/{account}", "GET /api/user/me"]:
            failed(knock(boxes, place, token, box.id), 401, "invalid_or_expired_token")
    failed(boxes.create(fresh(), pow=theirs), 403, "challenge not found or expired")


def forgeries(token):
    """Forgeries of the token; its claims stay the same."""
    head, payload, signature = token.split(".")
    named, known = header(token), claims(token)
    return {
        "none": signed({**named, "alg": "none"}, known, lambda text: b""),
        "none, in capitals": signed({**named, "alg": "NONE"}, known, lambda text: b""),
        "RS256": signed({**named, "alg": "RS256"}, known, lambda text: bytes(256)),
        "another kid": signed({**named, "kid": "nobody"}, known, lambda text: bytes(32)),
        "an altered claim": f"{head}.{encoded(payload.encode())}.{signature}",
        "no signature": f"{head}.{payload}.", "two parts": f"{head}.{payload}",
        "four parts": f"{token}.{signature}", "padding": token + "=", "many dots": "." * 4000,
        "a longer one": token + "AAAA", "a shorter one": token[:-4],
        "the last letter": token[:-1] + ("A" if token[-1] not in "AB" else "Q"),
        "a quote": f'"{token}"', "two": f"{token},{token}", "a space inside": f"{head} .{payload}",
    }


@pytest.mark.parametrize("kind", ["email", "pro"])
def test_forgeries_are_refused(boxes, tokens, kind):
    place = "GET /api/accounts/{account}"
    assert knock(boxes, place, tokens[kind], tokens["account"]).status_code == 200
    for trick, token in forgeries(tokens[kind]).items():
        answer = knock(boxes, place, token, tokens["account"])
        assert answer.status_code == 401, trick


@pytest.mark.parametrize("change", [str.upper, str.lower, lambda token: token[:-1],
                                    lambda token: token + "A", lambda token: token[:7],
                                    lambda token: "tm_pro_" + "A" * 5000])
def test_an_altered_api_token_is_refused(boxes, tokens, change):
    failed(boxes.call("GET", "/api/user/me", change(tokens["api"])),
           401, "invalid_or_expired_token")


@pytest.mark.parametrize("value, code", [
    (None, "unauthorized"), ("Bearer", "unauthorized"), ("Bearer ", "unauthorized"),
    ("Bearer garbage", "invalid_or_expired_token"),
])
def test_a_missing_and_an_invalid_token_have_different_codes(boxes, tokens, value, code):
    for path in ["/api/user/me", f"/api/accounts/{tokens['account']}"]:
        headers = {} if value is None else {"Authorization": value}
        failed(boxes.call("GET", path, headers=headers), 401, code)


OTHERS = {
    # The kind of token and the account, and the status; none is success.
    ("email", "own"): None, ("email", "another's"): 403, ("email", "missing"): 403,
    ("pro", "own"): None, ("pro", "another's"): 404, ("pro", "missing"): 404,
    ("api", "own"): None, ("api", "another's"): 404, ("api", "missing"): 404,
}


@pytest.mark.parametrize("kind, whose", OTHERS)
@pytest.mark.parametrize("form", ["id", "address"])
def test_other_accounts_are_refused_whether_they_exist_or_not(
        boxes, tokens, kind, whose, form):
    another = boxes.mailbox()
    name = {
        "own": {"id": tokens["account"], "address": tokens["address"]},
        "another's": {"id": another.id, "address": another.address},
        "missing": {"id": str(uuid.uuid4()), "address": fresh()},
    }[whose][form]
    status = OTHERS[kind, whose]
    shown = boxes.get(name, tokens[kind])
    if status is None:
        assert shown.status_code == 200
        return
    code = {403: "forbidden", 404: "not_found"}[status]
    for answer in [shown, boxes.reset(name, tokens[kind], "new password"),
                   boxes.delete(name, tokens[kind])]:
        failed(answer, status, code)
    assert boxes.get(another.id, another.token).status_code == 200


COOKIE = "postern_session="


def test_the_session_cookie_has_its_attributes_and_opens_user_paths_only(boxes):
    user = boxes.user()
    login = boxes.call("POST", "/api/user/login", None, {
        "email": user.email, "password": user.password})
    value, *attributes = login.headers["Set-Cookie"].split("; ")
    assert value.startswith(COOKIE)
    assert set(attributes) == {"HttpOnly", "Secure", "SameSite=Strict", "Path=/api/user"}
    boxes.http.cookies.clear()

    def go(method, path, **headers):
        return boxes.call(method, path, headers={"Cookie": value, **headers})

    box = boxes.mailbox(user.token)
    assert go("GET", "/api/user/me").status_code == 200
    failed(go("GET", f"/api/accounts/{box.id}"), 401, "unauthorized")
    failed(go("GET", "/api/user/me", Authorization="Bearer dead"), 401, "invalid_or_expired_token")
    assert go("GET", "/api/user/me", Cookie=f"a=b; {value}; c=d").status_code == 200
    failed(go("GET", "/api/user/me", Cookie=f"{value}; {COOKIE}planted"), 401, "unauthorized")


FOREIGN = [
    {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"}, {"Origin": "{url}.evil.example"},
    {"Origin": "{url}", "Sec-Fetch-Site": "cross-site"},
]
OWN = [{}, {"Origin": "{url}"}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}]


@pytest.mark.parametrize("headers", FOREIGN + OWN)
def test_a_write_by_cookie_needs_the_servers_own_origin(boxes, headers):
    user = boxes.user()
    sent = {name: value.format(url=boxes.url) for name, value in headers.items()}
    cookie = {"Cookie": COOKIE + user.token}
    answer = boxes.call("POST", "/api/user/tokens", headers={**cookie, **sent})
    if headers in FOREIGN:
        failed(answer, 403, "forbidden")
        failed(boxes.call("POST", "/api/user/logout", headers={**cookie, **sent}),
               403, "forbidden")
        # A bearer token is not sent by a browser on its own.
        assert boxes.call("POST", "/api/user/tokens", user.token, headers=sent).status_code == 201
    else:
        assert answer.status_code == 201


def test_logout_clears_the_cookie(boxes):
    user = boxes.user()
    answer = boxes.call("POST", "/api/user/logout", user.token)
    value, *attributes = answer.headers["Set-Cookie"].split("; ")
    assert value == COOKIE and "Max-Age=0" in attributes and "Path=/api/user" in attributes


def test_a_challenge_is_spent_by_a_false_proof_too(boxes):
    challenge = boxes.challenge()
    wrong = {"id": challenge["id"], "nonce": solve(challenge, good=False)}
    right = {"id": challenge["id"], "nonce": solve(challenge)}
    failed(boxes.create(fresh(), pow=wrong), 403, "invalid proof of work")
    failed(boxes.create(fresh(), pow=right), 403, "challenge not found or expired")


@pytest.mark.parametrize("nonce", ["", "x" * 129, "1\n", "１", "\0"])
def test_an_invalid_nonce_is_a_wrong_proof(boxes, nonce):
    answer = boxes.create(fresh(), pow={"id": boxes.challenge()["id"], "nonce": nonce})
    assert answer.status_code in (400, 403), answer.text
    assert answer.json()["error"] in ("invalid proof of work", "invalid_request")


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "EdDSA"])
def test_services_take_capabilities_and_email_jwts_only(
        start, authority, host, tmp_path, algorithm):
    address = f"unix:{tmp_path}/s"
    server = start(
        POSTERN_TOKENS_CAPABILITY_ALGORITHM=algorithm, POSTERN_SERVICES_LISTEN=address,
        POSTERN_USERS_REGISTRATION="open", POSTERN_HASH_LOGIN_CA_FILE=str(authority.file))
    agent, boxes = Agent(server.url), Mailboxes(server.url)
    logins, services = HashLogin(server.url), Services(address)
    assert logins.register(
        "login@users.example", host.serve(argon2("right")), "right").status_code == 201
    signup = agent.session(username="confused-agent")
    user = boxes.user()
    capability, email = bearer(agent.capability(bearer(signup))), boxes.mailbox(user.token).token
    login = logins.token("login@users.example", "right")
    own, other = header(capability)["kid"], header(login)["kid"]

    def renamed(token, **names):
        return signed({**header(token), **names}, claims(token),
                      lambda text: base64.urlsafe_b64decode(token.split(".")[2] + "=="))

    others = {
        "challenge": agent.challenge(), "session": bearer(signup),
        "api key": signup.json()["apiKey"], "work": boxes.challenge()["id"], "pro": user.token,
        "api": boxes.api_token(user)["token"], "login": login,
        "passkey": boxes.call("POST", "/api/user/login/passkey/options").json()["challenge"],
        "codes": boxes.call("POST", "/api/user/totp", user.token).json()["enrolment"],
        "the kid of a login key": renamed(capability, kid=other),
        "a login token with the kid of a capability": renamed(login, kid=own),
        "the kid of an Email JWT": renamed(capability, kid=header(email)["kid"]),
        "an Email JWT with the kid of a capability": renamed(email, kid=own),
        "nothing signed": signed(header(capability), claims(capability), lambda text: b""),
        "zeros": signed(header(capability), claims(capability), lambda text: bytes(64)),
    }
    for name in {"RS256", "ES256", "EdDSA", "HS256", "none"} - {algorithm}:
        others[f"the algorithm {name}"] = renamed(capability, alg=name)
    assert all(others.values())
    for token in [capability, email]:
        assert services.introspect(token)["active"]
        assert services.forward(f"Bearer {token}").status == 200
    for kind, token in others.items():
        assert services.introspect(token) == {"active": False}, kind
        assert services.forward(f"Bearer {token}").status == 401, kind
        for answer in [services.call("GET", "/userinfo", {"Authorization": f"Bearer {token}"}),
                       services.check(services.introspect(email)["email"], token)]:
            assert answer.status == 401, kind
        assert not logins.validate(token).json().get("valid") or token == login, kind
    for token in [capability, email]:
        assert not logins.validate(token).json().get("valid")
