#!/usr/bin/env python3
"""Mutation testing: changes one place of the program at a time, and looks whether a test fails.

mutants.txt lists the changes. All of them are compiled into one copy of the package in
.build/mutation: each place becomes a choice by a number that the process reads when it starts. So
the copy is built once, and each mutant costs only the tests that run with it: first the test that
killed it before, by killers.txt, then those named after its file, then its module's, then those of
AuthAPI and AuthCore, then all others. The first test that fails kills the mutant, and so does a
crash or a time limit. Before a group of tests runs with a mutant, it must pass without one.

Commit killers.txt after a run. Results are kept in .build/mutation/results.json: a killed mutant is
not run again unless its entry changes, and a survivor not until a file of the package changes.
Arguments after `--` are given to `swift build`.
"""

import argparse
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / ".build/mutation"
TREE = WORK / "tree"
RESULTS = WORK / "results.json"
CHOICE = WORK / "choice"
KILLERS = pathlib.Path(__file__).with_name("killers.txt")
MODULES = (
    "AuthCore", "AuthAPI", "HTTPEngine", "AuthStorage", "LocalMail", "Fetching", "IdentityProviders",
    "WebAuthn", "Mailing")
FORMS = ("expression", "statement", "text")
# They check the text of the sources, which is woven.
SKIPPED = "^ArchitectureTests\\."
FAILURE = re.compile(r"^✘ Test (.+?) recorded an issue")
TEST = re.compile(r"\w+\(.*\)")
COLOURS = re.compile("\x1b\\[[0-9;]*m")
# The exit code of Swift Testing when no test matches.
NO_TESTS = 69

HEADER = """\
#ifndef MUTANT_H
#define MUTANT_H
#include <stdbool.h>
extern int chosen_mutant;
/// Whether this process runs with the mutant of this number.
static inline bool mutant(int number) { return number == chosen_mutant; }
#endif
"""
SOURCE = """\
#include <stdio.h>
#include <stdlib.h>
#include "CMutant.h"

int chosen_mutant = 0;

// The file is for programs that tests start without the environment.
__attribute__((constructor)) static void choose(void) {
    const char *number = getenv("MUTANT");
    if (number) {
        chosen_mutant = atoi(number);
        return;
    }
    FILE *file = fopen("%s", "r");
    if (!file) { return; }
    if (fscanf(file, "%%d", &chosen_mutant) != 1) { chosen_mutant = 0; }
    fclose(file);
}
"""
MANIFEST = """
package.targets.append(.target(name: "CMutant", publicHeadersPath: "include"))
for target in package.targets where [%s].contains(target.name) {
    target.dependencies.append("CMutant")
}
"""


class Fault(Exception):
    """The list or the build is wrong."""


class OutOfTime(Exception):
    """The minutes of this run are over."""


@dataclasses.dataclass
class Mutant:
    number: int
    file: str
    breaks: str = ""
    after: str = ""
    was: str = ""
    now: str = ""
    form: str = "expression"
    equivalent: str = ""

    @property
    def module(self):
        return self.file.split("/")[1]

    @property
    def digest(self):
        text = "\n".join((self.file, self.after, self.was, self.now, self.form))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def woven(self, text):
        """What stands in place of `text`: the text of this mutant, if it is chosen, or `text`."""
        chosen = f"mutant({self.number})"
        if self.form == "statement":
            return f"if {chosen} {{ {self.now} }} else {{ {text} }}"
        if self.form == "text":
            for part in (text, self.now):
                if '"' in part:
                    raise Fault(f"{self.number}: a text must not have quotes")
            return f'\\({chosen} ? "{self.now}" : "{" ".join(text.split(chr(10)))}")'
        return f"({chosen} ? ({self.now}) : ({text}))"


def read_list(path):
    """The mutants of the list, in its order."""
    mutants = []
    for place, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if match := re.fullmatch(r"(\d+) (Sources/\S+\.swift)", line):
            mutants.append(Mutant(int(match[1]), match[2]))
            continue
        match = re.fullmatch(r"  (breaks|after|was|now|form|equivalent): ?(.*)", line)
        if not match or not mutants:
            raise Fault(f"{path.name}:{place}: not an entry")
        if match[1] != "now" and not match[2]:
            raise Fault(f"{path.name}:{place}: empty")
        setattr(mutants[-1], match[1], match[2])
    numbers = [mutant.number for mutant in mutants]
    if len(set(numbers)) != len(numbers):
        raise Fault("a number is given twice")
    for mutant in mutants:
        if not mutant.breaks or not mutant.was or mutant.form not in FORMS:
            raise Fault(f"{mutant.number}: breaks, was or form is missing or unknown")
        if mutant.module not in MODULES:
            raise Fault(f"{mutant.number}: {mutant.module} is not woven")
    return mutants


def read_killers():
    """The test that killed each mutant, of those that one test killed."""
    lines = KILLERS.read_text().splitlines() if KILLERS.is_file() else []
    return {int(number): name for number, _, name in (line.partition(" ") for line in lines)}


def pattern(text):
    """Matches `text` with any white space where it has some."""
    return re.compile(r"\s+".join(map(re.escape, text.split())))


def place(mutant, source):
    """Where the original text of the mutant is: the first from `after` on, or the only one."""
    start = 0
    if mutant.after:
        found = list(pattern(mutant.after).finditer(source))
        if len(found) != 1:
            raise Fault(f"{mutant.number}: `after` is found {len(found)} times in {mutant.file}")
        start = found[0].start()
    found = list(pattern(mutant.was).finditer(source, start))
    if not found or (len(found) > 1 and not mutant.after):
        raise Fault(f"{mutant.number}: `was` is found {len(found)} times in {mutant.file}")
    return found[0].span()


def check_places(mutants):
    """Every mutant must fit the sources: a change of the sources may need one of the list."""
    faults = []
    for mutant in mutants:
        try:
            place(mutant, (ROOT / mutant.file).read_text())
        except (Fault, OSError) as fault:
            faults.append(str(fault))
    if faults:
        raise Fault("\n".join(faults))


def weave(source, mutants):
    """The source with a choice at each place; mutants of one place are asked for in turn."""
    places = {}
    for mutant in mutants:
        places.setdefault(place(mutant, source), []).append(mutant)
    end = len(source)
    for (start, stop), here in sorted(places.items(), reverse=True):
        if stop > end:
            raise Fault(f"{here[0].number}: its place overlaps another")
        end = start
        text = source[start:stop]
        for mutant in here:
            text = mutant.woven(text)
        source = source[:start] + text + source[stop:]
    return "import CMutant\n" + source


def write(path, content):
    """Writes the file, unless it has that content, so that it is not compiled again."""
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def copy_tree(mutants):
    """Brings the woven copy of the package up to date, and returns the digest of the package."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
        check=True, capture_output=True, text=True).stdout.split("\0")
    names = sorted(name for name in set(names) if name and (ROOT / name).is_file())
    digest = hashlib.sha256()
    woven = {}
    for mutant in mutants:
        woven.setdefault(mutant.file, []).append(mutant)
    for name in names:
        content = (ROOT / name).read_bytes()
        if name.startswith(("Sources/", "Tests/", "migrations/")) and "Mutation/" not in name:
            digest.update(name.encode() + b"\0" + content + b"\0")
        if name in woven:
            content = weave(content.decode(), woven.pop(name)).encode()
        if name == "Package.swift":
            names_of_modules = ", ".join(f'"{module}"' for module in MODULES)
            content += (MANIFEST % names_of_modules).encode()
        write(TREE / name, content)
        (TREE / name).chmod((ROOT / name).stat().st_mode)
    if woven:
        raise Fault(f"no such file: {', '.join(woven)}")
    write(TREE / "Sources/CMutant/include/CMutant.h", HEADER.encode())
    write(TREE / "Sources/CMutant/CMutant.c", (SOURCE % CHOICE).encode())
    kept = set(names) | {"Sources/CMutant/include/CMutant.h", "Sources/CMutant/CMutant.c"}
    for top in ("Sources", "Tests", "migrations"):
        for path in (TREE / top).rglob("*"):
            if path.is_file() and str(path.relative_to(TREE)) not in kept:
                path.unlink()
    return digest.hexdigest()[:16]


def end_session(process):
    """Ends a test run with all programs that it has started."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == process.pid:
                os.kill(int(entry.name), signal.SIGKILL)
        except (OSError, IndexError):
            continue
    process.wait()


class Runner:
    def __init__(self, deadline, flags):
        self.deadline = deadline
        self.flags = flags
        self.results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
        self.killers = read_killers()

    def save(self):
        new = RESULTS.with_suffix(".new")
        new.write_text(json.dumps(self.results, indent=1))
        new.replace(RESULTS)
        KILLERS.write_text("".join(
            f"{number} {name}\n" for number, name in sorted(self.killers.items())))

    def check_time(self, seconds=0):
        if self.deadline is not None and time.monotonic() + seconds > self.deadline:
            raise OutOfTime

    def build(self):
        command = ["swift", "build", "--build-tests", *self.flags]
        print("building", flush=True)
        with open(WORK / "build.log", "w") as log:
            process = subprocess.Popen(
                command, cwd=TREE, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
            left = None if self.deadline is None else self.deadline - time.monotonic()
            try:
                code = process.wait(left)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGINT)
                process.wait()
                raise OutOfTime from None
        if code != 0:
            lines = (WORK / "build.log").read_text().splitlines()
            errors = [line for line in lines if "error:" in line]
            raise Fault("the build failed:\n" + "\n".join(dict.fromkeys(errors or lines[-20:])))

    def test(self, tests, mutant, limit):
        """Runs the tests that match. Returns what failed, or None, and the seconds."""
        binary = next((TREE / ".build/debug").glob("*.xctest"))
        command = [binary, "--testing-library", "swift-testing", "--skip", SKIPPED]
        for one in tests:
            command += ["--filter", one]
        environment = dict(os.environ)
        environment.setdefault("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "8")
        if mutant and not tests:
            CHOICE.write_text(str(mutant))
        else:
            environment["MUTANT"] = str(mutant)
        begun = time.monotonic()
        failure = None
        last = ""
        isOver = threading.Event()
        process = subprocess.Popen(
            command, cwd=TREE, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            start_new_session=True)

        def stop():
            isOver.set()
            end_session(process)

        timer = threading.Timer(limit, stop)
        timer.start()
        try:
            for line in process.stdout:
                line = COLOURS.sub("", line)
                last = line.strip() or last
                if match := FAILURE.match(line):
                    failure = match[1]
                    break
        finally:
            timer.cancel()
            if failure is None and not isOver.is_set():
                code = process.wait()
            else:
                code = 0
            end_session(process)
            CHOICE.unlink(missing_ok=True)
        seconds = time.monotonic() - begun
        if isOver.is_set():
            failure = f"time limit of {limit:.0f} s"
        elif failure is None and code not in (0, NO_TESTS):
            failure = f"crash ({code}): {last[:120]}"
        return failure, seconds

    def baseline(self, tests, tree):
        """The seconds that the tests take without a mutant."""
        key = "|".join(tests)
        known = self.results.setdefault("baselines", {}).get(key)
        if known and known["tree"] == tree:
            return known["seconds"]
        self.check_time(known["seconds"] if known else 0)
        failure, seconds = self.test(tests, 0, 1200)
        if failure:
            failure, seconds = self.test(tests, 0, 1200)
        if failure:
            raise Fault(f"{key or 'all tests'}: {failure} fails without a mutant")
        print(f"{key or 'all tests'}: {seconds:.0f} s without a mutant", flush=True)
        self.results["baselines"][key] = {"seconds": seconds, "tree": tree}
        self.save()
        return seconds

    def run(self, mutants, tree, depth):
        """Runs one group of tests with all mutants that are left, then the next group."""
        for mutant in mutants:
            result = self.result(mutant, tree)
            if mutant.number in self.killers and result["state"] == "left" and not result["passed"]:
                killer = [f"/{re.escape(self.killers[mutant.number])}"]
                self.kill(mutant, result, killer, killer, tree)
                self.save()
        for stage in range(depth):
            for mutant in mutants:
                result = self.result(mutant, tree)
                if result.get("state") == "killed" or result["passed"] > stage:
                    continue
                self.advance(mutant, result, stage, tree)

    def result(self, mutant, tree):
        """What is known of the mutant, without what holds no longer."""
        known = self.results.setdefault("mutants", {}).get(str(mutant.number))
        if not known or known["digest"] != mutant.digest \
                or (known["state"] != "killed" and known["tree"] != tree):
            known = {"digest": mutant.digest, "state": "left", "tree": tree, "passed": 0}
            self.results["mutants"][str(mutant.number)] = known
        return known

    def advance(self, mutant, result, stage, tree):
        tests, whole = self.groups(mutant)[stage]
        if not self.kill(mutant, result, tests, whole, tree):
            result["passed"] = stage + 1
            result["state"] = "survived" if stage + 1 == len(self.groups(mutant)) else "left"
            print(f"{mutant.number}: passes {stage + 1} of 4 groups", flush=True)
        self.save()

    def kill(self, mutant, result, tests, whole, tree):
        """Whether one of `tests`, a part of the group `whole`, notices the mutant."""
        usual = self.baseline(whole, tree)
        self.check_time(usual)
        failure, seconds = self.test(tests, mutant.number, 30 + 4 * usual)
        if failure:
            result.update(state="killed", by=failure, seconds=round(seconds, 1))
            # A crash and a time limit name no test.
            if TEST.fullmatch(failure):
                self.killers[mutant.number] = failure
            print(f"{mutant.number}: killed by {failure} ({seconds:.0f} s)", flush=True)
        return failure is not None

    @staticmethod
    def groups(mutant):
        """Four groups of tests, each with the group whose time is known."""
        own = [f"^{mutant.module}Tests\\."]
        stem = pathlib.Path(mutant.file).stem
        named = [f"^{mutant.module}Tests\\.{re.escape(stem)}Tests/"]
        core = ["^(AuthAPI|AuthCore)Tests\\."]
        return [(named, own), (own, own), (core, core), ([], [])]


def table(mutants, runner, tree):
    """Prints what became of each mutant, and returns whether one survived."""
    counts = {"killed": 0, "survived": 0, "left": 0, "equivalent": 0}
    for mutant in mutants:
        result = runner.result(mutant, tree)
        state = "equivalent" if mutant.equivalent else result["state"]
        counts[state] += 1
        note = result.get("by", "") if state == "killed" else mutant.breaks
        file = mutant.file.removeprefix("Sources/")
        print(f"{mutant.number:4} {state:10} {file:60} {note}"[:180])
    tried = counts["killed"] + counts["survived"]
    share = 100 * counts["killed"] / tried if tried else 0
    print(f"killed {counts['killed']}, survived {counts['survived']} ({share:.1f} % killed), "
          f"not finished {counts['left']}, equivalent {counts['equivalent']}")
    return counts["survived"] > 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="N,N", help="only the mutants with these numbers")
    parser.add_argument("--from", dest="first", type=int, default=0, metavar="N",
                        help="only the mutants from this number on")
    parser.add_argument("--minutes", type=float, metavar="M",
                        help="stop after this time; the next run goes on from there")
    parser.add_argument("--groups", type=int, default=4, choices=range(1, 5), metavar="N",
                        help="only the first N of the four groups of tests")
    parser.add_argument("--check", action="store_true",
                        help="only weave the mutants into the copy, and parse it")
    parser.add_argument("--table", action="store_true", help="only print what is known")
    parser.add_argument("flags", nargs="*", metavar="FLAG", help="for `swift build`")
    options = parser.parse_args()
    deadline = None if options.minutes is None else time.monotonic() + 60 * options.minutes
    try:
        every = read_list(pathlib.Path(__file__).with_name("mutants.txt"))
        numbers = {int(number) for number in options.only.split(",")} if options.only else None
        mutants = [
            mutant for mutant in every
            if mutant.number >= options.first and (numbers is None or mutant.number in numbers)]
        check_places(every)
        WORK.mkdir(parents=True, exist_ok=True)
        tree = copy_tree(every)
        runner = Runner(deadline, options.flags)
        if options.check:
            files = sorted({mutant.file for mutant in every})
            subprocess.run(["swiftc", "-frontend", "-parse", *files], cwd=TREE, check=True)
            print(f"{len(every)} mutants in {len(files)} files")
            return 0
        if not options.table:
            runner.build()
            runner.run([one for one in mutants if not one.equivalent], tree, options.groups)
    except OutOfTime:
        print("out of time: run again to go on")
    except (Fault, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 2
    return 1 if table(mutants, runner, tree) else 0


if __name__ == "__main__":
    sys.exit(main())
