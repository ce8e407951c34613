"""Files that a session takes as ONNX Runtime does: of old converters, merged, without a folder, from a pipe."""

import os
import threading

import models
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import roundhouse

CPU = ["CPUExecutionProvider"]
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def added(weights):
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "graph",
        [models.tensor("x", shape=("n", 3))],
        [models.tensor("y", shape=("n", 3))],
        [numpy_helper.from_array(np.asarray(w, np.float32), "w") for w in weights],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run(model, x=X):
    return roundhouse.InferenceSession(model if isinstance(model, (str, bytes)) else model.SerializeToString(), providers=CPU).run(
        None, {"x": x}
    )[0]


def test_the_last_initializer_of_a_name_counts():
    np.testing.assert_array_equal(run(added([[1, 2, 3], [5, 6, 7]])), X + [5, 6, 7])


def test_raw_data_count_beside_others():
    both = added([[1, 2, 3]])
    both.graph.initializer[0].float_data.extend([7, 7, 7])
    np.testing.assert_array_equal(run(both), X + [1, 2, 3])


def test_the_last_entry_of_metadata_counts():
    made = added([[1, 2, 3]])
    for text in ("1", "2"):
        made.metadata_props.add(key="key", value=text)
    assert roundhouse.InferenceSession(made.SerializeToString(), providers=CPU).get_modelmeta().custom_metadata_map == {"key": "2"}


@pytest.mark.parametrize("location", ["weights.bin", "parts/weights.bin"])
def test_bytes_find_their_data_in_the_working_directory(location, tmp_path, monkeypatch):
    (tmp_path / "parts").mkdir()
    path = str(tmp_path / "model.onnx")
    onnx.save(added([[1, 2, 3]]), path, save_as_external_data=True, location=location, size_threshold=0)
    data = onnx.load(path, load_external_data=False).SerializeToString()
    with pytest.raises(roundhouse.Fail, match="weights.bin.*load the model from its path"):
        run(data)
    monkeypatch.chdir(tmp_path)
    np.testing.assert_array_equal(run(data), X + [1, 2, 3])


def test_a_model_from_a_named_pipe(tmp_path):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    data = added([[1, 2, 3]]).SerializeToString()

    def write():
        with open(path, "wb") as pipe:
            pipe.write(data)

    writer = threading.Thread(target=write)
    writer.start()
    np.testing.assert_array_equal(run(path), X + [1, 2, 3])
    writer.join()


def test_a_model_from_a_descriptor(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(added([[1, 2, 3]]).SerializeToString())
    with path.open("rb") as file:
        np.testing.assert_array_equal(run(f"/dev/fd/{file.fileno()}"), X + [1, 2, 3])
    reading, writing = os.pipe()
    os.write(writing, path.read_bytes())
    os.close(writing)
    np.testing.assert_array_equal(run(f"/dev/fd/{reading}"), X + [1, 2, 3])
    os.close(reading)


def test_defaults_that_a_file_spells_out():
    """The standard's default of RNN names both directions, whatever the direction is; the ORT format has all defaults."""
    rng = np.random.default_rng(0)
    w, r = rng.normal(size=(1, 5, 2)).astype(np.float32), rng.normal(size=(1, 5, 5)).astype(np.float32)
    x = rng.normal(size=(4, 3, 2)).astype(np.float32)
    results = []
    for activations in ({}, {"activations": ["Tanh", "Tanh"]}, {"activations": ["Tanh"]}):
        graph = helper.make_graph(
            [helper.make_node("RNN", ["x", "w", "r"], ["y"], hidden_size=5, **activations)],
            "graph",
            [models.tensor("x", shape=(4, 3, 2))],
            [models.tensor("y", shape=(4, 1, 3, 5))],
            [numpy_helper.from_array(w, "w"), numpy_helper.from_array(r, "r")],
        )
        results.append(run(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8), x))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


@pytest.mark.parametrize("opset", [7, 9])
@pytest.mark.parametrize(
    ("operator", "attributes", "expected"),
    [
        ("ImageScaler", {"scale": 0.5, "bias": [1.0, 2.0, 3.0]}, lambda x: 0.5 * x + np.array([1, 2, 3]).reshape(1, 3, 1, 1)),
        ("Affine", {"alpha": 2.0, "beta": 1.0}, lambda x: 2 * x + 1),
        ("Scale", {"scale": 2.0}, lambda x: 2 * x),
        ("Crop", {"border": [1, 2, 1, 1]}, lambda x: x[:, :, 2:5, 1:5]),
        ("ParametricSoftplus", {"alpha": 2.0, "beta": 0.5}, lambda x: 2 * np.log1p(np.exp(0.5 * x))),
        ("ScaledTanh", {"alpha": 2.0, "beta": 0.5}, lambda x: 2 * np.tanh(0.5 * x)),
    ],
)
def test_operators_that_the_standard_no_longer_has(operator, attributes, expected, opset):
    x = np.random.default_rng(0).normal(size=(1, 3, 6, 6)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node(operator, ["x"], ["y"], **attributes)],
        "graph",
        [models.tensor("x", shape=x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=3)
    np.testing.assert_allclose(run(made, x), expected(x.astype(np.float64)), rtol=1e-5, atol=1e-6)
