"""nginx and Caddy with the configurations of deploy/mail/: before Dovecot, and before a web application."""

import contextlib
import functools
import http.client
import http.server
import imaplib
import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from mailboxes import PASSWORD, Mailboxes
from mailstores import (
    HOST, SECRET, Daemon, Dovecot, From, configured, directory, free_port, require)
from program import Postern, run
from services import basic

WEB = "webmail.example.org"
MODULE = "/usr/lib/nginx/modules/ngx_mail_module.so"


class Nginx(Daemon):
    """Both configurations in one nginx. It serves the mail proxy on `port`."""

    def __init__(self, place, authority, services, application):
        require("nginx", "nginx")
        with open(MODULE, "rb"):
            pass
        place.mkdir()
        self.port, self.web = free_port(), free_port()
        self.log = place / "error.log"
        (place / "mail.conf").write_text(configured(
            "nginx-mail.conf", services=("127.0.0.1:8081", f"127.0.0.1:{services}"),
            listen=("listen 993", f"listen 127.0.0.1:{self.port}"), **certificate(authority, HOST)))
        (place / "web.conf").write_text(configured(
            "nginx-web.conf", services=("127.0.0.1:8081", f"127.0.0.1:{services}"),
            application=("127.0.0.1:8090", f"127.0.0.1:{application}"),
            listen=("listen 443", f"listen 127.0.0.1:{self.web}"), **certificate(authority, WEB)))
        temporary = "".join(
            f"{kind}_temp_path {place}/{kind};\n"
            for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        (place / "nginx.conf").write_text(
            f"load_module {MODULE};\npid {place}/nginx.pid;\nerror_log {self.log};\nevents {{}}\n"
            f"include {place}/mail.conf;\n"
            f"http {{\naccess_log off;\n{temporary}include {place}/web.conf;\n}}\n")
        self.start(
            ["nginx", "-p", str(place), "-c", str(place / "nginx.conf"), "-g", "daemon off;"],
            self.port, place / "output", self.log)


class Caddy(Daemon):
    def __init__(self, place, authority, services, application):
        require("caddy", "caddy")
        place.mkdir()
        self.port, self.log = free_port(), place / "output"
        [_, chain] = certificate(authority, WEB)["certificate"]
        # A certificate of the tests' own in place of the one that Caddy would obtain.
        site = configured(
            "Caddyfile", services=("127.0.0.1:8081", f"127.0.0.1:{services}"),
            application=("127.0.0.1:8090", f"127.0.0.1:{application}"), listen=(
                f"{WEB} {{",
                f"https://{WEB}:{self.port} {{\n\tbind 127.0.0.1\n\ttls {chain} {chain}"))
        (place / "Caddyfile").write_text(
            "{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + site)
        self.start(
            ["env", f"HOME={place}", "caddy", "run", "--adapter", "caddyfile", "--config", str(place / "Caddyfile")],
            self.port, self.log, self.log)


def certificate(authority, name):
    authority.context(name)
    chain = authority.directory / f"{name}.pem"
    return {"certificate": (f"/etc/ssl/certs/{name}.pem", chain),
            "key": (f"/etc/ssl/private/{name}.key", chain)}


class Application:
    """A web application that says what it was sent."""

    def __init__(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                body = json.dumps({name.lower(): value for name, value in self.headers.items()}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Site:
    """Postern, Dovecot, and nginx in front of it."""

    def __init__(self, place, authority, stack):
        self.place, services = place, free_port()
        self.data = ["--data", str(place / "data")]
        (place / "secret").write_text(SECRET + "\n")
        (place / "secret").chmod(0o600)
        self.clients = From(authority)
        self.dovecot = Dovecot(place / "dovecot", authority, services)
        stack.callback(self.dovecot.stop)
        self.postern = Postern(
            place, *self.data, POSTERN_SERVICES_LISTEN=f"127.0.0.1:{services}",
            POSTERN_SERVICES_SECRET_FILE=str(place / "secret"),
            POSTERN_SERVICES_MAIL_BACKENDS=f"imap=127.0.0.1:{self.dovecot.plain_port}")
        stack.callback(self.postern.stop)
        self.boxes = Mailboxes(self.postern.url)
        application = Application()
        stack.callback(application.close)
        self.nginx = Nginx(place / "nginx", authority, services, application.port)
        stack.callback(self.nginx.stop)
        self.caddy = Caddy(place / "caddy", authority, services, application.port)
        stack.callback(self.caddy.stop)

    def imap(self, source="127.0.0.1"):
        return self.clients.imap(self.nginx.port, source)

    def events(self):
        done = run("audit", "export", *self.data, directory=self.place)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def web(self, port, authorization=None, source="127.0.0.1", body=b"", **headers):
        wire = WebConnection(self, port, source)
        if authorization:
            headers["Authorization"] = authorization
        try:
            wire.request("POST" if body else "GET", "/inbox", body, {"Host": WEB, **headers})
            answer = wire.getresponse()
            return answer, answer.read()
        finally:
            wire.close()


class WebConnection(http.client.HTTPSConnection):
    def __init__(self, site, port, source):
        super().__init__(WEB, port, timeout=60, context=site.clients.context)
        self.source = source

    def connect(self):
        plain = socket.create_connection(
            ("127.0.0.1", self.port), self.timeout, source_address=(self.source, 0))
        self.sock = self._context.wrap_socket(plain, server_hostname=WEB)


@pytest.fixture(scope="module")
def site(authority):
    with directory() as place, contextlib.ExitStack() as stack:
        yield Site(place, authority, stack)


def test_a_login_reaches_the_mailbox(site):
    box = site.boxes.mailbox(password='pass %&="\\ word')
    for log_in in [lambda imap: imap.login(box.address, box.password),
                   lambda imap: imap.authenticate(
                       "PLAIN", lambda _: f"\0{box.address}\0{box.password}".encode())]:
        imap = site.imap()
        log_in(imap)
        assert imap.select("INBOX")[0] == "OK"
        imap.logout()
    # Dovecot counts by the client's address too.
    imap = site.imap("127.0.0.88")
    imap.login(box.address, box.password)
    imap.logout()
    assert {event["client"] for event in site.events() if event["kind"] == "login_succeeded"
            and event["subject"].endswith(box.address)} == {"127.0.0.1", "127.0.0.88"}
    assert "rip=127.0.0.88" in site.dovecot.log.read_text()


def test_a_wrong_password_and_a_disabled_account_are_refused(site):
    box, ended = site.boxes.mailbox(), site.boxes.mailbox()
    imap = site.imap()
    imap.login(ended.address, PASSWORD)
    imap.logout()
    done = run("account", "disable", ended.address, *site.data, directory=site.place)
    assert done.returncode == 0, done.stderr
    # At the same time, because each has to wait three seconds.
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(refused, [
            site.imap("127.0.0.66"), site.imap()], [box, ended], ["wrong", PASSWORD]))
    assert [event["client"] for event in site.events() if event["kind"] == "login_failed"
            and event["subject"].endswith(box.address)] == ["127.0.0.66"]


def refused(imap, box, password):
    with pytest.raises(imaplib.IMAP4.error, match="Invalid login or password"):
        imap.login(box.address, password)
    imap.shutdown()


# In front of a web application

@pytest.fixture(params=["nginx", "caddy"])
def web(request, site):
    """Sends a request to the application through one of the proxies."""
    return functools.partial(
        site.web, site.nginx.web if request.param == "nginx" else site.caddy.port)


def test_a_web_application_learns_whose_a_request_is(site, web):
    box = site.boxes.mailbox()
    for credential in (f"Bearer {box.token}", basic(box.address, PASSWORD)):
        answer, body = web(credential, body=b"a body", **{
            "X-Auth-User": "forged@mail.test", "X-Account-Id": "forged",
            "X-Auth-Subject": "forged", "X-Store-Authorization": "forged"})
        assert answer.status == 200, body
        sent = json.loads(body)
        assert (sent["x-auth-user"], sent["x-account-id"]) == (box.address, box.id)
        assert "forged" not in body.decode() and "authorization" not in sent
        assert sent["content-length"] == "6"


def test_nobody_else_reaches_the_web_application(site, web):
    box = site.boxes.mailbox()
    for credential in (None, "Bearer garbage", basic(box.address, "wrong")):
        answer, body = web(credential, source="127.0.0.99")
        assert answer.status == 401 and "Basic" in answer.headers["WWW-Authenticate"]
        assert box.address.encode() not in body
    assert [event["client"] for event in site.events() if event["kind"] == "login_failed"
            and event["subject"].endswith(box.address)] == ["127.0.0.99"]
    answer, _ = web(basic(box.address, PASSWORD), **{"X-Services-Secret": "x"})
    assert answer.status == 200
    done = run("account", "disable", box.address, *site.data, directory=site.place)
    assert done.returncode == 0, done.stderr
    assert web(basic(box.address, PASSWORD))[0].status == 403
    assert web(f"Bearer {box.token}")[0].status == 401
