"""Models that ONNX Runtime optimised at its highest level: operators whose channels are in blocks (com.microsoft.nchwc)."""

import models
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

import roundhouse

NCHWC = "com.microsoft.nchwc"
SOURCE = np.random.default_rng(7)


def weights(name, *shape):
    return numpy_helper.from_array(SOURCE.standard_normal(shape).astype(np.float32) / np.sqrt(np.prod(shape[1:])).astype(np.float32), name)


def conv(x, w, y, *more, **attributes):
    return helper.make_node("Conv", [x, w, *more], [y], name=f"to {y}", **attributes)


def node(op, inputs, output, **attributes):
    return helper.make_node(op, inputs, [output], name=f"to {output}", **attributes)


PADDED = {"pads": [1, 1, 1, 1]}
# 20, 24 and 36 channels fill up no blocks of 16; 3 and 12 are taken as they are.
CASES = {
    "activations, a sum and pools": (
        [
            conv("x", "w1", "a", "b1", strides=[2, 2], **PADDED),
            node("Clip", ["a", "zero", "six"], "b"),
            conv("b", "w2", "c", **PADDED),
            node("HardSwish", ["c"], "d"),
            conv("d", "w3", "e", group=20, **PADDED),
            conv("e", "w4", "f"),
            node("Add", ["f", "b"], "g"),
            node("LeakyRelu", ["g"], "h", alpha=0.1),
            node("MaxPool", ["h"], "i", kernel_shape=[3, 3], strides=[2, 2], **PADDED),
            node("AveragePool", ["i"], "j", kernel_shape=[2, 2], count_include_pad=1, **PADDED),
            node("Sigmoid", ["j"], "k"),
            node("GlobalMaxPool", ["k"], "l"),
            conv("l", "w5", "y"),
        ],
        [
            weights("w1", 32, 3, 3, 3),
            weights("b1", 32),
            weights("w2", 20, 32, 3, 3),
            weights("w3", 20, 1, 3, 3),
            weights("w4", 32, 20, 1, 1),
            weights("w5", 17, 32, 1, 1),
        ],
        ("N", 3, "H", "W"),
    ),
    "values are joined, added with other sizes and given twice": (
        [
            conv("x", "w1", "a", **PADDED),
            conv("x", "w2", "b", **PADDED),
            node("Concat", ["a", "b"], "c", axis=1),
            conv("c", "w3", "d", group=2),
            node("GlobalAveragePool", ["d"], "e"),
            conv("e", "w4", "f"),
            node("Add", ["d", "f"], "g"),
            node("Tanh", ["g"], "h"),
            conv("h", "w4", "y"),
            node("Neg", ["h"], "z"),
        ],
        [weights("w1", 16, 12, 3, 3), weights("w2", 48, 12, 3, 3), weights("w3", 32, 32, 1, 1), weights("w4", 32, 32, 1, 1)],
        ("N", 12, "H", "W"),
    ),
    "enlarged, channels last": (
        [
            node("Transpose", ["x"], "t", perm=[0, 3, 1, 2]),
            conv("t", "w1", "a", **PADDED),
            node("Resize", ["a", "", "scales"], "b", mode="linear", coordinate_transformation_mode="align_corners"),
            node("Resize", ["b", "", "scales"], "c", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
            conv("c", "w2", "d"),
            node("Transpose", ["d"], "y", perm=[0, 2, 3, 1]),
        ],
        [weights("w1", 24, 20, 3, 3), weights("w2", 36, 24, 1, 1)],
        ("N", "H", "W", 20),
    ),
}


def made(case):
    nodes, initializers, shape = CASES[case]
    numbers = {"zero": np.float32(0), "six": np.float32(6), "scales": np.float32([1, 1, 2, 3])}
    names = {name for node in nodes for name in node.input}
    initializers = initializers + [numpy_helper.from_array(value, name) for name, value in numbers.items() if name in names]
    outputs = [models.tensor(name, shape="NABC") for name in ("y", "z") if any(name in node.output for node in nodes)]
    return models.model(nodes, [models.tensor("x", shape=shape)], outputs, initializers)


def optimized(model, path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.optimized_model_filepath = str(path)
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def blocked_operators(model, path):
    optimized(model, path)
    return {node.op_type for node in onnx.load(path).graph.node if node.domain == NCHWC}


@pytest.mark.parametrize("suffix", ["onnx", "ort"])
@pytest.mark.parametrize("case", CASES)
def test_results_are_those_of_onnx_runtime(case, suffix, tmp_path):
    model = made(case)
    if not blocked_operators(model, tmp_path / "seen.onnx"):
        pytest.skip("ONNX Runtime has no channels in blocks on this processor")
    stock = optimized(model, tmp_path / f"model.{suffix}")
    session = roundhouse.InferenceSession(tmp_path / f"model.{suffix}")
    assert [given.shape for given in session.get_inputs()] == [given.shape for given in stock.get_inputs()]
    for sizes in ({"N": 1, "H": 9, "W": 14}, {"N": 3, "H": 16, "W": 8}):
        x = SOURCE.standard_normal([sizes.get(dim, dim) for dim in CASES[case][2]]).astype(np.float32)
        for found, wanted in zip(session.run(None, {"x": x}), stock.run(None, {"x": x}), strict=True):
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_onnx_runtime_writes_each_operator(tmp_path):
    seen = set().union(*(blocked_operators(made(case), tmp_path / "model.onnx") for case in CASES))
    expected = {"Conv", "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool", "ReorderInput", "ReorderOutput", "Upsample"}
    assert not seen or seen == expected


def test_placement_names_the_nodes_of_the_file(tmp_path):
    if not blocked_operators(made("enlarged, channels last"), tmp_path / "model.onnx"):
        pytest.skip("ONNX Runtime has no channels in blocks on this processor")
    placement = roundhouse.InferenceSession(tmp_path / "model.onnx").get_placement()
    written = {node.name for node in onnx.load(tmp_path / "model.onnx").graph.node}
    assert written <= {row.name for row in placement}
