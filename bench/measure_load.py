#!/usr/bin/env python3
"""Measures what loading costs: time of session creation over the number of nodes, and peak memory over a model's weights.

measure_load.py [--nodes 1250,2500,5000,10000] [--gigabytes 1] [--module roundhouse]
measure_load.py --second MODEL...   processor time of a model's first session, and of a second beside it
measure_load.py --idle MODEL...     a session of the CPU alone, and one beside a device of the fake provider that takes no node: processor
                                    time of its creation, the least of nine, and what the process holds more afterwards and at most

Chains are Add, Relu, Mul, Sub, ... on a [1, 64] tensor with a weight each. Each figure is the least of five creations in one process. The
large model gathers rows of weights of 256 MiB each, no two alike. It is loaded from a file that holds its weights (`inline`), from one with
external data (`external`) and from bytes in memory (`buffer`); the peak is VmHWM of a process of its own that only creates the session,
less what importing takes and, for a buffer, less the bytes themselves.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[1]

PEAK = """
import importlib, sys
module = importlib.import_module(sys.argv[1])
def peak():
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
model = open(sys.argv[2], "rb").read() if sys.argv[3] == "buffer" else sys.argv[2]
before = peak()
options = module.SessionOptions()
options.log_severity_level = 3
session = module.InferenceSession(model, options, providers=["CPUExecutionProvider"])
print(peak() - before)
"""


def chain(nodes: int) -> bytes:
    rng = np.random.default_rng(0)
    ops, body, weights = ["Add", "Relu", "Mul", "Sub"], [], []
    value = "x"
    for i in range(nodes):
        op = ops[i % len(ops)]
        inputs = [value]
        if op != "Relu":
            weights.append(numpy_helper.from_array(rng.standard_normal((1, 64), dtype=np.float32), f"w{i}"))
            inputs.append(f"w{i}")
        value = f"v{i}"
        body.append(helper.make_node(op, inputs, [value], f"n{i}"))
    tensor = helper.make_tensor_value_info
    graph = helper.make_graph(
        body, "chain", [tensor("x", TensorProto.FLOAT, [1, 64])], [tensor(value, TensorProto.FLOAT, [1, 64])], weights
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def large(path: pathlib.Path, mebibytes: int, external: bool) -> None:
    side, rng = 8192, np.random.default_rng(0)
    body, weights, value = [], [], "x"
    for i in range(mebibytes // 256):
        weights.append(numpy_helper.from_array(rng.random((side, side), dtype=np.float32), f"w{i}"))
        body.append(helper.make_node("Gather", [f"w{i}", value], [f"v{i}"], axis=0))
        body.append(helper.make_node("ArgMax", [f"v{i}"], [f"a{i}"], axis=1, keepdims=0))
        value = f"a{i}"
    tensor = helper.make_tensor_value_info
    graph = helper.make_graph(body, "large", [tensor("x", TensorProto.INT64, ["n"])], [tensor(value, TensorProto.INT64, ["n"])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path, save_as_external_data=external)


def create(module, model: bytes) -> float:
    options = module.SessionOptions()
    options.log_severity_level = 3
    begin = time.perf_counter()
    module.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return time.perf_counter() - begin


def processor_times(module, model: str) -> tuple[float, float]:
    """Seconds of all threads for a first and a second session of one model, the least of five pairs."""
    options = module.SessionOptions()
    options.log_severity_level = 3
    pairs = []
    for _ in range(5):
        begin = time.process_time()
        first = module.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        between = time.process_time()
        second = module.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        pairs.append((between - begin, time.process_time() - between))
        del first, second
    return tuple(map(min, zip(*pairs, strict=True)))


IDLE = """
import gc, json, sys, time
sys.path[:0] = {path!r}
from hosts import FAKE, devices_of, registered
import roundhouse

def mib(name):
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith(name))

def create(idle):
    options = roundhouse.SessionOptions()
    options.log_severity_level = 3
    if not idle:
        return roundhouse.InferenceSession({model!r}, options, providers=["CPUExecutionProvider"])
    options.add_provider_for_devices(devices_of(roundhouse, FAKE)[:1], {{"kind": "regions", "claim": "0:0"}})
    return roundhouse.InferenceSession({model!r}, options)

with registered(roundhouse, FAKE):
    before = mib("VmRSS")
    session = create({idle})
    held, peak = mib("VmRSS") - before, mib("VmHWM") - before
    times = []
    for _ in range(9):
        del session
        gc.collect()
        begin = time.process_time()
        session = create({idle})
        times.append(time.process_time() - begin)
    print(json.dumps([min(times) * 1e3, held, peak]))
    del session
"""


def print_idle(model: str) -> None:
    rows = {}
    for idle in (False, True):
        program = IDLE.format(path=[str(ROOT / "tests" / "kit"), *sys.path], model=model, idle=idle)
        rows[idle] = json.loads(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)
    cells = [
        f"{alone:.0f}, {idle:.0f} {unit}" for alone, idle, unit in zip(rows[False], rows[True], ("ms", "MiB held", "MiB peak"), strict=True)
    ]
    print(f"{pathlib.Path(model).stem}: " + "; ".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="1250,2500,5000,10000")
    parser.add_argument("--gigabytes", type=float, default=1)
    parser.add_argument("--second", nargs="+", default=[])
    parser.add_argument("--idle", nargs="+", default=[])
    parser.add_argument("--modules", default="roundhouse,onnxruntime")
    arguments = parser.parse_args()
    for model in arguments.idle:
        print_idle(model)
    if arguments.idle:
        return
    modules = {name: __import__(name) for name in arguments.modules.split(",")}
    for model in arguments.second:
        for name, module in modules.items():
            first, second = processor_times(module, model)
            print(f"{pathlib.Path(model).stem}: {name} {first * 1e3:.0f} ms, {second * 1e3:.0f} ms", flush=True)
    if arguments.second:
        return
    for nodes in map(int, arguments.nodes.split(",")):
        model = chain(nodes)
        times = {name: min(create(module, model) for _ in range(5)) for name, module in modules.items()}
        print(
            f"{nodes:6d} nodes  " + "  ".join(f"{name} {t * 1e3:8.1f} ms ({t / nodes * 1e6:.1f} us a node)" for name, t in times.items()),
            flush=True,
        )
    with tempfile.TemporaryDirectory() as folder:
        for way in ("inline", "external", "buffer"):
            path = pathlib.Path(folder) / way / "large.onnx"
            path.parent.mkdir()
            large(path, int(arguments.gigabytes * 1024), way == "external")
            weights = sum(os.path.getsize(f) for f in path.parent.iterdir()) / 2**20
            for name in modules:
                command = [sys.executable, "-c", PEAK, name, str(path), way]
                peak = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
                print(f"{weights:.0f} MiB of weights, {way}: {name} peak {peak:.0f} MiB, {peak / weights:.2f} of the weights", flush=True)
            shutil.rmtree(path.parent)


if __name__ == "__main__":
    main()
