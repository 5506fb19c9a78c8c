"""A name server for one test: TXT and MX records over UDP on loopback (RFC 1035)."""

import socket
import struct
import threading

TXT, MX = 16, 15
NO_SUCH_NAME = 3


def _name(text):
    labels = text.rstrip(".").split(".")
    return b"".join(bytes([len(label)]) + label.encode() for label in labels) + b"\0"


def _question(message):
    labels, at = [], 12
    while message[at]:
        labels.append(message[at + 1:at + 1 + message[at]].decode())
        at += 1 + message[at]
    kind, _ = struct.unpack_from("!HH", message, at + 1)
    return ".".join(labels).lower(), kind, message[12:at + 5]


class NameServer:
    """Answers from `records`, {(name, type): [value]}; any other name does not exist."""

    def __init__(self):
        self.records = {}
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self.socket.close()

    def publish(self, records):
        """What a domain's owner does with the `dns_records` that the server asked for."""
        for record in records:
            if record["type"] == "TXT":
                text = record["value"].encode()
                data = bytes([len(text)]) + text
            else:
                data = struct.pack("!H", record["priority"]) + _name(record["value"])
            kind = {"TXT": TXT, "MX": MX}[record["type"]]
            self.records.setdefault((record["host"].lower().rstrip("."), kind), []).append(data)

    def _serve(self):
        while True:
            try:
                message, client = self.socket.recvfrom(4096)
            except OSError:
                return
            name, kind, question = _question(message)
            found = self.records.get((name, kind), [])
            known = any(name == other for other, _ in self.records)
            flags = 0x8180 if known else 0x8180 | NO_SUCH_NAME
            head = message[:2] + struct.pack("!HHHHH", flags, 1, len(found), 0, 0)
            answers = b"".join(
                b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 60, len(data)) + data
                for data in found)
            self.socket.sendto(head + question + answers, client)
