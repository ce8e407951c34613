"""What the placement of whole models says: every node of the file is told of once."""

import onnx
import pytest
from common import MODELS, model_path
from onnx import AttributeProto

import roundhouse


def nodes_of(graph):
    """How many nodes a graph has, those of its subgraphs included."""
    count = len(graph.node)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                count += nodes_of(attribute.g)
            elif attribute.type == AttributeProto.GRAPHS:
                count += sum(nodes_of(body) for body in attribute.graphs)
    return count


@pytest.mark.parametrize("name", MODELS)
def test_counts_add_up(name):
    path = model_path(name)
    session = roundhouse.InferenceSession(path, providers=["CPUExecutionProvider"])
    counts = session._report()["counts"]
    expected = nodes_of(onnx.load(path, load_external_data=False).graph)
    assert counts["nodes"] == expected
    assert sum(counts["providers"].values()) + counts["removed"] + counts["divided"] + counts["unassigned"] == expected
    placement = [node for node in session.get_placement() if not node.function]
    assert len(placement) == expected
    for node in placement:
        assert node.fate in ("runs", "removed") and node.op_type and node.opset > 0, node
        if node.fate == "runs":
            assert node.provider == "CPUExecutionProvider" and node.kernel and node.runs_as and not node.reason, node
            assert not node.fused_from or node.name in node.fused_from, node
        else:
            assert node.reason and not node.provider, node
