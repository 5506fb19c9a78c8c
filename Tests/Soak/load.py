"""What all clients of the soak share: addresses, and the record of what they met."""

import collections
import contextlib
import random
import threading

from requests.adapters import HTTPAdapter
from urllib3.util import Retry

PASSWORD = "a long password"


class Patience(Retry):
    """Sends a request again after a 429, when the server has said."""

    RETRY_AFTER_STATUS_CODES = frozenset([429])


PATIENT = Patience(
    total=None, connect=0, read=0, redirect=0, other=0, status=60, status_forcelist=[429],
    allowed_methods=None, raise_on_status=False)


def address():
    """The address of a client that was not there before, most likely."""
    return ".".join(str(random.randrange(1, 224 if n == 0 else 255)) for n in range(4))


def expect(answer, *statuses):
    """The answer, whose status must be one of these."""
    assert answer.status_code in statuses, (
        answer.request.method, answer.url, answer.status_code, answer.text[:200])
    return answer


class Acknowledged:
    """What the server has confirmed, so that it must be there at the end."""

    def __init__(self):
        # Passwords by address, API keys by address, passwords by email.
        self.mailboxes, self.agents, self.hash_logins = {}, {}, {}
        # By email: a password, and the otpauth URI of a user with one-time codes or None.
        self.users = {}
        # Those that log their users in, and who was logged in by the provider: (person, user id).
        self.passkeys, self.people = [], []
        # Addresses.
        self.deleted = []


class Load:
    """The server under load, the end of the time, and the record."""

    def __init__(self, server):
        self.server = server
        self.ending, self.lock = threading.Event(), threading.Lock()
        self.statuses = collections.defaultdict(collections.Counter)
        self.unexpected, self.interrupted = [], collections.Counter()
        self.done, self.acknowledged = collections.Counter(), Acknowledged()
        # Kinds of clients that must not meet an error.
        self.behaves = set()

    def count(self, kind, status):
        with self.lock:
            self.statuses[kind][status] += 1

    def at(self, kind, api, tls=False, patient=False):
        """A client of one API with an address of its own, whose responses are counted.

        A patient one repeats what was refused with 429.
        """
        made = api(self.server.tls_url if tls else self.server.url)
        made.http.trust_env, made.http.verify = False, str(self.server.authority.file)
        made.http.headers["X-Forwarded-For"] = address()
        made.http.hooks["response"] = [lambda answer, **_: self.count(kind, answer.status_code)]
        if patient:
            for scheme in ["http://", "https://"]:
                made.http.mount(scheme, HTTPAdapter(max_retries=PATIENT))
        return made

    def failed(self):
        """Requests of clients that behave that had no answer, or one that is the server's fault."""
        with self.lock:
            return sum(kind in self.behaves for kind, _ in self.unexpected) + sum(
                count for kind in self.behaves
                for status, count in self.statuses.get(kind, {}).items() if status >= 500)

    def faults(self):
        """Responses to any client that are 5xx and not 503."""
        with self.lock:
            return sum(count for statuses in self.statuses.values()
                       for status, count in statuses.items() if status >= 500 and status != 503)

    def responses(self):
        with self.lock:
            return sum(self.statuses.values(), collections.Counter())

    def attempt(self, work, *arguments, tolerates=()):
        """Records how the work failed, unless something that it tolerates happened meanwhile."""
        name = work.__name__.replace("_", " ")
        before = self.server.phases(tolerates)
        try:
            return work(*arguments)
        except Exception as error:  # noqa: BLE001 - each is reported at the end
            with self.lock:
                if self.server.were_disturbed(before, self.server.phases(tolerates)):
                    self.interrupted[name] += 1
                else:
                    self.unexpected.append((name, f"{error!r}"[:400]))
            return "failed"

    def repeat(self, work, pause, tolerates=()):
        while not self.ending.is_set():
            self.attempt(work, tolerates=tolerates)
            self.ending.wait(pause)

    @contextlib.contextmanager
    def running(self, work):
        """Repeats each (work, pause, what it tolerates) in a thread of its own meanwhile."""
        threads = [threading.Thread(target=self.repeat, args=each, daemon=True) for each in work]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.ending.set()
            for thread in threads:
                thread.join(90)
                assert not thread.is_alive(), "a client waits for an answer"


def worker(work, pause, *tolerates):
    return work, pause, tolerates
