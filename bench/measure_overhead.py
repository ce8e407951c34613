#!/usr/bin/env python3
"""What the executor costs beyond its kernels, beside ONNX Runtime in the same process; prints a markdown table.

Run with PYTHONPATH=build/release/python. One thread. `node`: the time of a run of a chain of 1,000 operators on [1, 8] floats, by
the operator. `iteration`: that of a Loop of 20,000 iterations whose body adds one to a float, by the iteration. Least of the rounds,
which alternate between the runtimes.
"""

import argparse
import time

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import roundhouse

NODES, ITERATIONS = 1000, 20000


def model(nodes, inputs, outputs, weights=()):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def chain():
    ops = ["Neg", "Abs", "Sigmoid", "Tanh"]
    nodes = [helper.make_node(ops[i % len(ops)], [f"v{i}"], [f"v{i + 1}"]) for i in range(NODES)]
    value = helper.make_tensor_value_info
    ends = value("v0", TensorProto.FLOAT, [1, 8]), value(f"v{NODES}", TensorProto.FLOAT, [1, 8])
    return model(nodes, ends[:1], ends[1:]), {"v0": np.linspace(-1, 1, 8, dtype=np.float32).reshape(1, 8)}, NODES


def loop():
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Identity", ["go_on"], ["goes_on"]), helper.make_node("Add", ["sum", "one"], ["next"])],
        "body",
        [value("i", TensorProto.INT64, []), value("go_on", TensorProto.BOOL, []), value("sum", TensorProto.FLOAT, [1])],
        [value("goes_on", TensorProto.BOOL, []), value("next", TensorProto.FLOAT, [1])],
        [numpy_helper.from_array(np.ones(1, np.float32), "one")],
    )
    node = helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)
    ends = [value("n", TensorProto.INT64, []), value("x", TensorProto.FLOAT, [1])], [value("y", TensorProto.FLOAT, [1])]
    return model([node], *ends), {"n": np.array(ITERATIONS), "x": np.zeros(1, np.float32)}, ITERATIONS


def session(module, model):
    options = module.SessionOptions()
    options.intra_op_num_threads = 1
    return module.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    print("| what | Roundhouse | ONNX Runtime |\n| --- | --- | --- |")
    for what, (bytes_, feed, count) in {"node": chain(), "iteration": loop()}.items():
        sessions = [session(module, bytes_) for module in (roundhouse, onnxruntime)]
        least = [float("inf")] * len(sessions)
        for _ in range(rounds):
            for i, s in enumerate(sessions):
                begin = time.perf_counter()
                s.run(None, feed)
                least[i] = min(least[i], time.perf_counter() - begin)
        print(f"| {what} | {least[0] / count * 1e9:.0f} ns | {least[1] / count * 1e9:.0f} ns |")


if __name__ == "__main__":
    main()
