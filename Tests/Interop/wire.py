"""A strict reader of HTTP/1.1 responses over a bare socket; it fails on anything unexpected."""

import dataclasses
import re
import socket

STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) [\x20-\x7e]*\r\n")
FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\x21-\x7e][\x20-\x7e]*)?\r\n")


@dataclasses.dataclass
class Answer:
    status: int
    fields: list
    body: bytes

    def all(self, name):
        return [value for known, value in self.fields if known == name]

    def one(self, name):
        (value,) = self.all(name)
        return value


class Wire:
    def __init__(self, server, timeout=10):
        self.socket = socket.create_connection((server.host, server.port), timeout)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def _more(self):
        try:
            piece = self.socket.recv(65536)
        except ConnectionResetError:
            piece = b""
        self.buffer += piece
        return bool(piece)

    def _line(self):
        while b"\n" not in self.buffer:
            assert self._more(), f"closed inside a head, after {self.buffer!r}"
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line + b"\n"

    def answer(self, to="GET"):
        """The next answer, whole. Informational ones are answers too."""
        status = int(STATUS.fullmatch(self._line())[1])
        fields = []
        while (line := self._line()) != b"\r\n":
            name, value = FIELD.fullmatch(line).groups()
            fields.append((name.decode().lower(), (value or b"").decode()))
        answer = Answer(status, fields, b"")
        if to != "HEAD" and status >= 200 and status not in (204, 304):
            length = int(answer.one("content-length"))
            while len(self.buffer) < length:
                assert self._more(), "closed inside a body"
            answer.body, self.buffer = self.buffer[:length], self.buffer[length:]
        return answer

    def ended(self):
        """True when the server sends nothing further and closes."""
        while self._more():
            pass
        return self.buffer == b""


def exchange(server, data):
    """The responses to `data` until the server closes; the client closes its half first."""
    with Wire(server) as wire:
        wire.send(data)
        wire.socket.shutdown(socket.SHUT_WR)
        answers = []
        while wire.buffer or wire._more():
            answers.append(wire.answer())
        return answers
