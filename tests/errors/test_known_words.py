"""Words of ONNX Runtime's messages that programs look for (src/base/known_words.h): both libraries say them, ours with more behind."""

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import roundhouse

HOSTS = [onnxruntime, roundhouse]


def model(kind=TensorProto.FLOAT, location=None):
    weight = numpy_helper.from_array(np.ones(3, np.float32), "w")
    if location:
        weight.ClearField("raw_data")
        weight.data_location = TensorProto.EXTERNAL
        weight.external_data.add(key="location", value=location)
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "graph",
        [helper.make_tensor_value_info("x", kind, ["n", 3])],
        [helper.make_tensor_value_info("y", kind, ["n", 3])],
        [weight],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def session(host, given=None):
    options = host.SessionOptions()
    options.log_severity_level = 4
    return host.InferenceSession(given or model().SerializeToString(), options, providers=["CPUExecutionProvider"])


def with_entry(host, key, value):
    options = host.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry(key, value)
    host.InferenceSession(model().SerializeToString(), options, providers=["CPUExecutionProvider"])


def stopped(host):
    options = host.RunOptions()
    options.terminate = True
    session(host).run(None, {"x": np.ones((1, 3), np.float32)}, options)


def from_outside(host, folder):
    (folder / "model").mkdir(exist_ok=True)
    (folder / "weights.bin").write_bytes(np.ones(3, np.float32).tobytes())
    path = folder / "model" / "model.onnx"
    path.write_bytes(model(location="../weights.bin").SerializeToString())
    session(host, str(path))


def of_operator(host, op, domain="", kind=TensorProto.FLOAT):
    node = helper.make_node(op, ["x"], ["y"], domain=domain)
    ports = [[helper.make_tensor_value_info(name, kind, [1])] for name in "xy"]
    imports = [helper.make_opsetid("", 17), *([helper.make_opsetid(domain, 1)] if domain else [])]
    session(host, helper.make_model(helper.make_graph([node], "graph", *ports), opset_imports=imports, ir_version=8).SerializeToString())


#: The words, and what brings them up.
ROWS = [
    ("Exiting due to terminate flag being set to true", lambda host, _: stopped(host)),
    (
        "Unexpected input data type. Actual: (tensor(double)) , expected: (tensor(float))",
        lambda host, _: session(host).run(None, {"x": np.ones((1, 3))}),
    ),
    ("are missing from input feed", lambda host, _: session(host).run(None, {"z": np.ones((1, 3), np.float32)})),
    ("External data path", from_outside),
    ("File doesn't exist", lambda host, folder: session(host, str(folder / "nowhere.onnx"))),
    ("No Op registered for Nope with domain_version of 17", lambda host, _: of_operator(host, "Nope")),
    ("com.microsoft:Nope(-1) is not a registered function/op", lambda host, _: of_operator(host, "Nope", "com.microsoft")),
    (
        "Type 'tensor(bool)' of input parameter (x) of operator (Relu) in node () is invalid",
        lambda host, _: of_operator(host, "Relu", kind=TensorProto.BOOL),
    ),
    ("must not be empty", lambda host, _: with_entry(host, "session.intra_op_thread_affinities", "")),
    ("Invalid rank for input", lambda host, _: session(host).run(None, {"x": np.ones(3, np.float32)})),
    ("Got invalid dimensions for input", lambda host, _: session(host).run(None, {"x": np.ones((1, 4), np.float32)})),
]


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.__name__)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_both_say_the_words(row, host, tmp_path):
    words, provoke = row
    with pytest.raises(Exception) as error:  # noqa: PT011 - each library has its own
        provoke(host, tmp_path)
    assert words in str(error.value)


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.__name__)
def test_both_tell_of_their_build(host):
    assert "Build Info" in host.get_build_info()
