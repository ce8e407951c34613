#!/usr/bin/env python3
"""compare_builds.py BASE NEW MODEL...: whether one build of Roundhouse runs models slower than another one.

BASE and NEW are folders with the package, such as build/release/python. Each has a process of its own with the model loaded; rounds take
turns, and each round gives one ratio of NEW's time to BASE's. Rounds go on until the 95 % interval of the median ratio, which orders of the
ratios give without any assumption on noise, lies on one side of --limit, or is within 1 % of the median, or --rounds are over. The exit
status is 1 where a model is slower than --limit. With --creation the time is that of creating a session.
"""

import argparse
import math
import os
import pathlib
import statistics
import sys
import tempfile
from types import SimpleNamespace

from bench_peers import Worker

LEAST_ROUNDS = 8


def median_interval(values):
    """The least and largest values between which the median of what they are drawn from lies with a probability of at least 95 %."""
    ordered, count = sorted(values), len(values)
    outside, rank = 0.5**count, 0  # the chance that fewer than rank + 1 values are below the median
    while rank + 1 < count / 2 and outside + math.comb(count, rank + 1) * 0.5**count <= 0.025:
        rank += 1
        outside += math.comb(count, rank) * 0.5**count
    return ordered[rank], ordered[count - 1 - rank]


def compare(model, threads, options, folder):
    """Median ratio, its interval, and the least times in seconds."""
    settings = SimpleNamespace(precision="fp32", clock=options.clock, dims=options.dims)
    workers = []
    for i, build in enumerate((options.base, options.new)):
        os.environ["PYTHONPATH"] = str(pathlib.Path(build).resolve())
        own = pathlib.Path(folder, str(i))
        own.mkdir(exist_ok=True)
        workers.append(Worker(options.module, model, threads, settings, str(own)))
    for worker in workers:
        if worker.info is None:
            raise SystemExit(f"{model}: {worker.error()}")
    ratios = []
    while len(ratios) < options.rounds:
        times = {}
        for worker in workers if len(ratios) % 2 == 0 else workers[::-1]:
            times[worker] = worker.measure("create" if options.creation else options.seconds)
        ratios.append(times[workers[1]] / times[workers[0]])
        if len(ratios) < LEAST_ROUNDS:
            continue
        low, high = median_interval(ratios)
        middle = statistics.median(ratios)
        if low > options.limit or (high < options.limit and high - low < 0.02 * middle):
            break
    for worker in workers:
        worker.stop()
    return statistics.median(ratios), median_interval(ratios), len(ratios), [w.best for w in workers]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base")
    parser.add_argument("new")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--limit", type=float, default=1.05, help="a ratio above it is a loss")
    parser.add_argument("--rounds", type=int, default=40, help="at most")
    parser.add_argument("--seconds", type=float, default=0.2, help="of each build in a round")
    parser.add_argument("--module", default="roundhouse", help="the package: onnxruntime compares two versions of a peer")
    parser.add_argument("--creation", action="store_true", help="times the creation of a session in place of runs")
    parser.add_argument("--clock", default="wall", choices=["wall", "processor"])
    parser.add_argument("--dims", default="batch=1,N=1,sequence=128,sequence_length=128", help="sizes of symbolic dimensions")
    options = parser.parse_args()
    lost = []
    print("| model | threads | base ms | new ms | new / base | 95 % of it | rounds | verdict |\n|" + " --- |" * 8)
    with tempfile.TemporaryDirectory() as folder:
        for model in options.models:
            for threads in map(int, options.threads.split(",")):
                ratio, (low, high), rounds, (base, new) = compare(model, threads, options, folder)
                verdict = "slower" if low > options.limit else "not slower" if high < options.limit else "not known"
                name = pathlib.Path(model).stem
                cells = [
                    name,
                    threads,
                    f"{base * 1e3:.3g}",
                    f"{new * 1e3:.3g}",
                    f"{ratio:.3f}",
                    f"{low:.3f} to {high:.3f}",
                    rounds,
                    verdict,
                ]
                print("|", " | ".join(map(str, cells)), "|", flush=True)
                if verdict == "slower":
                    lost.append(name)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
