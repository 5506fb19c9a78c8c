"""The machine that the figures are of."""

import os
import pathlib
import platform
import re

# The widest first, each with the flag of the CPU that it needs.
INSTRUCTION_SETS = {"AVX-512": "avx512f", "AVX2": "avx2", "SSE2": "sse2", "NEON": "asimd"}


def instruction_set(binary):
    """The instruction set that the program's hashes use.

    The program does not say it, so this is the widest that the CPU has. To be read from `binary`
    here, and nowhere else, when it does.
    """
    flags = cpu_field(r"(?:flags|Features)").split()
    return next((name for name, flag in INSTRUCTION_SETS.items() if flag in flags), "none")


def cpu_field(name):
    """Of the first core; empty where the kernel does not say it."""
    found = re.search(rf"^{name}\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return found[1] if found else ""


def describe(binary):
    return {
        "cores": os.cpu_count(),
        "cpu": cpu_field("model name") or platform.machine(),
        "instruction_set": instruction_set(binary),
        "kernel": platform.release(),
        "load_before": os.getloadavg()[0],
    }
