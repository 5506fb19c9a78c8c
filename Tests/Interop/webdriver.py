"""Chromium without a window, over the WebDriver protocol that its driver speaks."""

import base64
import json
import os
import re
import select
import subprocess
import time

import requests

from program import PATIENCE_SECONDS

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
STARTED = re.compile(rb"started successfully on port (\d+)")


class WebDriverError(Exception):
    """An error of the driver."""


class PortTaken(Exception):
    """The driver takes a free port of ::1, and then needs the same port of 127.0.0.1."""


class Browser:
    """One window. Sizes are the page's, in CSS pixels."""

    def __init__(self, directory, *flags):
        self.url = f"http://127.0.0.1:{self._start(directory)}/session"
        try:
            # Containers have no user namespaces to sandbox in, and a /dev/shm that is too small.
            arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage",
                         "--disable-gpu", f"--user-data-dir={directory}/profile", *flags]
            opened = self._send("POST", "", capabilities={
                "alwaysMatch": {"goog:chromeOptions": {"args": arguments},
                                "goog:loggingPrefs": {"browser": "ALL"}}})
            self.url += "/" + opened["sessionId"]
        except BaseException:
            self._end()
            raise

    def _start(self, directory):
        for attempts_left in reversed(range(10)):
            self.driver = subprocess.Popen(
                ["chromedriver", "--port=0"], cwd=directory, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            try:
                return self._port()
            except BaseException as fault:
                self._end()
                if not isinstance(fault, PortTaken) or not attempts_left:
                    raise

    def _port(self):
        said, deadline = b"", time.monotonic() + 30
        pipe = self.driver.stdout.fileno()
        while not (match := STARTED.search(said)):
            readable, _, _ = select.select([pipe], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(pipe, 4096) if readable else b""
            if not piece and b"IPv4 port not available" in said:
                raise PortTaken(said)
            assert piece, f"the driver did not start; it said {said!r}"
            said += piece
        return int(match[1])

    def _send(self, method, path, **body):
        answer = requests.request(
            method, self.url + path, json=body if method == "POST" else None, timeout=60)
        value = answer.json()["value"]
        if not answer.ok:
            raise WebDriverError(f"{method} {path}: {value['error']}: {value['message']}")
        return value

    def close(self):
        self._send("DELETE", "")
        self._end()

    def _end(self):
        self.driver.terminate()
        self.driver.wait(20)
        self.driver.stdout.close()

    def show(self, width, height, scheme):
        """The size of the screen, and whether its owner likes it `light` or `dark`."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height,
                     deviceScaleFactor=1, mobile=width < 600)
        self.command("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])

    def command(self, name, **parameters):
        return self._send("POST", "/goog/cdp/execute", cmd=name, params=parameters)

    def open(self, url):
        self._send("POST", "/url", url=url)

    def run(self, script):
        return self._send("POST", "/execute/sync", script=script, args=[])

    def run_async(self, script):
        """As `run`; the result is what the script calls its last argument with."""
        return self._send("POST", "/execute/async", script=script, args=[])

    def handles(self):
        """The windows and tabs."""
        return self._send("GET", "/window/handles")

    def in_window(self, handle, script):
        """Runs a script in another tab, and closes that."""
        mine = self._send("GET", "/window")
        self._send("POST", "/window", handle=handle)
        try:
            return self.run(script)
        finally:
            self._send("DELETE", "/window")
            self._send("POST", "/window", handle=mine)

    def in_frame(self, css, script):
        """Runs a script in a frame of the page, also where the frame's own may not run."""
        self._send("POST", "/frame", id={ELEMENT: self._find(css)})
        try:
            return self.run(script)
        finally:
            self._send("POST", "/frame", id=None)

    def log(self):
        """What the console has said since it was last asked: (source, message)."""
        return [(entry["source"], entry["message"])
                for entry in self._send("POST", "/se/log", type="browser")]

    def tree(self):
        """What a screen reader is told: role, name and properties, in the order of the page."""
        nodes = {node["nodeId"]: node
                 for node in self.command("Accessibility.getFullAXTree")["nodes"]}
        # The answer has them level by level, the root first.
        ordered, waiting = [], [next(iter(nodes))]
        while waiting:
            node = nodes[waiting.pop()]
            ordered.append(node)
            waiting += [each for each in reversed(node.get("childIds", [])) if each in nodes]
        return [(node["role"]["value"], node.get("name", {}).get("value", ""),
                 {each["name"]: each["value"].get("value") for each in node.get("properties", [])})
                for node in ordered if not node["ignored"]]

    def _find(self, css):
        return self._send("POST", "/element", using="css selector", value=css)[ELEMENT]

    def says(self, css, text):
        """Waits until the element is shown and says so: a click ends before the next page is there."""
        script = (f"const it = document.querySelector({json.dumps(css)});"
                  "return it?.checkVisibility() ? it.innerText : ''")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while text not in (said := self._reading(script)):
            assert time.monotonic() < deadline, f"{css} says {said!r} and not {text!r}"
            time.sleep(0.02)
        return True

    def _reading(self, script):
        try:
            return self.run(script)
        except WebDriverError:
            return ""  # between two pages

    def click(self, css):
        self._send("POST", f"/element/{self._find(css)}/click")

    def type(self, css, text):
        element = self._find(css)
        self._send("POST", f"/element/{element}/clear")
        self._send("POST", f"/element/{element}/value", text=text)

    def press(self, keys):
        """Keys of the keyboard, wherever the focus is."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._send("POST", "/actions", actions=[
            {"type": "key", "id": "keyboard", "actions": actions}])

    def add_authenticator(self, **options):
        """A virtual one, in the device (Web Authentication §11.3). Returns its id."""
        options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True,
                   "hasUserVerification": True, "isUserVerified": True, **options}
        return self._send("POST", "/webauthn/authenticator", **options)

    def remove_authenticator(self, authenticator):
        self._send("DELETE", f"/webauthn/authenticator/{authenticator}")

    def credentials(self, authenticator):
        return self._send("GET", f"/webauthn/authenticator/{authenticator}/credentials")

    def add_credential(self, authenticator, credential):
        self._send("POST", f"/webauthn/authenticator/{authenticator}/credential", **credential)

    def picture(self, file):
        """The whole page, as a PNG."""
        taken = self.command(
            "Page.captureScreenshot", format="png", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(taken["data"]))
