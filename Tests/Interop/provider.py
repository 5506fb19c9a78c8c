"""An identity provider of the tests: OpenID Connect and GitHub, which misbehaves when told to."""

import base64
import hashlib
import http.server
import itertools
import json
import threading
import time
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

CLIENT_ID, CLIENT_SECRET = "postern-tests", "a:secret&more"


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Key:
    def __init__(self, algorithm="ES256", id="k1"):
        self.algorithm, self.id = algorithm, id
        self.private = {
            "RS256": lambda: rsa.generate_private_key(65537, 2048),
            "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
            "EdDSA": ed25519.Ed25519PrivateKey.generate,
        }[algorithm]()

    @property
    def jwk(self):
        of = jwt.get_algorithm_by_name(self.algorithm)
        made = json.loads(of.to_jwk(self.private.public_key()))
        return {**{name: made[name] for name in made if name != "key_ops"}, "kid": self.id, "use": "sig"}


class Provider:
    """Listens on this machine. What it does is changed by its attributes."""

    def __init__(self):
        self.key = Key()
        self.keys = [self.key]
        # Seconds by which its clock is ahead.
        self.ahead = 0
        # Who signs in.
        self.person = {"sub": "1", "email": "ada@example.com", "email_verified": True}
        # Replace what is right; None removes it.
        self.claims, self.header, self.metadata = {}, {}, {}
        # Makes the ID token of claims and header.
        self.sign = None
        # What the browser brings back besides.
        self.callback = {}
        # Answers in place of the right ones, by path: a status and a body, or a function of the
        # handler.
        self.answers = {}
        self.requests = []
        self.released = threading.Event()
        self._codes = {}
        self._numbers = itertools.count(1)
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                provider.handle(self, {})

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                provider.handle(self, {name: values[0] for name, values in parse_qs(body).items()})

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()

    def table(self, directory, name="id", **fields):
        """The table of the provider in a configuration."""
        secret = directory / "secret"
        secret.write_text(CLIENT_SECRET + "\n")
        secret.chmod(0o600)
        fields = {"name": name, "issuer": self.issuer, "client_id": CLIENT_ID,
                  "secret_file": str(secret), **fields}
        lines = [f"{name} = {json.dumps(value)}" for name, value in fields.items()]
        return "\n".join(["[[users.providers]]", *lines, ""])

    def handle(self, handler, form):
        parts = urlsplit(handler.path)
        self.requests.append(parts.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        answer = self.answers.get(parts.path)
        if callable(answer):
            answer(handler)
        elif answer:
            self.send(handler, *answer)
        elif parts.path == "/.well-known/openid-configuration":
            self.send(handler, 200, self.without({
                "issuer": self.issuer, "authorization_endpoint": self.issuer + "/authorize",
                "token_endpoint": self.issuer + "/token", "jwks_uri": self.issuer + "/keys",
                "userinfo_endpoint": self.issuer + "/userinfo",
                "id_token_signing_alg_values_supported": ["RS256", "ES256", "EdDSA"],
                **self.metadata}))
        elif parts.path == "/keys":
            self.send(handler, 200, {"keys": [key.jwk for key in self.keys]})
        elif parts.path in ("/authorize", "/login/oauth/authorize"):
            code = f"code-{next(self._numbers)}"
            self._codes[code] = (query, dict(self.person))
            back = self.without({"code": code, "state": query["state"], **self.callback})
            handler.send_response(302)
            handler.send_header("Location", f"{query['redirect_uri']}?{urlencode(back)}")
            handler.end_headers()
        elif parts.path in ("/token", "/login/oauth/access_token"):
            self.token(handler, form)
        elif parts.path == "/userinfo":
            self.send(handler, 200, self.last)
        elif parts.path == "/user":
            self.send(handler, 200, {"id": int(self.last["sub"]), "login": "ada"})
        elif parts.path == "/user/emails":
            self.send(handler, 200, [
                {"email": "other@example.com", "primary": False, "verified": True},
                {"email": self.last["email"], "primary": True,
                 "verified": self.last["email_verified"]}])
        else:
            self.send(handler, 404, {})

    def token(self, handler, form):
        query, person = self._codes.pop(form.get("code"), (None, None))
        basic = handler.headers.get("Authorization", "").removeprefix("Basic ")
        shown = base64.b64decode(basic).decode().partition(":")
        is_client = form.get("client_secret") == CLIENT_SECRET or (
            [unquote(part) for part in shown[::2]] == [CLIENT_ID, CLIENT_SECRET])
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if (not query or not is_client or form["redirect_uri"] != query["redirect_uri"]
                or text(digest) != query["code_challenge"]):
            self.send(handler, 400, {"error": "invalid_grant"})
            return
        self.last = person
        now = int(time.time()) + self.ahead
        claims = self.without({
            "iss": self.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 300,
            "nonce": query.get("nonce"), **person, **self.claims})
        header = {"kid": self.key.id, **self.header}
        if self.sign:
            token = self.sign(claims, header)
        else:
            token = jwt.encode(claims, self.key.private, self.key.algorithm, header)
        self.send(handler, 200, {
            "access_token": "access", "token_type": "bearer", "id_token": token})

    @staticmethod
    def without(members):
        return {name: value for name, value in members.items() if value is not None}

    @staticmethod
    def send(handler, status, body):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)


class SignIn:
    """A browser that signs in: it has the cookies, and follows no redirect by itself."""

    def __init__(self, http, url):
        self.http, self.url, self.cookie, self.session = http, url, None, None

    def get(self, url, **headers):
        cookies = {"Cookie": self.cookie} if self.cookie else {}
        return self.http.get(url, headers={**cookies, **headers}, allow_redirects=False, timeout=60)

    def begin(self, name="id"):
        """Where the browser is sent to."""
        answer = self.get(f"{self.url}/api/user/oauth/{name}")
        assert answer.status_code == 303, answer.text
        self.keep(answer)
        return answer.headers["Location"]

    def keep(self, answer):
        self.cookie = answer.headers["Set-Cookie"].partition(";")[0]

    def ask(self, location):
        """Where the provider sends the browser back to."""
        answer = self.http.get(location, allow_redirects=False, timeout=60)
        assert answer.status_code == 302
        return answer.headers["Location"]

    def end(self, location):
        answer = self.get(location, Accept="application/json", **{"Sec-Fetch-Site": "cross-site"})
        cookies = answer.headers.get("Set-Cookie", "")
        if "postern_session=" in cookies:
            self.session = cookies.partition("postern_session=")[2].partition(";")[0]
        return answer

    def run(self, name="id"):
        return self.end(self.ask(self.begin(name)))
