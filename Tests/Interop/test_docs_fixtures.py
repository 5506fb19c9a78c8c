"""The fixtures of docs/test-suites.md, taken from the page and run as a reader would run them."""

import re
import shutil
import subprocess
import sys

import pytest

from program import BINARY, ROOT, environment

PAGE = (ROOT / "docs/test-suites.md").read_text()
BLOCKS = {name: text for name, text in re.findall(
    r"<!-- fixture: (\S+) -->\n```\w+\n(.*?)```", PAGE, re.S)}
PACKAGE = """\
// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "mail-tests", targets: [.testTarget(name: "MailTests", path: "Tests")],
    swiftLanguageModes: [.v6])
"""


def write(directory, *names):
    for name in names:
        (directory / name).parent.mkdir(exist_ok=True)
        (directory / name).write_text(BLOCKS[name])


def test_every_fixture_of_the_page_is_run_here():
    assert set(BLOCKS) == {
        "conftest.py", "test_mail.py", "package/conftest.py", "package/test_sessions.py",
        "package/test_login_code.py", "DocumentedTests.swift", "DocumentedMailTests.swift", "PosternServer.swift", "MailTests.swift"}


def pytest_in(directory, **variables):
    """A session of pytest; returns its summary."""
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(directory)], cwd=directory,
        env=environment(**variables), text=True, capture_output=True, timeout=120,
        stdin=subprocess.DEVNULL)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_pytest_fixture_runs(tmp_path):
    write(tmp_path, "conftest.py", "test_mail.py")
    assert "1 passed" in pytest_in(tmp_path, PATH_TO_POSTERN=str(BINARY))


def test_the_package_is_installed_and_its_fixtures_run(tmp_path):
    source, installed = tmp_path / "source", tmp_path / "installed"
    shutil.copytree(ROOT / "clients/python", source)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
         "--no-index", "--no-deps", "--no-build-isolation", "--target", installed, source],
        text=True, capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (installed / "postern_testing/py.typed").exists()
    write(tmp_path, "package/conftest.py", "package/test_sessions.py", "package/test_login_code.py")
    found = {"PYTHONPATH": str(installed), "POSTERN_BINARY": str(BINARY)}
    assert "3 passed" in pytest_in(tmp_path / "package", **found)


def test_the_swift_product_is_tested_as_the_page_shows_it():
    # It is built and run with the Swift tests: a package of its own would build all of Postern again.
    for name in ("DocumentedTests.swift", "DocumentedMailTests.swift"):
        test = ROOT / "Tests/PosternTestingTests" / name
        assert test.read_text() == BLOCKS[name]


@pytest.fixture(scope="session")
def swift_package(tmp_path_factory):
    package = tmp_path_factory.mktemp("mail-tests")
    (package / "Package.swift").write_text(PACKAGE)
    write(package / "Tests", "PosternServer.swift", "MailTests.swift")
    return package


def test_the_swift_fixture_runs(swift_package):
    result = subprocess.run(
        ["swift", "test", "--disable-xctest", "-Xswiftc", "-index-ignore-system-modules"], cwd=swift_package,
        env=environment(PATH_TO_POSTERN=str(BINARY)), text=True, capture_output=True, timeout=300,
        stdin=subprocess.DEVNULL)
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"with 1 test (in \d+ suites? )?passed", result.stdout + result.stderr)
