#!/usr/bin/env python3
"""Measures memory: further sessions of a model, runs of many shapes, first runs of a shape, and what trim gives back.

measure_memory.py [--modules roundhouse,onnxruntime] [--runs 1000] MODEL...

Every figure comes from a process of its own. `sessions`: resident (RSS) and proportional (PSS) memory after one, two and three
sessions of a model, each run once. `lean`: resident memory after one session and run, of Roundhouse with roundhouse.memory = lean.
`shapes`: runs with random batches and lengths; the most memory beyond that of loading, and its slope over the last half. `first`: the
time of the first run of a shape over the least of the next three. `trim`: how much is given back (of onnxruntime: by a run with
memory.enable_memory_arena_shrinkage) of what a run of the largest shape left behind: anonymous memory, which code is not, after the
caller's results are gone.
"""

import argparse
import gc
import importlib
import json
import pathlib
import subprocess
import sys
import time

import numpy as np

CPU = ["CPUExecutionProvider"]
MEBI = 2**20


def memory(field: str) -> float:
    """A field of smaps_rollup in MiB: Rss, Pss or Anonymous."""
    with open("/proc/self/smaps_rollup") as rollup:
        return next(int(line.split()[1]) / 1024 for line in rollup if line.startswith(field + ":"))


def create(module, model, lean=False):
    options = module.SessionOptions()
    options.log_severity_level = 3
    if lean:
        options.add_session_config_entry("roundhouse.memory", "lean")
    options.intra_op_num_threads = 1
    return module.InferenceSession(str(model), options, providers=CPU)


TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": np.bool_}


def feed(session, sizes: dict, rng) -> dict:
    """Inputs with named dimensions as `sizes` says, others 1; integers are small, so that they suit as tokens.

    A decoder's total_sequence is what its past_sequence and sequence add up to.
    """
    sizes = sizes | {"total_sequence": sizes.get("past_sequence", 1) + sizes.get("sequence", 1)}
    values = {}
    for value in session.get_inputs():
        shape = [d if isinstance(d, int) else sizes.get(d, 1) for d in value.shape]
        dtype = TYPES[value.type]
        if dtype is np.float32:
            values[value.name] = rng.standard_normal(shape).astype(dtype)
        else:
            values[value.name] = (rng.integers(1, 50, shape) if value.name.endswith("input_ids") else np.ones(shape)).astype(dtype)
    return values


def names_of(session) -> list[str]:
    return sorted({d for value in session.get_inputs() for d in value.shape if isinstance(d, str)})


def measure_sessions(module, model, _):
    before = {field: memory(field) for field in ("Rss", "Pss")}
    sessions, rows = [], {"Rss": [], "Pss": []}
    for _ in range(3):
        sessions.append(create(module, model))
        sessions[-1].run(None, feed(sessions[-1], {}, np.random.default_rng(0)))
        gc.collect()
        for field, row in rows.items():
            row.append(round(memory(field) - before[field], 1))
    return rows


def measure_lean(module, model, _):
    rng = np.random.default_rng(0)  # whose libraries are loaded here
    before = memory("Rss")
    session = create(module, model, lean=module.__name__ == "roundhouse")
    session.run(None, feed(session, {}, rng))
    gc.collect()
    return {"mib": round(memory("Rss") - before, 1)}


def random_sizes(names, rng) -> dict:
    """Up to 4 in a batch, up to 128 of whatever else the model names."""
    return {name: int(rng.integers(1, 5 if "batch" in name.lower() or len(names) == 1 else 129)) for name in names}


def measure_shapes(module, model, runs):
    session, rng = create(module, model), np.random.default_rng(1)
    names = names_of(session)
    session.run(None, feed(session, {}, rng))
    before, series = memory("Rss"), []
    for i in range(runs):
        session.run(None, feed(session, random_sizes(names, rng), rng))
        if i % 10 == 9:
            gc.collect()
            series.append(memory("Rss") - before)
    half = series[len(series) // 2 :]
    slope = float(np.polyfit(np.arange(len(half)) * 10, half, 1)[0]) * 1000
    row = {"high_water_mib": round(max(series), 1), "slope_mib_per_1000_runs": round(slope, 2)}
    if hasattr(session, "memory_plan"):
        largest = {name: 4 if "batch" in name.lower() or len(names) == 1 else 128 for name in names}
        plan = session.memory_plan(dimensions=largest)
        row["largest_plan_mib"] = round((plan["arena_bytes"] + plan["output_bytes"] + plan["scratch_bytes"]) / MEBI, 1)
        row["frames_mib"] = round(session.statistics()["frame_bytes"] / MEBI, 1)
        row["bindings"] = session.statistics()["plan_bindings"]
    return row


def measure_first(module, model, _):
    session, rng = create(module, model), np.random.default_rng(2)
    names, ratios = names_of(session), []
    session.run(None, feed(session, {}, rng))
    for _ in range(12):
        values = feed(session, random_sizes(names, rng), rng)
        times = []
        for _ in range(4):
            begin = time.perf_counter()
            session.run(None, values)
            times.append(time.perf_counter() - begin)
        ratios.append(times[0] / min(times[1:]))
    return {"median": round(float(np.median(ratios)), 2), "worst": round(max(ratios), 2)}


def trim(module, session, small: dict) -> None:
    if hasattr(session, "trim"):
        session.run(None, small)
        session.trim()
    else:
        options = module.RunOptions()
        options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
        session.run(None, small, options)
    gc.collect()


def measure_trim(module, model, _):
    session, rng = create(module, model), np.random.default_rng(3)
    names = names_of(session)
    largest = {name: 4 if "batch" in name.lower() or len(names) == 1 else 128 for name in names}
    values, small = feed(session, largest, rng), feed(session, {}, rng)
    trim(module, session, small)  # what loading left behind is not counted
    idle = memory("Anonymous")
    session.run(None, values)
    gc.collect()
    used = memory("Anonymous")
    trim(module, session, small)
    after = memory("Anonymous")
    share = (used - after) / max(used - idle, 0.1)
    return {"kept_mib": round(used - idle, 2), "left_mib": round(after - idle, 2), "given_back": round(share, 3)}


MEASURES = {"sessions": measure_sessions, "lean": measure_lean, "shapes": measure_shapes, "first": measure_first, "trim": measure_trim}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--modules", default="roundhouse,onnxruntime")
    parser.add_argument("--measures", default=",".join(MEASURES))
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        module = importlib.import_module(arguments.modules)
        print(json.dumps(MEASURES[arguments.measures](module, arguments.models[0], arguments.runs)))
        return
    for measure in arguments.measures.split(","):
        for model in arguments.models:
            for name in arguments.modules.split(","):
                command = [sys.executable, __file__, str(model), "--worker", "--measures", measure]
                command += ["--modules", name, "--runs", str(arguments.runs)]
                row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
                print(f"{measure:9s} {model.stem:24s} {name:12s} {row}", flush=True)


if __name__ == "__main__":
    main()
