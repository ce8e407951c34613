#!/usr/bin/env python3
"""Changes fields of model files, and holds what is taken, and what it gives, against ONNX Runtime.

files.py [--models 200] [--seed 1]     exits 1 where a file that ONNX Runtime takes is refused, or gives something else
files.py --change own_initializer_twice
files.py --taken                       also prints what ONNX Runtime refuses

Models are official node cases, operators of com.microsoft and random graphs with weights; file_changes.py, node_changes.py,
attribute_changes.py and tensor_changes.py have the changes. What differs on purpose is a row of file_known.py.
"""

import argparse
import collections
import importlib
import json
import os
import pathlib
import random
import sys
import time

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python/roundhouse"))
# Those that end in _changes add theirs to the list.
import attribute_changes  # noqa: E402, F401
import node_changes  # noqa: E402, F401
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import tensor_changes  # noqa: E402, F401
from backend_cases.cases import collect, to_value  # noqa: E402
from backend_cases.compare import Mismatch, compare  # noqa: E402
from backend_cases.workers import Pool  # noqa: E402
from contrib_recipes import CONTRIB_RECIPES  # noqa: E402
from file_changes import CHANGES  # noqa: E402
from file_known import reason  # noqa: E402
from graphs import RandomGraph  # noqa: E402
from onnx import numpy_helper  # noqa: E402
from recipe import Recipe  # noqa: E402

FAILING = {"refused", "differs", "crash", "timeout"}


class File:
    """A model, its inputs, and a change of it; as it is where that is None."""

    def __init__(self, key, name, model, feeds, change=None):
        self.key, self.name, self.model, self.feeds, self.change = key, name, model, feeds, change


def with_weights(model: onnx.ModelProto, feeds: dict) -> tuple[onnx.ModelProto, dict]:
    """The model with its second input, and those behind it, as initializers."""
    copy, feeds = onnx.ModelProto(), dict(feeds)
    copy.CopyFrom(model)
    for name in list(feeds)[1:]:
        if isinstance(feeds[name], np.ndarray) and feeds[name].dtype.kind in "fiub":
            copy.graph.initializer.append(numpy_helper.from_array(feeds.pop(name), name))
            kept = [i for i in copy.graph.input if i.name != name]
            del copy.graph.input[:]
            copy.graph.input.extend(kept)
    return copy, feeds


def models(count: int, seed: int) -> list[File]:
    """Half official cases, at most two of an operator, a quarter operators of com.microsoft, the rest random graphs."""
    chance, files, seen = random.Random(seed), [], collections.Counter()
    cases = collect("^node/")
    chance.shuffle(cases)
    for case in cases:
        op = case.model.graph.node[0].op_type
        inputs = case.data()[0][0] if seen[op] < 2 else None
        if inputs is None or any(x is None for x in inputs):
            continue
        feeds = dict(zip(case.input_names(len(inputs)), map(to_value, inputs)))
        seen[op] += 1
        files.append(File(len(files), case.key, *with_weights(case.model, feeds)))
        if len(files) >= count // 2:
            break
    for number, row in enumerate(chance.sample(CONTRIB_RECIPES, len(CONTRIB_RECIPES))):
        recipe = Recipe(row, seed * 1000 + number)
        if len(files) < count * 3 // 4 and not recipe.terms.buffers and all(isinstance(v, np.ndarray) for v in recipe.feeds.values()):
            files.append(File(len(files), f"{row.op} {seed * 1000 + number}", recipe.model, recipe.feeds))
    number = seed * 1000
    while len(files) < count:
        graph = RandomGraph(number := number + 1)
        if not graph.quantized:
            files.append(File(len(files), f"random graph {number}", graph.model(), graph.feeds))
    return files


def answer(module, data: bytes, feeds: dict):
    options = module.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = module.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        told = session.get_modelmeta()
        return session.run(None, feeds), (told.custom_metadata_map, told.version, told.description)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())}"


def answers(module: str):
    def run(_, file: File):
        """The outputs, or what was said; nothing where the change has nothing to change."""
        data = file.change(file.model, random.Random(file.key[0])) if file.change else file.model.SerializeToString()
        return "ran", None if data is None else answer(importlib.import_module(module), data, file.feeds)

    return run


def difference(expected, actual) -> str:
    try:
        half = any(isinstance(e, np.ndarray) and e.dtype == np.float16 for e in expected[0])
        compare(list(expected[0]), list(actual[0]), 4e-2 if half else 1e-3, 4e-2 if half else 1e-4)
    except Mismatch as mismatch:
        return str(mismatch)
    return "" if expected[1] == actual[1] else f"says {actual[1]} of itself, expected {expected[1]}"


def verdict(ours, theirs) -> tuple[str, str]:
    if isinstance(theirs, str):
        return ("both refuse", "") if isinstance(ours, str) else ("taken", f"ONNX Runtime: {theirs}")
    if isinstance(ours, str):
        return "refused", ours
    found = difference(theirs, ours)
    return ("differs", found) if found else ("agree", "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--change")
    parser.add_argument("--taken", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--counts", help="JSON file to write {passed, failed} to")
    arguments = parser.parse_args()
    begin = time.monotonic()
    changes = [c for c in CHANGES if arguments.change in (None, c.__name__)]
    files = models(arguments.models, arguments.seed)
    cases = [
        File((file.key, number), file.name, file.model, file.feeds, change)
        for file in files
        for number, change in enumerate([None, *changes])
    ]
    ours, theirs = (Pool(cases, lambda: None, arguments.jobs, 60, answers(m)).run() for m in ("roundhouse", "onnxruntime"))
    counts, differs = collections.Counter(), set()
    for case in cases:
        (ran, mine), (peer_ran, peer) = ours[case.key], theirs[case.key]
        if mine is None or peer is None or case.key[0] in differs:
            continue
        status, message = (ran, mine) if ran != "ran" else ("ONNX Runtime dies", "") if peer_ran != "ran" else verdict(mine, peer)
        if case.change is None:
            differs |= {case.key[0]} if status != "agree" else set()  # for run.py to say
            continue
        why = reason(case.change.__name__, case.name, message) if status in FAILING else None
        counts[f"known: {why}" if why else status] += 1
        if (status in FAILING and not why) or (status == "taken" and arguments.taken):
            print(f"{status}: {case.change.__name__} of {case.name}\n    {message[:400]}")
    for status, count in counts.most_common():
        print(f"{count:7d} {status}")
    failed = sum(counts[status] for status in FAILING)
    if arguments.counts:
        pathlib.Path(arguments.counts).write_text(json.dumps({"passed": sum(counts.values()) - failed, "failed": failed}))
    print(f"{len(changes)} changes of {len(files) - len(differs)} models, {failed} refused or different, {time.monotonic() - begin:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
