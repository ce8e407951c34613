#!/usr/bin/env python3
"""Runs models with regions on the fake device in Roundhouse and in onnxruntime, and prints a table.

measure_device_regions.py [MODEL...]
measure_device_regions.py --node NODE MODEL     what a run costs when that node alone is a region on the device, by turns with the CPU

A row is a model and the share of its nodes that the device runs; of each host it has the units, the copies to and from the device and
the waits of a run, the device's bytes by those of the weights, and the difference from the same host's CPU. Each row is made in a process
of its own. Exits 1 where results differ, a region is compiled in a run, or weights are on the device more than once.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / folder) for folder in ("tests/kit", "tests/models")]
HOSTS = ("roundhouse", "onnxruntime")
FULL, FEW = 1e-4, 5e-2  # how much further apart than their CPUs hosts may be, of the largest magnitude; where a model computes in few bits


def work(name, percent):
    from common import model_path
    from device_models import FLOAT32, measure, weight_bytes

    path = model_path(name)
    rows, between, plain = measure(path, percent)
    print(json.dumps({"rows": rows, "between": between, "plain": plain, "weights": weight_bytes(path), "bound": FLOAT32}))


def measure_node(name, node, rounds=60):
    """The median ratio of a run with the node on the device to one on the CPU alone, and the milliseconds of both."""
    from common import model_path, sample_inputs
    from fake_device import counted
    from hosts import FAKE, devices_of, registered

    import roundhouse

    path, options = model_path(name), roundhouse.SessionOptions()
    options.intra_op_num_threads = 1
    feeds = sample_inputs(path)
    alone = roundhouse.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    with registered(roundhouse, FAKE):
        shared = roundhouse.SessionOptions()
        shared.intra_op_num_threads = 1
        shared.add_provider_for_devices(devices_of(roundhouse, FAKE)[:1], {"kind": "regions", "claim": node})
        divided = roundhouse.InferenceSession(path, shared)
        with counted() as counts:
            divided.run(None, feeds)
        alone.run(None, feeds)
        times = {"cpu": [], "divided": []}
        for _ in range(rounds):
            for which, given in (("cpu", alone), ("divided", divided)):
                started = time.perf_counter()
                given.run(None, feeds)
                times[which].append(time.perf_counter() - started)
        del divided
    ratio = statistics.median(b / a for a, b in zip(times["cpu"], times["divided"], strict=True))
    print(f"{name}: {ratio:.3f} of the CPU's time, {min(times['cpu']) * 1e3:.1f} and {min(times['divided']) * 1e3:.1f} ms;", counts)


def problems(name, percent, answer):
    few_bits = any(word in name for word in ("fp16", "int8", "int4"))
    if answer["between"] > answer["plain"] + (FEW if few_bits else FULL):
        yield "hosts differ by more than their CPUs do"
    for host, row in answer["rows"].items():
        if row["difference"] > (FEW if few_bits else answer["bound"]):
            yield f"{host}: results differ from the CPU's"
        if row["compilations"]:
            yield f"{host}: {row['compilations']} regions compiled in a run"
        if row["bytes"] > 1.1 * answer["weights"]:
            yield f"{host}: weights are on the device more than once"


def table_row(name, percent, answer):
    """Where hosts agree a cell has one entry, else Roundhouse's and the other's."""

    def cell(text):
        return " / ".join(dict.fromkeys(text(answer["rows"][host]) for host in HOSTS))

    cells = [
        name,
        f"{percent} %",
        cell(lambda row: str(row["units"])),
        cell(lambda row: f"{row['copies_in']}, {row['copies_out']}"),
        cell(lambda row: str(row["waits"])),
        cell(lambda row: f"{row['bytes'] / answer['weights']:.2f}"),
        cell(lambda row: f"{row['difference']:.1g}"),
        f"{answer['between']:.1g}",
        f"{answer['plain']:.1g}",
    ]
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--percent", type=int, action="append")
    parser.add_argument("--node")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return work(args.worker[0], int(args.worker[1]))
    if args.node:
        return measure_node(args.models[0], args.node)
    from common import MODELS

    print(
        "| model | share | units | copies in, out | waits | bytes by weights | off from the CPU | hosts apart | their CPUs |\n| --- |"
        + " --- |" * 8
    )
    failed = False
    for name in args.models or MODELS:
        for percent in args.percent or (5, 50, 100):
            command = [sys.executable, __file__, "--worker", name, str(percent)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                print(f"| {name} | {percent} % | failed: {done.stderr.strip().splitlines()[-1:]} |", flush=True)
                failed = True
                continue
            answer = json.loads(done.stdout.splitlines()[-1])
            print(table_row(name, percent, answer), flush=True)
            for problem in problems(name, percent, answer):
                print(f"  {problem}", flush=True)
                failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
