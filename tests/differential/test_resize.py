"""Resize beside ONNX Runtime: integers between others, and scales that leave an axis its size."""

import numpy as np
import onnxruntime
import pytest
from onnx import helper

import roundhouse

MODES = ["half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"]


def resized(runtime, x, scales, **attributes):
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="linear", **attributes)
    values = [helper.make_tensor_value_info("x", kind, x.shape)], [helper.make_tensor_value_info("y", kind, None)]
    graph = helper.make_graph([node], "resize", *values, [helper.make_tensor("scales", 1, [x.ndim], scales)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def drawn(seed, antialias):
    """A shape of which the last two axes are resized, or three of them, and its scales."""
    rng = np.random.default_rng(seed)
    rank = 4 if antialias else int(rng.choice([2, 3, 4, 5]))
    moved = 3 if rank in (3, 5) else 2
    shape = rng.integers(2, 12, rank)
    scales = [1.0] * (rank - moved) + [float(np.float32(s)) for s in rng.uniform(0.4, 2.5, moved)]
    if seed % 3 == 0:  # the size stays: floor(1.04 size)
        scales[-1] = float(np.float32(1.04))
    return rng, shape, scales


@pytest.mark.parametrize("antialias", [0, 1])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32"])
@pytest.mark.parametrize("seed", range(12))
def test_integers_are_those_of_onnxruntime(seed, dtype, antialias):
    rng, shape, scales = drawn(seed, antialias)
    # With antialiasing ONNX Runtime takes what lies below zero for too large.
    x = rng.integers(0 if dtype == "uint8" or antialias else -100, 100, shape).astype(dtype)
    attributes = {"coordinate_transformation_mode": MODES[seed % 4], **({"antialias": 1} if antialias else {})}
    own, peer = (resized(runtime, x, scales, **attributes) for runtime in (roundhouse, onnxruntime))
    off = np.abs(own.astype(int) - peer)
    # What lies at an integer, or half way, is one or the other by the last bit of a sum.
    assert off.max() <= 1 and (off > 0).mean() < 0.01


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("scales", [[1, 1, 1.05, 1.03], [1, 1, 1.05, 1.4]])
def test_a_scale_that_leaves_a_size_moves_what_is_between(mode, scales):
    x = np.random.default_rng(0).normal(size=(1, 2, 9, 10)).astype(np.float32)
    own, peer = (resized(runtime, x, scales, coordinate_transformation_mode=mode) for runtime in (roundhouse, onnxruntime))
    np.testing.assert_allclose(own, peer, atol=1e-5)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_a_region_by_scales_has_the_size_of_the_whole(mode):
    roi = helper.make_tensor("roi", 1, [8], [0, 0, 0.25, 0.2, 1, 1, 0.75, 1.1])
    scales = helper.make_tensor("scales", 1, [4], [1, 1, 2, 1.5])
    how = {"mode": mode, "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": -1.0}
    values = [helper.make_tensor_value_info(name, 1, shape) for name, shape in (("x", [1, 1, 8, 6]), ("y", None))]
    graph = helper.make_graph(
        [helper.make_node("Resize", ["x", "roi", "scales"], ["y"], **how)], "crop", values[:1], values[1:], [roi, scales]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9).SerializeToString()
    x = np.arange(48, dtype=np.float32).reshape(1, 1, 8, 6)
    sessions = (runtime.InferenceSession(model, providers=["CPUExecutionProvider"]) for runtime in (roundhouse, onnxruntime))
    own, peer = (session.run(None, {"x": x})[0] for session in sessions)
    assert own.shape == peer.shape == (1, 1, 16, 9)
    np.testing.assert_allclose(own, peer, atol=1e-4)
