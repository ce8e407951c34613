#!/usr/bin/env python3
"""Runs the official ONNX cases with a vendor's provider before the CPU, each in a child process.

A case is *run* where the provider has nodes of it and the outputs are right, *left* where it has none (what it refuses is the CPU's, and
right), *wrong* where the outputs are not right with it and are without it, *neither* where they are not right without it.
Cases of the provider's list of skips are run as well: one that passes is an error.

cases.py --provider NAME [--host onnxruntime] [--filter REGEX] [--verbose]
"""

import argparse
import collections
import os
import sys
import time

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

from vendor_runtime import CPU, HOSTS, PROVIDERS, VendorRuntime, owners, refusals, skips_of, write_counts  # noqa: E402, I001
from backend_cases.cases import collect, to_value  # noqa: E402
from backend_cases.compare import Mismatch, compare  # noqa: E402
from backend_cases.workers import Pool  # noqa: E402


def check_outputs(runtime, session, case):
    for inputs, expected in case.data():
        feeds = dict(zip(case.input_names(len(inputs)), map(to_value, inputs)))
        actual = list(runtime.run(session, case.model, feeds))
        if len(actual) != len(expected):
            raise Mismatch(f"{len(actual)} outputs, expected {len(expected)}")
        for i, (e, a) in enumerate(zip(map(to_value, expected), actual)):
            compare(e, a, case.rtol, case.atol, f"output {i}")


def first_line(error):
    return f"{type(error).__name__}: {next((line.strip() for line in str(error).splitlines() if line.strip()), '')}"[:300]


def verdict(runtime, case):
    try:
        session = runtime.load(case.model)
        count = owners(session)[runtime.provider]
        check_outputs(runtime, session, case)
    except Exception as error:
        try:
            check_outputs(runtime, runtime.cpu_session(case.model.SerializeToString()), case)
        except Exception as alone:
            return "neither", first_line(alone)
        return "wrong", first_line(error)
    if count:
        return "run", ""
    return "left", "; ".join(sorted({f"{op}: {reason}" for op, reason in refusals(session, runtime.provider)}))[:400]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--provider", required=True, choices=PROVIDERS)
    parser.add_argument("--host", default="roundhouse", choices=HOSTS)
    parser.add_argument("--library", help="of the provider, where it is not the build's")
    parser.add_argument("--filter", help="regular expression over kind/name")
    parser.add_argument("--least", type=int, default=0, help="how many cases have to be run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=int, default=60, help="that a case may take")
    parser.add_argument("--counts")
    parser.add_argument("--verbose", "-v", action="store_true")
    args = parser.parse_args()
    started = time.monotonic()
    skips = skips_of(args.provider, "cases", args.host)
    cases = collect(args.filter)
    made = lambda: VendorRuntime(args.host, args.provider, path=args.library)  # noqa: E731
    results = Pool(cases, made, args.jobs, args.seconds, run=verdict).run()
    tally, bad = collections.Counter(), 0
    for key, (status, message) in results.items():
        good = status in ("run", "left", "neither")
        if key in skips:
            tally["skipped"] += 1
            if good:
                print(f"PASSES though it is skipped: {key} [{status}]")
                bad += 1
            continue
        tally[status] += 1
        bad += not good
        if not good or args.verbose:
            print(f"{status:8}{key}  {message}")
    reasons = collections.Counter(m for s, m in results.values() if s == "left")
    if args.verbose:
        for reason, count in reasons.most_common(60):
            print(f"{count:5} left: {reason}")
    if tally["run"] < args.least:
        print(f"{tally['run']} cases are run, expected {args.least}")
        bad += 1
    print(f"{args.provider} in {args.host}, before {CPU}: {dict(tally)} of {len(results)} cases in {time.monotonic() - started:.0f} s")
    write_counts(args.counts, tally["run"] + tally["left"], bad)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
