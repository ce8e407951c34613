"""peer_worker.py RUNTIME MODEL THREADS PRECISION DIMS OUTPUTS.npz: one runtime with one model, driven by bench_peers.py.

Prints a line of JSON once it is ready (load and first-run seconds, MiB that it grew by), saves its outputs, then answers each line
"SECONDS" with the mean time of a run over that long, and a line "create" with the time of one more creation of a session.
"""

import importlib
import json
import pathlib
import sys
import time

import numpy as np


def resident_mib():
    status = pathlib.Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in status if line.startswith("VmRSS")).split()[1]) / 1024


def made_up_input(name, shape, dtype, rng):
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    if dtype.kind == "b" or "mask" in name:
        return np.ones(shape, dtype)
    if "position" in name:
        return np.broadcast_to(np.arange(shape[-1]), shape).astype(dtype)
    if "type" in name:
        return np.zeros(shape, dtype)
    return rng.integers(0, 90, shape).astype(dtype)


def inputs(path, dims):
    """From the model's sample_inputs metadata, else made up from the declared shapes."""
    import onnx

    model = onnx.load(path, load_external_data=False)
    rng = np.random.default_rng(0)
    described = {p.key: p.value for p in model.metadata_props}.get("sample_inputs")
    feeds = {}
    if described:
        for i in json.loads(described):
            low, high, dtype = i.get("low"), i.get("high"), np.dtype(i["dtype"])
            if dtype.kind == "f":
                values = rng.standard_normal(i["shape"]) if low is None else rng.uniform(low, high, i["shape"])
            else:
                values = rng.integers(low or 0, 2 if high is None else high, i["shape"])
            feeds[i["name"]] = np.asarray(values).astype(dtype)
        return feeds
    given = {t.name for t in model.graph.initializer}
    for i in model.graph.input:
        if i.name not in given:
            tensor = i.type.tensor_type
            shape = [d.dim_value or dims.get(d.dim_param, 1) for d in tensor.shape.dim]
            feeds[i.name] = made_up_input(i.name.lower(), shape, np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)), rng)
    return feeds


def openvino_runner(path, threads, precision):
    import openvino

    core = openvino.Core()
    base, started = resident_mib(), time.perf_counter()
    hint = {"INFERENCE_PRECISION_HINT": "bf16" if precision == "bf16" else "f32", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1}
    model = core.compile_model(path, "CPU", hint)
    request = model.create_infer_request()

    def run(feeds):
        request.infer(feeds, share_inputs=True, share_outputs=True)
        return [request.get_output_tensor(i).data for i in range(len(model.outputs))]

    return run, base, started


def session_runner(module_name, path, threads, precision):
    module = importlib.import_module(module_name)
    options = module.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if module_name == "roundhouse" and precision != "fp32":
        options.add_session_config_entry("roundhouse.precision", precision)
    base, started = resident_mib(), time.perf_counter()
    session = module.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, feeds), base, started


def main():
    runtime, path, threads, precision, dims, outputs, clock = sys.argv[1:]
    now = time.process_time if clock == "processor" else time.perf_counter
    feeds = inputs(path, json.loads(dims))
    maker = openvino_runner if runtime == "openvino" else lambda *a: session_runner(runtime, *a)
    run, base, started = maker(path, int(threads), precision)
    loaded = time.perf_counter()
    results = run(feeds)
    first = time.perf_counter() - loaded
    np.savez(outputs, *[np.array(r, "f8") if np.asarray(r).dtype.kind in "fiub" else np.zeros(1) for r in results])
    print(json.dumps({"load": loaded - started, "first": first, "rss": resident_mib() - base}), flush=True)
    for line in sys.stdin:
        if line.strip() == "create":
            started = now()
            maker(path, int(threads), precision)
            print(json.dumps(now() - started), flush=True)
            continue
        runs, started = 0, now()
        while (elapsed := now() - started) < float(line) or runs < 2:
            run(feeds)
            runs += 1
        print(json.dumps(elapsed / runs), flush=True)


if __name__ == "__main__":
    main()
