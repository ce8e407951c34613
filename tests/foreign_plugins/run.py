#!/usr/bin/env python3
"""Loads providers that others built into Roundhouse and into ONNX Runtime, and compares who runs which nodes, and what comes out.

run.py [--plugin NAME]... [--model NAME]... [--level LEVEL] [--counts FILE]

The packages of requirements.txt go to build/foreign_plugins, once; without a network the run is left out (exit code 77). Each host is a
process of its own for each plugin. A plugin that finds no device that it can use is left out, with a line.
"""

import argparse
import difflib
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build"
sys.path.insert(0, str(HERE.parent / "models"))

from common import model_path, sample_inputs  # noqa: E402

MODELS = ["resnet50", "mobilenetv3_large_100", "lstm_tagger", "distilbert", "ssdlite320_mobilenet_v3_large"]
#: Folder in the packages, library, its provider, options.
PLUGINS = {
    "ggml": ("onnxruntime_ggml/lib", "libonnxruntime_ggml.so", "ggml", {"device": "cpu", "threads": "1"}),
    "ggml_partial": ("onnxruntime_ggml/lib", "libonnxruntime_ggml.so", "ggml", {"device": "cpu", "threads": "1", "partial": "1"}),
    "nxrt": ("nxrt_ep_cpu", "libonnx_runtime_ep_cpu_plugin.so", "nxrt", {}),
    "qnn": ("onnxruntime_qnn", "libonnxruntime_providers_qnn.so", "QNNExecutionProvider", {"backend_path": "{folder}/libQnnHtp.so"}),
    "openvino": (
        "onnxruntime_ep_openvino",
        "libonnxruntime_providers_openvino_plugin.so",
        "OpenVINOExecutionProvider",
        {"load_config": '{"CPU": {"INFERENCE_PRECISION_HINT": "f32"}}'},
    ),
    "webgpu": ("onnxruntime_ep_webgpu", "libonnxruntime_providers_webgpu.so", "WebGpuExecutionProvider", {}),
}
#: Of which the hosts' calls are recorded, as tests/plugins/test_recorder.py does, and what they call their provider.
RECORDED = {"ggml": "ggml", "nxrt": "cpu_ep"}
HOSTS = ("onnxruntime", "roundhouse")
TOLERANCE = 1e-3  # of the largest magnitude: the plugins are the same, the hosts' CPU providers are not
LEAST_NAMED = 0.6  # of the nodes of either host: those whose names both have are compared; a host may inline some
LEAST_WORDS = 30  # characters
LEFT_OUT = 77


def left_out(reason):
    print(f"left out: {reason}")
    sys.exit(LEFT_OUT)


@functools.cache
def packages():
    """The folder where the plugins' packages are."""
    target, wanted = BUILD / "foreign_plugins", (HERE / "requirements.txt").read_text()
    stamp = target / "installed.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--upgrade",
            "--target",
            str(target),
            "-r",
            str(HERE / "requirements.txt"),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            left_out("the packages cannot be installed: " + done.stderr.strip().splitlines()[-1])
        stamp.write_text(wanted)
    return target


def library_of(plugin, environment):
    """Its path; a library that takes processors of Intel alone is seen through another one, which says that each is."""
    folder, library, _, _ = PLUGINS[plugin]
    path = packages() / folder / library
    if plugin != "openvino":
        return str(path)
    environment["RH_TEST_VIEWED_LIBRARY"] = str(path)
    return str(BUILD / "release" / "lib" / "intel_view_plugin.so")


def answers(host, plugin, models, level, folder):
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(BUILD / "release" / "python"), str(packages())]))
    library = library_of(plugin, environment)
    of_package = {key: value.replace("{folder}", str(packages() / PLUGINS[plugin][0])) for key, value in PLUGINS[plugin][3].items()}
    command = [
        sys.executable,
        "-W",
        "ignore",
        str(HERE / "host.py"),
        host,
        library,
        PLUGINS[plugin][2],
        json.dumps(of_package),
        level,
        str(folder),
    ]
    done = subprocess.run([*command, *models], env=environment, capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return 0, {}, done.stderr.strip()[-500:]
    return lines[0]["devices"], {line["model"]: line for line in lines[1:]}, f"ended with {done.returncode}: {done.stderr[-300:]}"


def between(a, b, any_order):
    """The largest difference of two arrays by the first one's largest magnitude; rows in any order are held to the nearest row."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.inf
    a, b = a.astype("f8"), b.astype("f8")
    if not a.size:
        return 0.0
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return 0.0 if np.array_equal(a, b, equal_nan=True) else np.inf
    apart = np.abs(a - b)
    if any_order and a.ndim:
        rows = np.abs(a.reshape(len(a), 1, -1) - b.reshape(1, len(b), -1)).max(axis=2)
        apart = np.maximum(rows.min(axis=0).max(), rows.min(axis=1).max())
    return float(apart.max() / max(np.abs(a).max(), 1e-30))


def distance(folder, model):
    """The largest difference of an output between the hosts, by its largest magnitude."""
    with np.load(folder / f"{model}.onnxruntime.npz") as theirs, np.load(folder / f"{model}.roundhouse.npz") as ours:
        if theirs.files != ours.files:
            return np.inf
        return max(between(theirs[name], ours[name], model.startswith("ssdlite")) for name in theirs.files)


def by_name(nodes):
    """Provider, domain and operator of the nodes with a name; ONNX Runtime numbers those that it converts to channels last."""
    return {re.sub(r"_token_\d+$", "", name): (provider, domain, op) for provider, domain, op, name in nodes if name}


def same_reason(there, here):
    """Whether two errors have the plugin's own words in common: hosts put their own around them."""
    return difflib.SequenceMatcher(None, there, here, autojunk=False).find_longest_match().size >= LEAST_WORDS


def compare(plugin, model, theirs, ours, folder):
    """A line for the table, and whether the hosts agree."""
    if theirs.get("fails") or ours.get("fails"):
        same = theirs.get("fails") == ours.get("fails") != "process" and same_reason(theirs["message"], ours["message"])
        said = "; ".join(f"{host}: {side.get('message', 'works')[:160]}" for host, side in zip(HOSTS, (theirs, ours)))
        if theirs.get("fails") and not ours.get("fails"):
            return f"{plugin:13}{model:32}works here alone ({said})", True
        return f"{plugin:13}{model:32}{'both fail' if same else 'FAILS'} ({said})", same
    taken = [sum(node[0] != "CPUExecutionProvider" for node in side["nodes"]) for side in (theirs, ours)]
    total = [len(side["nodes"]) for side in (theirs, ours)]
    there, here = (by_name(side["nodes"]) for side in (theirs, ours))
    both = there.keys() & here.keys()
    others = sorted((name, there[name], here[name]) for name in both if there[name] != here[name])
    far = distance(folder, model)
    line = f"{plugin:13}{model:32}{taken[1]} of {total[1]} nodes, {taken[0]} of {total[0]} in ONNX Runtime"
    line += f", {len(both) - len(others)} of {len(both)} alike"
    line += f"; outputs differ by {far:.2g}" + (f"; OTHERS (there, here): {others[:5]}" if others else "")
    few = len(both) < LEAST_NAMED * max(total)
    return line + ("; TOO FEW nodes have the same names" if few else ""), not others and not few and far <= TOLERANCE


def compare_plugin(plugin, models, level, folder):
    """How many models agree, and how many do not."""
    if plugin == "webgpu" and not list(pathlib.Path("/sys/class/drm").glob("card*")):
        print("webgpu       left out: there is no display device")
        return 0, 0
    started = time.monotonic()
    (count, theirs, said), (ours_count, ours, ours_said) = (answers(host, plugin, models, level, folder) for host in HOSTS)
    if count != ours_count:
        print(f"{plugin:13}DEVICES: {count} in ONNX Runtime ({said}), {ours_count} here ({ours_said})")
        return 0, 1
    if not count:
        print(f"{plugin:13}left out: it finds no device in either host")
        return 0, 0
    good = 0
    for model in models:
        gone = [{"fails": "process", "message": text} for text in (said, ours_said)]
        line, same = compare(plugin, model, theirs.get(model, gone[0]), ours.get(model, gone[1]), folder)
        print(line, flush=True)
        good += same
    print(f"{plugin:13}{time.monotonic() - started:.0f} s", flush=True)
    return good, len(models) - good


def compare_calls(plugin):
    """(1, 0) where both hosts make the same calls of it."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(BUILD / "release" / "python"), str(packages())]))
    command = [sys.executable, str(HERE.parent / "plugins" / "test_recorder.py"), library_of(plugin, environment), RECORDED[plugin]]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    print(f"{plugin}: {'the same calls' if done.returncode == 0 else done.stdout[-3000:] + done.stderr[-1000:]}")
    return (1, 0) if done.returncode == 0 else (0, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", action="append", choices=PLUGINS)
    parser.add_argument("--model", action="append")
    parser.add_argument("--level", default="ORT_DISABLE_ALL")
    parser.add_argument("--counts", type=pathlib.Path)
    args = parser.parse_args()
    models, counts = args.model or MODELS, []
    packages()
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        for name in models:
            (folder / f"{name}.onnx").symlink_to(model_path(name))
            np.savez(folder / f"{name}.npz", **sample_inputs(model_path(name)))
        for plugin in args.plugin or PLUGINS:
            counts.append(compare_plugin(plugin, models, args.level, folder))
            if plugin in RECORDED:
                counts.append(compare_calls(plugin))
    good, bad = (sum(column) for column in zip(*counts))
    if not good + bad:
        left_out("no plugin finds a device that it can use")
    print(f"{good} passed, {bad} failed")
    if args.counts:
        args.counts.write_text(json.dumps({"passed": good, "failed": bad}))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
