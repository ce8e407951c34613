#!/usr/bin/env python3
"""Whole models with a vendor's provider before the CPU, from the same file in Roundhouse and in ONNX Runtime.

models.py --provider NAME [--host HOST ...] [--model NAME ...]: a line a model and host: the largest difference from the CPU by the largest
magnitude of an output, and how many nodes the provider has. Each model runs in a process of its own.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "models")]

from vendor_runtime import HOSTS, PROVIDERS, ROOT, VendorRuntime, owners, refusals, write_counts  # noqa: E402

TOLERANCE, HALF_TOLERANCE = 1e-4, 2e-2
#: Boxes of equal score may come in another order.
UNORDERED = ("ssdlite",)
#: What rounding alone moves further: quantized activations step from one integer to the next.
WIDE = ("int8", "fp16")
FEW_BITS = ("int8", "int4")


def error_of(actual, expected, unordered):
    import numpy as np

    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return float("inf")
    if not expected.size:
        return 0.0
    a, e = actual.astype("f8"), expected.astype("f8")
    if unordered:
        a, e = np.sort(a, axis=0), np.sort(e, axis=0)
    error = float(np.abs(a - e).max() / max(float(np.abs(e).max()), 1e-30))
    return error if np.isfinite(error) else float("inf")  # `max` passes over a NaN that is not its first


def own_error(provider, path, feeds, expected, threads, unordered):
    """Of the vendor's own interface on the same model, by which what rounding moves is judged; None where there is none."""
    libraries = os.environ.get("ROUNDHOUSE_OPENVINO_LIBRARY")
    if provider != "OpenVINOExecutionProvider" or not libraries:
        return None
    sys.path.append(str(pathlib.Path(libraries).parents[1]))
    import openvino

    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}
    try:
        compiled = openvino.Core().compile_model(path, "CPU", settings)
        found = compiled(feeds)
        return max(error_of(found[i], e, unordered) for i, e in enumerate(expected))
    except Exception as error:
        print(f"OpenVINO's own interface: {str(error).splitlines()[-1][:200]}", file=sys.stderr)
        return None


def resized(path, sizes, folder):
    """The model with inputs of other sizes, and the sizes of its outputs left open: a vendor's interpreter is slow."""
    import onnx

    model = onnx.load(path, load_external_data=False)
    changed = [dim for i in model.graph.input for dim in i.type.tensor_type.shape.dim if dim.dim_value in sizes]
    if not changed:
        return path
    model = onnx.load(path)
    for dim in [dim for i in model.graph.input for dim in i.type.tensor_type.shape.dim if dim.dim_value in sizes]:
        dim.dim_value = sizes[dim.dim_value]
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    target = pathlib.Path(folder) / "model.onnx"
    onnx.save(model, target)
    return str(target)


def without_accuracy_level(path, folder):
    """The model whose products by few bits leave their activations as they are: accuracy_level says what these may be rounded to."""
    import onnx

    model = onnx.load(path)
    levels = [(node, a) for node in model.graph.node if node.op_type == "MatMulNBits" for a in node.attribute if a.name == "accuracy_level"]
    for node, level in levels:
        node.attribute.remove(level)
    target = pathlib.Path(folder) / "exact.onnx"
    onnx.save(model, target, save_as_external_data=True, location="exact.data")
    return str(target) if levels else None


def spread_of(runtime, path, expected, feeds, folder):
    """How far the CPU's own results move when the gains and biases of the model are rounded otherwise, by half a unit in the last place:
    activations that are quantised as they come step from one integer to the next. 0 where none are."""
    import numpy as np
    import onnx
    from onnx import numpy_helper

    model = onnx.load(path)
    if all(node.op_type != "DynamicQuantizeLinear" for node in model.graph.node):
        return 0
    worst, target = 0, pathlib.Path(folder) / "moved.onnx"
    vectors = [i for i in model.graph.initializer if i.data_type == onnx.TensorProto.FLOAT and len(i.dims) == 1 and i.dims[0] > 1]
    arrays = [numpy_helper.to_array(i).astype("f8") for i in vectors]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        for vector, array in zip(vectors, arrays, strict=True):
            moved = array * (1 + 2.0**-24 * rng.uniform(-1, 1, array.shape))
            vector.CopyFrom(numpy_helper.from_array(moved.astype("f4"), vector.name))
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        onnx.save(copy, target, save_as_external_data=True, location=f"moved{seed}.data")
        found = runtime.cpu_session(str(target), plain=True).run(None, feeds)
        worst = max(worst, max(error_of(a, e, False) for a, e in zip(found, expected, strict=True)))
    return worst


def answer(args, name):
    with tempfile.TemporaryDirectory() as folder:
        return answer_in(args, name, folder)


def answer_in(args, name, folder):
    from materialize import materialize
    from model_inputs import sample_inputs

    path, sizes = str(materialize(name, ROOT / "build" / "models")), sizes_of(args)
    feeds = sample_inputs(path, sizes=sizes)
    path = resized(path, sizes, folder)
    runtime = VendorRuntime(args.host[0], args.provider, args.threads, json.loads(args.options), args.library)
    session, any_order = runtime.session(path), name.startswith(UNORDERED)
    actual, expected = session.run(None, feeds), runtime.cpu_session(path).run(None, feeds)
    worst, spread = max(error_of(a, e, any_order) for a, e in zip(actual, expected, strict=True)), 0
    if any(w in name for w in FEW_BITS):  # the CPU's own passes round otherwise: a provider may do as the model has it
        plain = runtime.cpu_session(path, plain=True).run(None, feeds)
        worst = min(worst, max(error_of(a, e, any_order) for a, e in zip(actual, plain, strict=True)))
        spread = spread_of(runtime, path, plain, feeds, folder)
        if exact := without_accuracy_level(path, folder):
            exact = runtime.cpu_session(exact, plain=True).run(None, feeds)
            worst = min(worst, max(error_of(a, e, any_order) for a, e in zip(actual, exact, strict=True)))
    reasons = collections.Counter(f"{op}: {reason}" for op, reason in refusals(session, args.provider))
    own = own_error(args.provider, path, feeds, expected, args.threads, any_order)
    return {"error": worst, "own": own, "spread": spread, "owners": owners(session), "reasons": dict(reasons.most_common(8))}


def sizes_of(args):
    return {int(old): int(new) for old, new in (size.split("=") for size in args.size)}


def shown(error):
    return "none" if error is None else f"{error:.1e}"


def in_a_process(args, host, name):
    command = [sys.executable, __file__, "--provider", args.provider, "--host", host, "--model", name, "--answer"]
    command += ["--threads", str(args.threads), "--options", args.options]
    command += ["--library", args.library] if args.library else []
    command += [word for size in args.size for word in ("--size", size)]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {"failed": (done.stderr.strip() or f"ended with {done.returncode}").splitlines()[-1][:300]}


def main():
    from materialize import STRIPPED, SUFFIX

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--provider", required=True, choices=PROVIDERS)
    parser.add_argument("--host", action="append", choices=HOSTS)
    parser.add_argument("--model", action="append")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--options", default="{}", help="of the provider, as JSON")
    parser.add_argument("--library")
    parser.add_argument("--size", action="append", default=[], metavar="OLD=NEW", help="of inputs, wherever one has it")
    parser.add_argument("--counts")
    parser.add_argument("--answer", action="store_true", help="of one model in this process")
    args = parser.parse_args()
    names = args.model or sorted(p.name.removesuffix(SUFFIX) for p in STRIPPED.glob(f"*{SUFFIX}"))
    if args.answer:
        print(json.dumps(answer(args, names[0])))
        return 0
    bad = total = 0
    for name in names:
        for host in args.host or HOSTS:
            got = in_a_process(args, host, name)
            total += 1
            bound = max(
                HALF_TOLERANCE if any(w in name for w in WIDE) else TOLERANCE,
                1.05 * own if (own := got.get("own")) and math.isfinite(own) else 0,
                0 if own else 1.5 * got.get("spread", 0),
            )
            good = "error" in got and got["error"] <= bound
            bad += not good
            what = (
                got.get("failed")
                or f"error {got['error']:.1e}, its own {shown(got['own'])}, by rounding {got['spread']:.1e}, nodes {got['owners']}"
            )
            print(f"{'' if good else 'FAILS '}{name:32} {host:12} {what}", flush=True)
            for reason, count in got.get("reasons", {}).items():
                print(f"    {count:4} left: {reason}", flush=True)
    print(f"{total - bad} passed, {bad} failed")
    write_counts(args.counts, total - bad, bad)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
