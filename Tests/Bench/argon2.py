"""Argon2id by the kernels of the server beside libargon2, both in memory that is kept."""

from machine import instruction_set
from run import HERE
from table import Row

SOURCES = HERE.parent.parent / "Sources/CArgon2Kernels"
LIBRARY = "libargon2"
# The hash of an auth_key, and the one that makes an auth_key of a password; with the goals for
# their rates on all cores. SSE2 has none: it is what libargon2 has.
HASHES = {"19456,2": 1.4, "16384,3": 1.8}


def argon2_limit(run):
    """Compiles a program that computes bare hashes by libargon2 or a kernel, in the same kept
    memory. Its arguments are seconds, which of them, threads (0: all cores), and hashes."""
    # The compiler of the program itself: another one makes other code of the vectors.
    return run.limit("argon2_limit", "-I", SOURCES / "include", *sorted(SOURCES.glob("*.c")),
                     "-largon2", compiler="clang")


class Argon2:
    def __init__(self, run):
        self.run = run
        widest = instruction_set(run.binary, "argon2")
        # Also the one that every x86-64 processor has.
        self.sets = [name for name in dict.fromkeys([widest, "sse2"]) if name != LIBRARY]

    def rows(self):
        limit = argon2_limit(self.run)
        for name in self.sets:
            for hashed, goal in HASHES.items():
                has_goal = name != "sse2"
                alone, library_alone, all_cores, library = self.run.turns(
                    *(lambda which=which, threads=threads:
                      limit(self.run.seconds, which, threads, hashed)
                      for threads in (1, 0) for which in (name, LIBRARY)))
                yield Row(f"Argon2id {hashed}, {name}, CPU of one alone", "ms",
                          cpu(alone), cpu(library_alone), LIBRARY, 0.6 if has_goal else None)
                yield Row("  on all cores", "/s", rates(all_cores), rates(library), LIBRARY,
                          goal if has_goal else None, more_is_better=True)


def rates(turns):
    return [rate for rate, _ in turns]


def cpu(turns):
    return [milliseconds for _, milliseconds in turns]
