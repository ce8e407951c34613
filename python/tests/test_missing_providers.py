"""A provider that is wanted and cannot be had: an error with its cause, or a warning with the same words under the name onnxruntime."""

import json
import os
import pathlib
import subprocess
import sys

import models
import numpy as np
import pytest
from onnx import helper

import roundhouse

LIBRARIES = pathlib.Path(os.environ.get("ROUNDHOUSE_LIBRARY_DIR", pathlib.Path(roundhouse.__file__).parents[2] / "lib"))
PLUGIN = LIBRARIES / "faulty_plugin.so"

SAYS = {
    "unknown name": ["no execution provider is called", "nearest name is 'CUDAExecutionProvider'"],
    "gone for good": ["was removed", "ACLExecutionProvider takes its place"],
    "another system's": ["runs on Windows only", "leave it out"],
    "not installed": ["is not installed", "roundhouse_provider_tensorrt", "ROUNDHOUSE_PROVIDER_PATH"],
    "no library": ["does not load", "roundhouse_provider_xnnpack.so", "built for this system"],
    "a missing dependency": ["does not load", "libgone_rh.so", "LD_LIBRARY_PATH"],
    "no provider in it": ["no provider library", "does not export CreateEpFactories"],
    "another version": ["CreateEpFactories failed", "needs API version 99"],
    "no device": ["finds no device", "roundhouse_provider_cann.so", "leave it out"],
    "it fails": ["ACLExecutionProvider", "CreateEp failed", "out of memory"],
    "it refuses an option": ["VitisAIExecutionProvider", "no option 'speed'"],
    "it hangs": ["RknpuExecutionProvider", "did not return in 1000 ms"],
}


def outcomes(folder, module, fallback=""):
    program = pathlib.Path(__file__).parent / "want_providers.py"
    paths = [str(pathlib.Path(roundhouse.__file__).resolve().parents[1]), os.environ.get("PYTHONPATH")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, str(program), module, fallback, str(folder), str(PLUGIN)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_messages(messages):
    assert messages.keys() == SAYS.keys()
    for way, parts in SAYS.items():
        assert all(part in messages[way] for part in parts), (way, messages[way])
    assert len(set(messages.values())) == len(SAYS)


pytestmark = pytest.mark.skipif(not PLUGIN.exists(), reason=f"{PLUGIN} is not built")


@pytest.fixture
def fake_device():
    roundhouse.register_execution_provider_library("fake", str(LIBRARIES / "roundhouse_provider_fake_device.so"))
    yield "FakeDeviceExecutionProvider"
    roundhouse.unregister_execution_provider_library("fake")


def adding_session(fake_device, fault, fallback="warn", **arguments):
    """A session of one Add on a device with a fault."""
    options = roundhouse.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("roundhouse.fallback", fallback)
    model = models.model(
        [helper.make_node("Add", ["a", "b"], ["y"])],
        [models.tensor("a", shape=(2, 3)), models.tensor("b", shape=(2, 3))],
        [models.tensor("y", shape=(2, 3))],
    )
    return roundhouse.InferenceSession(model, options, providers=[(fake_device, {"fail": fault}), "CPUExecutionProvider"], **arguments)


@pytest.mark.parametrize("by_values", [False, True])
def test_a_provider_that_fails_in_a_run(fake_device, by_values):
    feeds = {"a": np.ones((2, 3), np.float32), "b": np.full((2, 3), 2, np.float32)}

    def run(session):
        if not by_values:
            return session.run(None, feeds)[0]
        values = {name: roundhouse.OrtValue.ortvalue_from_numpy(value) for name, value in feeds.items()}
        return session.run_with_ort_values(None, values)[0].numpy()

    made = adding_session(fake_device, "run")
    assert made.get_providers()[0] == fake_device
    with pytest.warns(UserWarning, match="with the CPU alone.*failure injected at run"):
        np.testing.assert_array_equal(run(made), feeds["a"] + feeds["b"])
    assert made.get_providers() == ["CPUExecutionProvider"]
    run(made)
    for strict in (adding_session(fake_device, "run", enable_fallback=0), adding_session(fake_device, "run", "error")):
        with pytest.raises(roundhouse.EPFail, match="failure injected at run"):
            run(strict)


@pytest.mark.parametrize(
    ("fault", "says"), [("create", "^FakeDevice.*CreateEp failed"), ("kernel", "with the CPU alone.*the kernel of Add")]
)
def test_a_provider_that_fails_while_the_session_is_made(fake_device, fault, says):
    with pytest.warns(UserWarning, match=says):
        made = adding_session(fake_device, fault)
    assert made.get_providers() == ["CPUExecutionProvider"]
    with pytest.raises(RuntimeError, match="failure injected at " + fault):
        adding_session(fake_device, fault, enable_fallback=0)
    made.disable_fallback()
    with pytest.raises(RuntimeError, match="failure injected at " + fault):
        made.set_providers([(fake_device, {"fail": fault})])


@pytest.mark.parametrize(("module", "fallback"), [("roundhouse", ""), ("onnxruntime", "error")])
def test_each_way_is_an_error_with_its_cause(tmp_path, module, fallback):
    results = outcomes(tmp_path, module, fallback)
    check_messages({way: result.get("error", "") for way, result in results.items()})


@pytest.mark.parametrize(("module", "fallback"), [("onnxruntime", ""), ("roundhouse", "warn")])
def test_or_a_warning_and_it_goes_on(tmp_path, module, fallback):
    results = outcomes(tmp_path, module, fallback)
    for way, result in results.items():
        assert result.get("providers") == ["CPUExecutionProvider"], (way, result)
    check_messages({way: "; ".join(result["warnings"]) for way, result in results.items()})


def split_model():
    """a = Relu(x), y = a + Neg(a): the plugin claims the first node and the last one as one unit."""
    nodes = [helper.make_node(op, list(i), [o], name=o) for op, i, o in (("Relu", "x", "a"), ("Neg", "a", "b"), ("Add", "ab", "y"))]
    graph = helper.make_graph(nodes, "g", [models.tensor("x", shape=(4,))], [models.tensor("y", shape=(4,))])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


@pytest.mark.parametrize("fallback", ["", "warn", "error"])
def test_claims_that_cannot_be_are_errors_where_that_is_written(fallback, monkeypatch):
    monkeypatch.setenv("RH_FAULT", "capability_makes_a_cycle")
    roundhouse.register_execution_provider_library("faulty", str(PLUGIN))
    try:
        options = roundhouse.SessionOptions()
        options.log_severity_level = 4
        options.add_provider_for_devices([d for d in roundhouse.get_ep_devices() if d.ep_name == "FaultyExecutionProvider"], {})
        if fallback:
            options.add_session_config_entry("roundhouse.fallback", fallback)
        if fallback == "error":
            with pytest.raises(roundhouse.EPFail, match="its claim of 2 nodes cannot be one unit"):
                roundhouse.InferenceSession(split_model(), options)
            return
        session = roundhouse.InferenceSession(split_model(), options)
        assert session.placement_summary() == {"CPUExecutionProvider": 3}
        assert {r["code"] for node in session.placement() for r in node["refusals"]} >= {"unit"}
        np.testing.assert_array_equal(session.run(None, {"x": np.ones(4, np.float32)})[0], np.zeros(4, np.float32))
    finally:
        roundhouse.unregister_execution_provider_library("faulty")
