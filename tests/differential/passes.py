#!/usr/bin/env python3
"""Holds every optimisation pass, alone and all together, against none, on random graphs.

passes.py [--count 300] [--seed 1]    exits 1 where a result changes; prints the graph cut down to the part that shows it
passes.py --only 4711                 one graph again
"""

import argparse
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
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from backend_cases.workers import Pool  # noqa: E402
from graphs import RandomGraph  # noqa: E402
from onnx import TensorProto  # noqa: E402

import roundhouse  # noqa: E402

ROWS = re.findall(r"^RH_PASS\(\w+, (\w+), (\w+),", (ROOT / "src/passes/pass_list.inc").read_text(), re.MULTILINE)
PASSES = sorted({name for name, level in ROWS if level != "required"})
BOUNDS = {TensorProto.FLOAT: 2e-5, TensorProto.FLOAT16: 4e-2}
STEPS = 0.05  # a quantised value a step off, and what it does further on


def run(model: bytes, feeds: dict, passes: list[str]) -> list[np.ndarray]:
    options = roundhouse.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = getattr(roundhouse.GraphOptimizationLevel, "ORT_ENABLE_ALL" if passes else "ORT_DISABLE_ALL")
    if passes:
        options.add_session_config_entry("optimization.disable_specified_optimizers", ";".join(p for p in PASSES if p not in passes))
    return roundhouse.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, feeds)


def difference(graph: RandomGraph, outputs: list[str], passes: list[str]) -> str | None:
    """How the results with the passes depart from those without any; None where they agree."""
    model = graph.model(outputs).SerializeToString()
    for name, plain, tested in zip(outputs, run(model, graph.feeds, []), run(model, graph.feeds, passes), strict=True):
        if plain.shape != tested.shape or plain.dtype != tested.dtype:
            return f"{name}: {tested.dtype}{tested.shape}, expected {plain.dtype}{plain.shape}"
        a, b = plain.astype(np.float64), tested.astype(np.float64)
        largest = float(np.abs(a[np.isfinite(a)]).max(initial=1e-3))
        if not np.array_equal(np.isfinite(a), np.isfinite(b)):
            return f"{name}: not finite in other places"
        error = float(np.abs(a - b)[np.isfinite(a)].max(initial=0)) / largest
        if error > (STEPS if graph.quantized else BOUNDS[graph.number]):
            return f"{name}: off by {error:.3g} of the largest magnitude"
    return None


def smallest(graph: RandomGraph, passes: list[str]) -> list[str]:
    """The outputs of the earliest cut that still shows the difference."""
    for name in graph.shapes:
        if name != "x" and difference(graph, [name], passes):
            return [name]
    return graph.outputs


class Case:
    def __init__(self, key: int):
        self.key = key


def check(_, case: Case) -> tuple[str, str]:
    graph = RandomGraph(case.key)
    try:
        for passes in [*([p] for p in PASSES), PASSES]:
            found = difference(graph, graph.outputs, passes)
            if found:
                cut = smallest(graph, passes)
                text = onnx.printer.to_text(graph.model(cut))
                text = re.sub(r"\{[^{}<>]{80,}\}", "{...}", text)
                return "changed", f"{'all passes' if len(passes) > 1 else passes[0]}: {found}\n{text}"
    except Exception as error:
        return "error", f"{type(error).__name__}: {error}"
    return "agree", ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--counts", help="JSON file to write {passed, failed} to")
    arguments = parser.parse_args()
    first = arguments.seed * 1_000_000
    keys = range(first, first + arguments.count) if arguments.only is None else [arguments.only]
    begin = time.monotonic()
    verdicts = Pool([Case(key) for key in keys], lambda: None, arguments.jobs, 120, check).run()
    failed = {key: verdict for key, verdict in verdicts.items() if verdict[0] != "agree"}
    if arguments.counts:
        pathlib.Path(arguments.counts).write_text(json.dumps({"passed": len(verdicts) - len(failed), "failed": len(failed)}))
    for key, (status, message) in failed.items():
        print(f"{key} {status}: {message}")
    print(f"{len(verdicts)} graphs, {len(PASSES)} passes alone and together, {len(failed)} changed, {time.monotonic() - begin:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
