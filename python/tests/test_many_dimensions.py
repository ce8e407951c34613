"""Values of more dimensions than numpy's arrays have: each way to an array is an error, none ends the process."""

import models
import numpy as np
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


def test_values_and_dlpack():
    value = roundhouse.OrtValue.ortvalue_from_shape_and_type([1] * (MOST + 6), np.float32)
    for way in (value.numpy, value.__array__, lambda: np.from_dlpack(value), lambda: value.__dlpack__(max_version=(1, 0))):
        with pytest.raises((RuntimeError, BufferError, ValueError)):
            way()
    again = roundhouse.OrtValue.from_dlpack(value.to_dlpack())
    assert again.shape() == [1] * (MOST + 6) and again.data_ptr() == value.data_ptr()
    with pytest.raises(RuntimeError, match="dimensions, expected at most"):
        again.numpy()


def test_feeds():
    """An array of numpy's most dimensions goes in and comes out."""
    made = models.model(
        [helper.make_node("Identity", ["x"], ["y"])],
        [models.tensor("x", shape=[1] * (MOST - 1) + [2])],
        [models.tensor("y", shape=[1] * (MOST - 1) + [2])],
    )
    array = np.arange(2, dtype=np.float32).reshape((1,) * (MOST - 1) + (2,))
    np.testing.assert_array_equal(roundhouse.InferenceSession(made, providers=CPU).run(None, {"x": array})[0], array)
