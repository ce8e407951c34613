"""`roundhouse convert`: models in float16, bfloat16 and 8 bits."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest
from command import answer, roundhouse, write_network
from onnx import TensorProto


@pytest.fixture
def network(tmp_path):
    write_network(tmp_path / "network.onnx")
    return tmp_path


FEEDS = {"x": np.random.default_rng(1).standard_normal((1, 3, 8, 8)).astype("f4")}


def outputs(path):
    """As the model says: fused, products of bytes of ONNX Runtime's package are off by a half on a processor with AVX2 alone."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, FEEDS)[0]


def error(path, folder):
    expected = outputs(folder / "network.onnx")
    return np.abs(outputs(path) - expected).max() / np.abs(expected).max()


def test_float16_copy_is_valid_and_near(network):
    report = answer("convert", "network.onnx", "half.onnx", "-p", "float16", cwd=network)
    assert report["precision"] == "float16" and report["output"] == "half.onnx"
    reasons = {node["node"]: node["reason"] for node in report["kept"]}
    assert reasons["attention"] == "sums exponentials of a whole axis"
    assert {"conv1", "query", "classifier", "residual3"} <= set(report["converted"])
    model = onnx.load(network / "half.onnx")
    onnx.checker.check_model(model, full_check=True)
    casts = [n for n in model.graph.node if n.op_type == "Cast"]
    assert len(casts) == report["added_nodes"]
    assert len({(n.input[0], n.attribute[0].i) for n in casts}) == len(casts)
    assert report["weight_bytes"]["after"] < 0.7 * report["weight_bytes"]["before"]
    assert 0 < error(network / "half.onnx", network) < 1e-2


def test_ends_convert_where_asked_for(network):
    answer("convert", "network.onnx", "half.onnx", "-p", "float16", "--half-ends", cwd=network)
    graph = onnx.load(network / "half.onnx").graph
    assert [v.type.tensor_type.elem_type for v in (graph.input[0], graph.output[0])] == [TensorProto.FLOAT16] * 2
    answer("convert", "network.onnx", "mixed.onnx", "-p", "float16", "--half-ends", "--keep-value", "y", cwd=network)
    graph = onnx.load(network / "mixed.onnx").graph
    assert [v.type.tensor_type.elem_type for v in (graph.input[0], graph.output[0])] == [TensorProto.FLOAT16, TensorProto.FLOAT]


def test_exceptions(network):
    arguments = ["--keep-operator", "Conv", "--keep-node", "query", "--convert-operator", "Softmax"]
    report = answer("convert", "network.onnx", "half.onnx", "-p", "float16", *arguments, cwd=network)
    reasons = {node["node"]: node["reason"] for node in report["kept"]}
    assert reasons["conv1"] == reasons["conv2"] == "the options keep this operator"
    assert reasons["query"] == "the options keep this node"
    assert "attention" in report["converted"]


def ranges(folder):
    """The ranges of all values of the network, from a run that gives them out."""
    model = onnx.shape_inference.infer_shapes(onnx.load(folder / "network.onnx"))
    known = {v.name for v in model.graph.output}
    model.graph.output.extend(v for v in model.graph.value_info if v.name not in known)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [v.name for v in session.get_outputs()]
    found = dict(zip(names, session.run(None, FEEDS))) | FEEDS
    return {name: {"low": float(v.min()), "high": float(v.max())} for name, v in found.items() if v.dtype == np.float32}


@pytest.mark.parametrize("arguments", [["-p", "int8"], ["-p", "uint8", "--asymmetric"], ["-p", "int8", "--per-tensor"]])
def test_8_bits_by_a_table(arguments, network):
    (network / "table.json").write_text(json.dumps({**ranges(network), "nobody": {"low": 0, "high": 1}}))
    report = answer("convert", "network.onnx", "codes.onnx", *arguments, "--calibration", "table.json", cwd=network)
    assert report["unused"] == ["nobody"]
    assert {"conv1", "conv2", "query", "scores", "classifier", "pool3", "residual3"} <= set(report["converted"])
    onnx.checker.check_model(onnx.load(network / "codes.onnx"), full_check=True)
    assert 0 < error(network / "codes.onnx", network) < 0.1
    ours = answer("compare", "codes.onnx", "--other-optimization", "0", "--bound", "0.05", cwd=network)
    assert ours["exceeding"] == 0


def test_a_table_keeps_what_was_seen_beyond_the_range(network):
    (network / "table.json").write_text('{"q": {"low": -70000, "high": 1}}')
    report = answer("convert", "network.onnx", "half.onnx", "-p", "float16", "--calibration", "table.json", cwd=network)
    reasons = {node["node"]: node["reason"] for node in report["kept"]}
    assert reasons["query"] == reasons["scores"] == "'q' was seen with 7e+04, beyond the 65504 of float16"


def test_text_names_what_stays_and_why(network):
    done = roundhouse("convert", "network.onnx", "half.onnx", "-p", "float16", cwd=network)
    assert done.returncode == 0 and "nodes converted to float16" in done.stdout and "sums exponentials" in done.stdout
    done = roundhouse("convert", "network.onnx", "half.onnx", "-p", "float16", "--nodes", cwd=network)
    assert "attention" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "wanted"),
    [
        (["-p", "float8"], 2, "float8"),
        ([], 2, "precision is required"),
        (["-p", "int8"], 1, "needs a table of scales"),
        (["-p", "int8", "--calibration", "nowhere.json"], 1, "cannot read 'nowhere.json'"),
        (["-p", "float16", "--keep-node", "quer"], 1, "no node 'quer'; the nearest is 'query'"),
        (["-p", "float16", "--keep-operator", "Softmx"], 1, "no operator 'Softmx'; the nearest is 'Softmax'"),
        (["-p", "float16", "--half-ends", "--keep-value", "z"], 1, "no input or output 'z'"),
    ],
)
def test_what_is_wrong_is_told(arguments, code, wanted, network):
    done = roundhouse("convert", "network.onnx", "out.onnx", *arguments, cwd=network)
    assert (done.returncode, done.stdout) == (code, "")
    assert wanted in done.stderr
    assert not (network / "out.onnx").exists()


def test_a_model_is_not_written_over(network):
    before = (network / "network.onnx").read_bytes()
    done = roundhouse("convert", "network.onnx", "./network.onnx", "-p", "float16", cwd=network)
    assert done.returncode == 1 and "give the copy another name" in done.stderr
    assert (network / "network.onnx").read_bytes() == before
