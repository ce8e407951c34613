#!/usr/bin/env python3
"""Times whole models with a vendor's provider beside the vendor's own interface: the same file and threads, by turns, medians.

speed.py --provider OpenVINOExecutionProvider [--host onnxruntime] [--model NAME ...] [--rounds 9]
"""

import argparse
import os
import pathlib
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "models")]

from vendor_runtime import HOSTS, PROVIDERS, ROOT, VendorRuntime  # noqa: E402


def own_runner(path, feeds, threads):
    """OpenVINO's own interface, with its request and tensors made once."""
    sys.path.append(str(pathlib.Path(os.environ["ROUNDHOUSE_OPENVINO_LIBRARY"]).parents[1]))
    import openvino

    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}
    request = openvino.Core().compile_model(path, "CPU", settings).create_infer_request()
    for name, value in feeds.items():
        request.set_tensor(name, openvino.Tensor(value, shared_memory=True))
    return request.infer


def seconds(run, count):
    begin = time.perf_counter()
    for _ in range(count):
        run()
    return (time.perf_counter() - begin) / count


def main():
    from materialize import materialize
    from model_inputs import sample_inputs

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--provider", required=True, choices=PROVIDERS)
    parser.add_argument("--host", default="roundhouse", choices=HOSTS)
    parser.add_argument("--library")
    parser.add_argument("--model", action="append", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    runtime = VendorRuntime(args.host, args.provider, args.threads, {"num_of_threads": str(args.threads)}, args.library)
    for name in args.model:
        path = str(materialize(name, ROOT / "build" / "models"))
        feeds = sample_inputs(path)
        begin = time.perf_counter()
        session = runtime.session(path)
        created = time.perf_counter() - begin
        own = own_runner(path, feeds, args.threads)
        through = lambda: session.run(None, feeds)  # noqa: B023, E731
        count = max(1, int(0.1 / max(seconds(own, 2), seconds(through, 2))))
        times = [(seconds(through, count), seconds(own, count)) for _ in range(args.rounds)]
        ours, theirs = (statistics.median(column) * 1e3 for column in zip(*times))
        print(
            f"{name:32} {ours:9.3f} ms, its own {theirs:9.3f} ms, ratio {ours / theirs:.3f}; created in {created * 1e3:.0f} ms", flush=True
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
