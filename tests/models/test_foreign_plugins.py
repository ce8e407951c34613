"""Providers that others built, in their own packages: they register, list devices, take nodes, and agree with the CPU."""

import importlib.util
import os
import pathlib

import numpy as np
import pytest
from common import BUILD, HALF_TOLERANCE, MODELS, TOLERANCE, assert_outputs_close, model_path, sample_inputs
from onnx import TensorProto, helper, numpy_helper

import roundhouse

#: Package, library in it, options that ask for float32.
PLUGINS = {
    "nxrt_ep_cpu": ("libonnx_runtime_ep_cpu_plugin.so", {}),
    "onnxruntime_ep_openvino": (
        "libonnxruntime_providers_openvino_plugin.so",
        {"load_config": '{"CPU": {"INFERENCE_PRECISION_HINT": "f32"}}'},
    ),
}


def folder_of(package):
    """Where a package is installed: beside the tests, or where ROUNDHOUSE_FOREIGN_PLUGINS says."""
    named = os.environ.get("ROUNDHOUSE_FOREIGN_PLUGINS")
    if named:
        folder = pathlib.Path(named) / package
        return folder if folder.is_dir() else None
    spec = importlib.util.find_spec(package)
    return pathlib.Path(spec.submodule_search_locations[0]) if spec else None


@pytest.fixture(scope="module", params=PLUGINS)
def plugin(request):
    """Name of a package, its first device, and options."""
    library, options = PLUGINS[request.param]
    folder = folder_of(request.param)
    if folder is None:
        pytest.skip(f"the package {request.param} is not installed")
    registered = folder / library
    if request.param == "onnxruntime_ep_openvino":  # it takes processors of Intel alone, though it runs on others
        os.environ["RH_TEST_VIEWED_LIBRARY"] = str(registered)
        registered = BUILD / "release" / "lib" / "intel_view_plugin.so"
    roundhouse.register_execution_provider_library("foreign", str(registered))
    listed = [d for d in roundhouse.get_ep_devices() if d.ep_metadata.get("library_path") == str(registered)]
    assert listed, f"{request.param} finds no device that it can use on this machine"
    yield request.param, listed[:1], options
    roundhouse.unregister_execution_provider_library("foreign")


def tolerance_of(name):
    """The CPU alone computes products of 8-bit values in integers; a plugin widens them."""
    if "int8" in name:
        return 0.15
    return 5e-2 if "int4" in name else HALF_TOLERANCE if "16" in name else TOLERANCE


@pytest.mark.parametrize("name", MODELS)
def test_agrees_with_the_cpu(plugin, name):
    package, device, options = plugin
    path = str(model_path(name))
    settings = roundhouse.SessionOptions()
    settings.add_provider_for_devices(device, options)
    feeds = sample_inputs(path)
    session = roundhouse.InferenceSession(path, settings)
    assert session.get_providers()[0] == device[0].ep_name
    if (package, name) == ("nxrt_ep_cpu", "whisper_tiny_encoder"):  # it takes a symbolic dimension for 0, in any host
        with pytest.raises(roundhouse.Fail):
            session.run(None, feeds)
        return
    plain = roundhouse.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [o.name for o in plain.get_outputs()]
    actual, expected = session.run(None, feeds), plain.run(None, feeds)
    if name.startswith("ssdlite"):  # detections of equal scores come in any order
        actual, expected = ([np.sort(values, axis=0) for values in side] for side in (actual, expected))
    assert_outputs_close(names, actual, expected, tolerance_of(name))


def small_network():
    """Five nodes: a convolution, its activation, and a classifier."""
    rng = np.random.default_rng(0)
    weights = {"w": (8, 3, 3, 3), "b": (8,), "u": (10, 8), "v": (10,)}
    initializers = [numpy_helper.from_array(rng.standard_normal(s, dtype=np.float32) / 10, n) for n, s in weights.items()]
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("Gemm", ["f", "u", "v"], ["y"], transB=1),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "small", [value("x", TensorProto.FLOAT, [1, 3, 16, 16])], [value("y", TensorProto.FLOAT, [1, 10])], initializers
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString(), {"x": rng.standard_normal((1, 3, 16, 16), dtype=np.float32)}


def test_qnn_runs_channels_last():
    """Qualcomm's HTP simulates itself on this processor; it wants channels last, so nodes are converted and it is asked twice."""
    folder = folder_of("onnxruntime_qnn")
    if folder is None:
        pytest.skip("the package onnxruntime_qnn is not installed")
    roundhouse.register_execution_provider_library("QNNExecutionProvider", str(folder / "libonnxruntime_providers_qnn.so"))
    try:
        devices = [d for d in roundhouse.get_ep_devices() if d.ep_name == "QNNExecutionProvider"]
        model, feeds = small_network()
        settings = roundhouse.SessionOptions()
        settings.add_provider_for_devices(devices[:1], {"backend_path": str(folder / "libQnnHtp.so")})
        session = roundhouse.InferenceSession(model, settings)
        assert session.placement_summary() == {"QNNExecutionProvider": 5}
        expected = roundhouse.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, feeds)
        np.testing.assert_allclose(session.run(None, feeds)[0], expected[0], atol=1e-6, rtol=0)
    finally:
        roundhouse.unregister_execution_provider_library("QNNExecutionProvider")


def test_a_virtual_device_compiles_only():
    """Of a registration name that ends in ".virtual" WebGPU's plugin makes a device without hardware, and says what it is good for."""
    folder = folder_of("onnxruntime_ep_webgpu")
    if folder is None:
        pytest.skip("the package onnxruntime_ep_webgpu is not installed")
    library = str(folder / "libonnxruntime_providers_webgpu.so")
    roundhouse.register_execution_provider_library("webgpu.virtual", library)
    try:
        devices = [d for d in roundhouse.get_ep_devices() if d.ep_name == "WebGpuExecutionProvider"]
        assert len(devices) == 1
        settings = roundhouse.SessionOptions()
        settings.add_provider_for_devices(devices, {})
        with pytest.raises(roundhouse.InvalidArgument, match="virtual GPU device"):
            roundhouse.InferenceSession(str(model_path("lstm_tagger")), settings)
    finally:
        roundhouse.unregister_execution_provider_library("webgpu.virtual")
