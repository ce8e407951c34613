"""What a plugin's kernels read of their nodes is the same in both hosts, of nodes that were moved to channels last as of others."""

import os
import re

import numpy as np
import onnxruntime
import pytest
from common import BUILD, MODELS, model_path
from onnx import TensorProto, helper, numpy_helper

import roundhouse

LIBRARY = BUILD / "release" / "lib" / "graph_dump_plugin.so"
#: What both hosts convert to channels last, and operators with attributes whose axes they leave as they are.
WITH_LAYOUT = (
    "AveragePool,BatchNormalization,Conv,ConvTranspose,DepthToSpace,GlobalAveragePool,GlobalLpPool,GlobalMaxPool,GridSample,"
    "InstanceNormalization,LRN,LpPool,MaxPool,MaxUnpool,QLinearConv,SpaceToDepth"
)
OTHERS = "Gemm,Softmax,LeakyRelu,LayerNormalization,Elu,Gelu,Cast,LSTM"


def views(host, model, operators, tmp_path):
    """What each kernel wrote down, by node."""
    path = tmp_path / f"{host.__name__}.txt"
    path.write_text("")
    os.environ.update(RH_GRAPH_DUMP=str(path), RH_GRAPH_DUMP_KERNELS=operators)
    host.register_execution_provider_library("Dump", str(LIBRARY))
    try:
        options = host.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = host.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_provider_for_devices([d for d in host.get_ep_devices() if d.ep_name == "Dump"][:1], {})
        host.InferenceSession(model, options)
    finally:
        host.unregister_execution_provider_library("Dump")
        del os.environ["RH_GRAPH_DUMP_KERNELS"]
    blocks = re.findall(r"^== kernel (.*)\n((?:  .*\n)*)", path.read_text(), re.M)
    return {re.sub(r"_token_\d+$", "", name): text for name, text in blocks}


def agrees(ours, theirs):
    """Line by line; inference may know sizes here that it does not know there."""
    pattern = re.escape(theirs).replace(r"\[\]", r"\[.*\]")
    return re.fullmatch(pattern.replace(r"\-1\ ", r"-?\d+\ ") if "[" in theirs else pattern, ours) is not None


def compare(model, operators, tmp_path):
    """Nodes with their views in both hosts, which read alike where both gave the node to the plugin."""
    theirs, ours = (views(host, model, operators, tmp_path) for host in (onnxruntime, roundhouse))
    others = [(ours[name], theirs[name]) for name in theirs.keys() & ours.keys() if not agrees(ours[name], theirs[name])]
    assert not others, others[:3]
    return theirs, ours


@pytest.mark.parametrize("name", MODELS)
def test_of_models(name, tmp_path):
    theirs, ours = compare(model_path(name), f"{WITH_LAYOUT},{OTHERS}", tmp_path)
    assert {n for n in theirs if n} <= ours.keys()


#: Operator, shapes of the inputs after the first, attributes that have to stand, opset.
CASES = [
    ("AveragePool", [], {"kernel_shape": [2, 2]}, 7),
    ("AveragePool", [], {"kernel_shape": [2, 2]}, 10),
    ("AveragePool", [], {"kernel_shape": [2, 2]}, 17),
    ("AveragePool", [], {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER"}, 22),
    ("BatchNormalization", [(4,)] * 4, {}, 9),
    ("BatchNormalization", [(4,)] * 4, {}, 15),
    ("Conv", [(4, 4, 3, 3)], {}, 11),
    ("Conv", [(4, 4, 3, 3), (4,)], {"pads": [1, 1, 1, 1]}, 22),
    ("ConvTranspose", [(4, 2, 3, 3)], {}, 11),
    ("ConvTranspose", [(4, 2, 3, 3)], {}, 22),
    ("DepthToSpace", [], {"blocksize": 2}, 13),
    ("DepthToSpace", [], {"blocksize": 2}, 28),
    ("GlobalAveragePool", [], {}, 22),
    ("GlobalLpPool", [], {}, 22),
    ("GlobalMaxPool", [], {}, 22),
    ("GridSample", [(1, 5, 5, 2)], {}, 16),
    ("GridSample", [(1, 5, 5, 2)], {}, 22),
    ("InstanceNormalization", [(4,), (4,)], {}, 22),
    ("LRN", [], {"size": 3}, 13),
    ("LpPool", [], {"kernel_shape": [2, 2]}, 18),
    ("LpPool", [], {"kernel_shape": [2, 2]}, 22),
    ("MaxPool", [], {"kernel_shape": [2, 2]}, 8),
    ("MaxPool", [], {"kernel_shape": [2, 2]}, 12),
    ("MaxPool", [], {"kernel_shape": [2, 2]}, 22),
    ("SpaceToDepth", [], {"blocksize": 2}, 28),
]


@pytest.mark.parametrize(("op", "shapes", "attributes", "opset"), CASES, ids=[f"{c[0]}-{c[3]}" for c in CASES])
def test_of_operators_with_a_layout(op, shapes, attributes, opset, tmp_path):
    constants = [numpy_helper.from_array(np.ones(shape, np.float32), f"c{i}") for i, shape in enumerate(shapes)]
    node = helper.make_node(op, ["x", *(c.name for c in constants)], ["y"], name="node", **attributes)
    x, y = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 8, 8]), helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", [x], [y], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString()
    theirs, ours = compare(model, op, tmp_path)
    assert theirs.keys() == ours.keys() == {"node"}
    assert "com.ms.internal.nhwc" in ours["node"]
