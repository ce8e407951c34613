"""What a provider has uploaded the host gives back: after a session is made, the weights are there once. Where there is no memory, that is
said with its code."""

import gc
import subprocess
import sys

import pytest
from hosts import FAKE, HOSTS, floats, registered, session
from test_device import islands

import roundhouse

hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)

PROGRAM = """
import gc, sys
sys.path[:0] = {path!r}
import numpy as np
from hosts import FAKE, devices_of, floats, model_of, registered, tensor
from onnx import helper
import roundhouse

def anonymous_mib():
    return next(int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith("RssAnon"))

nodes = [helper.make_node("Add", ["x", "w"], ["m"], "a"), helper.make_node("Relu", ["m"], ["y"], "b")]
model = model_of(nodes, [tensor("x", [1, 4096])], [tensor("y", [8192, 4096])], {{"w": floats(8192, 4096)}})
gc.collect()
with registered(roundhouse, FAKE):
    options = roundhouse.SessionOptions()
    options.add_provider_for_devices(devices_of(roundhouse, FAKE)[:1], {{"kind": "regions", "claim": "0:100"}})
    before = anonymous_mib()
    session = roundhouse.InferenceSession(model, options)
    gc.collect()
    print(anonymous_mib() - before)
    assert {{row["provider"] for row in session.placement()}} == {{FAKE}}
    del session
"""


def test_weights_that_a_device_has_are_not_on_the_host_too():
    program = PROGRAM.format(path=sys.path)
    grown = float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120).stdout)
    assert 128 <= grown <= 1.1 * 128  # the device's memory is this process's


def kind_of_failure(call):
    try:
        call()
    except Exception as error:  # noqa: BLE001 - each host has its own
        return type(error).__name__, str(error)
    raise AssertionError("it did not fail")


@hosts
@pytest.mark.parametrize("call", ["compile", "run", "alloc"])
def test_want_of_memory_keeps_its_code(host, call):
    if call == "alloc" and host is not roundhouse:
        pytest.skip("what it says of an allocator that gives nothing is its own")
    settings = {"claim": "=b,y", "fail": call, "fail_with": "memory", "fail_times": "1"}
    with registered(host, FAKE):
        if call == "compile":
            kind, said = kind_of_failure(lambda: session(host, FAKE, islands(), settings))
        else:
            given = session(host, FAKE, islands(), {**settings, "fail_after": "1" if call == "alloc" else "0"})
            given.disable_fallback()
            kind, said = kind_of_failure(lambda: given.run(None, {"x": floats(3, 8)}))
            del given
        gc.collect()
        assert kind == "RuntimeException" and "memory" in said, (kind, said)
