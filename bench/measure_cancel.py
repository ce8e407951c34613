#!/usr/bin/env python3
"""How long a run goes on after it was told to stop, beside ONNX Runtime in the same process; prints a markdown table.

Run with PYTHONPATH=build/release/python. Each row: a model, its longest kernel, and percentiles of the time from
RunOptions.terminate to the end of the run, over runs stopped at random moments.
"""

import argparse
import glob
import json
import random
import tempfile
import threading
import time

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

import roundhouse

CPU = ["CPUExecutionProvider"]


def save(nodes, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initializer=list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def products(size, count):
    """A chain of products of square matrices."""
    square = [size, size]
    nodes = [helper.make_node("MatMul", [f"x{i}", "w"], [f"x{i + 1}"]) for i in range(count)]
    x, w, last = (helper.make_tensor_value_info(name, TensorProto.FLOAT, square) for name in ("x0", "w", f"x{count}"))
    feed = np.full(square, 1 / size, np.float32)
    return save(nodes, [x, w], [last]), {"x0": feed, "w": feed}


def sorting(count):
    """All of a long vector, sorted."""
    nodes = [helper.make_node("TopK", ["x", "k"], ["y", "i"])]
    float_vector = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["k"]), helper.make_tensor_value_info("i", TensorProto.INT64, ["k"])]
    k = helper.make_tensor_value_info("k", TensorProto.INT64, [1])
    feed = {"x": np.random.default_rng(0).random(count, np.float32), "k": np.array([count], np.int64)}
    return save(nodes, [float_vector, k], outputs), feed


def recurrent(steps, hidden):
    """One layer of LSTM over many steps."""
    nodes = [helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=hidden)]
    shapes = {"x": [steps, 1, 16], "w": [1, 4 * hidden, 16], "r": [1, 4 * hidden, hidden]}
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [steps, 1, 1, hidden])
    return save(nodes, inputs, [output]), {name: np.full(shape, 0.01, np.float32) for name, shape in shapes.items()}


MODELS = {
    "4 products of 2048 x 2048": lambda: products(2048, 4),
    "TopK of 4,000,000": lambda: sorting(4_000_000),
    "LSTM, 10,000 steps of 256": lambda: recurrent(10_000, 256),
}


def longest_kernel_ms(model, feed):
    options = roundhouse.SessionOptions()
    options.enable_profiling = True
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = folder + "/trace"
        session = roundhouse.InferenceSession(model, options, providers=CPU)
        started = time.perf_counter()
        session.run(None, feed)
        whole = (time.perf_counter() - started) * 1e3
        session.end_profiling()
        [path] = glob.glob(folder + "/*.json")
        with open(path) as file:
            events = json.load(file)
    return max(e["dur"] for e in events if e["cat"] == "Node") / 1e3, whole


def stop_latency_ms(module, session, feed, delay):
    """Milliseconds from the flag to the end of the run; None where the run was over before."""
    options, set_at = module.RunOptions(), []

    def stop():
        time.sleep(delay)
        set_at.append(time.perf_counter())
        options.terminate = True

    stopper = threading.Thread(target=stop)
    stopper.start()
    try:
        session.run(None, feed, options)
        ended = None
    except Exception:
        ended = time.perf_counter()
    stopper.join()
    return None if ended is None else max(0.0, (ended - set_at[0]) * 1e3)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100, help="per model and runtime")
    arguments = parser.parse_args()
    print("| model | run ms | longest kernel ms | Roundhouse p50 / p99 ms | ONNX Runtime p50 / p99 ms |\n| --- | --- | --- | --- | --- |")
    for name, make in MODELS.items():
        model, feed = make()
        kernel, whole = longest_kernel_ms(model, feed)
        sessions = {m: m.InferenceSession(model, providers=CPU) for m in (roundhouse, onnxruntime)}
        times = {m: [] for m in sessions}
        for _ in range(arguments.runs):
            delay = random.uniform(0.1, 0.8) * whole / 1e3
            for module, session in sessions.items():
                latency = stop_latency_ms(module, session, feed, delay)
                if latency is not None:
                    times[module].append(latency)
        cells = [
            f"{np.percentile(t, 50):.1f} / {np.percentile(t, 99):.1f} ({len(t)} stopped)" if t else "none stopped" for t in times.values()
        ]
        print(f"| {name} | {whole:.0f} | {kernel:.0f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
