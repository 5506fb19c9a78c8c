"""Fixtures: a small Debian, kept in .build, and the package."""

import os
import pathlib
import re

import pytest

from debian import CODENAME, ROOT, Debian, done, mirrors

BASE = ROOT / f".build/debian-{CODENAME}.tar"


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    if not BASE.exists():
        BASE.parent.mkdir(exist_ok=True)
        url = next(url for url, suite, _ in mirrors() if suite == CODENAME)
        folder = tmp_path_factory.mktemp("base") / "root"
        done("debootstrap", "--variant=minbase", CODENAME, folder, url)
        (folder / "etc/apt/sources.list").write_text("".join(f"deb {' '.join(one)}\n" for one in mirrors()))
        # How this machine reaches the mirror.
        (folder / "etc/apt/apt.conf.d/80machine").write_text(done("apt-config", "dump", "Acquire::http", "Acquire::https"))
        (folder / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
        (folder / "usr/sbin/policy-rc.d").chmod(0o755)
        done("chroot", folder, "apt-get", "update", "--quiet=2")
        part = BASE.with_suffix(".part")
        done("tar", "--create", "--file", part, "--directory", folder, ".")
        part.rename(BASE)
    return BASE


@pytest.fixture
def debian(base, tmp_path):
    return Debian(tmp_path / "debian", base)


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """The package, and the same as a later version whose defaults are others."""
    binary = pathlib.Path(os.environ["BINARY"]).resolve()
    folder = tmp_path_factory.mktemp("packages")
    # How the packages are compressed is not tested.
    quick = {**os.environ, "DPKG_DEB_COMPRESSOR_TYPE": "gzip", "DPKG_DEB_COMPRESSOR_LEVEL": "1"}
    done("make", "--no-print-directory", "deb", f"BINARY={binary}", f"OUTPUT={folder}", cwd=ROOT, env=quick)
    package = next(folder.glob("*.deb"))
    done("dpkg-deb", "--raw-extract", package, folder / "parts")
    control = folder / "parts/DEBIAN/control"
    control.write_text(re.sub("(?m)^Version: .*$", "Version: 99.0-1", control.read_text()))
    with (folder / "parts/etc/postern/postern.toml").open("a") as settings:
        settings.write("\n# Something new.\n")
    done("dpkg-deb", "--root-owner-group", "--build", folder / "parts", folder / "newer.deb", env=quick)
    return package, folder / "newer.deb"
