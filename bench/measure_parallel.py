#!/usr/bin/env python3
"""Whether running independent branches side by side pays: ONNX Runtime's two execution modes beside Roundhouse; prints a markdown table.

Run with PYTHONPATH=build/release/python. Two threads each. The networks have eight branches of ten operators between one input and one sum:
products of the sizes named, each followed by Relu. Times are the least of the rounds, which alternate between the three.
"""

import argparse
import time

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import roundhouse

BRANCHES, LENGTH = 8, 5


def network(rows, width):
    rng = np.random.default_rng(0)
    nodes, weights, ends = [], [], []
    for branch in range(BRANCHES):
        value = "x"
        for i in range(LENGTH):
            name = f"{branch}_{i}"
            weights.append(numpy_helper.from_array(rng.standard_normal((width, width), dtype=np.float32) / width, f"w{name}"))
            nodes.append(helper.make_node("MatMul", [value, f"w{name}"], [f"m{name}"]))
            nodes.append(helper.make_node("Relu", [f"m{name}"], [f"r{name}"]))
            value = f"r{name}"
        ends.append(value)
    nodes.append(helper.make_node("Sum", ends, ["y"]))
    tensor = helper.make_tensor_value_info
    shape = [rows, width]
    graph = helper.make_graph(nodes, "graph", [tensor("x", TensorProto.FLOAT, shape)], [tensor("y", TensorProto.FLOAT, shape)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    return model, {"x": rng.standard_normal(shape, dtype=np.float32)}


def session(module, model, parallel):
    options = module.SessionOptions()
    options.intra_op_num_threads = 2
    if parallel:
        options.inter_op_num_threads = 2
        options.execution_mode = module.ExecutionMode.ORT_PARALLEL
    return module.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    print("| rows x width | Roundhouse | ONNX Runtime, sequential | ONNX Runtime, parallel |\n| --- | --- | --- | --- |")
    for rows, width in ((1, 64), (16, 64), (16, 256), (128, 256), (128, 768)):
        model, feed = network(rows, width)
        sessions = [session(roundhouse, model, True), session(onnxruntime, model, False), session(onnxruntime, model, True)]
        least = [float("inf")] * len(sessions)
        for _ in range(rounds):
            for i, s in enumerate(sessions):
                begin = time.perf_counter()
                s.run(None, feed)
                least[i] = min(least[i], time.perf_counter() - begin)
        print(f"| {rows} x {width} | " + " | ".join(f"{t * 1e3:.3f} ms" for t in least) + " |", flush=True)


if __name__ == "__main__":
    main()
