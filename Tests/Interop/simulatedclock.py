"""A wall clock that a test sets, for the program as it is (libfaketime). The monotonic clock stays
the machine's."""

import glob
import os
import pathlib
import subprocess
import time

# Debian's package.
LIBRARIES = "/usr/lib/*/faketime/libfaketimeMT.so.1"


class SimulatedClock:
    """Begins at the present and runs as fast as the machine's; `advance` sets it to a later time.
    Close it.

    `settings` are those of every process that has this clock.
    """

    def __init__(self, directory):
        found = glob.glob(LIBRARIES)
        assert found, "libfaketime is not installed: make test installs it"
        self._file, self._offset = directory / "clock", 0
        self.advance(0)
        self.settings = {
            "LD_PRELOAD": found[0], "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"}
        # The library shares its state between processes. The first one makes that, and puts its
        # name into its environment. Swift would not find its arguments after that.
        self._first = subprocess.Popen(
            ["sh", "-c", 'echo "$FAKETIME_SHARED"; cat'], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env={**os.environ, **self.settings})
        self.settings["FAKETIME_SHARED"] = self._first.stdout.readline().strip()

    def now(self):
        """Seconds since 1970."""
        return time.time() + self._offset

    def advance(self, seconds):
        self._offset += seconds
        new = self._file.with_suffix(".new")
        new.write_text(f"+{self._offset:.3f}\n")
        new.replace(self._file)

    def advance_to(self, moment):
        self.advance(max(0, moment - self.now()))

    def close(self):
        self._first.stdin.close()
        self._first.stdout.close()
        self._first.wait(60)
        semaphore, memory = self.settings["FAKETIME_SHARED"].split()
        for name in [f"sem.{semaphore[1:]}", memory[1:]]:
            pathlib.Path("/dev/shm", name).unlink(missing_ok=True)
