#!/usr/bin/env python3
"""How near decode steps come to the memory's bandwidth: the bytes of a model's products over the time of a run; prints a markdown table.

    PYTHONPATH=build/release/python measure_bandwidth.py MODEL... [--threads 1] [--rounds 8]

The bandwidth is that of reading 256 MiB (the largest of numbers, by NumPy), in turns with the model's runs, least times of either. The
bytes are those of constant operands of MatMul and Gemm, and of caches that are copied (past_key_values: read, and written in the output).
"""

import argparse
import math
import pathlib
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
from onnx import TensorProto
from peer_worker import inputs

import roundhouse

READ = 64 << 20  # floats


def session(model, threads):
    options = roundhouse.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    return roundhouse.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def reader(threads):
    """A function that reads so many floats, looking for the largest."""
    parts = np.split(np.ones(READ, np.float32), threads)
    if threads == 1:
        return parts[0].max
    pool = ThreadPoolExecutor(threads)
    return lambda: list(pool.map(np.ndarray.max, parts))


def product_bytes(path):
    graph = onnx.load(path, load_external_data=False).graph
    constants = {t.name: t for t in graph.initializer}
    for node in graph.node:
        if node.op_type == "Transpose" and node.input[0] in constants:
            constants[node.output[0]] = constants[node.input[0]]
    operands = [constants[n.input[1]] for n in graph.node if n.op_type in ("MatMul", "Gemm") and n.input[1] in constants]
    return sum(4 * math.prod(t.dims) for t in operands if t.data_type == TensorProto.FLOAT)


def least(run, least_so_far):
    started = time.perf_counter()
    run()
    return min(least_so_far, time.perf_counter() - started)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=8)
    args = parser.parse_args()
    print("| model | threads | ms | MiB of weights, of caches | GB/s | reading GB/s | share |\n| --- | --- | --- | --- | --- | --- | --- |")
    read = reader(args.threads)
    for path in args.models:
        feeds = inputs(path, {"batch": 1, "N": 1})
        caches = 2 * sum(v.nbytes for k, v in feeds.items() if k.startswith("past"))
        made, weights = session(path, args.threads), product_bytes(path)
        reading = running = math.inf
        for _ in range(args.rounds):
            for _ in range(10):
                reading = least(read, reading)
                running = least(lambda: made.run(None, feeds), running)
        moved, bandwidth = (weights + caches) / running / 1e9, 4 * READ / reading / 1e9
        sizes = f"{weights / 2**20:.0f}, {caches / 2**20:.1f}"
        row = (pathlib.Path(path).stem, args.threads, f"{1e3 * running:.2f}", sizes, f"{moved:.1f}", f"{bandwidth:.1f}")
        print("| " + " | ".join(map(str, row)) + f" | {moved / bandwidth:.2f} |", flush=True)


if __name__ == "__main__":
    main()
