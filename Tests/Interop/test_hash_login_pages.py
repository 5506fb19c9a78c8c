"""The pages of the hash-login API in a browser, as wide as a phone and as a desktop."""

import os
import pathlib

import pytest

from hashhost import argon2
from webdriver import Browser

TAB, ENTER = "\ue004", "\ue007"
SIZES = {"phone": (390, 844), "desk": (1280, 900)}


@pytest.fixture(scope="module")
def server(serve, authority):
    return serve(POSTERN_HASH_LOGIN_CA_FILE=str(authority.file))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture
def look(browser, tmp_path, request):
    """Checks what every page must have; PICTURES names a folder for screenshots."""
    folder = pathlib.Path(os.environ.get("PICTURES", tmp_path))

    def look(name):
        browser.picture(folder / f"{request.node.callspec.id}-{name}.png")
        wide, visible = browser.run(
            "return [document.documentElement.scrollWidth, innerWidth]")
        assert wide <= visible, f"{name} has to be scrolled sideways"
        assert browser.run(
            "return performance.getEntriesByType('resource')"
            ".every(each => each.name.startsWith(location.origin))"), "something foreign is loaded"
        small = browser.run(
            "return [...document.querySelectorAll('input:not([type=hidden]), button')]"
            ".filter(each => each.getBoundingClientRect().height < 40).length")
        assert small == 0, f"{name} has a field or button too small for a thumb"

    return look


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_a_user_registers_fails_logs_in_and_logs_out(browser, look, server, host, size, scheme):
    browser.show(*SIZES[size], scheme)
    email = f"{size}-{scheme}@users.example"
    browser.open(server.url + "/")
    look("1-home")

    browser.type("#register-email", email)
    browser.type("#register-password_hash_url", host.serve(argon2("right")))
    browser.type("#register-password", "wrong")
    browser.click("form[action='/register'] button")
    assert browser.says("[role=alert]", "Password does not match the remote Argon2 hash.")
    look("2-refused")
    described = browser.run(
        "const field = document.querySelector('[aria-invalid=true]');"
        "return [field.name, document.activeElement === field, field.value,"
        " document.getElementById(field.getAttribute('aria-describedby')).textContent]")
    assert described == [
        "password", True, "", "Password does not match the remote Argon2 hash."]

    browser.type("#register-password", "right")
    browser.click("form[action='/register'] button")
    assert browser.says("[role=status]", f"{email} is registered")
    look("3-registered")

    browser.type("#login-email", email)
    browser.type("#login-password", "wrong")
    browser.click("form[action='/login'] button")
    assert browser.says("[role=alert]", "Invalid email or password.")
    look("4-failed")

    browser.type("#login-password", "right")
    browser.click("form[action='/login'] button")
    assert browser.says("[role=status]", f"{email} is logged in")
    look("5-logged-in")

    browser.click("form[action='/logout'] button")
    assert browser.says("[role=status]", f"Every earlier token of {email} is now invalid.")
    look("6-logged-out")


def test_the_pages_work_with_the_keyboard_alone(browser, server, host):
    browser.show(*SIZES["desk"], "light")
    browser.open(server.url + "/")
    # The first link skips the header. The next two are in the introduction.
    browser.press([TAB, ENTER])
    browser.press([TAB] * 4)
    browser.press([*"keys@users.example", TAB])
    browser.press([*host.serve(argon2("right")), TAB, *"right", ENTER])
    assert browser.says("main", "keys@users.example is registered")
