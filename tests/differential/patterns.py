#!/usr/bin/env python3
"""Holds all optimisation passes against none on random variations of the forms that they look for, family by family.

patterns.py [--count 3000] [--seed 1] [--family attention] [--stock]    exits 1 where a result changes; prints the graph cut down
patterns.py --only 4711 [--family attention]                            one graph again

--stock also holds results against ONNX Runtime, without optimisation: what it refuses or gives otherwise is listed, and not counted.
"""

import argparse
import collections
import functools
import json
import os
import pathlib
import re
import sys
import time

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "python/roundhouse"))
import onnx  # noqa: E402
from attention_patterns import ATTENTION  # noqa: E402
from backend_cases.workers import Pool  # noqa: E402
from element_patterns import ELEMENTS  # noqa: E402
from image_patterns import IMAGES  # noqa: E402
from normalization_patterns import NORMALIZATIONS  # noqa: E402
from pattern import Pattern  # noqa: E402
from pattern_judge import Refused, culprits, difference, minimised, stock_difference  # noqa: E402
from product_patterns import PRODUCTS  # noqa: E402
from view_patterns import VIEWS  # noqa: E402

FAMILIES = {**ATTENTION, **NORMALIZATIONS, **ELEMENTS, **IMAGES, **PRODUCTS, **VIEWS}
NO_FAULT = ("agree", "idle", "stock")  # idle: the graph cannot be run, with passes or without


class Case:
    def __init__(self, key: int, family: str | None):
        self.key = key
        self.family = family or list(FAMILIES)[key % len(FAMILIES)]

    def make(self) -> Pattern:
        return Pattern(self.family, FAMILIES[self.family], self.key)


def text_of(pattern: Pattern) -> str:
    text = re.sub(r"\{[^{}<>=()]{80,}\}", "{...}", onnx.printer.to_text(pattern.model()))
    names = [x.name for x in pattern.model().graph.input]
    feeds = [", ".join(f"{name} {list(feeds[name].shape)}" for name in names) for feeds in pattern.feeds]
    return f"{text}\n   run with {'; '.join(dict.fromkeys(feeds))}"


def check(stock: bool, _, case: Case) -> tuple[str, str]:
    try:
        pattern = case.make()
        found = difference(pattern)
        if found:
            small, message = minimised(pattern, found)
            return "changed", f"{message} [{', '.join(culprits(small)) or 'more than one pass'}]\n{text_of(small)}"
        other = stock_difference(pattern) if stock else None
        return ("stock", f"{other}\n{text_of(pattern)}") if other else ("agree", "")
    except Refused as refusal:
        return "idle", str(refusal)
    except Exception as error:
        return "error", f"{type(error).__name__}: {error}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--family", choices=list(FAMILIES))
    parser.add_argument("--only", type=int)
    parser.add_argument("--stock", action="store_true")
    parser.add_argument("--idle", action="store_true", help="list what cannot be run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--counts", help="JSON file to write {passed, failed} to")
    arguments = parser.parse_args()
    first = arguments.seed * 1_000_000
    keys = range(first, first + arguments.count) if arguments.only is None else [arguments.only]
    cases = [Case(key, arguments.family) for key in keys]
    begin = time.monotonic()
    verdicts = Pool(cases, lambda: None, arguments.jobs, 120, functools.partial(check, arguments.stock)).run()
    failed = [key for key, (status, _) in verdicts.items() if status not in NO_FAULT]
    if arguments.counts:
        pathlib.Path(arguments.counts).write_text(json.dumps({"passed": len(verdicts) - len(failed), "failed": len(failed)}))
    for case in cases:
        status, message = verdicts[case.key]
        if status != "agree" and (status != "idle" or arguments.idle):
            print(f"-- {case.key} {case.family} {status}: {message}")
    families = collections.Counter(case.family for case in cases if case.key in failed)
    idle = sum(status == "idle" for status, _ in verdicts.values())
    count = len({case.family for case in cases})
    print(f"{len(verdicts)} graphs of {count} families, {idle} that cannot be run, {len(failed)} changed, {time.monotonic() - begin:.0f} s")
    if failed:
        print(", ".join(f"{name} {count}" for name, count in families.most_common()))
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
