"""Starts and stops the program."""

from __future__ import annotations

import atexit
import fcntl
import os
import pathlib
import selectors
import shutil
import signal
import subprocess
import threading
import time
from types import TracebackType
from typing import Iterable, List, Mapping, Optional, Tuple, Type, Union

from .client import Client, SMTPAddress

Setting = Union[str, int, bool, Iterable[str]]

# The log is emptied by a reset when it is larger.
_LOG_BYTES = 8 << 20
_TAIL_LINES = 20
_PREFIX = b"listening on "
# The next line, which comes with the first one, if the server receives mail by SMTP.
_SMTP_PREFIX = b"smtp on "


class PosternStartError(Exception):
    """The server did not start. The text ends with the last lines that it logged."""


class Postern(Client):
    """A server of its own, with its database in memory, on a free port of this machine.

    It has started when the object exists. It ends with :meth:`stop`, at the end of a ``with``
    statement, when the interpreter exits, and when this process ends in any other way: it stops
    when its standard input ends, a pipe that only this process holds open.
    """

    def __init__(
        self, *, binary: Union[str, "os.PathLike[str]", None] = None,
        settings: Optional[Mapping[str, Setting]] = None, start_timeout: float = 30,
        stop_timeout: float = 30,
    ) -> None:
        """
        :param binary: the path of the program. Without it the variable ``POSTERN_BINARY`` names
            it, or it is ``postern`` in ``PATH``.
        :param settings: such as ``{"users.registration": "open", "limits.enabled": True}``. Files
            are named by absolute paths. Variables ``POSTERN_…`` of this process are not passed on.
        :raises PosternStartError: when the server does not listen within `start_timeout` seconds.
        """
        self._stop_timeout = stop_timeout
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._log = _open_log()
        self._smtp: Optional[SMTPAddress] = None
        try:
            self._start(find_binary(binary), settings or {}, start_timeout)
        except BaseException:
            os.close(self._log)
            raise

    def _start(
        self, program: str, settings: Mapping[str, Setting], timeout: float
    ) -> None:
        try:
            process = subprocess.Popen(
                [program, "serve", "--profile", "test", "--port", "0", "--stop-at-eof"],
                # Where there is no configuration file to be read.
                cwd="/", env=_environment(settings), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self._log)
        except OSError as error:
            raise PosternStartError(f"cannot run {program}: {error}") from error
        self._process = process
        try:
            super().__init__(self._await_ready(process, program, timeout))
        except BaseException:
            self._end(kill=True)
            raise
        _running.add(self)
        atexit.register(self.stop)

    def _await_ready(
        self, process: "subprocess.Popen[bytes]", program: str, timeout: float
    ) -> str:
        assert process.stdout is not None
        deadline = time.monotonic() + timeout
        said = b""
        with process.stdout, selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while not said.endswith(b"\n"):
                rest = deadline - time.monotonic()
                if rest <= 0 or not selector.select(rest):
                    raise self._start_error(f"{program} did not listen within {timeout:g} seconds")
                piece = os.read(process.stdout.fileno(), 4096)
                if not piece:
                    code = process.wait(self._stop_timeout)
                    raise self._start_error(f"{program} ended with exit code {code}")
                said += piece
        first, _, second = said.partition(b"\n")
        if not first.startswith(_PREFIX):
            raise self._start_error(f"{program} wrote {said!r} instead of its address")
        if second.startswith(_SMTP_PREFIX):
            self._smtp = _smtp_address(second[len(_SMTP_PREFIX):].decode().strip())
        return first[len(_PREFIX):].decode().strip()

    def _start_error(self, what: str) -> PosternStartError:
        lines = self.log_lines(_TAIL_LINES)
        if not lines:
            return PosternStartError(f"{what}, and logged nothing")
        return PosternStartError("\n  ".join([f"{what}; it logged last:", *lines]))

    @property
    def smtp(self) -> SMTPAddress:
        """Where the code under test sends its mail, without a login.

        :raises LookupError: when the settings leave the server without a port for SMTP.
        """
        if self._smtp is None:
            raise LookupError("the server has no port for SMTP (mail.local_smtp)")
        return self._smtp

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the server has neither been stopped nor ended by itself."""
        return self._process.poll() is None

    def reset(self) -> None:
        super().reset()
        if os.fstat(self._log).st_size > _LOG_BYTES:
            os.ftruncate(self._log, 0)

    def log_lines(self, count: Optional[int] = None) -> List[str]:
        """What the server has logged, a JSON object in each line: the last `count` lines, or all.

        Not after :meth:`stop`.
        """
        size = os.fstat(self._log).st_size
        lines = os.pread(self._log, size, 0).decode(errors="replace").splitlines()
        return lines if count is None else lines[-count:]

    def stop(self) -> None:
        """Ends the server and waits for that. Nothing happens when it was stopped before, nor in a
        child that was forked from the process that started it."""
        if self._owner != os.getpid():
            return
        with self._lock:
            if self not in _running:
                return
            _running.discard(self)
        atexit.unregister(self.stop)
        try:
            self._end()
        finally:
            os.close(self._log)

    def _end(self, kill: bool = False) -> None:
        process = self._process
        if process.poll() is None:
            process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        try:
            process.wait(self._stop_timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdin is not None:
            process.stdin.close()

    def _forget(self) -> None:
        """In a child that was forked: gives up its copy of what keeps the server running."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        os.close(self._log)

    def __enter__(self) -> "Postern":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.stop()


#: Those that were started and not stopped.
_running: "set[Postern]" = set()


def _forget_all() -> None:
    for server in list(_running):
        server._forget()
    _running.clear()


os.register_at_fork(after_in_child=_forget_all)


def find_binary(path: Union[str, "os.PathLike[str]", None] = None) -> str:
    """The absolute path of the program.

    :raises PosternStartError: when it is not there.
    """
    wanted, source = _wanted(path)
    found = shutil.which(wanted)
    if found is None:
        raise PosternStartError(
            f"there is no program {wanted} ({source}); pass `binary`, set POSTERN_BINARY, or put"
            " `postern` into PATH")
    return str(pathlib.Path(found).resolve())


def _wanted(path: Union[str, "os.PathLike[str]", None]) -> Tuple[str, str]:
    if path is not None:
        return os.fspath(path), "given as `binary`"
    if os.environ.get("POSTERN_BINARY"):
        return os.environ["POSTERN_BINARY"], "the variable POSTERN_BINARY"
    return "postern", "in PATH"


def _environment(settings: Mapping[str, Setting]) -> "dict[str, str]":
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("POSTERN_")}
    for key, value in settings.items():
        environment["POSTERN_" + key.replace(".", "_").upper()] = _text(value)
    return environment


def _smtp_address(text: str) -> Optional[SMTPAddress]:
    host, colon, port = text.rpartition(":")
    # Otherwise it is the path of a socket.
    return SMTPAddress(host.strip("[]"), int(port)) if colon and port.isdecimal() else None


def _text(value: Setting) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int)):
        return str(value)
    return ",".join(value)


def _open_log() -> int:
    """A file in memory that is gone with the last process that has it open. Nobody has to read it
    while the server runs, and there is no path to remove."""
    log = os.memfd_create("postern-log")
    # So that the server goes on at the beginning when it is truncated.
    fcntl.fcntl(log, fcntl.F_SETFL, fcntl.fcntl(log, fcntl.F_GETFL) | os.O_APPEND)
    return log
