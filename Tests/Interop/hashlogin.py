"""A client of the hash-login API, in JSON or as a browser's form."""

import requests


class HashLogin:
    def __init__(self, url):
        self.url, self.http = url, requests.Session()

    def post(self, path, form=False, headers=None, method="POST", **fields):
        body = {"data": fields} if form else {"json": fields}
        return self.http.request(
            method, self.url + path, headers=headers, timeout=30, allow_redirects=False, **body)

    def register(self, email, url, password, **rest):
        return self.post(
            "/register", email=email, password_hash_url=url, password=password, **rest)

    def login(self, email, password, **rest):
        return self.post("/login", email=email, password=password, **rest)

    def token(self, email, password):
        answer = self.login(email, password)
        assert answer.status_code == 200, answer.text
        return answer.json()["token"]

    def validate(self, token):
        return self.post("/validate", token=token)


def refused(answer, sentence, status=422):
    """Checks the status and the whole body of an error."""
    assert (answer.status_code, answer.json()) == (status, {"error": sentence})
    return True
