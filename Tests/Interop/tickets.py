"""A TLS server that answers each request with session tickets without end."""

import pathlib
import socket
import threading

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

# RFC 8446 §4.6.1: lifetime, age_add, a nonce without bytes, a ticket of one byte, no extensions.
TICKET = b"\4\0\0\x0e" + (7200).to_bytes(4, "big") + bytes(4) + b"\0" + b"\0\1x" + b"\0\0"
# As many as one record holds, and the type of its content: handshake.
CONTENT = TICKET * 900 + b"\x16"


class TicketFlood:
    """OpenSSL sends no such records, so they are encrypted here, with the keys of its connection."""

    def __init__(self, authority, directory):
        self.context = authority.context("localhost")
        self.context.num_tickets = 0
        self.keys = pathlib.Path(directory) / "keys"
        self.context.keylog_filename = str(self.keys)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://localhost:{self.listener.getsockname()[1]}/"
        self.is_over = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.is_over.set()
        self.listener.close()

    def _accept(self):
        while True:
            try:
                plain = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self._flood, args=(plain,), daemon=True).start()

    def _flood(self, plain):
        wire = plain.dup()
        try:
            with self.context.wrap_socket(plain, server_side=True) as connection:
                connection.recv(1)
                key, iv = self._write_keys(connection.cipher()[2])
                head = b"\x17\3\3" + (len(CONTENT) + 16).to_bytes(2, "big")
                number = 0
                while not self.is_over.is_set():
                    nonce = (int.from_bytes(iv, "big") ^ number).to_bytes(12, "big")
                    wire.sendall(head + AESGCM(key).encrypt(nonce, CONTENT, head))
                    number += 1
        except OSError:
            # The client has closed the connection.
            pass
        finally:
            wire.close()

    def _write_keys(self, bits):
        """RFC 8446 §7.3, for the last connection."""
        [*_, line] = [line for line in self.keys.read_text().splitlines()
                      if line.startswith("SERVER_TRAFFIC_SECRET_0")]
        secret = bytes.fromhex(line.split()[2])
        algorithm = hashes.SHA384() if bits == 256 else hashes.SHA256()

        def expand(label, length):
            info = length.to_bytes(2, "big") + bytes([6 + len(label)]) + b"tls13 " + label + b"\0"
            return HKDFExpand(algorithm, length, info).derive(secret)
        return expand(b"key", bits // 8), expand(b"iv", 12)
