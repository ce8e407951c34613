"""What of the options reaches MIGraphX's C interface, by a stand-in that writes it down, and what is refused. No device is needed."""

import functools
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import pytest
from hosts import HOSTS, MIGRAPHX, dense, failure, floats, model_of, registered, session, tensor
from migraphx_recording import STAND_IN
from onnx import TensorProto, helper
from programs import program_of, said_by

import roundhouse

hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda h: h.__name__)


def fixed():
    """y = x w, of known sizes: what is tried is compiled."""
    return model_of(
        [helper.make_node("MatMul", ["x", "w"], ["y"], "product")], [tensor("x", [2, 4])], [tensor("y", [2, 3])], {"w": floats(4, 3)}
    )


def compiled(lines):
    return [line for line in lines if line.startswith("compile ")]


COMPILED = [
    ({}, "compile gpu offload"),
    ({"target": "ref"}, "compile ref offload"),
    ({"migraphx_exhaustive_tune": "1"}, "compile gpu offload tuned"),
]


@hosts
@pytest.mark.parametrize(("settings", "expected"), COMPILED, ids=lambda v: json.dumps(v) if isinstance(v, dict) else "")
def test_what_a_region_is_compiled_with(migraphx_calls, host, settings, expected):
    assert compiled(migraphx_calls(settings, host, fixed())) == [expected]  # once: what is tried is what runs


@hosts
def test_open_sizes_are_parsed_and_wait_for_a_run(migraphx_calls, host):
    lines = migraphx_calls(host=host)
    assert not compiled(lines)
    assert any(line.startswith("parse ") and "x[16,4]" in line for line in lines)


@pytest.mark.parametrize("first", ["1", "2"])
def test_numbers_of_types_are_the_librarys(migraphx_calls, monkeypatch, first):
    """Version 7 has another type before the others."""
    monkeypatch.setenv("RH_MIGRAPHX_FIRST", first)
    assert len(compiled(migraphx_calls(model=fixed()))) == 1


VARIABLES = [
    ({"ORT_MIGRAPHX_EXHAUSTIVE_TUNE": "1"}, {"migraphx_exhaustive_tune": "0"}, "compile gpu offload tuned"),
    ({"ORT_MIGRAPHX_EXHAUSTIVE_TUNE": "0"}, {"migraphx_exhaustive_tune": "1"}, "compile gpu offload"),
]


@pytest.mark.parametrize(("variables", "settings", "expected"), VARIABLES, ids=lambda v: "")
def test_the_environment_stands_before_the_options(migraphx_calls, monkeypatch, variables, settings, expected):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert compiled(migraphx_calls(settings, model=fixed())) == [expected]


REFUSED = [
    ({"migraphx_fp8_enable": "1"}, {}, "migraphx_fp8_enable is not offered"),
    ({}, {"ORT_MIGRAPHX_FP8_ENABLE": "1"}, "migraphx_fp8_enable is not offered"),
    ({}, {"ORT_MIGRAPHX_FP16_ENABLE": "yes"}, "the environment's ORT_MIGRAPHX_FP16_ENABLE is 'yes', expected 0 or 1"),
    ({"migraphx_external_alloc": "1234"}, {}, "MIGraphX makes its memory on the device itself"),
    ({"migraphx_int8_enable": "1"}, {}, "needs migraphx_int8_calibration_table_name"),
    ({"migraphx_fp16_enable": "1", "migraphx_bf16_enable": "1"}, {}, "are both set"),
    ({"migraphx_mem_limit": "much"}, {}, "expected a number of bytes"),
    ({"migraphx_arena_extend_strategy": "kNone"}, {}, "expected one of"),
    ({"target": "tpu"}, {}, "expected one of 'gpu', 'ref'"),
    ({"migraphx_save_compiled_model": "1"}, {}, "migraphx_save_compiled_model is set, and migraphx_save_model_path names no folder"),
    (
        {"migraphx_load_compiled_model": "1", "migraphx_load_model_path": "a", "migraphx_model_cache_dir": "b"},
        {},
        "migraphx_load_model_path is 'a', and another option names 'b': compiled regions are kept in one folder",
    ),
    ({"migraphx_fp16_enabel": "1"}, {}, "did you mean 'migraphx_fp16_enable'?"),
]


@hosts
@pytest.mark.parametrize(("settings", "variables", "message"), REFUSED, ids=lambda v: json.dumps(v) if isinstance(v, dict) else "")
def test_what_is_refused_says_why(migraphx_calls, monkeypatch, host, settings, variables, message):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(Exception) as caught:
        migraphx_calls(settings, host)
    assert message in str(caught.value)


def test_a_missing_target_says_so(migraphx_calls):
    with pytest.raises(Exception, match=r"MIGraphX's target failed \(4\): no GPU is here"):
        migraphx_calls(fault="target_create: no GPU is here")


@pytest.mark.parametrize("function", ["parse_onnx_buffer", "program_compile"])
def test_what_does_not_compile_is_left_with_the_message(migraphx_calls, monkeypatch, function):
    """Without the place in the vendor's source, and with nothing on this process's error stream."""
    monkeypatch.setenv("RH_MIGRAPHX_FAULT", f"{function}: out of luck")
    with registered(roundhouse, MIGRAPHX):
        rows = session(roundhouse, MIGRAPHX, fixed(), {"library_path": str(STAND_IN)}).placement()
    assert {row["provider"] for row in rows} == {"CPUExecutionProvider"}
    reasons = [f["reason"] for row in rows for f in row["refusals"] if f["provider"] == MIGRAPHX]
    assert reasons and all(reason.endswith("failed (4): out of luck") for reason in reasons)


@hosts
def test_messages_do_not_reach_the_error_stream(host):
    program = f"""
import sys
sys.path[:0] = ["tests/kit"]
import onnxruntime, roundhouse
from hosts import MIGRAPHX, dense, registered, session
with registered({host.__name__}, MIGRAPHX):
    made = session({host.__name__}, MIGRAPHX, dense(), {{"library_path": {str(STAND_IN)!r}}})
    del made
"""
    environment = dict(os.environ, RH_MIGRAPHX_FAULT="parse_onnx_buffer: out of luck")
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert "out of luck" not in done.stderr


F, U8, I8, I64 = TensorProto.FLOAT, TensorProto.UINT8, TensorProto.INT8, TensorProto.INT64
#: Operator, types and sizes of its inputs, attributes, opset: why it is left; empty: it is taken.
NODES = [
    ("Abs", [(U8, [2])], {}, 17, "of numbers without a sign"),
    ("Abs", [(I8, [2])], {}, 17, ""),
    ("Less", [(F, [2, 3]), (F, [2])], {"broadcast": 1, "axis": 0}, 6, "broadcast along an axis"),
    ("ConvInteger", [(I8, [1, 1, 4]), (I8, [1, 1, 2]), (I8, [])], {}, 17, "zero points"),
    ("MatMulInteger", [(U8, [2, 3]), (I8, [3, 2])], {}, 17, "of uint8"),
    ("MatMulInteger", [(I8, [2, 3]), (I8, [3, 2])], {}, 17, ""),
    ("ConvTranspose", [(F, [1, 1, 4]), (F, [1, 1, 2])], {"output_padding": [1], "strides": [2]}, 17, "output_padding"),
    ("DynamicQuantizeLinear", [(F, [4])], {}, 17, "beyond 255"),
    ("GRU", [(F, [2, 1, 3]), (F, [1, 6, 3]), (F, [1, 6, 2])], {"hidden_size": 2, "clip": 0.5}, 17, "clip or input_forget"),
    ("LSTM", [(F, [2, 1, 3]), (F, [1, 8, 3]), (F, [1, 8, 2])], {"hidden_size": 2, "input_forget": 1}, 17, "clip or input_forget"),
    ("LSTM", [(F, [2, 1, 3]), (F, [1, 8, 3]), (F, [1, 8, 2])], {"hidden_size": 2, "input_forget": 0}, 17, ""),
    ("GridSample", [(F, [1, 1, "H", 4]), (F, [1, 2, 2, 2])], {"mode": "bicubic"}, 17, "takes minutes"),
    ("LRN", [(F, [1, 4, 2, 2])], {"size": 3}, 17, "other channels"),
    ("Mod", [(F, [2]), (F, [2])], {"fmod": 1}, 17, ""),
    ("ReduceLogSumExp", [(I64, [2, 2])], {"axes": [1]}, 17, "of integers"),
    ("RoiAlign", [(F, [1, 1, 4, 4]), (F, [1, 4]), (I64, [1])], {}, 16, "half_pixel"),
    ("RoiAlign", [(F, [1, 1, 4, 4]), (F, [1, 4]), (I64, [1])], {}, 10, ""),
    ("Softmax", [(F, [2, 3, 4])], {}, 11, "before opset 13"),
    ("Softmax", [(F, [2, 3])], {}, 11, ""),
    ("SpaceToDepth", [(F, [1, 1, 4, 4])], {"blocksize": 2, "mode": "CRD"}, 28, "mode CRD"),
    ("Relu", [(F, [2, 0])], {}, 17, "input 0 has no elements"),
    ("ReduceSum", [(F, [2, 0])], {"keepdims": 1}, 13, ""),
]


@pytest.mark.parametrize(("op", "given", "attributes", "opset", "why"), NODES, ids=lambda v: str(v)[:30])
def test_what_migraphx_gets_wrong_is_left(op, given, attributes, opset, why):
    if opset > onnx.defs.onnx_opset_version():
        pytest.skip(f"the package onnx has no opset {opset}")
    inputs = [tensor(f"x{i}", shape, kind) for i, (kind, shape) in enumerate(given)]
    names = ["y", "scale", "zero_point"] if op == "DynamicQuantizeLinear" else ["y"]
    node = helper.make_node(op, [i.name for i in inputs], names, **attributes)
    graph = helper.make_graph([node], "main", inputs, [helper.make_empty_tensor_value_info(name) for name in names])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString()
    with registered(roundhouse, MIGRAPHX):
        rows = session(roundhouse, MIGRAPHX, model, {"library_path": str(STAND_IN)}).placement()
    (row,) = rows
    reasons = [f["reason"] for f in row["refusals"] if f["provider"] == MIGRAPHX]
    if why:
        assert row["provider"] == "CPUExecutionProvider"
        assert why in reasons[0]
    else:  # the stand-in knows no sizes of outputs, so it may be left for those
        assert row["provider"] == MIGRAPHX or "MIGraphX gives 'y'" in reasons[0]


def failed_run(made, *shape):
    return failure(lambda: made.run(None, {"x": floats(*shape)}))


@hosts
def test_a_run_that_fails_says_so(host):
    with registered(host, MIGRAPHX):
        made = session(host, MIGRAPHX, fixed(), {"library_path": str(STAND_IN)})
        made.disable_fallback()
        assert "MIGraphX's run failed (4): the stand-in runs no model" in failed_run(made, 2, 4)
        del made


def test_padded_sizes_share_a_program(migraphx_calls):
    """Sizes of a batch are padded to the end of their bucket; those of a softmax are compiled as they are."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Softmax", ["a"], ["y"])]
    padded = model_of(nodes, [tensor("x", ["N", 4])], [tensor("y", ["N", 3])], {"w": floats(4, 3)})
    exact = model_of([helper.make_node("Softmax", ["x"], ["y"])], [tensor("x", ["N", "S"])], [tensor("y", ["N", "S"])])
    assert shapes_of_runs(padded, [(1, 4), (2, 4), (9, 4), (16, 4), (17, 4)]) == ["x[1,4]", "x[16,4]", "x[32,4]"]
    assert shapes_of_runs(exact, [(2, 3), (2, 4), (9, 4)]) == ["x[16,3]", "x[16,4]"]


def test_sizes_beyond_the_most_are_the_cpus():
    model = model_of([helper.make_node("Softmax", ["x"], ["y"])], [tensor("x", ["N", "S"])], [tensor("y", ["N", "S"])])
    with registered(roundhouse, MIGRAPHX):
        made = session(roundhouse, MIGRAPHX, model, {"library_path": str(STAND_IN), "most_programs": "2"})
        for size in (3, 4):
            assert "the stand-in runs no model" in failed_run(made, 2, size)
        x = floats(2, 5)
        expected = np.exp(x) / np.exp(x).sum(-1, keepdims=True)
        np.testing.assert_allclose(made.run(None, {"x": x})[0], expected, rtol=1e-5)
        del made


@hosts
def test_programs_of_open_sizes_are_kept(migraphx_calls, host, tmp_path):
    """A second session parses and compiles nothing of the sizes that the first one had; a damaged file is compiled anew."""
    model, cache = dense(), tmp_path / "cache"
    settings = {"library_path": str(STAND_IN), "migraphx_model_cache_dir": str(cache)}
    record = pathlib.Path(os.environ["RH_MIGRAPHX_RECORD"])

    def calls(*sizes):
        record.write_text("")
        with registered(host, MIGRAPHX):
            made = session(host, MIGRAPHX, model, settings)
            made.disable_fallback()
            for n in sizes:
                assert "the stand-in runs no model" in failure(functools.partial(made.run, None, {"x": floats(n, 4), "x2": floats(n, 3)}))
            del made
        words = [line.split()[0] for line in record.read_text().splitlines()]
        return {word: words.count(word) for word in ("parse", "compile", "save", "load")}

    assert calls(2, 20) == {"parse": 3, "compile": 2, "save": 2, "load": 0}  # one parse is the trial
    assert len(list(cache.glob("*.artifact"))) == 3
    assert calls(3, 20) == {"parse": 0, "compile": 0, "save": 0, "load": 2}
    assert calls(1) == {"parse": 1, "compile": 1, "save": 1, "load": 0}
    for kept in cache.glob("*.artifact"):
        kept.write_bytes(kept.read_bytes()[:-3] + b"???")
    assert calls(2) == {"parse": 2, "compile": 1, "save": 1, "load": 0}


def test_open_sizes_go_into_no_compiled_model(migraphx_calls, tmp_path):
    entries = {"ep.context_enable": "1", "ep.context_embed_mode": "1", "ep.context_file_path": str(tmp_path / "ctx.onnx")}
    (tmp_path / "model.onnx").write_bytes(dense())
    migraphx_calls(host=roundhouse, model=str(tmp_path / "model.onnx"), config=entries)
    assert not (tmp_path / "ctx.onnx").exists()


def test_a_struct_in_c_saves_and_loads(migraphx_calls, tmp_path):
    program, record, cache = (
        program_of("append_migraphx.c", tmp_path),
        pathlib.Path(os.environ["RH_MIGRAPHX_RECORD"]),
        tmp_path / "kept",
    )
    (tmp_path / "model.onnx").write_bytes(fixed())

    def words():
        record.write_text("")
        done = subprocess.run([str(program), str(tmp_path / "model.onnx"), str(cache)], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines() == ["struct works", "device works"]
        return [line.split()[0] for line in record.read_text().splitlines() if line.split()[0] in ("compile", "save", "load")]

    assert words() == ["compile", "save", "compile"]  # the second session of the program has no folder
    assert len(list(cache.glob("*.artifact"))) == 1
    assert words() == ["load", "compile"]


def test_a_struct_in_cxx_reaches_the_compiler(migraphx_calls, tmp_path):
    program, record = program_of("append_provider.cc", tmp_path), pathlib.Path(os.environ["RH_MIGRAPHX_RECORD"])
    (tmp_path / "model.onnx").write_bytes(dense())
    assert "the stand-in runs no model" in said_by([program, "migraphx", tmp_path / "model.onnx"])["struct"]
    assert "compile gpu offload tuned" in record.read_text().splitlines()


def shapes_of_runs(model, shapes):
    """With which sizes the model's region is compiled; the runs fail, for the stand-in computes nothing."""
    record = os.environ["RH_MIGRAPHX_RECORD"]
    with registered(roundhouse, MIGRAPHX):
        made = session(roundhouse, MIGRAPHX, model, {"library_path": str(STAND_IN)})
        open(record, "w").close()
        for shape in shapes:
            failed_run(made, *shape)
        del made
    return [line.split()[1] for line in open(record) if line.startswith("parse ")]


def test_half_precision_stays_within(migraphx_calls):
    """What a region takes and gives stays float32, so numbers of types at its borders do."""
    for option in ("migraphx_fp16_enable", "migraphx_bf16_enable"):
        assert len(compiled(migraphx_calls({option: "1"}, model=fixed()))) == 1
