"""JMAP as RFC 8620 and RFC 8621 describe it: requests, nothing of Postern's."""

import json

import requests

from agent import bearer
from mailboxes import Mailboxes

CORE, MAIL, SUBMISSION, BLOB = (
    f"urn:ietf:params:jmap:{name}" for name in ["core", "mail", "submission", "blob"])
EVERYTHING = [CORE, MAIL, SUBMISSION, BLOB]


class JMAP:
    """One client of one account. `token` is a capability, `http` an HTTP client of its own."""

    def __init__(self, url, token, verify=True, http=None):
        self.token = token
        self.http = http or requests.Session()
        self.http.trust_env, self.http.verify = False, verify
        self.http.headers["Authorization"] = f"Bearer {token}"
        answer = self.http.get(f"{url}/.well-known/jmap", timeout=60)
        assert answer.status_code == 200, answer.text
        self.session = answer.json()
        self.account = self.session["primaryAccounts"][MAIL]
        self.limits = self.session["capabilities"][CORE]

    @property
    def address(self):
        return self.session["username"]

    def post(self, body, **options):
        """The answer to a request, which may be one that is wrong."""
        sent = {"data": body} if isinstance(body, bytes) else {"json": body}
        headers = {"Content-Type": "application/json"}
        return self.http.post(
            self.session["apiUrl"], headers=headers, timeout=60, **sent, **options)

    def request(self, *calls, using=EVERYTHING, **more):
        """The response object. A call is its name and arguments; its id is its number."""
        answer = self.post({
            "using": using, **more,
            "methodCalls": [[name, self.arguments(name, arguments), str(number)]
                            for number, (name, arguments) in enumerate(calls)]})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def arguments(self, name, arguments):
        return arguments if name == "Core/echo" else {"accountId": self.account, **arguments}

    def calls(self, *calls, **options):
        """The responses to calls, all of which are right."""
        responses = self.request(*calls, **options)["methodResponses"]
        for response in responses:
            assert response[0] != "error", response
        return [arguments for _, arguments, _ in responses]

    def call(self, name, **arguments):
        """The response to one call, which is right."""
        return self.calls((name, arguments))[0]

    def error(self, name, **arguments):
        """The type of the error of one call."""
        [[kind, response, _]] = self.request((name, arguments))["methodResponses"]
        assert kind == "error", response
        return response["type"]

    def folder(self, role):
        [found] = self.call("Mailbox/query", filter={"role": role})["ids"]
        return found

    def upload(self, data, type="application/octet-stream"):
        url = self.session["uploadUrl"].replace("{accountId}", self.account)
        return self.http.post(url, data=data, headers={"Content-Type": type}, timeout=60)

    def blob(self, data, type="application/octet-stream"):
        """The id of an upload."""
        answer = self.upload(data, type)
        assert answer.status_code == 201, answer.text
        return answer.json()["blobId"]

    def download(self, blob, name="file", type="application/octet-stream"):
        url = self.session["downloadUrl"]
        for variable, value in [
                ("accountId", self.account), ("blobId", blob), ("name", name), ("type", type)]:
            url = url.replace("{" + variable + "}", requests.utils.quote(value, safe=""))
        return self.http.get(url, timeout=60)

    def inbox(self, *properties):
        """The messages of the inbox, the oldest first."""
        query, got = self.calls(
            ("Email/query", {"filter": {"inMailbox": self.folder("inbox")},
                             "sort": [{"property": "receivedAt"}]}),
            ("Email/get", {"#ids": {"resultOf": "0", "name": "Email/query", "path": "/ids"},
                           "properties": ["blobId", "subject", "size", *properties]}))
        return sorted(got["list"], key=lambda email: query["ids"].index(email["id"]))

    def sources(self):
        """The messages of the inbox as bytes, the oldest first."""
        return [self.download(email["blobId"]).content for email in self.inbox()]

    def subjects(self):
        return [email["subject"] for email in self.inbox()]

    def put(self, source, role="inbox", **more):
        """Imports a message; has its id."""
        response = self.call("Email/import", emails={"k": {
            "blobId": self.blob(source, "message/rfc822"),
            "mailboxIds": {self.folder(role): True}, **more}})
        assert not response["notCreated"], response
        return response["created"]["k"]["id"]


class Events:
    """An event source of a client."""

    def __init__(self, mail, types="*", closeafter="no", ping="0", **headers):
        url = mail.session["eventSourceUrl"]
        for name, value in [("types", types), ("closeafter", closeafter), ("ping", ping)]:
            url = url.replace("{" + name + "}", value)
        self.answer = mail.http.get(url, stream=True, timeout=60, headers=headers)
        assert self.answer.status_code == 200, self.answer.text
        assert self.answer.headers["Content-Type"].startswith("text/event-stream")
        self.lines = self.answer.iter_lines(chunk_size=1)
        # The first comment: the events begin.
        assert next(self.lines).startswith(b":") and next(self.lines) == b""

    def next(self):
        """The next event: its kind, id and data."""
        fields = {}
        for line in self.lines:
            if not line:
                return fields["event"], fields.get("id"), json.loads(fields["data"])
            name, _, value = line.decode().partition(": ")
            fields[name] = value
        return None

    def close(self):
        self.answer.close()


def capability(url, token):
    """For the account of an Email JWT."""
    answer = Mailboxes(url).call("POST", "/api/v1/capability", token)
    assert answer.status_code == 200, answer.text
    return bearer(answer)


def reader(url, box):
    """A client of JMAP for a mailbox."""
    return JMAP(url, capability(url, box.token))
