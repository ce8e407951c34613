"""What of the options reaches OpenVINO's C interface, by a stand-in that writes it down, and what is refused. No device is needed."""

import json
import os
import pathlib
import subprocess
import sys

import onnx
import pytest
from hosts import HOSTS, OPENVINO, dense, floats, model_of, registered, session, tensor
from onnx import helper
from recording import STAND_IN

import roundhouse

ROOT = pathlib.Path(__file__).resolve().parents[3]
hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)
F32 = "INFERENCE_PRECISION_HINT=f32"
CPU = f"CPU {F32} DYNAMIC_QUANTIZATION_GROUP_SIZE=0"


def compiled(lines):
    return [line.removeprefix("compile_model ") for line in lines if line.startswith("compile_model ")]


# Options, and the device and properties with which a region is compiled.
COMPILED = [
    ({}, f"{CPU} NUM_STREAMS=1"),
    ({"device_type": "CPU"}, f"{CPU} NUM_STREAMS=1"),
    ({"device_type": "CPU_FP32"}, f"{CPU} NUM_STREAMS=1"),
    ({"device_type": "GPU_FP32"}, f"GPU {F32} NUM_STREAMS=1"),
    ({"device_type": "GPU_FP16"}, "GPU INFERENCE_PRECISION_HINT=f16 NUM_STREAMS=1"),
    ({"device_type": "GPU.1_FP16"}, "GPU.1 INFERENCE_PRECISION_HINT=f16 NUM_STREAMS=1"),
    ({"device_type": "GPU", "precision": "FP16"}, "GPU INFERENCE_PRECISION_HINT=f16 NUM_STREAMS=1"),
    ({"device_type": "GPU", "precision": "ACCURACY"}, "GPU EXECUTION_MODE_HINT=ACCURACY NUM_STREAMS=1"),
    ({"device_type": "AUTO:GPU,CPU"}, f"AUTO:GPU,CPU {F32}"),
    ({"device_type": "HETERO:GPU.0,CPU"}, f"HETERO:GPU.0,CPU {F32}"),
    ({"device_type": "MULTI:GPU,CPU"}, f"MULTI:GPU,CPU {F32}"),
    ({"device_id": "GPU"}, f"GPU {F32} NUM_STREAMS=1"),
    ({"num_of_threads": "3", "num_streams": "2"}, f"{CPU} INFERENCE_NUM_THREADS=3 NUM_STREAMS=2"),
    ({"device_type": "GPU", "model_priority": "HIGH"}, f"GPU {F32} NUM_STREAMS=1 MODEL_PRIORITY=HIGH"),
    ({"device_type": "AUTO:GPU,CPU", "cache_dir": "/a folder"}, f"AUTO:GPU,CPU {F32} CACHE_DIR=/a folder"),
    ({"device_type": "HETERO:CPU", "cache_dir": "/a folder", "cache": "0"}, f"HETERO:CPU {F32}"),
]


@hosts
@pytest.mark.parametrize(("settings", "expected"), COMPILED, ids=lambda v: json.dumps(v) if isinstance(v, dict) else "")
def test_what_a_region_is_compiled_with(stand_in, host, settings, expected):
    assert compiled(stand_in(settings, host)) == [expected]  # once: what is tried is what runs


# Options, and the lines that stand before anything is compiled.
SET = [
    ({"load_config": '{"CPU": {"PERF_COUNT": "YES"}}'}, ["set_property CPU PERF_COUNT=YES"]),
    (
        {"device_type": "AUTO:GPU,CPU", "load_config": '{"GPU": {"CACHE_MODE": "OPTIMIZE_SIZE", "X": 3}, "CPU": {"Y": true}}'},
        ["set_property CPU Y=true", "set_property GPU CACHE_MODE=OPTIMIZE_SIZE", "set_property GPU X=3"],
    ),
    ({"device_type": "GPU", "enable_opencl_throttling": "true"}, ["set_property GPU GPU_QUEUE_THROTTLE=LOW"]),
]


@pytest.mark.parametrize(("settings", "expected"), SET, ids=lambda v: "")
def test_what_is_set_on_devices(stand_in, settings, expected):
    lines = [line for line in stand_in(settings) if line.startswith("set_property")]
    assert [line for line in lines if "LP_TRANSFORMS_MODE" not in line] == expected


@pytest.mark.parametrize(("device", "is_cpu"), [("CPU", True), ("AUTO:GPU,CPU", True), ("GPU", False)])
def test_bytes_are_multiplied_where_their_sums_are_right(stand_in, device, is_cpu):
    """Without such instructions OpenVINO's sums of products of bytes end at the largest number of 16 bits."""
    words = set(pathlib.Path("/proc/cpuinfo").read_text().split())
    has_sums = bool(words & {"avx512_vnni", "avx_vnni"}) or "asimd" in words
    lines = stand_in({"device_type": device, "load_config": '{"CPU": {"LP_TRANSFORMS_MODE": "YES"}}'})
    found = [line for line in lines if "LP_TRANSFORMS_MODE" in line]
    assert found == ["set_property CPU LP_TRANSFORMS_MODE=NO"] * (is_cpu and not has_sums) + ["set_property CPU LP_TRANSFORMS_MODE=YES"]


def test_a_version_without_such_a_property_is_no_error(stand_in):
    assert compiled(stand_in(fault="ov_core_set_property: no such property"))


def test_a_file_of_properties(stand_in, tmp_path):
    config = tmp_path / "config.json"
    config.write_text('{"CPU": {"PERF_COUNT": "YES"}}')
    assert "set_property CPU PERF_COUNT=YES" in stand_in({"load_config": str(config)})


def test_inputs_are_reshaped(stand_in):
    lines = stand_in({"reshape_input": "x[1..8,4],x2[2,3]"})
    assert "reshape 0 1..8 4..4" in lines
    assert any(line.endswith("2..2 3..3") for line in lines if line.startswith("reshape "))


@pytest.mark.parametrize("settings", [{"device_type": "NPU"}, {"disable_dynamic_shapes": "true"}])
def test_open_sizes_wait_for_a_run(stand_in, settings):
    assert compiled(stand_in(settings)) == []


def test_threads_of_the_session(stand_in):
    def with_threads(count):
        record = pathlib.Path(os.environ["RH_OPENVINO_RECORD"])
        options = roundhouse.SessionOptions()
        options.intra_op_num_threads = count
        with registered(roundhouse, OPENVINO):
            devices = [d for d in roundhouse.get_ep_devices() if d.ep_name == OPENVINO]
            options.add_provider_for_devices(devices, {"library_path": str(STAND_IN)})
            record.write_text("")
            made = roundhouse.InferenceSession(dense(), options)
            del made
        return compiled(record.read_text().splitlines())

    assert with_threads(5) == [f"{CPU} INFERENCE_NUM_THREADS=5 NUM_STREAMS=1"]
    assert with_threads(0) == [f"{CPU} NUM_STREAMS=1"]


@hosts
def test_weights_in_a_file_are_not_copied(stand_in, host, tmp_path):
    weights = {"w": floats(40, 30), "b": floats(30)}
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Add", ["p", "b"], ["y"])]
    model = onnx.load_from_string(model_of(nodes, [tensor("x", ["N", 40])], [tensor("y", ["N", 30])], weights))
    in_memory = [line for line in stand_in(host=host, model=model.SerializeToString()) if line.startswith("weight ")]
    onnx.save(model, tmp_path / "model.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    in_file = [line for line in stand_in(host=host, model=str(tmp_path / "model.onnx")) if line.startswith("weight ")]
    assert in_memory == ["weight in memory"]  # the bias, below a kilobyte, stands in the model
    assert in_file == ["weight in weights.bin"]


REFUSED = [
    ({"device_type": "TPU"}, "device_type is 'TPU', expected CPU, GPU, NPU"),
    ({"device_type": "MYRIAD_FP16"}, "which OpenVINO has no more"),
    ({"device_type": "HETERO:GPU,TPU"}, "device_type is 'HETERO:GPU,TPU', expected"),
    ({"device_type": "GPU", "device_id": "CPU"}, "give device_type alone"),
    ({"device_type": "GPU_FP16", "precision": "FP32"}, "give one of them"),
    ({"device_luid": "1234"}, "name the device by device_type"),
    ({"context": "0x1234"}, "no OpenCL context is shared"),
    ({"enable_qdq_optimizer": "true"}, "go to OpenVINO as the model has them"),
    ({"enable_causallm": "true"}, "its inputs and outputs stay as they are"),
    ({"layout": "x[NCHW]"}, "layout has no effect"),
    ({"enable_opencl_throttling": "true"}, "is for a GPU, the device is CPU"),
    ({"reshape_input": "x[8..1]"}, "expected names with sizes"),
    ({"reshape_input": "x"}, "expected names with sizes"),
    ({"load_config": "{not json}"}, "load_config is no JSON object"),
    ({"num_of_threads": "many"}, "expected an integer from 0 to 4096"),
    ({"precision": "INT8"}, "expected one of"),
    ({"model_priority": "URGENT"}, "expected one of"),
    ({"device_typ": "CPU"}, "did you mean 'device_type'?"),
]


@hosts
@pytest.mark.parametrize(("settings", "message"), REFUSED, ids=lambda v: json.dumps(v) if isinstance(v, dict) else "")
def test_what_is_refused_says_why(stand_in, host, settings, message):
    with pytest.raises(Exception) as caught:
        stand_in(settings, host)
    assert message in str(caught.value)


FAULTS = [
    ("ov_core_create: no plugins.xml", "OpenVINO's ov_core_create failed (-1): no plugins.xml"),
    ("ov_core_set_property: no such property", "OpenVINO's property PERF_COUNT of CPU = 'YES' failed (-1): no such property"),
]


@pytest.mark.parametrize(("fault", "message"), FAULTS, ids=lambda v: "")
def test_what_fails_says_so(stand_in, fault, message):
    with pytest.raises(Exception) as caught:
        stand_in({"load_config": '{"CPU": {"PERF_COUNT": "YES"}}'}, fault=fault)
    assert message in str(caught.value)


@pytest.mark.parametrize("function", ["ov_core_read_model_from_memory_buffer", "ov_core_compile_model", "ov_model_reshape_by_port_indexes"])
def test_what_does_not_compile_is_left_with_the_message(stand_in, monkeypatch, function):
    monkeypatch.setenv("RH_OPENVINO_FAULT", f"{function}: out of luck")
    with registered(roundhouse, OPENVINO):
        settings = {"library_path": str(STAND_IN), "reshape_input": "x[2,4],x2[2,3]"}
        rows = session(roundhouse, OPENVINO, dense(), settings).placement()
        [product] = [row for row in rows if row["node"] == "product"]  # the one that takes x
    assert product["provider"] == "CPUExecutionProvider"
    assert [f["reason"] for f in product["refusals"] if f["provider"] == OPENVINO][0].endswith("failed (-1): out of luck")


def test_a_run_that_fails_says_so(monkeypatch):
    with registered(roundhouse, OPENVINO):
        made = session(roundhouse, OPENVINO, dense(), {"library_path": str(STAND_IN)})
        with pytest.raises(Exception, match="OpenVINO's inference failed .-2.: the stand-in runs no model"):
            made.run(None, {"x": floats(2, 4), "x2": floats(2, 3)})
        del made


VERSIONS = [("2024.6.0-1", "is of version 2024.6.0-1, expected 2025.0 or newer: pip install --upgrade openvino")]


@pytest.mark.parametrize(("version", "message"), VERSIONS)
def test_an_old_version(stand_in, monkeypatch, version, message):
    monkeypatch.setenv("RH_OPENVINO_VERSION", version)
    with pytest.raises(Exception) as caught:
        stand_in()
    assert message in str(caught.value)


def place(folder, *names):
    """A folder of a Python package with the stand-in under each name, of which a name with "cut " before it has the first half."""
    libs = folder / "openvino" / "libs"
    libs.mkdir(parents=True)
    whole = pathlib.Path(STAND_IN).read_bytes()
    for name in names:
        (libs / name.removeprefix("cut ")).write_bytes(whole[: len(whole) // 2] if name.startswith("cut ") else whole)
    return libs


WHOLE = ["libopenvino.so.2641", "libopenvino_onnx_frontend.so.2641", "libtbb.so.12", "libopenvino_intel_cpu_plugin.so"]
REINSTALL = "pip install --force-reinstall openvino"
FILES = [
    (["libopenvino_c.so.2641", *WHOLE], ""),
    (["libopenvino_c.so.2460", *WHOLE], "OpenVINO 2024.6.0 ("),
    (["libopenvino_c.so.2641", *WHOLE[:2]], f"is damaged: there is no file libtbb.so beside it: {REINSTALL}"),
    (["libopenvino_c.so.2641", *WHOLE[:3]], f"is damaged: there is no file libopenvino_intel_cpu_plugin.so beside it: {REINSTALL}"),
    (["libopenvino_c.so.2641", "cut libopenvino.so.2641", *WHOLE[1:]], f"is damaged: libopenvino.so beside it is cut short: {REINSTALL}"),
    (["cut libopenvino_c.so.2641", *WHOLE], f"is damaged: it is cut short: {REINSTALL}"),
    ([], "is not at '"),
]


@pytest.mark.parametrize(("files", "message"), FILES, ids=lambda v: "")
def test_what_its_files_tell(tmp_path, files, message):
    """Whether it is listed, and what those that ask for it are told, before and after a session failed to have it."""
    program = """
import sys
sys.path[:0] = ["tests/kit"]
from hosts import OPENVINO, dense
import roundhouse
def listed():
    return OPENVINO in roundhouse.get_available_providers()
before, said = listed(), "works"
try:
    roundhouse.InferenceSession(dense(), providers=[OPENVINO])
except Exception as error:
    said = str(error)
print(before, listed(), said.replace("\\n", " "))
"""
    environment = dict(os.environ, ROUNDHOUSE_OPENVINO_LIBRARY=str(place(tmp_path, *files)))
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True, cwd=ROOT)
    before, after, said = done.stdout.split(" ", 2)
    assert before == after == str(not message)
    assert (message or "works") in said


COMMAND = os.environ.get("ROUNDHOUSE_CLI", str(ROOT / "build/release/bin/roundhouse"))


def command(environment, *arguments):
    done = subprocess.run([COMMAND, *arguments, "--json"], env=environment, capture_output=True, text=True, timeout=300)
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize(("files", "message"), FILES[1:], ids=["old", "broken", "no device", "cut", "itself cut", "none"])
def test_what_the_doctor_says(tmp_path, files, message):
    environment = dict(os.environ, ROUNDHOUSE_OPENVINO_LIBRARY=str(place(tmp_path, *files)))
    report, _ = command(environment, "doctor", "--all")
    [found] = [p for p in report["providers"] if p.get("name") == OPENVINO]
    assert (found["ok"], found["verdict"]) == (False, "not installed")
    assert message in found["remedy"]


@pytest.mark.parametrize(("files", "message"), FILES, ids=["right", "old", "broken", "no device", "cut", "itself cut", "none"])
def test_what_explain_says(tmp_path, files, message):
    """Nodes with the provider that would run them, or why the one that was asked for is not there."""
    (tmp_path / "model.onnx").write_bytes(dense())
    environment = dict(os.environ, ROUNDHOUSE_OPENVINO_LIBRARY=str(place(tmp_path, *files)))
    done = subprocess.run(
        [COMMAND, "explain", str(tmp_path / "model.onnx"), "--provider", "OpenVINO,CPU"], env=environment, capture_output=True, text=True
    )
    if message:
        assert done.returncode != 0 and message in done.stderr
    else:
        assert done.returncode == 0 and OPENVINO in done.stdout


def test_nothing_is_opened_to_list_it(tmp_path):
    program = (
        "import roundhouse; names = roundhouse.get_available_providers(); print(names[0]); "
        "print('openvino' in ''.join(line for line in open('/proc/self/maps') if 'libopenvino' in line or 'provider_openvino' in line))"
    )
    environment = dict(os.environ, ROUNDHOUSE_OPENVINO_LIBRARY=str(place(tmp_path, "libopenvino_c.so.2641", *WHOLE)))
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [OPENVINO, "False"]
