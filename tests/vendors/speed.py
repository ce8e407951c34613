#!/usr/bin/env python3
"""Times whole models with a vendor's provider beside the vendor's own interface: the same file and threads, by turns, medians.

speed.py --provider OpenVINOExecutionProvider [--host onnxruntime] --model NAME ... [--rounds 9]
speed.py --provider OpenVINOExecutionProvider --creation --model NAME ...: sessions with an empty cache, and with a full one, beside what
the vendor's own interface takes to compile the model, and to import what it exported. The libraries are loaded before.
"""

import argparse
import ctypes
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "models")]

from vendor_runtime import HOSTS, PROVIDERS, ROOT, VendorRuntime  # noqa: E402


def own_runner(path, feeds, threads, more):
    """OpenVINO's own interface, with its request and tensors made once. `more`: of its properties."""
    sys.path.append(str(pathlib.Path(os.environ["ROUNDHOUSE_OPENVINO_LIBRARY"]).parents[1]))
    import openvino

    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, **more}
    request = openvino.Core().compile_model(path, "CPU", settings).create_infer_request()
    for name, value in feeds.items():
        request.set_tensor(name, openvino.Tensor(value, shared_memory=True))
    return request.infer


class OwnCreation:
    """OpenVINO's own C interface: what it takes to compile a model's file, and to import what it then exports."""

    def __init__(self, threads):
        folder = pathlib.Path(os.environ["ROUNDHOUSE_OPENVINO_LIBRARY"])
        self.api = ctypes.CDLL(str(next(folder.glob("libopenvino_c.so*"))))
        self.threads = threads

    def check(self, status):
        if status:
            self.api.ov_get_last_err_msg.restype = ctypes.c_char_p
            raise RuntimeError(self.api.ov_get_last_err_msg().decode())

    def core(self):
        core = ctypes.c_void_p()
        self.check(self.api.ov_core_create(ctypes.byref(core)))
        for name, value in (("INFERENCE_PRECISION_HINT", "f32"), ("INFERENCE_NUM_THREADS", str(self.threads))):
            self.check(self.api.ov_core_set_property(core, b"CPU", name.encode(), value.encode(), None))
        return core

    def times(self, path, rounds):
        """Seconds to compile, and the medians of seconds to import."""
        model, core = ctypes.c_void_p(), self.core()
        into = ctypes.byref(model)
        compiled = seconds(
            lambda: self.check(self.api.ov_core_compile_model_from_file(core, path.encode(), b"CPU", ctypes.c_size_t(0), into)), 1
        )
        with tempfile.NamedTemporaryFile() as file:
            self.check(self.api.ov_compiled_model_export_model(model, file.name.encode()))
            self.free(core, model)
            content = pathlib.Path(file.name).read_bytes()
        imported = []
        for _ in range(rounds):
            core = self.core()
            imported.append(
                seconds(lambda: self.check(self.api.ov_core_import_model(core, content, ctypes.c_size_t(len(content)), b"CPU", into)), 1)  # noqa: B023
            )
            self.free(core, model)
        return compiled, medians(imported)

    def free(self, core, model):
        self.api.ov_compiled_model_free(model)
        self.api.ov_core_free(core)


def seconds(run, count):
    """Of one run: as the clock has it, and as the processor has, which others that use the machine change less."""
    begin = time.perf_counter(), time.process_time()
    for _ in range(count):
        run()
    return (time.perf_counter() - begin[0]) / count, (time.process_time() - begin[1]) / count


def medians(times):
    return tuple(statistics.median(column) for column in zip(*times))


def beside(ours, theirs):
    """Medians in milliseconds, and the time that is more than 1.05 of the vendor's and 30 us."""
    ours, theirs = (statistics.median(column) * 1e3 for column in (ours, theirs))
    over = ours - 1.05 * theirs - 0.030
    return f"{ours:9.3f} ms, its own {theirs:9.3f} ms, ratio {ours / theirs:.3f}{f', {over:.3f} ms OVER' if over > 0 else ''}"


def created(runtime, path):
    made = []
    taken = seconds(lambda: made.append(runtime.session(path)), 1)
    made.clear()
    return taken


def print_creation(args, runtime, name, path):
    """A line by the clock and one by the processor: the bound is 30 ms and a tenth of the cold time, and what OpenVINO's own import takes
    beyond that tenth."""
    with tempfile.TemporaryDirectory() as folder:
        runtime.options = {**runtime.options, "cache_dir": folder}
        cold = created(runtime, path)
        warm = medians(created(runtime, path) for _ in range(args.rounds))
        size = sum(file.stat().st_size for file in pathlib.Path(folder).iterdir())
    compiled, imported = OwnCreation(args.threads).times(path, args.rounds)
    for i, what in enumerate(("clock", "processor")):
        bound = 0.030 + max(0.10 * cold[i], imported[i])
        ours = f"cold {cold[i] * 1e3:7.0f} ms, warm {warm[i] * 1e3:7.0f} ms ({warm[i] / cold[i]:.0%}), kept {size / 1e6:6.1f} MB"
        own = f"compiled in {compiled[i] * 1e3:7.0f} ms, imported in {imported[i] * 1e3:7.0f} ms ({imported[i] / compiled[i]:.0%})"
        print(f"{name:32} {what:9} {ours}; its own: {own}{'' if warm[i] <= bound else '  OVER'}", flush=True)


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
    parser.add_argument("--own", default="{}", help="more properties of the vendor's own interface, as JSON")
    parser.add_argument("--creation", action="store_true", help="times sessions' creation")
    args = parser.parse_args()
    runtime = VendorRuntime(args.host, args.provider, args.threads, {"num_of_threads": str(args.threads)}, args.library)
    runtime.session(str(materialize("lstm_tagger", ROOT / "build" / "models")))  # what is loaded once
    for name in args.model:
        path = str(materialize(name, ROOT / "build" / "models"))
        if args.creation:
            print_creation(args, runtime, name, path)
            continue
        feeds = sample_inputs(path)
        begin = time.perf_counter()
        session = runtime.session(path)
        made_in = time.perf_counter() - begin
        try:
            own = own_runner(path, feeds, args.threads, json.loads(args.own))
        except RuntimeError as error:
            print(f"{name:32} its own interface: {str(error).strip().splitlines()[-1][:200]}", flush=True)
            continue
        through = lambda: session.run(None, feeds)  # noqa: B023, E731
        count = max(1, int(0.1 / max(*seconds(own, 2), *seconds(through, 2))))
        ours, theirs = zip(*((seconds(through, count), seconds(own, count)) for _ in range(args.rounds)))
        by_clock, by_processor = (beside(*pair) for pair in zip(zip(*ours), zip(*theirs)))
        print(f"{name:32} {by_clock}; of the processor's time {by_processor}; created in {made_in * 1e3:.0f} ms", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
