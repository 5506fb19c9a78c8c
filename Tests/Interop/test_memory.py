"""Secrets in the memory of the server: what another process of the machine could read or dump."""

import os
import pathlib
import re
import resource
import secrets
import subprocess

import pytest
import requests

from hashlogin import HashLogin
from program import BINARY, READY, Postern, environment
from tlsfiles import Authority, TLSPostern, settings, tls_listener

# The first bytes of every RSA key of 2048 bits as PKCS #8 (RFC 5208, RFC 8017 appendix A.1.2).
PKCS8 = re.compile(
    rb"\x30\x82\x04.\x02\x01\x00\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00\x04\x82",
    re.DOTALL)


def memory(process):
    """Every writable region of the process."""
    try:
        with open(f"/proc/{process}/mem", "rb", 0) as content:
            for line in pathlib.Path(f"/proc/{process}/maps").read_text().splitlines():
                span, mode = line.split()[:2]
                if not mode.startswith("rw"):
                    continue
                start, end = (int(number, 16) for number in span.split("-"))
                try:
                    content.seek(start)
                    yield content.read(end - start)
                except OSError:
                    pass
    except PermissionError:
        pytest.skip("the memory of another process cannot be read here")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_keys_and_bodies_are_wiped_after_their_use(tmp_path, scheme):
    if scheme == "https":
        authority = Authority(tmp_path / "authority")
        certificate = authority.issue("127.0.0.1", ["IP:127.0.0.1"])
        server = TLSPostern(
            tmp_path, settings([tls_listener()], [certificate]), "--data", tmp_path / "data")
    else:
        server = Postern(tmp_path, "--data", tmp_path / "data")
    try:
        marker = secrets.token_hex(24)
        with requests.Session() as session:
            # No authorities of the environment.
            session.trust_env = False
            session.verify = str(authority.file) if scheme == "https" else True
            for path in ["jwks.json", "login-jwks.json"]:
                keys = session.get(f"{server.url}/.well-known/{path}", timeout=30).json()["keys"]
                assert keys
            for _ in range(4):
                answer = session.post(
                    server.url + "/api/token", timeout=30,
                    # Longer than the next request, which may be read into the same memory.
                    data=" " * 1000 + f'{{"address":"a@localhost","password":"{marker}"}}',
                    headers={"Content-Type": "application/json"})
                assert answer.status_code == 401
            assert session.get(server.url + "/healthz", timeout=30).status_code == 200
        body = f'"password":"{marker}"'.encode()
        master = (tmp_path / "data/master.secret").read_bytes()
        assert len(master) == 32
        regions = list(memory(server.process.pid))
        assert sum(map(len, regions)) > 1_000_000
        assert not any(body in region for region in regions), "a body was not wiped"
        assert not any(master in region for region in regions), "the master secret was not wiped"
        found = sum(len(PKCS8.findall(region)) for region in regions)
        assert found == 0, f"{found} private keys were not wiped"
    finally:
        server.stop()


def test_libcurl_is_loaded_by_the_first_fetch(start):
    server = start()
    maps = pathlib.Path(f"/proc/{server.process.pid}/maps")
    assert "libcrypto" in maps.read_text()
    assert "libcurl" not in maps.read_text()
    answer = HashLogin(server.url).register(
        "a@example.org", "http://127.0.0.1:9/hash", "a long password")
    assert answer.status_code == 422, answer.text
    assert "libcurl" in maps.read_text()


# As root without its rights, because root may read every process, and another user perhaps not even the program.
WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []


@pytest.mark.parametrize("profile, isDumpable", [("production", False), ("development", True)])
def test_a_server_in_production_cannot_be_dumped(profile, isDumpable, tmp_path):
    allowed = resource.getrlimit(resource.RLIMIT_CORE)[1]
    settings = {
        "POSTERN_SERVER_PUBLIC_URL": "http://127.0.0.1:1", "JWT_ISSUER": "a",
        "POSTERN_SERVER_DRAIN_DELAY": "0s"}
    process = subprocess.Popen(
        [*WITHOUT_RIGHTS, str(BINARY), "serve", "--profile", profile, "--port", "0", "--data", str(tmp_path / "d")],
        cwd=tmp_path, env=environment(**settings), stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (allowed, allowed)))
    try:
        assert READY.fullmatch(process.stdout.readline().decode())
        # Opening it needs the same permission as a debugger (proc_pid_maps(5)).
        reading = subprocess.run(
            [*WITHOUT_RIGHTS, "cat", f"/proc/{process.pid}/maps"], capture_output=True, text=True)
        assert (reading.returncode == 0) == isDumpable, reading.stderr
        limit = re.search(
            r"Max core file size +(\S+)", pathlib.Path(f"/proc/{process.pid}/limits").read_text())
        assert isDumpable or limit[1] == "0"
    finally:
        process.terminate()
        assert process.wait(40) == 0
        process.stdout.close()
