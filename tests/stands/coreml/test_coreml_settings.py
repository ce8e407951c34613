"""What of the options reaches Core ML, by a library that stands in for it, and what is refused. No device is needed."""

import functools
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from coreml_stand import STAND_IN
from hosts import COREML, HOSTS, LIBRARIES, dense, failure, floats, model_of, registered, session, tensor
from onnx import TensorProto, helper

import roundhouse

CPU = "CPUExecutionProvider"
hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)


def fixed():
    """y = relu(x w), of known sizes: what is tried is loaded."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"], "product"), helper.make_node("Relu", ["p"], ["y"], "relu")]
    return model_of(nodes, [tensor("x", [2, 4])], [tensor("y", [2, 3])], {"w": floats(4, 3)})


def softmax():
    return model_of([helper.make_node("Softmax", ["x"], ["y"])], [tensor("x", ["N", "S"])], [tensor("y", ["N", "S"])])


LOADED = [
    ({}, "load ALL"),
    ({"MLComputeUnits": "ALL"}, "load ALL"),
    ({"MLComputeUnits": "CPUOnly"}, "load CPUOnly"),
    ({"MLComputeUnits": "CPU_ONLY"}, "load CPUOnly"),
    ({"MLComputeUnits": "CPUAndGPU"}, "load CPUAndGPU"),
    ({"MLComputeUnits": "CPU_AND_GPU"}, "load CPUAndGPU"),
    ({"MLComputeUnits": "CPUAndNeuralEngine"}, "load CPUAndNeuralEngine"),
    ({"MLComputeUnits": "CPU_AND_NE"}, "load CPUAndNeuralEngine"),
    ({"ModelFormat": "NeuralNetwork"}, "load ALL"),
    ({"AllowLowPrecisionAccumulationOnGPU": "1"}, "load ALL low_precision"),
    ({"SpecializationStrategy": "FastPrediction"}, "load ALL fast_prediction"),
]


@hosts
@pytest.mark.parametrize(("settings", "expected"), LOADED, ids=lambda v: json.dumps(v) if isinstance(v, dict) else "")
def test_what_a_program_is_loaded_with(coreml_calls, host, settings, expected):
    assert coreml_calls(settings, host, fixed()) == [expected]  # once: what is tried is what runs


REFUSED = [
    ({"MLComputeUnit": "ALL"}, "MLComputeUnits"),
    ({"MLComputeUnits": "GPU"}, "'CPUAndGPU'"),
    ({"ProfileComputePlan": "1"}, "ProfileComputePlan is not offered"),
    ({"precision": "bf16"}, "'fp16'"),
    ({"most_programs": "0"}, "most_programs"),
]


@hosts
@pytest.mark.parametrize(("settings", "message"), REFUSED, ids=lambda v: json.dumps(v) if isinstance(v, dict) else "")
def test_what_is_refused(coreml_calls, host, settings, message):
    with pytest.raises(Exception) as caught:
        coreml_calls(settings, host)
    assert message in str(caught.value)


@hosts
def test_without_core_ml_a_session_says_so(monkeypatch, host):
    monkeypatch.delenv("ROUNDHOUSE_COREML_LIBRARY")
    with registered(host, COREML):
        assert "Core ML is not on this system: it is a part of macOS 12" in failure(lambda: session(host, COREML, fixed()))


def test_what_does_not_load_is_left_with_the_message(monkeypatch):
    monkeypatch.setenv("RH_COREML_FAULT", "load: out of luck")
    with registered(roundhouse, COREML):
        rows = session(roundhouse, COREML, fixed(), {"library_path": str(STAND_IN)}).placement()
    assert {row["provider"] for row in rows} == {CPU}
    reasons = [f["reason"] for row in rows for f in row["refusals"] if f["provider"] == COREML]
    assert reasons and all("out of luck" in reason for reason in reasons)


@hosts
def test_a_run_that_fails_says_so(monkeypatch, host):
    monkeypatch.setenv("RH_COREML_FAULT", "predict: out of luck")
    with registered(host, COREML):
        made = session(host, COREML, fixed(), {"library_path": str(STAND_IN)})
        made.disable_fallback()
        assert "out of luck" in failure(functools.partial(made.run, None, {"x": floats(2, 4)}))
        del made


def test_by_name_it_is_there_where_a_library_stands_in():
    """A process with the environment's variable, and one without, in which it is a provider of another system."""
    program = """
import roundhouse, sys
print(roundhouse.get_available_providers())
options = ("CoreMLExecutionProvider", {"MLComputeUnits": "ALL"})
roundhouse.InferenceSession(sys.argv[1], providers=[options, "CPUExecutionProvider"])
"""
    path = pathlib.Path(os.environ["RH_COREML_MODEL"])
    for is_there in (True, False):
        environment = {k: v for k, v in os.environ.items() if is_there or k != "ROUNDHOUSE_COREML_LIBRARY"}
        done = subprocess.run([sys.executable, "-c", program, str(path)], env=environment, capture_output=True, text=True)
        assert (COREML in done.stdout) == is_there
        assert is_there or "CoreMLExecutionProvider runs on macOS only" in done.stderr


@pytest.fixture(autouse=True)
def model_file(tmp_path, monkeypatch):
    (tmp_path / "model.onnx").write_bytes(fixed())
    monkeypatch.setenv("RH_COREML_MODEL", str(tmp_path / "model.onnx"))


def runs_of(model, shapes, settings=None):
    """The sizes with which a model's programs run, in order, and the results beside the CPU's."""
    record = pathlib.Path(os.environ["RH_COREML_RECORD"])
    reference = roundhouse.InferenceSession(model, providers=[CPU])
    with registered(roundhouse, COREML):
        made = session(roundhouse, COREML, model, {"library_path": str(STAND_IN), **(settings or {})})
        record.write_text("")
        for shape in shapes:
            feed = {"x": floats(*shape)}
            np.testing.assert_allclose(made.run(None, feed)[0], reference.run(None, feed)[0], rtol=1e-5, atol=1e-6)
        del made
    return [line for line in record.read_text().splitlines() if line.startswith("predict")]


def sizes(lines):
    return [" ".join(line.split()[3:]) for line in lines]


def test_padded_sizes_share_a_program(coreml_calls):
    """Sizes of a batch are padded to the end of their bucket; those of a softmax are loaded as they are."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Softmax", ["a"], ["y"])]
    padded = model_of(nodes, [tensor("x", ["N", 4])], [tensor("y", ["N", 3])], {"w": floats(4, 3)})
    assert sizes(runs_of(padded, [(1, 4), (2, 4), (9, 4), (17, 4)])) == ["1 4", "16 4", "16 4", "32 4"]
    assert sizes(runs_of(softmax(), [(2, 3), (2, 4)])) == ["16 3", "16 4"]


def test_sizes_beyond_the_most_are_the_cpus(coreml_calls):
    assert len(runs_of(softmax(), [(2, 3), (2, 4), (2, 5), (2, 3)], {"most_programs": "2"})) == 3


def test_sizes_that_core_ml_does_not_take_are_the_cpus(coreml_calls, monkeypatch):
    with registered(roundhouse, COREML):
        made = session(roundhouse, COREML, softmax(), {"library_path": str(STAND_IN)})
        monkeypatch.setenv("RH_COREML_FAULT", "load: out of luck")
        feed = {"x": floats(2, 3)}
        expected = roundhouse.InferenceSession(softmax(), providers=[CPU]).run(None, feed)[0]
        for _ in range(2):
            np.testing.assert_allclose(made.run(None, feed)[0], expected, rtol=1e-6)
        del made


def test_open_sizes_are_left_where_static_ones_are_required():
    with registered(roundhouse, COREML):
        rows = session(roundhouse, COREML, softmax(), {"library_path": str(STAND_IN), "RequireStaticInputShapes": "1"}).placement()
    assert [row["provider"] for row in rows] == [CPU] and "RequireStaticInputShapes is set" in rows[0]["refusals"][0]["reason"]


@hosts
def test_other_types_at_the_borders(host):
    """int64, bool and float16 are passed as the types that Core ML's arrays have."""
    nodes = [
        helper.make_node("Cast", ["h"], ["h32"], to=TensorProto.FLOAT),
        helper.make_node("Gather", ["table", "ids"], ["rows"]),
        helper.make_node("Where", ["mask", "rows", "h32"], ["chosen"]),
        helper.make_node("Cast", ["chosen"], ["y"], to=TensorProto.FLOAT16),
        helper.make_node("Greater", ["chosen", "h32"], ["more"]),
        helper.make_node("ArgMax", ["chosen"], ["at"], axis=1, keepdims=0),
    ]
    inputs = [tensor("ids", [3], TensorProto.INT64), tensor("mask", [3, 4], TensorProto.BOOL), tensor("h", [3, 4], TensorProto.FLOAT16)]
    outputs = [tensor("y", [3, 4], TensorProto.FLOAT16), tensor("more", [3, 4], TensorProto.BOOL), tensor("at", [3], TensorProto.INT64)]
    model = model_of(nodes, inputs, outputs, {"table": floats(5, 4)})
    feed = {"ids": np.array([4, -5, -1]), "mask": floats(3, 4) > 0, "h": floats(3, 4, seed=1).astype("f2")}
    expected = host.InferenceSession(model, providers=[CPU]).run(None, feed)
    with registered(host, COREML):
        made = session(host, COREML, model, {"library_path": str(STAND_IN)})
        for e, a in zip(expected, made.run(None, feed), strict=True):
            assert e.dtype == a.dtype
            np.testing.assert_allclose(a, e, rtol=1e-3)
        made.disable_fallback()
        feed["ids"] = np.array([1 << 40, 0, 0])
        assert "beyond the 32 bits of Core ML's integers" in failure(functools.partial(made.run, None, feed))
        del made


def test_compiled_programs_are_kept_by_their_content(coreml_calls, tmp_path):
    settings = {"ModelCacheDirectory": str(tmp_path / "cache")}
    assert coreml_calls(settings, model=fixed()) == ["load ALL"]
    assert coreml_calls(settings, model=fixed()) == ["load ALL compiled"]
    other = fixed().replace(floats(4, 3).tobytes(), floats(4, 3, seed=9).tobytes())
    assert coreml_calls(settings, model=other) == ["load ALL"]
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_without_a_cache_nothing_is_left(coreml_calls, tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    assert coreml_calls(model=fixed(), feed={"x": floats(2, 4)})[-1].startswith("predict input_0 f4 2 4")
    assert not list((tmp_path / "tmp").iterdir())


@hosts
def test_half_precision(host):
    """Within what its roundings take, and not as exact as float32."""
    feed = {"x": floats(2, 4, seed=3)}
    expected = host.InferenceSession(fixed(), providers=[CPU]).run(None, feed)[0]
    with registered(host, COREML):
        made = session(host, COREML, fixed(), {"library_path": str(STAND_IN), "precision": "fp16"})
        error = float(np.abs(made.run(None, feed)[0] - expected).max())
        del made
    assert 1e-6 < error < 5e-3


@hosts
def test_open_sizes_are_right(host):
    reference = host.InferenceSession(dense(), providers=[CPU])
    with registered(host, COREML):
        made = session(host, COREML, dense(), {"library_path": str(STAND_IN)})
        for n in (1, 5, 2):
            feed = {"x": floats(n, 4, seed=n), "x2": floats(n, 3, seed=n + 1)}
            np.testing.assert_allclose(made.run(None, feed)[0], reference.run(None, feed)[0], rtol=1e-5, atol=1e-5)
        del made


FLAGS = [
    ("0x00", "load ALL"),
    ("0x01", "load CPUOnly"),
    ("0x04", "load CPUAndNeuralEngine"),
    ("0x18", "load ALL"),
    ("0x20", "load CPUAndGPU"),
]


@pytest.fixture(scope="module")
def program_in_c(tmp_path_factory):
    """Against our headers and library, as it is written for ONNX Runtime."""
    here, made = pathlib.Path(__file__).resolve(), tmp_path_factory.mktemp("append") / "append"
    folders = [f"-I{here.parents[3] / 'include/roundhouse'}", f"-L{LIBRARIES.resolve()}", f"-Wl,-rpath,{LIBRARIES.resolve()}"]
    command = ["cc", "-std=c11", str(here.with_name("append_coreml.c")), *folders, "-lroundhouse", "-o", str(made)]
    subprocess.run(command, check=True)
    return made


def appended(program, model, flags):
    return subprocess.run([str(program), str(model), flags], capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize(("flags", "expected"), FLAGS)
def test_flags_are_options(program_in_c, coreml_calls, tmp_path, flags, expected):
    assert appended(program_in_c, tmp_path / "model.onnx", flags) == "works"
    assert pathlib.Path(os.environ["RH_COREML_RECORD"]).read_text().splitlines() == [expected]


def test_flags_that_nobody_has_are_refused(program_in_c, tmp_path, monkeypatch):
    assert "coreml_flags is 64" in appended(program_in_c, tmp_path / "model.onnx", "0x40")
    monkeypatch.delenv("ROUNDHOUSE_COREML_LIBRARY")
    assert appended(program_in_c, tmp_path / "model.onnx", "0").startswith("failed")
