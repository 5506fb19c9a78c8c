"""The container image: `make test-image`, as root.

buildah builds the Dockerfile on images of its two bases. These are made here from a small Debian, because no registry is
asked. The toolchain of this machine is mounted into the first. buildah's storage is a folder of the test.
"""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import time

import pytest
import requests

from debian import ROOT, Debian, done

DOCKERFILE = (ROOT / "Dockerfile").read_text()
BUILD_BASE, BASE = re.findall(r"^FROM (\S+)", DOCKERFILE, re.M)
# What Swift's page asks for, without git and make.
SWIFT_NEEDS = re.search(r'^SWIFT_NEEDS="(.*?)"', (ROOT / ".ci/fresh").read_text(), re.M | re.S)[1].split()
TOOLCHAIN = pathlib.Path(shutil.which("swift")).resolve().parents[2]
VOLUME = "/var/lib/postern"
USER = 8080
# 10^6 bytes that may be added to the base.
MAX_ADDED = 60e6
SETTINGS = {
    "POSTERN_SERVER_PUBLIC_URL": "https://auth.example.org", "POSTERN_MAIL_DOMAINS": "example.org",
    "JWT_ISSUER": "https://auth.example.org", "POSTERN_SERVER_DRAIN_DELAY": "0s"}


class Buildah:
    def __init__(self, folder):
        # The commit of the image.
        self.revision = done("git", "rev-parse", "HEAD", cwd=ROOT).strip()
        self.command = ["buildah", "--storage-driver", "vfs", "--root", str(folder / "storage"), "--runroot", str(folder / "run")]

    def __call__(self, *words, **options):
        return done(*self.command, *words, **options).strip()

    def make_base(self, name, debian):
        """An image of the folder, without the lists of packages, which the official images do not have either."""
        for path in ["var/lib/apt/lists", "var/cache/apt"]:
            shutil.rmtree(debian.root / path)
            (debian.root / path).mkdir()
        container = self("from", "scratch")
        self("add", container, debian.root, "/", timeout=1200)
        self("commit", "--quiet", "--rm", container, f"docker.io/library/{name}", timeout=1200)
        shutil.rmtree(debian.root)

    def config(self, image):
        return json.loads(self("inspect", "--type", "image", image))["Docker"]["config"]

    def size(self, image):
        container = self("from", "--pull-never", image)
        size = int(done("du", "--bytes", "--summarize", self("mount", container)).split()[0])
        self("rm", container)
        return size


def package_folders():
    """The folders from which git is configured to take packages instead of from their servers."""
    listed = subprocess.run(
        ["git", "config", "--get-regexp", r"^url\..*\.insteadof$"], text=True, capture_output=True).stdout
    found = {line.removeprefix("url.").partition(".insteadof ")[0].rstrip("/") for line in listed.splitlines()}
    return sorted(folder for folder in found if pathlib.Path(folder).is_dir()), listed


@pytest.fixture(scope="session")
def image(base, tmp_path_factory):
    folder = tmp_path_factory.mktemp("image")
    buildah = Buildah(folder)
    slim = Debian(folder / "base", base)
    # As in the official slim image: what a package has of these is not installed.
    excluded = [f"path-exclude /usr/share/{name}/*\n" for name in ("doc", "info", "lintian", "locale", "man")]
    kept = "path-include /usr/share/doc/*/copyright\n"
    (slim.root / "etc/dpkg/dpkg.cfg.d/slim").write_text("".join([*excluded, kept]))
    buildah.make_base(BASE, slim)
    debian = Debian(folder / "build-base", base)
    debian.run("apt-get", "install", "--quiet=2", "--yes", "--no-install-recommends", "git", "make", "ca-certificates", *SWIFT_NEEDS)
    folders, configured = package_folders()
    for line in configured.splitlines():
        key, _, value = line.partition(" ")
        done("git", "config", "--file", debian.root / "etc/gitconfig", "--add", key, value)
    done("git", "config", "--file", debian.root / "etc/gitconfig", "--add", "safe.directory", "*")
    for program in (TOOLCHAIN / "usr/bin").iterdir():
        link = debian.root / "usr/local/bin" / program.name
        link.symlink_to(program)
    buildah.make_base(BUILD_BASE, debian)
    mounts = [word for path in [TOOLCHAIN, *folders] for word in ("--volume", f"{path}:{path}:ro")]
    # The format that keeps HEALTHCHECK.
    builder = [*buildah.command, "build", "--quiet", "--isolation", "chroot", "--pull-never", "--format", "docker", *mounts]
    done("make", "--no-print-directory", "image", f"IMAGE_BUILDER={' '.join(builder)}", cwd=ROOT, timeout=3000)
    yield buildah
    buildah("rm", "--all")
    buildah("rmi", "--all", "--force")


class Container:
    """A container of the image with its volume. It has the network of this machine, so each has a port of its own."""

    def __init__(self, buildah, volume):
        self.buildah, self.volume = buildah, volume
        if not volume.exists():
            # As an engine makes a new volume from the image.
            volume.mkdir()
            shutil.chown(volume, USER, USER)
        self.name = buildah("from", "--pull-never", "postern")
        self.config = buildah.config("postern")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.settings = {**SETTINGS, "POSTERN_SERVER_PORT": str(port)}
        self.url = f"http://127.0.0.1:{port}"
        self.process = None

    def command(self, *words):
        variables = [word for name, value in self.settings.items() for word in ("--env", f"{name}={value}")]
        return [*self.buildah.command, "run", "--isolation", "chroot", "--volume", f"{self.volume}:{VOLUME}", *variables,
                self.name, "--", *words]

    def read_only_command(self, *words):
        """The same without buildah, whose own files are in the root, with a root that cannot be written."""
        variables = [*self.config["Env"], *(f"{name}={value}" for name, value in self.settings.items())]
        script = (f'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && mount -t proc proc "$1/proc" '
                  f'&& mount --bind /dev "$1/dev" && mount --bind "$2" "$1{VOLUME}" && root=$1 && shift 2 '
                  f'&& exec chroot --userspec={USER}:{USER} "$root" env -i "$@"')
        return ["unshare", "--mount", "sh", "-c", script, "sh", self.buildah("mount", self.name), str(self.volume), *variables, *words]

    def start(self, command=None):
        self.process = subprocess.Popen(
            (command or self.command)(*self.config["Entrypoint"], *self.config["Cmd"]),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        deadline = time.monotonic() + 60
        while True:
            try:
                assert requests.get(f"{self.url}/readyz", timeout=10).status_code == 200
                return self
            except requests.ConnectionError:
                assert self.process.poll() is None and time.monotonic() < deadline, self.process.communicate(timeout=60)
                time.sleep(0.1)

    def server(self):
        """The process of the server, below the one that was started."""
        pid = self.process.pid
        while pathlib.Path(f"/proc/{pid}/exe").readlink().name != "postern":
            # Any thread may have made the child.
            pid = next(child for threads in pathlib.Path(f"/proc/{pid}/task").glob("*/children")
                       for child in threads.read_text().split())
        return pathlib.Path(f"/proc/{pid}")

    def stop(self):
        """Ends as an engine ends it. Returns the exit status, and asserts that it took no longer than stopping may take."""
        subprocess.run(["kill", f"-{self.config.get('StopSignal', 'SIGTERM').removeprefix('SIG')}", self.server().name], check=True)
        output, _ = self.process.communicate(timeout=40)
        return self.process.returncode, output

    def run(self, *words):
        return done(*self.command(*words))


@pytest.fixture
def container(image, tmp_path):
    made = []

    def make(volume="volume"):
        made.append(Container(image, tmp_path / volume))
        return made[-1]

    yield make
    for one in made:
        if one.process and one.process.poll() is None:
            one.stop()


def test_it_serves_as_its_own_user_and_ends_with_the_stop_signal(container):
    one = container().start()
    assert one.config["User"] in ("postern", str(USER))
    status = (one.server() / "status").read_text()
    assert re.search(r"^Uid:\s+(.*)$", status, re.M)[1].split() == [str(USER)] * 4
    check = one.config["Healthcheck"]["Test"]
    assert check[0] == "CMD"
    one.run(*check[1:])
    code, output = one.stop()
    assert code == 0, output
    # A health check of a server that is not there fails.
    assert subprocess.run(one.command(*check[1:]), capture_output=True).returncode == 1


def test_the_volume_keeps_the_database_and_commands_meet_it(container):
    first = container().start()
    first.run("sh", "-c", "printf 'a long password\\n' | postern account add kept@example.org --password-stdin")
    listed = first.run("postern", "account", "list")
    assert "kept@example.org" in listed
    assert first.stop()[0] == 0
    second = container().start()
    assert second.run("postern", "account", "list") == listed


def test_the_root_may_be_read_only(container):
    one = container()
    one.start(one.read_only_command)
    refused = subprocess.run(one.read_only_command("touch", "/tmp/file"), capture_output=True, text=True)
    assert "Read-only file system" in refused.stderr
    code, output = one.stop()
    assert code == 0, output


def test_no_tool_and_no_source_is_inside(image):
    container = image("from", "--pull-never", "postern")
    root = pathlib.Path(image("mount", container))
    assert (root / "usr/local/bin/postern").exists()
    tools = {"cc", "gcc", "clang", "ld", "make", "swift", "swiftc", "git", "python3", "curl"}
    found = {path.name for path in root.glob("usr/**/bin/*")} & tools
    assert not found
    assert not (root / "postern").exists()
    assert not [path for pattern in ["*.swift", "*.swiftmodule", "*.h", "*.o", ".git"] for path in root.glob(f"usr/**/{pattern}")]
    image("rm", container)


def test_labels_say_what_it_is(image):
    labels = image.config("postern")["Labels"]
    prefix = "org.opencontainers.image."
    assert labels[prefix + "title"] == "Postern" and labels[prefix + "description"]
    assert labels[prefix + "licenses"] == "Apache-2.0"
    assert labels[prefix + "base.name"].endswith("/" + BASE)
    assert labels[prefix + "revision"] == image.revision
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", labels[prefix + "created"])
    container = image("from", "--pull-never", "postern")
    version = image("run", "--isolation", "chroot", container, "--", "postern", "--version").splitlines()[0]
    assert labels[prefix + "version"] == version
    image("rm", container)


def test_it_adds_little_to_its_base(image):
    whole, base = image.size("postern"), image.size(BASE)
    print(f"the image: {whole / 1e6:.1f} MB, of which the base: {base / 1e6:.1f} MB")
    assert whole - base <= MAX_ADDED
