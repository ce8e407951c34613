"""What a session tells of its memory before a run, the budget that holds it, and giving memory back."""

import models
import numpy as np
import pytest
from onnx import TensorProto, helper

import roundhouse

CPU = ["CPUExecutionProvider"]
WIDTH = 4096


def wide():
    """y[N, 4096] = -(x w + softmax(x w)), with w[16, 4096] of 0.5"""
    return models.model(
        [
            helper.make_node("MatMul", ["x", "w"], ["a"], "first"),
            helper.make_node("Softmax", ["a"], ["b"], "second"),
            helper.make_node("Add", ["a", "b"], ["c"], "third"),
            helper.make_node("Neg", ["c"], ["y"], "fourth"),
        ],
        [models.tensor("x", shape=("N", 16))],
        [models.tensor("y", shape=("N", WIDTH))],
        [helper.make_tensor("w", TensorProto.FLOAT, [16, WIDTH], np.full(16 * WIDTH, 0.5, np.float32).tobytes(), raw=True)],
    )


def session(budget=None):
    options = roundhouse.SessionOptions()
    if budget is not None:
        options.add_session_config_entry("roundhouse.memory.budget_bytes", str(budget))
    return roundhouse.InferenceSession(wide(), options, providers=CPU)


def test_plan_is_what_the_run_takes():
    made, x = session(), np.ones((64, 16), np.float32)
    plan = made.memory_plan({"x": x})
    assert plan == made.memory_plan({"x": (64, 16)}) == made.memory_plan(dimensions={"N": 64})
    assert plan["symbols"] == {"N": 64} and plan["assumed"] == []
    assert [entry["tensor"] for entry in plan["at_peak"]] == ["a", "b"]
    assert plan["peak_node"] == "second"
    assert plan["output_bytes"] == 64 * WIDTH * 4
    assert plan["packed_bytes"] == 16 * WIDTH * 4
    made.run(None, {"x": x})
    assert made.statistics()["planned_peak_bytes"] == plan["arena_bytes"]


def test_plan_refuses_shapes_that_do_not_fit():
    with pytest.raises(roundhouse.InvalidArgument, match="expected"):
        session().memory_plan({"x": (1, 17)})
    assert session().memory_plan()["assumed"] == ["N"]


def test_budget_is_an_error_with_a_breakdown_and_the_session_goes_on():
    made = session(budget=1 << 20)
    for _ in range(3):
        with pytest.raises(roundhouse.RuntimeException, match=r"budget.*'a' 1\.0 MiB \(node first\)"):
            made.run(None, {"x": np.ones((64, 16), np.float32)})
        assert made.run(None, {"x": np.ones((2, 16), np.float32)})[0].shape == (2, WIDTH)


def test_budget_holds_at_load():
    with pytest.raises(roundhouse.RuntimeException, match="'w' 256"):
        session(budget=1000)
    with pytest.raises(roundhouse.InvalidArgument, match="budget_bytes"):
        session(budget=-1)


def test_trim_gives_back_what_runs_kept():
    made = session()
    at_rest = made.statistics()["memory_bytes"]
    made.run(None, {"x": np.ones((64, 16), np.float32)})
    assert made.statistics()["memory_bytes"] >= at_rest + (2 << 20)
    assert made.trim() >= 2 << 20
    assert made.statistics()["memory_bytes"] == at_rest


def test_arena_shrinkage_of_a_run_gives_its_memory_back():
    made, options = session(), roundhouse.RunOptions()
    at_rest = made.statistics()["memory_bytes"]
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    made.run(None, {"x": np.ones((64, 16), np.float32)}, options)
    assert made.statistics()["memory_bytes"] == at_rest


@pytest.mark.parametrize(("given", "kept"), [(True, True), ("1", True), ("true", True), (False, False), ("0", False), ("False", False)])
def test_the_arena_by_an_option_of_the_provider(given, kept):
    options = roundhouse.SessionOptions()
    options.enable_cpu_mem_arena = not kept
    made = roundhouse.InferenceSession(wide(), options, providers=[("CPUExecutionProvider", {"use_arena": given})])
    at_rest = made.statistics()["memory_bytes"]
    made.run(None, {"x": np.ones((64, 16), np.float32)})
    assert (made.statistics()["memory_bytes"] > at_rest) == kept


@pytest.mark.parametrize("count", [5, 17, 33])
def test_a_loop_may_make_what_one_tensor_may_take(count):
    """Of a number of iterations that only the condition tells: what it joins is no larger on the way than in the end."""
    body = helper.make_graph(
        [
            helper.make_node("Neg", ["c"], ["d"]),
            helper.make_node("Less", ["i", "limit"], ["go_on"]),
            helper.make_node("Identity", ["d"], ["e"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("c", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("d", TensorProto.FLOAT, None),
            helper.make_tensor_value_info("e", TensorProto.FLOAT, None),
        ],
    )
    loop = helper.make_graph(
        [helper.make_node("Loop", ["", "go", "x"], ["y", "z"], body=body)],
        "graph",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"]),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("limit", TensorProto.INT64, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None), helper.make_tensor_value_info("z", TensorProto.FLOAT, None)],
    )
    options = roundhouse.SessionOptions()
    options.add_session_config_entry("roundhouse.memory.max_tensor_bytes", str(10000 * count * 4 + 64))
    made = roundhouse.InferenceSession(
        helper.make_model(loop, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString(), options
    )
    feeds = {"x": np.arange(10000, dtype=np.float32), "go": np.array(True), "limit": np.array(count - 1, np.int64)}
    z = made.run(["z"], feeds)[0]
    np.testing.assert_array_equal(z, np.stack([feeds["x"] * (-1) ** (i + 1) for i in range(count)]))
