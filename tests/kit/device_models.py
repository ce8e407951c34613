"""A model with regions on the fake device, in both hosts from the same file: what each did, and how far results are apart."""

import gc

import numpy as np
import onnx
from common import sample_inputs
from fake_device import count, counted
from hosts import FAKE, HOSTS, registered, session

#: Shares of the nodes that the device runs.
PERCENTS = (5, 50, 100)


def weight_bytes(path):
    """Of all initializers of the main graph."""
    bits = {onnx.TensorProto.INT4: 4, onnx.TensorProto.UINT4: 4}
    total = 0
    for one in onnx.load(path, load_external_data=False).graph.initializer:
        size = bits.get(one.data_type) or 8 * onnx.helper.tensor_dtype_to_np_dtype(one.data_type).itemsize
        total += int(np.prod(one.dims, dtype=np.int64)) * size // 8
    return total


def plain_results(host, path, feeds):
    options = host.SessionOptions()
    options.graph_optimization_level = host.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return host.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(None, feeds)


def difference(actual, wanted):
    """The largest in an output, by that output's largest magnitude."""
    worst = 0.0
    for a, w in zip(actual, wanted, strict=True):
        assert a.shape == w.shape and a.dtype == w.dtype
        if w.size:
            scale = float(np.abs(w.astype("f8")).max()) or 1.0
            worst = max(worst, float(np.abs(a.astype("f8") - w.astype("f8")).max()) / scale)
    return worst


FLOAT32 = 5e-6  # kernels of the CPU sum in another order where weights are no constants: 2e-6 with AVX2, 4e-6 with AVX-512


def measure(path, percent, delay_us=0):
    """By host: units, regions compiled in runs, copies and waits of a run, the device's bytes after the session is made, and the difference
    from that host's CPU; then the differences between the hosts, and between their CPUs."""
    feeds = sample_inputs(path)
    rows, results, plain = {}, {}, {}
    for host in HOSTS:
        plain[host.__name__] = expected = plain_results(host, path, feeds)
        with registered(host, FAKE):
            before = count("bytes")
            with counted() as making:
                given = session(host, FAKE, path, {"claim": f"7:{percent}", "bodies": "1", "delay_us": str(delay_us)})
            row = {"units": making["compilations"], "bytes": count("bytes") - before}
            results[host.__name__] = given.run(None, feeds)
            with counted() as running:
                again = given.run(None, feeds)
            assert difference(again, results[host.__name__]) == 0
            del given
            gc.collect()
            assert count("bytes") == before, "memory that was not given back"
        row.update({name: running[name] for name in ("copies_in", "copies_out", "waits", "compilations")})
        row["difference"] = difference(results[host.__name__], expected)
        rows[host.__name__] = row
    names = [host.__name__ for host in HOSTS]
    return rows, difference(*(results[name] for name in names)), difference(*(plain[name] for name in names))
