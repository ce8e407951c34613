"""Loops without iterations, and what takes results without elements."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import roundhouse

CPU = ["CPUExecutionProvider"]
LEVELS = ["ORT_DISABLE_ALL", "ORT_ENABLE_ALL"]
X = np.arange(6, dtype=np.float32).reshape(2, 3)
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node, value = helper.make_node, helper.make_tensor_value_info


def session(nodes, inputs, outputs, constants=None, level="ORT_ENABLE_ALL", opset=17):
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in (constants or {}).items()]
    graph = helper.make_graph(nodes, "graph", [value(*i) for i in inputs], [value(*o) for o in outputs], tensors)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    options = roundhouse.SessionOptions()
    options.graph_optimization_level = getattr(roundhouse.GraphOptimizationLevel, level)
    return roundhouse.InferenceSession(made.SerializeToString(), options, providers=CPU)


def loop(sizes, row_nodes, row_sizes):
    """A Loop over `count` whose body gives a row of the carried x an iteration."""
    going, state = value("going", BOOL, []), value("v", FLOAT, sizes)
    body = helper.make_graph(
        [node("Identity", ["going"], ["on"]), node("Identity", ["v"], ["vo"]), *row_nodes],
        "body",
        [value("i", INT64, []), going, state],
        [value("on", BOOL, []), value("vo", FLOAT, sizes), value("row", FLOAT, row_sizes)],
        [numpy_helper.from_array(np.array([0], np.int64), "zero")],
    )
    return node("Loop", ["count", "", "x"], ["last", "rows"], body=body)


SUM = [node("ReduceSum", ["v", "zero"], ["row"], keepdims=0)]
BY_SHAPE = [node("Expand", ["half", "wide"], ["row"])]  # by values that only the run knows


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("sizes", "row_sizes"),
    [([2, 3], [3]), (["a", "b"], ["d"]), ([None, None], [None]), (None, None)],
    ids=["fixed", "named", "open", "none"],
)
def test_rows_of_a_loop_without_iterations(sizes, row_sizes, level):
    made = session(
        [loop(sizes, SUM, row_sizes), node("Concat", ["rows", "x"], ["y"], axis=0)],
        [("count", INT64, []), ("x", FLOAT, ["n", "m"])],
        [("y", FLOAT, None), ("rows", FLOAT, None)],
        level=level,
    )
    for count in (0, 2, 0, 1):
        y, rows = made.run(None, {"count": np.array(count), "x": X})
        assert rows.shape == (count, 3)
        np.testing.assert_array_equal(y, np.concatenate([np.tile(X.sum(0), (count, 1)), X]))


@pytest.mark.parametrize("level", LEVELS)
def test_sizes_that_captured_values_tell(level):
    made = session(
        [loop(None, BY_SHAPE, None)],
        [("count", INT64, []), ("x", FLOAT, ["n", "m"]), ("wide", INT64, ["k"]), ("half", FLOAT, [])],
        [("rows", FLOAT, None)],
        level=level,
    )
    for count in (0, 2):
        feed = {"count": np.array(count), "x": X, "wide": np.array([4, 5]), "half": np.array(0.5, np.float32)}
        assert made.run(None, feed)[0].shape == (count, 4, 5)


@pytest.mark.parametrize(("sizes"), [[3], ["m"], None], ids=["fixed", "named", "none"])
def test_scan_over_no_steps(sizes):
    body = helper.make_graph(
        [node("Add", ["a", "v"], ["ao"]), node("Identity", ["ao"], ["o"])],
        "body",
        [value("a", FLOAT, sizes), value("v", FLOAT, sizes)],
        [value("ao", FLOAT, sizes), value("o", FLOAT, sizes)],
    )
    for axis in (0, 1):
        made = session(
            [node("Scan", ["s", "x"], ["so", "y"], num_scan_inputs=1, body=body, scan_output_axes=[axis])],
            [("s", FLOAT, sizes), ("x", FLOAT, ["t", *sizes] if sizes else None)],
            [("so", FLOAT, None), ("y", FLOAT, None)],
        )
        for steps in (2, 0):
            s, x = np.full(3, 2, np.float32), np.ones((steps, 3), np.float32)
            last, sums = made.run(None, {"s": s, "x": x})
            np.testing.assert_array_equal(last, s + steps)
            np.testing.assert_array_equal(sums, np.moveaxis(s + np.cumsum(x, 0, dtype=np.float32), 0, axis))


COUNTED = [node("Range", ["zero_f", "three", "one"], ["row"])]
ENLARGED = [node("Unsqueeze", ["v", "first"], ["plane"]), node("Resize", ["plane", "", "twice"], ["row"], mode="nearest")]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("row_nodes", "shape"), [(COUNTED, (3,)), (ENLARGED, (1, 1, 4, 6))], ids=["Range", "Resize"])
def test_sizes_by_floats_outside_of_a_loop_without_iterations(row_nodes, shape, level):
    constants = {"zero_f": np.float32(0), "three": np.float32(3), "one": np.float32(1), "first": np.array([0, 1])}
    made = session(
        [loop(None, row_nodes, None)],
        [("count", INT64, []), ("x", FLOAT, ["n", "m"])],
        [("rows", FLOAT, None)],
        {**constants, "twice": np.array([1, 1, 2, 2], np.float32)},
        level,
    )
    for count in (0, 1):
        assert made.run(None, {"count": np.array(count), "x": X})[0].shape == (count, *shape)


def test_the_head_of_a_detector_over_no_boxes():
    made = session(
        [
            node("RoiAlign", ["f", "boxes", "at"], ["r"], output_height=2, output_width=2),
            node("Conv", ["r", "w"], ["c"], pads=[1, 1, 1, 1]),
            node("ConvTranspose", ["c", "t"], ["d"], strides=[2, 2]),
            node("Flatten", ["d"], ["e"]),
            node("ArgMax", ["e"], ["y"], axis=1, keepdims=0),
        ],
        [("f", FLOAT, [1, 2, 8, 8]), ("boxes", FLOAT, ["n", 4]), ("at", INT64, ["n"])],
        [("y", INT64, None)],
        {"w": np.ones((2, 2, 3, 3), np.float32), "t": np.ones((2, 1, 2, 2), np.float32)},
        opset=16,
    )
    boxes = np.array([[0, 0, 4, 4], [1, 1, 6, 6]], np.float32)
    for n in (0, 2, 0):
        feed = {"f": np.ones((1, 2, 8, 8), np.float32), "boxes": boxes[:n], "at": np.zeros(n, np.int64)}
        assert made.run(None, feed)[0].shape == (n,)


def test_means_of_nothing_are_no_nan():
    made = session([node("ReduceMean", ["x"], ["y"], axes=[0])], [("x", FLOAT, ["n", 3])], [("y", FLOAT, None)])
    np.testing.assert_array_equal(made.run(None, {"x": X[:0]})[0], np.zeros((1, 3)))


def test_a_sequence_of_nothing_is_joined():
    joined = node("ConcatFromSequence", ["s"], ["y"], axis=0)
    made = session([node("SplitToSequence", ["x"], ["s"], axis=0), joined], [("x", FLOAT, ["n", 3])], [("y", FLOAT, None)])
    assert made.run(None, {"x": X[:0]})[0].shape == (0, 3)
    np.testing.assert_array_equal(made.run(None, {"x": X})[0], X)
