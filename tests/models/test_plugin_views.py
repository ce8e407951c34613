"""What a plugin's kernels read of their nodes is the same in both hosts, of nodes that were moved to channels last as of others."""

import os
import re

import numpy as np
import onnx
import onnxruntime
import pytest
from common import BUILD, MODELS, model_path
from onnx import helper, numpy_helper

import roundhouse

LIBRARY = BUILD / "release" / "lib" / "graph_dump_plugin.so"
#: What both hosts convert to channels last, and operators with attributes whose axes they leave as they are.
WITH_LAYOUT = (
    "AveragePool,BatchNormalization,Conv,ConvTranspose,DepthToSpace,GlobalAveragePool,GlobalLpPool,GlobalMaxPool,GridSample,"
    "InstanceNormalization,LRN,LpPool,MaxPool,MaxUnpool,QLinearConv,Resize,SpaceToDepth"
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


def graphs_shown(host, model, level, tmp_path):
    """What the plugin wrote down of the graphs that it was asked about."""
    path = tmp_path / "graphs.txt"
    path.write_text("")
    os.environ["RH_GRAPH_DUMP"] = str(path)
    host.register_execution_provider_library("Dump", str(LIBRARY))
    try:
        options = host.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = getattr(host.GraphOptimizationLevel, level)
        options.add_provider_for_devices([d for d in host.get_ep_devices() if d.ep_name == "Dump"][:1], {})
        host.InferenceSession(model, options)
    finally:
        host.unregister_execution_provider_library("Dump")
    return path.read_text()


def agrees(ours, theirs):
    """Line by line; inference may know sizes here that it does not know there."""
    pattern = re.escape(theirs).replace(r"\[\]", r"\[.*\]")
    return re.fullmatch(pattern.replace(r"\-1\ ", r"-?\d+\ ") if "[" in theirs else pattern, ours) is not None


def compare(model, operators, tmp_path, apart=frozenset()):
    """Nodes with their views in both hosts, which read alike where both gave the node to the plugin, but for those `apart`."""
    theirs, ours = (views(host, model, operators, tmp_path) for host in (onnxruntime, roundhouse))
    names = (theirs.keys() & ours.keys()) - apart
    others = [(ours[name], theirs[name]) for name in names if not agrees(ours[name], theirs[name])]
    assert not others, others[:3]
    return theirs, ours


def resizes_by_the_run(path):
    """Resizes whose scales or sizes come with a run: they keep their layout here; ONNX Runtime moves them without their sizes."""
    graph = onnx.load(path, load_external_data=False).graph
    constants = {"", *(i.name for i in graph.initializer), *(n.output[0] for n in graph.node if n.op_type == "Constant")}
    return {n.name for n in graph.node if n.op_type == "Resize" and not constants.issuperset(n.input[2:])}


@pytest.mark.parametrize("name", MODELS)
def test_of_models(name, tmp_path):
    kept = resizes_by_the_run(model_path(name))
    theirs, ours = compare(model_path(name), f"{WITH_LAYOUT},{OTHERS}", tmp_path, kept)
    assert {n for n in theirs if n} <= ours.keys()
    assert all("Resize domain ''" in ours[n] for n in kept & ours.keys())


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


def model_of(op, constants, attributes, opset, domain="", shape=(1, 4, 8, 8), dtype=np.float32):
    """Of one node that takes `x` and constants, of which None is left out."""
    names = ["" if value is None else f"c{i}" for i, value in enumerate(constants)]
    initializers = [numpy_helper.from_array(value, name) for name, value in zip(names, constants, strict=True) if value is not None]
    node = helper.make_node(op, ["x", *names], ["y"], name="node", domain=domain, **attributes)
    number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    x, y = helper.make_tensor_value_info("x", number, shape), helper.make_tensor_value_info("y", number, None)
    imports = [helper.make_opsetid("", opset), *([helper.make_opsetid(domain, 1)] if domain else [])]
    return helper.make_model(
        helper.make_graph([node], "g", [x], [y], initializers), opset_imports=imports, ir_version=8
    ).SerializeToString()


def read_alike(model, op, tmp_path):
    """The view of the node in Roundhouse, which is that of ONNX Runtime."""
    theirs, ours = compare(model, op, tmp_path)
    assert theirs.keys() == ours.keys() == {"node"}
    assert "com.ms.internal.nhwc" in ours["node"]
    return ours["node"]


@pytest.mark.parametrize(("op", "shapes", "attributes", "opset"), CASES, ids=[f"{c[0]}-{c[3]}" for c in CASES])
def test_of_operators_with_a_layout(op, shapes, attributes, opset, tmp_path):
    read_alike(model_of(op, [np.ones(shape, np.float32) for shape in shapes], attributes, opset), op, tmp_path)


@pytest.mark.parametrize("op", dict.fromkeys(case[0] for case in CASES))
def test_of_every_version(op, tmp_path):
    _, shapes, attributes, _ = next(case for case in CASES if case[0] == op)
    versions = {s.since_version for s in onnx.defs.get_all_schemas_with_history() if (s.name, s.domain) == (op, "")}
    first = 11 if op == "LpPool" else 7  # ONNX Runtime's domain lacks the one before
    for opset in sorted(max(version, first) for version in versions):
        read_alike(model_of(op, [np.ones(shape, np.float32) for shape in shapes], attributes, opset), op, tmp_path)


SCALES, SIZES = np.array([1, 1, 2, 3], np.float32), np.array([1, 4, 9, 5], np.int64)
#: Inputs after the first, attributes, opset, what stands in the view.
RESIZES = [
    ([np.zeros(0, np.float32), SCALES], {}, 11, "1.000000 2.000000 3.000000 1.000000"),
    ([None, SCALES], {"mode": "linear", "coordinate_transformation_mode": "align_corners"}, 13, "1.000000 2.000000 3.000000 1.000000"),
    ([None, None, SIZES], {"mode": "cubic"}, 13, "1 9 5 4"),
    ([None, SCALES], {"antialias": 1, "mode": "linear"}, 18, "1.000000 2.000000 3.000000 1.000000"),
    ([None, None, SIZES], {"nearest_mode": "floor"}, 19, "1 9 5 4"),
    ([None, SCALES], {}, 22, "1.000000 2.000000 3.000000 1.000000"),
]


@pytest.mark.parametrize(
    ("constants", "attributes", "opset", "expected"), RESIZES, ids=[str(row[2]) + str(i) for i, row in enumerate(RESIZES)]
)
def test_of_resize(constants, attributes, opset, expected, tmp_path):
    assert expected in read_alike(model_of("Resize", constants, attributes, opset), "Resize", tmp_path)


def test_of_operators_of_microsoft(tmp_path):
    weights, bias = np.ones((4, 4, 3, 3), np.float32), np.ones(4, np.float32)
    read_alike(model_of("FusedConv", [weights, bias], {"activation": "Relu"}, 17, "com.microsoft"), "FusedConv,Conv", tmp_path)
    scales = [np.float32(0.5), np.uint8(3)] * 2
    for last, shape in [(0, (1, 4, 8, 8)), (1, (1, 8, 8, 4))]:
        attributes = {"kernel_shape": [2, 2], "channels_last": last}
        model = model_of("QLinearAveragePool", [np.array(s) for s in scales], attributes, 17, "com.microsoft", shape, np.uint8)
        read_alike(model, "QLinearAveragePool", tmp_path)


def unused_constants():
    """A graph and a branch, each with a Constant that nobody takes beside one that is taken."""

    def constant(name, value):
        return helper.make_node("Constant", [], [name], name, value_float=value)

    def branch(name, value):
        nodes = [
            constant(f"{name}_unused", 3.0),
            constant(f"{name}_taken", value),
            helper.make_node("Add", ["x", f"{name}_taken"], [name], name),
        ]
        return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(name, 1, None)])

    nodes = [
        constant("unused", 1.0),
        constant("taken", 2.0),
        helper.make_node("Mul", ["x", "taken"], ["m"], "mul"),
        helper.make_node("If", ["c"], ["b"], "if", then_branch=branch("then", 4.0), else_branch=branch("else", 5.0)),
        helper.make_node("Add", ["m", "b"], ["y"], "add"),
    ]
    x, c = helper.make_tensor_value_info("x", 1, [2]), helper.make_tensor_value_info("c", 9, [])
    y = helper.make_tensor_value_info("y", 1, None)
    graph = helper.make_graph(nodes, "g", [x, c], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


@pytest.mark.parametrize("host", [onnxruntime, roundhouse], ids=lambda host: host.__name__)
@pytest.mark.parametrize("level", ["ORT_DISABLE_ALL", "ORT_ENABLE_ALL"])
def test_no_constant_that_nobody_takes_is_shown(host, level, tmp_path):
    text = graphs_shown(host, unused_constants(), level, tmp_path)
    assert "'mul'" in text and "'then'" in text
    assert "Constant" not in text and "unused" not in text
