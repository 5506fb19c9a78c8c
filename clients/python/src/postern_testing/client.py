"""What a test asks of a running server: the endpoints of the test profile, and signing up."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import hashlib
import http.client
import itertools
import json
import math
import secrets
import time
import urllib.parse
from typing import (
    Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Type, TypeVar, Union,
    cast)

# What one request to the server may make, and list.
_BATCH = 100
_PAGE = 1000
# How many seconds one request waits for a message, at most half of the client's timeout.
_WAIT = 30
# How many messages an error lists.
_LISTED = 20


class PosternError(Exception):
    """The server answered with an error."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        #: What the accounts API calls `error`, such as ``address_taken``.
        self.code = code
        self.message = message


@dataclasses.dataclass(frozen=True)
class Agent:
    """A mailbox that is opened with an API key."""

    id: str
    address: str
    api_key: str
    #: A session JWT.
    token: str
    expires_at: datetime.datetime


@dataclasses.dataclass(frozen=True)
class Account:
    """A mailbox that is opened with a password."""

    id: str
    address: str
    password: str
    #: An Email JWT.
    token: str
    expires_at: datetime.datetime


@dataclasses.dataclass(frozen=True)
class User:
    """A Pro user."""

    id: str
    email: str
    password: str
    #: A Pro JWT.
    token: str
    expires_at: datetime.datetime


@dataclasses.dataclass(frozen=True)
class Token:
    token: str
    #: ``None`` for an API token that does not expire.
    expires_at: Optional[datetime.datetime]
    #: Of an API token.
    id: Optional[str] = None


class MessageTimeout(TimeoutError):
    """No message that was waited for arrived. The text says which others did."""


class SMTPAddress(NamedTuple):
    """Where an application sends its mail: ``smtplib.SMTP(*postern.smtp)``."""

    host: str
    port: int


@dataclasses.dataclass(frozen=True)
class Attachment:
    """What a message has attached, without its content."""

    filename: str
    content_type: str
    #: In bytes.
    size: int


@dataclasses.dataclass(frozen=True)
class Message:
    """A message that the server delivered or, for an address elsewhere, kept."""

    #: From 1, in the order of arrival.
    number: int
    #: The addresses that received it.
    to: List[str]
    #: The ids of the message in the inboxes of its recipients; ``None`` for one elsewhere.
    ids: List[Optional[str]]
    #: The address that SMTP's MAIL named.
    mail_from: str
    #: The address of the first author; empty without one. (`from` is a word of Python.)
    sender: str
    subject: str
    #: ``None`` where the message has no such text.
    text: Optional[str]
    html: Optional[str]
    attachments: List[Attachment]
    #: Names and decoded values, in their order.
    headers: List[Tuple[str, str]]
    received_at: datetime.datetime
    #: The ``http`` and ``https`` addresses of the text and of the HTML, each once, in order.
    links: List[str]
    #: The numbers of six digits that stand alone, each once, in order.
    codes: List[str]


@dataclasses.dataclass(frozen=True)
class Event:
    """An entry of the server's record of credential events."""

    sequence: int
    time: datetime.datetime
    kind: str
    actor: str
    subject: str
    client: str
    request_id: str
    #: How many events it stands for.
    count: int


class Clock:
    """The server's clock. It goes on from the time that it is set to."""

    def __init__(self, client: "Client") -> None:
        self._client = client

    def now(self) -> datetime.datetime:
        """The server's time, in UTC and whole seconds."""
        return _time(self._client.call("GET", "/test/clock")["now"])

    def set(self, time: datetime.datetime) -> datetime.datetime:
        """Sets the server's time. A time without a zone is one in UTC.

        After a step forward the server has done what has become due, such as the rotation of keys.
        """
        if time.tzinfo is not None:
            time = time.astimezone(datetime.timezone.utc)
        text = time.replace(microsecond=0, tzinfo=None).isoformat() + "Z"
        return _time(self._client.call("POST", "/test/clock", {"set": text})["now"])

    def advance(self, by: Union[int, datetime.timedelta]) -> datetime.datetime:
        """Moves the server's time on by that many seconds, rounded up, or by a time difference."""
        if isinstance(by, datetime.timedelta):
            by = -(-by // datetime.timedelta(seconds=1))
        return _time(self._client.call("POST", "/test/clock", {"advance": by})["now"])


class Client:
    """Talks to a server in the test profile. Threads may share it."""

    def __init__(self, url: str, timeout: float = 60) -> None:
        #: The server's address, such as ``http://127.0.0.1:38271``.
        self.url = url
        self.clock = Clock(self)
        self._timeout = timeout

    # Between tests

    def reset(self) -> None:
        """Removes accounts, users, tokens, hash logins, events and mail, clears all limits and the
        fault of mail, and sets the clock to the system's time. The signing keys stay."""
        self.call("POST", "/test/reset")

    def events(self, after: int = 0) -> List[Event]:
        """The credential events with a higher number than `after`, oldest first."""
        found: List[Event] = []
        while True:
            page = self.call("GET", f"/test/events?after={after}&limit={_PAGE}")
            found += [
                _made(Event, {**event, "time": _time(event["time"])}) for event in page["events"]]
            if len(page["events"]) < _PAGE:
                return found
            after = page["last"]

    # Without a proof of work

    def create_agent(self, address: Optional[str] = None) -> Agent:
        """Makes an agent's mailbox. The address is made up unless given."""
        return self.create_agents([address])[0]

    def create_agents(self, addresses: Union[int, Iterable[Optional[str]]]) -> List[Agent]:
        """Makes agents' mailboxes: as many as a number says, or one for each address."""
        if isinstance(addresses, int):
            addresses = [None] * addresses
        items = [{"agent": True, "address": address} for address in addresses]
        return [_made(Agent, made) for made in self._create("accounts", items)]

    def create_account(
        self, address: Optional[str] = None, password: Optional[str] = None,
        owner: Union[User, str, None] = None,
    ) -> Account:
        """Makes a mailbox with a password. What is not given is made up.

        `owner` is the user, or the email of the user, who owns it.
        """
        item = {"address": address, "password": password, "owner": _email(owner)}
        return self.create_accounts([item])[0]

    def create_accounts(
        self, items: Union[int, Iterable[Mapping[str, Optional[str]]]]
    ) -> List[Account]:
        """Makes mailboxes with passwords: as many as a number says, or one for each mapping of
        `address`, `password` and `owner`, each optional."""
        if isinstance(items, int):
            items = [{}] * items
        return [_made(Account, made) for made in self._create("accounts", list(items))]

    def create_user(self, email: Optional[str] = None, password: Optional[str] = None) -> User:
        """Makes a Pro user. What is not given is made up."""
        made = self._create("users", [{"email": email, "password": password}])
        return _made(User, made[0])

    def account_token(self, account: Union[Agent, Account, str]) -> Token:
        """Another session JWT of an agent, or Email JWT of an account."""
        return self._token({"kind": "account", "address": _address(account)})

    def capability(self, account: Union[Agent, Account, str]) -> Token:
        """A capability JWT, as the mail store accepts it."""
        return self._token({"kind": "capability", "address": _address(account)})

    def user_token(self, user: Union[User, str]) -> Token:
        """Another Pro JWT."""
        return self._token({"kind": "user", "email": _email(user)})

    def api_token(
        self, user: Union[User, str], name: Optional[str] = None,
        expires_in: Optional[int] = None, scopes: Optional[Iterable[str]] = None,
    ) -> Token:
        """A Pro API token. It does not expire unless `expires_in` seconds are given."""
        return self._token({
            "kind": "api_token", "email": _email(user), "name": name, "expires_in": expires_in,
            "scopes": None if scopes is None else list(scopes)})

    def _token(self, item: Dict[str, Any]) -> Token:
        return _made(Token, self._create("tokens", [item])[0])

    def _create(self, what: str, items: List[Any]) -> List[Dict[str, Any]]:
        made: List[Dict[str, Any]] = []
        for start in range(0, len(items), _BATCH):
            made += self.call("POST", f"/test/{what}", items[start:start + _BATCH])[what]
        for one in made:
            one["expires_at"] = _time(one["expires_at"])
        return made

    # Mail

    def wait_for_message(
        self, to: Union[Agent, Account, str, None] = None, *, sender: Optional[str] = None,
        subject: Optional[str] = None, after: int = 0, timeout: float = 10,
    ) -> Message:
        """Waits until there is a message that matches, and returns the oldest one.

        :param to: one of its recipients, in any case of letters.
        :param sender: its author or the address that SMTP's MAIL named.
        :param subject: a part of its subject, in any case of letters.
        :param after: the number of an earlier message, to wait for a later one.
        :raises MessageTimeout: after `timeout` seconds. It says what did arrive.
        """
        deadline = time.monotonic() + timeout
        while True:
            rest = deadline - time.monotonic()
            # Whole seconds, rounded up. The last look does not wait.
            longest = max(1, int(min(_WAIT, self._timeout / 2)))
            wait = max(0, min(longest, math.ceil(rest)))
            try:
                found = self._messages(to, sender, subject, after, limit=1, timeout=wait)
            except PosternError as error:
                # Others of this machine wait, as many as may: this one asks again.
                if error.status != 429 or rest <= 0:
                    raise
                time.sleep(0.2)
                continue
            if found:
                return found[0]
            if rest <= 0:
                break
        wanted = {"to": None if to is None else _address(to), "sender": sender, "subject": subject}
        text = ", ".join(f"{name} {value!r}" for name, value in wanted.items() if value is not None)
        raise MessageTimeout(
            f"no message{text and ' with '}{text} within {timeout:g} seconds;"
            f" {_listed(self.messages(after=after))}")

    def messages(
        self, to: Union[Agent, Account, str, None] = None, *, sender: Optional[str] = None,
        subject: Optional[str] = None, after: int = 0,
    ) -> List[Message]:
        """The messages that match, in the order of their arrival. The parameters are those of
        :meth:`wait_for_message`."""
        found: List[Message] = []
        while True:
            page = self._messages(to, sender, subject, after, limit=_PAGE)
            if not page:
                return found
            found += page
            after = page[-1].number

    def _messages(
        self, to: Union[Agent, Account, str, None], sender: Optional[str],
        subject: Optional[str], after: int, limit: int, timeout: int = 0,
    ) -> List[Message]:
        query = {
            "to": None if to is None else _address(to), "from": sender, "subject": subject,
            "after": after, "limit": limit, "timeout": timeout}
        text = urllib.parse.urlencode({name: value for name, value in query.items() if value})
        return [_message(made) for made in self.call("GET", f"/test/messages?{text}")["messages"]]

    def source(self, message: Message) -> bytes:
        """The bytes of a message, with the fields that the server put before it."""
        return self._exchange("GET", f"/test/messages/{message.number}/source")[0]

    def deliver(
        self, to: Union[Agent, Account, str, Sequence[Union[Agent, Account, str]]], *,
        sender: Optional[str] = None, subject: Optional[str] = None, text: Optional[str] = None,
        html: Optional[str] = None, attachments: Iterable[Tuple[str, str, bytes]] = (),
        source: Optional[str] = None,
    ) -> List[Optional[str]]:
        """Delivers a message without SMTP, and returns its ids in the inboxes of its recipients.

        :param to: mailboxes here, or addresses elsewhere.
        :param attachments: the filename, type and content of each.
        :param source: the whole message, instead of all parameters after `to`.
        """
        recipients = [to] if isinstance(to, (Agent, Account, str)) else to
        files = [
            {"filename": name, "content_type": kind, "content": base64.b64encode(content).decode()}
            for name, kind, content in attachments]
        item = {
            "to": [_address(one) for one in recipients], "from": sender, "subject": subject,
            "text": text, "html": html, "attachments": files or None, "source": source}
        made: List[Optional[str]] = self.call("POST", "/test/messages", [item])["messages"][0]["ids"]
        return made

    def clear_messages(self) -> None:
        """Empties the list of messages. Accounts keep their mail."""
        self.call("DELETE", "/test/messages")

    def fail_mail(self, fault: Optional[str]) -> None:
        """From now on mail fails: ``"rcpt"`` for an unknown recipient, ``"data"`` for a rejected
        message, ``"temp"`` for a temporary failure. ``None`` ends that."""
        self.call("POST", "/test/mail", {"fail": fault})

    # As an agent does it

    def sign_up(self, username: Optional[str] = None) -> Agent:
        """Signs an agent up through the API that agents use, with a proof of work."""
        username = username or f"agent-{secrets.token_hex(6)}"
        _, headers = self._send("POST", "/api/v1/challenge")
        challenge = _bearer(headers)
        digest, nonce = _solve(_claims(challenge))
        body, headers = self._send(
            "POST", "/api/v1/session",
            {"powHex": digest, "nonce": nonce, "username": username}, token=challenge)
        token = _bearer(headers)
        expiry = datetime.datetime.fromtimestamp(_claims(token)["exp"], datetime.timezone.utc)
        return Agent(body["accountId"], body["inbox"], body["apiKey"], token, expiry)

    # HTTP

    def call(
        self, method: str, path: str, body: Any = None, token: Optional[str] = None
    ) -> Any:
        """Sends a request with a JSON body and returns the JSON of the response.

        :raises PosternError: unless the status is one of success.
        """
        return self._send(method, path, body, token)[0]

    def _send(
        self, method: str, path: str, body: Any = None, token: Optional[str] = None
    ) -> Tuple[Any, http.client.HTTPMessage]:
        text, headers = self._exchange(method, path, body, token)
        return json.loads(text) if text else None, headers

    def _exchange(
        self, method: str, path: str, body: Any = None, token: Optional[str] = None
    ) -> Tuple[bytes, http.client.HTTPMessage]:
        headers = {"Accept": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        url = urllib.parse.urlsplit(self.url)
        # A connection for each request: it can be shared by threads and survives a fork.
        connection = http.client.HTTPConnection(
            url.hostname or "", url.port, timeout=self._timeout)
        try:
            connection.request(
                method, path, None if body is None else json.dumps(body).encode(), headers)
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        if response.status >= 300:
            raise _error(response.status, text)
        return text, response.headers


_Made = TypeVar("_Made")


def _made(kind: Type[_Made], members: Mapping[str, Any]) -> _Made:
    # A later server may add members.
    names = {field.name for field in dataclasses.fields(cast(Any, kind))}
    return kind(**{name: value for name, value in members.items() if name in names})


def _message(members: Mapping[str, Any]) -> Message:
    return _made(Message, {
        **members, "sender": members["from"], "received_at": _time(members["received_at"]),
        "attachments": [_made(Attachment, attachment) for attachment in members["attachments"]],
        "headers": [(header["name"], header["value"]) for header in members["headers"]]})


def _listed(messages: List[Message]) -> str:
    if not messages:
        return "nothing arrived"
    lines = [
        f"to {', '.join(message.to)}, from {message.sender}: {message.subject}"
        for message in messages[-_LISTED:]]
    return "\n  ".join([f"{len(messages)} arrived:", *lines])


def _error(status: int, text: bytes) -> PosternError:
    try:
        found = json.loads(text)
        error = found["error"]
        # The agent API has an object there.
        if isinstance(error, dict):
            return PosternError(status, "", f"{error['message']} {error['hint']}")
        return PosternError(status, error, found.get("message", ""))
    except (ValueError, KeyError, TypeError):
        return PosternError(status, "", text.decode(errors="replace"))


def _time(text: Optional[str]) -> Any:
    if text is None:
        return None
    found = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    return found.replace(tzinfo=datetime.timezone.utc)


def _address(account: Union[Agent, Account, str]) -> str:
    return account if isinstance(account, str) else account.address


def _email(user: Union[User, str, None]) -> Optional[str]:
    return user.email if isinstance(user, User) else user


def _bearer(headers: http.client.HTTPMessage) -> str:
    return (headers["Authorization"] or "").partition(" ")[2]


def _claims(token: str) -> Dict[str, Any]:
    payload = token.split(".")[1]
    found: Dict[str, Any] = json.loads(
        base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return found


def _solve(challenge: Dict[str, Any]) -> Tuple[str, str]:
    for nonce in map(str, itertools.count()):
        # The salt is used as its hex text.
        digest = hashlib.scrypt(
            f"{challenge['jti']}:{nonce}".encode(), salt=challenge["salt"].encode(), n=16384, r=8,
            p=1, dklen=64)
        bits = len(digest) * 8 - int.from_bytes(digest, "big").bit_length()
        if bits >= challenge["difficulty"]:
            return digest.hex(), nonce
    raise AssertionError("there is always another nonce")
