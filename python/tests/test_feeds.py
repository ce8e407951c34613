"""What may be fed to InferenceSession.run, and what is said of what may not."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import roundhouse

CONVERTED = [
    (TensorProto.INT32, [[1, 2, 3], [4, 5, 6]], np.int32),
    (TensorProto.FLOAT, [[1, 2, 3], [4, 5, 6]], np.float32),
    (TensorProto.DOUBLE, ((0.5, 1), (2, 3)), np.float64),
    (TensorProto.BOOL, [[True, False]], np.bool_),
    (TensorProto.STRING, [["a", "bc"], ["", "d"]], object),
]


def identity(element_type, rank=2):
    shape = [f"d{i}" for i in range(rank)]
    value = [helper.make_tensor_value_info(name, element_type, shape) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "identity", value[:1], value[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return roundhouse.InferenceSession(model.SerializeToString())


@pytest.mark.parametrize("element_type, value, dtype", CONVERTED, ids=[TensorProto.DataType.Name(c[0]) for c in CONVERTED])
def test_nested_lists_become_tensors_of_the_declared_type(element_type, value, dtype):
    (y,) = identity(element_type).run(None, {"x": value})
    assert y.dtype == dtype
    assert y.tolist() == [list(row) for row in value]


def test_a_number_becomes_a_scalar_tensor():
    (y,) = identity(TensorProto.INT64, rank=0).run(None, {"x": 7})
    assert y.shape == () and y.dtype == np.int64 and y == 7


def test_an_array_is_fed_without_change():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    (y,) = identity(TensorProto.FLOAT).run(None, {"x": x.T})
    np.testing.assert_array_equal(y, x.T)


def test_missing_and_unknown_inputs_are_named():
    session = identity(TensorProto.FLOAT)
    with pytest.raises(ValueError, match="'x'"):
        session.run(None, {})
    with pytest.raises(Exception, match="nonesuch"):
        session.run(None, {"x": np.zeros((1, 1), np.float32), "nonesuch": np.zeros(1, np.float32)})


def test_a_wrong_element_type_is_refused_by_name():
    with pytest.raises(Exception, match="(?s)x.*(double|float64)|(double|float64).*x"):
        identity(TensorProto.FLOAT).run(None, {"x": np.zeros((1, 1))})


@pytest.mark.parametrize("words", [{"b": 2.0}, {"a": 1.5, "b": 2.0, "unknown": 3.0}])
def test_a_dict_with_text_as_keys_is_a_map(words):
    kind = helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    node = helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", string_vocabulary=["a", "b"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "words", [helper.make_value_info("x", kind)], [y])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()
    stock = pytest.importorskip("onnxruntime").InferenceSession(model, providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(roundhouse.InferenceSession(model).run(None, {"x": words})[0], stock.run(None, {"x": words})[0])


def test_the_values_of_a_dict_get_the_declared_type():
    kind = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.DOUBLE, []))
    node = helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", int64_vocabulary=[4, 7])
    y = helper.make_tensor_value_info("y", TensorProto.DOUBLE, None)
    graph = helper.make_graph([node], "numbers", [helper.make_value_info("x", kind)], [y])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)]
    session = roundhouse.InferenceSession(helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString())
    assert session.run(None, {"x": {7: 0.1, 4: 2}})[0].tolist() == [[2.0, 0.1]]
