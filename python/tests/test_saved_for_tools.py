"""What a session writes at the basic level has the operators that ONNX Runtime's file has, for tools that look for patterns in it."""

import collections

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import roundhouse

onnxruntime = pytest.importorskip("onnxruntime")
if "roundhouse" in onnxruntime.__file__:
    pytest.skip("the stock library is not there", allow_module_level=True)


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs.split(), output.split(), **attributes)


def tensor(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(nodes, shape, out, kind=TensorProto.FLOAT, **constants):
    weights = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "graph", [tensor("x", shape)], [tensor("y", out, kind)], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def f(*value):
    return np.array(value, np.float32)


def i(*value):
    return np.array(value, np.int64)


SEQUENCE, STATIC, IMAGE = ["b", "s", 8], [2, 3], [1, 2, 5, 5]
ONE = np.float32(1)
KERNEL = np.ones((2, 2, 1, 1), np.float32)

GRAPHS = {
    "heads": model_of(
        [
            node("Shape", "x", "sh"),
            node("Gather", "sh i0", "b", axis=0),
            node("Gather", "sh i1", "s", axis=0),
            node("Unsqueeze", "b ax", "bu"),
            node("Unsqueeze", "s ax", "su"),
            node("Concat", "bu su h d", "c", axis=0),
            node("Reshape", "x c", "r"),
            node("Transpose", "r", "y", perm=[0, 2, 1, 3]),
        ],
        SEQUENCE,
        ["b", 2, "s", 4],
        i0=np.int64(0),
        i1=np.int64(1),
        ax=i(0),
        h=i(2),
        d=i(4),
    ),
    "mask bounds": model_of(
        [
            node("Shape", "x", "sh"),
            node("Slice", "sh a e", "sl"),
            node("Squeeze", "sl ax", "sq"),
            node("Sub", "sq one", "sb"),
            node("Unsqueeze", "sb ax", "su"),
            node("Slice", "x z su one1", "y"),
        ],
        SEQUENCE,
        ["b", "t", 8],
        a=i(1),
        e=i(2),
        ax=i(0),
        one=np.int64(1),
        z=i(0),
        one1=i(1),
    ),
    "norm over an expanded sum": model_of(
        [
            node("ReduceL2", "x", "n", axes=[2], keepdims=1),
            node("Clip", "n eps", "c"),
            node("Shape", "x", "sh"),
            node("Expand", "c sh", "e"),
            node("Div", "x e", "y"),
        ],
        [2, 3, 8],
        [2, 3, 8],
        eps=np.float32(1e-12),
    ),
    "square": model_of([node("Mul", "x x", "y")], STATIC, STATIC),
    "power": model_of([node("Pow", "x two", "y")], STATIC, STATIC, two=np.float32(2)),
    "a product with a reciprocal": model_of([node("Div", "one x", "r"), node("Mul", "x r", "y")], STATIC, STATIC, one=ONE),
    "gelu": model_of(
        [
            node("Div", "x r2", "a"),
            node("Erf", "a", "e"),
            node("Add", "e one", "g"),
            node("Mul", "x g", "h"),
            node("Mul", "h half", "y"),
        ],
        STATIC,
        STATIC,
        r2=np.float32(1.4142135),
        one=ONE,
        half=np.float32(0.5),
    ),
    "fast gelu": model_of(
        [
            node("Pow", "x three", "p"),
            node("Mul", "p k", "q"),
            node("Add", "x q", "a"),
            node("Mul", "a c", "b"),
            node("Tanh", "b", "t"),
            node("Add", "t one", "g"),
            node("Mul", "x g", "h"),
            node("Mul", "h half", "y"),
        ],
        STATIC,
        STATIC,
        three=np.float32(3),
        k=np.float32(0.044715),
        c=np.float32(0.79788),
        one=ONE,
        half=np.float32(0.5),
    ),
    "common terms": model_of([node("Relu", "x", "a"), node("Relu", "x", "b"), node("Add", "a b", "y")], STATIC, STATIC),
    "views": model_of(
        [node("Reshape", "x s1", "a"), node("Reshape", "a s2", "b"), node("Relu", "b", "y")], [2, 3, 4], [4, 6], s1=i(6, 4), s2=i(4, 6)
    ),
    "transposes": model_of(
        [node("Transpose", "x", "a", perm=[1, 0]), node("Transpose", "a", "b", perm=[1, 0]), node("Relu", "b", "y")], STATIC, STATIC
    ),
    "einsum": model_of([node("Einsum", "x w", "y", equation="ij,jk->ik")], STATIC, STATIC, w=np.eye(3, dtype=np.float32)),
    "batch normalization": model_of(
        [node("Conv", "x w", "c"), node("BatchNormalization", "c g g g g", "y")], IMAGE, IMAGE, w=KERNEL, g=f(1, 1)
    ),
    "scale behind a convolution": model_of(
        [node("Conv", "x w", "c"), node("Mul", "c g", "d"), node("Add", "d g", "y")],
        IMAGE,
        IMAGE,
        w=KERNEL,
        g=np.ones((1, 2, 1, 1), np.float32),
    ),
    "padding": model_of(
        [node("Pad", "x p", "c"), node("Conv", "c w", "y")], IMAGE, IMAGE, p=i(0, 0, 1, 1, 0, 0, 1, 1), w=np.ones((2, 2, 3, 3), np.float32)
    ),
    "parallel convolutions": model_of(
        [node("Conv", "x w", "c"), node("Conv", "x w2", "d"), node("Concat", "c d", "y", axis=1)], IMAGE, [1, 4, 5, 5], w=KERNEL, w2=KERNEL
    ),
    "scale before a product": model_of(
        [node("Mul", "x k", "c"), node("MatMul", "c w", "y")], STATIC, STATIC, w=np.eye(3, dtype=np.float32), k=np.float32(2)
    ),
    "a cast to the same type": model_of([node("Cast", "x", "a", to=1), node("Relu", "a", "y")], STATIC, STATIC),
    "a dropout": model_of([node("Dropout", "x", "a"), node("Relu", "a", "y")], STATIC, STATIC),
    "positions": model_of(
        [
            node("Shape", "x", "sh"),
            node("Gather", "sh i1", "s", axis=0),
            node("Range", "z s o", "r"),
            node("Unsqueeze", "r ax", "ru"),
            node("Shape", "x", "sh2"),
            node("Slice", "sh2 z1 two", "bs"),
            node("Expand", "ru bs", "y"),
        ],
        SEQUENCE,
        ["b", "s"],
        TensorProto.INT64,
        i1=np.int64(1),
        z=np.int64(0),
        o=np.int64(1),
        ax=i(0),
        z1=i(0),
        two=i(2),
    ),
    "filled": model_of([node("ConstantOfShape", "s", "a"), node("Add", "x a", "y")], STATIC, STATIC, s=i(3)),
    "a shape that is known": model_of(
        [
            node("Shape", "x", "sh"),
            node("Gather", "sh i1", "s", axis=0),
            node("Unsqueeze", "s ax", "su"),
            node("Concat", "su m1", "c", axis=0),
            node("Reshape", "x c", "r"),
            node("Relu", "r", "y"),
        ],
        [2, 3, 4],
        [3, 8],
        i1=np.int64(1),
        ax=i(0),
        m1=i(-1),
    ),
}


def operators_of(host, model, path):
    options = host.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = host.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(path)
    host.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return collections.Counter(entry.op_type for entry in onnx.load(path).graph.node)


@pytest.mark.parametrize("name", GRAPHS)
def test_the_file_has_the_operators_of_onnxruntime(name, tmp_path):
    expected = operators_of(onnxruntime, GRAPHS[name], tmp_path / "theirs.onnx")
    assert operators_of(roundhouse, GRAPHS[name], tmp_path / "ours.onnx") == expected
