"""What `make install`, `make deb` and `make sbom` make, with the program that is tested in place of the release program."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import importlib.metadata

import jsonschema
import pytest
import referencing

from program import BINARY, ROOT, done, run

# A packed debug build is large; how it is compressed is not tested.
QUICK = {"DPKG_DEB_COMPRESSOR_TYPE": "gzip", "DPKG_DEB_COMPRESSOR_LEVEL": "1"}
EPOCH = "1700000000"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The program as `make release` leaves it: stripped."""
    stripped = tmp_path_factory.mktemp("program") / "postern"
    done("strip", "-o", stripped, BINARY)
    return stripped


@pytest.fixture(scope="module")
def make(program):
    def make(goal, **variables):
        # Other tools set a PREFIX of their own, which would count.
        variables = {"BINARY": program, "PREFIX": "/usr/local", **variables}
        return done(
            "make", "--no-print-directory", goal, *(f"{name}={value}" for name, value in variables.items()),
            cwd=ROOT, env={**os.environ, **QUICK, "SOURCE_DATE_EPOCH": EPOCH})
    return make


def tree(directory):
    """Path to mode and content of every file."""
    return {
        str(path.relative_to(directory)): (path.stat().st_mode, hashlib.sha256(path.read_bytes()).digest())
        for path in sorted(directory.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def installed(make, tmp_path_factory):
    directory = tmp_path_factory.mktemp("installed")
    said = make("install", DESTDIR=directory)
    # What to do next is for those who install on the running system.
    assert "systemctl" not in said
    return directory


# Installation

def test_an_installation_has_its_files_where_they_are_looked_for(installed):
    files = tree(installed)
    for path in """
            etc/postern/postern.toml usr/local/bin/postern usr/local/lib/systemd/system/postern.service
            usr/local/lib/systemd/system/postern.socket usr/local/lib/sysusers.d/postern.conf
            usr/local/lib/tmpfiles.d/postern.conf usr/local/share/bash-completion/completions/postern
            usr/local/share/zsh/site-functions/_postern usr/local/share/fish/vendor_completions.d/postern.fish
            usr/local/share/man/man1/postern.1 usr/local/share/man/man1/postern-account.1
            usr/local/share/man/man5/postern.toml.5 usr/local/share/doc/postern/LICENSE
            usr/local/share/doc/postern/NOTICE usr/local/share/doc/postern/docs/operators.md
            usr/local/share/doc/postern/deploy/nginx.conf usr/local/share/doc/postern/postern.cdx.json
            usr/local/share/doc/postern/licenses/TOMLKit.txt""".split():
        assert path in files, path
    assert {path for path, (mode, _) in files.items() if mode & 0o111} == {"usr/local/bin/postern"}
    assert all(path.startswith(("etc/postern/", "usr/local/")) for path in files)
    for license in (installed / "usr/local/share/doc/postern/licenses").iterdir():
        assert re.search("Permission is hereby granted|Grant of Copyright License", license.read_text()), license


def test_an_installation_elsewhere_names_its_own_paths(make, installed, tmp_path):
    make("install", DESTDIR=tmp_path, PREFIX="/opt/mail", sysconfdir="/opt/etc", zshdir="zsh")
    unit = (tmp_path / "opt/mail/lib/systemd/system/postern.service").read_text()
    assert re.search("^ExecStart=/opt/mail/bin/postern serve --config /opt/etc/postern/postern.toml ", unit, re.M)
    assert "/etc/postern/" not in unit.replace("/opt/etc/postern/", "")
    assert (tmp_path / "opt/mail/zsh/_postern").is_file() and (tmp_path / "opt/etc/postern/postern.toml").is_file()
    assert len(tree(tmp_path)) == len(tree(installed))


def test_a_second_installation_keeps_settings_and_a_removal_leaves_them_alone(make, installed, tmp_path):
    make("install", DESTDIR=tmp_path)
    settings = tmp_path / "etc/postern/postern.toml"
    settings.write_text("profile = \"test\"\n")
    make("install", DESTDIR=tmp_path)
    assert settings.read_text() == "profile = \"test\"\n"
    assert {**tree(tmp_path), "etc/postern/postern.toml": None} == {
        **tree(installed), "etc/postern/postern.toml": None}
    make("uninstall", DESTDIR=tmp_path)
    assert list(tree(tmp_path)) == ["etc/postern/postern.toml"]


def test_systemd_finds_the_user_and_the_directory_of_an_installation(installed):
    done("systemd-sysusers", f"--root={installed}")
    user = re.search("^postern:.*$", (installed / "etc/passwd").read_text(), re.M)[0].split(":")
    assert user[5:] == ["/var/lib/postern", "/usr/sbin/nologin"]
    listed = done("systemd-tmpfiles", f"--root={installed}", "--cat-config")
    assert "d /var/lib/postern 0700 postern postern -" in listed
    (installed / "etc/passwd").unlink()


# Manual pages and completions

def pages(installed):
    return sorted((installed / "usr/local/share/man").rglob("*.[15]"))


def rendered(page):
    told = subprocess.run(
        ["man", "--warnings", "--local-file", page], text=True, capture_output=True, timeout=60,
        env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8", "MANROFFOPT": "-rHY=0"})
    assert (told.returncode, told.stderr) == (0, ""), page.name
    return re.sub(r"\s+", " ", re.sub(".\b", "", told.stdout).replace("‐ ", ""))


def test_the_manual_pages_are_sound(installed):
    told = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", *pages(installed)], text=True, capture_output=True, timeout=60)
    assert (told.returncode, told.stdout) == (0, "")
    for page in pages(installed):
        assert "November 14, 2023" in rendered(page)


def test_the_manual_has_every_command_option_and_setting(installed, tmp_path):
    texts = {page.name.rpartition(".")[0]: rendered(page) for page in pages(installed)}
    commands = json.loads(run("--experimental-dump-help", directory=tmp_path).stdout)["command"]["subcommands"]
    visible = [one for one in commands if one["shouldDisplay"] and one["commandName"] != "help"]
    assert {f"postern-{one['commandName']}" for one in visible} | {"postern", "postern.toml"} == set(texts)
    count = 0
    for command in visible:
        text = texts[f"postern-{command['commandName']}"]
        assert f"postern-{command['commandName']}(1)" in texts["postern"]
        for one in [command, *command.get("subcommands", [])]:
            if one["commandName"] == "help":
                continue
            assert one["abstract"].rstrip(".").replace("`", "") in text
            for option in one.get("arguments", []):
                for name in option.get("names", []):
                    if option["shouldDisplay"] and name["kind"] == "long":
                        count += 1
                        assert f"--{name['name']}" in text, (one["commandName"], name)
    assert count > 60
    settings = re.findall(r"^# ([a-z_0-9]+) = (.+)$", (ROOT / "config/postern.toml").read_text(), re.M)
    assert len(settings) > 100
    for key, value in settings:
        assert f"{key} = {value}" in texts["postern.toml"]


def test_bash_completes_commands_and_options(installed):
    script = installed / "usr/local/share/bash-completion/completions/postern"
    ask = r"""
        source "$1"; shift
        function=$(complete -p postern | sed 's/.*-F \(\S*\) .*/\1/')
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMP_TYPE=9
        "$function" postern "${@: -1}" "${@: -2:1}"
        printf '%s\n' "${COMPREPLY[@]}" """

    def completed(*words):
        return set(done("bash", "--norc", "-c", ask, "bash", script, *words).split())

    assert completed("postern", "ser") == {"serve"}
    assert completed("postern", "account", "us") == {"usage"}
    assert completed("postern", "serve", "--prof") == {"--profile"}
    assert completed("postern", "serve", "--profile", "pro") == {"production"}
    assert completed("postern", "key", "rotate", "--use", "") == {"agent", "accounts", "capability", "login"}
    assert completed("postern", "backup", str(script.parent) + "/") == {str(script)}


# Packages of Debian

@pytest.fixture(scope="module")
def package(make, tmp_path_factory):
    directory = tmp_path_factory.mktemp("deb")
    make("deb", OUTPUT=directory)
    return next(directory.iterdir())


def fields(package):
    return dict(re.findall(r"^ ?(\S+): (.*)$", done("dpkg-deb", "--info", package), re.M))


def test_the_package_says_what_it_is_and_needs(package, tmp_path):
    version = run("--version", directory=tmp_path).stdout.split()[0]
    known = fields(package)
    assert (known["Package"], known["Version"]) == ("postern", f"{version}-1")
    needed = {one.split()[0] for one in known["Depends"].split(", ")}
    assert {"libc6", "libssl3", "libsqlite3-0", "libargon2-1", "libscrypt0", "libcurl4", "systemd"} <= needed
    assert known["Recommends"] == "libpq5"
    contents = [line.split(maxsplit=5) for line in done("dpkg-deb", "--contents", package).splitlines()]
    assert {owner for _, owner, *_ in contents} == {"root/root"}
    # A directory or a file that its group may write to would be a mistake of the one who has built it.
    assert {line[0] for line in contents} <= {"drwxr-xr-x", "-rw-r--r--", "-rwxr-xr-x"}
    assert all(date <= "2023-11-14" for _, _, _, date, *_ in contents)


class System:
    """A folder in which dpkg installs, with the packages that ours depends on as they are on this machine."""

    def __init__(self, root, package):
        self.root, self.known = root, root / "var/lib/dpkg"
        for name in ("info", "updates", "triggers"):
            (self.known / name).mkdir(parents=True)
        names = re.findall(r"(?:^|, )([^\s,]+)", fields(package)["Depends"])
        stanzas = [done("dpkg-query", "--status", name).strip() for name in names]
        (self.known / "status").write_text("\n\n".join(stanzas) + "\n")
        for name in names:
            architecture = done("dpkg-query", "--show", "--showformat", "${Multi-Arch} ${Architecture}", name).split()
            suffix = f":{architecture[1]}" if architecture[0] == "same" else ""
            (self.known / f"info/{name}{suffix}.list").write_text("/.\n")

    def dpkg(self, *words):
        """Scripts of the package run here and work on the folder (DPKG_ROOT)."""
        return done(
            "dpkg", f"--root={self.root}", "--force-script-chrootless", "--force-confold", "--force-not-root", *words)

    def tree(self):
        return {path for path in tree(self.root) if not path.startswith("var/lib/dpkg/")}


@pytest.fixture
def system(package, tmp_path):
    if os.geteuid() != 0 and "CI" not in os.environ:
        pytest.skip("dpkg installs as root")
    return System(tmp_path / "system", package)


def newer(package, directory):
    """The package of a later version with other default settings."""
    parts = directory / "parts"
    done("dpkg-deb", "--raw-extract", package, parts)
    control = parts / "DEBIAN/control"
    control.write_text(re.sub("(?m)^Version: .*$", "Version: 99.0-1", control.read_text()))
    with (parts / "etc/postern/postern.toml").open("a") as settings:
        settings.write("\n# Something new.\n")
    made = directory / "newer.deb"
    done("dpkg-deb", "--root-owner-group", "--build", parts, made, env={**os.environ, **QUICK})
    return made


def test_a_package_is_installed_upgraded_removed_and_purged(system, package, tmp_path):
    system.dpkg("--install", package)
    root, wanted = system.root, "etc/systemd/system"
    links = {f"{wanted}/multi-user.target.wants/postern.service", f"{wanted}/sockets.target.wants/postern.socket"}
    assert "postern:" in (root / "etc/passwd").read_text()
    state = root / "var/lib/postern"
    assert state.stat().st_mode & 0o777 == 0o700
    assert all((root / link).is_symlink() for link in links)
    assert done(root / "usr/bin/postern", "--version").split()[0] == run("--version", directory=tmp_path).stdout.split()[0]
    assert done("dpkg", f"--root={root}", "--verify", "postern") == ""

    (state / "master.secret").write_text("5a" * 32)
    settings = root / "etc/postern/postern.toml"
    settings.write_text("profile = \"production\"\n")
    # The administrator has disabled the service; an upgrade leaves it so.
    (root / wanted / "multi-user.target.wants/postern.service").unlink()
    system.dpkg("--install", newer(package, tmp_path))
    assert fields_of_installed(system)["Version"] == "99.0-1"
    assert settings.read_text() == "profile = \"production\"\n"
    assert "Something new." in (settings.parent / "postern.toml.dpkg-dist").read_text()
    assert (state / "master.secret").exists()
    assert [link for link in sorted(links) if (root / link).is_symlink()] == [
        f"{wanted}/sockets.target.wants/postern.socket"]

    system.dpkg("--remove", "postern")
    assert not (root / "usr/bin/postern").exists()
    assert settings.exists() and (state / "master.secret").exists()
    (settings.parent / "services.secret").write_text("a secret of the administrator")

    system.dpkg("--purge", "postern")
    left = {path for path in system.tree() if "postern" in path}
    assert not left and not state.exists() and not settings.parent.exists()
    assert not any((root / link).is_symlink() for link in links)


def fields_of_installed(system):
    return dict(re.findall(r"^(\S+): (.*)$", done("dpkg", f"--root={system.root}", "--status", "postern"), re.M))


def test_settings_that_nobody_has_changed_are_upgraded(system, package, tmp_path):
    system.dpkg("--install", package)
    system.dpkg("--install", newer(package, tmp_path))
    assert "Something new." in (system.root / "etc/postern/postern.toml").read_text()


# The software bill of materials

@pytest.fixture(scope="module")
def bill(installed):
    return json.loads((installed / "usr/local/share/doc/postern/postern.cdx.json").read_text())


def schemas():
    """The published schemas of CycloneDX, by their names."""
    package = importlib.metadata.distribution("cyclonedx-python-lib")
    for name in ("bom-1.6", "spdx", "jsf-0.82"):
        schema = json.loads(pathlib.Path(
            package.locate_file(f"cyclonedx/schema/_res/{name}.SNAPSHOT.schema.json")).read_text())
        yield schema["$id"], referencing.Resource.from_contents(
            schema, referencing.jsonschema.DRAFT7)


def test_the_bill_of_materials_is_as_the_standard_has_it(bill):
    known = dict(schemas())
    validator = jsonschema.Draft7Validator(
        next(one.contents for name, one in known.items() if "bom-1.6" in name),
        registry=referencing.Registry().with_resources(known.items()),
        format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)
    assert [error.message for error in validator.iter_errors(bill)] == []
    # The schema is in effect.
    assert list(validator.iter_errors({**bill, "serialNumber": "1"}))


def components(bill):
    for one in bill["components"]:
        yield one
        yield from one.get("components", [])


def test_the_bill_of_materials_names_the_program_and_all_that_it_needs(bill, program):
    hashes = {one["alg"]: one["content"] for one in bill["metadata"]["component"]["hashes"]}
    assert hashes["SHA-256"] == hashlib.sha256(program.read_bytes()).hexdigest()
    named = {(one["name"], one.get("version")): one for one in components(bill)}
    manifest = (ROOT / "Package.swift").read_text()
    packages = re.findall(r'\.package\(url: "\S+/(\S+)", exact: "(\S+)"\)', manifest)
    assert len(packages) == manifest.count(".package(url:") > 0
    for package in [*packages, ("toml++", "3.4.0"), ("zxcvbn", "4.5.0")]:
        assert package in named
    assert "Swift" in {name for name, _ in named}
    libraries = {one["value"]: part for part in components(bill) for one in part.get("properties", [])}
    for name in re.findall(r"\[(lib\S+)\]", done("readelf", "--dynamic", program)):
        if not re.match("lib(swift|_?Foundation|dispatch|BlocksRuntime)", name):
            assert libraries[name]["scope"] == "required"
    for name in ("libpq.so.5", "libcurl.so.4"):
        assert libraries[name]["scope"] == "optional"
    version = done("dpkg-query", "--show", "--showformat", "${Version}", "libssl3")
    assert (libraries["libssl.so.3"]["name"], libraries["libssl.so.3"]["version"]) == ("libssl3", version)
    for one in components(bill):
        assert one["purl"].startswith("pkg:") and one["licenses"] and one["version"]


def test_references_in_the_bill_of_materials_lead_somewhere(bill):
    known = {one["bom-ref"] for one in components(bill)} | {bill["metadata"]["component"]["bom-ref"]}
    assert len(known) == len(list(components(bill))) + 1
    for one in bill["dependencies"]:
        assert {one["ref"], *one["dependsOn"]} <= known
    root = next(one for one in bill["dependencies"] if one["ref"] == bill["metadata"]["component"]["bom-ref"])
    assert len(root["dependsOn"]) > 10


def test_the_bill_of_materials_alone_is_the_installed_one(make, installed, tmp_path):
    make("sbom", OUTPUT=tmp_path)
    assert (tmp_path / "postern.cdx.json").read_bytes() == (
        installed / "usr/local/share/doc/postern/postern.cdx.json").read_bytes()
