"""A small Debian in a folder, made by debootstrap from the mirror that apt uses on this machine."""

import os
import pathlib
import re
import select
import subprocess
import sys
import urllib.request

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "Tests/Interop"))

from program import READY, START_SECONDS, done  # noqa: E402

CODENAME = re.search(r"^VERSION_CODENAME=(\w+)$", pathlib.Path("/etc/os-release").read_text(), re.M)[1]
SETTINGS = """
[server]
public_url = "https://auth.example.org"
drain_delay = "0s"
[mail]
domains = ["example.org"]
[hash_login]
issuer = "https://auth.example.org"
"""


def mirrors():
    """(URL, suite, component) of every source of Debian's packages that apt has here."""
    format = "$(REPO_URI)\t$(CODENAME)\t$(COMPONENT)"
    listed = done("apt-get", "indextargets", "--format", format, "Created-By: Packages", "Origin: Debian")
    found = list(dict.fromkeys(tuple(line.split("\t")) for line in listed.splitlines()))
    assert CODENAME in {suite for _, suite, _ in found}, "apt has no lists of Debian's packages: apt-get update"
    return found


class Debian:
    """A copy of the base. Each command sees /dev of this machine and /proc, in a mount namespace of its own."""

    def __init__(self, root, base):
        # Whether commands see /proc. Where images are made, it may not be mounted.
        self.has_proc = True
        root.mkdir()
        done("tar", "--extract", "--file", base, "--directory", root)
        self.root = root

    def command(self, *words, user="root"):
        proc = 'mount -t proc proc "$1/proc" && ' if self.has_proc else ""
        mounts = f'mount --bind /dev "$1/dev" && {proc}shift && exec chroot "$@"'
        return ["unshare", "--mount", "sh", "-c", mounts, "sh", str(self.root), f"--userspec={user}", str(self.root), *words]

    def run(self, *words, user="root"):
        return done(*self.command(*words, user=user), env={
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8",
            **{name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}})

    def install(self, package):
        (self.root / "postern.deb").write_bytes(package.read_bytes())
        return self.run("apt-get", "install", "--quiet=2", "--yes", "--no-install-recommends", "/postern.deb")

    def answers(self):
        """Whether the installed program serves as the unit starts it, as its user, until it is stopped."""
        unit = self.run("cat", "/usr/lib/systemd/system/postern.service")
        start = re.search("^ExecStart=(.*)$", unit, re.M)[1].split()
        process = subprocess.Popen(
            self.command(*start, "--port", "0", user="postern"), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            readable, _, _ = select.select([process.stdout], [], [], START_SECONDS)
            line = process.stdout.readline() if readable else ""
            ready = READY.fullmatch(line)
            assert ready, process.kill() or process.communicate()
            with urllib.request.urlopen(f"http://127.0.0.1:{ready[3]}/readyz", timeout=60) as answer:
                return answer.status == 200
        finally:
            process.terminate()
            process.communicate(timeout=60)

    def files(self):
        """Every file of which the name or the folder says that it is ours."""
        return {str(path.relative_to(self.root)) for path in self.root.rglob("*postern*")
                if path.name != "postern.deb" and not str(path.relative_to(self.root)).startswith("proc/")}
