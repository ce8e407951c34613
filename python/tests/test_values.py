"""OrtValue, and values that are not tensors of numbers."""

import gc
import weakref

import ml_dtypes
import models
import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

import roundhouse
from roundhouse import OrtValue

CPU = ["CPUExecutionProvider"]
BOTH = pytest.mark.parametrize("module", [roundhouse, onnxruntime], ids=lambda m: m.__name__)

# dtype, number of TensorProto.DataType, text, bits of an element
NATIVE = [
    (np.float32, TensorProto.FLOAT, "float", 32),
    (np.uint8, TensorProto.UINT8, "uint8", 8),
    (np.int8, TensorProto.INT8, "int8", 8),
    (np.uint16, TensorProto.UINT16, "uint16", 16),
    (np.int16, TensorProto.INT16, "int16", 16),
    (np.int32, TensorProto.INT32, "int32", 32),
    (np.int64, TensorProto.INT64, "int64", 64),
    (np.bool_, TensorProto.BOOL, "bool", 8),
    (np.float16, TensorProto.FLOAT16, "float16", 16),
    (np.float64, TensorProto.DOUBLE, "double", 64),
    (np.uint32, TensorProto.UINT32, "uint32", 32),
    (np.uint64, TensorProto.UINT64, "uint64", 64),
    (np.complex64, TensorProto.COMPLEX64, "complex64", 64),
    (np.complex128, TensorProto.COMPLEX128, "complex128", 128),
]
BYTES = [
    (ml_dtypes.bfloat16, TensorProto.BFLOAT16, "bfloat16", 16),
    (ml_dtypes.float8_e4m3fn, TensorProto.FLOAT8E4M3FN, "float8e4m3fn", 8),
    (ml_dtypes.float8_e4m3fnuz, TensorProto.FLOAT8E4M3FNUZ, "float8e4m3fnuz", 8),
    (ml_dtypes.float8_e5m2, TensorProto.FLOAT8E5M2, "float8e5m2", 8),
    (ml_dtypes.float8_e5m2fnuz, TensorProto.FLOAT8E5M2FNUZ, "float8e5m2fnuz", 8),
    (ml_dtypes.float8_e8m0fnu, 24, "float8e8m0", 8),
]
PACKED = [
    (ml_dtypes.uint4, TensorProto.UINT4, "uint4", 4),
    (ml_dtypes.int4, TensorProto.INT4, "int4", 4),
    (ml_dtypes.float4_e2m1fn, 23, "float4e2m1", 4),
    (ml_dtypes.uint2, 25, "uint2", 2),
    (ml_dtypes.int2, 26, "int2", 2),
]
ALL = NATIVE + BYTES + PACKED


def rows(table):
    return pytest.mark.parametrize(("dtype", "number", "text", "bits"), table, ids=[row[2] for row in table])


def sample(dtype, shape=(3, 3)):
    """Every element another bit pattern of a number, as far as the type has them."""
    values = (
        np.arange(int(np.prod(shape))).reshape(shape) % 2 if np.dtype(dtype).name in ("int2", "bool") else np.arange(9).reshape(shape) % 4
    )
    return values.astype(np.float32).astype(dtype)


@rows(ALL)
def test_from_numpy_and_back(dtype, number, text, bits):
    array = sample(dtype)
    value = OrtValue.ortvalue_from_numpy(array)
    assert (value.data_type(), value.element_type(), value.shape()) == (f"tensor({text})", number, [3, 3])
    assert value.tensor_size_in_bytes() == (9 * bits + 7) // 8
    assert (value.is_tensor(), value.is_sparse_tensor(), value.is_tensor_sequence(), value.has_value()) == (True, False, False, True)
    assert value.device_name() == "cpu"
    back = value.numpy()
    assert back.dtype == np.dtype(dtype)
    assert back.tobytes() == array.tobytes()


@rows(ALL)
def test_from_shape_and_number(dtype, number, text, bits):
    value = OrtValue.ortvalue_from_shape_and_type([2, 5], number)
    assert (value.data_type(), value.element_type(), value.shape()) == (f"tensor({text})", number, [2, 5])
    assert value.tensor_size_in_bytes() == (10 * bits + 7) // 8
    assert value.data_ptr() != 0


@rows(ALL)
def test_from_shape_and_dtype(dtype, number, text, bits):
    assert OrtValue.ortvalue_from_shape_and_type([2], dtype).element_type() == number


@rows(NATIVE + BYTES)
def test_memory_is_that_of_the_array(dtype, number, text, bits):
    array = sample(dtype)
    value = OrtValue.ortvalue_from_numpy(array)
    assert value.data_ptr() == array.ctypes.data
    array[...] = array[::-1].copy()
    assert value.numpy().tobytes() == array.tobytes()


@rows(BYTES)
def test_bits_with_a_type(dtype, number, text, bits):
    array = sample(dtype)
    value = OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(f"u{bits // 8}"), number)
    assert value.data_type() == f"tensor({text})"
    assert value.numpy().tobytes() == array.tobytes()


def test_packed_arrays_with_a_type():
    array = sample(ml_dtypes.int4)
    value = OrtValue.ortvalue_from_numpy_with_onnx_type(array, TensorProto.INT4)
    assert (value.data_type(), value.tensor_size_in_bytes()) == ("tensor(int4)", 5)
    assert value.numpy().tobytes() == array.tobytes()


@BOTH
def test_bits_of_another_width(module):
    with pytest.raises(RuntimeError, match="4"):
        module.OrtValue.ortvalue_from_numpy_with_onnx_type(np.zeros(3, np.float32), TensorProto.BFLOAT16)


@rows(BYTES[:-1])  # Identity takes the last one from opset 24 on
def test_narrow_floats_go_through_a_model(dtype, number, text, bits):
    x = sample(dtype).ravel()
    [y] = roundhouse.InferenceSession(models.identity(number, opset=21), providers=CPU).run(None, {"x": x})
    assert y.dtype == np.dtype(dtype)
    assert y.tobytes() == x.tobytes()


@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.uint4])
def test_four_bits_go_through_a_model(dtype):
    number = TensorProto.INT4 if dtype == ml_dtypes.int4 else TensorProto.UINT4
    x = np.array([-8, 7, -1, 0, 3] if number == TensorProto.INT4 else [15, 8, 0, 1, 2]).astype(dtype)
    [y] = roundhouse.InferenceSession(models.identity(number, opset=21), providers=CPU).run(None, {"x": x})
    assert y.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(x.astype(np.int32), y.astype(np.int32))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda m: m.OrtValue.ortvalue_from_shape_and_type([2], np.str_), RuntimeError),
        (lambda m: m.OrtValue.ortvalue_from_shape_and_type([2], TensorProto.STRING), RuntimeError),
        (lambda m: m.OrtValue.ortvalue_from_shape_and_type([-2], np.float32), RuntimeError),
        (lambda m: m.OrtValue.ortvalue_from_numpy(np.array(["2020-01-01"], "datetime64[D]")), RuntimeError),
    ],
    ids=["strings", "string number", "negative", "dates"],
)
@BOTH
def test_values_that_cannot_be_made(module, call, error):
    with pytest.raises(error):
        call(module)


def test_the_array_lives_as_long_as_the_value():
    class Array(np.ndarray):
        pass

    array = np.arange(4, dtype=np.float32).view(Array)
    gone = weakref.ref(array)
    value = OrtValue.ortvalue_from_numpy(array)
    del array
    gc.collect()
    np.testing.assert_array_equal(value.numpy(), np.arange(4, dtype=np.float32))
    del value
    gc.collect()
    assert gone() is None


@BOTH
def test_numpy_shares_the_memory_of_the_host(module):
    array = np.zeros(3, np.float32)
    value = module.OrtValue.ortvalue_from_numpy(array)
    value.numpy()[:] = 5
    np.testing.assert_array_equal(array, np.full(3, 5))
    view = value.numpy()
    del value
    gc.collect()
    np.testing.assert_array_equal(view, np.full(3, 5))


def test_numpy_of_a_read_only_array_is_read_only():
    array = np.zeros(3, np.float32)
    array.flags.writeable = False
    assert not OrtValue.ortvalue_from_numpy(array).numpy().flags.writeable


def test_array_protocol():
    value = OrtValue.ortvalue_from_numpy(np.arange(3, dtype=np.float32))
    np.testing.assert_array_equal(np.asarray(value), np.arange(3))
    assert np.asarray(value, dtype=np.float64).dtype == np.float64


@BOTH
def test_dlpack(module):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    value = module.OrtValue.ortvalue_from_numpy(array)
    assert value.__dlpack_device__() == (1, 0)
    view = np.from_dlpack(value)
    np.testing.assert_array_equal(view, array)
    assert view.ctypes.data == array.ctypes.data
    again = module.OrtValue.from_dlpack(array)
    assert (again.shape(), again.data_ptr()) == ([2, 3], array.ctypes.data)


def test_dlpack_view_outlives_the_value():
    value = OrtValue.ortvalue_from_shape_and_type([1000], np.float32)
    value.update_inplace(np.arange(1000, dtype=np.float32))
    view = np.from_dlpack(value)
    del value
    gc.collect()
    np.testing.assert_array_equal(view, np.arange(1000))


@BOTH
def test_update_inplace(module):
    array = np.zeros(3, np.float32)
    value = module.OrtValue.ortvalue_from_numpy(array)
    value.update_inplace(np.arange(3, dtype=np.float32))
    np.testing.assert_array_equal(array, [0, 1, 2])
    value.update_inplace(module.OrtValue.ortvalue_from_numpy(np.full(3, 7, np.float32)))
    np.testing.assert_array_equal(array, [7, 7, 7])
    with pytest.raises(RuntimeError):
        value.update_inplace(np.arange(4, dtype=np.float32))


def test_update_of_what_cannot_be_updated():
    with pytest.raises(RuntimeError, match="int32"):
        OrtValue.ortvalue_from_numpy(np.zeros(3, np.float32)).update_inplace(np.zeros(3, np.int32))
    with pytest.raises(RuntimeError, match="strings"):
        OrtValue.ortvalue_from_numpy(np.array(["a"])).update_inplace(np.array(["b"]))
    fixed = np.zeros(3, np.float32)
    fixed.flags.writeable = False
    with pytest.raises(RuntimeError, match="read-only"):
        OrtValue.ortvalue_from_numpy(fixed).update_inplace(np.ones(3, np.float32))


def test_ort_values_in_and_out(add, feed):
    given = {name: OrtValue.ortvalue_from_numpy(array) for name, array in feed.items()}
    [total] = add.run_with_ort_values(["sum"], given)
    assert isinstance(total, OrtValue)
    np.testing.assert_array_equal(total.numpy(), feed["a"] + feed["b"])
    np.testing.assert_array_equal(add.run(None, {"a": given["a"], "b": feed["b"]})[0], feed["a"] + feed["b"])
    with pytest.raises(ValueError, match="missing"):
        add.run_with_ort_values(None, {"a": given["a"]})
    with pytest.raises(roundhouse.InvalidArgument, match="no output 'q'"):
        add.run_with_ort_values(["q"], given)


STRINGS = {
    "text": np.array(["a", "ä€", ""]),
    "objects": np.array(["a", "ä€", "long " * 20], object),
    "zeros inside": np.array(["a\0b", "c"], object),
    "numbers": np.array(["a", 5, None], object),
    "matrix": np.array([["a", "b"], ["c", "d"]]),
}


@pytest.mark.parametrize("name", STRINGS)
@BOTH
def test_strings(module, name):
    x = STRINGS[name]
    made = module.InferenceSession(models.identity(TensorProto.STRING, ("A", "B")[: x.ndim]), providers=CPU)
    [y] = made.run(None, {"x": x})
    assert y.dtype == object
    assert y.shape == x.shape
    assert y.ravel().tolist() == [str(t) for t in x.ravel()]


def test_bytes_as_strings():
    made = roundhouse.InferenceSession(models.identity(TensorProto.STRING), providers=CPU)
    assert made.run(None, {"x": np.array([b"a", b"bc"])})[0].tolist() == ["a", "bc"]
    [y] = made.run(None, {"x": np.array([b"\xff"], object)})
    assert made.run(None, {"x": y})[0].tolist() == y.tolist() == ["\udcff"]


@BOTH
def test_lists_of_strings(module):
    made = module.InferenceSession(models.identity(TensorProto.STRING), providers=CPU)
    assert made.run(None, {"x": ["a", "b"]})[0].tolist() == ["a", "b"]


@pytest.mark.parametrize("count", [0, 1, 3])
@BOTH
def test_sequences(module, count):
    given = [np.full(k, k, np.float32) for k in range(count)]
    assert module.InferenceSession(models.sequence_length(), providers=CPU).run(None, {"x": given})[0] == count
    [back] = module.InferenceSession(models.identity_sequence(), providers=CPU).run(None, {"x": given})
    assert isinstance(back, list) and len(back) == count
    for one, other in zip(given, back, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "given",
    [[np.ones(2, np.int64)], [np.ones(2, np.float32), np.ones(2, np.int64)], np.ones(2, np.float32)],
    ids=["type", "mixed", "tensor"],
)
def test_bad_sequences(given):
    with pytest.raises((roundhouse.InvalidArgument, roundhouse.Fail), match="seq"):
        roundhouse.InferenceSession(models.sequence_length(), providers=CPU).run(None, {"x": given})


def test_sequences_as_ort_values():
    made = roundhouse.InferenceSession(models.identity_sequence(), providers=CPU)
    [value] = made.run_with_ort_values(None, {"x": OrtValue.ortvalue_from_numpy([np.ones(2, np.float32)])})
    assert (value.is_tensor_sequence(), value.is_tensor(), value.data_type()) == (True, False, "seq(tensor(float))")
    np.testing.assert_array_equal(value.numpy()[0], np.ones(2))
    [again] = made.run_with_ort_values(None, {"x": value})
    assert len(again.numpy()) == 1


@BOTH
def test_empty_optionals(module):
    made = module.InferenceSession(models.has_element(), providers=CPU)
    assert not made.run(None, {"x": None})[0]
    assert not made.run(None, {})[0]
    assert made.run(None, {"x": np.ones(2, np.float32)})[0]


def test_none_for_an_input_that_is_not_optional(add, feed):
    with pytest.raises(roundhouse.InvalidArgument, match="'a' is missing"):
        add.run(None, {"a": None, "b": feed["b"]})


@BOTH
def test_optional_outputs(module):
    data = models.model(
        [helper.make_node("Optional", [], ["y"], type=helper.make_tensor_type_proto(TensorProto.FLOAT, ["N"]))], [], [models.optional("y")]
    )
    assert module.InferenceSession(data, providers=CPU).run(None, {}) == [None]


def test_copies_between_values():
    source, target = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
    value = OrtValue.ortvalue_from_numpy(target)
    roundhouse.copy_tensors([OrtValue.ortvalue_from_numpy(source)], [value])
    np.testing.assert_array_equal(target, source)


def test_copies_that_do_not_fit():
    value = OrtValue.ortvalue_from_numpy(np.zeros(3, np.float32))
    with pytest.raises(roundhouse.InvalidArgument, match="copy 0"):
        roundhouse.copy_tensors([OrtValue.ortvalue_from_numpy(np.zeros(3, np.int32))], [value])
    with pytest.raises(RuntimeError, match="2 tensors"):
        roundhouse.copy_tensors([value, value], [value])
