#!/usr/bin/env python3
"""Compares Postern with nginx, openssl, bare hash functions, SQLite and pgbench, on this machine.

For `make bench`. docs/performance.md explains every row.
"""

import argparse
import json
import os
import pathlib
import resource
import time

import machine
from accounts import Accounts
from agent import Agent
from argon2 import Argon2
from capabilities import Capabilities
from creations import Creations
from fairness import Fairness
from footprint import Footprint
from hashlogins import HashLogins
from mail import Mail
from postgres import Postgres
from remotemail import RemoteMail
from run import Run
from scrypt import Scrypt
from services import Services
from table import print_table
from tls import TLS
from webhooks import Webhooks

PARTS = [Agent, Capabilities, Scrypt, Argon2, Accounts, Creations, HashLogins, Services, Mail,
         RemoteMail, Webhooks, TLS, Fairness, Postgres, Footprint]


def main():
    names = [part.__name__.lower() for part in PARTS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=pathlib.Path, required=True, help="release, stripped")
    parser.add_argument("--quick", action="store_true", help="two short turns of each")
    parser.add_argument("--only", choices=names, nargs="+", default=names, metavar="PART",
                        help=", ".join(names))
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE",
                        help="default: .build/bench-<time>.json")
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    start, binary = time.time(), options.binary.resolve()
    about = machine.describe(binary) | {
        "start": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start)), "seconds": {}}
    rows = []
    with Run(binary, options.quick) as run:
        for name, part in zip(names, PARTS):
            if name in options.only:
                begin = time.monotonic()
                rows += part(run).rows()
                about["seconds"][name] = round(time.monotonic() - begin)

    print("{cores} cores, {cpu}, scrypt with {scrypt}, Argon2 with {argon2},"
          " Linux {kernel};".format(**about))
    print(f"{run.turn_count} turns; postern, its peers and the load tool on the same cores.")
    if about["load_before"] > os.cpu_count() / 4:
        print("The machine was busy before the run (load {load_before:.1f}).".format(**about))
    print()
    print_table(rows)
    print()
    print(f"{time.time() - start:.0f} s:",
          ", ".join(f"{name} {taken}" for name, taken in about["seconds"].items()))
    file = options.json or pathlib.Path(
        time.strftime(".build/bench-%Y%m%dT%H%M%SZ.json", time.gmtime(start)))
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(about | {"rows": [row.record() for row in rows]}, indent=2,
                               ensure_ascii=False) + "\n")
    print(file)


if __name__ == "__main__":
    main()
