"""Providers in shared libraries: registered, listed, asked for by device, by name and by choice."""

import os
import pathlib

import models
import numpy as np
import pytest
from onnx import helper

import roundhouse

LIBRARIES = pathlib.Path(os.environ.get("ROUNDHOUSE_LIBRARY_DIR", pathlib.Path(roundhouse.__file__).parents[2] / "lib"))
EXAMPLE = "ExampleExecutionProvider"
FAKE = "FakeDeviceExecutionProvider"


@pytest.fixture(params=[(EXAMPLE, "example"), (FAKE, "fake_device")], ids=["example", "fake_device"])
def provider(request):
    name, library = request.param
    path = LIBRARIES / f"roundhouse_provider_{library}.so"
    if not path.exists():
        pytest.skip(f"{path} is not built")
    roundhouse.register_execution_provider_library(library, str(path))
    yield name
    roundhouse.unregister_execution_provider_library(library)


def devices_of(name):
    return [d for d in roundhouse.get_ep_devices() if d.ep_name == name]


def chain():
    """relu(a + b) and its exponential: the first two nodes suit both providers, the last one none of them."""
    return models.model(
        [
            helper.make_node("Add", ["a", "b"], ["s"]),
            helper.make_node("Relu", ["s"], ["r"]),
            helper.make_node("Exp", ["r"], ["y"]),
        ],
        [models.tensor("a", shape=(2, 3)), models.tensor("b", shape=(2, 3))],
        [models.tensor("y", shape=(2, 3))],
    )


def check(session, name):
    assert session.get_providers() == [name, "CPUExecutionProvider"]
    feeds = {i.name: np.arange(6, dtype=np.float32).reshape(2, 3) for i in session.get_inputs()}
    plain = roundhouse.InferenceSession(chain(), providers=["CPUExecutionProvider"])
    np.testing.assert_array_equal(session.run(None, feeds)[0], plain.run(None, feeds)[0])
    return {node["provider"] for node in session.placement()}


def test_the_cpu_is_a_device():
    cpu = roundhouse.get_ep_devices()[0]
    assert (cpu.ep_name, cpu.device.type) == ("CPUExecutionProvider", roundhouse.OrtHardwareDeviceType.CPU)


def test_devices(provider):
    (device,) = devices_of(provider)
    assert device.ep_vendor == "Roundhouse"
    assert device.ep_metadata["version"] == "1.0.0"
    if provider == EXAMPLE:
        with pytest.raises(ValueError, match="no memory of this type"):
            device.memory_info(roundhouse.OrtDeviceMemoryType.DEFAULT)
    else:
        assert device.memory_info(roundhouse.OrtDeviceMemoryType.DEFAULT).name == "FakeDevice"


def test_by_device(provider):
    options = roundhouse.SessionOptions()
    options.add_provider_for_devices(devices_of(provider), {"delay_us": "50"})
    assert options.has_providers()
    assert provider in check(roundhouse.InferenceSession(chain(), options), provider)


def test_by_name(provider):
    assert roundhouse.get_available_providers() == [provider, "CPUExecutionProvider"]
    session = roundhouse.InferenceSession(chain(), providers=[(provider, {"delay_us": "10"})])
    assert provider in check(session, provider)
    assert session.get_provider_options()[provider] == {"delay_us": "10"}
    session.set_providers(["CPUExecutionProvider"])
    assert session.get_providers() == ["CPUExecutionProvider"]


def test_by_delegate(provider):
    seen = []

    def choose(devices, model, runtime, most):
        seen.append((len(devices), most))
        return [d for d in devices if d.ep_name == provider]

    options = roundhouse.SessionOptions()
    options.set_provider_selection_policy_delegate(choose)
    check(roundhouse.InferenceSession(chain(), options), provider)
    assert len(seen) == 1


def test_a_delegate_that_fails_says_why(provider):
    options = roundhouse.SessionOptions()
    options.set_provider_selection_policy_delegate(lambda *_: 1 / 0)
    with pytest.raises(roundhouse.Fail, match="ZeroDivisionError"):
        roundhouse.InferenceSession(chain(), options)


def test_policies_take_the_cpu_where_there_is_nothing_else():
    for policy in (0, 1, 2, 3, 4, 5, 6):
        options = roundhouse.SessionOptions()
        options.set_provider_selection_policy(roundhouse.OrtExecutionProviderDevicePolicy(policy))
        assert roundhouse.InferenceSession(chain(), options).get_providers() == ["CPUExecutionProvider"]


def test_no_library():
    with pytest.raises(roundhouse.Fail, match="no_such"):
        roundhouse.register_execution_provider_library("x", "/tmp/no_such.so")
    with pytest.raises(roundhouse.Fail, match="registered as 'x'"):
        roundhouse.unregister_execution_provider_library("x")
