#!/usr/bin/env python3
"""summarise_tests.py RESULTS_DIR FAILED_STAGES: prints the totals of all test reports as "N passed, N failed" and exits 1 on failures.

Reads GoogleTest's JSON, JUnit XML of ctest (for executables that died before they reported) and pytest, and *.counts.json
({"passed": n, "failed": n}). A failed stage whose reports show no failure counts as one.
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
    return run - failed - skipped, failed


def pytest_counts(path):
    suite = ElementTree.parse(path).getroot().find("testsuite")
    failed = int(suite.get("failures")) + int(suite.get("errors"))
    return int(suite.get("tests")) - failed - int(suite.get("skipped")), failed


def dead_executables(path):
    """Failed ctest entries without a GoogleTest report beside them."""
    reports = path.parent / path.name.removesuffix(".ctest.xml")
    failed = [case.get("name") for case in ElementTree.parse(path).getroot().iter("testcase") if case.find("failure") is not None]
    return 0, sum(not (reports / f"test_{name}.json").exists() for name in failed)


READERS = {
    ".pytest.xml": pytest_counts,
    ".ctest.xml": dead_executables,
    ".counts.json": lambda p: (c := json.loads(p.read_text())) and (c["passed"], c["failed"]),
}


def counts(path):
    for suffix, reader in READERS.items():
        if path.name.endswith(suffix):
            return reader(path)
    return gtest_counts(path) if path.suffix == ".json" else (0, 0)


def main():
    directory, failed_stages = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    totals = [counts(path) for path in sorted(directory.rglob("*")) if path.is_file()]
    passed, failed = (sum(column) for column in zip(*totals)) if totals else (0, 0)
    failed = max(failed, failed_stages)
    print(f"{passed} passed, {failed} failed")
    sys.exit(bool(failed) or not passed)


if __name__ == "__main__":
    main()
