"""The machine that the figures are of."""

import os
import pathlib
import platform
import re
import subprocess


def instruction_set(binary, algorithm):
    """What computes scrypt or argon2 in the program on this machine: avx512, avx2, sse2 or the
    library."""
    said = subprocess.run([binary, "--version"], text=True, capture_output=True, check=True)
    return re.search(rf"^{algorithm}: (\w+)", said.stdout, re.M)[1]


def cpu_field(name):
    """Of the first core; empty where the kernel does not say it."""
    found = re.search(rf"^{name}\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return found[1] if found else ""


def describe(binary):
    return {
        "cores": os.cpu_count(),
        "cpu": cpu_field("model name") or platform.machine(),
        "scrypt": instruction_set(binary, "scrypt"),
        "argon2": instruction_set(binary, "argon2"),
        "kernel": platform.release(),
        "load_before": os.getloadavg()[0],
    }
