"""Disks that fail: a library that lets one fail, and small file systems that a test fills."""

import errno
import pathlib
import subprocess
import tempfile

import pytest

from program import done

SOURCE = pathlib.Path(__file__).parent / "programs" / "disk_faults.c"


class FaultyDisk:
    """Fails under the servers that have its `settings`, while `fail` says so."""

    def __init__(self, directory):
        library = directory / "disk_faults.so"
        done("cc", "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl")
        self.switch = directory / "disk-fault"
        self.settings = {"LD_PRELOAD": str(library), "DISK_FAULT": str(self.switch)}

    def fail(self, kind):
        """From now on. `kind` is a word that the library knows."""
        new = self.switch.with_suffix(".new")
        new.write_text(kind)
        new.replace(self.switch)

    def mend(self):
        self.switch.unlink()


class SmallDisk:
    """A file system in memory, of so many MiB. Skips the test where none can be mounted."""

    def __init__(self, size):
        # A short path: it may have sockets.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="postern-disk-", dir="/tmp"))
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}m,mode=755", "tmpfs", self.directory],
            text=True, capture_output=True, check=False)
        if mounted.returncode != 0:
            self.directory.rmdir()
            pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")

    @property
    def filler(self):
        return self.directory / "filler"

    def fill(self):
        """Leaves no block free."""
        with self.filler.open("ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError as error:
                assert error.errno == errno.ENOSPC, error

    def empty(self):
        self.filler.unlink()

    def make_read_only(self):
        """Fails while a file is open for writing."""
        done("mount", "-o", "remount,ro", self.directory)

    def make_writable(self):
        done("mount", "-o", "remount,rw", self.directory)

    def unmount(self):
        # Lazily: it goes when the last process that uses it has ended.
        done("umount", "--lazy", self.directory)
        self.directory.rmdir()
