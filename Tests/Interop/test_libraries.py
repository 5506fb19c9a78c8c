"""The declarations of functions of libraries that the program loads are those of the libraries' own headers."""

import subprocess
from pathlib import Path

import pytest

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
