"""What a service manager does for a program: it holds its listening sockets, and hears how it is."""

import fcntl
import pathlib
import select
import socket
import subprocess
import sys

from program import BINARY, PATIENCE_SECONDS, STOP_SECONDS, environment

# Gives the descriptors their numbers (sd_listen_fds(3)), and becomes the program.
LAUNCH = """
import os, sys
descriptors = [int(number) for number in sys.argv[1].split(",") if number]
for place, one in enumerate(descriptors):
    os.dup2(one, 3 + place)
os.environ["LISTEN_PID"] = str(os.getpid())
os.environ["LISTEN_FDS"] = str(len(descriptors))
os.execv(sys.argv[2], sys.argv[2:])
"""


def listening(family=socket.AF_INET, address=("127.0.0.1", 0)):
    """A socket that listens, with a descriptor far from those that the program gets."""
    with socket.socket(family) as bound:
        bound.bind(address)
        bound.listen(1024)
        return socket.socket(fileno=fcntl.fcntl(bound, fcntl.F_DUPFD_CLOEXEC, 200))


class Supervisor:
    """Starts a server on sockets of its own, as systemd does with `Type=notify`."""

    def __init__(self, directory, sockets, abstract=False, **settings):
        self.directory = pathlib.Path(directory)
        self.sockets = sockets
        self.settings = settings
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        name = str(self.directory / "notify")
        self.notify.bind("\0" + name if abstract else name)
        self.address = "@" + name if abstract else name
        self.log = self.directory / "log.jsonl"
        self.process = None

    def start(self, *flags, profile="test"):
        numbers = [one.fileno() for _, one in self.sockets]
        command = [sys.executable, "-S", "-E", "-c", LAUNCH, ",".join(map(str, numbers)), str(BINARY),
                   "serve", "--profile", profile, *flags]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=self.directory, pass_fds=numbers, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=log, env=environment(
                    LISTEN_FDNAMES=":".join(name for name, _ in self.sockets),
                    NOTIFY_SOCKET=self.address, **self.settings))

    def message(self):
        """The next message of the program, as a dictionary."""
        readable, _, _ = select.select([self.notify], [], [], PATIENCE_SECONDS)
        assert readable, self.log.read_text()
        return dict(line.split("=", 1) for line in self.notify.recv(4096).decode().split("\n"))

    def await_message(self, key, value="1"):
        while (message := self.message()).get(key) != value:
            pass
        return message

    def stop(self):
        self.process.terminate()
        assert self.process.wait(STOP_SECONDS) == 0, self.log.read_text()[-2000:]

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(STOP_SECONDS)
        for _, one in self.sockets:
            one.close()
        self.notify.close()
