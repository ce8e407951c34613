#!/usr/bin/env python3
"""summarise_tests.py RESULTS_DIR FAILED_STAGES LEFT_OUT: prints the totals of all reports as "N passed, N failed"; exits 1 on failures,
and where nothing passed though no stage was left out.
summarise_tests.py --counts RESULTS_DIR STAGE: prints how many of one stage's tests passed, failed, and were skipped.

Reads GoogleTest's JSON, JUnit XML of ctest (for executables that died before they reported) and pytest, and *.counts.json
({"passed": n, "failed": n}). Where stages failed the number of failures is at least theirs.
"""

import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def gtest_counts(path):
    report = json.loads(path.read_text())
    cases = [case for suite in report["testsuites"] for case in suite["testsuite"]]
    failed = sum("failures" in case for case in cases)
    skipped = sum(case.get("result") == "SKIPPED" for case in cases)
    run = sum(case.get("status") == "RUN" for case in cases)
    return run - failed - skipped, failed, skipped


def pytest_counts(path):
    suite = ElementTree.parse(path).getroot().find("testsuite")
    failed = int(suite.get("failures")) + int(suite.get("errors"))
    skipped = int(suite.get("skipped"))
    return int(suite.get("tests")) - failed - skipped, failed, skipped


def dead_executables(path):
    """Failed ctest entries without a GoogleTest report beside them."""
    reports = path.parent / path.name.removesuffix(".ctest.xml")
    failed = [case.get("name") for case in ElementTree.parse(path).getroot().iter("testcase") if case.find("failure") is not None]
    return 0, sum(not (reports / f"test_{name}.json").exists() for name in failed), 0


READERS = {
    ".pytest.xml": pytest_counts,
    ".ctest.xml": dead_executables,
    ".counts.json": lambda p: (c := json.loads(p.read_text())) and (c["passed"], c["failed"], c.get("skipped", 0)),
}


def counts(path):
    for suffix, reader in READERS.items():
        if path.name.endswith(suffix):
            return reader(path)
    return gtest_counts(path) if path.suffix == ".json" else (0, 0, 0)


def totals(paths):
    """Passed, failed and skipped."""
    each = [counts(path) for path in sorted(paths) if path.is_file()]
    return [sum(column) for column in zip(*each)] if each else [0, 0, 0]


def main():
    if sys.argv[1] == "--counts":
        directory, stage = pathlib.Path(sys.argv[2]), sys.argv[3]
        return print(*totals([*directory.glob(f"{stage}.*"), *(directory / stage).rglob("*")]))
    directory, failed_stages, left_out = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    passed, failed, skipped = totals(directory.rglob("*"))
    failed = max(failed, failed_stages)
    if skipped:
        print(f"{skipped} skipped: this machine lacks what they need, or their time was over")
    if left_out:
        print(f"{left_out} stages left out")
    print(f"{passed} passed, {failed} failed")
    return sys.exit(bool(failed) or not (passed or left_out))


if __name__ == "__main__":
    main()
