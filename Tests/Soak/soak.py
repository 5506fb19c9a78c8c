"""Mixed and hostile load on one server for a long time: what grows, what fails, what is lost.

Everything of the server is on. Each worker is a thread that repeats one kind of client, over HTTP,
TLS or SMTP. Clients have addresses of their own, by the header of a trusted proxy. Meanwhile an
operator reloads settings and certificates every minute (every fourth time with a fault), rotates
keys and makes a backup every fourth minute, and in the first half of the time restarts the server
every tenth minute, on sockets that stay open. SMTP has no such socket, and local mail ends with the
process: only clients that need them may fail during a restart, and after a leaked key those whose
tokens it signed. No other client that behaves may meet an error. At the end every message that was
taken must have been reported to its owner's receiver and every change of an account to that of the
operator. The server is stopped and started again, and all that it acknowledged must log in.
"""

import argparse
import collections
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Interop"))

from accounts import Accounts  # noqa: E402
from checks import Logins, integrity, log_lines  # noqa: E402
from hashhost import Authority, HashHost  # noqa: E402
from hostile import Hostile  # noqa: E402
from load import Load  # noqa: E402
from mailing import Mail  # noqa: E402
from provider import Provider  # noqa: E402
from service import SETTINGS, Operator, Service  # noqa: E402
from signins import SignIns  # noqa: E402
from webhooks import Webhooks  # noqa: E402

HEAD = "minute  start   MiB  descriptors  responses     503  other 5xx    smtp  failed"


class Soak:
    """The server, and those around it: a host of hashes, a provider, and receivers of events."""

    def __init__(self, directory, minutes):
        self.directory, self.minutes = directory, minutes
        context = Authority(directory).context("localhost")
        self.host, self.provider = HashHost(context), Provider()
        self.load = Load(None)
        self.mail = Mail(self.load)
        self.webhooks = Webhooks(self.load, self.mail, directory, context)
        self.webhooks.provisioner.start()
        self.server = self.load.server = Service(
            directory, self.provider.table(directory), **SETTINGS, **self.webhooks.settings(),
            POSTERN_HASH_LOGIN_CA_FILE=str(directory / "ca.pem"),
            POSTERN_WEBHOOKS_CA_FILE=str(directory / "ca.pem"),
            POSTERN_HASH_LOGIN_PORTS=str(self.host.port))
        self.sign_ins = SignIns(self.load, self.provider)
        self.operator = Operator(self.load, minutes)
        self.before = self.server.figures()
        self.faults = []

    def run(self):
        """Runs all workers; prints a line each minute."""
        load, operator = self.load, self.operator
        print("before the load: {:.1f} MiB, {} descriptors".format(*self.before))
        self.webhooks.begin()
        groups = [Accounts(load, self.host), self.sign_ins, self.mail, self.webhooks,
                  Hostile(load, self.host, lambda: self.webhooks.owners)]
        print(HEAD, flush=True)
        began = time.monotonic()
        with load.running([each for group in groups for each in group.work]):
            for minute in range(1, self.minutes + 1):
                time.sleep(max(0, began + 60 * minute - time.monotonic()))
                self.show(minute)
                done = load.attempt(operator.operator, minute)
                load.attempt(operator.developer)
                load.done[done] += 1
                print(done, flush=True)

    def show(self, minute):
        resident, descriptors = self.server.figures()
        total = self.load.responses()
        smtp = self.load.statuses["smtp"][250]
        print(f"{minute:6} {self.server.starts:6} {resident:5.1f} {descriptors:12} "
              f"{total.total() - smtp:10} {total[503]:7} {self.load.faults():10} {smtp:7} "
              f"{self.load.failed():7}  ", end="", flush=True)

    def finish(self):
        """Checks what must hold after the load."""
        time.sleep(70)
        self.load.attempt(self.operator.developer)
        resident, descriptors = self.server.figures()
        print(f"after the load: {resident:.1f} MiB, {descriptors} descriptors")
        # Connections to relays and receivers, which stay open for a while.
        if descriptors > self.before[1] + 20:
            self.faults.append(f"{descriptors} descriptors are open")
        self.faults += self.webhooks.await_all(400)
        self.server.supervisor.stop()
        found = integrity(self.directory / "data/postern.db")
        print("integrity:", found)
        self.faults += [f"integrity: {found}"] * (found != "ok")
        self.server.start()
        for kind, (count, lost) in Logins(self.load, self.sign_ins).run().items():
            print(f"{kind}: {count} acknowledged, {len(lost)} lost")
            self.faults += [f"{kind}: {text} ({number} times)"
                            for text, number in collections.Counter(lost).most_common(5)]
        self.server.supervisor.stop()
        counts, surprises = log_lines(self.server.supervisor.log)
        for (level, message), count in counts.most_common():
            print(f"  {count} × {level}: {message}")
        self.faults += [f"{text} ({count} times)" for text, count in surprises.most_common(20)]

    def report(self):
        """Prints what was counted; has whether all is well."""
        load = self.load
        for kind, statuses in sorted(load.statuses.items()):
            print(f"{kind:15}", dict(sorted(statuses.items())))
        print("operator:", dict(load.done))
        print("messages with an event:", sum(len(each.subjects) for each in self.webhooks.owners))
        print("interrupted by the operator:", dict(load.interrupted))
        print("failed:", load.failed())
        for (kind, text), count in collections.Counter(load.unexpected).most_common(20):
            print(f"  {count} × {kind}: {text}")
        if load.faults():
            self.faults.append(f"{load.faults()} responses with 5xx other than 503")
        for text in self.faults:
            print("FAULT", text)
        return not self.faults and not load.failed()

    def close(self):
        self.server.supervisor.close()
        self.webhooks.close()
        self.provider.close()
        self.host.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, default=60)
    options = parser.parse_args()
    soak = Soak(pathlib.Path(tempfile.mkdtemp()), options.minutes)
    try:
        soak.run()
        soak.finish()
    except BaseException as error:
        soak.faults.append(f"not finished: {error!r}")
        raise
    finally:
        is_well = soak.report()
        soak.close()
        if is_well:
            # The log has a line for each of hundreds of thousands of refusals.
            shutil.rmtree(soak.directory)
        else:
            print("log and database:", soak.directory)
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
