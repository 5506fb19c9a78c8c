"""A Debian in a folder that systemd-nspawn boots."""

import contextlib
import pathlib
import re
import subprocess
import sys

from debian import done
from program import STOP_SECONDS, await_true

LOAD = pathlib.Path(__file__).with_name("load.py")
SETTINGS_FILE = "etc/postern/postern.toml"


class Machine:
    """A Debian that its own systemd has booted, with a network of its own. Stop it: nothing else does."""

    def __init__(self, debian):
        self.debian = debian
        self.log = debian.root.with_suffix(".log")
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                ["systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network", "--boot",
                 "--console=pipe", "--directory", str(debian.root)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self.init = await_true(self._find_init, self.log.read_text)
            await_true(self._is_booted, self.log.read_text)
        except BaseException:
            self.stop()
            raise

    def _find_init(self):
        """The id that the first process of the machine has here; `None` while it does not run yet."""
        assert self.process.poll() is None, self.log.read_text()
        for child in pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split():
            with contextlib.suppress(OSError):
                if re.search(r"^NSpid:.*\t1$", pathlib.Path(f"/proc/{child}/status").read_text(), re.M):
                    return child

    def _is_booted(self):
        state = subprocess.run(
            self._command("--all", "systemctl", "is-system-running"), capture_output=True, text=True, timeout=60)
        # The second: a unit that is not ours could not start in a container.
        return state.stdout in ("running\n", "degraded\n")

    def _command(self, namespaces, *words):
        return ["nsenter", f"--target={self.init}", namespaces, *map(str, words)]

    def run(self, *words, **options):
        return done(*self._command("--all", *words), env={
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}, **options)

    def postern(self, *words, **options):
        """A command of the program, as docs/operators.md has it."""
        return self.run("runuser", "--user", "postern", "--", "postern", *words, "--config", f"/{SETTINGS_FILE}",
                        "--data", "/var/lib/postern", **options)

    def show(self, property):
        return self.run("systemctl", "show", "--value", f"--property={property}", "postern.service").strip()

    def journal(self, unit="postern.service"):
        """What the processes of the service have written, without systemd's own lines about it."""
        self.run("journalctl", "--sync")
        return self.run("journalctl", "--output=cat", f"_SYSTEMD_UNIT={unit}").splitlines()

    def client(self, program, *words):
        """A program of this machine, with the network of that one."""
        return done(*self._command("--net", sys.executable, program, *words))

    def await_message(self, message, count=1):
        await_true(lambda: sum(f'"message":"{message}"' in line for line in self.journal()) >= count, self.journal)

    @contextlib.contextmanager
    def load(self):
        """Requests on new connections, which come until the end. All of them must have been answered."""
        file = self.debian.root.with_suffix(".load")
        with file.open("wb") as output:
            process = subprocess.Popen(
                self._command("--net", sys.executable, LOAD), stdin=subprocess.PIPE, stdout=output)

        def answers():
            return file.read_text().splitlines()

        def await_answers():
            count = len(answers()) + 20
            await_true(lambda: len(answers()) >= count, lambda: f"no answers: {self.journal()}")

        try:
            yield await_answers
        finally:
            process.communicate()
        assert process.returncode == 0 and set(answers()) == {"200"}

    def answers(self):
        with self.load() as await_answers:
            await_answers()
        return True

    def stop(self):
        """Shuts it down."""
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS + 60)
        finally:
            self.process.kill()
            self.process.wait()
