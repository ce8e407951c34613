"""OpenVINO's own library behind the provider, on the CPU: `scripts/stand openvino -- python -m pytest tests/vendors`."""

import concurrent.futures
import functools
import json
import os
import subprocess
import sys
import threading
import time

import numpy as np
import onnx
import pytest
from hosts import HOSTS, LIBRARIES, OPENVINO, branches, dense, failure, floats, model_of, present, registered, session, tensor
from onnx import TensorProto, helper, numpy_helper
from programs import program_of, said_by

import roundhouse

CPU = "CPUExecutionProvider"
COMMAND = os.environ.get("ROUNDHOUSE_CLI", str(LIBRARIES.parent / "bin/roundhouse"))
hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)
FEEDS = [{"x": floats(n, 4, seed=n), "x2": floats(n, 3, seed=n + 1)} for n in (1, 5, 2)]

pytestmark = pytest.mark.skipif(
    OPENVINO not in roundhouse.get_available_providers(), reason="there is no OpenVINO here: scripts/stand openvino -- ..."
)


def assert_like_the_cpu(host, model, feeds, made):
    reference = host.InferenceSession(model, providers=[CPU])
    for feed in feeds:
        for e, a in zip(reference.run(None, feed), made.run(None, feed), strict=True):
            assert a.dtype == e.dtype
            if e.dtype.kind == "f":
                np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-6)
            else:
                np.testing.assert_array_equal(a, e)


SETTINGS = [
    {},
    {"device_type": "CPU_FP32", "num_of_threads": "2"},
    {"device_type": "AUTO:CPU"},
    {"device_type": "HETERO:CPU"},
    {"precision": "ACCURACY", "num_streams": "2"},
    {"disable_dynamic_shapes": "true"},
    {"reshape_input": "x[1..8,4],x2[1..8,3]"},
    {"load_config": '{"CPU": {"PERFORMANCE_HINT": "LATENCY"}}'},
    {"model_priority": "HIGH", "device_type": "AUTO:CPU"},
]


@hosts
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_options_keep_results(host, settings):
    with registered(host, OPENVINO):
        assert_like_the_cpu(host, dense(), FEEDS, session(host, OPENVINO, dense(), settings))


def test_a_folder_of_compiled_models_is_filled_and_used(tmp_path):
    """By OpenVINO, where it chooses among devices."""
    with registered(roundhouse, OPENVINO):
        for _ in range(2):
            made = session(roundhouse, OPENVINO, dense(), {"cache_dir": str(tmp_path), "device_type": "AUTO:CPU"})
            assert_like_the_cpu(roundhouse, dense(), FEEDS, made)
            del made
    assert [p for p in tmp_path.iterdir() if p.suffix == ".blob"]


@hosts
@pytest.mark.parametrize("model", [dense, branches])
def test_what_was_compiled_before_is_right(host, model, tmp_path):
    """Also with precision: float32 stays float32 in what is imported."""
    feeds = FEEDS if model is dense else [{"x": floats(n, 4, seed=n), "c": np.array(n > 2)} for n in (1, 3)]
    settings = {"cache_dir": str(tmp_path / "cache")}
    with registered(host, OPENVINO):
        for _ in range(2):
            assert_like_the_cpu(host, model(), feeds, session(host, OPENVINO, model(), settings))
    kept = list((tmp_path / "cache").glob("*.artifact"))
    assert kept and all(b"for CPU, " in path.read_bytes()[:400] for path in kept)


@pytest.mark.parametrize("embed", "01")
@pytest.mark.parametrize("loader", HOSTS, ids=lambda h: f"to_{h.__name__}")
@pytest.mark.parametrize("writer", HOSTS, ids=lambda h: f"from_{h.__name__}")
@pytest.mark.parametrize("model", [dense, branches])
def test_a_compiled_model_goes_from_host_to_host(model, writer, loader, embed, tmp_path):
    source, target = tmp_path / "model.onnx", tmp_path / "model_ctx.onnx"
    source.write_bytes(model())
    entries = {"ep.context_enable": "1", "ep.context_embed_mode": embed, "ep.context_file_path": str(target)}
    feeds = FEEDS if model is dense else [{"x": floats(n, 4, seed=n), "c": np.array(n > 2)} for n in (1, 3)]
    with registered(writer, OPENVINO):
        session(writer, OPENVINO, str(source), config=entries)
    assert [node.op_type for node in onnx.load(target).graph.node] == ["EPContext"]
    reference = loader.InferenceSession(model(), providers=[CPU])
    with registered(loader, OPENVINO):
        made = session(loader, OPENVINO, str(target))
        for feed in feeds:
            for e, a in zip(reference.run(None, feed), made.run(None, feed), strict=True):
                np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-6)
        del made


def test_a_model_compiled_with_another_precision_is_refused(tmp_path):
    source, target = tmp_path / "model.onnx", tmp_path / "model_ctx.onnx"
    source.write_bytes(dense())
    entries = {"ep.context_enable": "1", "ep.context_embed_mode": "1", "ep.context_file_path": str(target)}
    with registered(roundhouse, OPENVINO):
        session(roundhouse, OPENVINO, str(source), config=entries)
        said = failure(lambda: session(roundhouse, OPENVINO, str(target), {"precision": "ACCURACY"}))
    assert "INFERENCE_PRECISION_HINT=f32" in said and "EXECUTION_MODE_HINT=ACCURACY" in said and "compile the model anew" in said


@hosts
@pytest.mark.parametrize("threads", "12")
def test_an_inference_that_fails_is_an_error(host, threads):
    """With one thread OpenVINO says nothing of it, and no run after it is right."""
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Reshape", ["a", "sizes"], ["y"])]
    inputs = [tensor("x", ["N"]), tensor("sizes", [2], TensorProto.INT64)]
    model, x = model_of(nodes, inputs, [tensor("y", ["A", "B"])]), floats(12)
    with registered(host, OPENVINO):
        made = session(host, OPENVINO, model, {"num_of_threads": threads})
        made.disable_fallback()
        for sizes in ([3, 4], [5, 5], [5, 5], [1, 12], [2, 7], [12, 1]):
            feed = {"x": x, "sizes": np.array(sizes)}
            if np.prod(sizes) == x.size and (threads == "2" or sizes == [3, 4]):
                assert_like_the_cpu(host, model, [feed], made)
            else:
                assert "OpenVINO's inference" in failure(functools.partial(made.run, None, feed))
        del made


@hosts
def test_integers_beyond_32_bits_are_an_error(host):
    nodes = [helper.make_node("Equal", ["x", "one"], ["y"])]
    model = model_of(nodes, [tensor("x", ["N"], TensorProto.INT64)], [tensor("y", ["N"], TensorProto.BOOL)], {"one": np.array([1])})
    with registered(host, OPENVINO):
        made = session(host, OPENVINO, model)
        made.disable_fallback()
        assert_like_the_cpu(host, model, [{"x": np.array([1, 2**31 - 1, -(2**31)])}], made)
        assert "input 'x' has 4294967297" in failure(functools.partial(made.run, None, {"x": np.array([1, 2**32 + 1])}))
        del made


@hosts
def test_small_integers_stay(host):
    """As floats they are denormals, which a host's threads may take for zero."""
    nodes = [helper.make_node("Where", ["c", "x", "one"], ["w"]), helper.make_node("Equal", ["w", "one"], ["y"])]
    kinds = {"c": TensorProto.BOOL, "x": TensorProto.INT64}
    model = model_of(nodes, [tensor(n, ["N"], k) for n, k in kinds.items()], [tensor("y", ["N"], TensorProto.BOOL)], {"one": np.array([1])})
    feeds = [{"c": np.array([True, False, True, False]), "x": np.array([1, 2, 3, 4])}]
    with registered(host, OPENVINO):
        assert_like_the_cpu(host, model, feeds, session(host, OPENVINO, model))


@hosts
def test_an_if_is_taken_with_its_bodies(host):
    feeds = [{"x": floats(n, 4, seed=n), "c": np.array(c)} for n, c in ((1, True), (3, False), (2, True))]
    with registered(host, OPENVINO):
        assert_like_the_cpu(host, branches(), feeds, session(host, OPENVINO, branches()))


def run_from_four_threads(made, reference, options=lambda: None):
    def run(n):
        feed = {"x": floats(n, 4, seed=n), "x2": floats(n, 3, seed=n)}
        for _ in range(50):
            np.testing.assert_allclose(made.run(None, feed, options())[0], reference.run(None, feed)[0], rtol=1e-5, atol=1e-6)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(run, (1, 2, 3, 7)))


@hosts
def test_four_threads_with_four_shapes(host):
    with registered(host, OPENVINO):
        run_from_four_threads(session(host, OPENVINO, dense()), host.InferenceSession(dense(), providers=[CPU]))


def products(count, size):
    """A chain of products that takes long."""
    names = ["x", *(f"p{i}" for i in range(count - 1)), "y"]
    nodes = [helper.make_node("MatMul", [names[i], "w"], [names[i + 1]]) for i in range(count)]
    return model_of(nodes, [tensor("x", ["N", size])], [tensor("y", ["N", size])], {"w": floats(size, size) / size})


def terminate_and_run_on(made, feed):
    run = roundhouse.RunOptions()
    begin = time.perf_counter()
    made.run(None, feed, run)
    whole_s = time.perf_counter() - begin
    threading.Timer(whole_s / 5, lambda: setattr(run, "terminate", True)).start()
    begin = time.perf_counter()
    assert "The run was stopped: the terminate flag of its run options is set" in failure(lambda: made.run(None, feed, run))
    assert time.perf_counter() - begin < whole_s * 0.8
    run.terminate = False
    np.testing.assert_allclose(made.run(None, feed, run)[0], made.run(None, feed)[0], rtol=1e-5, atol=1e-6)


def test_a_run_that_is_terminated_ends_within_openvino():
    size = 1024
    with registered(roundhouse, OPENVINO):
        made = session(roundhouse, OPENVINO, products(40, size))
        assert {row["provider"] for row in made.placement()} == {OPENVINO} and len({row["unit"] for row in made.placement()}) == 1
        terminate_and_run_on(made, {"x": floats(512, size)})
        del made


def test_four_watched_runs_at_once():
    with registered(roundhouse, OPENVINO):
        reference = roundhouse.InferenceSession(dense(), providers=[CPU])
        run_from_four_threads(session(roundhouse, OPENVINO, dense()), reference, roundhouse.RunOptions)


@hosts
def test_weights_in_a_file_give_right_results(host, tmp_path):
    size = 300
    onnx.save(onnx.load_from_string(products(1, size)), tmp_path / "m.onnx", save_as_external_data=True, location="w", size_threshold=0)
    reference = host.InferenceSession(str(tmp_path / "m.onnx"), providers=[CPU])
    feed = {"x": floats(2, size)}
    with registered(host, OPENVINO):
        made = session(host, OPENVINO, str(tmp_path / "m.onnx"))
        np.testing.assert_allclose(made.run(None, feed)[0], reference.run(None, feed)[0], rtol=1e-4, atol=1e-6)
        del made


@hosts
def test_its_workload_type_changes_while_it_lives(host):
    with registered(host, OPENVINO):
        made = session(host, OPENVINO, dense())
        for value in ("Efficient", "Default"):
            try:
                made.set_ep_dynamic_options({"ep.dynamic.workload_type": value})
            except Exception as error:  # the CPU of OpenVINO has no such property
                assert "OpenVINO's property WORKLOAD_TYPE" in str(error)
            assert_like_the_cpu(host, dense(), FEEDS, made)
        with pytest.raises(Exception, match="expected Default or Efficient"):
            made.set_ep_dynamic_options({"ep.dynamic.workload_type": "Fast"})
        del made


def test_programs_name_it():
    """As they are written for ONNX Runtime: by name, with its options, and by all that are available."""
    for providers in (
        [(OPENVINO, {"device_type": "CPU_FP32", "num_of_threads": 2})],
        [OPENVINO, CPU],
        roundhouse.get_available_providers(),
    ):
        made = roundhouse.InferenceSession(dense(), providers=providers)
        assert made.get_providers()[0] == OPENVINO
        assert {row["provider"] for row in made.placement()} == {OPENVINO}
        assert_like_the_cpu(roundhouse, dense(), FEEDS, made)


@pytest.mark.parametrize(("source", "arguments"), [("append_provider.cc", ["openvino"]), ("append_openvino.c", [])], ids=["C++", "C"])
def test_programs_in_c_append_it(source, arguments, tmp_path):
    """Against our headers and library, on OpenVINO, as they are written for ONNX Runtime."""
    (tmp_path / "model.onnx").write_bytes(dense())
    said = said_by([program_of(source, tmp_path), *arguments, tmp_path / "model.onnx"])
    feed = {"x": np.full((2, 4), 0.5, "f4"), "x2": np.full((2, 3), 0.5, "f4")}
    expected = roundhouse.InferenceSession(dense(), providers=[CPU]).run(None, feed)[0][0, 0]
    wrong = said.pop("wrong", "device_type is 'TPU', expected CPU, GPU, NPU")
    assert "device_type is 'TPU', expected CPU, GPU, NPU" in wrong
    assert len(said) == (4 if arguments else 1)
    for value in said.values():
        assert float(value) == pytest.approx(expected, rel=1e-5)


def test_who_names_it_is_told_what_it_runs():
    program = (
        "import sys; sys.path.insert(0, 'tests/kit'); from hosts import dense; import roundhouse; "
        "roundhouse.InferenceSession(dense(), providers=roundhouse.get_available_providers())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.count("OpenVINOExecutionProvider runs 5 of 5 nodes") == 1


def test_what_it_leaves_has_a_reason():
    nodes = [helper.make_node("Relu", ["x"], ["a"], "relu"), helper.make_node("TopK", ["a", "k"], ["v", "i"], "top")]
    inputs, outputs = [tensor("x", ["N", 4])], [tensor("v", ["N", 2]), tensor("i", ["N", 2], TensorProto.INT64)]
    model = model_of(nodes, inputs, outputs, {"k": np.array([2])})
    rows = {row["node"]: row for row in roundhouse.InferenceSession(model, providers=[OPENVINO]).placement()}
    assert rows["relu"]["provider"] == OPENVINO and rows["top"]["provider"] == CPU
    assert rows["top"]["refusals"][0]["reason"] == "OpenVINO orders equal values otherwise than the standard says"


def pairs(values, kind=np.int64):
    """The values, and from the end, so that some stand beside those that are close to them."""
    values = np.array(values, kind)
    return [values, values[::-1].copy()]


UNSIGNED = pairs([0, 1, 2**31 - 1, 2**31, 2**32 - 1, 3_000_000_000], np.uint32)
CLOSE = pairs([2**24, 2**31 - 1, -(2**31), -(2**31) + 1, 2**31 - 2, 2**24 + 1])
WIDE_UNSIGNED = pairs([0, 2**31 - 1, 2**31 - 2, 7], np.uint64)
COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
EXTREMES = ("Max", "Min")  # of which those with constants may be joined to a Clip
BITWISE = ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
# What OpenVINO alone computes otherwise. Operator, opset, attributes, inputs, how many outputs.
REWRITTEN = {
    **{f"{op} of uint32": (op, 18, {}, UNSIGNED, 1) for op in ("Add", "Mul", "Sub", *BITWISE, *COMPARISONS, *EXTREMES)},
    **{f"{op} of uint64": (op, 18, {}, WIDE_UNSIGNED, 1) for op in (*BITWISE, *COMPARISONS, *EXTREMES)},
    **{f"{op} of {t}": (op, 18, {}, [v.astype(t) for v in CLOSE], 1) for op in COMPARISONS for t in ("int32", "int64")},
    "BitwiseNot of uint32": ("BitwiseNot", 18, {}, UNSIGNED[:1], 1),
    "left shift of uint32": ("BitShift", 18, {"direction": "LEFT"}, [UNSIGNED[0], np.array([1, 31, 3, 1, 8, 0], np.uint32)], 1),
    "Div of uint8": ("Div", 13, {}, [np.array([224, 5, 255, 7], np.uint8), np.array([225, 3, 254, 0], np.uint8)], 1),
    "Div of int8": ("Div", 13, {}, [np.array([-128, 5, -7, 7], np.int8), np.array([-1, 3, 4, 8], np.int8)], 1),
    "powers": ("Pow", 18, {}, [floats(4), np.array([0, 1, 2, 3], np.uint64)], 1),
    "bits of uint32": ("BitCast", 26, {"to": TensorProto.INT32}, UNSIGNED[:1], 1),
    "bits of int8": ("BitCast", 26, {"to": TensorProto.UINT8}, [np.array([-128, -1, 0, 127], np.int8)], 1),
    "bits of uint16": ("BitCast", 26, {"to": TensorProto.INT16}, [np.array([0, 2**15, 2**16 - 1], np.uint16)], 1),
    "bits of bool": ("BitCast", 26, {"to": TensorProto.UINT8}, [np.array([True, False])], 1),
    "a sum over no axes": ("ReduceSum", 18, {"noop_with_empty_axes": 1}, [floats(2, 3), np.zeros(0, np.int64)], 1),
    "a norm with a bias": ("LRN", 13, {"size": 3, "alpha": 0.5, "beta": 0.7, "bias": 2.0}, [floats(1, 5, 2, 2)], 1),
    "channels first": ("SpaceToDepth", 28, {"blocksize": 2, "mode": "CRD"}, [floats(2, 3, 4, 6)], 1),
    **{f"{op} of {n}": (f"{op}Window", 17, {"periodic": 0}, [np.array(n)], 1) for op in ("Hann", "Hamming", "Blackman") for n in (2, 9)},
    **{
        f"{op}, batch first": (op, 14, {"layout": 1, "hidden_size": 4}, [floats(2, 3, 5), floats(1, 4 * n, 5), floats(1, 4 * n, 4)], 2)
        for op, n in (("RNN", 1), ("GRU", 3), ("LSTM", 4))
    },
}  # fmt: skip


@pytest.mark.parametrize("fixed", [False, True], ids=["inputs", "constants"])
@pytest.mark.parametrize("name", REWRITTEN)
def test_what_is_written_otherwise_is_right(name, fixed):
    """The first input is the run's, the others are, or are constants."""
    op, opset, attributes, values, count = REWRITTEN[name]
    outputs, names = [f"y{i}" for i in range(count)], [f"x{i}" for i in range(len(values))]
    taken = dict(zip(names, values, strict=True))
    constants = {n: taken.pop(n) for n in names[1:] if fixed or op in ("RNN", "GRU", "LSTM")}
    inputs = [tensor(n, v.shape, helper.np_dtype_to_tensor_dtype(v.dtype)) for n, v in taken.items()]
    graph = helper.make_graph(
        [helper.make_node(op, names, outputs, **attributes)],
        "main",
        inputs,
        [helper.make_empty_tensor_value_info(output) for output in outputs],
        [numpy_helper.from_array(v, n) for n, v in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10).SerializeToString()
    options = roundhouse.SessionOptions()
    options.graph_optimization_level = roundhouse.GraphOptimizationLevel.ORT_DISABLE_ALL
    made = roundhouse.InferenceSession(model, options, providers=[OPENVINO])
    assert {row["provider"] for row in made.placement()} == {CPU if fixed and op in EXTREMES else OPENVINO}
    assert_like_the_cpu(roundhouse, model, [taken], made)


LEFT = {
    "limits beyond 2^24": ("Clip", 18, CLOSE[0].astype("int32"), [np.array(-(2**24) - 1, np.int32), np.array(2**24 + 1, np.int32)]),
    "reversed": ("ReverseSequence", 13, CLOSE[0].astype("int32").reshape(2, 3), [np.array([1, 2, 2])]),
    "one limit": ("Clip", 18, CLOSE[0].astype("int32"), [np.array(0, np.int32)]),
    "the larger one": ("Max", 18, CLOSE[0].astype("int32"), [np.array(2**24 + 1, np.int32)]),
    "equal in opset 12": ("Equal", 12, CLOSE[0].astype("int32"), [np.array(2**24 + 1, np.int32)]),
}
TAKEN = {
    "a triangle": ("Trilu", 14, CLOSE[0].astype("int32").reshape(2, 3), []),
    "close ones": ("GreaterOrEqual", 13, CLOSE[0].astype("int32"), [CLOSE[1].astype("int32")]),
    "small limits": ("Clip", 18, CLOSE[0].astype("int32"), [np.array(-7, np.int32), np.array(2**24 - 1, np.int32)]),
    "equal to a small one": ("Equal", 12, np.array([7, 2**24 + 7, 2**31 - 1, -7], np.int32), [np.array(7, np.int32)]),
    "beyond a small one": ("Less", 12, CLOSE[0].astype("int32"), [np.array(2**24 - 1, np.int32)]),
}


@pytest.mark.parametrize("name", [*LEFT, *TAKEN])
def test_integers_that_float32_does_not_have(name):
    op, opset, x, constants = (LEFT | TAKEN)[name]
    weights = {f"c{i}": c for i, c in enumerate(constants)}
    node = helper.make_node(op, ["x", *weights], ["y"])
    inputs, outputs = [tensor("x", x.shape, TensorProto.INT32)], [helper.make_empty_tensor_value_info("y")]
    graph = helper.make_graph([node], "main", inputs, outputs, [numpy_helper.from_array(c, n) for n, c in weights.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString()
    options = roundhouse.SessionOptions()
    options.graph_optimization_level = roundhouse.GraphOptimizationLevel.ORT_DISABLE_ALL
    made = roundhouse.InferenceSession(model, options, providers=[OPENVINO])
    assert {row["provider"] for row in made.placement()} == {OPENVINO if name in TAKEN else CPU}
    assert_like_the_cpu(roundhouse, model, [{"x": x}], made)


def test_a_choice_by_what_is_compared_keeps_integers():
    nodes = [helper.make_node("Greater", ["f", "half"], ["c"], "compare"), helper.make_node("Where", ["c", "x", "other"], ["y"], "choose")]
    inputs = [tensor("f", ["N"]), tensor("x", ["N"], TensorProto.INT32), tensor("other", ["N"], TensorProto.INT32)]
    model = model_of(nodes, inputs, [tensor("y", ["N"], TensorProto.INT32)], {"half": np.array(0.5, np.float32)})
    made = roundhouse.InferenceSession(model, providers=[OPENVINO])
    owners = {row["node"]: row["provider"] for row in made.placement()}
    assert owners["choose"] == CPU
    x, other = (values.astype("int32") for values in CLOSE)
    assert_like_the_cpu(roundhouse, model, [{"f": np.array([0, 1, 0, 1, 1, 0], np.float32), "x": x, "other": other}], made)


def test_constants_beyond_the_largest_signed_integer_are_left():
    nodes = [helper.make_node("Where", ["c", "x", "large"], ["y"])]
    kinds = {"c": TensorProto.BOOL, "x": TensorProto.UINT32}
    inputs = [tensor(n, ["N"], k) for n, k in kinds.items()]
    model = model_of(nodes, inputs, [tensor("y", ["N"], TensorProto.UINT32)], {"large": np.array([2**31], np.uint32)})
    made = roundhouse.InferenceSession(model, providers=[OPENVINO])
    assert {row["provider"] for row in made.placement()} == {CPU}
    assert_like_the_cpu(roundhouse, model, [{"c": np.array([True, False]), "x": np.array([1, 2], np.uint32)}], made)


OLD_OPSETS = {
    "axis of a power": ("Pow", 1, {"broadcast": 1, "axis": 1}, [np.array([0.5, 2, 3], np.float32)]),
    "axis of a comparison": ("Greater", 1, {"broadcast": 1, "axis": 1}, [floats(3)]),
    "all dimensions": ("Softmax", 11, {"axis": 1}, []),
    "one dimension": ("Softmax", 13, {"axis": 1}, []),
    "the batch's mean": ("BatchNormalization", 6, {}, [floats(3), floats(3), floats(3), floats(3) ** 2]),
    "parts as an input": ("Split", 1, {"axis": 1}, [np.array([1, 2], np.float32)]),
    "shrinking": ("Resize", 10, {}, [np.array([1, 1, 0.6, 0.6], np.float32)]),
    "indices by columns": ("MaxPool", 8, {"kernel_shape": [2, 2], "storage_order": 1}, []),
    "a power of floats": ("LpPool", 1, {"kernel_shape": [2, 2], "p": 3.0}, []),
}


@pytest.mark.parametrize("name", OLD_OPSETS)
def test_operators_of_old_opsets_are_the_cpus(name):
    """Each meant something else once: it is left, or OpenVINO knows."""
    op, opset, attributes, constants = OLD_OPSETS[name]
    x, outputs = np.abs(floats(2, 3, 4, 4)), ["y", "z"] if op in ("Split", "MaxPool") else ["y"]
    node = helper.make_node(op, ["x", *(f"c{i}" for i in range(len(constants)))], outputs, **attributes)
    weights = [numpy_helper.from_array(c, f"c{i}") for i, c in enumerate(constants)]
    results = [helper.make_empty_tensor_value_info(output) for output in outputs]
    graph = helper.make_graph([node], "main", [tensor("x", x.shape)], results, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=4).SerializeToString()
    options = roundhouse.SessionOptions()
    options.graph_optimization_level = roundhouse.GraphOptimizationLevel.ORT_DISABLE_ALL
    made = roundhouse.InferenceSession(model, options, providers=[OPENVINO])
    assert_like_the_cpu(roundhouse, model, [{"x": x}], made)
    assert set(row["provider"] for row in made.placement()) == {OPENVINO if name in ("one dimension", "a power of floats") else CPU}


@pytest.mark.parametrize(("scale", "is_taken"), [((5,), False), ((4, 1), True)], ids=["along a row", "by channel"])
def test_a_scale_before_a_convolution_is_right(scale, is_taken):
    """OpenVINO moves a constant that is as long as the window into the weights."""
    nodes = [helper.make_node("Mul", ["x", "scale"], ["scaled"]), helper.make_node("Conv", ["scaled", "w"], ["y"], pads=[2, 2])]
    constants = {"scale": floats(*scale), "w": floats(3, 4, 5, seed=1)}
    model = model_of(nodes, [tensor("x", ["N", 4, 5])], [tensor("y", ["N", 3, 5])], constants)
    with present(roundhouse, OPENVINO):
        made = session(roundhouse, OPENVINO, model)
        assert_like_the_cpu(roundhouse, model, [{"x": floats(n, 4, 5, seed=n)} for n in (1, 3)], made)
        owners = {row["op_type"]: row["provider"] for row in made.placement()}
    assert (owners["Conv"] == OPENVINO) == is_taken, owners


def test_the_doctor_runs_a_model_on_it():
    done = subprocess.run([COMMAND, "doctor", "--json"], capture_output=True, text=True, timeout=300)
    [found] = [p for p in json.loads(done.stdout)["providers"] if p.get("name") == OPENVINO]
    assert found["verdict"] == "ready" and found["ok"]


def test_explain_tells_what_it_leaves_and_why(tmp_path):
    nodes = [helper.make_node("Relu", ["x"], ["a"], "relu"), helper.make_node("TopK", ["a", "k"], ["v", "i"], "top")]
    outputs = [tensor("v", ["N", 2]), tensor("i", ["N", 2], TensorProto.INT64)]
    (tmp_path / "m.onnx").write_bytes(model_of(nodes, [tensor("x", ["N", 4])], outputs, {"k": np.array([2])}))
    done = subprocess.run(
        [COMMAND, "explain", str(tmp_path / "m.onnx"), "--provider", "OpenVINO,CPU", "--node", "top"], capture_output=True, text=True
    )
    assert "OpenVINO orders equal values otherwise than the standard says" in done.stdout


def test_sessions_share_threads():
    """A session has a thread of its pool of 2, and one of OpenVINO's that hands on its runs: the threads that compute are the process's."""
    program = """
import os, sys
sys.path.insert(0, "tests/kit")
from hosts import dense, floats
import roundhouse
def made():
    options = roundhouse.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 2, 3
    session = roundhouse.InferenceSession(dense(), options, providers=["OpenVINOExecutionProvider"])
    session.run(None, {"x": floats(512, 4), "x2": floats(512, 3)})
    return session
sessions = [made()]
one = len(os.listdir("/proc/self/task"))
sessions += [made() for _ in range(15)]
print(one, len(os.listdir("/proc/self/task")))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    one, all_of_them = map(int, done.stdout.split())
    assert all_of_them - one <= 15 * 2, (one, all_of_them)
