#!/usr/bin/env python3
"""Generates operators and small graphs, and runs each on Roundhouse, ONNX's reference evaluator and ONNX Runtime.

run.py [--count 1000] [--seed 1]    counts by verdict; exits 1 where Roundhouse disagrees and says on what
run.py --only 4711                  one case again: its text, and every answer
run.py --op Resize                  only cases of an operator
run.py --small                      dimensions of 0, 1 and 2 elements alone, but for those that an operator fixes

The generated models are valid by ONNX's checker. Where the reference and ONNX Runtime differ, the reference is right unless known.py
says why not.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import resource
import sys
import time

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python/roundhouse"))
import recipe  # noqa: E402
import variants  # noqa: E402
from backend_cases.cases import collect  # noqa: E402
from backend_cases.workers import Pool  # noqa: E402
from contrib_recipes import CONTRIB_RECIPES  # noqa: E402
from judge import (  # noqa: E402
    FAILING,
    UNSETTLED,
    Answer,
    against_reference,
    against_stock,
    difference,
    our_runtime,
    settled,
    stock_runtime,
    survives,
)
from known import reason  # noqa: E402
from minimise import minimise  # noqa: E402
from ml_recipes import ML_RECIPES  # noqa: E402
from recipe import Recipe  # noqa: E402
from recipes import RECIPES as STANDARD_RECIPES  # noqa: E402
from variants import Variant, as_text, suits  # noqa: E402

ADDRESS_SPACE = 6 << 30  # a result too large for it is refused, not waited for
BASES, RECIPES = [], [*STANDARD_RECIPES, *CONTRIB_RECIPES, *ML_RECIPES]


class Numbered:
    """What the pool is given: a case made in the child, from its number."""

    def __init__(self, key: int):
        self.key = key

    def make(self):
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        chance = random.Random(self.key)
        if BASES and (chance.random() < 0.5 or not RECIPES):
            return Variant(chance.choice(BASES), self.key)
        return Recipe(chance.choice(RECIPES), self.key)


def explain(key: int) -> None:
    case = Numbered(key).make()
    print(", ".join(case.changes), as_text(case), sep="\n")
    answers = {"Roundhouse": Answer.of(our_runtime(), case), "reference": Answer.of_reference(case)}
    answers["ONNX Runtime"] = Answer.of(stock_runtime(), case)
    for name, answer in answers.items():
        print(f"-- {name}: {answer.refusal or answer.values}")
    ours, theirs = answers["Roundhouse"], answers["ONNX Runtime"]
    if not ours.refusal and not theirs.refusal:
        answers["ONNX Runtime"] = settled(ours, theirs, case)
    for name in ("reference", "ONNX Runtime"):
        if not ours.refusal and not answers[name].refusal:
            print(f"against {name}: {difference(answers[name], ours, case) or 'agrees'}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--op")
    parser.add_argument("--only", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--counts", help="JSON file to write {passed, failed} to")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--verbose", "-v", action="store_true", help="also print where a peer stands alone")
    arguments = parser.parse_args()
    if arguments.small:
        recipe.SIZES[:] = variants.SIZES[:] = [0, 0, 1, 2]
    BASES.extend(c for c in collect("^node/") if suits(c) and (not arguments.op or c.model.graph.node[0].op_type == arguments.op))
    if arguments.op:
        RECIPES[:] = [r for r in RECIPES if r.op == arguments.op]
        if not BASES and not RECIPES:
            parser.error(f"--op {arguments.op}: no official case and no recipe has it")
    if arguments.only is not None:
        explain(arguments.only)
        return 0
    begin = time.monotonic()
    keys = range(arguments.seed * 1_000_000, arguments.seed * 1_000_000 + arguments.count)
    pool = lambda keys, run, seconds=30: Pool([Numbered(k) for k in keys], our_runtime, arguments.jobs, seconds, run).run()  # noqa: E731
    verdicts = pool(keys, against_reference)
    verdicts |= pool([k for k, (status, _) in verdicts.items() if status in ("crash", "timeout")], survives)
    second = pool([k for k, (status, _) in verdicts.items() if status in UNSETTLED], against_stock)
    # Roundhouse came through the first round: a process that dies in the second one is ONNX Runtime's.
    died = {key: ("ONNX Runtime dies", message) for key, (status, message) in second.items() if status in ("crash", "timeout")}
    verdicts |= second | died
    counts, failing = collections.Counter(), []
    for key, (status, message) in sorted(verdicts.items()):
        told = status in FAILING or (arguments.verbose and status == "as ONNX Runtime")
        case = Numbered(key).make() if told else None
        if case and (why := reason(case)):
            status = f"known: {why}"
        elif case:
            print(f"{key} {case.op} {status}: {message}\n    {', '.join(case.changes)}")
        counts[status] += 1
        if status in ("disagreement", "refused"):
            failing.append(key)
    for key, (status, text) in sorted(pool(failing, minimise, 300).items()):
        print(f"-- {key} {status}: {text}")
    for status, count in counts.most_common():
        print(f"{count:7d} {status}")
    failed = sum(counts[status] for status in FAILING)
    if arguments.counts:
        pathlib.Path(arguments.counts).write_text(json.dumps({"passed": counts["agree"] + counts["as ONNX Runtime"], "failed": failed}))
    print(f"{arguments.count} cases, {failed} disagreements, {time.monotonic() - begin:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
