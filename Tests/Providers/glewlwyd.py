"""Debian's Glewlwyd with an OpenID Connect plugin, one client and one user, in a folder of its own."""

import gzip
import html
import pathlib
import socket
import sqlite3
import subprocess
from urllib.parse import parse_qs, urlsplit

import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from program import await_true

SCHEMA = pathlib.Path("/usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz")
SAMPLE = pathlib.Path("/usr/share/doc/glewlwyd/glewlwyd.conf.sample.gz")
PASSWORD = "a password of the tests"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Glewlwyd:
    def __init__(self, directory, client_id, client_secret, redirect_uri):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.issuer = f"{self.url}/api/oidc"
        database = directory / "glewlwyd.db"
        with sqlite3.connect(database) as made:
            made.executescript(gzip.decompress(SCHEMA.read_bytes()).decode())
        made.close()
        config = gzip.decompress(SAMPLE.read_bytes()).decode()
        for old, new in [
                ("port=4593", f"port={self.port}"), ("http://localhost:4593", self.url),
                ("/var/cache/glewlwyd/glewlwyd.db", str(database)), ("cookie_secure=1", "cookie_secure=0"),
                ('cookie_same_site="empty"', 'cookie_same_site="lax"'),
                # Python takes no cookie for a domain without a dot.
                ('cookie_domain="localhost"', "")]:
            assert old in config, old
            config = config.replace(old, new)
        file = directory / "glewlwyd.conf"
        file.write_text(config)
        self.log = directory / "glewlwyd.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                ["glewlwyd", "--config-file", str(file)], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log)
        self.admin = self._browser()
        try:
            await_true(self._answers, self.log.read_text)
            self._log_in(self.admin, "admin", "password")
            self._add(client_id, client_secret, redirect_uri)
        except BaseException:
            self.close()
            raise

    def close(self):
        self.process.terminate()
        self.process.wait(20)

    def _browser(self):
        browser = requests.Session()
        browser.trust_env = False
        return browser

    def _answers(self):
        assert self.process.poll() is None, self.log.read_text()
        try:
            return self.admin.get(self.url + "/config", timeout=5).ok
        except requests.ConnectionError:
            return False

    def _log_in(self, browser, name, password):
        answer = browser.post(
            self.url + "/api/auth", json={"username": name, "password": password}, timeout=20)
        assert answer.status_code == 200, answer.text

    def _post(self, path, body):
        answer = self.admin.post(f"{self.url}/api/{path}", json=body, timeout=60)
        assert answer.status_code == 200, answer.text

    def _add(self, client_id, client_secret, redirect_uri):
        key = rsa.generate_private_key(65537, 2048)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption()).decode()
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM,
            serialization.PublicFormat.SubjectPublicKeyInfo).decode()
        self._post("mod/plugin/", {
            "module": "oidc", "name": "oidc", "display_name": "OpenID Connect", "enabled": True,
            "parameters": {
                "iss": self.issuer, "jwt-type": "rsa", "jwt-key-size": "256", "key": private,
                "cert": public, "access-token-duration": 3600, "refresh-token-duration": 3600,
                "code-duration": 600, "refresh-token-rolling": True, "allow-non-oidc": False,
                "auth-type-code-enabled": True, "auth-type-code-revoke-replayed": True,
                "auth-type-token-enabled": False, "auth-type-id-token-enabled": False,
                "auth-type-none-enabled": False, "auth-type-password-enabled": False,
                "auth-type-client-enabled": False, "auth-type-device-enabled": False,
                "auth-type-refresh-enabled": False, "pkce-allowed": True, "pkce-required": True,
                "pkce-method-plain-allowed": False, "jwks-show": True,
                "jwks-x5c": [], "subject-type": "public", "name-claim": "no",
                "email-claim": "mandatory", "scope-claim": "no",
                "allowed-scope": ["openid", "email"], "secret-type": "", "address-claim": {"type": "no"},
                # Of the properties that users have without further settings.
                "claims": [{"name": "email_verified", "user-property": "name",
                            "type": "boolean", "boolean-value-true": "verified",
                            "boolean-value-false": "unverified", "mandatory": True,
                            "on-demand": False, "scope": []}],
                "oauth-as-iss-id": True}})
        self._post("scope/", {"name": "email", "display_name": "Email", "password_required": False})
        self._post("client/", {
            "client_id": client_id, "client_secret": client_secret, "confidential": True,
            "password": client_secret, "enabled": True, "name": "Postern", "scope": [],
            "redirect_uri": [redirect_uri], "authorization_type": ["code"],
            "token_endpoint_auth_method": ["client_secret_basic"]})
        self.client_id = client_id

    def add_user(self, name, email):
        self._post("user/", {
            "username": name, "email": email, "enabled": True, "password": PASSWORD,
            "name": "verified", "scope": ["openid", "email"]})

    def sign_in(self, name, location):
        """What a browser does at the page that `location` leads to. Returns where it is sent back to."""
        browser = self._browser()
        self._log_in(browser, name, PASSWORD)
        granted = browser.put(
            f"{self.url}/api/auth/grant/{self.client_id}", json={"scope": "openid email"}, timeout=20)
        assert granted.status_code == 200, granted.text
        answer = browser.get(location + "&g_continue", allow_redirects=False, timeout=20)
        assert answer.status_code == 302, answer.text
        return html.unescape(answer.headers["Location"])
