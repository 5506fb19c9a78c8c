"""Passkeys by an authenticator in software that another project has written."""

import base64

from soft_webauthn import SoftWebauthnDevice


def text(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def data(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def json_form(credential):
    """What a browser's `toJSON()` gives, of what the device gives."""
    identifier = text(credential["rawId"])
    return {"id": identifier, "rawId": identifier, "type": "public-key",
            "response": {name: text(value) for name, value in credential["response"].items()}}


class Key:
    """A device with a passkey of a user, which the server does not know yet."""

    def __init__(self, boxes, user):
        self.boxes, self.user, self.device = boxes, user, SoftWebauthnDevice()
        self.origin = boxes.url.replace("127.0.0.1", "localhost")
        options = boxes.call("POST", "/api/user/passkeys/options", user.token).json()
        self.challenge, key = options["challenge"], options["public_key"]
        key["challenge"], key["user"]["id"] = data(key["challenge"]), data(key["user"]["id"])
        self.signed = key["challenge"]
        self.credential = json_form(self.device.create({"publicKey": key}, self.origin))

    def register(self):
        return self.boxes.call("POST", "/api/user/passkeys", self.user.token, {
            "challenge": self.challenge, "name": "soft", "credential": self.credential})

    def use(self, challenge=None):
        """The body of a login, and the bytes that the server's challenge has signed.

        `challenge` is that of a second factor.
        """
        options = self.boxes.call("POST", "/api/user/login/passkey/options", None,
                                  challenge and {"challenge": challenge}).json()
        key = options["public_key"]
        key["challenge"] = data(key["challenge"])
        credential = json_form(self.device.get({"publicKey": key}, self.origin))
        return {"challenge": options["challenge"], "credential": credential}, key["challenge"]

    def log_in(self, body):
        return self.boxes.call("POST", "/api/user/login/passkey", None, body)
