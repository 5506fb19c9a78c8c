"""testssl.sh finds no weakness of TLS."""

import csv
import shutil
import subprocess

from tlsfiles import Authority, TLSPostern, settings, tls_listener

# Findings that are not of the server: its certificate is the test's, without an authority that
# could revoke it; the openssl of Debian cannot offer RC4, which testssl.sh then asks for itself; and
# its client for tickets may have ended before one arrives, on a busy machine (test_tls.py resumes
# sessions).
EXPECTED = {"cert_revocation", "RC4", "sessionresumption_ticket"}


def test_testssl_finds_nothing(tmp_path):
    program = shutil.which("testssl") or shutil.which("testssl.sh")
    assert program, "testssl.sh is not installed: make test installs it"
    ca, report = Authority(tmp_path / "authority"), tmp_path / "report.csv"
    server = TLSPostern(
        tmp_path, settings([tls_listener()], [ca.issue("a.test"), ca.issue("b.test", key="rsa:2048")]))
    try:
        result = subprocess.run(
            [program, "--fast", "--quiet", "--color", "0", "--warnings", "off", "--ip", "127.0.0.1",
             "--nodns", "none", "--add-ca", str(ca.file), "--csvfile", str(report), "--protocols",
             "--server-preference", "--server-defaults", "--fs", "--vulnerable",
             f"a.test:{server.port}"],
            cwd=tmp_path, text=True, capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
    finally:
        server.stop()
    with report.open(newline="") as rows:
        rows = list(csv.DictReader(rows))
    assert len(rows) > 50, result.stdout + result.stderr
    found = {row["id"]: row["finding"] for row in rows}
    assert found["TLS1_3"].startswith("offered") and found["TLS1_1"] == "not offered"
    assert [row for row in rows
            if row["severity"] not in ("OK", "INFO") and row["id"] not in EXPECTED] == []
