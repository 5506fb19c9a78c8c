"""The examples for several nodes in deploy/: every setting, file, path and port in them is one that
the program, the image and the other files have."""

import ipaddress
import re
import subprocess

import pytest
import requests
import yaml

from cluster import programs
from postgres import TestDatabase
from program import ROOT, Postern, run
from proxies import DEPLOY

DOCKERFILE = (ROOT / "Dockerfile").read_text()
IMAGE = dict(re.findall(r"\b(POSTERN_\w+)=(\S+)", DOCKERFILE.partition("\nENV ")[2]))
PORT = int(re.search(r"^EXPOSE (\d+)", DOCKERFILE, re.M)[1])
USER = int(re.search(r"--uid (\d+)", DOCKERFILE)[1])
COMPOSE = yaml.safe_load((DEPLOY / "compose-nodes.yaml").read_text())
KUBERNETES = {one["kind"]: one for one in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())}
POD = KUBERNETES["Deployment"]["spec"]["template"]["spec"]
NODES = ["node1", "node2", "node3"]


def compose_environment():
    return COMPOSE["services"]["node1"]["environment"]


def kubernetes_environment():
    return {one["name"]: one["value"] for one in POD["containers"][0]["env"]}


@pytest.mark.parametrize("environment", [compose_environment, kubernetes_environment])
def test_a_node_starts_with_the_settings_of_an_example(environment, tmp_path):
    settings = {**IMAGE, **environment()}
    (tmp_path / "url").write_text(TestDatabase().url + "\n")
    (tmp_path / "secret").write_text("5a" * 32 + "\n")
    (tmp_path / "secret").chmod(0o600)
    assert {settings["POSTERN_STORAGE_URL_FILE"], settings["POSTERN_MASTER_SECRET_FILE"]} <= mounted()
    settings |= {
        "POSTERN_STORAGE_URL_FILE": str(tmp_path / "url"),
        "POSTERN_MASTER_SECRET_FILE": str(tmp_path / "secret"),
        "POSTERN_STORAGE_DIRECTORY": str(tmp_path / "data"), "POSTERN_SERVER_HOST": "127.0.0.1",
        "POSTERN_SERVER_DRAIN_DELAY": "0s"}
    server = Postern(tmp_path, profile=None, **settings)
    try:
        for path in probes():
            assert requests.get(server.url + path, timeout=10).status_code == 200
    finally:
        server.stop()
    # The root of the file system may be read only.
    assert not (tmp_path / "data").exists()


def test_a_server_starts_with_the_settings_of_the_compose_example(tmp_path):
    one = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["postern"]
    settings = {
        **IMAGE, **one["environment"], "POSTERN_STORAGE_DIRECTORY": str(tmp_path / "data"),
        "POSTERN_SERVER_HOST": "127.0.0.1", "POSTERN_SERVER_DRAIN_DELAY": "0s"}
    server = Postern(tmp_path, profile=None, **settings)
    try:
        assert requests.get(server.url + "/readyz", timeout=10).status_code == 200
    finally:
        server.stop()


def probes():
    container = POD["containers"][0]
    return [container[name]["httpGet"]["path"] for name in ("livenessProbe", "readinessProbe")]


def mounted():
    """The files that the containers of the examples see."""
    files = {f"/run/secrets/{name}" for name in COMPOSE["services"]["node1"]["secrets"]}
    volume = POD["containers"][0]["volumeMounts"][0]["mountPath"]
    return files | {f"{volume}/{name}" for name in KUBERNETES["Secret"]["stringData"]}


def test_the_example_of_a_master_secret_is_not_accepted(tmp_path):
    (tmp_path / "secret").write_text(KUBERNETES["Secret"]["stringData"]["master-secret"])
    (tmp_path / "secret").chmod(0o600)
    result = run(
        "serve", "--profile", "test", "--port", "0", directory=tmp_path,
        POSTERN_MASTER_SECRET_FILE=str(tmp_path / "secret"))
    assert result.returncode == 78 and "64 hex digits" in result.stderr


def drain_seconds(tmp_path):
    shown = run("check-config", directory=tmp_path, **IMAGE, POSTERN_STORAGE_URL="sqlite::memory:",
                POSTERN_SERVER_PUBLIC_URL="https://a.example", JWT_ISSUER="a").stdout
    return sum(int(re.search(rf'{name} = "(\d+)s"', shown)[1]) for name in ("drain_delay", "drain_timeout"))


def test_nodes_get_the_time_that_stopping_takes(tmp_path):
    seconds = drain_seconds(tmp_path)
    assert POD["terminationGracePeriodSeconds"] > seconds
    for name in NODES:
        assert int(COMPOSE["services"][name]["stop_grace_period"].rstrip("s")) > seconds


def test_the_parts_of_the_kubernetes_example_fit_together():
    labels = KUBERNETES["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert KUBERNETES["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert KUBERNETES["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert KUBERNETES["Service"]["spec"]["selector"] == labels
    container = POD["containers"][0]
    port = container["ports"][0]
    assert port["containerPort"] == PORT
    assert KUBERNETES["Service"]["spec"]["ports"][0]["targetPort"] == port["name"]
    for name in ("livenessProbe", "readinessProbe"):
        assert container[name]["httpGet"]["port"] == port["name"]
    assert POD["volumes"][0]["secret"]["secretName"] == KUBERNETES["Secret"]["metadata"]["name"]
    assert POD["securityContext"]["runAsUser"] == USER
    replicas = KUBERNETES["Deployment"]["spec"]["replicas"]
    assert KUBERNETES["PodDisruptionBudget"]["spec"]["minAvailable"] < replicas
    assert "sslrootcert=/etc/postern/database-ca.pem" in KUBERNETES["Secret"]["stringData"]["database-url"]


def test_the_parts_of_the_compose_example_fit_together():
    services = COMPOSE["services"]
    subnet = ipaddress.ip_network(COMPOSE["networks"]["back"]["ipam"]["config"][0]["subnet"])
    addresses = {name: services[name]["networks"]["back"]["ipv4_address"] for name in [*NODES, "haproxy"]}
    assert all(ipaddress.ip_address(one) in subnet for one in addresses.values())
    assert services["haproxy"]["environment"] == {
        f"POSTERN_NODE{number}": f"{addresses[name]}:{PORT}" for number, name in enumerate(NODES, 1)}
    for name in NODES:
        environment = services[name]["environment"]
        assert environment["POSTERN_SERVER_TRUSTED_PROXIES"] == addresses["haproxy"]
        assert set(services[name]["depends_on"]) == {"postgres"}
    certificate = re.search(r"/etc/haproxy/\S+\.pem", (DEPLOY / "haproxy-nodes.cfg").read_text())[0]
    mounts = [mount for name in services for mount in services[name].get("volumes", [])]
    assert certificate in [mount.split(":")[1] for mount in mounts]
    # The head says how to make what is not in the repository.
    head = (DEPLOY / "compose-nodes.yaml").read_text().partition("\nx-node")[0]
    for path in [mount.split(":")[0] for mount in mounts] + [
            secret["file"] for secret in COMPOSE["secrets"].values()]:
        if path.startswith("./secrets/"):
            assert path.removeprefix("./") in head
        elif path.startswith("./"):
            assert (DEPLOY / path).is_file()
    for service in services.values():
        assert set(service.get("secrets", [])) <= set(COMPOSE["secrets"])


def test_postgresql_knows_every_setting_of_the_compose_example():
    command = COMPOSE["services"]["postgres"]["command"]
    settings = [word for word in command if "=" in word]
    known = subprocess.run(
        [programs() / "postgres", "--describe-config"], text=True, capture_output=True, check=True,
        timeout=30).stdout
    names = {line.split("\t")[0] for line in known.splitlines()}
    # Those of the file are held to PostgreSQL by the test of the failover.
    assert {word.partition("=")[0] for word in settings} <= names | {"config_file"}
    path = next(word for word in settings if word.startswith("config_file=")).partition("=")[2]
    assert f"./postgresql.conf:{path}:ro" in COMPOSE["services"]["postgres"]["volumes"]


def test_the_database_has_connections_for_the_nodes_of_the_examples(tmp_path):
    shown = run("check-config", directory=tmp_path, POSTERN_STORAGE_URL="sqlite::memory:").stdout
    of_a_node = int(re.search(r"^(?:# )?connections = (\d+)", shown, re.M)[1]) + 1
    limit = int(re.search(r"^max_connections = (\d+)", (DEPLOY / "postgresql.conf").read_text(), re.M)[1])
    assert limit >= of_a_node * (len(NODES) + 1) + 20
