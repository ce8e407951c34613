#!/usr/bin/env python3
"""Holds operators with windows, strides and computed sizes over axes of 0, 1 and 2 elements against ONNX Runtime.

edges.py                    2,500 of the nodes, spread over all rows; exits 1 where one differs
edges.py --count 0          all of them
edges.py --op MaxPool       those of one operator

Each node runs without optimisation and with all of it, with the sizes of its inputs known at load and known in the run alone. What differs
is printed in full; rows of edge_known.py say where it is meant.
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

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python/roundhouse"))
import importlib  # noqa: E402

import numpy as np  # noqa: E402
import size_rows  # noqa: E402
import window_rows  # noqa: E402
from backend_cases.compare import Mismatch, compare  # noqa: E402
from backend_cases.workers import Pool  # noqa: E402
from edge_cell import Cell  # noqa: E402
from edge_known import reason  # noqa: E402

LEVELS = ("ORT_DISABLE_ALL", "ORT_ENABLE_ALL")
FAILING = {"differs", "refused", "taken", "crash", "timeout", "levels differ"}


class Numbered:
    def __init__(self, key: int, cell: Cell):
        self.key, self.cell = key, cell


def answer(module, cell: Cell, level: str, fixed: bool):
    """The outputs, or what was said instead."""
    options = module.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = getattr(module.GraphOptimizationLevel, level)
    try:
        session = module.InferenceSession(cell.model(fixed).SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, cell.feeds())
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())}"


def difference(expected, actual) -> str:
    try:
        for i, (e, a) in enumerate(zip(expected, actual, strict=True)):
            integer = isinstance(e, np.ndarray) and e.dtype.kind in "iub"
            compare(e, a, 0 if integer else 1e-4, 0 if integer else 1e-5, f"output {i}")
    except Mismatch as mismatch:
        return str(mismatch)
    return ""


def ours(_, case: Numbered):
    """What each level and each way of knowing sizes gives."""
    import roundhouse

    return "ran", [answer(roundhouse, case.cell, level, fixed) for level in LEVELS for fixed in (False, True)]


def stock(_, case: Numbered):
    return "ran", answer(importlib.import_module("onnxruntime"), case.cell, LEVELS[0], False)


def is_sound(cell: Cell, values) -> bool:
    """Whether a result that has no peer is finite, and empty only where an input, or a size that was asked for, is."""
    arrays = [v for v in values if isinstance(v, np.ndarray)]
    if any(v.dtype.kind == "f" and not np.isfinite(v).all() for v in arrays):
        return False
    nothing = any(x is not None and (x.size == 0 or (x.dtype.kind == "i" and (x <= 0).any())) for x in cell.inputs)
    return nothing or all(v.size for v in arrays)


def verdict(cell: Cell, mine, theirs) -> tuple[str, str]:
    if mine[0] != "ran":
        return mine
    refused = [a for a in mine[1] if isinstance(a, str)]
    if refused and len(refused) < len(mine[1]):
        return "levels differ", refused[0]
    if not refused:
        for other in mine[1][1:]:
            if found := difference(mine[1][0], other):
                return "levels differ", found
    if theirs[0] != "ran":
        return "ONNX Runtime dies", theirs[1]
    if isinstance(theirs[1], str):
        if refused or is_sound(cell, mine[1][0]):
            return "both refuse" if refused else "ONNX Runtime refuses", ""
        return "taken", f"gives {shown(mine[1][0])}; ONNX Runtime: {theirs[1]}"
    if refused:
        return "refused", f"{refused[0]}; ONNX Runtime gives {shown(theirs[1])}"
    found = difference(theirs[1], mine[1][0])
    return ("differs", f"{found}; gives {shown(mine[1][0])}, ONNX Runtime {shown(theirs[1])}") if found else ("agree", "")


def shown(values) -> str:
    return ", ".join(f"{v.dtype}{list(v.shape)}{v.ravel()[:6].tolist()}" if isinstance(v, np.ndarray) else str(v)[:100] for v in values)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2500, help="0: all")
    parser.add_argument("--op")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--counts", help="JSON file to write {passed, failed} to")
    parser.add_argument("--known", action="store_true", help="also print what is known")
    arguments = parser.parse_args()
    begin = time.monotonic()
    cells = [cell for row in [*window_rows.ROWS, *size_rows.ROWS] for cell in row() if arguments.op in (None, cell.op)]
    step = len(cells) / arguments.count if 0 < arguments.count < len(cells) else 1
    chosen = [Numbered(key, cells[key]) for key in sorted({int(i * step) for i in range(int(len(cells) / step))})]
    runs = [Pool(chosen, lambda: None, arguments.jobs, 60, run).run() for run in (ours, stock)]
    counts = collections.Counter()
    for case in chosen:
        status, message = verdict(case.cell, runs[0][case.key], runs[1][case.key])
        why = reason(case.cell, status, message) if status in FAILING else None
        if status in FAILING and (not why or arguments.known):
            print(f"{case.key} {status}{f' (known: {why})' if why else ''}: {case.cell.text()}\n    {message[:600]}")
        counts[f"known: {why}" if why else status] += 1
    for status, count in counts.most_common():
        print(f"{count:7d} {status}")
    failed = sum(counts[status] for status in FAILING)
    if arguments.counts:
        pathlib.Path(arguments.counts).write_text(json.dumps({"passed": len(chosen) - failed, "failed": failed}))
    print(f"{len(chosen)} of {len(cells)} nodes, {failed} differ, {time.monotonic() - begin:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
