"""Devices that plugins offer, and what policies and delegates choose among them: as in ONNX Runtime."""

import functools
import json
import pathlib
import subprocess
import sys

import pytest
import selections

import roundhouse

CPU = "CPUExecutionProvider"


@functools.cache
def found(module):
    command = [sys.executable, str(pathlib.Path(selections.__file__)), module]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout)


def comparable(outcomes):
    """Roundhouse's CPU comes last wherever it stands, has another vendor, and models no name of their graph for delegates."""
    for device in outcomes["devices"]:
        if device[0] == CPU:
            device[1] = ""
    for seen, result in outcomes["delegates"].values():
        seen[0][1].pop("graph_name", None)
        if isinstance(result, list):
            result[0] = sorted(result[0], key=lambda name: name == CPU)
    return outcomes


@pytest.mark.parametrize("name", selections.PROVIDERS)
def test_selections_are_those_of_the_stock_library(name):
    ours, stock = (comparable(found(module)[name]) for module in ("roundhouse", "onnxruntime"))
    for kind, expected in stock.items():
        assert ours[kind] == expected, kind


def test_keys_of_providers_reach_them():
    """Of the session, of the run; a device's own option where the session says nothing."""
    case = found("roundhouse")["others' kinds"]
    made_for_gpu, made_for_processor, *runs = case["policies"][3][1]
    assert made_for_gpu == "A made for 1/1, speed 7"
    assert made_for_processor.endswith(", speed 7")
    assert runs == ["A runs with aa", "B runs with bb"]
    assert case["with an entry of the session"][1][0] == "A made for 1/1, speed 9"


def test_a_library_of_the_small_kit_serves_one_runtime_at_a_time():
    """Its tables are of the process: the second runtime is told, and has it when the first one has let it go."""
    program = f"""
import sys
sys.path[:0] = {sys.path!r}
import onnxruntime, roundhouse
from selections import LIBRARIES
library = str(LIBRARIES / "roundhouse_provider_example.so")
for first, second in ((onnxruntime, roundhouse), (roundhouse, onnxruntime)):
    first.register_execution_provider_library("example", library)
    try:
        second.register_execution_provider_library("example", library)
        raise SystemExit("both have it")
    except Exception as error:
        assert "is in use by another runtime of this process" in str(error), error
    first.unregister_execution_provider_library("example")
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_our_providers_list_their_devices():
    names = {"example": "ExampleExecutionProvider", "fake_device": "FakeDeviceExecutionProvider", "sample": "SampleExecutionProvider"}
    for key in names:
        roundhouse.register_execution_provider_library(key, str(selections.LIBRARIES / f"roundhouse_provider_{key}.so"))
    try:
        listed = [d.ep_name for d in roundhouse.get_ep_devices()]
        assert listed == [CPU, *names.values()]
    finally:
        for key in names:
            roundhouse.unregister_execution_provider_library(key)
