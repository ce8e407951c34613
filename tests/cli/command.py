"""The command under test, and models for it."""

import glob
import importlib.util
import json
import os
import pathlib
import subprocess

import numpy as np
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("ROUNDHOUSE_CLI", str(ROOT / "build/release/bin/roundhouse"))


def roundhouse(*arguments, cwd=None, env=None):
    environment = {**os.environ, **(env or {})}
    return subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=300, env=environment)


def answer(*arguments, cwd=None, code=0):
    """The JSON that a command printed that ended with the given exit code."""
    done = roundhouse(*arguments, "--json", cwd=cwd)
    assert (done.returncode, done.stderr) == (code, "")
    return json.loads(done.stdout)


def stock_library():
    """The library of the onnxruntime package that the tests compare with."""
    [folder] = importlib.util.find_spec("onnxruntime").submodule_search_locations
    [path] = glob.glob(os.path.join(folder, "capi", "libonnxruntime.so.*"))
    return path


def write_model(path, nodes, inputs, outputs, initializers=(), opset=18):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initializers)
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9).SerializeToString())


def value(name, shape, element=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, element, shape)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def write_network(path):
    """A small network of many kinds of operators, whose every intermediate value has a static shape and is not all zero."""
    rng = np.random.default_rng(0)

    def weight(name, *shape):
        return constant(name, (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype("f4"))

    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w1", "b1"], ["c1"], "conv1", pads=[1, 1, 1, 1]),
        node("BatchNormalization", ["c1", "g", "b", "m", "v"], ["n1"], "norm1"),
        node("Relu", ["n1"], ["r1"], "relu1"),
        node("Conv", ["r1", "w2"], ["c2"], "conv2", pads=[1, 1, 1, 1], group=4),
        node("HardSwish", ["c2"], ["h2"], "swish2"),
        node("Conv", ["h2", "w3"], ["c3"], "conv3"),
        node("Add", ["c3", "r1"], ["a3"], "residual3"),
        node("MaxPool", ["a3"], ["p3"], "pool3", kernel_shape=[2, 2], strides=[2, 2]),
        node("Reshape", ["p3", "shape"], ["t0"], "tokens"),
        node("Transpose", ["t0"], ["t1"], "channels_last", perm=[0, 2, 1]),
        node("LayerNormalization", ["t1", "lg", "lb"], ["t2"], "norm2"),
        node("MatMul", ["t2", "wq"], ["q"], "query"),
        node("MatMul", ["t2", "wk"], ["k"], "key"),
        node("MatMul", ["t2", "wv"], ["u"], "values"),
        node("Transpose", ["k"], ["kt"], "key_transposed", perm=[0, 2, 1]),
        node("MatMul", ["q", "kt"], ["s"], "scores"),
        node("Mul", ["s", "scale"], ["ss"], "scaled"),
        node("Softmax", ["ss"], ["p"], "attention", axis=-1),
        node("MatMul", ["p", "u"], ["o"], "mixed"),
        node("Add", ["o", "t1"], ["ao"], "residual4"),
        node("Sigmoid", ["ao"], ["sg"], "gate"),
        node("Mul", ["sg", "ao"], ["gl"], "gated"),
        node("ReduceMean", ["gl", "one"], ["rm"], "pooled", keepdims=0),
        node("Gemm", ["rm", "wg", "bg"], ["y"], "classifier", transB=1),
    ]
    shapes = {"w1": (8, 3, 3, 3), "b1": (8,), "w2": (8, 2, 3, 3), "w3": (8, 8, 1, 1), "g": (8,), "b": (8,), "m": (8,), "lb": (8,)}
    shapes |= {"wq": (8, 8), "wk": (8, 8), "wv": (8, 8), "wg": (5, 8), "bg": (5,)}
    arrays = {
        "v": np.full(8, 1.5, "f4"),
        "shape": np.array([1, 8, 16]),
        "lg": np.ones(8, "f4"),
        "scale": np.float32(0.35),
        "one": np.array([1]),
    }
    weights = [weight(name, *shape) for name, shape in shapes.items()]
    weights += [constant(name, array) for name, array in arrays.items()]
    write_model(path, nodes, [value("x", [1, 3, 8, 8])], [value("y", [1, 5])], weights)
