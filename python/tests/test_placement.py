"""Who runs which node, as sessions tell it; the calls that the incumbent has as well answer the same."""

import dataclasses

import models
import numpy as np
import onnxruntime
import pytest
from onnx import helper

import roundhouse

RECORD = "session.record_ep_graph_assignment_info"
DISABLED = 0


def network():
    """Nodes that stay, one that a pass removes, two that fuse, and a branch."""
    node = helper.make_node
    then = helper.make_graph([node("Neg", ["r"], ["t"], "negate")], "then", [], [models.tensor("t", shape=(2, 3))])
    other = helper.make_graph([node("Exp", ["r"], ["e"], "grow")], "other", [], [models.tensor("e", shape=(2, 3))])
    return models.model(
        [
            node("Identity", ["a"], ["i"], "same"),
            node("MatMul", ["i", "b"], ["m"], "product"),
            node("Relu", ["m"], ["r"], "clip"),
            node("If", ["c"], ["y"], "choose", then_branch=then, else_branch=other),
        ],
        [models.tensor("a", shape=(2, 3)), models.tensor("b", shape=(3, 3)), helper.make_tensor_value_info("c", 9, [])],
        [models.tensor("y", shape=(2, 3))],
    )


def session(module, model, level=99, record="1"):
    options = module.SessionOptions()
    options.graph_optimization_level = module.GraphOptimizationLevel(level)
    options.add_session_config_entry(RECORD, record)
    return module.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def test_every_node_is_told_of():
    made = session(roundhouse, network())
    placement = {node.name: node for node in made.get_placement()}
    assert list(placement)[:4] == ["same", "product", "clip", "choose"] and set(list(placement)[4:]) == {"negate", "grow"}
    gone = placement.pop("same")
    assert (gone.fate, gone.provider, gone.pass_name) == ("removed", "", "eliminate_identities") and "eliminate_identities" in gone.reason
    for node in placement.values():
        assert (node.fate, node.provider, node.domain, node.reason) == ("runs", "CPUExecutionProvider", "", "")
        assert node.opset == 18 and node.kernel
    assert made.placement_summary() == {"CPUExecutionProvider": 5}
    with pytest.raises(dataclasses.FrozenInstanceError):
        gone.fate = "runs"


def test_functions_count_as_their_call():
    body = [helper.make_node("Mul", ["p", "p"], ["q"], "square"), helper.make_node("Add", ["q", "p"], ["s"], "sum")]
    function = helper.make_function("local", "SquareAndSum", ["p"], ["s"], body, [helper.make_opsetid("", 17)])
    graph = helper.make_graph(
        [helper.make_node("SquareAndSum", ["x"], ["y"], "call", domain="local"), helper.make_node("Relu", ["y"], ["z"], "clip")],
        "g",
        [models.tensor("x", shape=(2, 3))],
        [models.tensor("z", shape=(2, 3))],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    model = helper.make_model(graph, opset_imports=imports, functions=[function], ir_version=9).SerializeToString()
    made = session(roundhouse, model)
    rows = {node.name: node for node in made.get_placement()}
    assert [(n.name, n.function) for n in rows.values()] == [("call", ""), ("square", "call"), ("sum", "call"), ("clip", "")]
    assert (rows["call"].provider, rows["call"].domain, rows["call"].opset) == ("CPUExecutionProvider", "local", 1)
    assert made._report()["counts"]["nodes"] == 2 and made.placement_summary() == {"CPUExecutionProvider": 2}
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(made.run(None, {"x": x})[0], 2 * x)


def groups(made):
    info = made.get_provider_graph_assignment_info()
    return [(group.ep_name, [(n.name, n.domain, n.op_type) for n in group.get_nodes()]) for group in info]


def test_assignment_info_is_that_of_the_incumbent():
    """Without optimization, but for the order, in which the branches of a node have none."""
    ours, stock = (sorted(groups(session(module, network(), DISABLED))) for module in (roundhouse, onnxruntime))
    assert ours == stock and len(ours) == 6
    for module in (roundhouse, onnxruntime):
        with pytest.raises(Exception, match=RECORD):
            session(module, network(), record="0").get_provider_graph_assignment_info()


@pytest.mark.parametrize(
    ("entries", "precision"),
    [
        ({}, "fp32"),
        ({"roundhouse.precision": "fast"}, "fast"),
        ({"session.use_deterministic_compute": "1"}, "strict"),
    ],
)
def test_the_report_names_the_precision_in_force(entries, precision):
    options = roundhouse.SessionOptions()
    for key, value in entries.items():
        options.add_session_config_entry(key, value)
    made = roundhouse.InferenceSession(models.add(), options, providers=["CPUExecutionProvider"])
    assert made._report()["precision"] == precision
