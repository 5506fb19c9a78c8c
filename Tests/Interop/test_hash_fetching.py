"""Hostile hash hosts: what they serve, and host names that hide a private address."""

import gzip
import itertools
import socket
import time

import pytest
from argon2.low_level import Type

from hashhost import HashHost, argon2
from hashlogin import HashLogin, refused

INVALID = "Password hash URL is invalid."
UNFETCHED = "Could not fetch password hash URL."
NO_HASH = "Password hash URL did not return an Argon2 hash."
GOOD = argon2("right")
_users = itertools.count(1)


@pytest.fixture(scope="module")
def logins(serve, authority):
    return HashLogin(serve(
        POSTERN_HASH_LOGIN_CA_FILE=str(authority.file),
        POSTERN_HASH_LOGIN_REGISTER_TIMEOUT="1s").url)


@pytest.fixture(scope="module")
def guarded(serve, authority, host):
    """A server that fetches under the rules of the development profile, from `host`'s port too."""
    return HashLogin(serve(
        POSTERN_HASH_LOGIN_CA_FILE=str(authority.file),
        POSTERN_HASH_LOGIN_ALLOW_HTTP="false",
        POSTERN_HASH_LOGIN_ALLOW_PRIVATE_NETWORKS="false",
        POSTERN_HASH_LOGIN_PORTS=f"443,{host.port}").url)


@pytest.fixture
def register(logins):
    return lambda url: logins.register(f"f-{next(_users)}@users.example", url, "right")


@pytest.mark.parametrize("body", [
    GOOD, b" \t\r\n" + GOOD + b"\r\n\t ", argon2("right", type=Type.I),
    argon2("right", salt=b"8 bytes!"), argon2("right", salt=b"s" * 64, hash_len=64),
    argon2("right", hash_len=16, time_cost=10, parallelism=4),
])
def test_one_encoded_hash_is_accepted(register, host, body):
    assert register(host.serve(body)).status_code == 201


@pytest.mark.parametrize("body", [
    b"", b"hello", b"\xef\xbb\xbf" + GOOD, GOOD + b"\n" + GOOD, GOOD + b" my password",
    GOOD + b"\x00", b"\x0b" + GOOD, b"\x00\xff\xfe" * 100, gzip.compress(GOOD, mtime=0),
    b"<html>" + GOOD + b"</html>", GOOD.decode().encode("utf-16"), GOOD[:-1] + b"\xff",
    GOOD + b"=", GOOD.replace(b"argon2id", b"argon2d"), GOOD.replace(b"argon2id", b"Argon2id"),
    GOOD.replace(b"v=19", b"v=16"), GOOD.replace(b"$v=19", b""), GOOD.replace(b"v=19", b"v=019"),
    GOOD.replace(b"p=1", b"p=1,keyid=a2V5"), GOOD.replace(b"p=1", b"p=1,data=ZGF0YQ"),
    GOOD.replace(b"m=64,t=1", b"t=1,m=64"), b"x" * 4096, b"$" * 4096,
], ids=lambda body: repr(body[:24]))
def test_anything_else_is_refused_as_not_a_hash(register, host, body):
    refused(register(host.serve(body)), NO_HASH)


@pytest.mark.parametrize("costs", [
    b"m=65537,t=1,p=1", b"m=4294967295,t=1,p=1", b"m=99999999999999999999,t=1,p=1",
    b"m=64,t=11,p=1", b"m=64,t=4294967295,p=1", b"m=64,t=0,p=1", b"m=64,t=1,p=5", b"m=64,t=1,p=0",
    b"m=7,t=1,p=1", b"m=31,t=1,p=4", b"m=-64,t=1,p=1", b"m=+64,t=1,p=1", b"m=064,t=1,p=1",
    b"m=0x40,t=1,p=1", b"m=64,t=1,p=1,p=1", b"m=64,t=1", b"m=,t=1,p=1", b"m= 64,t=1,p=1",
    "m=٦٤,t=1,p=1".encode(), b"m=65536,t=4,p=1", b"m=65536,t=10,p=4", b"m=19661,t=10,p=1",
])
def test_parameters_out_of_bounds_are_refused(register, host, costs):
    refused(register(host.serve(GOOD.replace(b"m=64,t=1,p=1", costs))), NO_HASH)


@pytest.mark.parametrize("body", [
    argon2("right", hash_len=15), argon2("right", hash_len=65), argon2("right", salt=b"s" * 65),
], ids=["short tag", "long tag", "long salt"])
def test_a_salt_or_tag_out_of_bounds_is_refused(register, host, body):
    refused(register(host.serve(body)), NO_HASH)


@pytest.mark.parametrize("status", [201, 203, 204, 206, 301, 304, 401, 404, 500, 503])
def test_only_200_is_an_answer(register, host, status):
    body = b"" if status in (204, 304) else GOOD
    refused(register(host.serve(body, status=status)), UNFETCHED)


def test_a_redirect_is_not_followed(register, host):
    target = host.serve(GOOD)
    refused(register(host.serve(GOOD, status=302, location=target)), UNFETCHED)
    assert not [path for path, _ in host.asked if target.endswith(f"localhost:{host.port}{path}")]


@pytest.mark.parametrize("size", [4097, 1_000_000])
def test_a_body_past_the_limit_is_not_read(register, host, size):
    refused(register(host.serve(GOOD + b" " * (size - len(GOOD)))), UNFETCHED)


def test_a_body_without_length_is_cut_off_too(register, host):
    def endless(handler):
        handler.send_response(200)
        handler.end_headers()
        while not host.closing.is_set():
            handler.wfile.write(b" " * 65536)
    refused(register(host.answer(endless)), UNFETCHED)


def test_a_slow_host_is_left_at_the_deadline(register, host):
    refused(register(host.drip(GOOD, 0.2)), UNFETCHED)


def test_a_silent_host_is_left_at_the_deadline(register):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        refused(register(f"https://localhost:{silent.getsockname()[1]}/"), UNFETCHED)


def test_a_closed_port_has_the_same_error_as_every_failure(register):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    refused(register(f"https://localhost:{port}/"), UNFETCHED)


def test_a_certificate_for_another_name_is_refused(register, authority):
    other = HashHost(authority.context("other.example"))
    refused(register(other.serve(GOOD)), UNFETCHED)
    assert other.asked == []
    other.close()


def test_a_certificate_of_an_unknown_authority_is_refused(serve, host):
    server = HashLogin(serve().url)
    asked = len(host.asked)
    refused(server.register("a@users.example", host.serve(GOOD), "right"), UNFETCHED)
    assert len(host.asked) == asked


def test_the_host_gets_no_more_than_a_plain_request(register, host):
    assert register(host.serve(GOOD)).status_code == 201
    _, headers = host.asked[-1]
    assert {name.lower() for name in headers} <= {"host", "user-agent", "accept"}


def test_proxy_variables_and_netrc_do_not_change_what_is_fetched(serve, authority, host, tmp_path):
    (tmp_path / ".netrc").write_text("machine localhost login somebody password secret\n")
    (tmp_path / ".netrc").chmod(0o600)
    (tmp_path / ".curlrc").write_text('header = "X-Around: yes"\n')
    nobody = "http://127.0.0.1:1"
    logins = HashLogin(serve(
        POSTERN_HASH_LOGIN_CA_FILE=str(authority.file), HOME=str(tmp_path), CURL_HOME=str(tmp_path),
        NETRC=str(tmp_path / ".netrc"), https_proxy=nobody, HTTPS_PROXY=nobody, ALL_PROXY=nobody,
        no_proxy="").url)
    url = host.serve(GOOD, set_cookie="kept=1; Path=/")
    for number in range(2):
        assert logins.register(f"n{number}@users.example", url, "right").status_code == 201
        _, headers = host.asked[-1]
        assert {name.lower() for name in headers} <= {"host", "user-agent", "accept"}


PRIVATE = [
    "localhost", "LOCALHOST", "127.0.0.1", "127.255.255.254", "0.0.0.0",
    "10.0.0.1", "100.64.0.1", "169.254.169.254", "172.16.0.1", "192.0.0.8", "192.168.0.1",
    "192.88.99.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1",
    "255.255.255.255", "[::]", "[::1]", "[::ffff:127.0.0.1]", "[::FFFF:127.0.0.1]",
    "[64:ff9b::7f00:1]", "[fe80::1]",
    "[fc00::1]", "[ff02::1]", "[2001::1]", "[2002:7f00:1::]", "[2001:db8::1]", "[3fff::1]",
    "[100::1]", "[5f00::1]",
]
OTHERWISE_SPELLED = [
    "2130706433", "017700000001", "0x7f000001", "0x7F000001", "127.1", "127.0.1", "0177.0.0.1",
    "0x7f.0.0.1", "0x7f.1", "127.000.000.001", "127.0.0.1.", "127.0.0.256", "127.0.0.0.1", "0",
    "1.2.3", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]", "[0000::1]", "[::01]",
    "[::1%25lo]", "[::1%lo]", "[127.0.0.1]", "[::1", "::1", "[]", "[v1.a]", "localhost.",
    "user@localhost", "user:secret@localhost", "@localhost", "example.com@localhost",
    "localhost:22", "localhost:80", "localhost:0", "localhost:", "localhost:+443",
    "localhost:0443", "localhost:65979", "localhost:443:443", "localhost:https", "local%68ost",
    "lo_calhost", "-a.example", "a..example", ".", "", "①②⑦.0.0.1", "127。0。0。1", "ⓛocalhost",
    "localhost\\@example.com", "a b",
    "local\thost", "localhost\r\nHost: x", "localhost#@example.com",
]


@pytest.mark.parametrize("name", PRIVATE)
def test_only_public_addresses_are_connected_to(guarded, host, name):
    before = host.connections
    for port in ["", f":{host.port}"]:
        answer = guarded.register("s@users.example", f"https://{name}{port}/hash", "right")
        refused(answer, UNFETCHED)
    assert host.connections == before


@pytest.mark.parametrize("name", OTHERWISE_SPELLED)
def test_an_ambiguous_host_is_refused(guarded, name):
    refused(guarded.register("s@users.example", f"https://{name}/hash", "right"), INVALID)


@pytest.mark.parametrize("url", [
    "http://example.com/hash", "ftp://example.com/", "file:///etc/passwd", "gopher://localhost/",
    "javascript:alert(1)", "data:text/plain,x", "//example.com/", "example.com",
    "https:example.com",
    "https:/example.com", "https:\\\\example.com", " https://example.com/",
    "https://example.com/\n",
    "https://example.com/ü", "https://example.com/%zz", "https://example.com/#f", "https://",
    "https://example.com/" + "a" * 3000,
], ids=lambda url: repr(url[:32]))
def test_only_https_urls_of_plain_characters_are_urls(guarded, url):
    refused(guarded.register("s@users.example", url, "right"), INVALID)
