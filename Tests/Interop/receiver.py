"""A program that is told of the changes of accounts. It verifies with code of another project."""

import http.server
import json
import threading
import time

from standardwebhooks import Webhook, WebhookVerificationError

SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"


class Receiver:
    """Listens on 127.0.0.1 while it is up. `answer` gets an event and returns a status."""

    def __init__(self, port=0, context=None, secret=SECRET):
        self.port, self.context = port, context
        self.webhook = Webhook(secret)
        # The events that were accepted, every message that came, and those that did not verify.
        self.accepted, self.messages, self.forged = [], [], []
        # The header fields and the body of the last one that verified.
        self.last = None
        self.answer = lambda event: 204
        self.closing = threading.Event()
        self._lock, self._server = threading.Lock(), None

    def start(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            timeout = 30

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = receiver._take(self.headers, body)
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            # Closing waits for them, so that nothing is accepted after `stop`.
            daemon_threads = False

            def handle_error(self, *_):
                """A server that was killed."""

        self._server = Server(("127.0.0.1", self.port), Handler)
        if self.context:
            self._server.socket = self.context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def _take(self, headers, body):
        try:
            event = self.webhook.verify(body, dict(headers))
        except WebhookVerificationError:
            with self._lock:
                self.forged.append((dict(headers), body))
            return 401
        assert headers["Content-Type"] == "application/json"
        assert headers["webhook-id"] == event["id"]
        with self._lock:
            self.messages.append(event)
            self.last = dict(headers), body
        status = self.answer(event)
        with self._lock:
            if 200 <= status < 300:
                self.accepted.append(event)
        return status

    def stop(self):
        self.closing.set()
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    @property
    def url(self):
        return f"http{'s' if self.context else ''}://localhost:{self.port}/events?of=accounts"

    def numbers(self, account=None):
        """Of the accepted events, in the order in which they came."""
        with self._lock:
            return [event["number"] for event in self.accepted
                    if account in (None, event["account_id"])]

    def awaits(self, numbers, seconds=60):
        """Returns when all events with these numbers were accepted."""
        deadline = time.monotonic() + seconds
        while not set(numbers) <= set(self.numbers()):
            assert time.monotonic() < deadline, (
                set(numbers) - set(self.numbers()), self.messages[-3:], self.forged[-1:])
            time.sleep(0.02)


def events_of(text):
    return [json.loads(line) for line in text.splitlines()]
