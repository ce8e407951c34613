"""Sizes of values between and of outputs are hints: what follows from inputs and operators counts."""

import models
import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import roundhouse

CPU = ["CPUExecutionProvider"]
LEVELS = ["ORT_DISABLE_ALL", "ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL"]
X = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)
W = np.random.default_rng(1).normal(size=(8, 5)).astype(np.float32)
P = np.arange(12, dtype=np.float32).reshape(3, 1, 4)
FLAT, DEEP = ("n", 8), ("n", 1, 4)


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs.split(), [output], **attributes)


def turned(inputs, output):
    return node("Transpose", inputs, output, perm=[1, 0, 2])


# Nodes, the input's sizes, the output's declared ones, those between, input, expected output. The file was made with a batch of 1.
CASES = {
    "product": ([node("MatMul", "x w", "y")], FLAT, (1, 5), {}, X, X @ W),
    "order of dimensions": ([turned("x", "y")], DEEP, (1, 1, 4), {}, P, P.transpose(1, 0, 2)),
    "order within": ([node("Relu", "x", "a"), turned("a", "y")], DEEP, (1, 1, 4), {"a": (1, 1, 4)}, P, P.transpose(1, 0, 2)),
    "there and back": (
        [turned("x", "a"), node("Relu", "a", "b"), turned("b", "y")],
        DEEP,
        (1, 1, 4),
        {"a": (1, 1, 4), "b": (1, 1, 4)},
        P,
        P,
    ),
    "shape": ([node("Relu", "x", "a"), node("Shape", "a", "y")], FLAT, (2,), {"a": (1, 8)}, X, np.array([3, 8])),
    "reshape by a shape": (
        [node("Shape", "x", "s"), turned("x", "a"), node("Relu", "a", "b"), node("Reshape", "b s", "y")],
        DEEP,
        (1, 1, 4),
        {"a": (1, 1, 4), "b": (1, 1, 4)},
        P,
        P,
    ),
    "another rank": ([node("Relu", "x", "a"), node("Shape", "a", "y")], FLAT, (3,), {"a": (1, 1, 8)}, X, np.array([3, 8])),
}


def made(nodes, sizes, declared, between):
    kind = TensorProto.INT64 if nodes[-1].op_type == "Shape" else TensorProto.FLOAT
    graph = helper.make_graph(
        nodes, "graph", [models.tensor("x", shape=sizes)], [models.tensor("y", kind, declared)], [numpy_helper.from_array(W, "w")]
    )
    graph.value_info.extend(models.tensor(name, shape=shape) for name, shape in between.items())
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", CASES)
def test_what_follows_from_the_inputs_counts(name, level):
    nodes, sizes, declared, between, x, expected = CASES[name]
    options = roundhouse.SessionOptions()
    options.graph_optimization_level = getattr(roundhouse.GraphOptimizationLevel, level)
    (y,) = roundhouse.InferenceSession(made(nodes, sizes, declared, between), options, providers=CPU).run(None, {"x": x})
    assert y.shape == expected.shape
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("declared", "expected"),
    [((1, 8), [1, 8]), (("m", 8), ["m", 8]), ((None, 8), ["n", 8]), ((32,), ["n", 8]), ((1, 1, 8), ["n", 8]), ((1, 9), [1, 8])],
)
def test_what_is_said_of_an_output(declared, expected):
    session = roundhouse.InferenceSession(made([node("Relu", "x", "y")], FLAT, declared, {}), providers=CPU)
    assert session.get_outputs()[0].shape == expected


def test_contradictions_are_errors_where_that_is_asked_for():
    options = roundhouse.SessionOptions()
    options.add_session_config_entry("session.strict_shape_type_inference", "1")
    nodes = [node("Relu", "x", "a"), node("Neg", "a", "y")]
    with pytest.raises(roundhouse.Fail, match="'a' is declared with rank 3"):
        roundhouse.InferenceSession(made(nodes, FLAT, ("n", 8), {"a": (1, 1, 8)}), options, providers=CPU)


def test_the_optimized_model_has_what_was_inferred(tmp_path):
    options = roundhouse.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    nodes, sizes, declared, between, *_ = CASES["order within"]
    roundhouse.InferenceSession(made(nodes, sizes, declared, between), options, providers=CPU)
    written = ModelProto.FromString((tmp_path / "optimized.onnx").read_bytes())
    for port in [*written.graph.value_info, *written.graph.output]:
        assert [d.dim_param or d.dim_value for d in port.type.tensor_type.shape.dim] in (["n", 1, 4], [1, "n", 4])
