#!/usr/bin/env python3
"""Fourier transforms beside ONNX Runtime, by turns in one process on one thread; prints a markdown table.

Run with PYTHONPATH=build/release/python. Each row: the best time of each, and the largest error against numpy in double, relative to the
largest value.
"""

import argparse
import time

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

import roundhouse

CPU = ["CPUExecutionProvider"]
DFTS = [(64, 512), (64, 400), (16, 1009), (1, 65536)]
STFTS = [(160000, 400, 160), (160000, 512, 128)]


def model(nodes, inputs, initializers, opset):
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    tensors = [helper.make_tensor(name, TensorProto.INT64, [], [value]) for name, value in initializers.items()]
    graph = helper.make_graph(nodes, "graph", infos, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9).SerializeToString()


def spectrum(batch, length):
    x = np.random.default_rng(0).standard_normal((batch, length, 1), np.float32)
    node = helper.make_node("DFT", ["x", "", "axis"], ["y"], onesided=1)
    expected = np.fft.rfft(x[..., 0].astype(np.float64), axis=-1)
    return f"DFT, {batch} x {length}, real", model([node], {"x": x.shape}, {"axis": 1}, 20), {"x": x}, expected


def frames(samples, length, step):
    x = np.random.default_rng(0).standard_normal((1, samples, 1), np.float32)
    window = np.hanning(length).astype(np.float32)
    pieces = np.lib.stride_tricks.sliding_window_view(x[:, :, 0].astype(np.float64), length, axis=1)[:, ::step] * window
    node = helper.make_node("STFT", ["x", "step", "window"], ["y"])
    name = f"STFT, {samples}, frames of {length} every {step}"
    serialized = model([node], {"x": x.shape, "window": window.shape}, {"step": step}, 17)
    return name, serialized, {"x": x, "window": window}, np.fft.rfft(pieces, axis=-1)


def session(module, serialized):
    options = module.SessionOptions()
    options.intra_op_num_threads = 1
    return module.InferenceSession(serialized, options, providers=CPU)


def measure(serialized, feed, expected, repeats):
    """(milliseconds, relative error) of each runtime."""
    sessions = [session(roundhouse, serialized), session(onnxruntime, serialized)]
    best, errors = [float("inf")] * 2, [0.0] * 2
    for _ in range(repeats):
        for i, s in enumerate(sessions):
            started = time.perf_counter()
            (y,) = s.run(None, feed)
            best[i] = min(best[i], time.perf_counter() - started)
            errors[i] = float(np.abs(y[..., 0] + 1j * y[..., 1] - expected).max() / np.abs(expected).max())
    return [(1e3 * seconds, error) for seconds, error in zip(best, errors)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=15)
    args = parser.parse_args()
    print(f"| | Roundhouse | ONNX Runtime {onnxruntime.__version__} | error | its error |\n| --- | --- | --- | --- | --- |")
    for name, serialized, feed, expected in [spectrum(*row) for row in DFTS] + [frames(*row) for row in STFTS]:
        (ours, our_error), (theirs, their_error) = measure(serialized, feed, expected, args.repeats)
        print(f"| {name} | {ours:.2f} ms | {theirs:.2f} ms | {our_error:.0e} | {their_error:.0e} |")


if __name__ == "__main__":
    main()
