"""The built program, started as an operator starts it and stopped by its process id."""

import functools
import os
import pathlib
import re
import select
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).parents[2]
BINARY = pathlib.Path(os.environ.get("POSTERN_BINARY", ROOT / ".build/debug/postern")).resolve()
READY = re.compile(r"listening on (https?://(\S+):(\d+))\n")
SMTP = re.compile(r"smtp on (\S+):(\d+)\n")
START_SECONDS = 30
STOP_SECONDS = 40
# For what takes much less, also on a loaded machine.
PATIENCE_SECONDS = 60
# What a server logs last when it has read its configuration again.
RELOADED = "the configuration was read again"
NOT_RELOADED = "the configuration is not used: the server goes on with the one it has"


def environment(**variables):
    """The environment of this process without settings of Postern."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("POSTERN_")}
    return {**kept, **variables}


class Postern:
    """One running server. Its log goes to `log`. Stop it: nothing else does.

    Settings are variables: `POSTERN_SERVER_DRAIN_DELAY="3s"`.
    """

    # A default hash takes 25 ms of CPU time.
    CHEAP_PASSWORDS = {"POSTERN_PASSWORDS_MEMORY_KIB": "64", "POSTERN_PASSWORDS_ITERATIONS": "1"}

    def __init__(self, directory, *flags, profile="test", port=0, **settings):
        if profile == "test":
            settings = {**self.CHEAP_PASSWORDS, **settings}
        self.log = pathlib.Path(directory) / f"log-{time.monotonic_ns()}.jsonl"
        command = [str(BINARY), "serve", *flags]
        command += ["--profile", profile] if profile else []
        command += ["--port", str(port)] if port is not None else []
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, cwd=directory, env=environment(**settings),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        self._output = b""
        self.url, self.host, self.port = self._await_ready()

    def _await_ready(self):
        line = self._read_line()
        match = READY.fullmatch(line)
        assert match, f"the ready line is not as documented: {line!r}"
        return match[1], match[2].strip("[]"), int(match[3])

    @functools.cached_property
    def smtp(self):
        """Host and port for local mail: the second line, where there is local mail."""
        line = self._read_line()
        match = SMTP.fullmatch(line)
        assert match, f"the line with the SMTP address is not as documented: {line!r}"
        return match[1], int(match[2])

    def _read_line(self):
        pipe = self.process.stdout.fileno()
        deadline = time.monotonic() + START_SECONDS
        while b"\n" not in self._output:
            readable, _, _ = select.select([pipe], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(pipe, 4096) if readable else b""
            if not piece:
                self.kill()
                raise AssertionError(
                    f"no line; said {self._output!r} and logged {self.read_log()}")
            self._output += piece
        line, _, self._output = self._output.partition(b"\n")
        return line.decode() + "\n"

    def read_log(self):
        return self.log.read_text(errors="replace")

    def stop(self):
        """Ends it gracefully, as a supervisor does. A second signal would end it at once."""
        self.process.send_signal(signal.SIGTERM)
        self.await_end()

    def await_end(self):
        """Ends it with SIGTERM and asserts that it exits with 0."""
        code = self.process.wait(STOP_SECONDS)
        self.process.stdout.close()
        assert code == 0, f"exit code {code} after SIGTERM; log: {self.read_log()[-2000:]}"

    def kill(self):
        """Ends it by SIGKILL, as a power cut would."""
        self.process.kill()
        self.process.wait(STOP_SECONDS)
        self.process.stdout.close()

    def reload(self, message=RELOADED):
        """Sends SIGHUP, and waits for one more line of the log that says what comes of it."""
        line = f'"message":"{message}"'
        before = self.read_log().count(line)
        self.process.send_signal(signal.SIGHUP)
        await_true(lambda: self.read_log().count(line) > before, self.read_log)

    @property
    def running(self):
        return self.process.poll() is None


def await_true(condition, what, pause=0.05):
    """Returns what `condition` returns, as soon as that is true. `what` names what it waits for."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline, what() if callable(what) else what
        time.sleep(pause)
    return found


def run(*arguments, directory, stdin="", **settings):
    """Runs one command of the program; has its output and exit code."""
    return subprocess.run(
        [str(BINARY), *map(str, arguments)], cwd=directory, env=environment(**settings),
        input=stdin, text=True, capture_output=True, timeout=120)


def done(*command, **options):
    """The output of a command that must not fail."""
    result = subprocess.run(
        [*map(str, command)], **{"text": True, "capture_output": True, "timeout": 600,
                                 "stdin": subprocess.DEVNULL, **options})
    assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
    return result.stdout
