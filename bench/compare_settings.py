#!/usr/bin/env python3
"""compare_settings.py KEY=VALUE KEY=VALUE MODEL...: two settings of a session by turns in one process; prints a markdown table.

Run with PYTHONPATH=build/release/python. Inputs come from the model's `sample_inputs` metadata, else from its declared shapes. Each row:
the least time of a round with each setting, the ratios of the second's least and median to the first's, and how far outputs differ.
"""

import argparse
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import numpy_helper

import roundhouse

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tests/models"))
from common import sample_inputs  # noqa: E402

RUNS = 3  # of a round


def cut(path, folder):
    """The model with the values of its float weights cut to those that bfloat16 has."""
    model = onnx.load(path)
    for weight in model.graph.initializer:
        if weight.data_type == onnx.TensorProto.FLOAT:
            values = (numpy_helper.to_array(weight).view("u4") & 0xFFFF0000).view("f4")
            weight.CopyFrom(numpy_helper.from_array(values, weight.name))
    changed = pathlib.Path(folder) / pathlib.Path(path).name
    onnx.save(model, changed)
    return changed


def session(path, setting, threads):
    options = roundhouse.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry(*setting.split("=", 1))
    return roundhouse.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def measure(path, settings, threads, rounds):
    sessions = [session(path, setting, threads) for setting in settings]
    feeds = sample_inputs(pathlib.Path(path), 0)
    first, second = (s.run(None, feeds) for s in sessions)
    difference = max(float(np.max(np.abs(a - b), initial=0)) for a, b in zip(first, second, strict=True))
    times = [[], []]
    for _ in range(rounds):
        for s, spent in zip(sessions, times, strict=True):
            started = time.perf_counter()
            for _ in range(RUNS):
                s.run(None, feeds)
            spent.append((time.perf_counter() - started) / RUNS)
    least, median = [min(spent) for spent in times], [statistics.median(spent) for spent in times]
    return f"{least[0] * 1e3:.2f} | {least[1] * 1e3:.2f} | {least[1] / least[0]:.3f} | {median[1] / median[0]:.3f} | {difference:.1e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs=2, metavar="KEY=VALUE")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--cut", action="store_true", help="weights are first cut to values that bfloat16 has")
    args = parser.parse_args()
    print(f"| model | threads | {args.settings[0]}, ms | {args.settings[1]}, ms | ratio | of medians | difference |\n{'| --- ' * 7}|")
    with tempfile.TemporaryDirectory() as folder:
        for model in args.models:
            path = cut(model, folder) if args.cut else model
            for threads in map(int, args.threads.split(",")):
                print(f"| {pathlib.Path(model).stem} | {threads} | {measure(path, args.settings, threads, args.rounds)} |", flush=True)


if __name__ == "__main__":
    main()
