"""Scales and shifts by channel beside quantized nodes on OpenVINO, where sizes are open: with sums of bytes, and in float32."""

import json

import numpy as np
import pytest
from hosts import OPENVINO, floats, tensor
from onnx import helper, numpy_helper

import roundhouse

CHANNELS = 24
STEP = 0.02  # of QuantizeLinear
RANKS = {2: (4, CHANNELS), 4: (4, CHANNELS, 5, 3)}

pytestmark = pytest.mark.skipif(
    OPENVINO not in roundhouse.get_available_providers(), reason="there is no OpenVINO here: scripts/stand openvino -- ..."
)


def by_channel(rank, seed):
    return floats(CHANNELS, *[1] * (rank - 2), seed=seed)


def norm(rank):
    values = {n: np.abs(floats(CHANNELS, seed=i)) + 0.5 for i, n in enumerate(("scale", "shift", "mean", "deviation"))}
    return [helper.make_node("BatchNormalization", ["x", *values], ["y"])], values


def scale(rank):
    return [helper.make_node("Mul", ["x", "scale"], ["y"])], {"scale": by_channel(rank, 1)}


def shift_and_scale(rank):
    nodes = [helper.make_node("Sub", ["x", "shift"], ["shifted"]), helper.make_node("Mul", ["shifted", "scale"], ["y"])]
    return nodes, {"shift": by_channel(rank, 1), "scale": by_channel(rank, 2)}


def limited_norm(rank):
    nodes, values = norm(rank)
    nodes[0].output[0] = "z"
    return [*nodes, helper.make_node("Clip", ["z", "low", "high"], ["y"])], {**values, "low": np.float32(-3), "high": np.float32(3)}


def moved_norm(rank):
    nodes, values = norm(rank)
    nodes[0].output[0] = "z"
    return [*nodes, helper.make_node("Transpose", ["z"], ["y"], perm=[1, 0, 2, 3][:rank])], values


def model_of(nodes, values, sizes, outputs):
    """With QuantizeLinear and DequantizeLinear behind the value y, in y's place."""
    values = {**values, "step": np.float32(STEP), "zero": np.uint8(120)}
    nodes += [helper.make_node("QuantizeLinear", ["y", "step", "zero"], ["q"])]
    nodes += [helper.make_node("DequantizeLinear", ["q", "step", "zero"], ["d"])]
    graph = helper.make_graph(
        nodes,
        "main",
        [tensor("x", sizes)],
        [helper.make_empty_tensor_value_info(output) for output in outputs],
        [numpy_helper.from_array(np.asarray(v), n) for n, v in values.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    return model.SerializeToString()


def sessions(model, bytes_mode):
    """The CPU's, and one with OpenVINO computing quantized nodes in bytes or not; neither with nodes joined before."""
    options = roundhouse.SessionOptions()
    options.graph_optimization_level = roundhouse.GraphOptimizationLevel.ORT_DISABLE_ALL
    config = json.dumps({"CPU": {"LP_TRANSFORMS_MODE": bytes_mode}}) if bytes_mode else None
    given = {"load_config": config} if config else {}
    providers = [(OPENVINO, given), "CPUExecutionProvider"]
    reference = roundhouse.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return reference, roundhouse.InferenceSession(model, options, providers=providers)


@pytest.mark.parametrize("bytes_mode", ["YES", "NO"], ids=["bytes", "floats"])
@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("is_open", [False, True], ids=["fixed", "open"])
@pytest.mark.parametrize("form", [norm, scale, shift_and_scale, limited_norm, moved_norm], ids=lambda form: form.__name__)
def test_what_is_quantized_behind_a_scale_by_channel_is_right(form, is_open, rank, bytes_mode):
    sizes = ["batch", *RANKS[rank][1:]] if is_open else RANKS[rank]
    reference, made = sessions(model_of(*form(rank), sizes, ["d"]), bytes_mode)
    feeds = {"x": floats(*RANKS[rank], seed=3)}
    (expected,), (actual,) = reference.run(None, feeds), made.run(None, feeds)
    np.testing.assert_allclose(actual, expected, atol=1.01 * STEP)
    owners = {row["op_type"]: row["provider"] for row in made.placement()}
    assert (owners["QuantizeLinear"] == OPENVINO) == (not is_open), owners


def test_a_quantized_product_whose_output_is_shifted_stays_whole():
    """A shift along the last of three dimensions, as of a layer of a transformer, is none by channel."""
    values = {"weights": floats(CHANNELS, CHANNELS, seed=1), "shift": floats(CHANNELS, seed=2)}
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Add", ["r", "shift"], ["y"])]
    reference, made = sessions(model_of(nodes, {"shift": values["shift"]}, ["batch", 7, CHANNELS], ["d"]), None)
    feeds = {"x": floats(2, 7, CHANNELS, seed=3)}
    np.testing.assert_allclose(made.run(None, feeds)[0], reference.run(None, feeds)[0], atol=1.01 * STEP)
    assert {row["provider"] for row in made.placement()} == {OPENVINO}


def scaled_view(width=32, channels=8):
    """A product of floats whose columns are scaled by channel between two views, beside a quantized one."""
    values = {
        "first": floats(6, width, seed=1) / 3,
        "second": floats(width, channels, seed=2) / 6,
        "bias": floats(channels, seed=3),
        "rows": np.array([-1, channels]),
        "image": np.array([-1, channels, 6, channels]),
        **{n: np.abs(floats(channels, seed=i)) + 0.5 for i, n in enumerate(("scale", "shift", "mean", "deviation"))},
        "columns": floats(width, seed=9),
    }
    nodes = [
        helper.make_node("MatMul", ["x", "first"], ["product"]),
        helper.make_node("Add", ["product", "columns"], ["shifted"]),
        helper.make_node("Transpose", ["shifted"], ["turned"], perm=[3, 2, 1, 0]),
        helper.make_node("Sigmoid", ["turned"], ["y"]),
        helper.make_node("MatMul", ["product", "second"], ["z0"]),
        helper.make_node("Add", ["z0", "bias"], ["z1"]),
        helper.make_node("Reshape", ["z1", "rows"], ["z2"]),
        helper.make_node("BatchNormalization", ["z2", "scale", "shift", "mean", "deviation"], ["z3"]),
        helper.make_node("Reshape", ["z3", "image"], ["z4"]),
    ]
    return nodes, values


@pytest.mark.parametrize("bytes_mode", [None, "NO"], ids=["as it is", "floats"])
def test_a_scale_between_views_is_right_beside_quantized_nodes(bytes_mode):
    reference, made = sessions(model_of(*scaled_view(), ["batch", 8, 6, 6], ["d", "z4"]), bytes_mode)
    feeds = {"x": floats(2, 8, 6, 6, seed=4)}
    expected, actual = reference.run(None, feeds), made.run(None, feeds)
    np.testing.assert_allclose(actual[0], expected[0], atol=1.01 * STEP)
    np.testing.assert_allclose(actual[1], expected[1], rtol=1e-5, atol=1e-5)
