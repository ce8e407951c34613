"""Compiling models ahead of time, and the devices that providers run on: side by side with the onnxruntime package."""

import os

import models
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

import roundhouse

CPU = ["CPUExecutionProvider"]
BOTH = pytest.mark.parametrize("module", [roundhouse, onnxruntime], ids=lambda m: m.__name__)


def weighted():
    """y[N, 64] = Identity(x * w + b): with something to take away, and weights of 256 bytes."""
    weights = [numpy_helper.from_array(np.full(64, value, np.float32), name) for name, value in (("w", 3), ("b", 0.5))]
    nodes = [
        helper.make_node("Mul", ["x", "w"], ["p"]),
        helper.make_node("Add", ["p", "b"], ["q"]),
        helper.make_node("Identity", ["q"], ["y"]),
    ]
    return models.model(nodes, [models.tensor("x", shape=("N", 64))], [models.tensor("y", shape=("N", 64))], weights)


@pytest.fixture
def path(tmp_path):
    target = tmp_path / "model.onnx"
    target.write_bytes(weighted())
    return target


def check(module, model):
    session = module.InferenceSession(model if isinstance(model, bytes) else str(model), providers=CPU)
    np.testing.assert_array_equal(session.run(None, {"x": np.ones((1, 64), np.float32)})[0], np.full((1, 64), 3.5, np.float32))


def operators(path):
    return [node.op_type for node in onnx.load(path, load_external_data=False).graph.node]


@BOTH
def test_to_file_as_optimised(module, path, tmp_path):
    out = str(tmp_path / "out.onnx")
    module.ModelCompiler(module.SessionOptions(), str(path)).compile_to_file(out)
    check(module, out)
    assert operators(out) == ["Mul", "Add", "Identity"]
    basic = module.GraphOptimizationLevel.ORT_ENABLE_BASIC
    module.ModelCompiler(module.SessionOptions(), str(path), graph_optimization_level=basic).compile_to_file(out)
    check(module, out)
    assert operators(out) == ["Mul", "Add"]


def test_to_file_beside_the_input(path, tmp_path):
    roundhouse.ModelCompiler(roundhouse.SessionOptions(), path).compile_to_file()
    check(roundhouse, tmp_path / "model_ctx.onnx")


@BOTH
def test_to_bytes_and_stream(module, path):
    compiler = module.ModelCompiler(module.SessionOptions(), path.read_bytes())
    check(module, compiler.compile_to_bytes())
    chunks = []
    compiler.compile_to_stream(chunks.append)
    check(module, b"".join(chunks))

    def fail(_):
        raise ValueError("no room left")

    with pytest.raises(module.capi.onnxruntime_pybind11_state.Fail if module is onnxruntime else module.Fail, match="no room left"):
        compiler.compile_to_stream(fail)


@BOTH
def test_external_initializers(module, path, tmp_path):
    out = str(tmp_path / "out.onnx")
    compiler = module.ModelCompiler(
        module.SessionOptions(), str(path), external_initializers_file_path="weights.bin", external_initializers_size_threshold=100
    )
    compiler.compile_to_file(out)
    check(module, out)
    assert os.path.getsize(tmp_path / "weights.bin") >= 512


@BOTH
def test_initializers_where_the_caller_wants(module, path, tmp_path):
    out, placed = str(tmp_path / "out.onnx"), tmp_path / "placed.bin"
    seen = {}

    def locate(name, value, info):
        seen[name] = (value.shape(), info)
        if name == "b":
            return None
        placed.write_bytes(value.numpy().tobytes())
        return module.OrtExternalInitializerInfo("placed.bin", 0, value.tensor_size_in_bytes())

    module.ModelCompiler(module.SessionOptions(), str(path), get_initializer_location_func=locate).compile_to_file(out)
    assert seen == {"w": ([64], None), "b": ([64], None)}
    check(module, out)


@BOTH
def test_refusals(module, path, tmp_path):
    errors = module.capi.onnxruntime_pybind11_state if module is onnxruntime else module
    out = tmp_path / "out.onnx"
    flags = module.OrtCompileApiFlags
    options = module.SessionOptions()
    with pytest.raises(errors.Fail):
        module.ModelCompiler(options, str(path), flags=flags.ERROR_IF_NO_NODES_COMPILED).compile_to_file(str(out))
    assert not out.exists()
    out.write_bytes(b"")
    with pytest.raises(errors.Fail):
        module.ModelCompiler(options, str(path), flags=flags.ERROR_IF_OUTPUT_FILE_EXISTS).compile_to_file(str(out))
    with pytest.raises(errors.InvalidArgument):
        module.ModelCompiler(options, str(tmp_path / "missing.onnx")).compile_to_file(str(out))
    with pytest.raises(TypeError):
        module.ModelCompiler(options, 123)
    with pytest.raises(ValueError):
        module.ModelCompiler(options, str(path), external_initializers_file_path="w.bin", get_initializer_location_func=lambda *_: None)


@BOTH
def test_a_session_without_compiled_parts_writes_no_context(module, path, tmp_path):
    options = module.SessionOptions()
    options.add_session_config_entry("ep.context_enable", "1")
    options.add_session_config_entry("ep.context_file_path", str(tmp_path / "ctx.onnx"))
    module.InferenceSession(str(path), options, providers=CPU)
    assert not (tmp_path / "ctx.onnx").exists()


def facts(device):
    return (str(device.type), device.vendor, device.vendor_id, device.device_id, dict(device.metadata))


def test_devices_are_those_of_the_other_package():
    ours, theirs = roundhouse.get_ep_devices(), onnxruntime.get_ep_devices()
    assert ours[0].ep_name == "CPUExecutionProvider"
    assert facts(ours[0].device) == facts(next(d for d in theirs if d.ep_name == "CPUExecutionProvider").device)
    assert ours[0].ep_options == {}
    assert "version" in ours[0].ep_metadata
    native = onnxruntime.capi._pybind_state
    assert sorted(map(repr, map(facts, roundhouse._native.get_hardware_devices()))) == sorted(
        map(repr, map(facts, native.get_hardware_devices()))
    )


def test_compatibility(path):
    native = roundhouse._native
    model = onnx.load(path)
    model.metadata_props.add(key="ep_compatibility_info.Some", value="version 1")
    onnx.save(model, path)
    for module in (native, onnxruntime.capi._pybind_state):
        assert module.get_compatibility_info_from_model(str(path), "Some") == "version 1"
        assert module.get_compatibility_info_from_model_bytes(path.read_bytes(), "Other") is None
    device = roundhouse.get_ep_devices()[0]
    assert native.get_model_compatibility_for_ep_devices([device], "version 1") == 0
    details = native.get_hardware_device_ep_incompatibility_details("CPUExecutionProvider", device.device)
    assert details["reasons_bitmask"] == 0 and details["error_code"] == 0
