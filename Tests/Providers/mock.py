"""oidc-provider-mock, an OpenID provider for tests on Authlib, in an environment of its own."""

import pathlib
import socket
import subprocess

import requests

from program import await_true

PYTHON = pathlib.Path(__file__).parents[2] / ".venv-providers/bin/python"


class Mock:
    def __init__(self, directory):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        self.issuer = f"http://127.0.0.1:{port}"
        self.log = (directory / "mock.log").open("wb")
        self.http = requests.Session()
        self.http.trust_env = False
        self.process = subprocess.Popen(
            [str(PYTHON), "-m", "oidc_provider_mock", "--port", str(port), "--require-nonce", "true"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        await_true(self._answers, (directory / "mock.log").read_text)

    def close(self):
        self.process.terminate()
        self.process.wait(20)
        self.log.close()

    def _answers(self):
        assert self.process.poll() is None
        try:
            return self.http.get(
                self.issuer + "/.well-known/openid-configuration", timeout=5).ok
        except requests.ConnectionError:
            return False

    def add_user(self, name, email, verified=True):
        answer = self.http.put(
            f"{self.issuer}/users/{name}", json={"email": email, "email_verified": verified},
            timeout=20)
        assert answer.status_code == 204, answer.text

    def sign_in(self, name, location):
        """What a browser does at the page that `location` leads to. Returns where it is sent back to."""
        answer = self.http.post(location, data={"sub": name}, allow_redirects=False, timeout=20)
        assert answer.status_code == 302, answer.text
        return answer.headers["Location"]
