"""The declarations of functions of libraries that the program loads are those of the libraries' own headers."""

import subprocess
from pathlib import Path

import pytest
import requests

from mailboxes import Mailboxes
from program import await_true
from test_smtp import Session

SOURCES = Path(__file__).resolve().parents[2] / "Sources"


@pytest.mark.parametrize("name, header, change", [
    ("gmime", "gmime/gmime.h", ("int g_mime_references_length(", "long g_mime_references_length(")),
    ("qrcode", "qrencode.h", ("QRcode *QRcode_encodeData(int", "QRcode *QRcode_encodeData(long")),
])
@pytest.mark.parametrize("is_changed", [False, True])
def test_functions_are_declared_as_in_the_headers(tmp_path, name, header, change, is_changed):
    folder, package = {"gmime": ("CGMime", "gmime-3.0"), "qrcode": ("CQRCode", "libqrencode")}[name]
    source = (SOURCES / folder / f"{name}.c").read_text()
    if is_changed:
        assert change[0] in source
        source = source.replace(*change)
    file = tmp_path / f"{name}.c"
    file.write_text(source)
    flags = subprocess.run(
        ["pkg-config", "--cflags", package], check=True, capture_output=True, text=True, timeout=60
    ).stdout.split()
    result = subprocess.run(
        ["gcc", "-fsyntax-only", "-include", header, *flags, f"-I{SOURCES / folder / 'include'}", str(file)],
        capture_output=True, text=True, timeout=60,
    )
    if is_changed:
        assert "conflicting types" in result.stderr
    else:
        assert result.returncode == 0, result.stderr


def receive(server, subject):
    with Session(server) as session:
        message = f"Subject: {subject}\r\n\r\nx\r\n".encode()
        assert session.deliver(message, "someone@elsewhere.example")[0] == 250


def test_gmime_is_loaded_with_the_first_message(start):
    server = start()
    maps = Path(f"/proc/{server.process.pid}/maps")
    assert "libgmime" not in maps.read_text()
    receive(server, "first")
    assert "libgmime" in maps.read_text()


def test_a_server_without_gmime_names_its_package_once(start, tmp_path):
    # The loader takes this file for the library.
    (tmp_path / "libgmime-3.0.so.0").write_text("not a library\n" * 100)
    server = start(LD_LIBRARY_PATH=str(tmp_path))
    assert "libgmime" not in server.read_log()
    for subject in ["first", "second"]:
        receive(server, subject)
    await_true(lambda: "Debian: libgmime-3.0-0" in server.read_log(), server.read_log)
    assert server.read_log().count("local mail cannot be read") == 1


def begin_totp(server):
    token = Mailboxes(server.url).user().token
    answer = requests.post(
        server.url + "/api/user/totp", headers={"Authorization": f"Bearer {token}"}, timeout=20)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_libqrencode_is_loaded_with_the_first_code(start):
    server = start(POSTERN_USERS_REGISTRATION="open")
    maps = Path(f"/proc/{server.process.pid}/maps")
    assert "libqrencode" not in maps.read_text()
    assert begin_totp(server)["svg"].startswith("<svg ")
    assert "libqrencode" in maps.read_text()


def test_a_server_without_libqrencode_names_its_package(start, tmp_path):
    (tmp_path / "libqrencode.so.4").write_text("not a library\n" * 100)
    server = start(LD_LIBRARY_PATH=str(tmp_path), POSTERN_USERS_REGISTRATION="open")
    begun = begin_totp(server)
    assert begun["svg"] is None
    assert begun["uri"].endswith("&algorithm=SHA1&digits=6&period=30")
    await_true(lambda: "Debian: libqrencode4" in server.read_log(), server.read_log)
