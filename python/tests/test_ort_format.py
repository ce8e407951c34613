"""Models in ONNX Runtime's own format (.ort), written by ONNX Runtime."""

import random

import models
import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import roundhouse

BASIC = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
NONE = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL


def as_ort(model, path, level=NONE):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.optimized_model_filepath = str(path)
    options.add_session_config_entry("session.save_model_format", "ORT")
    onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return path


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def branches():
    """y[N, 3] = x + the sum of x before it, or w - x; the subgraphs take x and w of the graph around them"""
    scan_body = helper.make_graph(
        [helper.make_node("Add", ["before", "row"], ["after"]), helper.make_node("Mul", ["after", "w"], ["out"])],
        "body",
        [models.tensor("before", shape=(3,)), models.tensor("row", shape=(3,))],
        [models.tensor("after", shape=(3,)), models.tensor("out", shape=(3,))],
    )
    then_branch = helper.make_graph(
        [helper.make_node("Scan", ["zero", "x"], ["last", "t"], num_scan_inputs=1, body=scan_body)],
        "then",
        [],
        [models.tensor("t", shape=("N", 3))],
        [constant("zero", np.zeros(3, np.float32))],
    )
    else_branch = helper.make_graph([helper.make_node("Sub", ["w", "x"], ["e"])], "else", [], [models.tensor("e", shape=("N", 3))])
    return models.model(
        [helper.make_node("If", ["c"], ["y"], name="choice", then_branch=then_branch, else_branch=else_branch)],
        [models.tensor("c", TensorProto.BOOL, ()), models.tensor("x", shape=("N", 3))],
        [models.tensor("y", shape=("N", 3))],
        [constant("w", np.float32([1, 2, 3]))],
    )


def elements():
    """Initializers of many types, through attributes of many kinds"""
    types = ["float32", "float64", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"]
    tensors = [constant(name, np.arange(12).reshape(3, 4).astype(name)) for name in types]
    nodes = [helper.make_node("Cast", [name], [f"c_{name}"], to=TensorProto.FLOAT) for name in types]
    nodes += [
        helper.make_node("Sum", [f"c_{name}" for name in types], ["sum"]),
        helper.make_node("Add", ["sum", "x"], ["y"]),
        helper.make_node(
            "LabelEncoder", ["text"], ["words"], domain="ai.onnx.ml", keys_strings=["The", ""], values_strings=["x y", "nothing"]
        ),
        helper.make_node("Slice", ["sparse_row", "from", "to"], ["part"]),
    ]
    made = helper.make_graph(
        nodes,
        "graph",
        [models.tensor("x", shape=("N", 4))],
        [models.tensor("y", shape=("M", 4)), models.tensor("words", TensorProto.STRING, ("W",)), models.tensor("part", shape=("K",))],
        [
            *tensors,
            helper.make_tensor("text", TensorProto.STRING, [4], [b"The", b"the", b"Last", b""]),
            constant("from", np.int64([1])),
            constant("to", np.int64([5])),
        ],
        sparse_initializer=[
            helper.make_sparse_tensor(constant("sparse_row", np.float32([5, 7])), constant("places", np.int64([1, 4])), [6]),
        ],
    )
    domains = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(made, opset_imports=domains, ir_version=9).SerializeToString()


X = np.arange(6, dtype=np.float32).reshape(2, 3)
CASES = {
    "branches, first": (branches(), {"c": np.array(True), "x": X}),
    "branches, second": (branches(), {"c": np.array(False), "x": X}),
    "elements": (elements(), {"x": np.ones((1, 4), np.float32)}),
    "default of an input": (models.add_with_default(), {"a": X}),
    "default replaced": (models.add_with_default(), {"a": X, "w": np.float32([7, 8, 9])}),
    "sequence": (models.sequence_length(), {"x": [X[0], X[1, :2]]}),
}


@pytest.mark.parametrize("level", [NONE, BASIC])
@pytest.mark.parametrize("case", CASES)
def test_results_are_those_of_onnx_runtime(case, level, tmp_path):
    model, feeds = CASES[case]
    path = as_ort(model, tmp_path / "model.ort", level)
    expected = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, feeds)
    for given in (str(path), path.read_bytes()):
        session = roundhouse.InferenceSession(given)
        for found, wanted in zip(session.run(None, feeds), expected, strict=True):
            assert np.asarray(found).dtype == np.asarray(wanted).dtype
            np.testing.assert_array_equal(found, wanted)


def test_what_the_model_says_of_itself_is_kept(tmp_path):
    made = models.model(
        [helper.make_node("Neg", ["x"], ["y"], name="n")],
        [models.tensor("x", shape=("batch", 3, None))],
        [models.tensor("y", shape=("batch", 3, None))],
        producer_name="maker",
        doc_string="about it",
        model_version=5,
        domain="its.domain",
    )
    path = as_ort(made, tmp_path / "model.ort")
    session, stock = roundhouse.InferenceSession(path), onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    ours, theirs = session.get_modelmeta(), stock.get_modelmeta()
    for name in ("producer_name", "description", "domain", "version", "custom_metadata_map"):
        assert getattr(ours, name) == getattr(theirs, name), name
    for found, wanted in zip(session.get_inputs() + session.get_outputs(), stock.get_inputs() + stock.get_outputs(), strict=True):
        assert (found.name, found.type, found.shape) == (wanted.name, wanted.type, wanted.shape)


def test_maps_and_other_domains(tmp_path):
    nodes = [
        helper.make_node("Scaler", ["x"], ["s"], domain="ai.onnx.ml", offset=[1.0, 2.0, 3.0], scale=[0.5, 1.0, 2.0]),
        helper.make_node("ZipMap", ["s"], ["y"], domain="ai.onnx.ml", classlabels_strings=["a", "b", "c"]),
    ]
    maps = helper.make_sequence_type_proto(
        helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    )
    graph = helper.make_graph(nodes, "graph", [models.tensor("x", shape=("N", 3))], [helper.make_value_info("y", maps)])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)], ir_version=9)
    path = as_ort(made.SerializeToString(), tmp_path / "model.ort")
    stock = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    session = roundhouse.InferenceSession(path)
    assert session.run(None, {"x": X}) == stock.run(None, {"x": X})
    assert session.get_outputs()[0].type == stock.get_outputs()[0].type


def test_placement_names_the_nodes(tmp_path):
    session = roundhouse.InferenceSession(as_ort(branches(), tmp_path / "model.ort"))
    assert "choice" in [node.name for node in session.get_placement()]


ERRORS = (
    roundhouse.Fail,
    roundhouse.InvalidArgument,
    roundhouse.InvalidGraph,
    roundhouse.InvalidProtobuf,
    roundhouse.NotImplemented,
    roundhouse.RuntimeException,
)


def survives(data, feeds):
    """True for results, False for an exception of ours: anything else fails the test, or ends it."""
    try:
        roundhouse.InferenceSession(data).run(None, feeds)
        return True
    except ERRORS:
        return False


@pytest.mark.parametrize("case", ["branches, first", "elements"])
def test_damaged_files_are_refused(case, tmp_path):
    model, feeds = CASES[case]
    whole = as_ort(model, tmp_path / "model.ort").read_bytes()
    assert survives(whole, feeds)
    assert not any(survives(whole[:size], feeds) for size in range(8, len(whole) // 2, 41))
    source = random.Random(1)
    for _ in range(600):
        changed = bytearray(whole)
        for _ in range(source.randint(1, 3)):
            changed[source.randrange(8, len(changed))] = source.choice([0, 1, 0x7F, 0x80, 0xFF, source.randrange(256)])
        survives(bytes(changed), feeds)


def test_errors_say_what_is_wrong(tmp_path):
    whole = as_ort(models.add(), tmp_path / "model.ort").read_bytes()
    with pytest.raises(Exception, match="ORT format: the data is truncated or damaged"):
        roundhouse.InferenceSession(whole[:60])
    newer = bytearray(whole)
    at = whole.index(b"\1\0\0\0006\0")
    newer[at + 4] = ord("9")
    with pytest.raises(Exception, match="version '9' of the ORT format, expected 1 to 6"):
        roundhouse.InferenceSession(bytes(newer))


def test_the_optimized_model_is_written_as_onnx_with_a_warning(tmp_path, capfd):
    options = roundhouse.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimized.ort")
    roundhouse.InferenceSession(models.add(), options)
    assert "in the ONNX format" in capfd.readouterr().err
    assert roundhouse.InferenceSession(tmp_path / "optimized.ort").run(None, {"a": X, "b": X[0]})[0].shape == (2, 3)
