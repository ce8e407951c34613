"""An input that lies in pinned memory, in both hosts: ONNX Runtime hands it to kernels and regions as it is."""

import pathlib
import subprocess

import numpy as np
import onnxruntime
import pytest
from hosts import FAKE, FILES, LIBRARIES
from onnx import TensorProto, helper, numpy_helper
from programs import ROOT

#: The stock package's library for C.
STOCK = next(pathlib.Path(onnxruntime.__file__).parent.glob("capi/libonnxruntime.so.*"), None)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    made = tmp_path_factory.mktemp("pinned") / "pinned_input"
    source = pathlib.Path(__file__).parent / "pinned_input.c"
    subprocess.run(["cc", "-std=c11", str(source), f"-I{ROOT / 'include/roundhouse'}", "-o", str(made), "-ldl"], check=True)
    return made


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("pinned") / "model.onnx"
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 8])  # noqa: E731
    weight = numpy_helper.from_array(np.full(8, 3, np.float32), "w")
    nodes = [helper.make_node("Mul", ["x", "w"], ["m"]), helper.make_node("Add", ["m", "x"], ["y"])]
    graph = helper.make_graph(nodes, "g", [value("x")], [value("y")], [weight])
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())
    return path


@pytest.mark.parametrize("kind", ["kernels", "regions"])
@pytest.mark.parametrize("runtime", ["roundhouse", "onnxruntime"])
def test_an_input_in_pinned_memory_is_taken(program, model, runtime, kind):
    if runtime == "onnxruntime" and not STOCK:
        pytest.skip("the onnxruntime package has no library for C")
    library = LIBRARIES / "libroundhouse.so" if runtime == "roundhouse" else STOCK
    command = [program, library.resolve(), (LIBRARIES / FILES[FAKE]).resolve(), kind, model]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(4 * i) for i in range(1, 9)]
