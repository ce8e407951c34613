#!/usr/bin/env python3
"""Runs compute_bench and ONNX Runtime on the same shapes and threads and prints the ratio.

The two run in turns, round after round, and the least time of each counts, so that what else the machine does falls on both.
"""

import argparse
import json
import re
import subprocess
import time

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

UNARY = {"exp": "Exp", "log": "Log", "tanh": "Tanh", "erf": "Erf", "sigmoid": "Sigmoid", "relu": "Relu", "hard_swish": "HardSwish"} | {
    "gelu_erf": "Gelu"
}
RANDOM = np.random.default_rng(1)


def floats(*shape):
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def model(op_type, inputs, constants, output_rank, **attributes):
    """A model of one node: `inputs` are fed at run time, `constants` are initializers."""
    names = [f"x{i}" for i in range(len(inputs))] + [f"w{i}" for i in range(len(constants))]
    graph = helper.make_graph(
        [helper.make_node(op_type, names, ["y"], **attributes)],
        "case",
        [helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, x.shape) for i, x in enumerate(inputs)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * output_rank)],
        [numpy_helper.from_array(w, f"w{i}") for i, w in enumerate(constants)],
    )
    opset = [helper.make_opsetid("", 20)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9).SerializeToString(), dict(zip(names, inputs, strict=False))


def case_of(name):
    """The model that corresponds to a case of compute_bench, or None."""
    if m := re.fullmatch(r"gemm (\d+)x(\d+)x(\d+)( unpacked)?", name):
        rows, columns, k = (int(m[i]) for i in (1, 2, 3))
        a, b = floats(rows, k), floats(k, columns)
        return model("MatMul", [a, b], [], 2) if m[4] else model("MatMul", [a], [b], 2)
    if m := re.fullmatch(r"batched (\d+)x(\d+)x(\d+)x(\d+)( Bt)?", name):
        count, rows, columns, k = (int(m[i]) for i in (1, 2, 3, 4))
        return model("MatMul", [floats(count, rows, k), floats(count, k, columns)], [], 3)
    if m := re.fullmatch(r"conv (\d+)->(\d+) g(\d+) (\d+)x\d+ k(\d+) s(\d+)", name):
        inner, out, groups, size, kernel, stride = (int(m[i]) for i in range(1, 7))
        pad = kernel // 2
        weights = floats(out, inner // groups, kernel, kernel)
        return model("Conv", [floats(1, inner, size, size)], [weights, floats(out)], 4, group=groups, strides=[stride] * 2, pads=[pad] * 4)
    if m := re.fullmatch(r"max_pool (\d+) (\d+)x\d+ k(\d+) s(\d+)", name):
        planes, size, kernel, stride = (int(m[i]) for i in range(1, 5))
        return model("MaxPool", [floats(1, planes, size, size)], [], 4, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[1] * 4)
    if (m := re.fullmatch(r"(\w+) (\d+)", name)) and m[1] in UNARY:
        return model(UNARY[m[1]], [np.abs(floats(128, int(m[2]) // 128))], [], 2)
    if name.startswith("softmax"):
        return model("Softmax", [floats(1536, 128)], [], 2)
    if name.startswith("layer_norm"):
        return model("LayerNormalization", [floats(128, 768)], [floats(768), floats(768)], 2)
    return None


def session_of(serialized, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(serialized, options, providers=["CPUExecutionProvider"])


def peer_milliseconds(session, feeds, seconds):
    session.run(None, feeds)
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        session.run(None, feeds)
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def own_milliseconds(program, threads, name, seconds):
    """Times of every case whose name has a part that the regular expression `name` matches."""
    flags = [f"--benchmark_filter={name}", f"--benchmark_min_time={seconds}", "--benchmark_format=json"]
    text = subprocess.run([program, str(threads), *flags], capture_output=True, text=True, check=True).stdout
    return {row["name"].removesuffix("/manual_time"): row["least_ms"] for row in json.loads(text)["benchmarks"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--filter", default="")
    parser.add_argument("--seconds", type=float, default=0.1)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    own, peer, peers = {}, {}, {}
    for _ in range(options.rounds):
        for name, value in own_milliseconds(options.program, options.threads, options.filter, options.seconds).items():
            own[name] = min(value, own.get(name, value))
            if name not in peers:
                case = case_of(name)
                peers[name] = case and (session_of(case[0], options.threads), case[1])
            if peers[name]:
                value = peer_milliseconds(*peers[name], options.seconds)
                peer[name] = min(value, peer.get(name, value))
    print(f"{'case':44} {'ms':>10} {'peer ms':>10} {'peer / own':>10}")
    for name, value in own.items():
        other = peer.get(name)
        print(f"{name:44} {value:10.4f} " + (f"{other:10.4f} {other / value:10.2f}" if other else f"{'-':>10} {'-':>10}"))


if __name__ == "__main__":
    main()
