"""Values of more dimensions than numpy's arrays have: each way to an array is an error, none ends the process."""

import ctypes
import gc
import sys

import models
import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper

import roundhouse

MOST = 64 if int(np.__version__.partition(".")[0]) >= 2 else 32
CPU = ["CPUExecutionProvider"]
TYPES = ["float", "double", "float16", "bfloat16", "int64", "bool", "uint8", "int4", "uint2", "float8e4m3fn", "string"]
OF_NO_SEQUENCE = ["bfloat16", "int4", "uint2", "float8e4m3fn"]
WRAPS = [None, "sequence", "optional"]


def onnx_type(name):
    names = {"float": "FLOAT", "double": "DOUBLE", "float8e4m3fn": "FLOAT8E4M3FN"}
    return getattr(TensorProto, names.get(name, name.upper()))


def deep(dims, kind="float", wrap=None):
    """A tensor of so many dimensions of one element, or what is made of it."""
    nodes = [
        helper.make_node("ConstantOfShape", ["n"], ["ones"], value=helper.make_tensor("one", TensorProto.INT64, [1], [1])),
        helper.make_node("Cast", ["x"], ["c"], to=onnx_type(kind)),
        helper.make_node("Reshape", ["c", "ones"], ["t"]),
    ]
    result = "t"
    if wrap == "sequence":
        nodes.append(helper.make_node("SequenceConstruct", ["t", "t"], ["s"]))
        result = "s"
    elif wrap == "optional":
        nodes.append(helper.make_node("Optional", ["t"], ["o"]))
        result = "o"
    out = models.tensor(result, onnx_type(kind), None)
    if wrap == "sequence":
        out = helper.make_tensor_sequence_value_info("s", onnx_type(kind), None)
    elif wrap == "optional":
        out = helper.make_value_info("o", helper.make_optional_type_proto(helper.make_tensor_type_proto(onnx_type(kind), None)))
    graph = helper.make_graph(nodes, "g", [models.tensor("x", shape=(1,)), models.tensor("n", TensorProto.INT64, (1,))], [out])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=13).SerializeToString()
    return roundhouse.InferenceSession(made, providers=CPU), {"x": np.ones(1, np.float32), "n": np.array([dims])}


@pytest.mark.parametrize(("kind", "wrap"), [(k, w) for k in TYPES for w in WRAPS if w != "sequence" or k not in OF_NO_SEQUENCE])
def test_results(kind, wrap):
    session, feed = deep(MOST, kind, wrap)
    [result] = session.run(None, feed)
    assert (result[0] if wrap == "sequence" else result).ndim == MOST
    feed["n"][:] = MOST + 1
    for call in (
        lambda: session.run(None, feed),
        lambda: session.run_with_ort_values(None, feed)[0].numpy(),
        lambda: np.asarray(session.run_with_ort_values(None, feed)[0]),
    ):
        with pytest.raises(RuntimeError, match=f"has {MOST + 1} dimensions, expected at most {MOST}"):
            call()
    value = session.run_with_ort_values(None, feed)[0]
    if wrap is None:
        assert value.shape() == [1] * (MOST + 1)


def test_run_with_values_and_bindings():
    session, feed = deep(MOST + 6)
    with pytest.raises(RuntimeError, match="dimensions, expected at most"):
        session.run_with_values(None, feed)
    binding = session.io_binding()
    for name, array in feed.items():
        binding.bind_cpu_input(name, array)
    binding.bind_output("t")
    session.run_with_iobinding(binding)
    with pytest.raises(RuntimeError, match="dimensions, expected at most"):
        binding.copy_outputs_to_cpu()
    assert binding.get_outputs()[0].shape() == [1] * (MOST + 6)


def test_asynchronous_runs():
    import threading

    session, feed = deep(MOST + 6)
    done, answers = threading.Event(), []

    def callback(results, user_data, error):
        answers.append((results, error))
        done.set()

    session.run_async(None, feed, callback, None)
    assert done.wait(60)
    [(results, error)] = answers
    assert results == [] and "dimensions, expected at most" in error


@pytest.mark.parametrize("dims", [MOST + 1, 127, 128, 129, 300])
def test_values_and_dlpack(dims):
    value = roundhouse.OrtValue.ortvalue_from_shape_and_type([1] * dims, np.float32)
    for way in (value.numpy, value.__array__, lambda: np.from_dlpack(value), lambda: value.__dlpack__(max_version=(1, 0))):
        with pytest.raises((RuntimeError, BufferError, ValueError)):
            way()
    for given in (value.to_dlpack(), value.__dlpack__(), value):
        again = roundhouse.OrtValue.from_dlpack(given)
        assert again.shape() == [1] * dims and again.data_ptr() == value.data_ptr()
    with pytest.raises(RuntimeError, match=rf"has {dims} dimensions, expected at most {MOST}.*to_dlpack\(\)"):
        again.numpy()


@pytest.mark.parametrize("dims", [65, 129, 300])
def test_results_are_read_through_dlpack(dims):
    """What the error of numpy() says to do, by onnxruntime, which reads such capsules as well."""
    session, feed = deep(dims)
    value = session.run_with_ort_values(None, feed)[0]
    address = value.data_ptr()
    theirs = onnxruntime.OrtValue.from_dlpack(value.to_dlpack())
    del value
    gc.collect()
    assert theirs.shape() == [1] * dims and theirs.data_ptr() == address
    assert ctypes.c_float.from_address(address).value == 1
    back = roundhouse.OrtValue.from_dlpack(theirs._ortvalue.to_dlpack())
    del theirs
    gc.collect()
    assert back.shape() == [1] * dims and back.data_ptr() == address and ctypes.c_float.from_address(address).value == 1


def test_capsules_are_taken_once_and_free_what_they_hold():
    value = roundhouse.OrtValue.ortvalue_from_numpy(np.arange(6, dtype=np.float32))
    before = sys.getrefcount(value)
    capsule = value.to_dlpack()
    assert sys.getrefcount(value) == before + 1
    taken = roundhouse.OrtValue.from_dlpack(capsule)
    with pytest.raises(TypeError, match="a capsule named 'dltensor'"):
        roundhouse.OrtValue.from_dlpack(capsule)
    del capsule
    np.testing.assert_array_equal(taken.numpy(), np.arange(6, dtype=np.float32))
    assert sys.getrefcount(value) == before + 1
    del taken
    assert sys.getrefcount(value) == before
    unused = value.to_dlpack()
    del unused
    assert sys.getrefcount(value) == before


@pytest.mark.skipif(MOST == 32, reason="numpy 1 gives no versioned capsules")
def test_versioned_capsules():
    array = np.arange(6, dtype=np.int64).reshape(2, 3)
    value = roundhouse.OrtValue.from_dlpack(array.__dlpack__(max_version=(1, 0)))
    address = array.ctypes.data
    del array
    gc.collect()
    assert value.data_ptr() == address and value.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    for steps in (np.arange(12)[::2], np.ones((2, 3)).T):
        with pytest.raises(RuntimeError, match="not contiguous"):
            roundhouse.OrtValue.from_dlpack(steps.__dlpack__())


def test_feeds():
    """An array of numpy's most dimensions goes in and comes out."""
    made = models.model(
        [helper.make_node("Identity", ["x"], ["y"])],
        [models.tensor("x", shape=[1] * (MOST - 1) + [2])],
        [models.tensor("y", shape=[1] * (MOST - 1) + [2])],
    )
    array = np.arange(2, dtype=np.float32).reshape((1,) * (MOST - 1) + (2,))
    np.testing.assert_array_equal(roundhouse.InferenceSession(made, providers=CPU).run(None, {"x": array})[0], array)


def test_a_declared_type_of_an_inner_value_is_a_hint(tmp_path):
    """The folded inner value has 70 dimensions, and so has its type in the file that is written."""
    zeros = helper.make_node("ConstantOfShape", ["shape"], ["a"], value=helper.make_tensor("v", 1, [1], [2.0]))
    nodes = [
        zeros,
        helper.make_node("Add", ["a", "a"], ["b"]),
        helper.make_node("Size", ["b"], ["s"]),
        helper.make_node("Add", ["s", "x"], ["y"]),
    ]
    value = [helper.make_tensor_value_info(name, 7, []) for name in "xy"]
    hint = helper.make_tensor_value_info("b", 1, [1] * 70)
    graph = helper.make_graph(nodes, "g", value[:1], value[1:], [helper.make_tensor("shape", 7, [70], [1] * 70)], value_info=[hint])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    options = roundhouse.SessionOptions()
    options.graph_optimization_level = roundhouse.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(tmp_path / "saved.onnx")
    for given in (roundhouse.InferenceSession(model, options), roundhouse.InferenceSession(str(tmp_path / "saved.onnx"))):
        assert given.run(None, {"x": np.array(4, np.int64)})[0] == 5
