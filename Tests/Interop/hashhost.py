"""A host that serves password hashes: HTTPS, under a CA made for the tests."""

import datetime
import http.server
import itertools
import ssl
import threading

from argon2.low_level import Type, hash_secret
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def argon2(password, *, type=Type.ID, salt=b"a salt of some length", **costs):
    """A hash as the reference implementation writes it, cheap enough for a test."""
    costs = {"time_cost": 1, "memory_cost": 64, "parallelism": 1, "hash_len": 32, **costs}
    return hash_secret(password.encode(), salt, type=type, **costs)


class Authority:
    """A CA of the tests' own; `file` is what a server has to trust."""

    def __init__(self, directory):
        self.directory, self.key = directory, ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Tests' authority")])
        self.file = directory / "ca.pem"
        certificate = self._certificate(self.name, self.key, [
            (x509.BasicConstraints(ca=True, path_length=0), True)])
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def context(self, name):
        """What a TLS server for `name` needs."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._certificate(
            x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), key,
            [(x509.SubjectAlternativeName([x509.DNSName(name)]), False)])
        chain = self.directory / f"{name}.pem"
        chain.write_bytes(
            certificate.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption()))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        return context

    def _certificate(self, subject, key, extensions):
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = (
            x509.CertificateBuilder().subject_name(subject).issuer_name(self.name)
            .public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=30)))
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(self.key, hashes.SHA256())


class HashHost:
    """Serves the bodies that a test sets, each under a path of its own, and records the requests."""

    def __init__(self, context):
        host = self
        self.pages, self.asked, self.connections = {}, [], 0
        self.closing, self._paths = threading.Event(), itertools.count(1)

        class Server(http.server.ThreadingHTTPServer):
            def get_request(self):
                host.connections += 1
                return super().get_request()

            def finish_request(self, request, address):
                # Each handshake has a thread of its own, so that one that stalls delays no other.
                try:
                    super().finish_request(
                        context.wrap_socket(request, server_side=True), address)
                except OSError:
                    pass

            def handle_error(self, *_):
                """A client that left, which is a test's to notice."""

        class Handler(http.server.BaseHTTPRequestHandler):
            timeout = 10

            def do_GET(self):
                host.asked.append((self.path, dict(self.headers)))
                host.pages[self.path](self)

            def log_message(self, *_):
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def url(self, path):
        return f"https://localhost:{self.port}{path}"

    def serve(self, body, status=200, path=None, **headers):
        """The URL under which `body` is served from now on."""
        def answer(handler):
            handler.send_response(status)
            for name, value in {"content_length": str(len(body)), **headers}.items():
                handler.send_header(name.replace("_", "-"), value)
            handler.end_headers()
            handler.wfile.write(body)
        return self.answer(answer, path)

    def drip(self, body, seconds):
        """Serves `body` byte by byte, that many seconds apart."""
        def answer(handler):
            handler.send_response(200)
            handler.send_header("content-length", str(len(body)))
            handler.end_headers()
            for byte in body:
                if self.closing.wait(seconds):
                    return
                handler.wfile.write(bytes([byte]))
        return self.answer(answer)

    def answer(self, answer, path=None):
        path = path or f"/{next(self._paths)}.txt"
        self.pages[path] = answer
        return self.url(path)

    def close(self):
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
