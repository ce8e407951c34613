#!/usr/bin/env python3
"""What steady runs of whole models ask of a driver: counts that need no GPU, of the stand (`scripts/stand cuda -- ...`).

device_counts.py [--model NAME ...] [--runs 3] [--options JSON] [--size OLD=NEW]: a line a model, counted over runs after the fifth, all
inputs and outputs in the host's memory: kernels and graphs a run, copies beyond feeds and fetches, allocations, waits, the device's
memory, and the weights of the model.
"""

import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "models")]

from models import resized  # noqa: E402
from vendor_runtime import ROOT, VendorRuntime, owners  # noqa: E402

PROVIDER = "CUDAExecutionProvider"
MODELS = ["mobilenetv3_large_100", "resnet50", "bert_base"]
WARM_UPS = 5
ALLOCATIONS = ("cuMemAlloc_v2", "cuMemHostAlloc", "cuMemAllocAsync")
WAITS = ("cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize")


class Stand:
    """The stand-in driver of this process."""

    def __init__(self):
        self.driver = ctypes.CDLL(os.environ["ROUNDHOUSE_CUDA_LIBRARY"])
        for name in ("rh_stand_calls", "rh_stand_live", "rh_stand_ns"):
            getattr(self.driver, name).restype = ctypes.c_long

    def clear(self):
        self.driver.rh_stand_clear()
        self.driver.rh_stand_clear_counts()

    def calls(self, *names):
        return sum(max(self.driver.rh_stand_calls(name.encode()), 0) for name in names)

    def live(self, kind):
        return self.driver.rh_stand_live(kind.encode())


def weights_of(path):
    """Bytes of the constants of a model."""
    import onnx

    model = onnx.load(path)
    return sum(len(i.raw_data) or 4 * max(1, len(i.float_data)) for i in model.graph.initializer)


def answer(args, name):
    from materialize import materialize
    from model_inputs import sample_inputs

    with tempfile.TemporaryDirectory() as folder:
        path = str(materialize(name, ROOT / "build" / "models"))
        sizes = {int(old): int(new) for old, new in (size.split("=") for size in args.size)}
        feeds = sample_inputs(path, sizes=sizes)
        weights = weights_of(path)
        path = resized(path, sizes, folder)
        stand = Stand()
        begin = time.monotonic()
        runtime = VendorRuntime("roundhouse", PROVIDER, 2)
        options = runtime.session_options()  # optimised, as programs have it
        options.add_provider_for_devices(runtime.devices[:1], {**runtime.options, **json.loads(args.options)})
        session = runtime.module.InferenceSession(path, options)
        created = time.monotonic() - begin
        for _ in range(WARM_UPS):
            fetched = session.run(None, feeds)
        stand.clear()
        for _ in range(args.runs):
            session.run(None, feeds)
        copies = stand.live("copies_to_device") + stand.live("copies_to_host")
        counts = {
            "kernels": stand.live("kernels") / args.runs,
            "launches": stand.calls("cuLaunchKernel") / args.runs,
            "graphs": stand.calls("cuGraphLaunch") / args.runs,
            "further copies": copies / args.runs - len(feeds) - len(fetched),
            "allocations": stand.calls(*ALLOCATIONS) / args.runs,
            "waits": stand.calls(*WAITS) / args.runs,
            "MB": stand.live("bytes") / 1e6,
            "MB of weights": weights / 1e6,
        }
        return {"counts": counts, "owners": owners(session), "created": created}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--options", default="{}", help="of the provider, as JSON")
    parser.add_argument("--size", action="append", default=[], metavar="OLD=NEW")
    parser.add_argument("--answer", action="store_true", help="of one model in this process")
    args = parser.parse_args()
    if args.answer:
        print(json.dumps(answer(args, args.model[0])))
        return 0
    failed = 0
    for name in args.model or MODELS:
        command = [sys.executable, __file__, "--answer", "--model", name, "--runs", str(args.runs), "--options", args.options]
        command += [word for size in args.size for word in ("--size", size)]
        done = subprocess.run(command, capture_output=True, text=True)
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        failed += not lines
        if not lines:
            print(f"FAILS {name}: {(done.stderr.strip() or 'nothing').splitlines()[-1][:300]}", flush=True)
            continue
        got = json.loads(lines[-1])
        counts = ", ".join(f"{what} {value:.4g}" for what, value in got["counts"].items())
        print(f"{name:32} {counts}, created in {got['created']:.2f} s, nodes {got['owners']}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
