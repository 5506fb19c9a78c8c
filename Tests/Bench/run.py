"""What all parts of a run share: the measured program, how often and how long, and a directory."""

import contextlib
import os
import pathlib
import subprocess
import tempfile

from processes import Postern, load

HERE = pathlib.Path(__file__).parent


class Run:
    """Its directory and everything in it are removed at the end."""

    def __init__(self, binary, quick):
        self.binary, self.quick = binary, quick
        # Of each side of a comparison: this often, so many seconds each time.
        self.turn_count = 2 if quick else 5
        self.seconds = 1 if quick else 2
        # Enough that every core always has a hash to compute.
        self.connections = 4 * os.cpu_count()
        self.stack = contextlib.ExitStack()
        self.directory = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()

    def fresh(self):
        """A new, empty directory."""
        return pathlib.Path(tempfile.mkdtemp(dir=self.directory))

    def postern(self, data=None, profile="test", **settings):
        """A server. Each setting is named as the variable that sets it, without POSTERN_."""
        environment = {f"POSTERN_{name}": value for name, value in settings.items()}
        return Postern(self.binary, data or self.fresh(), profile, environment)

    def turns(self, *sides):
        """Measures each side once in every turn, so that a slow spell of the machine affects all
        of them, and every other turn the other way round. Returns the figures of each side."""
        figures = [[] for _ in sides]
        for turn in range(self.turn_count):
            order = list(zip(sides, figures))
            for side, taken in order if turn % 2 == 0 else reversed(order):
                taken.append(side())
        return figures

    def load(self, server, path, **options):
        """As `load` of processes.py, for the time of one turn."""
        script = self.fresh() / "load.lua"
        return load(server.port, path, self.seconds, script=script, **options)

    def cpu_micros(self, server, path, **options):
        """CPU time per answered request, in microseconds. Without other options GET, over 64
        connections."""
        before = server.cpu_seconds()
        count = self.load(server, path, **options).count
        return (server.cpu_seconds() - before) / count * 1e6

    def limit(self, name, *arguments, compiler="cc"):
        """Compiles a program of this directory that does nothing but the work which bounds the
        server's rate. Returns a function that runs it and returns what it prints: operations per
        second, and CPU milliseconds of one."""
        program = self.directory / name
        if not program.exists():
            subprocess.run(
                [compiler, "-O2", "-o", program, HERE / f"{name}.c", *arguments, "-lpthread"],
                check=True)

        def run(*arguments):
            said = subprocess.run(
                [program, *map(str, arguments)], text=True, capture_output=True, check=True)
            return tuple(map(float, said.stdout.split()))

        return run
