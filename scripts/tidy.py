#!/usr/bin/env python3
"""Runs clang-tidy, with the checks of .clang-tidy, on C++ sources that the last day changed (renames left out), or on the files named.

  tidy.py [--seconds N] [--counts FILE] [SOURCE...]

build/dev must be configured: its compile_commands.json has each source by itself. Sources that N seconds do not suffice for are named.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLANG_TIDY = "clang-tidy-16"
COMMANDS = ROOT / "build" / "tidy"
OF_GCC_ALONE = ["-fno-gnu-unique"]


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=True).stdout.split("\n")


def changed():
    """Sources that are changed and not committed, then those of the last day's commits, newest first."""
    newest = git("log", "-1", "--format=%ct")[0]
    committed = git("log", f"--since={int(newest) - 86400}", "--format=", "--name-only", "-M", "--diff-filter=AM", "--", "*.cc")
    uncommitted = git("diff", "HEAD", "--name-only", "-M", "--diff-filter=AM", "--", "*.cc")
    uncommitted += git("ls-files", "--others", "--exclude-standard", "--", "*.cc")
    return [name for name in dict.fromkeys([*uncommitted, *committed]) if name and (ROOT / name).exists()]


def check(name, until):
    left = until - time.monotonic()
    if left <= 0:
        return name, None
    try:
        run = subprocess.run([CLANG_TIDY, "-p", COMMANDS, "--quiet", "--extra-arg=-Wno-unknown-warning-option", ROOT / name],
                             capture_output=True, text=True, timeout=left, cwd=ROOT)  # fmt: skip
    except subprocess.TimeoutExpired:
        return name, None
    ours = re.compile(rf"{re.escape(str(ROOT))}/(?!build/).*: (warning|error): ")  # not headers of packages in build/
    faults = sorted({line for line in run.stdout.split("\n") if ours.match(line)})
    if run.returncode and not faults:
        faults = [f"{name}: clang-tidy ends with {run.returncode}: {(run.stdout + run.stderr).strip()[-300:]}"]
    return name, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=86400)
    parser.add_argument("--counts", type=pathlib.Path)
    parser.add_argument("sources", nargs="*")
    args = parser.parse_args()
    commands = json.loads((ROOT / "build/dev/compile_commands.json").read_text())
    for row in commands:
        row["command"] = " ".join(word for word in row["command"].split(" ") if word not in OF_GCC_ALONE)
    COMMANDS.mkdir(exist_ok=True)
    (COMMANDS / "compile_commands.json").write_text(json.dumps(commands))
    known = {os.path.relpath(row["file"], ROOT) for row in commands}
    names = [name for name in args.sources or changed() if name in known]
    until = time.monotonic() + args.seconds
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda name: check(name, until), names))
    for line in sorted({line for _, lines in found for line in lines or []}):
        print(line.replace(f"{ROOT}/", ""))
    unseen = [name for name, lines in found if lines is None]
    faulty = sum(bool(lines) for _, lines in found)
    print(f"{len(found) - len(unseen)} of {len(names)} sources seen, {faulty} with faults")
    if unseen:
        print(f"not seen in {args.seconds:.0f} s: {' '.join(unseen)}")
    if args.counts:
        args.counts.write_text(json.dumps({"passed": len(found) - len(unseen) - faulty, "failed": faulty, "skipped": len(unseen)}))
    sys.exit(bool(faulty))


if __name__ == "__main__":
    main()
