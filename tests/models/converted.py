#!/usr/bin/env python3
"""converted.py [MODEL...]: converts models to float16 with the command, runs them on Roundhouse and on ONNX Runtime, and prints how far
outputs are off those of float32, as a table.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime
from common import MODELS, model_path, sample_inputs, session

import roundhouse

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("ROUNDHOUSE_CLI", str(ROOT / "build/release/bin/roundhouse"))

#: Of each model: the most that an output may be off, relative to its largest magnitude; of the detector: the share of detections that may
#: be missing. The first three compute on codes of 8 or 4 bits, and a rounding of float16 moves some values to the next code.
BOUNDS = {
    "bert_base_int8_dynamic": 1e-1,
    "llama_tiny_int4": 1e-1,
    "resnet50_int8_qdq": 1e-3,
    "bert_base": 1e-2,
    "bert_base_fp16": 1e-2,
    "convnext_tiny": 3e-3,
    "deeplabv3_mobilenet_v3_large": 2e-2,
    "distilbert": 5e-3,
    "efficientnet_b0": 2e-2,
    "gpt2": 5e-3,
    "llama_tiny": 1e-2,
    "lstm_tagger": 3e-3,
    "mobilenetv3_large_100": 4e-2,
    "mobilenetv3_large_100_fp16": 1e-2,
    "resnet50": 3e-2,
    "ssdlite320_mobilenet_v3_large": 6e-2,
    "unet": 5e-3,
    "vit_small_patch16_224": 5e-3,
    "whisper_tiny_encoder": 5e-3,
}


def convert(path, output, *arguments):
    """The report of `roundhouse convert`."""
    done = subprocess.run([BINARY, "convert", path, output, *arguments, "--json"], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def unoptimized(path):
    """A session of ours that rounds to float16 behind every node, as the model says."""
    options = roundhouse.SessionOptions()
    options.intra_op_num_threads = 2
    options.graph_optimization_level = roundhouse.GraphOptimizationLevel.ORT_DISABLE_ALL
    return roundhouse.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def relative_error(actual, expected):
    """The largest error, relative to the largest magnitude; infinite where a value is not finite."""
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    if not expected.size or actual.dtype.kind != "f":
        return 0.0
    if not np.isfinite(actual).all():
        return float("inf")
    return float(np.abs(actual.astype("f8") - expected.astype("f8")).max() / max(np.abs(expected).max(), 1e-30))


def stock(path):
    """A session of ONNX Runtime, without the optimizer for which its package of 1.32 ends in a fault on lstm_tagger in float16."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"], disabled_optimizers=["NchwcTransformer"])


#: How a model is run, by the names of the table's columns.
WAYS = {"each node rounded": unoptimized, "optimised": lambda path: session(roundhouse, path, 2), "ONNX Runtime": stock}


def missing_detections(actual, expected, tolerance=0.05):
    """The share of detections of which there is none of the same label near by."""
    boxes, scores, labels = actual
    scale_box, scale_score = np.abs(expected[0]).max(), np.abs(expected[1]).max()
    missing = 0
    for box, score, label in zip(*expected):
        near = (labels == label) & (np.abs(scores - score) <= tolerance * scale_score)
        missing += not (near & (np.abs(boxes - box) <= tolerance * scale_box).all(axis=1)).any()
    return missing / len(expected[0])


def error_of(name, actual, expected):
    if name.startswith("ssdlite"):
        assert all(np.isfinite(a).all() for a in actual)
        return missing_detections(actual, expected)
    return max(relative_error(a, e) for a, e in zip(actual, expected))


def nodes_that_overflow(path, feeds, folder):
    """The nodes that make an infinity or NaN of finite values, where each rounds to float16."""
    arguments = []
    for i, (name, array) in enumerate(feeds.items()):
        np.save(pathlib.Path(folder) / f"{i}.npy", array)
        arguments += ["-i", f"{name}={folder}/{i}.npy"]
    command = [BINARY, "compare", path, "--nan", "-O", "0", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 3), done.stderr
    return json.loads(done.stdout)["sources"]


def errors(name, folder, *arguments):
    """The report of the conversion, the nodes that overflow, and for each way to run how far the result is off the model itself."""
    path, narrow = model_path(name), pathlib.Path(folder) / f"{name}.onnx"
    report = convert(path, narrow, *(arguments or ("--precision", "float16")))
    feeds = sample_inputs(path)
    found = {}
    for way, make in WAYS.items():
        expected = make(path).run(None, feeds)
        found[way] = error_of(name, make(narrow).run(None, feeds), expected)
    return report, nodes_that_overflow(narrow, feeds, folder), found


def main():
    columns = ["model", "converted", "kept", "Casts", "weights", *WAYS]
    print(f"| {' | '.join(columns)} |\n| {' | '.join('---' for _ in columns)} |")
    for name in sys.argv[1:] or MODELS:
        with tempfile.TemporaryDirectory() as folder:
            report, overflowing, found = errors(name, folder)
        assert not overflowing, overflowing
        weights = report["weight_bytes"]["after"] / max(report["weight_bytes"]["before"], 1)
        counts = f"{len(report['converted'])} | {len(report['kept'])} | {report['added_nodes']} | {weights:.2f}"
        print(f"| {name} | {counts} | " + " | ".join(f"{error:.1e}" for error in found.values()) + " |", flush=True)


if __name__ == "__main__":
    main()
