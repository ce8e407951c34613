#!/usr/bin/env python3
"""Runs the official ONNX backend suite on a module with onnxruntime's API and holds it to passing.txt.

run.py [--module roundhouse]     all cases; exits 1 where a case of the list does not pass
run.py --listed                  only the cases of the list
run.py --update                  adds the cases that pass and are not yet listed; takes none away
run.py --filter REGEX --verbose  some cases, and why they fail
"""

import argparse
import collections
import json
import os
import pathlib
import sys
import time

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python/roundhouse"))  # not the package: other runtimes run alone
from backend_cases.cases import collect  # noqa: E402
from backend_cases.runtime import Runtime  # noqa: E402
from backend_cases.workers import Pool  # noqa: E402

PASSING = pathlib.Path(__file__).with_name("passing.txt")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", default="roundhouse")
    parser.add_argument("--filter", help="regular expression over kind/name, such as ^node/test_conv")
    parser.add_argument("--op", help="only cases whose model contains this operator")
    parser.add_argument("--listed", action="store_true", help="only the cases of passing.txt")
    parser.add_argument("--update", action="store_true", help="add newly passing cases to passing.txt")
    parser.add_argument("--verbose", "-v", action="store_true", help="print each case that does not pass")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--threads", type=int, default=1, help="of the runtime")
    parser.add_argument("--timeout", type=float, default=60, help="seconds a case")
    parser.add_argument("--counts", help="JSON file to write {passed, failed} of the listed cases to")
    parser.add_argument("--results", help="JSON file to write every verdict to")
    return parser.parse_args()


def check_against_list(results, listed, update):
    """Prints regressions and news; returns the number of regressions."""
    passing = {key for key, (status, _) in results.items() if status == "pass"}
    regressions = sorted(key for key in listed & results.keys() if key not in passing)
    for key in regressions:
        print(f"REGRESSION {key} [{results[key][0]}] {results[key][1]}")
    news = sorted(passing - listed)
    if news and update:
        PASSING.write_text("".join(f"{key}\n" for key in sorted(listed | passing)))
        print(f"{len(news)} cases added to {PASSING.name}")
    elif news:
        print(f"{len(news)} cases pass that {PASSING.name} does not list (--update adds them), such as {', '.join(news[:5])}")
    return len(regressions)


def main():
    args = arguments()
    listed = set(PASSING.read_text().split()) if PASSING.exists() else set()
    started = time.monotonic()
    cases = [c for c in collect(args.filter) if (not args.op or args.op in c.ops) and (not args.listed or c.key in listed)]
    whole_suite = not (args.filter or args.op)
    unknown = sorted(listed - {c.key for c in cases}) if whole_suite else []
    for key in unknown:
        print(f"REGRESSION {key} [missing] the suite has no such case")

    results = Pool(cases, lambda: Runtime(args.module, args.threads), args.jobs, args.timeout).run()
    if args.verbose:
        for key, (status, message) in results.items():
            if status != "pass":
                print(f"{status:8s} {key}  {message}")
    regressions = len(unknown) + check_against_list(results, listed, args.update)
    statuses = collections.Counter(status for status, _ in results.values())
    summary = ", ".join(f"{status} {count}" for status, count in statuses.most_common())
    print(f"{args.module}: {len(results)} cases in {time.monotonic() - started:.0f} s: {summary}; {regressions} regressions")
    if args.counts:
        pathlib.Path(args.counts).write_text(json.dumps({"passed": statuses["pass"], "failed": regressions}))
    if args.results:
        pathlib.Path(args.results).write_text(json.dumps(results, indent=0))
    sys.exit(bool(regressions))


if __name__ == "__main__":
    main()
