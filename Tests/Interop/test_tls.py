"""TLS without a proxy: Python's ssl, openssl and curl; attacks on the handshake; files of
certificates that are replaced while the server runs."""

import datetime
import http.client
import json
import os
import re
import socket
import ssl
import subprocess
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
import pytest

from program import NOT_RELOADED, PATIENCE_SECONDS, await_true, run
from services import Services
from tlsfiles import Authority, TLSPostern, connect, settings, tls_listener

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: a.test\r\n\r\n"
LAST = b"GET /healthz HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def https(tmp_path_factory, ca):
    """One server for all tests that change nothing: TLS for two names, a redirect, and plain HTTP."""
    directory = tmp_path_factory.mktemp("https")
    first = ca.issue("a.test", ["DNS:a.test", "IP:127.0.0.1"])
    ca.staple("a.test", ca.directory / "a.der")
    second = ca.issue("b.test", ["DNS:b.test", "DNS:*.c.test"], key="rsa:2048")
    root = directory / "acme/.well-known/acme-challenge"
    root.mkdir(parents=True)
    (root / "the-Challenge_1").write_text("the-Challenge_1.thumbprint")
    (root / "long").write_bytes(b"x" * 4097)
    (root / "link").symlink_to("the-Challenge_1")
    (directory / "acme/.well-known/secret").write_text("no challenge")
    server = TLSPostern(
        directory, settings(
            [tls_listener(), {"address": "127.0.0.1:0", "serves": "redirect"},
             {"address": "127.0.0.1:0"}],
            [(*first, ca.directory / "a.der"), second], acme_directory=directory / "acme"),
        POSTERN_SERVER_PUBLIC_URL="https://a.test/base", POSTERN_SERVER_HEAD_TIMEOUT="1s")
    server.names = await_true(server.ports, "no ports are logged")
    yield server
    server.stop()


@pytest.fixture
def serve_tls(tmp_path):
    """Starts servers with a configuration file for one test."""
    started = []

    def serve(text, **more):
        started.append(TLSPostern(tmp_path, text, **more))
        return started[-1]

    yield serve
    for server in started:
        if server.running:
            server.stop()


def answer(connection, request=LAST):
    """Everything up to close_notify; an end without it raises an error."""
    connection.suppress_ragged_eofs = False
    connection.sendall(request)
    received = b""
    while piece := connection.recv(65536):
        received += piece
    return received


def curl(*arguments):
    return subprocess.run(["curl", "--silent", "--show-error", "--max-time", "60", *arguments],
                          text=True, capture_output=True)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_python_is_served_with_both_versions(https, ca, version):
    context = ca.context(minimum_version=version, maximum_version=version)
    context.set_alpn_protocols(["h2", "http/1.1"])
    with connect(https.port, context) as connection:
        assert connection.selected_alpn_protocol() == "http/1.1"
        assert connection.compression() is None
        received = answer(connection)
    assert received.startswith(b"HTTP/1.1 200 ")


def test_curl_is_served(https, ca):
    result = curl("--cacert", str(ca.file), "--resolve", f"a.test:{https.port}:127.0.0.1",
                  "--write-out", "%{http_code} %{num_connects}", f"https://a.test:{https.port}/healthz",
                  f"https://a.test:{https.port}/healthz")
    assert result.stdout == '{"status":"ok"}200 1{"status":"ok"}200 0', result.stderr


def test_the_certificate_is_the_one_of_the_name(https, ca):
    for name in ["a.test", "b.test", "B.test", "x.c.test", "127.0.0.1"]:
        with connect(https.port, ca.context(), name) as connection:
            assert answer(connection).startswith(b"HTTP/1.1 200 ")
    # For an unknown name there is the first certificate, which is not for it.
    with pytest.raises(ssl.SSLCertVerificationError, match="ot valid for 'unknown.test'|mismatch"):
        connect(https.port, ca.context(), "unknown.test")


def s_client(port, *arguments, stdin=""):
    result = subprocess.run(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-ign_eof", *arguments],
        input=stdin, text=True, capture_output=True, timeout=PATIENCE_SECONDS)
    return result.stdout + result.stderr


def test_the_ocsp_response_is_stapled_for_its_certificate(https, ca):
    last = LAST.decode()
    stapled = s_client(https.port, "-status", "-servername", "a.test", stdin=last)
    assert "OCSP Response Status: successful" in stapled and "Cert Status: good" in stapled
    assert "OCSP response: no response sent" in s_client(
        https.port, "-status", "-servername", "b.test", stdin=last)


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_sessions_are_resumed_without_early_data(https, tmp_path, version):
    kept = ["-sess_out", str(tmp_path / "session")]
    first = s_client(https.port, version, *kept, stdin=LAST.decode())
    assert "\nNew, TLSv1." in first
    # What a ticket of TLS 1.3 allows.
    assert version == "-tls1_2" or "Max Early Data: 0" in first
    assert re.findall(r"ticket lifetime hint: (\d+)", first) == ["3600"]
    again = s_client(https.port, version, "-sess_in", str(tmp_path / "session"), stdin=LAST.decode())
    assert "\nReused, TLSv1." in again and "HTTP/1.1 200" in again


def test_renegotiation_is_refused(https):
    # "R" at the start of a line asks s_client to renegotiate, with ciphers of TLS 1.2.
    said = subprocess.run(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{https.port}", "-tls1_2"],
        input="R\n", text=True, capture_output=True, timeout=PATIENCE_SECONDS)
    assert "no renegotiation" in said.stdout + said.stderr


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("version", ["TLSv1", "TLSv1_1"])
def test_older_versions_are_refused(https, ca, version):
    context = ca.context()
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
    with pytest.raises(ssl.SSLError):
        connect(https.port, context)


def raw(port, data, until=None):
    """What the server answers to bytes, up to the end of the connection."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as connection:
        connection.sendall(data)
        received = b""
        try:
            while piece := connection.recv(65536):
                received += piece
        except ConnectionResetError:
            pass
        return received


def test_plain_http_is_answered_400(https):
    received = raw(https.port, LAST)
    assert received.startswith(b"HTTP/1.1 400 ") and b"https" in received


def hello(context, name="a.test"):
    """The ClientHello of a context."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        session.do_handshake()
    return outgoing.read()


def is_served(server, ca):
    with connect(server.port, ca.context()) as connection:
        return answer(connection).startswith(b"HTTP/1.1 200 ")


def test_what_is_no_handshake_ends_its_connection_only(https, ca):
    start = hello(ca.context())
    for data in [
            os.urandom(64), b"\x80\x2e\x01\x00\x02" + bytes(64),  # SSLv2
            b"\x16\x03\x00\x00\x2d\x01\x00\x00\x29\x03\x00" + bytes(40),  # SSLv3
            b"\x16\x03\x01\xff\xff" + bytes(64),  # a record of 65,535 bytes
            b"\x16\x03\x01\x00\x04\x01\xff\xff\xff",  # a message of 16 MiB
            b"\x17\x03\x03\x00\x05hello",  # data before the handshake
            start[:100] + bytes(len(start) - 100) + bytes(200),
            b"\x16\x03\x01\x00\x00" * 64]:
        received = raw(https.port, data)
        # Nothing, or an alert.
        assert received == b"" or received[0] == 0x15, (data, received)
    assert is_served(https, ca)


def test_a_dripping_handshake_is_closed_when_its_time_is_over(https, ca):
    start = hello(ca.context())
    with socket.create_connection(("127.0.0.1", https.port), PATIENCE_SECONDS) as connection:
        connection.sendall(start[:5])
        connection.settimeout(0.2)
        deadline, sent = time.monotonic() + PATIENCE_SECONDS, 5
        # Each byte comes before the deadline of head_timeout, which no byte extends.
        while sent < len(start) - 1:
            assert time.monotonic() < deadline
            try:
                if connection.recv(100) == b"":
                    break
            except TimeoutError:
                pass
            except ConnectionError:
                break
            try:
                connection.sendall(start[sent:sent + 1])
            except ConnectionError:
                break
            sent += 1
        assert sent < len(start) - 1
    assert is_served(https, ca)


def test_a_client_that_never_reads_is_disconnected(ca, serve_tls, tmp_path):
    server = serve_tls(
        settings([tls_listener()], [ca.issue("a.test")]), POSTERN_SERVER_WRITE_TIMEOUT="1s")
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.settimeout(PATIENCE_SECONDS)
    plain.connect(("127.0.0.1", server.port))
    with ca.context().wrap_socket(plain, server_hostname="a.test") as connection:
        request = b"GET /llms.txt HTTP/1.1\r\nHost: a.test\r\n\r\n"
        connection.settimeout(1)
        deadline = time.monotonic() + PATIENCE_SECONDS
        with pytest.raises((ConnectionError, ssl.SSLError)):
            while time.monotonic() < deadline:
                try:
                    connection.sendall(request * 16)
                except TimeoutError:
                    # Neither side reads. The next attempt finds the connection closed.
                    pass
    assert is_served(server, ca)


def test_a_request_cut_off_is_not_answered(https, ca):
    with connect(https.port, ca.context()) as connection:
        connection.sendall(HEALTH[:-2])
        plain = connection.detach()
    with socket.socket(fileno=plain) as plain:
        plain.settimeout(PATIENCE_SECONDS)
        plain.shutdown(socket.SHUT_WR)
        received = b""
        try:
            while piece := plain.recv(65536):
                received += piece
        except ConnectionResetError:
            pass
        # Of tickets, no application data with a response.
        assert len(received) < 600


def test_a_client_that_ends_its_half_is_answered(https, ca):
    """close_notify, then reading on."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    session = ca.context().wrap_bio(incoming, outgoing, server_hostname="a.test")
    with socket.create_connection(("127.0.0.1", https.port), PATIENCE_SECONDS) as plain:
        def until_done(step):
            while True:
                try:
                    result = step()
                    plain.sendall(outgoing.read())
                    return result
                except ssl.SSLWantReadError:
                    plain.sendall(outgoing.read())
                    piece = plain.recv(65536)
                    incoming.write(piece) if piece else incoming.write_eof()
        until_done(session.do_handshake)
        session.write(HEALTH)
        with pytest.raises(ssl.SSLWantReadError):
            session.unwrap()
        plain.sendall(outgoing.read())
        received = b""
        while piece := plain.recv(65536):
            received += piece
    # The response, and close_notify (an encrypted alert), then the end.
    assert len(received) > 300


def test_a_redirect_leads_to_https_and_challenges_are_served(https):
    port = https.names["redirect"]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)

    def ask(method, path, body=None):
        connection.request(method, path, body)
        response = connection.getresponse()
        return response.status, response.getheader("Location"), response.read()

    for method in ["GET", "POST", "DELETE", "PUT"]:
        status, location, _ = ask(method, "/api/v1/session?a=b%20c", b"{}" if method != "GET" else None)
        assert (status, location) == (308, "https://a.test/api/v1/session?a=b%20c")
    # Whatever host the client names, and whatever the path looks like.
    assert ask("GET", "//evil.test/x")[1] == "https://a.test//evil.test/x"
    assert ask("GET", "http://evil.test/x")[1] == "https://a.test/x"
    assert ask("GET", "/healthz")[0] == 308

    challenge = "/.well-known/acme-challenge/"
    assert ask("GET", challenge + "the-Challenge_1")[::2] == (200, b"the-Challenge_1.thumbprint")
    for name in ["other", "long", "link", "..%2fsecret", "../secret", "the-Challenge_1%00", "a.b",
                 "%2e%2e", "x" * 129]:
        assert ask("GET", challenge + name)[0] in (404, 400, 308), name
        assert b"no challenge" not in ask("GET", challenge + name)[2]
    assert ask("POST", challenge + "the-Challenge_1", b"")[0] == 405
    connection.close()


def heads(port, *requests, context=None):
    """The status and the header fields of the answers of a listener."""
    for request in requests:
        plain = socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS)
        with context.wrap_socket(plain, server_hostname="a.test") if context else plain as connection:
            connection.sendall(request)
            response = http.client.HTTPResponse(connection)
            response.begin()
            yield response.status, response.headers


def test_strict_transport_security_is_sent_over_tls_only(https, ca, serve_tls):
    field = "Strict-Transport-Security"
    requests = [LAST.replace(b"/healthz", path) for path in [b"/healthz", b"/.well-known/acme-challenge/x"]]
    requests += [b"nonsense\r\n\r\n", LAST.replace(b"GET /healthz", b"POST /readyz")]
    tls = list(heads(https.port, *requests, context=ca.context()))
    assert [status for status, _ in tls] == [200, 404, 400, 405]
    assert all(fields.get_all(field) == ["max-age=31536000"] for _, fields in tls)
    redirected = list(heads(https.names["redirect"], *requests))
    assert [status for status, _ in redirected] == [308, 404, 400, 308]
    plain = list(heads(https.names["public_2"], *requests))
    # What is no handshake is answered as it came.
    plain += list(heads(https.port, LAST))
    assert [status for status, _ in plain] == [200, 404, 400, 405, 400]
    for _, fields in redirected + plain:
        assert field not in fields and fields["X-Content-Type-Options"] == "nosniff"
    # A proxy that is named has TLS of its own.
    behind = serve_tls(
        settings([tls_listener(), {"address": "127.0.0.1:0"}], [ca.issue("a.test")]),
        POSTERN_SERVER_PUBLIC_URL="https://a.test", POSTERN_SERVER_TRUSTED_PROXIES="127.0.0.1")
    port = await_true(behind.ports, "no ports are logged")["public_2"]
    assert all(field in fields for _, fields in heads(port, *requests))


def test_the_public_listener_serves_challenges_too(https, ca):
    with connect(https.port, ca.context()) as connection:
        path = b"/.well-known/acme-challenge/the-Challenge_1"
        received = answer(connection, LAST.replace(b"/healthz", path))
    assert received.endswith(b"the-Challenge_1.thumbprint")


def fingerprint(server):
    return ssl.get_server_certificate(("127.0.0.1", server.port))


def expiry(certificate):
    made = x509.load_pem_x509_certificate(certificate.read_bytes())
    return made.not_valid_after_utc.timestamp()


def test_replaced_files_are_taken_up_and_broken_ones_are_not(ca, serve_tls, tmp_path):
    certificate, key = ca.issue("a.test")
    server = serve_tls(settings([tls_listener()], [(certificate, key), ca.issue("b.test", days=5)]),
                       POSTERN_SERVICES_LISTEN=f"unix:{tmp_path}/services")
    old = fingerprint(server)

    def expiries():
        scrape = Services(f"unix:{tmp_path}/services").call("GET", "/metrics").body.decode()
        name = "postern_tls_certificate_expiry_timestamp_seconds"
        samples = re.findall(rf'^{name}{{certificate="([^"]+)"}} (\S+)$', scrape, re.M)
        return {path: float(value) for path, value in samples}

    other = {str(ca.directory / "b.test.pem"): expiry(ca.directory / "b.test.pem")}
    assert expiries() == {str(certificate): expiry(certificate), **other}
    with connect(server.port, ca.context()) as kept:
        ca.issue("a.test", days=200)
        await_true(lambda: fingerprint(server) != old, "the new certificate is not used")
        new = fingerprint(server)
        assert new.strip() == certificate.read_text().strip()
        # Connections that are open stay.
        assert answer(kept).startswith(b"HTTP/1.1 200 ")
    used = {str(certificate): expiry(certificate), **other}
    assert expiries() == used
    key.write_text("broken")
    replace(certificate, tmp_path / "other.key", -1, 30)
    await_true(lambda: "holds no private key" in server.read_log(), "the fault is not logged")
    # That of the certificate that is in use.
    assert expiries() == used
    assert fingerprint(server) == new and is_served(server, ca)
    ca.issue("a.test")
    await_true(lambda: fingerprint(server) != new, "the corrected files are not used")


def test_sighup_reads_certificates_too_and_all_listeners_go_on(ca, serve_tls, tmp_path):
    certificate, key = ca.issue("a.test")
    listeners = [
        tls_listener(), {"address": "127.0.0.1:0", "serves": "redirect"}, tls_listener(serves="services")]

    def text(domain):
        return settings(listeners, [(certificate, key)]) + f'[mail]\ndomains = ["{domain}"]\n'

    server = serve_tls(text("first.example"), POSTERN_SERVER_PUBLIC_URL="https://a.test")
    ports = await_true(server.ports, "no ports are logged")
    kept = http.client.HTTPSConnection("127.0.0.1", server.port, context=ssl._create_unverified_context())
    old = fingerprint(server)

    def domains():
        kept.request("GET", "/api/domains")
        return [one["domain"] for one in json.loads(kept.getresponse().read())["domains"]]

    def status(port, context=None):
        with socket.create_connection(("127.0.0.1", port), 30) as plain:
            stream = context.wrap_socket(plain, server_hostname="a.test") if context else plain
            stream.sendall(LAST.replace(b"/healthz", b"/forward-auth"))
            return int(stream.recv(65536).split()[1])

    assert domains() == ["first.example"]
    key.write_text("broken")
    (tmp_path / "postern.toml").write_text(text("second.example"))
    server.reload(NOT_RELOADED)
    assert domains() == ["first.example"] and fingerprint(server) == old
    ca.issue("a.test")
    server.reload()
    # The connection is open still, and its next request has the new settings.
    assert domains() == ["second.example"]
    assert fingerprint(server).strip() == certificate.read_text().strip()
    assert status(ports["redirect"]) == 308 and status(ports["services"], ca.context()) == 401
    kept.close()
    listeners.pop()
    (tmp_path / "postern.toml").write_text(text("second.example"))
    server.reload()
    postponed = [line["setting"] for line in map(json.loads, server.read_log().splitlines())
                 if line["message"] == "a setting needs a restart to change"]
    assert postponed == ["server.listeners"]


def test_services_need_a_certificate_of_their_authority(ca, serve_tls, tmp_path):
    clients = Authority(tmp_path / "clients")
    server = serve_tls(settings(
        [tls_listener(), tls_listener(serves="services")], [ca.issue("a.test")],
        client_ca_file=clients.file))
    port = await_true(server.ports, "no ports are logged")["services"]
    path = LAST.replace(b"/healthz", b"/forward-auth")
    known, foreign = ca.context(), ca.context()
    known.load_cert_chain(*clients.issue("proxy", usage="clientAuth"))
    foreign.load_cert_chain(*ca.issue("other", usage="clientAuth"))
    for _ in range(2):
        with connect(port, known) as connection:
            assert answer(connection, path).startswith(b"HTTP/1.1 401 ")
    for context in [ca.context(), foreign]:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            with connect(port, context) as connection:
                answer(connection, path)
    # Clients of the public listener need none.
    assert is_served(server, ca)


def replace(certificate, key, begin, end):
    """Writes a certificate with a validity in days from now."""
    private = ec.generate_private_key(ec.SECP256R1())
    now = datetime.datetime.now(datetime.timezone.utc)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a.test")])
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name)
        .public_key(private.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(now + datetime.timedelta(days=begin))
        .not_valid_after(now + datetime.timedelta(days=end)).sign(private, hashes.SHA256()))
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key.write_bytes(private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption()))


def test_the_healthcheck_and_doctor_know_tls(ca, serve_tls, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    certificate, key = ca.issue("a.test", days=30)
    server = serve_tls(
        settings([{"address": f"127.0.0.1:{port}", "tls": True}], [(certificate, key)]),
        POSTERN_SERVER_PUBLIC_URL="https://other.test")
    assert server.url == f"https://127.0.0.1:{port}"
    file = ["--config", tmp_path / "postern.toml", "--profile", "test"]
    assert run("healthcheck", *file, directory=tmp_path).returncode == 0

    def doctor(**settings):
        result = run("doctor", *file, "--data", tmp_path / "data", directory=tmp_path, **settings)
        lines = result.stdout.splitlines()
        return result.returncode, [line for line in lines if " certificate: " in line]

    code, lines = doctor(POSTERN_SERVER_PUBLIC_URL="https://a.test")
    # One less when a second has passed.
    valid = [f"ok       certificate: {certificate} is valid for {days} days" for days in (29, 30)]
    assert code == 0 and len(lines) == 1 and lines[0] in valid
    key.chmod(0o644)
    code, lines = doctor(POSTERN_SERVER_PUBLIC_URL="https://other.test")
    assert code == 0 and [line[:7] for line in lines] == ["ok     ", "warning", "warning"]
    assert "can be read by others" in lines[1] and "other.test" in lines[2]
    result = run("check-config", *file, directory=tmp_path)
    assert result.returncode == 0 and "can be read by others" in result.stderr
    for begin, end, level, text in [
            (-80, 5, "warning", " days only"), (-80, -1, "failed", "has expired"),
            (1, 80, "failed", "is not valid yet")]:
        replace(certificate, key, begin, end)
        code, lines = doctor()
        assert code == (level == "failed") and lines[0].startswith(level) and text in lines[0]
    key.write_text("broken")
    code, lines = doctor()
    assert code == 1 and lines[0].startswith("failed   certificate: ")
    server.stop()
    assert run("healthcheck", *file, directory=tmp_path).returncode == 1
    result = run("serve", *file, directory=tmp_path)
    assert result.returncode == 78 and "holds no private key" in result.stderr


def test_a_listener_may_be_a_unix_socket(ca, serve_tls, tmp_path):
    path, unix = tmp_path / "public", {"address": f"unix:{tmp_path}/public"}
    server = serve_tls(settings([tls_listener(), unix], [ca.issue("a.test")]))
    assert is_served(server, ca)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(PATIENCE_SECONDS)
        connection.connect(str(path))
        connection.sendall(LAST)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
    assert path.stat().st_mode & 0o777 == 0o660
    # The first public listener of another file.
    (tmp_path / "unix.toml").write_text(settings([unix]))
    asked = run("healthcheck", "--config", "unix.toml", directory=tmp_path,
                POSTERN_SERVER_PUBLIC_URL="http://a.test")
    assert asked.returncode == 0, asked.stderr


def test_the_proxy_protocol_comes_before_tls(ca, serve_tls):
    server = serve_tls(
        settings([tls_listener(proxy_protocol="required")], [ca.issue("a.test")]),
        POSTERN_SERVER_TRUSTED_PROXIES="127.0.0.1")
    plain = socket.create_connection(("127.0.0.1", server.port), PATIENCE_SECONDS)
    plain.sendall(b"PROXY TCP4 192.0.2.7 127.0.0.1 4711 443\r\n")
    with ca.context().wrap_socket(plain, server_hostname="a.test") as connection:
        assert answer(connection).startswith(b"HTTP/1.1 200 ")
    await_true(lambda: '"192.0.2.7"' in server.read_log(), "the client is not logged")
    assert raw(server.port, hello(ca.context())) == b""
