"""SessionOptions, RunOptions and the calls of the whole module."""

import os
import threading
import time

import models
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import roundhouse

CPU = ["CPUExecutionProvider"]
BOTH = pytest.mark.parametrize("module", [roundhouse, onnxruntime], ids=lambda m: m.__name__)
SESSION_ATTRIBUTES = {
    "enable_cpu_mem_arena": False,
    "enable_mem_pattern": False,
    "enable_mem_reuse": False,
    "enable_profiling": False,
    "profile_file_prefix": "trace",
    "optimized_model_filepath": "",
    "logid": "mine",
    "log_severity_level": 3,
    "log_verbosity_level": 1,
    "use_per_session_threads": True,
    "intra_op_num_threads": 1,
    "inter_op_num_threads": 1,
    "use_deterministic_compute": True,
}
RUN_ATTRIBUTES = {
    "log_severity_level": 3,
    "log_verbosity_level": 1,
    "logid": "mine",
    "terminate": False,
    "only_execute_path_to_fetches": True,
}


@pytest.mark.parametrize("name", SESSION_ATTRIBUTES)
def test_session_attributes_and_their_defaults(name, feed):
    options = roundhouse.SessionOptions()
    assert getattr(options, name) == getattr(onnxruntime.SessionOptions(), name)
    setattr(options, name, SESSION_ATTRIBUTES[name])
    assert getattr(options, name) == SESSION_ATTRIBUTES[name]
    made = roundhouse.InferenceSession(models.add(), options, providers=CPU)
    np.testing.assert_array_equal(made.run(None, feed)[0], feed["a"] + feed["b"])


@BOTH
def test_severities_of_runs(module, feed):
    session, options = module.InferenceSession(models.add(), providers=CPU), module.RunOptions()
    for level in (-1, 0, 1, 2, 3, 4):
        options.log_severity_level = level
        np.testing.assert_array_equal(session.run(None, feed, options)[0], feed["a"] + feed["b"])
    for level in (-2, 5, 77):
        options.log_severity_level = level
        with pytest.raises(Exception, match=rf"log severity level.* {level}\b"):
            session.run(None, feed, options)


@BOTH
@pytest.mark.parametrize("least", [100, 300])
def test_a_file_of_weights_is_there_where_it_has_some(module, least, tmp_path):
    weights = tmp_path / "weights.bin"
    weights.write_bytes(b"of an earlier session")
    graph = [helper.make_node("Mul", ["x", "w"], ["y"])], [models.tensor("x", shape=(64,))], [models.tensor("y", shape=(64,))]
    made = models.model(*graph, [numpy_helper.from_array(np.full(64, 2, np.float32), "w")])
    options = module.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    options.add_session_config_entry("session.optimized_model_external_initializers_file_name", weights.name)
    options.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", str(least))
    module.InferenceSession(made, options, providers=CPU)
    assert sorted(os.listdir(tmp_path)) == ["optimised.onnx"] + ["weights.bin"] * (least < 256)
    if least < 256:
        assert weights.read_bytes()[-256:] == np.full(64, 2, np.float32).tobytes()
    x = np.ones(64, np.float32)
    assert (module.InferenceSession(options.optimized_model_filepath, providers=CPU).run(None, {"x": x})[0] == 2 * x).all()


@BOTH
def test_accuracy_levels_of_products(module, feed):
    key = "session.qdq_matmulnbits_accuracy_level"
    for text in ("0", "1", "2", "3", "4", "5", "9", "-1", "best", ""):
        options = module.SessionOptions()
        options.add_session_config_entry(key, text)
        if text in {"0", "1", "2", "3", "4"}:
            made = module.InferenceSession(models.add(), options, providers=CPU)
            np.testing.assert_array_equal(made.run(None, feed)[0], feed["a"] + feed["b"])
        else:
            with pytest.raises(module.capi.onnxruntime_pybind11_state.Fail):
                module.InferenceSession(models.add(), options, providers=CPU)


@pytest.mark.parametrize("level", ["ORT_DISABLE_ALL", "ORT_ENABLE_BASIC", "ORT_ENABLE_EXTENDED", "ORT_ENABLE_LAYOUT", "ORT_ENABLE_ALL"])
def test_optimization_levels(level, feed):
    assert int(getattr(roundhouse.GraphOptimizationLevel, level)) == int(getattr(onnxruntime.GraphOptimizationLevel, level))
    options = roundhouse.SessionOptions()
    assert options.graph_optimization_level == roundhouse.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.graph_optimization_level = getattr(roundhouse.GraphOptimizationLevel, level)
    made = roundhouse.InferenceSession(models.add(), options, providers=CPU)
    np.testing.assert_array_equal(made.run(None, feed)[0], feed["a"] + feed["b"])


def test_parallel_execution(feed):
    options = roundhouse.SessionOptions()
    assert options.execution_mode == roundhouse.ExecutionMode.ORT_SEQUENTIAL
    options.execution_mode = roundhouse.ExecutionMode.ORT_PARALLEL
    made = roundhouse.InferenceSession(models.add(), options, providers=CPU)
    np.testing.assert_array_equal(made.run(None, feed)[0], feed["a"] + feed["b"])


@BOTH
def test_session_configuration(module):
    options = module.SessionOptions()
    options.add_session_config_entry("session.some_key", "1")
    assert options.get_session_config_entry("session.some_key") == "1"
    with pytest.raises(RuntimeError, match="missing_key"):
        options.get_session_config_entry("missing_key")
    with pytest.raises(RuntimeError):
        options.add_session_config_entry("", "1")
    with pytest.raises(TypeError):
        options.add_session_config_entry("key", 1)
    with pytest.raises(TypeError):
        options.intra_op_num_threads = "one"


@BOTH
def test_free_dimensions(module):
    options = module.SessionOptions()
    options.add_free_dimension_override_by_name("N", 4)
    made = module.InferenceSession(models.add(), options, providers=CPU)
    assert made.get_inputs()[0].shape == [4, 3]


@BOTH
def test_initializers_from_the_caller(module, feed):
    value = module.OrtValue.ortvalue_from_numpy(feed["b"])
    options = module.SessionOptions()
    options.add_initializer("w", value)
    made = module.InferenceSession(models.add_with_default(), options, providers=CPU)
    np.testing.assert_array_equal(made.run(None, {"a": feed["a"]})[0], feed["a"] + feed["b"])
    with pytest.raises(RuntimeError):
        options.add_initializer("w", feed["b"])


@BOTH
def test_initializers_that_the_model_lacks_are_not_used(module, feed):
    value, other = (module.OrtValue.ortvalue_from_numpy(feed[name]) for name in "ba")
    options = module.SessionOptions()
    options.add_initializer("w", value)
    options.add_initializer("of another model", other)
    made = module.InferenceSession(models.add_with_default(), options, providers=CPU)
    np.testing.assert_array_equal(made.run(None, {"a": feed["a"]})[0], feed["a"] + feed["b"])


def test_initializers_that_the_model_lacks_are_named(capfd, feed):
    options = roundhouse.SessionOptions()
    options.add_initializer("ww", roundhouse.OrtValue.ortvalue_from_numpy(feed["b"]))
    roundhouse.InferenceSession(models.add_with_default(), options, providers=CPU)
    assert "initializer 'ww' was given, but the main graph has no initializer of that name; the nearest is 'w'" in capfd.readouterr().err


def test_external_initializers_need_one_value_a_name(feed):
    options = roundhouse.SessionOptions()
    with pytest.raises(RuntimeError, match="1 names"):
        options.add_external_initializers(["w"], [])
    with pytest.raises(RuntimeError, match="expected an OrtValue"):
        options.add_external_initializers(["w"], [feed["b"]])


def add_external():
    """sum = a + w, where w is in 12 bytes of the file w.bin, from byte 4 on"""
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[3], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", "w.bin"), ("offset", "4"), ("length", "12")):
        weight.external_data.add(key=key, value=value)
    node = helper.make_node("Add", ["a", "w"], ["sum"])
    graph = helper.make_graph([node], "graph", [models.tensor("a", shape=(3,))], [models.tensor("sum", shape=(3,))], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


EXTERNAL = bytes(4) + np.array([1, 2, 3], np.float32).tobytes()


@BOTH
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda data: np.frombuffer(data, np.uint8)], ids=["b", "ba", "mv", "np"])
def test_external_files_in_memory(module, kind):
    options, buffer = module.SessionOptions(), kind(EXTERNAL)
    options.add_external_initializers_from_files_in_memory(["w.bin"], [buffer], [len(EXTERNAL)])
    for _ in range(2):
        made = module.InferenceSession(add_external(), options, providers=CPU)
        assert made.run(None, {"a": np.ones(3, np.float32)})[0].tolist() == [2, 3, 4]


@pytest.mark.parametrize(
    ("names", "buffers", "lengths", "error", "message"),
    [
        (["w.bin"], [EXTERNAL], [], RuntimeError, "1 buffers and 0 lengths are given for 1 names"),
        (["w.bin"], [], [16], RuntimeError, "0 buffers and 1 lengths are given for 1 names"),
        (["w.bin"], [EXTERNAL], [17], RuntimeError, "'w.bin' has 16 bytes, its length is given as 17"),
        (["w.bin"] * 2, [EXTERNAL] * 2, [16] * 2, RuntimeError, "'w.bin' was added before"),
        ([""], [EXTERNAL], [16], RuntimeError, "is empty"),
        (["w.bin"], [3], [16], TypeError, "int"),
    ],
)
def test_external_files_in_memory_that_are_no_files(names, buffers, lengths, error, message):
    options = roundhouse.SessionOptions()
    with pytest.raises(error, match=message):
        options.add_external_initializers_from_files_in_memory(names, buffers, lengths)
    options.add_external_initializers_from_files_in_memory(["w.bin"], [EXTERNAL], [16])


def test_external_files_in_memory_are_kept():
    options = roundhouse.SessionOptions()
    options.add_external_initializers_from_files_in_memory(["w.bin"], [bytearray(EXTERNAL)], [len(EXTERNAL)])
    made = roundhouse.InferenceSession(add_external(), options, providers=CPU)
    del options
    assert made.run(None, {"a": np.ones(3, np.float32)})[0].tolist() == [2, 3, 4]


def test_external_files_in_memory_that_are_too_short():
    options = roundhouse.SessionOptions()
    options.add_external_initializers_from_files_in_memory(["w.bin"], [EXTERNAL], [15])
    with pytest.raises(roundhouse.Fail, match="w.bin"):
        roundhouse.InferenceSession(add_external(), options, providers=CPU)


@BOTH
def test_loads_that_are_cancelled(module):
    options = module.SessionOptions()
    options.set_load_cancellation_flag(True)
    with pytest.raises(Exception) as raised:  # noqa: PT011
        module.InferenceSession(models.add(), options, providers=CPU)
    assert type(raised.value).__name__ == "ModelLoadCanceled"
    options.set_load_cancellation_flag(False)
    module.InferenceSession(models.add(), options, providers=CPU)


def test_a_load_under_way_is_cancelled():
    options = roundhouse.SessionOptions()
    data, results = models.matrix_powers(40000), []

    def load():
        try:
            results.append(roundhouse.InferenceSession(data, options, providers=CPU))
        except roundhouse.ModelLoadCanceled as error:
            results.append(error)

    loading = threading.Thread(target=load)
    loading.start()
    time.sleep(0.01)
    options.set_load_cancellation_flag(True)
    loading.join()
    assert isinstance(results[0], roundhouse.ModelLoadCanceled)


@BOTH
def test_missing_library_of_custom_operators(module):
    with pytest.raises(Exception, match="/nowhere/lib.so") as raised:
        module.SessionOptions().register_custom_ops_library("/nowhere/lib.so")
    assert type(raised.value).__name__ == "Fail"


@BOTH
def test_library_of_custom_operators(module):
    library = os.path.join(os.environ.get("ROUNDHOUSE_LIBRARY_DIR", "/nowhere"), "custom_ops_plugin.so")
    if not os.path.exists(library):
        pytest.skip("the tests' library of custom operators is not built")
    nodes = [helper.make_node("Twice", ["x"], ["y"], domain="test.ops")]
    graph = helper.make_graph(nodes, "graph", [models.tensor("x")], [models.tensor("y")])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("test.ops", 1)]
    data = helper.make_model(graph, opset_imports=imports, ir_version=9).SerializeToString()
    options = module.SessionOptions()
    options.register_custom_ops_library(library)
    for _ in range(2):
        made = module.InferenceSession(data, options, providers=CPU)
        np.testing.assert_array_equal(made.run(None, {"x": np.array([1.5, -2], np.float32)})[0], np.array([3, -4], np.float32))
    with pytest.raises(Exception, match="test.ops") as raised:
        module.InferenceSession(data, providers=CPU)
    assert type(raised.value).__name__ == "Fail"


@pytest.mark.parametrize("name", RUN_ATTRIBUTES)
def test_run_attributes_and_their_defaults(name, add, feed):
    options = roundhouse.RunOptions()
    assert getattr(options, name) == getattr(onnxruntime.RunOptions(), name)
    setattr(options, name, RUN_ATTRIBUTES[name])
    assert getattr(options, name) == RUN_ATTRIBUTES[name]
    np.testing.assert_array_equal(add.run(None, feed, options)[0], feed["a"] + feed["b"])


def test_only_the_nodes_that_the_wanted_outputs_need():
    data = models.model(
        [helper.make_node("Identity", ["x"], ["y"]), helper.make_node("Reshape", ["x", "shape"], ["z"])],
        [models.tensor("x"), models.tensor("shape", TensorProto.INT64, ("R",))],
        [models.tensor("y"), models.tensor("z", shape=("A", "B"))],
    )
    made = roundhouse.InferenceSession(data, providers=CPU)
    x, impossible = np.ones(6, np.float32), np.array([4, 5])
    with pytest.raises(Exception, match="Reshape"):
        made.run(["y"], {"x": x, "shape": impossible})
    options = roundhouse.RunOptions()
    options.only_execute_path_to_fetches = True
    np.testing.assert_array_equal(made.run(["y"], {"x": x, "shape": impossible}, options)[0], x)


@BOTH
def test_run_configuration(module):
    options = module.RunOptions()
    options.add_run_config_entry("key", "value")
    assert options.get_run_config_entry("key") == "value"
    with pytest.raises(RuntimeError, match="missing_key"):
        options.get_run_config_entry("missing_key")
    with pytest.raises(AttributeError):
        options.strange = 1


def test_module_calls():
    assert roundhouse.get_available_providers() == CPU
    assert roundhouse.get_device() == "CPU"
    assert set(roundhouse.get_available_providers()) < set(roundhouse.get_all_providers())
    assert roundhouse.get_version_string() == roundhouse.__version__
    assert roundhouse.__version__.split(".")[:2] == onnxruntime.__version__.split(".")[:2]
    assert "Roundhouse" in roundhouse.get_build_info()
    roundhouse.disable_telemetry_events()
    assert roundhouse.has_collective_ops() is False


@BOTH
def test_default_severity(module):
    module.set_default_logger_severity(3)
    with pytest.raises(RuntimeError):
        module.set_default_logger_severity(9)
    module.set_default_logger_severity(2)


@pytest.mark.parametrize(
    "name",
    "EPFail EngineError Fail InvalidArgument InvalidGraph InvalidProtobuf ModelLoadCanceled ModelLoaded ModelRequiresCompilation NoModel"
    " NoSuchFile NotFound NotImplemented RuntimeException".split(),
)
def test_exceptions_are_there_under_the_names_of_the_reference(name):
    assert issubclass(getattr(roundhouse, name), Exception)
    assert hasattr(onnxruntime.capi.onnxruntime_pybind11_state, name)


@pytest.mark.parametrize(
    "enum", ["GraphOptimizationLevel", "ExecutionMode", "ExecutionOrder", "OrtAllocatorType", "OrtMemType", "OrtSparseFormat"]
)
def test_enumerations_equal_the_reference(enum):
    reference, ours = getattr(onnxruntime, enum), getattr(roundhouse, enum)
    assert {name: int(value) for name, value in reference.__members__.items()} == {name: int(ours[name]) for name in reference.__members__}


@pytest.mark.parametrize(
    "enum",
    [
        "OrtAllocatorType",
        "OrtMemType",
        "OrtSparseFormat",
        "OrtDeviceMemoryType",
        "OrtMemoryInfoDeviceType",
        "OrtCompileApiFlags",
        "GraphOptimizationLevel",
    ],
)
def test_the_text_of_enumerations_equals_the_reference(enum):
    reference, ours = (getattr(module.capi.onnxruntime_pybind11_state, enum) for module in (onnxruntime, roundhouse))
    texts = [[(str(getattr(kind, name)), f"{getattr(kind, name)}") for name in reference.__members__] for kind in (reference, ours)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(("name", "kind"), [("cpu", 0), ("cuda", 1), ("gpu", 1), ("npu", 3)])
def test_devices(name, kind):
    device = roundhouse.OrtDevice.make(name, 2)
    assert (device.device_type(), device.device_id()) == (kind, 2)
    with pytest.raises(ValueError, match="strange"):
        roundhouse.OrtDevice.make("strange", 0)


@BOTH
def test_memory_information(module):
    info = module.OrtMemoryInfo("Cpu", module.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, module.OrtMemType.DEFAULT)
    assert (info.name, info.device_id) == ("Cpu", 0)
    assert info.mem_type == module.OrtMemType.DEFAULT
    assert info.allocator_type == module.OrtAllocatorType.ORT_ARENA_ALLOCATOR


@BOTH
def test_shared_allocators(module, feed):
    settings = module.OrtArenaCfg({"max_mem": 1 << 24})
    assert (settings.max_mem, settings.arena_extend_strategy) == (1 << 24, -1)
    with pytest.raises(RuntimeError):
        module.OrtArenaCfg({"strange": 1})
    info = module.OrtMemoryInfo("Cpu", module.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, module.OrtMemType.DEFAULT)
    module.create_and_register_allocator(info, settings)
    options = module.SessionOptions()
    options.add_session_config_entry("session.use_env_allocators", "1")
    made = module.InferenceSession(models.add(), options, providers=CPU)
    np.testing.assert_array_equal(made.run(None, feed)[0], feed["a"] + feed["b"])


def test_debug_information(capsys):
    roundhouse.print_debug_info()
    assert "CPUExecutionProvider" in capsys.readouterr().out


def test_versions_that_are_not_released(feed):
    """`session.allow_released_opsets_only` = 0: a version that is not known is taken for the newest that is."""
    newer = onnx.load_from_string(models.add())
    newer.opset_import[0].version = 99
    model = newer.SerializeToString()
    with pytest.raises(Exception, match="opset 99"):
        roundhouse.InferenceSession(model, providers=CPU)
    options = roundhouse.SessionOptions()
    options.add_session_config_entry("session.allow_released_opsets_only", "0")
    made = roundhouse.InferenceSession(model, options, providers=CPU)
    np.testing.assert_array_equal(made.run(None, feed)[0], feed["a"] + feed["b"])
