#!/usr/bin/env python3
"""Times single operators beside ONNX Runtime (and OpenVINO where it is installed) at three sizes, interleaved in one process.

A figure is the least of the repetitions over all rounds. `speedup` is the best peer's time over Roundhouse's: above 1 means that Roundhouse
is faster. A case that a runtime refuses, or for which it gives outputs of other sizes, counts as not there.
"""

import argparse
import importlib
import math
import os
import re
import sys
import time

from attention_cases import ATTENTION_CASES
from contrib_operator_cases import CONTRIB_CASES
from more_operator_cases import MORE_CASES
from operator_cases import CASES
from rare_operator_cases import RARE_CASES

CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


def runner(runtime, data, threads):
    """A function that runs the model on feeds; None where the runtime does not take it."""
    try:
        if runtime == "openvino":
            core = importlib.import_module("openvino").Core()
            hint = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1}
            request = core.compile_model(core.read_model(data), "CPU", hint).create_infer_request()
            return lambda feeds: request.infer(feeds, share_inputs=True, share_outputs=True)
        module = importlib.import_module(runtime)
        options = module.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4
        session = module.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        return lambda feeds: session.run(None, feeds)
    except Exception:  # whatever a runtime throws
        return None


def least_times(runners, feeds, seconds, rounds, clock=time.perf_counter):
    """The least time of each runner, None where it fails, or where its outputs have other sizes than the first one's."""
    least, expected = {}, None
    for name, run in runners.items():
        try:
            started = clock()
            outputs = run(feeds)
            least[name] = clock() - started
        except Exception:
            least[name] = None
            continue
        sizes = [getattr(x, "size", None) for x in (outputs.values() if hasattr(outputs, "values") else outputs)]
        expected = expected or sizes
        if sizes != expected:
            least[name] = None
    for _ in range(rounds):
        for name, run in runners.items():
            if least[name] is None:
                continue
            end = clock() + seconds
            while True:
                started = clock()
                run(feeds)
                now = clock()
                least[name] = min(least[name], now - started)
                if now > end:
                    break
    return least


def page_head(args, runtimes):
    """The title of the written page: how to repeat it, and on what it was measured."""
    versions = [f"{r} {getattr(importlib.import_module(r), '__version__', '')}".strip() for r in runtimes]
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "an unknown processor")
    numbers = f"--threads {args.threads} --rounds {args.rounds} --seconds {args.seconds}"
    clock = "" if args.clock == "wall" else f" --clock {args.clock}"
    command = f"bench/compare_operators.py --runtimes {args.runtimes} {numbers}{clock} --markdown FILE"
    return (
        f"# Operators beside their peers\n\nWritten by `{command}`.\n{', '.join(versions)}; {model}, {os.cpu_count()} processors, "
        f"{args.threads} thread(s). {__doc__.splitlines()[2]} {' '.join(__doc__.splitlines()[3:])} "
        "Rows may be of later runs (`--only OPERATOR --update FILE`).\n\n"
    )


def summary(rows):
    """The lines below a table's rows: the mean of the speedups, and what is below 1."""
    logarithms, slower = [], []
    for row in rows:
        name, sizes, _, speedups = row.strip("| ").split(" | ")
        for size, speedup in zip(sizes.split(", "), speedups.split(", "), strict=True):
            if speedup == "-":
                continue
            logarithms.append(math.log(float(speedup)))
            if float(speedup) < 1:
                slower.append(f"- {name} {size}: {speedup}")
    if not logarithms:
        return []
    mean = math.exp(sum(logarithms) / len(logarithms))
    return ["", f"The geometric mean of {len(logarithms)} speedups is {mean:.2f}; {len(slower)} are below 1:", "", *slower]


def timed_row(name, build, sizes, runtimes, args):
    times, speedups = [], []
    for size in sizes:
        data, feeds = build(*size)
        runners = {r: run for r in runtimes if (run := runner(r, data, args.threads))}
        least = least_times(runners, feeds, args.seconds, args.rounds, CLOCKS[args.clock])
        times.append(" / ".join(f"{1e6 * least[r]:.3g}" if least.get(r) else "-" for r in runtimes))
        peers = [least[r] for r in runtimes[1:] if least.get(r)]
        own = least.get(runtimes[0])
        speedups.append(f"{min(peers) / own:.2f}" if own and peers else "-")
    return f"| {name} | {', '.join('x'.join(map(str, s)) for s in sizes)} | {', '.join(times)} | {', '.join(speedups)} |"


def update_table(path, rows):
    """Replaces rows of a written table by those of the same operators, adds those it lacks, and renews what stands below it."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    first = next(i for i, line in enumerate(lines) if line.startswith("| ---")) + 1
    last = next(i for i in range(first, len(lines)) if not lines[i].startswith("|"))
    changed = {row.split(" | ")[0]: row for row in rows}
    rest = next(i for i in range(last + 1, len(lines) + 1) if i == len(lines) or lines[i].startswith(("## ", "# ")))
    table = [changed.pop(line.split(" | ")[0], line) for line in lines[first:last]] + [*changed.values()]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*lines[:first], *table, *summary(table), "", *lines[rest:]]).rstrip("\n") + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtimes", default="roundhouse,onnxruntime", help="openvino may be added; the first is compared with the others")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.02, help="of each round")
    parser.add_argument("--clock", default="wall", choices=[*CLOCKS], help="processor: time of all threads; for 1 thread on a busy machine")
    parser.add_argument("--only", default="", help="times the operators in whose names this regular expression is found")
    parser.add_argument("--markdown", help="also writes the table, and what it was measured with, to this file")
    parser.add_argument("--update", help="a file that --markdown has written, in which the rows of what is timed are replaced")
    args = parser.parse_args()
    runtimes = args.runtimes.split(",")
    head = f"| operator | sizes | {' / '.join(runtimes)}, microseconds | speedup |\n| --- | --- | --- | --- |"
    print(head, flush=True)
    rows = []
    for name, build, sizes in [*CASES, *MORE_CASES, *ATTENTION_CASES, *RARE_CASES, *CONTRIB_CASES]:
        if re.search(args.only, name):
            rows.append(timed_row(name, build, sizes, runtimes, args))
            print(rows[-1], flush=True)
    print("\n".join(summary(rows)))
    if args.markdown:
        with open(args.markdown, "w", encoding="utf-8") as file:
            file.write(page_head(args, runtimes) + "\n".join([head, *rows, *summary(rows)]) + "\n")
    if args.update:
        update_table(args.update, rows)


if __name__ == "__main__":
    sys.exit(main())
