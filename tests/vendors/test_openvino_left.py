"""Attention and Resize on OpenVINO: what it would get wrong is left to the CPU, and what is beside that is taken, and right."""

import numpy as np
import pytest
from hosts import OPENVINO, floats, tensor
from onnx import helper, numpy_helper

import roundhouse

CPU = "CPUExecutionProvider"
MICROSOFT = "com.microsoft"
OPEN = "open"  # sizes that only a run tells

pytestmark = pytest.mark.skipif(
    OPENVINO not in roundhouse.get_available_providers(), reason="there is no OpenVINO here: scripts/stand openvino -- ..."
)


def check(op, inputs, attributes, is_taken, outputs=1, opset=17, domain="", constants=None, shapes=None):
    """One node is on OpenVINO or is not, and right. `inputs`: by position. `shapes`: those in the model, where they are not the inputs'."""
    constants = constants or {}
    names = ["" if i not in inputs and i not in constants else f"x{i}" for i in range(max([*inputs, *constants]) + 1)]
    sizes = {i: [f"x{i}_{axis}" for axis in range(x.ndim)] if shapes == OPEN else (shapes or {}).get(i, x.shape) for i, x in inputs.items()}
    results = [f"y{i}" for i in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(op, names, results, domain=domain, **attributes)],
        "main",
        [tensor(names[i], sizes[i], helper.np_dtype_to_tensor_dtype(x.dtype)) for i, x in inputs.items()],
        [helper.make_empty_tensor_value_info(name) for name in results],
        [numpy_helper.from_array(value, names[i]) for i, value in constants.items()],
    )
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10 if opset > 22 else 8).SerializeToString()
    made = roundhouse.InferenceSession(model, providers=[OPENVINO])
    assert {row["provider"] for row in made.placement()} == {OPENVINO if is_taken else CPU}
    feed = {names[i]: x for i, x in inputs.items()}
    expected = roundhouse.InferenceSession(model, providers=[CPU]).run(None, feed)
    for e, a in zip(expected, made.run(None, feed), strict=True):
        assert e.shape == a.shape
        np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-5)


# --- Attention of ai.onnx: sizes of queries, keys and values

FOUR_ON_TWO, TWO_ON_TWO, PACKED = [(2, 4, 3, 8), (2, 2, 5, 8)], [(2, 2, 3, 8), (2, 2, 5, 8)], [(2, 3, 32), (2, 5, 16)]
OPEN_BUT_HEADS = {0: ["B", 4, "L", 8], 1: ["B", 2, "S", 8], 2: ["B", 2, "S", 8]}
STANDARD = {
    "groups": (FOUR_ON_TWO, None, 1, True),
    "groups of open sizes": (FOUR_ON_TWO, OPEN, 1, False),
    "groups of known heads": (FOUR_ON_TWO, OPEN_BUT_HEADS, 1, True),
    "one head of keys": ([(2, 4, 3, 8), (2, 1, 5, 8)], {0: ["B", "H", "L", 8], 1: ["B", 1, "S", 8], 2: ["B", 1, "S", 8]}, 1, True),
    "as many heads": (TWO_ON_TWO, {0: ["B", "H", "L", 8], 1: ["B", "H", "S", 8], 2: ["B", "H", "S", 8]}, 1, True),
    "packed": (PACKED, OPEN, 1, True),
    "present keys": (TWO_ON_TWO, None, 3, False),
    "present keys, packed": (PACKED, None, 3, True),
}


@pytest.mark.parametrize("name", STANDARD)
def test_attention(name):
    (queries, keys), shapes, outputs, is_taken = STANDARD[name]
    heads = {"q_num_heads": 4, "kv_num_heads": 2} if len(queries) == 3 else {}
    inputs = {0: floats(*queries), 1: floats(*keys, seed=1), 2: floats(*keys, seed=2)}
    check("Attention", inputs, heads, is_taken, outputs, 23, shapes=shapes)


@pytest.mark.parametrize("shapes", [OPEN_BUT_HEADS, OPEN], ids=["known heads", OPEN])
def test_attention_with_a_past_gives_present_keys(shapes):
    inputs = {i: floats(2, heads, rows, 8, seed=i) for i, heads, rows in ((0, 4, 3), (1, 2, 5), (2, 2, 5), (4, 2, 3), (5, 2, 3))}
    if shapes is not OPEN:
        shapes = shapes | {4: ["B", 2, "P", 8], 5: ["B", 2, "P", 8]}
    check("Attention", inputs, {}, shapes is not OPEN, 3, 23, shapes=shapes)


# --- MultiHeadAttention: queries of 4 and keys of 5 rows, with three heads of 4

QUERIES, KEYS, BY_HEAD = floats(2, 4, 12), floats(2, 5, 12, seed=1), floats(2, 3, 5, 4, seed=1)
LIKE_QUERIES, LIKE_HEADS, BIAS = floats(2, 4, 12, seed=1), floats(2, 3, 12), floats(36, seed=3)
PAST, ALL_SEEN = floats(2, 3, 2, 4, seed=4), np.ones((2, 4, 5), np.int32)
ENDS, RANGES = np.array([4, 2], np.int32), np.array([4, 5, 2, 3], np.int32)
STARTS = np.array([3, 4, 0, 3, 7, 0, 4, 8], np.int32)  # lengths, and where queries and keys begin in all of them
MANY_HEADS = {
    "a bias": ({0: QUERIES, 1: KEYS, 2: KEYS, 3: BIAS}, {}, 3, True),
    "a bias, as many queries as heads": ({0: LIKE_HEADS, 1: KEYS, 2: KEYS, 3: BIAS}, {}, 1, False),
    "no bias, as many queries as heads": ({0: LIKE_HEADS, 1: KEYS, 2: KEYS}, {}, 1, True),
    "keys by head": ({0: QUERIES, 1: BY_HEAD, 2: BY_HEAD}, {}, 1, True),
    "keys by head and a bias": ({0: QUERIES, 1: BY_HEAD, 2: BY_HEAD, 3: BIAS}, {}, 1, False),
    "keys by head and present ones": ({0: QUERIES, 1: BY_HEAD, 2: BY_HEAD}, {}, 3, False),
    "ends": ({0: QUERIES, 1: KEYS, 2: KEYS, 4: ENDS}, {}, 1, True),
    "ends and begins": ({0: QUERIES, 1: KEYS, 2: KEYS, 4: RANGES}, {}, 1, False),
    "lengths": ({0: QUERIES, 1: KEYS, 2: KEYS, 4: STARTS}, {}, 1, True),
    "unidirectional": ({0: QUERIES, 1: KEYS, 2: KEYS}, {"unidirectional": 1}, 1, True),
    "unidirectional with a mask": ({0: QUERIES, 1: KEYS, 2: KEYS, 4: ALL_SEEN}, {"unidirectional": 1}, 1, False),
    "a mask": ({0: QUERIES, 1: KEYS, 2: KEYS, 4: ALL_SEEN}, {}, 1, True),
    "unidirectional with a past": ({0: QUERIES, 1: LIKE_QUERIES, 2: LIKE_QUERIES, 6: PAST, 7: PAST}, {"unidirectional": 1}, 3, True),
    "unidirectional with a past and other keys": ({0: QUERIES, 1: KEYS, 2: KEYS, 6: PAST, 7: PAST}, {"unidirectional": 1}, 3, False),
    "a past": ({0: QUERIES, 1: KEYS, 2: KEYS, 6: PAST, 7: PAST}, {}, 3, True),
}


@pytest.mark.parametrize("name", MANY_HEADS)
def test_many_heads(name):
    inputs, attributes, outputs, is_taken = MANY_HEADS[name]
    check("MultiHeadAttention", inputs, attributes | {"num_heads": 3}, is_taken, outputs, domain=MICROSOFT)


@pytest.mark.parametrize("size", ["B", "M"])
def test_a_mask_of_an_open_size(size):
    """As long as the batch it has no begins."""
    shapes = {0: ["B", 4, 12], 1: ["B", 5, 12], 2: ["B", 5, 12], 4: [size]}
    inputs = {0: QUERIES, 1: KEYS, 2: KEYS, 4: ENDS}
    check("MultiHeadAttention", inputs, {"num_heads": 3}, size == "B", domain=MICROSOFT, shapes=shapes)


@pytest.mark.parametrize("batch", [1, 2])
def test_grouped_queries_are_left(batch):
    inputs = {0: floats(batch, 2, 32), 1: floats(batch, 2, 16, seed=1), 2: floats(batch, 2, 16, seed=2)}
    inputs |= {
        3: floats(batch, 2, 3, 8, seed=3),
        4: floats(batch, 2, 3, 8, seed=4),
        5: np.full(batch, 4, np.int32),
        6: np.array(5, np.int32),
    }
    check("GroupQueryAttention", inputs, {"num_heads": 4, "kv_num_heads": 2}, False, 3, domain=MICROSOFT)


# --- Resize and Upsample: of 2 by 2 a scale of 1.3 leaves 2

HALF_PIXEL = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
SCALES = {
    "an axis keeps its size": ((1.0, 1.0, 1.3, 3.0), None, False),
    "both grow": ((1.0, 1.0, 1.5, 3.0), None, True),
    "shrinks": ((1.0, 1.0, 0.5, 1.5), None, True),
    "open sizes": ((1.0, 1.0, 1.5, 3.0), OPEN, False),
    "whole scales of open sizes": ((1.0, 1.0, 2.0, 3.0), OPEN, True),
    "smaller ones of open sizes": ((1.0, 1.0, 1.0, 0.5), OPEN, True),
}


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("name", SCALES)
def test_resize(name, mode):
    scales, shapes, is_taken = SCALES[name]
    check("Resize", {0: floats(1, 2, 2, 2)}, HALF_PIXEL | {"mode": mode}, is_taken, constants={2: np.array(scales, "f4")}, shapes=shapes)


@pytest.mark.parametrize("rule", ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"])
def test_an_axis_that_keeps_its_size(rule):
    """By its corners it stays as it is."""
    attributes = {"mode": "linear", "coordinate_transformation_mode": rule}
    check("Resize", {0: floats(1, 1, 5, 2)}, attributes, rule == "align_corners", constants={2: np.array([1, 1, 3, 1.3], "f4")})


@pytest.mark.parametrize(("rows", "axes", "is_taken"), [(3, [3, 2], False), (3, [2, 3], False), (4, [2, 3], True), (4, [3, 2], False)])
def test_resize_of_some_axes(rows, axes, is_taken):
    scales = np.array([1.3, 1.5], "f4")
    check("Resize", {0: floats(1, 2, rows, 2)}, HALF_PIXEL | {"axes": axes}, is_taken, opset=18, constants={2: scales})


def test_resize_by_numbers_of_a_run():
    """Sizes are taken, scales are not."""
    x, sizes = floats(1, 1, 2, 2), np.array([1, 1, 2, 5])
    check("Resize", {0: x, 3: sizes}, HALF_PIXEL, True)
    check("Resize", {0: x, 2: np.array([1, 1, 1.3, 2.5], "f4")}, HALF_PIXEL, False)


@pytest.mark.parametrize(
    ("mode", "scale", "is_taken"),
    [("nearest", 2.0, True), ("nearest", 1.4, False), ("linear", 2.0, True), ("linear", 1.4, True), ("linear", 1.3, False)],
)
def test_upsample(mode, scale, is_taken):
    """1.3 leaves 3 as long as it is, and 1.4 makes 4 of it, of which OpenVINO takes other nearest ones."""
    check("Upsample", {0: floats(1, 1, 3, 3)}, {"mode": mode}, is_taken, opset=9, constants={1: np.array([1, 1, 2, scale], "f4")})
