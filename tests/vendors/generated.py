#!/usr/bin/env python3
"""Runs generated graphs, and generated operators, with a vendor's provider before the CPU, and holds them to the CPU alone.

generated.py --provider NAME [--count 2000] [--operators 0] [--host onnxruntime] [--only 4711]
"""

import argparse
import collections
import os
import pathlib
import random
import sys
import time

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "differential"), str(HERE.parents[1] / "python/roundhouse")]

import numpy as np  # noqa: E402
from backend_cases.workers import Pool  # noqa: E402
from graphs import RandomGraph  # noqa: E402
from onnx import TensorProto, numpy_helper  # noqa: E402
from vendor_runtime import HOSTS, PROVIDERS, VendorRuntime, owners, skips_of, write_counts  # noqa: E402

BOUNDS = {TensorProto.FLOAT: 1e-4, TensorProto.FLOAT16: 4e-2}
OPERATOR_BOUNDS = {"float16": 1e-2, "bfloat16": 4e-2, "float32": 1e-4, "float64": 1e-6}
STEPS = 0.05  # a quantised value a step off, and what it does further on


def difference(name, expected, actual, bound):
    """How an output departs from the CPU's; None where it does not."""
    if not isinstance(expected, np.ndarray):
        return None if expected == actual else f"{name}: {actual}, expected {expected}"
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return f"{name}: {actual.dtype}{actual.shape}, expected {expected.dtype}{expected.shape}"
    if expected.dtype.kind in "OUSTbc":
        return None if np.array_equal(expected, actual) else f"{name}: other values"
    e, a = expected.astype("f8"), actual.astype("f8")
    finite = np.isfinite(e)
    if not np.array_equal(finite, np.isfinite(a)):
        return f"{name}: not finite in other places"
    error = float(np.abs(e - a)[finite].max(initial=0)) / float(np.abs(e[finite]).max(initial=1e-3))
    return f"{name}: off by {error:.3g} of the largest magnitude" if error > bound else None


def widen(graph):
    """Of float32 what is of float16."""
    for tensor in graph.initializer:
        if tensor.data_type == TensorProto.FLOAT16:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype("f4"), tensor.name))
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT16:
            value.type.tensor_type.elem_type = TensorProto.FLOAT
    for attribute in (attribute for node in graph.node for attribute in node.attribute):
        if attribute.name == "to" and attribute.i == TensorProto.FLOAT16:
            attribute.i = TensorProto.FLOAT
        if attribute.HasField("t") and attribute.t.data_type == TensorProto.FLOAT16:
            attribute.t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(attribute.t).astype("f4"), attribute.t.name))
        if attribute.HasField("g"):
            widen(attribute.g)


class Graph:
    def __init__(self, key):
        self.key = key

    def make(self):
        graph = RandomGraph(self.key)
        return graph.model(), graph.feeds, lambda _: STEPS if graph.quantized else BOUNDS[graph.number]

    def exact(self, runtime, model, feeds):
        """What a graph of float16 gives in float32: node by node in float16 the CPU alone may be off by more than the bound."""
        wide = type(model)()
        wide.CopyFrom(model)
        widen(wide.graph)
        feeds = {name: value.astype("f4") if value.dtype == np.float16 else value for name, value in feeds.items()}
        results = runtime.run(runtime.cpu_session(wide.SerializeToString(), plain=True), wide, feeds)
        return [result.astype("f2") if result.dtype == np.float32 else result for result in results]


class Operator:
    def __init__(self, key):
        self.key = f"operator {key}"
        self.seed = key

    def make(self):
        from recipe import Recipe
        from recipes import RECIPES

        case = Recipe(random.Random(self.seed).choice(RECIPES), self.seed)
        return case.model, case.feeds, lambda dtype: case.terms.bound or OPERATOR_BOUNDS.get(dtype.name, 0)

    def exact(self, *_):
        return None


def departure(names, expected, actual, bound):
    for name, e, a in zip(names, expected, actual, strict=True):
        if found := difference(name, e, a, bound(getattr(e, "dtype", None))):
            return found
    return None


def verdict(runtime, case):
    """`run`, `left`, `invalid` where the CPU alone refuses, else how it differs."""
    model, feeds, bound = case.make()
    data = model.SerializeToString()
    try:
        reference = runtime.cpu_session(data, plain=True)
        expected = runtime.run(reference, model, feeds)
    except Exception as error:
        return "invalid", str(error)[:100]
    try:
        session = runtime.session(data)
        actual = runtime.run(session, model, feeds)
    except Exception as error:
        return "fails", str(error)[:300]
    names = [o.name for o in reference.get_outputs()]
    if found := departure(names, expected, actual, bound):
        halves = any(getattr(e, "dtype", None) == np.float16 for e in expected)
        exact = case.exact(runtime, model, feeds) if halves else None
        if exact is None or departure(names, exact, actual, bound):
            return "differs", found
    return ("run" if owners(session)[runtime.provider] else "left"), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--provider", required=True, choices=PROVIDERS)
    parser.add_argument("--host", default="roundhouse", choices=HOSTS)
    parser.add_argument("--library")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--operators", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the text of one graph, and its verdict")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--counts")
    args = parser.parse_args()
    made = lambda: VendorRuntime(args.host, args.provider, path=args.library)  # noqa: E731
    if args.only is not None:
        import onnx

        print(onnx.printer.to_text(Graph(args.only).make()[0]), verdict(made(), Graph(args.only)))
        return 0
    started, first = time.monotonic(), args.seed * 1_000_000
    cases = [Graph(first + i) for i in range(args.count)] + [Operator(first + i) for i in range(args.operators)]
    results = Pool(cases, made, args.jobs, 60, run=verdict).run()
    for key in skips_of(args.provider, "graphs"):
        if int(key) in results:
            status, message = results[int(key)]
            results[int(key)] = ("PASSES though it is skipped", "") if status in ("run", "left") else ("skipped", message)
    tally = collections.Counter(status for status, _ in results.values())
    for key, (status, message) in results.items():
        if status not in ("run", "left", "invalid", "skipped"):
            print(f"{status:8}{key}  {message}")
    good = tally["run"] + tally["left"]
    bad = len(results) - good - tally["invalid"] - tally["skipped"]
    print(f"{args.provider} in {args.host}: {dict(tally)} of {len(results)} in {time.monotonic() - started:.0f} s")
    write_counts(args.counts, good, bad)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
