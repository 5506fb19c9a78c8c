"""The declarations of functions of libraries that the program loads are those of the libraries' own headers."""

import subprocess
from pathlib import Path

import pytest

from program import await_true
from test_smtp import Session

SOURCES = Path(__file__).resolve().parents[2] / "Sources"


@pytest.mark.parametrize("change", [None, ("int g_mime_references_length(", "long g_mime_references_length(")])
def test_gmimes_functions_are_declared_as_in_its_headers(tmp_path, change):
    source = (SOURCES / "CGMime/gmime.c").read_text()
    if change:
        assert change[0] in source
        source = source.replace(*change)
    file = tmp_path / "gmime.c"
    file.write_text(source)
    flags = subprocess.run(
        ["pkg-config", "--cflags", "gmime-3.0"], check=True, capture_output=True, text=True, timeout=60
    ).stdout.split()
    result = subprocess.run(
        ["gcc", "-fsyntax-only", "-include", "gmime/gmime.h", *flags, f"-I{SOURCES / 'CGMime/include'}", str(file)],
        capture_output=True, text=True, timeout=60,
    )
    if change:
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
