#!/usr/bin/env python3
"""Every setting of the interface: what it changes in Roundhouse, and in the ONNX Runtime that is installed.

sweep.py               a line a setting; exits 1 where ONNX Runtime shows an effect and Roundhouse none, or docs/options.md is wrong
sweep.py --full        all that each of them changes
sweep.py --only TEXT   settings whose name has this in it
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import catalogue

HERE = pathlib.Path(__file__).resolve().parent
KINDS = {
    "session key": catalogue.SESSION_KEYS,
    "session field": catalogue.SESSION_FIELDS,
    "run key": catalogue.RUN_KEYS,
    "run field": catalogue.RUN_FIELDS,
    "environment": catalogue.ENVIRONMENT,
}


class Runtime:
    """A process that tells what it sees under settings."""

    def __init__(self, package):
        self.package = package
        self.usual = {}
        self.start()

    def start(self):
        command = [sys.executable, "-W", "ignore", str(HERE / "observe.py"), self.package]
        path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(HERE)])
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
        )

    def ask(self, settings):
        self.process.stdin.write(json.dumps(settings) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("ANSWER "):
                return json.loads(line.removeprefix("ANSWER "))
        self.start()
        return {"the process": '"ended"'}

    def usual_with(self, companions):
        """What is seen each time of three, and all that is seen at any."""
        if companions not in self.usual:
            seen = [self.ask(companions) for _ in range(3)]
            settled = {path: value for path, value in seen[0].items() if all(s.get(path) == value for s in seen)}
            self.usual[companions] = settled, set().union(*seen)
        return self.usual[companions]

    def changes(self, setting) -> dict[str, tuple[str, str]]:
        """What is other than without it, each time of two."""
        companions = catalogue.COMPANIONS.get(setting[:2], catalogue.COMPANIONS.get(setting[1], ()))
        usual, at_all = self.usual_with(companions)
        found = None
        for _ in range(2):
            seen = self.ask([*companions, setting])
            other = {path: (usual[path], seen.get(path, "gone")) for path in usual if seen.get(path) != usual[path]}
            other |= {path: ("nothing", value) for path, value in seen.items() if path not in at_all}
            found = other if found is None else {path: pair for path, pair in found.items() if other.get(path) == pair}
            if not found:
                break
        return found


PAGE = (HERE.parents[1] / "docs/options.md").read_text()
WITHOUT_EFFECT = PAGE.partition("## What has no effect on the CPU")[2].partition("\n## ")[0]


def verdict(kind, name, here, there) -> str:
    """What is wrong with a setting that changed so much in Roundhouse and in ONNX Runtime; nothing where all is well."""
    row = f"`{name}`" in WITHOUT_EFFECT
    if f"`{name}`" not in PAGE and not kind.endswith("field"):
        return "docs/options.md DOES NOT NAME IT"
    if here:
        return "HAS AN EFFECT, but docs/options.md says that it has none" if row else ""
    if name in catalogue.ELSEWHERE:
        return "" if name in (HERE.parents[1] / catalogue.ELSEWHERE[name]).read_text() else f"NOT FOUND in {catalogue.ELSEWHERE[name]}"
    if there and name not in catalogue.OTHERWISE:
        return "WITHOUT EFFECT, in ONNX Runtime it has one"
    return "" if row else "WITHOUT EFFECT, and docs/options.md has no row"


def look_at(kind, name, values, ours, theirs, wants_both=False):
    """What any of the values changes in both; in ONNX Runtime only where that decides."""
    here, there = {}, {}
    for value in values:
        here |= ours.changes((kind, name, value))
    if wants_both or not (here or name in catalogue.ELSEWHERE or name in catalogue.OTHERWISE):
        for value in values:
            there |= theirs.changes((kind, name, value))
    return here, there, verdict(kind, name, here, there)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--full", action="store_true", help="print all that each setting changes in both")
    arguments = parser.parse_args()
    ours, theirs = Runtime("roundhouse"), Runtime("onnxruntime")
    bad = 0
    for kind, names in KINDS.items():
        for name, values in names.items():
            if arguments.only not in name:
                continue
            here, there, problem = look_at(kind, name, values, ours, theirs, arguments.full)
            bad += bool(problem)
            print(f"{kind} {name}: {len(here)} changes {problem}", flush=True)
            for package, changed in (("here", here), ("there", there)):
                for path, (before, after) in list(changed.items())[: None if arguments.full else 3] if problem or arguments.full else ():
                    print(f"    {package} {path}: {before[:150]} -> {after[:150]}")
    print(f"{bad} settings do less than they should")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
