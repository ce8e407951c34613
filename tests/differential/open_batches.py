#!/usr/bin/env python3
"""Opens the batch of models' inputs and leaves what the file says of all other sizes as it was, as many scripts do.

open_batches.py                       60 random graphs and 3 models; exits 1 where a result changes
open_batches.py --count 500 --all     500 random graphs and all models of the tests' data
open_batches.py --only 4711           one random graph again

Each runs with the batch that the file speaks of and with another one, at every optimisation level, and gives what it gives without any
sizes of values between and of outputs.
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

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[1:1] = [str(ROOT / "python/roundhouse"), str(ROOT / "tests/models")]
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from backend_cases.workers import Pool  # noqa: E402
from common import model_path, sample_inputs  # noqa: E402
from graphs import RandomGraph  # noqa: E402
from materialize import names  # noqa: E402

import roundhouse  # noqa: E402

LEVELS = ("ORT_DISABLE_ALL", "ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL")
FEW_MODELS = ("lstm_tagger", "mobilenetv3_large_100", "llama_tiny_int4")
BOUNDS = {np.dtype(np.float16): 4e-2, np.dtype(np.float32): 1e-3}
STEPS = 0.2  # of models that compute in bytes or in half precision: a step here is several further on
BATCH = "opened_batch"


def sized(model: onnx.ModelProto, feeds: dict) -> onnx.ModelProto:
    """The model with the sizes of these inputs, and all that follow from them."""
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    for port in fixed.graph.input:
        for dim, size in zip(port.type.tensor_type.shape.dim, feeds[port.name].shape if port.name in feeds else ()):
            dim.dim_value = size
    for port in fixed.graph.output:
        port.type.tensor_type.ClearField("shape")
    del fixed.graph.value_info[:]
    return onnx.shape_inference.infer_shapes(fixed)


def opened(model: onnx.ModelProto, sizes: onnx.ModelProto | None, feeds: dict) -> bytes:
    """The model with an open batch, and the sizes of another one, or none, for values between and outputs."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    for port in result.graph.input:
        if port.name in feeds and port.type.tensor_type.shape.dim:
            port.type.tensor_type.shape.dim[0].dim_param = BATCH
    del result.graph.value_info[:]
    for port in result.graph.output:
        port.type.tensor_type.ClearField("shape")
    if sizes:
        result.graph.value_info.extend(sizes.graph.value_info)
        del result.graph.output[:]
        result.graph.output.extend(sizes.graph.output)
    return result.SerializeToString()


def with_batch(feeds: dict, batch: int) -> dict:
    """The inputs with so many items, the first ones again where there are fewer."""
    return {name: value if value.ndim == 0 else np.resize(value, (batch, *value.shape[1:])) for name, value in feeds.items()}


def session(data: bytes, level: str):
    options = roundhouse.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = getattr(roundhouse.GraphOptimizationLevel, level)
    return roundhouse.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def difference(expected: list, actual: list, coarse: bool) -> str | None:
    for i, (e, a) in enumerate(zip(expected, actual, strict=True)):
        if e.shape != a.shape or e.dtype != a.dtype:
            return f"output {i} is {a.dtype}{a.shape}, expected {e.dtype}{e.shape}"
        if e.dtype.kind != "f":
            if not coarse and not np.array_equal(e, a):
                return f"output {i} has other numbers"
            continue
        e, a, bound = e.astype(np.float64), a.astype(np.float64), STEPS if coarse else BOUNDS[e.dtype]
        if not np.array_equal(np.isfinite(e), np.isfinite(a)):
            return f"output {i} is not finite in other places"
        finite = np.isfinite(e)
        error = np.abs(e - a)[finite].max(initial=0) / max(np.abs(e)[finite].max(initial=0), 1e-3)
        if error > bound:
            return f"output {i} is off by {error:.3g} of the largest magnitude"
    return None


class Case:
    """A random graph by its number, or a model by its name."""

    def __init__(self, key):
        self.key = key

    def load(self) -> tuple[onnx.ModelProto, dict, bool]:
        if isinstance(self.key, int):
            graph = RandomGraph(self.key)
            return graph.model(), graph.feeds, graph.quantized
        path = model_path(self.key)
        return onnx.load(path), sample_inputs(path), any(word in self.key for word in ("int8", "int4", "fp16"))


def check(_, case: Case) -> tuple[str, str]:
    model, feeds, coarse = case.load()
    stale, clean = opened(model, sized(model, feeds), feeds), opened(model, None, feeds)
    first = next(value.shape[0] for value in feeds.values() if value.ndim)
    plain = session(clean, LEVELS[0])
    tried = 0
    for batch in (first, first + 1, first + 2)[: 3 if isinstance(case.key, int) else 2]:
        inputs = with_batch(feeds, batch)
        try:
            expected = plain.run(None, inputs)
        except Exception:
            continue  # the batch is a number in the graph as well
        tried += batch != first
        for level in LEVELS:
            try:
                made = session(stale, level)
                actual = made.run(None, inputs)
            except Exception as error:
                return "refused", f"batch {batch}, {level}: {' '.join(str(error).split())[:400]}"
            if found := difference(expected, actual, coarse):
                return "changed", f"batch {batch}, {level}: {found}"
            for port, value in zip(made.get_outputs(), actual):
                if len(port.shape) != value.ndim:
                    return "changed", f"output {port.name} of shape {value.shape} is said to be {port.shape}"
    return ("agree", "") if tried else ("one batch alone", "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--all", action="store_true", help="all models of the tests' data")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--counts", help="JSON file to write {passed, failed} to")
    arguments = parser.parse_args()
    begin = time.monotonic()
    first = arguments.seed * 1_000_000
    keys = [*range(first, first + arguments.count), *(names() if arguments.all else FEW_MODELS)]
    cases = [Case(key) for key in ([arguments.only] if arguments.only is not None else keys)]
    verdicts = Pool(cases, lambda: None, arguments.jobs, 600, check).run()
    counts = collections.Counter(status for status, _ in verdicts.values())
    for key, (status, message) in verdicts.items():
        if status not in ("agree", "one batch alone"):
            print(f"{key} {status}: {message}")
    for status, count in counts.most_common():
        print(f"{count:7d} {status}")
    failed = len(verdicts) - counts["agree"] - counts["one batch alone"]
    if arguments.counts:
        pathlib.Path(arguments.counts).write_text(json.dumps({"passed": counts["agree"], "failed": failed}))
    print(f"{len(verdicts)} models, {failed} refused or changed, {time.monotonic() - begin:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
