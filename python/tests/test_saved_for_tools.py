"""What a session writes at the basic level has the operators that ONNX Runtime's file has, for tools that look for patterns in it."""

import collections
import pathlib
import re
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from test_tools_on_saved_models import MODELS

import roundhouse

onnxruntime = pytest.importorskip("onnxruntime")
if "roundhouse" in onnxruntime.__file__:
    pytest.skip("the stock library is not there", allow_module_level=True)

OPTIMIZERS = pathlib.Path(__file__).resolve().parents[2] / "src" / "passes" / "optimizer_list.inc"


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


def row(shape, *nodes, **constants):
    """Between a Relu, which gives a, and a Neg, which takes b, so that nothing is an input or an output of the graph."""
    return model_of([node("Relu", "x", "a"), *nodes, node("Neg", "b", "y")], shape, [None] * len(shape), **constants)


def of_opset(version, model):
    model.opset_import[0].version = version
    return model


CUBE, SQUARE = [2, 3, 4], np.ones((4, 4), np.float32)
GRAPHS |= {
    "reshape to the same": row(CUBE, node("Reshape", "a s", "b"), s=i(2, 3, 4)),
    "reshape to its own shape": row(["b", 3, 4], node("Shape", "a", "s"), node("Reshape", "a s", "b")),
    "transpose of nothing": row(CUBE, node("Transpose", "a", "b", perm=[0, 1, 2])),
    "expand to the same": row(CUBE, node("Expand", "a s", "b"), s=i(2, 3, 4)),
    "slice of all": row(CUBE, node("Slice", "a s e", "b"), s=i(0), e=i(2**63 - 1)),
    "slice of as many": row(CUBE, node("Slice", "a s e ax", "b"), s=i(0), e=i(4), ax=i(2)),
    "concat of one": row(CUBE, node("Concat", "a", "b", axis=0)),
    "pad by nothing": row(CUBE, node("Pad", "a p", "b"), p=i(0, 0, 0, 0, 0, 0)),
    "tile once": row(CUBE, node("Tile", "a p", "b"), p=i(1, 1, 1)),
    "times one": row(CUBE, node("Mul", "a p", "b"), p=ONE),
    "divided by one": row(CUBE, node("Div", "a p", "b"), p=ONE),
    "less zero": row(CUBE, node("Sub", "a p", "b"), p=np.float32(0)),
    "sum of one": row(CUBE, node("Sum", "a", "b")),
    "largest of one": row(CUBE, node("Max", "a", "b")),
    "identity": row(CUBE, node("Identity", "a", "b")),
    "flatten of two": row(STATIC, node("Flatten", "a", "b")),
    "squeeze behind unsqueeze": row(CUBE, node("Unsqueeze", "a ax", "u"), node("Squeeze", "u ax", "b"), ax=i(0)),
    "reshape behind unsqueeze": row(CUBE, node("Unsqueeze", "a ax", "u"), node("Reshape", "u s", "b"), ax=i(0), s=i(6, 4)),
    "reshape behind flatten": row(CUBE, node("Flatten", "a", "u"), node("Reshape", "u s", "b"), s=i(6, 4)),
    "scale by one number behind a convolution": row(IMAGE, node("Conv", "a w", "c"), node("Mul", "c k", "b"), w=KERNEL, k=np.float32(2)),
    "shift by one number behind a convolution": row(IMAGE, node("Conv", "a w", "c"), node("Add", "c k", "b"), w=KERNEL, k=np.float32(2)),
    "difference behind a convolution": row(IMAGE, node("Conv", "a w", "c"), node("Sub", "c k", "b"), w=KERNEL, k=np.float32(2)),
    "quotient behind a convolution": row(
        IMAGE, node("Conv", "a w", "c"), node("Div", "c k", "b"), w=KERNEL, k=np.ones((2, 1, 1), np.float32)
    ),
    "scale on the left": row(IMAGE, node("Conv", "a w", "c"), node("Mul", "k c", "b"), w=KERNEL, k=np.ones((2, 1, 1), np.float32)),
    "scale behind a transposed convolution": row(
        IMAGE, node("ConvTranspose", "a w", "c"), node("Mul", "c k", "b"), w=KERNEL, k=np.ones((2, 1, 1), np.float32)
    ),
    "batch normalization behind Gemm": row(
        [2, 4], node("Gemm", "a w", "c"), node("BatchNormalization", "c k k k k", "b"), w=SQUARE, k=np.ones(4, np.float32)
    ),
    "batch normalization behind a view": row(
        CUBE,
        node("MatMul", "a w", "c"),
        node("Transpose", "c", "t", perm=[0, 2, 1]),
        node("BatchNormalization", "t k k k k", "b"),
        w=SQUARE,
        k=np.ones(4, np.float32),
    ),
    "padding of the largest": row(
        IMAGE, node("Pad", "a p", "c"), node("MaxPool", "c", "b", kernel_shape=[2, 2]), p=i(0, 0, 1, 1, 0, 0, 1, 1)
    ),
    "padding of two": row(
        IMAGE,
        node("Pad", "a p", "c"),
        node("Conv", "c w", "d"),
        node("Conv", "c v", "e"),
        node("Add", "d e", "b"),
        p=i(0, 0, 1, 1, 0, 0, 1, 1),
        w=KERNEL,
        v=2 * KERNEL,
    ),
}


def operators_of(host, model, path, level="BASIC", disabled=()):
    options = host.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = getattr(host.GraphOptimizationLevel, f"ORT_ENABLE_{level}")
    options.optimized_model_filepath = str(path)
    options.add_session_config_entry("optimization.enable_cast_chain_elimination", "1")
    chosen = {"providers": ["CPUExecutionProvider"], "disabled_optimizers": list(disabled)}
    host.InferenceSession(model.SerializeToString(), options, **chosen)
    return collections.Counter(entry.op_type for entry in onnx.load(path).graph.node)


@pytest.mark.parametrize("name", MODELS)
def test_the_file_has_the_operators_that_its_tools_start_from(name, tmp_path):
    expected = operators_of(onnxruntime, MODELS[name][1], tmp_path / "theirs.onnx")
    given = operators_of(roundhouse, MODELS[name][1], tmp_path / "ours.onnx")
    given["Transpose"], expected["Transpose"] = 0, 0  # ONNX Runtime's pushes them through Concat
    assert given == expected


def random_inputs(model):
    random, sizes = np.random.default_rng(3), {"b": 2, "s": 4, "p": 3}
    feeds = {}
    for value in model.graph.input:
        kind = value.type.tensor_type
        shape = [sizes.get(dim.dim_param, dim.dim_value) for dim in kind.shape.dim]
        feeds[value.name] = random.random(shape, np.float32) if kind.elem_type == TensorProto.FLOAT else random.integers(0, 2, shape)
    return feeds


@pytest.mark.parametrize("name", MODELS)
def test_the_file_gives_what_the_model_gives(name, tmp_path):
    model, path = MODELS[name][1], tmp_path / "ours.onnx"
    operators_of(roundhouse, model, path)
    expected, given = (
        onnxruntime.InferenceSession(m.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, random_inputs(model))
        for m in (model, onnx.load(path))
    )
    for one, other in zip(expected, given, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", GRAPHS)
def test_the_file_has_the_operators_of_onnxruntime(name, tmp_path):
    expected = operators_of(onnxruntime, GRAPHS[name], tmp_path / "theirs.onnx")
    assert operators_of(roundhouse, GRAPHS[name], tmp_path / "ours.onnx") == expected


#: ONNX Runtime's rules, which its log does not name: a graph that each of them changes.
BEFORE_8_BITS = {"s": np.float32(0.5), "z": np.uint8(0)}
RULES = {
    "CastElimination": GRAPHS["a cast to the same type"],
    "CastChainElimination": row(CUBE, node("Cast", "a", "c", to=10), node("Cast", "c", "b", to=1)),
    "EliminateDropout": GRAPHS["a dropout"],
    "EliminateIdentity": GRAPHS["identity"],
    "EliminateSlice": GRAPHS["slice of all"],
    "NoopElimination": GRAPHS["less zero"],
    "UnsqueezeElimination": of_opset(
        11, row(CUBE, node("Unsqueeze", "k", "c", axes=[0]), node("Add", "a c", "b"), k=np.ones(4, np.float32))
    ),
    "ExpandElimination": GRAPHS["expand to the same"],
    "DivMulFusion": GRAPHS["a product with a reciprocal"],
    "ConvAddFusion": row(IMAGE, node("Conv", "a w", "c"), node("Add", "c k", "b"), w=KERNEL, k=np.ones((2, 1, 1), np.float32)),
    "ConvBNFusion": GRAPHS["batch normalization"],
    "ConvMulFusion": GRAPHS["scale by one number behind a convolution"],
    "MatMul_BatchNormalization_Fusion": row(
        [2, 4], node("MatMul", "a w", "c"), node("BatchNormalization", "c k k k k", "b"), w=SQUARE, k=np.ones(4, np.float32)
    ),
    "Pad_Fusion": GRAPHS["padding"],
    "GemmSumFusion": row([2, 4], node("Gemm", "a w", "c"), node("Sum", "c k", "b"), w=SQUARE, k=np.ones(4, np.float32)),
    "GemmTransposeFusion": row([4, 2], node("Transpose", "a", "c", perm=[1, 0]), node("Gemm", "c w", "b"), w=SQUARE),
    "ReluQuantRewrite": row(
        CUBE, node("Relu", "a", "c"), node("QuantizeLinear", "c s z", "q"), node("Cast", "q", "b", to=1), **BEFORE_8_BITS
    ),
    "ClipQuantRewrite": row(
        CUBE,
        node("Exp", "a", "e"),
        node("Clip", "e lo hi", "c"),
        node("QuantizeLinear", "c s z", "q"),
        node("Cast", "q", "b", to=1),
        lo=np.float32(0),
        hi=np.float32(200),
        **BEFORE_8_BITS,
    ),
}
LEVELS = ["basic", "extended", "all"]
LISTED = re.findall(r'RH_OPTIMIZER\("(\w+)", (\w+),', OPTIMIZERS.read_text(encoding="utf-8")) if OPTIMIZERS.is_file() else []
LOG = """
import sys, onnxruntime
onnxruntime.set_default_logger_severity(0)
options = onnxruntime.SessionOptions()
options.log_severity_level = 0
options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, sys.argv[2])
options.add_session_config_entry("optimization.enable_gelu_approximation", "1")
onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
"""


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    """The transformers that run at each level, by ONNX Runtime's log."""
    path = tmp_path_factory.mktemp("log") / "model.onnx"
    onnx.save(GRAPHS["heads"], path)
    found = {}
    for level in LEVELS:
        command = [sys.executable, "-c", LOG, str(path), f"ORT_ENABLE_{level.upper()}"]
        log = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        found[level] = set(re.findall(r"GraphTransformer (\w+) modified", log))
    return found


@pytest.mark.skipif(not LISTED, reason="the list is in the sources")
def test_optimizers_are_listed_with_their_levels(logged, tmp_path):
    for name, level in LISTED:
        if name in RULES:
            for run in LEVELS[:2]:
                with_it, without = (
                    operators_of(onnxruntime, RULES[name], tmp_path / "m.onnx", run.upper(), ["ConstantFolding", *off])
                    for off in ([], [name])
                )
                assert (with_it != without) == (LEVELS.index(run) >= LEVELS.index(level)), (name, run)
        else:
            first = next((run for run in LEVELS if name in logged[run]), "none")
            assert first == level, name
