"""Packages that the provider writes, read back and evaluated by code of this folder alone (mil_reader.py, mil_numpy.py)."""

import os
import pathlib
import re
import subprocess
import sys

import mil_reader
import numpy as np
import plants
import pytest
from coreml_stand import EVALUATOR
from hosts import model_of, tensor

CPU = "CPUExecutionProvider"

#: The operators of ONNX Runtime's public page of its Core ML provider, in its list for ML Programs.
PUBLIC = """Add ArgMax AveragePool Cast Clip Concat Conv ConvTranspose DepthToSpace Div Erf Gemm Gelu GlobalAveragePool
GlobalMaxPool GridSample GroupNormalization InstanceNormalization LayerNormalization LeakyRelu MatMul MaxPool Max Mul Pow PRelu
Reciprocal ReduceSum ReduceMean ReduceMax Relu Reshape Resize Round Shape Slice Split Sub Sigmoid Softmax Sqrt Squeeze Tanh
Transpose Unsqueeze""".split()


def model(name):
    nodes, shape, constants = plants.models()[name]
    return model_of(nodes, [tensor("x", shape)], [tensor("y", None)], constants)


def arguments(package, operator):
    """Of the first operator of the type: the constants among its arguments."""
    read = mil_reader.read(package).operations
    values = {o.outputs[0].name: o.value for o in read if o.type == "const"}
    inputs = next(o for o in read if o.type == operator).inputs
    return {k: values[v[0]] for k, v in inputs.items() if v[0] in values}


def test_every_public_operator_has_a_row():
    table = pathlib.Path(__file__).resolve().parents[3] / "src/providers/coreml/operator_list.inc"
    rows = set(re.findall(r'^RH_COREML_OP\("(\w+)"', table.read_text(), re.M))
    assert set(PUBLIC) <= rows and len(PUBLIC) == 45


def test_what_a_convolution_becomes(coreml_calls, tmp_path):
    _, shape, constants = plants.models()["convolution"]
    assert coreml_calls(model=model("convolution")) == ["load ALL"]
    [package] = tmp_path.glob("*.mlpackage")
    given = arguments(package, "conv")
    assert given["strides"].tolist() == [2, 1] and given["dilations"].tolist() == [1, 2] and given["groups"] == 2
    assert given["pad_type"] == "custom" and given["pad"].tolist() == [1, 2, 0, 1]  # begin and end of each axis
    assert given["weight"].tobytes() == constants["w"].tobytes() and given["bias"].tobytes() == constants["b"].tobytes()
    program = mil_reader.read(package)
    assert [(v.name, v.shape, v.dtype) for v in program.inputs] == [("input_0", tuple(shape), np.float32)]


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """NAME.mlpackage of each model of the plants, with an input and what the CPU makes of it."""
    folder = tmp_path_factory.mktemp("plants")
    program = """
import os, pathlib, sys
sys.path += sys.argv[2:]
import conftest, plants, roundhouse, numpy as np
from hosts import COREML, floats, registered, session
from coreml_stand import STAND_IN
from test_coreml_packages import CPU, model
folder = pathlib.Path(sys.argv[1])
with registered(roundhouse, COREML):
    for name, (_, shape, _) in plants.models().items():
        os.environ["RH_COREML_KEEP"] = str(folder / name)
        (folder / name).mkdir()
        made = session(roundhouse, COREML, model(name), {"library_path": str(STAND_IN)})
        assert {row["provider"] for row in made.placement()} == {COREML}, made.placement()
        x = floats(*shape, seed=11)
        y = roundhouse.InferenceSession(model(name), providers=[CPU]).run(None, {"x": x})[0]
        np.testing.assert_allclose(made.run(None, {"x": x})[0], y, rtol=1e-4, atol=1e-5)
        np.savez(folder / f"{name}.npz", x=x, y=y)
        del made
        [kept] = (folder / name).iterdir()
        kept.rename(folder / f"{name}.mlpackage")
"""
    here = str(pathlib.Path(__file__).resolve().parent)
    environment = {**os.environ, "RH_COREML_EVALUATOR": EVALUATOR}
    subprocess.run([sys.executable, "-c", program, str(folder), here], env=environment, check=True)
    return folder


def test_planted_arguments_are_found(packages):
    done = subprocess.run([sys.executable, plants.__file__, "numpy", str(packages)], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == len(plants.PLANTS) >= 20
    assert [line for line in lines if "found" not in line] == []
