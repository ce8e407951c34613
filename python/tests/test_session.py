"""Making sessions, what they tell of the model, and running them."""

import gc
import json
import os
import re
import subprocess
import sys
import threading
import time
import warnings
import weakref

import models
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import roundhouse

CPU = ["CPUExecutionProvider"]
BOTH = pytest.mark.parametrize("module", [roundhouse, onnxruntime], ids=lambda m: m.__name__)


def session(model, **arguments):
    return roundhouse.InferenceSession(model, providers=CPU, **arguments)


@pytest.mark.parametrize("kind", ["str", "PathLike", "bytes", "bytearray", "memoryview"])
def test_model_from(kind, tmp_path, feed):
    path, data = tmp_path / "add.onnx", models.add()
    path.write_bytes(data)
    given = {"str": str(path), "PathLike": path, "bytes": data, "bytearray": bytearray(data), "memoryview": memoryview(data)}[kind]
    [total] = session(given).run(None, feed)
    np.testing.assert_array_equal(total, feed["a"] + feed["b"])
    assert total.dtype == np.float32


def class_of(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return None


def domainless():
    node = helper.make_node("Strange", ["x"], ["y"], domain="nowhere")
    graph = helper.make_graph([node], "g", [models.tensor("x")], [models.tensor("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString()


@BOTH
def test_programs_find_the_path_of_the_model(module, tmp_path):
    """optimum makes no session whose ``_model_path`` is missing."""
    path, data = tmp_path / "add.onnx", models.add()
    path.write_bytes(data)
    assert module.InferenceSession(str(path), providers=CPU)._model_path == str(path)
    assert module.InferenceSession(path, providers=CPU)._model_path == str(path)
    assert module.InferenceSession(data, providers=CPU)._model_path is None


@pytest.mark.parametrize(
    "model", ["/nowhere/model.onnx", b"hello world", 5, None, domainless()], ids=["missing", "damaged", "int", "None", "domain"]
)
def test_bad_models_raise_the_class_that_the_reference_raises(model):
    wanted = class_of(lambda: onnxruntime.InferenceSession(model, providers=CPU))
    assert class_of(lambda: roundhouse.InferenceSession(model, providers=CPU)) == wanted is not None


def test_truncated_model_names_the_file(tmp_path):
    path = tmp_path / "cut.onnx"
    path.write_bytes(models.add()[:-20])
    with pytest.raises(Exception, match="cut.onnx") as raised:
        session(path)
    assert isinstance(raised.value, (roundhouse.InvalidProtobuf, roundhouse.InvalidGraph))


def test_sess_options_of_another_type():
    with pytest.raises(TypeError, match="expected SessionOptions"):
        session(models.add(), sess_options=5)


@pytest.mark.parametrize(
    ("providers", "options"),
    [
        (CPU, [{}, {}]),
        (CPU, {}),
        (CPU, [5]),
        ([("CPUExecutionProvider", {})], [{}]),
        ([("CPUExecutionProvider", 5)], None),
        ([("CPUExecutionProvider", {}, 3)], None),
        ([5], None),
        ("CPUExecutionProvider", None),
    ],
)
def test_contradictory_providers(providers, options):
    with pytest.raises(ValueError, match="provider"):
        roundhouse.InferenceSession(models.add(), providers=providers, provider_options=options)


@pytest.mark.parametrize(
    ("providers", "options", "message"),
    [
        (CPU + CPU, None, "twice"),
    ],
)
def test_providers_that_only_warn(providers, options, message):
    with pytest.warns(UserWarning, match=message):
        made = roundhouse.InferenceSession(models.add(), providers=providers, provider_options=options)
    assert made.get_providers() == CPU


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("StrangeExecutionProvider", "no execution provider is called 'StrangeExecutionProvider'"),
        ("CUDAExecutionProvide", "the nearest name is 'CUDAExecutionProvider'"),
        ("TensorrtExecutionProvider", "no file roundhouse_provider_tensorrt.so in"),
        ("DmlExecutionProvider", "runs on Windows only; this is Linux"),
        ("ArmNNExecutionProvider", "ACLExecutionProvider takes its place"),
    ],
)
def test_a_provider_that_cannot_be_had(name, cause):
    with pytest.raises(roundhouse.InvalidArgument, match=re.escape(cause)):
        roundhouse.InferenceSession(models.add(), providers=[name, "CPUExecutionProvider"])
    options = roundhouse.SessionOptions()
    options.add_session_config_entry("roundhouse.fallback", "warn")
    with pytest.warns(UserWarning, match=re.escape(cause)):
        made = roundhouse.InferenceSession(models.add(), options, providers=[name, "CPUExecutionProvider"])
    assert made.get_providers() == CPU


@pytest.mark.parametrize(
    ("providers", "options"),
    [
        (None, None),
        ((*CPU,), None),
        ([("CPUExecutionProvider", {"use_arena": 1})], None),
        (CPU, [{"use_arena": "1"}]),
        (CPU, [{"use_arena": "true"}]),
        ([("CPUExecutionProvider", {"use_arena": False})], None),
    ],
)
def test_providers_accepted_without_a_word(providers, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = roundhouse.InferenceSession(models.add(), providers=providers, provider_options=options)
    assert made.get_providers() == CPU
    given = options[0] if options else next((entry[1] for entry in providers or () if isinstance(entry, tuple)), {})
    assert made.get_provider_options() == {"CPUExecutionProvider": {key: str(value) for key, value in given.items()}}


def test_providers_in_both_places_warn():
    options = roundhouse.SessionOptions()
    options.add_provider("CPUExecutionProvider", {})
    assert options.has_providers()
    with pytest.warns(UserWarning, match="arguments count"):
        session(models.add(), sess_options=options)


def test_options_that_the_cpu_does_not_know_are_accepted():
    made = roundhouse.InferenceSession(models.add(), providers=[("CPUExecutionProvider", {"arena_extend_strategy": "kSameAsRequested"})])
    assert made.get_provider_options() == {"CPUExecutionProvider": {"arena_extend_strategy": "kSameAsRequested"}}


def test_set_providers_makes_the_session_anew(add, feed):
    add.set_providers(CPU)
    np.testing.assert_array_equal(add.run(["sum"], feed)[0], feed["a"] + feed["b"])


def described(made):
    return {
        "inputs": [(i.name, i.type, i.shape) for i in made.get_inputs()],
        "outputs": [(o.name, o.type, o.shape) for o in made.get_outputs()],
        "overridable": [(w.name, w.type, w.shape) for w in made.get_overridable_initializers()],
        "text": [str(i) for i in made.get_inputs()],
    }


@pytest.mark.parametrize("name", ["add", "add_with_default", "sequence_length", "has_element", "identity_sequence"])
def test_inputs_and_outputs_equal_the_reference(name):
    data = getattr(models, name)()
    assert described(session(data)) == described(onnxruntime.InferenceSession(data, providers=CPU))


@pytest.mark.parametrize("declared", [(None, 7), ("N",), (2, 3, 1)], ids=["columns", "a vector", "three dimensions"])
def test_a_shape_that_contradicts_the_operator_is_passed_over(declared):
    node = helper.make_node("Neg", ["x"], ["y"])
    ports = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, (None, 3)),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, declared),
    ]
    graph = helper.make_graph([node], "graph", ports[:1], ports[1:])
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for made in (session(data), onnxruntime.InferenceSession(data, providers=CPU)):
        np.testing.assert_array_equal(made.run(None, {"x": x})[0], -x)


@BOTH
def test_model_metadata(module):
    data = onnx.load_from_string(models.add())
    data.producer_name, data.domain, data.doc_string, data.model_version = "maker", "org.example", "about the model", 7
    data.graph.doc_string = "about the graph"
    helper.set_model_props(data, {"labels": "cat,dog", "text": "ä€"})
    meta = module.InferenceSession(data.SerializeToString(), providers=CPU).get_modelmeta()
    assert (meta.producer_name, meta.graph_name, meta.domain, meta.version) == ("maker", "graph", "org.example", 7)
    assert (meta.description, meta.graph_description) == ("about the model", "about the graph")
    assert meta.custom_metadata_map == {"labels": "cat,dog", "text": "ä€"}


BAD_FEEDS = {
    "missing": lambda f: {"a": f["a"]},
    "unknown": lambda f: f | {"z": f["b"]},
    "type": lambda f: f | {"a": f["a"].astype(np.float64)},
    "rank": lambda f: f | {"a": f["a"][0]},
    "dimension": lambda f: f | {"b": np.ones(4, np.float32)},
    "object": lambda f: f | {"a": object()},
    "dates": lambda f: f | {"a": np.array(["2020-01-01"], "datetime64[D]")},
}
MESSAGES = {
    "missing": r"\['b'\]\) are missing",
    "unknown": "no input 'z'",
    "type": r"'a' is tensor\(double\), expected tensor\(float\)",
    "rank": r"'a' has shape \[3\] of rank 1, expected \[N, 3\]",
    "dimension": r"'b' has shape \[4\], expected \[3\]",
    "object": "expected a numpy array",
    "dates": "datetime64",
}


@pytest.mark.parametrize("name", BAD_FEEDS)
def test_bad_feeds_raise_the_class_that_the_reference_raises(name, add, feed):
    bad = BAD_FEEDS[name](feed)
    wanted = class_of(lambda: onnxruntime.InferenceSession(models.add(), providers=CPU).run(None, bad))
    with pytest.raises(Exception, match=MESSAGES[name]) as raised:
        add.run(None, bad)
    assert type(raised.value).__name__ == wanted


@pytest.mark.parametrize(("names", "error"), [(["q"], roundhouse.InvalidArgument), ("sum", TypeError), ([5], TypeError)])
def test_bad_output_names(names, error, add, feed):
    with pytest.raises(error):
        add.run(names, feed)


def test_feed_of_another_type(add, feed):
    with pytest.raises(TypeError, match="expected a dict"):
        add.run(None, list(feed.values()))


@BOTH
def test_output_names(module, feed):
    made = module.InferenceSession(models.add(), providers=CPU)
    for names, count in ((None, 1), ([], 1), (["sum"], 1), (("sum",), 1), (["sum", "sum"], 2)):
        results = made.run(names, feed)
        assert len(results) == count
        for total in results:
            np.testing.assert_array_equal(total, feed["a"] + feed["b"])


@BOTH
def test_lists_for_tensor_inputs(module, feed):
    [total] = module.InferenceSession(models.add(), providers=CPU).run(None, {"a": [[1.0, 2, 3]], "b": feed["b"]})
    np.testing.assert_array_equal(total, np.array([[11, 22, 33]], np.float32))


def test_any_layout_of_arrays(add, feed):
    expected = feed["a"] + feed["b"]
    read_only = feed["a"].copy()
    read_only.flags.writeable = False
    wide = np.zeros((2, 6), np.float32)
    wide[:, ::2] = feed["a"]
    for a in (np.asfortranarray(feed["a"]), feed["a"].astype(">f4"), read_only, wide[:, ::2], feed["a"][::-1][::-1]):
        np.testing.assert_array_equal(add.run(None, {"a": a, "b": feed["b"]})[0], expected)
    assert add.run(None, {"a": np.empty((0, 3), np.float32), "b": feed["b"]})[0].shape == (0, 3)


@BOTH
def test_overridable_initializers(module, feed):
    made = module.InferenceSession(models.add_with_default(), providers=CPU)
    a = feed["a"]
    np.testing.assert_array_equal(made.run(None, {"a": a})[0], a + np.array([1, 2, 3], np.float32))
    np.testing.assert_array_equal(made.run(None, {"a": a, "w": feed["b"]})[0], a + feed["b"])


def test_outputs_own_their_memory(feed):
    made = session(models.add())
    [first] = made.run(None, feed)
    kept = first.copy()
    made.run(None, {"a": feed["a"] * 5, "b": feed["b"]})
    del made
    gc.collect()
    np.testing.assert_array_equal(first, kept)
    assert first.flags.writeable


def test_inputs_are_let_go_after_a_run(add, feed):
    given = np.ones((2, 3), np.float32)
    gone = weakref.ref(given)
    add.run(None, {"a": given, "b": feed["b"]})
    del given
    assert gone() is None


@BOTH
def test_terminated_runs(module, feed):
    made = module.InferenceSession(models.add(), providers=CPU)
    options = module.RunOptions()
    options.terminate = True
    with pytest.raises(Exception, match="terminate") as raised:
        made.run(None, feed, options)
    assert type(raised.value).__name__ == "Fail"
    options.terminate = False
    assert made.run(None, feed, options)[0].shape == (2, 3)


def test_other_python_threads_go_on_during_a_run_and_terminate_it():
    made = session(models.endless_products())
    square = np.eye(64, dtype=np.float32)
    options = roundhouse.RunOptions()
    options.add_run_config_entry("roundhouse.run.timeout_ms", "60000")  # where they do not go on

    def work():
        for _ in range(100):
            time.sleep(0.001)  # lets the run begin, and has to get the interpreter back each time
        options.terminate = True

    thread = threading.Thread(target=work)
    thread.start()
    with pytest.raises(roundhouse.Fail, match="terminate"):
        made.run(None, {"x": square, "w": square}, options)
    thread.join()


def test_many_threads_run_one_session(add, feed):
    wrong = []

    def work(k):
        for i in range(50):
            a = np.full((1 + (i + k) % 5, 3), k * 100 + i, np.float32)
            [total] = add.run(None, {"a": a, "b": feed["b"]})
            if not np.array_equal(total, a + feed["b"]):
                wrong.append((k, i))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_run_async(add, feed):
    done, got = threading.Event(), []

    def callback(results, user_data, error):
        got.append((results, user_data, error))
        done.set()

    add.run_async(None, feed, callback, "mine")
    assert done.wait(10)
    [(results, user_data, error)] = got
    np.testing.assert_array_equal(results[0], feed["a"] + feed["b"])
    assert (user_data, error) == ("mine", "")


def test_run_async_reports_errors(add, feed):
    done, got = threading.Event(), []
    add.run_async(["q"], feed, lambda *arguments: (got.append(arguments), done.set()), None)
    assert done.wait(10)
    assert got[0][0] == [] and "no output 'q'" in got[0][2]


@BOTH
def test_run_async_many_at_once(module, feed):
    options = module.SessionOptions()
    options.intra_op_num_threads = 2
    made = module.InferenceSession(models.add(), options, providers=CPU)
    got, all_done = [], threading.Event()

    def callback(results, user_data, error):
        got.append((user_data, error, results[0]))
        if len(got) == 50:
            all_done.set()

    for i in range(50):
        made.run_async(None, {"a": feed["a"] + i, "b": feed["b"]}, callback, i)
    assert all_done.wait(60)
    assert sorted(i for i, _, _ in got) == list(range(50))
    for i, error, total in got:
        assert error == ""
        np.testing.assert_array_equal(total, feed["a"] + i + feed["b"])


def test_run_async_outlives_the_session_and_the_feed(feed):
    """Nothing but the run holds session, feed and options; the interpreter ends after the last callback."""
    text = f"""
import numpy as np, roundhouse, time
def callback(results, user_data, error):
    time.sleep(0.2)
    print(user_data, error, results[0].tolist())
def start():
    options = roundhouse.RunOptions()
    session = roundhouse.InferenceSession({models.add()!r}, providers={CPU!r})
    feed = {{"a": np.array({feed["a"].tolist()}, np.float32), "b": np.array({feed["b"].tolist()}, np.float32)}}
    session.run_async(None, feed, callback, "mine", options)
start()
"""
    ended = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == f"mine  {(feed['a'] + feed['b']).tolist()}"


def test_a_forked_child_runs():
    text = f"""
import os, sys, numpy as np, roundhouse
options = roundhouse.SessionOptions()
options.intra_op_num_threads = 2
session = roundhouse.InferenceSession({models.matrix_powers(3)!r}, options, providers={CPU!r})
feed = {{i.name: np.full((256, 256), 0.01, np.float32) for i in session.get_inputs()}}
before = session.run(None, feed)[0]
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(session.run(None, feed)[0], before) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    ended = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr


def test_a_time_limit():
    count = 400
    made = roundhouse.InferenceSession(models.matrix_powers(count), providers=CPU)
    a = np.full((256, 256), 1e-3, np.float32)
    options = roundhouse.RunOptions()
    options.add_run_config_entry("roundhouse.run.timeout_ms", "2")
    feed = {i.name: a for i in made.get_inputs()}
    with pytest.raises(roundhouse.Fail, match="time limit of 2 ms"):
        made.run(None, feed, options)
    options.add_run_config_entry("roundhouse.run.timeout_ms", "0")
    made.run(None, feed, options)


def test_a_profile_of_one_run(add, feed, tmp_path):
    options = roundhouse.RunOptions()
    options.profile_file_prefix = str(tmp_path / "one")
    options.enable_profiling = True
    add.run(None, feed, options)
    options.enable_profiling = False
    add.run(None, feed, options)
    [path] = tmp_path.iterdir()
    events = json.loads(path.read_text())
    assert [e["name"] for e in events if e["cat"] == "Session"] == ["SequentialExecutor::Execute", "model_run"]
    [node] = [e for e in events if e["cat"] == "Node"]
    assert node["ph"] == "X" and node["pid"] == os.getpid()
    assert node["args"]["op_name"] == "Add" and node["args"]["provider"] == CPU[0]
    assert node["args"]["output_type_shape"] == [{"float": list((feed["a"] + feed["b"]).shape)}]


def test_disabled_optimizers(feed):
    """A pass is left out where it is named, by its name or the one that onnxruntime has for it; others are harmless."""
    graph = models.model(
        [helper.make_node("Identity", ["a"], ["t"]), helper.make_node("Add", ["t", "b"], ["y"])],
        [models.tensor("a"), models.tensor("b")],
        [models.tensor("y")],
    )
    a = np.arange(3, dtype=np.float32)

    def steps(**arguments):
        made = roundhouse.InferenceSession(graph, providers=CPU, **arguments)
        np.testing.assert_array_equal(made.run(None, {"a": a, "b": a})[0], a + a)
        return made.statistics()["nodes"]

    level = roundhouse.SessionOptions()
    level.graph_optimization_level = roundhouse.GraphOptimizationLevel.ORT_DISABLE_ALL
    assert steps() == 1
    assert steps(disabled_optimizers=["EliminateIdentity"]) == 2
    assert steps(disabled_optimizers=["NoSuchPass"]) == 1
    assert steps(disabled_optimizers=["EliminateIdentity", "eliminate_identities"]) == 2
    assert steps(disabled_optimizers=["identities"]) == 2, "the name that the pass had before"
    assert steps(sess_options=level) == 2


def test_placement_and_statistics(add, feed):
    assert add.placement_summary() == {"CPUExecutionProvider": 1}
    [node] = add.placement()
    assert (node["op_type"], node["provider"]) == ("Add", "CPUExecutionProvider")
    before = add.statistics()["runs"]
    add.run(None, feed)
    assert add.statistics()["runs"] == before + 1


def test_profiling(tmp_path, feed):
    options = roundhouse.SessionOptions()
    options.enable_profiling = True
    options.profile_file_prefix = str(tmp_path / "trace")
    made = session(models.add(), sess_options=options)
    made.run(None, feed)
    assert made.get_profiling_start_time_ns() > 0
    path = made.end_profiling()
    assert path.startswith(options.profile_file_prefix)
    assert "Add" in open(path).read()


def test_float16_tensors_need_no_further_package():
    x = np.array([1.5, -2], np.float16)
    [y] = session(models.identity(TensorProto.FLOAT16)).run(None, {"x": x})
    assert y.dtype == np.float16
    np.testing.assert_array_equal(x, y)


def test_run_with_values_tells_what_is_between():
    nodes = [
        helper.make_node("Exp", ["x"], ["e"]),
        helper.make_node("CumSum", ["e", "axis"], ["n"]),
        helper.make_node("Add", ["n", "x"], ["y"]),
    ]
    axis = helper.make_tensor("axis", TensorProto.INT64, [], [0])
    given = np.array([0.5, -1, 2], "f4")
    made = session(models.model(nodes, [models.tensor("x")], [models.tensor("y")], [axis]))
    [y], values = made.run_with_values(None, {"x": given})
    np.testing.assert_array_equal(y, made.run(None, {"x": given})[0])
    np.testing.assert_array_equal(values["y"], y)
    np.testing.assert_allclose(values["n"], np.cumsum(np.exp(given)), rtol=1e-6)
    with pytest.raises(ValueError, match="missing"):
        made.run_with_values(None, {})
