"""The documents against the program: links, defaults, endpoints, vectors, words."""

import hashlib
import json
import re

import pytest
from argon2.low_level import Type, hash_secret_raw

from agent import SALT, proof
from program import ROOT, run

PAGES = sorted([
    *ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "clients/python/README.md"])
SOURCES = [path for folder in ["Sources", "Tests", "config", ".ci", "deploy", "clients"]
           for path in sorted((ROOT / folder).rglob("*"))
           if path.is_file() and path.suffix in
           {".swift", ".py", ".toml", ".sh", ".md", ".txt", ".json", ".yaml", ".conf", ".cfg", ""}]
API = (ROOT / "docs/api.md").read_text()
OPENAPI = json.loads((ROOT / "Sources/CEmbeddedFiles/Files/Discovery/openapi.json").read_text())
LLMS = (ROOT / "Sources/CEmbeddedFiles/Files/Discovery/llms.txt").read_text()


def named(path):
    return str(path.relative_to(ROOT))


def prose(page):
    """The page without its code blocks."""
    return re.sub(r"^```.*?^```|^    .*?$", "", page.read_text(), flags=re.S | re.M)


def headings(page):
    return re.findall(r"^#+ +(.*?) *$", prose(page), re.M)


def anchors(page):
    """The anchors of the headings, made as GitHub makes them."""
    found = []
    for text in headings(page):
        text = re.sub(r"[`*]|\[([^]]*)\]\([^)]*\)", r"\1", text)
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        seen = found.count(slug)
        found.append(f"{slug}-{seen}" if seen else slug)
    return set(found)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_relative_link_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        assert other.exists(), f"{target} does not exist"
        assert not anchor or anchor in anchors(other), f"{target} has no such heading"


# The comparison with OWASP ASVS

ASVS = (ROOT / "docs/asvs.md").read_text()
# How many requirements of levels 1 and 2 each section of ASVS 5.0.0 has; they are numbered from 1.
ASVS_SECTIONS = {
    "6.1": 3, "6.2": 12, "6.3": 4, "6.4": 4, "6.5": 5, "6.6": 3, "6.8": 4,
    "7.1": 3, "7.2": 4, "7.3": 2, "7.4": 5, "7.5": 2, "7.6": 2,
    "8.1": 2, "8.2": 3, "8.3": 1, "8.4": 1, "9.1": 3, "9.2": 4,
    "11.1": 2, "11.2": 3, "11.3": 3, "11.4": 4, "11.5": 1, "11.6": 1,
    "12.1": 3, "12.2": 2, "12.3": 4, "13.1": 1, "13.2": 5, "13.3": 2, "13.4": 5,
    "16.1": 1, "16.2": 5, "16.3": 4, "16.4": 3, "16.5": 3,
}
TEST_NAME = re.compile(r"\w+Tests\.\w+|test_\w+\.py::\w+")


def asvs_rows():
    """(number, status, ground) of every requirement on the page."""
    rows = re.findall(r"^\| (\d+\.\d+\.\d+) \| [^|]+ \| ([^|]+) \| (.+) \|$", ASVS, re.M)
    assert rows
    return rows


def test_the_asvs_page_has_every_requirement_once_and_counts_them():
    rows = asvs_rows()
    assert [number for number, _, _ in rows] == [
        f"{section}.{number}" for section, count in ASVS_SECTIONS.items()
        for number in range(1, count + 1)]
    statuses = ["met", "not applicable", "not met"]
    counts = {}
    for number, status, _ in rows:
        for group in ["V" + number.partition(".")[0], f"all {len(rows)}"]:
            counts.setdefault(group, [0, 0, 0])[statuses.index(status)] += 1
    shown = re.findall(r"^\| (V\d+|all \d+)[^|]* \| (\d+) \| (\d+) \| (\d+) \|$", ASVS, re.M)
    assert {group: [int(count) for count in row] for group, *row in shown} == counts


def test_every_row_of_the_asvs_page_has_a_ground_that_fits_its_status():
    for number, status, ground in asvs_rows():
        if status == "met":
            assert TEST_NAME.search(ground) or "y inspection of" in ground, number
        elif status == "not met":
            assert "perator" in ground, f"{number}: what can the operator do?"


@pytest.mark.parametrize("page, least", [("asvs", 100), ("reliability", 25)])
def test_every_test_that_a_page_names_exists(page, least):
    tests = set()
    for path in SOURCES:
        # Files of the same name in several folders count as one.
        if path.suffix == ".swift":
            suite = path.name.removesuffix(".swift")
            functions = re.findall(r"@Test\b.*?\bfunc (\w+)\(", path.read_text(), re.S)
            tests |= {f"{suite}.{function}" for function in functions}
        elif path.suffix == ".py":
            functions = re.findall(r"^def (test_\w+)\(", path.read_text(), re.M)
            tests |= {f"{path.name}::{function}" for function in functions}
    spans = re.findall(r"`([^`]+)`", (ROOT / f"docs/{page}.md").read_text())
    cited = {span for span in spans if TEST_NAME.fullmatch(span)}
    assert len(cited) > least
    assert not cited - tests
    # Neither a suite without its function nor a file that has been moved.
    assert not [span for span in spans if re.fullmatch(r"\w+Tests|test_\w+\.py", span)]
    for span in spans:
        if re.match(r"(Sources|Tests|migrations|deploy)/|Dockerfile|\.dockerignore|Package\.", span):
            assert (ROOT / span).exists(), span


def test_every_page_that_the_code_names_exists_and_has_the_heading():
    for source in SOURCES:
        text = source.read_text(errors="replace")
        # In comments a name may go on in the next line.
        text = re.sub(r"\n\s*(?:///?|#) ?", " ", text)
        for name, anchor, heading in re.findall(
                r"\bdocs/([\w-]+\.md)(?:#([\w-]+)|,? \(?\"([^\"]+)\")?", text):
            page = ROOT / "docs" / name
            assert page.is_file(), f"{named(source)} names {name}"
            assert not anchor or anchor in anchors(page), f"{named(source)}: {name}#{anchor}"
            assert not heading or heading in headings(page), f"{named(source)}: {name}, {heading}"


def test_the_readme_is_short_and_leads_every_reader_to_their_page():
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 150
    first_screen = "\n".join(lines[:25])
    for page in ["docs/agents.md", "docs/test-suites.md", "docs/operators.md",
                 "docs/architecture.md", "CONTRIBUTING.md"]:
        assert f"({page})" in first_screen


# Defaults

SHOWN = re.compile(r"^(?:# )?([a-z_0-9]+) = ?(.*?) +# [^#]*$")


@pytest.fixture(scope="module")
def defaults(tmp_path_factory):
    """Key to value, as `check-config` prints it, for a profile."""
    known = {}

    def defaults(profile):
        if profile not in known:
            needed = {"POSTERN_SERVER_PUBLIC_URL": "https://a.example", "JWT_ISSUER": "a"}
            shown = run(
                "check-config", "--profile", profile, directory=tmp_path_factory.mktemp("empty"),
                **(needed if profile == "production" else {}))
            assert shown.returncode == 0, shown.stderr
            values, section = {}, ""
            for line in shown.stdout.splitlines():
                if head := re.fullmatch(r"\[(\w+)\]", line):
                    section = head[1] + "."
                elif setting := SHOWN.match(line):
                    values[section + setting[1]] = setting[2].strip().strip('"')
            known[profile] = values
        return known[profile]

    return defaults


def tables(page):
    """The rows of every table, as dictionaries by the header's names."""
    for table in re.findall(r"(?:^\|.*\|$\n?)+", prose(page), re.M):
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]
                for line in table.splitlines()]
        for row in rows[2:]:
            yield dict(zip(rows[0], row))


def code(cell):
    """The one code span that a cell is, or nothing."""
    found = re.fullmatch(r"`([^`]+)`", cell or "")
    return found and found[1]


def documented_defaults(page):
    """(setting, profile, value) wherever the page says so."""
    for row in tables(page):
        key = code(row.get("Setting"))
        if not key:
            continue
        assert row.get("Default"), f"{key} stands in a table without a default"
        yield key, "development", code(row["Default"])
        if "In the test profile" in row:
            yield key, "test", code(row["In the test profile"])
    text = re.sub(r"\s+", " ", prose(page))
    for key, value, other, profile in re.findall(
            r"`([a-z_]+\.[a-z_]+)`, default `([^`]+)`(?: \(`([^`]+)` in the (\w+) profile\))?",
            text):
        yield key, "development", value
        if profile:
            yield key, profile, other


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_documented_default_is_the_programs(page, defaults):
    for key, profile, value in documented_defaults(page):
        actual = defaults(profile).get(key)
        assert actual is not None, f"{key} is no setting"
        assert value == actual, f"{key} in the {profile} profile: {value} is documented"


def test_the_documents_name_defaults_at_all():
    counted = sum(1 for page in PAGES for _ in documented_defaults(page))
    assert counted > 80


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_setting_that_a_page_names_exists(page, defaults):
    sections = {key.partition(".")[0] for key in defaults("development") if "." in key}
    for key in re.findall(r"`([a-z_]+\.[a-z_]+)`", prose(page)):
        if key.partition(".")[0] in sections - {"postern"}:
            assert key in defaults("development"), f"{key} is no setting"


def test_the_test_profiles_table_is_complete(defaults):
    rows = {key for key, profile, _ in documented_defaults(ROOT / "docs/test-suites.md")
            if profile == "test"}
    ordinary, test = defaults("development"), defaults("test")
    assert rows == {key for key in ordinary if key != "profile" and ordinary[key] != test[key]}


# Endpoints

def operations():
    return {f"{method.upper()} {path}" for path, methods in OPENAPI["paths"].items()
            for method in methods}


def test_the_reference_has_every_endpoint_and_no_other():
    described = set(re.findall(r"^### ((?:GET|PUT|POST|DELETE) \S+)$", API, re.M))
    # Those of a user's accounts are the same, and a sentence says so.
    messages = "/accounts/{account_id}/messages"
    assert f"`/api/user{messages}`" in API
    assert described == {each.replace("/api/user" + messages, "/api" + messages)
                         for each in operations()}


def test_the_reference_names_every_error_code_and_text():
    codes = set()

    def collect(part):
        if isinstance(part, dict):
            if set(part) == {"enum"} and isinstance(part["enum"], list):
                codes.update(part["enum"])
            for value in part.values():
                collect(value)
        elif isinstance(part, list):
            for value in part:
                collect(value)

    collect(OPENAPI["paths"])
    collect(OPENAPI["components"]["responses"])
    assert "invalid_request" in codes and len(codes) > 20
    for each in codes:
        assert f"`{each}`" in API, f"{each} is not in docs/api.md"


def test_the_test_vectors_of_the_reference_hold():
    text, salt, start = re.search(
        r"`jti-abc:(123)`(.*?)begins\s+with\s+`(\w+)`", API, re.S).groups()
    assert proof("jti-abc", text, SALT).hex().startswith(start) and SALT in API

    salt, nonce, start = re.search(
        r"the salt `(\w{32})` and the nonce `(\d+)` give a digest that begins\s+with `(\w+)`",
        API).groups()
    assert hashlib.sha256((salt + nonce).encode()).hexdigest().startswith(start)

    address, password, key = re.search(
        r"address `(\S+)`, password `(\S+)` gives\s+`(\w{64})`", API).groups()
    found = hash_secret_raw(
        password.encode(), hashlib.sha256(address.encode()).digest(), 3, 16_384, 1, 32, Type.ID)
    assert found.hex() == key


# Words

# Words that are used for something else in every other project, or only in this one. What they
# stand for has a plain name.
AVOIDED = re.compile(
    r"\b(surfaces?|octets?|houses?|rooms|duty|duties|mends?|mended|refusals?|nobody's|somebody's "
    r"business|newcomers?|strangers?|believed|honou?r\w*|forgiv\w+|whosoever|contract section)\b",
    re.I)


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "Sources/CEmbeddedFiles/Files/Discovery/llms.txt",
             ROOT / "Sources/CEmbeddedFiles/Files/Discovery/openapi.json"], ids=named)
def test_pages_use_the_words_of_the_field(page):
    text = page.read_text()
    if page.name == "CHANGELOG.md":
        # What older versions said stays, and so does a name that has changed.
        text = re.sub(r"`[^`]*`", "", text.partition("\n## 0.")[0])
    found = AVOIDED.search(text.replace("application/octet-stream", ""))
    assert not found, f"{found[0]!r} in {text[max(0, found.start() - 40):found.end() + 40]!r}"
