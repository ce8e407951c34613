"""Devices of providers on the kit are listed as what they are, and policies choose by that: the same in both hosts."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import importlib, json, sys
sys.path[:0] = PATHS
from hosts import FAKE, floats, registered
from test_device import islands
host = importlib.import_module(sys.argv[1])
CPU = "CPUExecutionProvider"
with registered(host, FAKE):
    devices = [d for d in host.get_ep_devices() if d.ep_name == FAKE]
    said = {"listed": [[d.device.type.name, d.device.vendor_id, d.ep_metadata["device_id"]] for d in devices], "chosen": {}}
    for policy in ("PREFER_CPU", "PREFER_GPU", "PREFER_NPU", "MAX_PERFORMANCE", "MIN_OVERALL_POWER"):
        options = host.SessionOptions()
        options.log_severity_level = 4
        options.set_provider_selection_policy(getattr(host.OrtExecutionProviderDevicePolicy, policy))
        session = host.InferenceSession(islands(), options)
        session.run(None, {"x": floats(2, 8)})
        said["chosen"][policy] = FAKE in session.get_providers()
        del session
    print(json.dumps(said))
"""
CHOSEN = {"gpu": "PREFER_GPU", "npu": "PREFER_NPU", "cpu": "PREFER_CPU"}


@pytest.mark.parametrize("hardware", CHOSEN)
def test_a_device_is_what_its_provider_says(hardware, monkeypatch):
    monkeypatch.setenv("FAKE_DEVICE_HARDWARE", hardware)
    monkeypatch.setenv("FAKE_DEVICE_COUNT", "2")
    said = {}
    for host in ("onnxruntime", "roundhouse"):
        command = [sys.executable, "-c", PROGRAM.replace("PATHS", repr(sys.path)), host]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
        said[host] = json.loads(done.stdout.splitlines()[-1])
    ours = said["roundhouse"]
    assert ours == said["onnxruntime"]
    assert [row[0] for row in ours["listed"]] == [hardware.upper()] * 2 and [row[2] for row in ours["listed"]] == ["0", "1"]
    if hardware != "cpu":
        assert all(row[1] == 0xFADE for row in ours["listed"])
    assert ours["chosen"][CHOSEN[hardware]]
    if hardware == "npu":
        assert not ours["chosen"]["PREFER_GPU"]
