"""A provider beside the CPU that takes no node costs the session nothing: it holds what a session of the CPU alone holds."""

import json
import subprocess
import sys

import numpy as np
import onnx
import pytest
from hosts import model_of, tensor
from onnx import TensorProto, helper

PROGRAM = """
import json, sys
sys.path[:0] = {path!r}
from hosts import FAKE, devices_of, registered
import roundhouse

def mib(name):
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith(name))

with registered(roundhouse, FAKE):
    options = roundhouse.SessionOptions()
    options.intra_op_num_threads = 1
    if {idle}:
        options.add_provider_for_devices(devices_of(roundhouse, FAKE)[:1], {{"kind": "regions", "claim": "0:0"}})
    before = mib("VmRSS")
    session = roundhouse.InferenceSession({model!r}, options, **({{}} if {idle} else {{"providers": ["CPUExecutionProvider"]}}))
    after = mib("VmRSS"), mib("VmHWM")
    assert {{row["provider"] for row in session.placement()}} == {{"CPUExecutionProvider"}}
    print(json.dumps([after[0] - before, after[1] - before]))
    del session
"""

TABLE_MIB, WEIGHTS_MIB = 64, 16


def write_model(path, padding):
    """A table of rows and weights of a product, at an address that the graph's name moves."""
    rng = np.random.default_rng(0)
    table = rng.standard_normal((TABLE_MIB * 256, 1024), dtype=np.float32)
    weights = rng.standard_normal((1024, WEIGHTS_MIB * 256), dtype=np.float32)
    nodes = [helper.make_node("Gather", ["table", "i"], ["r"], "rows"), helper.make_node("MatMul", ["r", "weights"], ["y"], "product")]
    inputs = [tensor("i", [2], TensorProto.INT64)]
    model = onnx.load_from_string(model_of(nodes, inputs, [tensor("y", [2, WEIGHTS_MIB * 256])], {"table": table, "weights": weights}))
    model.graph.name = "g" * (padding + 1)
    onnx.save(model, path)


def held(model, idle):
    program = PROGRAM.format(path=sys.path, model=str(model), idle=idle)
    return json.loads(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120).stdout)


@pytest.mark.parametrize("padding", range(4))
def test_it_holds_no_copies(tmp_path, padding):
    write_model(tmp_path / "model.onnx", padding)
    (alone, alone_peak), (idle, idle_peak) = (held(tmp_path / "model.onnx", which) for which in (False, True))
    assert alone < TABLE_MIB, "the table stays in the file"
    assert idle <= alone + 4
    assert idle_peak <= alone_peak + 4
