"""testssl.sh finds no weakness of TLS."""

import csv
import shutil
import subprocess

from tlsfiles import Authority, TLSPostern, settings, tls_listener

# Not --server-defaults, which is a third of its time: the certificate is the test's, and test_tls.py
# looks at tickets. Nor --ccs, which sleeps for four seconds: a fault of OpenSSL 1.0.1. Nor --rc4, which Debian's openssl
# cannot offer.
CHECKS = ["protocols", "server-preference", "fs", "heartbleed", "ticketbleed", "robot", "renegotiation",
          "compression", "breach", "poodle", "tls-fallback", "sweet32", "freak", "drown", "logjam",
          "beast", "lucky13"]
# Their findings.
FINDINGS = {
    "SSLv2", "SSLv3", "TLS1", "TLS1_1", "TLS1_2", "TLS1_3", "ALPN", "cipher_order",
    "protocol_negotiated", "cipher_negotiated", "PFS", "PFS_ciphers", "heartbleed", "ticketbleed",
    "ROBOT", "secure_renego", "secure_client_renego", "CRIME_TLS", "BREACH", "POODLE_SSL",
    "fallback_SCSV", "SWEET32", "FREAK", "DROWN", "LOGJAM", "BEAST", "LUCKY13"}


def test_testssl_finds_nothing(tmp_path):
    program = shutil.which("testssl") or shutil.which("testssl.sh")
    assert program, "testssl.sh is not installed: make test installs it"
    ca, report = Authority(tmp_path / "authority"), tmp_path / "report.csv"
    server = TLSPostern(
        tmp_path, settings([tls_listener()], [ca.issue("a.test"), ca.issue("b.test", key="rsa:2048")]))
    try:
        result = subprocess.run(
            [program, "--fast", "--quiet", "--color", "0", "--warnings", "off", "--ip", "127.0.0.1",
             "--nodns", "none", "--csvfile", str(report), *[f"--{check}" for check in CHECKS],
             f"a.test:{server.port}"],
            cwd=tmp_path, text=True, capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
    finally:
        server.stop()
    with report.open(newline="") as rows:
        rows = list(csv.DictReader(rows))
    # A warning is about the machine, such as a missing library, or about a check that could not be made.
    found = {row["id"]: row["finding"] for row in rows if row["severity"] != "WARN"}
    assert FINDINGS <= found.keys(), result.stdout + result.stderr
    assert found["TLS1_3"].startswith("offered") and found["TLS1_1"] == "not offered"
    assert [row for row in rows if row["severity"] not in ("OK", "INFO", "WARN")] == []
