#!/usr/bin/env python3
"""Measures what loading costs: time of session creation over the number of nodes, and peak memory over a model's weights.

measure_load.py [--nodes 1250,2500,5000,10000] [--gigabytes 1] [--module roundhouse]

Chains are Add, Relu, Mul, Sub, ... on a [1, 64] tensor with a weight each. Each figure is the least of five creations in one process. The
large model gathers rows of weights of 256 MiB each, kept inline in the file; its peak is VmHWM of a process of its own that only creates
the session, less what importing takes.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

PEAK = """
import importlib, sys
module = importlib.import_module(sys.argv[1])
def peak():
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
before = peak()
options = module.SessionOptions()
options.log_severity_level = 3
session = module.InferenceSession(sys.argv[2], options, providers=["CPUExecutionProvider"])
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


def large(path: pathlib.Path, mebibytes: int) -> None:
    side = 8192
    body, weights, value = [], [], "x"
    for i in range(mebibytes // 256):
        weights.append(numpy_helper.from_array(np.full((side, side), 1.0 / side, np.float32), f"w{i}"))
        body.append(helper.make_node("Gather", [f"w{i}", value], [f"v{i}"], axis=0))
        body.append(helper.make_node("ArgMax", [f"v{i}"], [f"a{i}"], axis=1, keepdims=0))
        value = f"a{i}"
    tensor = helper.make_tensor_value_info
    graph = helper.make_graph(body, "large", [tensor("x", TensorProto.INT64, ["n"])], [tensor(value, TensorProto.INT64, ["n"])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def create(module, model: bytes) -> float:
    options = module.SessionOptions()
    options.log_severity_level = 3
    begin = time.perf_counter()
    module.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="1250,2500,5000,10000")
    parser.add_argument("--gigabytes", type=float, default=1)
    parser.add_argument("--modules", default="roundhouse,onnxruntime")
    arguments = parser.parse_args()
    modules = {name: __import__(name) for name in arguments.modules.split(",")}
    for nodes in map(int, arguments.nodes.split(",")):
        model = chain(nodes)
        times = {name: min(create(module, model) for _ in range(5)) for name, module in modules.items()}
        print(
            f"{nodes:6d} nodes  " + "  ".join(f"{name} {t * 1e3:8.1f} ms ({t / nodes * 1e6:.1f} us a node)" for name, t in times.items()),
            flush=True,
        )
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "large.onnx"
        large(path, int(arguments.gigabytes * 1024))
        weights = os.path.getsize(path) / 2**20
        for name in modules:
            peak = float(subprocess.run([sys.executable, "-c", PEAK, name, str(path)], capture_output=True, text=True, check=True).stdout)
            print(f"{weights:.0f} MiB of weights: {name} peak {peak:.0f} MiB, {peak / weights:.2f} of the weights")


if __name__ == "__main__":
    main()
