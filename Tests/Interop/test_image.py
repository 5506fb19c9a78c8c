"""The Dockerfile, as far as it can be tested without a container engine."""

import re
import socket

from program import ROOT, Postern, run

DOCKERFILE = (ROOT / "Dockerfile").read_text()
OPERATOR = {
    "POSTERN_SERVER_PUBLIC_URL": "https://auth.example.org",
    "POSTERN_MAIL_DOMAINS": "example.org",
    "JWT_ISSUER": "https://auth.example.org",
}


def test_a_server_with_its_settings_starts_and_is_healthy(tmp_path):
    settings = dict(re.findall(r"\b(POSTERN_\w+)=(\S+)", DOCKERFILE.partition("\nENV ")[2]))
    assert settings["POSTERN_PROFILE"] == "production"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings |= OPERATOR | {
        "POSTERN_STORAGE_DIRECTORY": str(tmp_path), "POSTERN_SERVER_PORT": str(port),
        "POSTERN_SERVER_DRAIN_DELAY": "0s",
    }
    server = Postern(tmp_path, profile=None, port=None, **settings)
    try:
        assert server.port == port and server.host == "0.0.0.0"
        assert run("healthcheck", directory=tmp_path, **settings).returncode == 0
        assert run("account", "list", directory=tmp_path, **settings).returncode == 0
    finally:
        server.stop()


def test_the_variables_that_its_head_names_are_the_ones_that_production_wants():
    for variable in OPERATOR:
        assert variable in DOCKERFILE.partition("\nFROM ")[0]


def test_it_runs_the_targets_that_the_makefile_has():
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"RUN make (\w+)", DOCKERFILE)
    assert targets and all(re.search(rf"^{target}:", makefile, re.M) for target in targets)


def test_it_has_what_an_installation_has_licenses_among_it():
    made = re.search(r"^RUN make install DESTDIR=(\S+)$", DOCKERFILE, re.M)[1]
    assert f"\nCOPY --from=build {made}/usr/local /usr/local\n" in DOCKERFILE
    # What is installed has to be sent to the builder.
    ignored = set((ROOT / ".dockerignore").read_text().split())
    assert not ignored & {"config", "deploy", "docs", "LICENSE", "NOTICE"}
