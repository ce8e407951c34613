#!/usr/bin/env python3
"""The stages of scripts/test, as scripts/stages.toml lists them.

stages.py list                                  each stage: near, far, or quick (which `quick` alone runs); the seconds it took last, what
                                                it needs, whether it is due
stages.py choose WORD...                        the stages that the words name, in their order (near, far, due, all, quick, or names)
stages.py field STAGE FIELD                     a field of a stage, as words on a line
stages.py hash STAGE                            of what a far stage depends on
stages.py passed STAGE HASH SECONDS PASSED SKIPPED
                                                writes tests/stands/passed/STAGE.json: the hash of before the run, date, totals; nothing
                                                where what the stage depends on has changed since
stages.py failed STAGE                          notes the date in that file, where there is one: the stage is due
stages.py overdue STAGE...                      of the far stages that are due and not among these: which, since when; exit code 3 where
                                                one has been due for 14 days and a commit of the last day changes its own files
"""

import datetime
import functools
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PASSED = ROOT / "tests" / "stands" / "passed"
SECONDS = ROOT / "build" / "stage-seconds.json"
QUICK = ["build", "tidy", "cpp", "python", "docs"]
# Of a stage that has not passed yet: where time is limited it is run by name first.
UNKNOWN_SECONDS = 1_000_000
DUE_AFTER_DAYS, OVERDUE_AFTER_DAYS = 7, 14


@functools.cache
def stages():
    listed = tomllib.loads((ROOT / "scripts" / "stages.toml").read_text())
    return {name: {"kind": kind, **row} for kind in ("near", "far") for name, row in listed[kind].items()}


def of_kind(kind):
    return [name for name, row in stages().items() if row["kind"] == kind and not row.get("only_quick")]


def git(*arguments):
    run = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else ""


def pathspecs(paths):
    return [f":(glob){path}" if "*" in path else path for path in paths]


def hash_of(name):
    """Of the names and contents of all that the stage depends on, as they lie in the working tree."""
    paths = stages()[name]["own"] + stages()[name].get("depends", [])
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *pathspecs(paths))
    digest = hashlib.sha256()
    for file in sorted(set(listed.split("\0")) - {""}):
        if (path := ROOT / file).is_file():
            digest.update(f"{file}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()[:32]


@functools.cache
def record(name):
    path = PASSED / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


@functools.cache
def why_due(name):
    """Why the far stage is due, or an empty text."""
    last = record(name)
    if not last:
        return "it has not passed yet"
    if last["hash"] != hash_of(name):
        return "what it depends on has changed"
    if "failed" in last:
        return f"it failed on {last['failed']}"
    days = (datetime.date.today() - datetime.date.fromisoformat(last["date"])).days
    return f"it passed {days} days ago" if stages()[name].get("weekly") and days >= DUE_AFTER_DAYS else ""


@functools.cache
def is_shallow():
    """Whether the history that is here does not tell what the last commits changed."""
    return git("rev-parse", "--is-shallow-repository").strip() != "false"


def due_days(name):
    """For how many days a stage that is due has been so, as far as the history that is here tells."""
    last, row = record(name), stages()[name]
    today = datetime.date.today()
    days = 0  # the longest of the reasons
    if last and row.get("weekly"):
        days = (today - datetime.date.fromisoformat(last["date"])).days - DUE_AFTER_DAYS
    if "failed" in last:
        days = max(days, (today - datetime.date.fromisoformat(last["failed"])).days)
    if is_shallow() or (last and last["hash"] == hash_of(name)):
        return max(days, 0)
    recorded = git("log", "-1", "--format=%H", "--", str(PASSED / f"{name}.json")).strip()
    newer = [f"{recorded}.."] if last and recorded else []
    paths = pathspecs(row["own"] + row.get("depends", []))
    dates = (
        git("log", "--format=%cs", *newer, "--", *paths).split() or git("log", "--format=%cs", *newer, "--", "scripts/stages.toml").split()
    )
    added = git("log", "--format=%cs", f"-S[far.{name}]", "--", "scripts/stages.toml").split()
    since = max(min(dates, default=str(today)), min(added, default=""), last.get("date", ""))
    return max((today - datetime.date.fromisoformat(since)).days, days, 0)


@functools.cache
def new_files():
    """Files that the commits of the last day before the newest one change."""
    newest = "" if is_shallow() else git("log", "-1", "--format=%ct").strip()
    return set(git("log", f"--since={int(newest) - 86400}", "--format=", "--name-only").split("\n")) - {""} if newest else set()


def touches_own(name):
    paths = stages()[name]["own"]
    matched = set(git("ls-files", "--", *pathspecs(paths)).split("\n"))
    return bool(matched & new_files()) or any(file.startswith(path + "/") for path in paths for file in new_files())


def due():
    """Those that are due: first those whose own files the newest commits touch, then the others, in rotation by the number of commits."""
    names = [name for name in of_kind("far") if why_due(name)]
    first = [name for name in names if touches_own(name)]
    others = [name for name in names if name not in first]
    if others:
        turn = int(git("rev-list", "--count", "HEAD") or 0) % len(others)
        others = others[turn:] + others[:turn]
    return first + others


def choose(words):
    groups = {"near": of_kind("near"), "far": of_kind("far"), "all": list(stages()), "quick": QUICK}
    chosen = []
    for word in words or ["near"]:
        if word not in groups and word not in stages() and word != "due":
            sys.exit(f"error: no stage '{word}'; expected near, far, due, all, quick or one of: {' '.join(stages())}")
        chosen += due() if word == "due" else groups.get(word, [word])
    return list(dict.fromkeys(chosen))


def last_seconds(name):
    if SECONDS.exists() and name in (seconds := json.loads(SECONDS.read_text())):
        return seconds[name]
    return record(name).get("seconds")


def show_list():
    print(f"{'stage':<20}{'kind':<6}{'last':>7}  needs; state")
    for name, row in stages().items():
        seconds = last_seconds(name)
        needs = "; ".join(filter(None, [row.get("needs", ""), " ".join(row.get("packages", []))]))
        state = "" if row["kind"] == "near" else f"due: {why_due(name)}" if why_due(name) else f"passed {record(name)['date']}"
        took = f"{seconds} s" if seconds is not None else "-"
        kind = "quick" if row.get("only_quick") else row["kind"]
        print(f"{name:<20}{kind:<6}{took:>7}  {'; '.join(filter(None, [needs, state]))}".rstrip())


def note_seconds(name, seconds):
    all_seconds = json.loads(SECONDS.read_text()) if SECONDS.exists() else {}
    all_seconds[name] = seconds
    SECONDS.parent.mkdir(exist_ok=True)
    SECONDS.write_text(json.dumps(all_seconds, indent=1) + "\n")


def write_passed(name, before, seconds, passed, skipped):
    if stages()[name]["kind"] != "far":
        return
    if hash_of(name) != before:
        return print(f"{name}: what it depends on has changed while it ran: it is not recorded as passed")
    PASSED.mkdir(parents=True, exist_ok=True)
    facts = {"hash": before, "date": str(datetime.date.today()), "seconds": seconds, "passed": passed, "skipped": skipped}
    (PASSED / f"{name}.json").write_text(json.dumps(facts, indent=1) + "\n")


def write_failed(name):
    """A record of before no longer says that it passes. One without a record stays without."""
    path = PASSED / f"{name}.json"
    if path.exists():
        facts = json.loads(path.read_text()) | {"failed": str(datetime.date.today())}
        path.write_text(json.dumps(facts, indent=1) + "\n")


def show_overdue(run):
    failed = False
    for name in of_kind("far"):
        if name in run or not why_due(name):
            continue
        days = due_days(name)
        line = f"due, not run: {name} ({why_due(name)})"
        if days >= OVERDUE_AFTER_DAYS:
            own = touches_own(name)
            failed = failed or own
            line = f"{'ERROR' if own else 'WARNING'}: due for {days} days, not run: {name} ({why_due(name)})"
        print(line)
    return 3 if failed else 0


def main(command="list", *arguments):
    if command == "list":
        show_list()
    elif command == "choose":
        print(*choose(arguments), sep="\n", end="\n" if choose(arguments) else "")
    elif command == "field":
        value = stages()[arguments[0]].get(arguments[1], "")
        print(" ".join(value) if isinstance(value, list) else value)
    elif command == "estimate":
        seconds = last_seconds(arguments[0])
        print(UNKNOWN_SECONDS if seconds is None else seconds)
    elif command == "seconds":
        note_seconds(arguments[0], int(arguments[1]))
    elif command == "hash":
        print(hash_of(arguments[0]) if stages()[arguments[0]]["kind"] == "far" else "-")
    elif command == "passed":
        write_passed(arguments[0], arguments[1], *map(int, arguments[2:]))
    elif command == "failed":
        write_failed(arguments[0])
    elif command == "overdue":
        return show_overdue(arguments)
    else:
        sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except BrokenPipeError:
        os._exit(1)
