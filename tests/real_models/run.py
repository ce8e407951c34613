#!/usr/bin/env python3
"""Runs trained models out of packages, with the packages' own programs where those need little, on Roundhouse and on ONNX Runtime.

run.py [--model NAME]... [--counts FILE]

Compares outputs and decisions, and prints time, creation time and memory as ratios (ONNX Runtime's by ours: above 1 is better) on one
thread; these never fail a model. The packages go to build/real_models, once; without a network the run is left out (exit code 77). Each
host is a process of its own for each model; the two take turns.
"""

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build"
sys.path.insert(0, str(HERE))

from files import FILES, path_of  # noqa: E402
from packages import TARGET, install  # noqa: E402
from programs import PROGRAMS  # noqa: E402

#: Launcher of each host.
HOSTS = {"onnxruntime": [], "roundhouse": ["-m", "roundhouse.as_onnxruntime"]}
TOLERANCE = 1e-3  # of an output's largest magnitude
HALF_TOLERANCE = 2e-2  # where a model computes in float16
HALF = {"isnet_fp16", "slovorez", "silero_vad_half"}
#: Models that quantise values as they run: the last bit of one moves it, and what follows from it, by a step of 8 bits. The root of the
#: mean square counts, and 999 of 1,000 choices.
STEP, CHOICES = 1 / 255, 0.999
QUANTISED = {"isnet_quint8", "minilm_int8", "ddddocr", *(name for name in PROGRAMS if name.startswith("tashkeel"))}
SECONDS = 0.15  # of each turn
LEFT_OUT = 77


class Host:
    """A process that has loaded a model."""

    def __init__(self, host, model, outputs):
        paths = [str(TARGET)] if host == "onnxruntime" else [str(BUILD / "release" / "python"), str(TARGET)]
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(paths), OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        environment["PYTHONWARNINGS"] = "ignore"
        command = [sys.executable, *HOSTS[host], str(HERE / "host.py"), model, str(outputs)]
        self.said = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said, text=True
        )

    def ask(self, command):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        self.said.seek(0)
        return {"fails": "process", "message": f"ended with {self.process.wait()}: {self.said.read().strip()[-300:]}"}

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.said.close()


def outputs_of(path):
    with np.load(path) as file:
        return [file[f"arr_{i}"] for i in range(len(file.files))]


def distance(theirs, ours, quantised):
    """The largest difference of an output, by its largest magnitude, or by 1e-3 where that is more: a probability next to none is none."""
    if len(theirs) != len(ours):
        return np.inf
    worst = 0.0
    for a, b in zip(theirs, ours):
        if a.shape != b.shape or a.dtype != b.dtype:
            return np.inf
        if a.size and a.dtype.kind in "fiub":
            a, b = a.astype("f8"), b.astype("f8")
            off = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
            far = np.sqrt((off**2).mean()) if quantised else off.max()
            worst = max(worst, float(np.nan_to_num(far, nan=np.inf) / max(np.abs(a[np.isfinite(a)]).max(initial=0.0), 1e-3)))
        elif a.size and (a != b).any():
            return np.inf
    return worst


def choices(theirs, ours, tolerance):
    """In how many places both choose alike, of how many, and how many ties they break otherwise: another choice within the tolerance.

    A choice is the largest entry of the last axis, or for what is no distribution over it the side of a half.
    """
    same = total = ties = 0
    for a, b in zip(theirs, ours):
        if a.dtype.kind != "f" or not a.ndim or not a.size or a.shape != b.shape:
            continue
        a, b = a.astype("f8"), b.astype("f8")
        least = 2 * tolerance * np.abs(a).max()
        shares = a.min() >= 0 and a.max() <= 1 and np.abs(a.sum(-1) - 1).max() > 1e-2
        if a.ndim == 1 or a.shape[-1] == 1 or shares:
            clear, alike = np.abs(a - 0.5) > least, (a >= 0.5) == (b >= 0.5)
        else:
            near = np.sort(a, -1)
            clear, alike = near[..., -1] - near[..., -2] > least, a.argmax(-1) == b.argmax(-1)
        same, total, ties = same + int((alike & clear).sum()), total + int(clear.sum()), ties + int((~alike & ~clear).sum())
    return same, total, ties


def answers(theirs, ours):
    """How many parts of a program's answer are alike, and of how many: text is equal, numbers are within a pixel."""
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        parts = [answers(a, b) for a, b in zip(theirs, ours)] or [(1, 1)]
        return tuple(sum(column) for column in zip(*parts))
    if isinstance(theirs, (int, float)) and isinstance(ours, (int, float)):
        return int(abs(theirs - ours) <= 1), 1
    return int(theirs == ours), 1


def differs_by_ties(theirs, ours, ties):
    """Whether two texts differ in no more characters than there are ties that the models break otherwise."""
    is_text = isinstance(theirs, str) and isinstance(ours, str) and len(theirs) == len(ours)
    return is_text and sum(a != b for a, b in zip(theirs, ours)) <= ties


def timed(hosts, command, limit=6.0):
    """The least of each host's answers. They take turns, six times, or twice where it takes long."""
    started, found = time.monotonic(), []
    while len(found) < 2 or (len(found) < 6 and time.monotonic() - started < limit):
        found.append([host.ask(command) for host in hosts])
    return [min(column) for column in zip(*found)]


def compare(model, hosts, folder):
    """A line for the table, whether the hosts agree (None: left out), and the three ratios."""
    theirs, ours = (host.ask("load") for host in hosts)
    if "fails" in theirs or "fails" in ours:
        said = "; ".join(f"{host}: {side.get('message', 'works')[:200]}" for host, side in zip(HOSTS, (theirs, ours)))
        if theirs.get("fails") == ours.get("fails") == "ModuleNotFoundError":
            return f"left out: {theirs['message']}", None, None
        return ("works here alone " if "fails" not in ours else "FAILS ") + f"({said})", "fails" not in ours, None
    if ("roundhouse" in theirs["runtime"], "roundhouse" in ours["runtime"]) != (False, True):
        return f"RUNTIMES: {theirs['runtime']}, {ours['runtime']}", False, None
    tolerance = HALF_TOLERANCE if model in HALF else STEP if model in QUANTISED else TOLERANCE
    values = [outputs_of(folder / f"{model}.{host}.npz") for host in HOSTS]
    far, (same, total, ties) = distance(*values, model in QUANTISED), choices(*values, tolerance)
    alike, parts = answers(theirs["answer"], ours["answer"]) if model in PROGRAMS else (0, 0)
    enough = total * (CHOICES if model in QUANTISED else 1)
    answered = alike == parts or differs_by_ties(theirs["answer"], ours["answer"], ties)
    good = far <= tolerance and same >= enough and answered
    times, creation = timed(hosts, f"run {SECONDS}"), timed(hosts, "create", 3.0)
    ratios = [times[0] / times[1], creation[0] / creation[1], theirs["memory"] / max(ours["memory"], 1)]
    line = f"{times[0]:9.3f}{times[1]:9.3f}{ratios[0]:7.2f}{ratios[1]:7.2f}{ratios[2]:7.2f}{far:10.1e}  {same + alike} of {total + parts}"
    return line + ("" if good else "  DIFFERS" + ("" if answered else f": {theirs['answer']} | {ours['answer']}"[:600])), good, ratios


def compare_model(model, folder):
    if model in FILES and not path_of(model):
        print(f"{model:20}left out: its package is missing")
        return None, None
    hosts = [Host(host, model, folder / f"{model}.{host}.npz") for host in HOSTS]
    try:
        line, good, ratios = compare(model, hosts, folder)
    finally:
        for host in hosts:
            host.close()
    print(f"{model:20}{line}", flush=True)
    return good, ratios


def left_out(reason):
    print(f"left out: {reason}")
    return LEFT_OUT


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", choices=[*PROGRAMS, *FILES])
    parser.add_argument("--counts", type=pathlib.Path)
    args = parser.parse_args()
    started, missing = time.monotonic(), install()
    if not (TARGET / "cv2").exists():
        return left_out("the packages cannot be installed: " + next(iter(missing.values()), ""))
    for package, reason in missing.items():
        print(f"{package} is missing: {reason}")
    print(f"{'model':20}{'stock ms':>9}{'ours ms':>9}{'time':>7}{'create':>7}{'memory':>7}{'outputs':>10}  decisions")
    with tempfile.TemporaryDirectory() as folder:
        found = [compare_model(model, pathlib.Path(folder)) for model in args.model or [*PROGRAMS, *FILES]]
    ratios = [ratios for _, ratios in found if ratios]
    if ratios:
        means = "".join(f"{mean:7.2f}" for mean in np.exp(np.log(ratios).mean(0)))
        print(f"{'geometric means':38}{means}  of {len(ratios)}, {time.monotonic() - started:.0f} s")
    good, bad = sum(good is True for good, _ in found), sum(good is False for good, _ in found)
    if not good + bad:
        return left_out("of no package a model could be run")
    print(f"{good} passed, {bad} failed")
    if args.counts:
        args.counts.write_text(json.dumps({"passed": good, "failed": bad}))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
