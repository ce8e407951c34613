"""Sparse tensors, as the package onnxruntime makes and reads them."""

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

import roundhouse

VALUES = np.array([1, 2, -3], np.float32)
SHAPE = np.array([3, 4], np.int64)
DENSE = np.array([[1, 0, 0, 0], [0, 0, 2, 0], [0, 0, 0, -3]], np.float32)
PAIRS, PLACES = np.array([0, 0, 1, 2, 2, 3], np.int64), np.array([0, 6, 11], np.int64)
COLUMNS, ROWS = np.array([0, 2, 3], np.int64), np.array([0, 1, 2, 3], np.int64)
MODULES = pytest.mark.parametrize("module", [roundhouse, onnxruntime], ids=["roundhouse", "onnxruntime"])


def coo(module, indices=PAIRS, values=VALUES):
    return module.SparseTensor.sparse_coo_from_numpy(SHAPE, values, indices, module.OrtDevice.make("cpu", 0))


def csr(module, outer=ROWS):
    return module.SparseTensor.sparse_csr_from_numpy(SHAPE, VALUES, COLUMNS, outer, module.OrtDevice.make("cpu", 0))


def product():
    a = helper.make_sparse_tensor_value_info("a", TensorProto.FLOAT, [3, 4])
    b, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "by")
    node = helper.make_node("SparseToDenseMatMul", ["a", "b"], ["y"], domain="com.microsoft")
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(helper.make_graph([node], "product", [a, b], [y]), opset_imports=imports, ir_version=9).SerializeToString()


@MODULES
def test_coo(module):
    tensor = coo(module)
    assert tensor.format() == module.OrtSparseFormat.ORT_SPARSE_COO
    assert (tensor.data_type(), tensor.device_name()) == ("sparse_tensor(float)", "cpu")
    np.testing.assert_array_equal(tensor.dense_shape(), SHAPE)
    np.testing.assert_array_equal(tensor.values(), VALUES)
    np.testing.assert_array_equal(tensor.as_coo_view().indices(), PAIRS.reshape(3, 2))
    np.testing.assert_array_equal(coo(module, PAIRS.reshape(3, 2)).as_coo_view().indices(), PAIRS.reshape(3, 2))
    np.testing.assert_array_equal(coo(module, PLACES).as_coo_view().indices(), PLACES)


@MODULES
def test_csr(module):
    tensor = csr(module)
    assert tensor.format() == module.OrtSparseFormat.ORT_SPARSE_CSRC
    np.testing.assert_array_equal(tensor.as_csrc_view().inner(), COLUMNS)
    np.testing.assert_array_equal(tensor.as_csrc_view().outer(), ROWS)


@MODULES
def test_ort_value(module):
    value = module.OrtValue.ort_value_from_sparse_tensor(coo(module))
    assert (value.is_sparse_tensor(), value.is_tensor(), value.data_type()) == (True, False, "sparse_tensor(float)")
    assert list(value.shape()) == [3, 4]
    np.testing.assert_array_equal(value.as_sparse_tensor().values(), VALUES)


@MODULES
def test_runs(module):
    session = module.InferenceSession(product(), providers=["CPUExecutionProvider"])
    assert session.get_inputs()[0].type == "sparse_tensor(float)"
    b = np.arange(8, dtype=np.float32).reshape(4, 2)
    for tensor in (coo(module), csr(module)):
        value = module.OrtValue.ort_value_from_sparse_tensor(tensor)
        np.testing.assert_array_equal(session.run(None, {"a": value, "b": b})[0], DENSE @ b)
        dense = module.OrtValue.ortvalue_from_numpy(b)
        np.testing.assert_array_equal(session.run_with_ort_values(None, {"a": value, "b": dense})[0].numpy(), DENSE @ b)


@MODULES
def test_values_outlive_what_they_are_made_of(module):
    values = coo(module, PAIRS.copy(), VALUES.copy()).values()
    indices = csr(module).as_csrc_view().inner()
    np.testing.assert_array_equal(values, VALUES)
    np.testing.assert_array_equal(indices, COLUMNS)


@MODULES
@pytest.mark.parametrize(
    "mistake",
    [
        lambda m: coo(m, PLACES[:2]),
        lambda m: csr(m, ROWS[:3]),
        lambda m: coo(m, PLACES, np.array(["a", "b", "c"], object)),
        lambda m: coo(m).as_csrc_view(),
        lambda m: csr(m).as_coo_view(),
        lambda m: coo(m).as_blocksparse_view(),
        lambda m: coo(m).to_cuda(m.OrtDevice.make("cpu", 0)),
        lambda m: m.OrtValue.ortvalue_from_numpy(VALUES).as_sparse_tensor(),
        lambda m: m.OrtValue.ort_value_from_sparse_tensor(coo(m)).numpy(),
    ],
)
def test_mistakes(module, mistake):
    with pytest.raises(RuntimeError):
        mistake(module)


def test_messages():
    device = roundhouse.OrtDevice.make("cpu", 0)
    make = roundhouse.SparseTensor.sparse_coo_from_numpy
    for values, indices, message in [
        (VALUES, PLACES[:2], "2 indices for 3 values"),
        (VALUES.reshape(3, 1), PLACES, "expected 1"),
        (np.array(["a"]), PLACES[:1], "found strings"),
    ]:
        with pytest.raises(RuntimeError, match=message):
            make(SHAPE, values, indices, device)
    with pytest.raises(RuntimeError, match="ORT_SPARSE_COO, expected ORT_SPARSE_CSRC"):
        coo(roundhouse).as_csrc_view()
    with pytest.raises(RuntimeError, match="tensor\\(float\\), expected a sparse tensor"):
        roundhouse.OrtValue.ortvalue_from_numpy(VALUES).as_sparse_tensor()
    with pytest.raises(RuntimeError, match="host memory"):
        make(SHAPE, VALUES, PLACES, roundhouse.OrtDevice.make("cuda", 0))


@MODULES
def test_sparse_results(module):
    ports = [helper.make_sparse_tensor_value_info("a", TensorProto.FLOAT, [3, 4])]
    model = helper.make_model(helper.make_graph([], "same", ports, ports), opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    session = module.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (result,) = session.run(None, {"a": module.OrtValue.ort_value_from_sparse_tensor(coo(module))})
    np.testing.assert_array_equal(result.values(), VALUES)


def test_no_values():
    """ONNX Runtime dies of compressed rows without any."""
    session = roundhouse.InferenceSession(product())
    device, nothing = roundhouse.OrtDevice.make("cpu", 0), np.zeros(0, np.int64)
    tensor = roundhouse.SparseTensor.sparse_csr_from_numpy(SHAPE, VALUES[:0], nothing, np.zeros(4, np.int64), device)
    value = roundhouse.OrtValue.ort_value_from_sparse_tensor(tensor)
    result = session.run(None, {"a": value, "b": np.ones((4, 2), np.float32)})[0]
    np.testing.assert_array_equal(result, np.zeros((3, 2), np.float32))
