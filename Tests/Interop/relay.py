"""A relay for mail in this process: SMTP with STARTTLS or TLS, a login, and answers on demand."""

import base64
import email
import email.policy
import socket
import socketserver
import ssl
import threading

# A link in the mail to users: its page, and its token.
LINK = r"\S+/(verify-email|reset-password)#([A-Za-z0-9_-]{43})"


class Relay(socketserver.ThreadingTCPServer):
    """Keeps what it takes in `messages`. `answers` replaces the next replies to a command."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, context=None, starttls=False, login=None, port=0):
        super().__init__(("127.0.0.1", port), Session)
        self.context, self.starttls, self.login = context, starttls, login
        self.messages, self.answers, self.commands = [], {}, []
        self.arrived = threading.Condition()
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]

    def await_messages(self, count):
        """The first messages: (sender, recipient, message)."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.messages) >= count, 60), self.commands
            return self.messages[:count]

    def close(self):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, address):
        """A client that does not trust the certificate ends the connection."""


class Session(socketserver.StreamRequestHandler):
    def setup(self):
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.server.context and not self.server.starttls:
            self.encrypt()
        super().setup()

    def encrypt(self):
        self.request = self.server.context.wrap_socket(self.request, server_side=True)

    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")

    def features(self):
        yield "relay.test"
        if self.server.starttls and not isinstance(self.request, ssl.SSLSocket):
            yield "STARTTLS"
        elif self.server.login:
            yield "AUTH PLAIN"

    def handle(self):
        self.say("220 relay.test")
        knows_login = self.server.login is None
        while line := self.rfile.readline().decode().strip():
            word = line.split()[0].split(":")[0].upper()
            self.server.commands.append(line)
            if replies := self.server.answers.get(word):
                self.say(replies.pop(0))
            elif word == "EHLO":
                features = list(self.features())
                for feature in features[:-1]:
                    self.say(f"250-{feature}")
                self.say(f"250 {features[-1]}")
            elif word == "STARTTLS":
                self.say("220 go on")
                self.encrypt()
                self.rfile, self.wfile = self.request.makefile("rb"), self.request.makefile("wb", 0)
            elif word == "AUTH":
                _, account, password = base64.b64decode(line.split()[2]).decode().split("\0")
                knows_login = (account, password) == self.server.login
                self.say("235 welcome" if knows_login else "535 wrong")
            elif word == "MAIL" and not knows_login:
                self.say("530 log in")
            elif word == "MAIL":
                sender = line.partition("<")[2].partition(">")[0]
                self.say("250 fine")
            elif word == "RCPT":
                recipient = line.partition("<")[2].partition(">")[0]
                self.say("250 fine")
            elif word == "DATA":
                self.say("354 go on")
                self.take(sender, recipient)
            elif word == "QUIT":
                return self.say("221 bye")
            else:
                self.say("250 fine")

    def take(self, sender, recipient):
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line.removeprefix(b"."))
        message = email.message_from_bytes(b"".join(lines), policy=email.policy.default)
        with self.server.arrived:
            self.server.messages.append((sender, recipient, message))
            self.server.arrived.notify_all()
        self.say("250 taken")
