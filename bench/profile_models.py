#!/usr/bin/env python3
"""profile_models.py MODEL...: where the time of models goes, by operator and the way in which it computes, as a table in Markdown.

Shares are of the nodes' time, of a run's least for each way over `roundhouse profile --runs`; GFLOP/s counts the products of the definition
and stands beside the machine's peak of multiply-adds in registers (compute_bench), measured before each model.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile

import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--dims", default="batch=1,N=1,sequence=128,sequence_length=128", help="sizes of symbolic dimensions")
    parser.add_argument("--least", type=float, default=0.03, help="share below which ways are summed up as others")
    parser.add_argument("--build", default=ROOT / "build/release", type=pathlib.Path)
    return parser.parse_args()


def peak(build, threads):
    """GFLOP/s of multiply-adds in registers."""
    bench = build / "bin/compute_bench"
    command = [bench, str(threads), "--benchmark_filter=^add", "--benchmark_min_time=0.01"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(re.search(r"peak of multiply-add, GFLOP/s: ([0-9.]+)", printed.stdout + printed.stderr).group(1))


def symbolic(model):
    """Names of sizes of inputs that a model leaves open."""
    inputs = onnx.load(model, load_external_data=False).graph.input
    return {d.dim_param for value in inputs for d in value.type.tensor_type.shape.dim if d.dim_param}


def profile(build, model, threads, options):
    with tempfile.TemporaryDirectory() as folder:
        open_sizes = symbolic(model)
        dims = [word for dim in options.dims.split(",") if dim.split("=")[0] in open_sizes for word in ("-d", dim)]
        command = [build / "bin/roundhouse", "--json", "profile", model, "--threads", str(threads), "-n", str(options.runs), *dims]
        return json.loads(subprocess.run([*command, "--trace", f"{folder}/trace"], capture_output=True, text=True, check=True).stdout)


def row(model, threads, report, most, least):
    ways = report["variants"]
    total = sum(way["least_ms"] for way in ways)
    words, others = [], 0.0
    for way in sorted(ways, key=lambda way: -way["least_ms"]):
        share = way["least_ms"] / total
        if share < least:
            others += share
            continue
        text = f"{way['operator']}{', ' + way['variant'] if way['variant'] else ''} {share:.0%}"
        if way["gflops_per_s"]:
            speed = way["gflops_per_s"] * way["ms"] / way["least_ms"]
            text += f" ({speed:.0f}, {speed / most:.2f})"
        words.append(text.replace("%", " %"))
    if others >= 0.005:
        words.append(f"others {others:.0%}".replace("%", " %"))
    return f"| {pathlib.Path(model).stem} | {threads} | {report['run_ms']['min']:.3g} | {most:.0f} | {'; '.join(words)} |"


def main():
    options = arguments()
    print(
        "| model | threads | ms | peak, GFLOP/s | ways: share of the nodes' time (GFLOP/s, of the peak) |\n| --- | --- | --- | --- | --- |"
    )
    for model in options.models:
        for threads in map(int, options.threads.split(",")):
            most = peak(options.build, threads)
            print(row(model, threads, profile(options.build, model, threads, options), most, options.least), flush=True)


if __name__ == "__main__":
    main()
