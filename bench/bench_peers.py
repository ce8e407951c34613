#!/usr/bin/env python3
"""Times models side by side on several runtimes, interleaved in one run, and prints ratios.

Each runtime lives in a process of its own and keeps the model loaded; rounds alternate between the runtimes, so that noise of the machine
hits all alike; who loads first changes from row to row. A figure is the least mean over the rounds. Outputs are compared with
onnxruntime's (largest error over the largest magnitude). Inputs come from the model's `sample_inputs` metadata, else they are made up
from the declared shapes (--dims).
`speedup` is the best peer's time over the first runtime's: above 1 means that the first is faster.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

WORKER = pathlib.Path(__file__).with_name("peer_worker.py")
# Before each turn: the threads of ONNX Runtime that ran before spin for 40 ms more, on processors that the next one needs.
SETTLE_SECONDS = 0.1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument(
        "--runtimes", default="roundhouse,onnxruntime", help="openvino may be added; the first one is compared with the others"
    )
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--precision", default="fp32", choices=["fp32", "fast", "bf16"])
    parser.add_argument(
        "--clock", default="wall", choices=["wall", "processor"], help="processor: time of all threads; for 1 thread on a busy machine"
    )
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=0.4, help="of each round")
    parser.add_argument("--dims", default="batch=1,N=1,sequence=128,sequence_length=128", help="sizes of symbolic dimensions")
    parser.add_argument("--json", help="file to write the rows to")
    parser.add_argument("--markdown", action="store_true", help="print a table for docs/measurements.md as well")
    return parser.parse_args()


class Worker:
    def __init__(self, runtime, model, threads, args, folder):
        self.outputs = os.path.join(folder, f"{runtime}.npz")
        dims = {name: int(size) for name, size in (pair.split("=") for pair in args.dims.split(","))}
        command = [sys.executable, WORKER, runtime, model, str(threads), args.precision, json.dumps(dims), self.outputs, args.clock]
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": "1"}  # numpy's threads spin when made
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, env=environment
        )
        self.info = self.answer()
        self.best = math.inf

    def answer(self):
        """The next line of JSON; None when the process has died."""
        for line in self.process.stdout:
            if line[0] in "{0123456789":
                return json.loads(line)
        return None

    def measure(self, seconds):
        self.process.stdin.write(f"{seconds}\n")
        self.process.stdin.flush()
        time = self.answer()
        self.best = min(self.best, time)
        return time

    def error(self):
        self.errors.seek(0)
        lines = self.errors.read().strip().splitlines()
        return lines[-1][:200] if lines else "died"

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def largest_error(ours, reference):
    """Largest difference over the largest magnitude, the worst of all outputs."""
    with np.load(ours) as a, np.load(reference) as e:
        worst = 0.0
        for name in e.files:
            if a[name].shape != e[name].shape:
                return math.inf
            if e[name].size:
                worst = max(worst, float(np.abs(a[name] - e[name]).max() / (np.abs(e[name]).max() + 1e-30)))
        return worst


def measure(model, threads, args, folder, turn):
    runtimes = args.runtimes.split(",")
    begin = -turn % len(runtimes)  # whoever loads first may pay for large pages that the machine's host has to bring back
    made = {runtime: Worker(runtime, model, threads, args, folder) for runtime in runtimes[begin:] + runtimes[:begin]}
    workers = {runtime: made[runtime] for runtime in runtimes}
    alive = {runtime: w for runtime, w in workers.items() if w.info}
    for _ in range(args.rounds):
        for worker in alive.values():
            time.sleep(SETTLE_SECONDS)
            worker.measure(args.seconds)
    for worker in alive.values():
        worker.stop()
    first, *others = workers
    peers = [alive[o].best for o in others if o in alive]
    compared = first in alive and "onnxruntime" in alive and first != "onnxruntime"
    return {
        "model": pathlib.Path(model).stem,
        "threads": threads,
        "runtimes": {r: {"best_s": w.best, **w.info} if w.info else {"error": w.error()} for r, w in workers.items()},
        "speedup": min(peers) / alive[first].best if first in alive and peers else None,
        "error": largest_error(workers[first].outputs, workers["onnxruntime"].outputs) if compared else None,
    }


def cell(row, runtime, key, scale, digits):
    value = row["runtimes"][runtime].get(key)
    return "-" if value is None else f"{value * scale:.{digits}f}"


def columns(row):
    """Times in ms for each runtime, then the pairs ours / peers of first run, load and memory."""

    def together(key, scale, digits):
        return " / ".join(cell(row, r, key, scale, digits) for r in row["runtimes"])

    ratio = "-" if row["speedup"] is None else f"{row['speedup']:.2f}"
    error = "-" if row["error"] is None else f"{row['error']:.1e}"
    times = [cell(row, r, "best_s", 1e3, 3) for r in row["runtimes"]]
    memory = [together("first", 1e3, 1), together("load", 1, 2), together("rss", 1, 0)]
    return [row["model"], str(row["threads"]), *times, ratio, *memory, error]


def main():
    args = arguments()
    runtimes = args.runtimes.split(",")
    heading = ["model", "threads", *(f"{r} ms" for r in runtimes), "speedup", "first run ms", "load s", "MiB", "error"]
    rows = []
    print("  ".join(heading))
    with tempfile.TemporaryDirectory() as folder:
        for i, model in enumerate(args.models):
            for j, threads in enumerate(map(int, args.threads.split(","))):
                rows.append(measure(model, threads, args, folder, i + j))
                print("  ".join(columns(rows[-1])), flush=True)
                for runtime, info in rows[-1]["runtimes"].items():
                    if "error" in info:
                        print(f"    {runtime}: {info['error']}")
    for threads in sorted({r["threads"] for r in rows}):
        speedups = [r["speedup"] for r in rows if r["threads"] == threads and r["speedup"]]
        if speedups:
            mean = math.exp(sum(map(math.log, speedups)) / len(speedups))
            print(f"{threads} thread(s): geometric mean of speedups {mean:.2f} over {len(speedups)} models, least {min(speedups):.2f}")
    if args.markdown:
        print(f"\n| {' | '.join(heading)} |\n|{' --- |' * len(heading)}")
        print("\n".join(f"| {' | '.join(columns(r))} |" for r in rows))
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
