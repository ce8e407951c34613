"""The roundhouse command: what it reads, prints and writes, and what it says when it is used wrongly."""

import json

import numpy as np
import pytest
from command import answer, roundhouse, write_model
from onnx import TensorProto, helper, numpy_helper


def write_identity(path, element, opset=21):
    tensors = [helper.make_tensor_value_info(name, element, ["N"]) for name in "xy"]
    write_model(path, [helper.make_node("Identity", ["x"], ["y"])], tensors[:1], tensors[1:], opset=opset)


A = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.array([10, 20, 30], np.float32)


@pytest.fixture
def here(tmp_path):
    """A folder with models and arrays: add.onnx computes sum[N, 3] = a[N, 3] + b[3]."""
    value = helper.make_tensor_value_info
    write_model(
        tmp_path / "add.onnx",
        [helper.make_node("Add", ["a", "b"], ["sum"])],
        [value("a", TensorProto.FLOAT, ["N", 3]), value("b", TensorProto.FLOAT, [3])],
        [value("sum", TensorProto.FLOAT, ["N", 3])],
    )
    write_identity(tmp_path / "strings.onnx", TensorProto.STRING)
    write_identity(tmp_path / "int4.onnx", TensorProto.INT4)
    write_identity(tmp_path / "bfloat16.onnx", TensorProto.BFLOAT16)
    length = helper.make_node("SequenceLength", ["x"], ["n"])
    sequence = helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, None)
    write_model(tmp_path / "sequence.onnx", [length], [sequence], [value("n", TensorProto.INT64, [])])
    (tmp_path / "cut.onnx").write_bytes((tmp_path / "add.onnx").read_bytes()[:-20])
    np.save(tmp_path / "a.npy", A)
    np.save(tmp_path / "b.npy", B)
    np.savez(tmp_path / "stored.npz", a=A, b=B)
    np.savez_compressed(tmp_path / "compressed.npz", a=A, b=B)
    np.savez(tmp_path / "nameless.npz", A, B)
    (tmp_path / "named.pb").write_bytes(numpy_helper.from_array(A, "a").SerializeToString())
    (tmp_path / "nameless.pb").write_bytes(numpy_helper.from_array(B).SerializeToString())
    return tmp_path


INPUTS = {
    "by position": ["-i", "a.npy", "-i", "b.npy"],
    "by name": ["-i", "b=b.npy", "-i", "a=a.npy"],
    "position after name": ["-i", "a=a.npy", "-i", "b.npy"],
    "npz stored": ["-i", "stored.npz"],
    "npz compressed": ["-i", "compressed.npz"],
    "npz nameless": ["-i", "nameless.npz"],
    "pb": ["-i", "named.pb", "-i", "nameless.pb"],
}


@pytest.mark.parametrize("name", INPUTS)
def test_run_reads(name, here):
    report = answer("run", "add.onnx", *INPUTS[name], "--save", "out", cwd=here)
    np.testing.assert_array_equal(np.load(here / "out" / "sum.npy"), A + B)
    assert report["outputs"]["sum"] == {
        "type": "float",
        "shape": [2, 3],
        "first": (A + B).ravel().tolist(),
        "min": 10,
        "max": 35,
        "mean": 22.5,
    }
    assert report["ms"] > 0


def test_run_generates_inputs_of_the_sizes_asked_for(here):
    first = answer("run", "add.onnx", "-d", "N=4", "--seed", "1", cwd=here)
    assert first["outputs"]["sum"]["shape"] == [4, 3]
    assert answer("run", "add.onnx", "-d", "N=4", "--seed", "1", cwd=here)["outputs"] == first["outputs"]
    assert answer("run", "add.onnx", "-d", "N=4", "--seed", "2", cwd=here)["outputs"] != first["outputs"]


def test_run_generates_integers_that_models_take(here):
    """Positions lie in their dimension, and a mask leaves something to attend to."""
    nodes = [helper.make_node("Gather", ["table", "position_ids"], ["rows"]), helper.make_node("Mul", ["rows", "attention_mask"], ["y"])]
    value = helper.make_tensor_value_info
    inputs = [value(name, TensorProto.INT64, ["S"]) for name in ("table", "position_ids", "attention_mask")]
    write_model(here / "ids.onnx", nodes, inputs, [value("y", TensorProto.INT64, ["S"])])
    for size in (1, 2, 9):
        report = answer("run", "ids.onnx", "-d", f"S={size}", cwd=here)
        assert report["inputs"]["attention_mask"]["min"] == 1
        assert report["inputs"]["position_ids"]["max"] <= min(1, size - 1)


def test_run_prints_text(here):
    done = roundhouse("run", "add.onnx", "-i", "stored.npz", cwd=here)
    assert done.stdout.startswith("sum: float[2, 3]  min 10  max 35  mean 22.5  {10 21 32 13 24 35}\n")
    assert done.stdout.endswith(" ms\n")


def test_run_counts_what_is_not_finite(here):
    np.save(here / "odd.npy", np.array([[np.nan, np.inf, 1]], np.float32))
    total = answer("run", "add.onnx", "-i", "a=odd.npy", "-i", "b=b.npy", cwd=here)["outputs"]["sum"]
    assert (total["not_finite"], total["first"], total["max"]) == (2, [None, None, 31], 31)


def test_run_narrow_types_and_strings(here):
    tensor = helper.make_tensor("x", TensorProto.INT4, [3], [-8, 7, 1])
    (here / "int4.pb").write_bytes(tensor.SerializeToString())
    assert answer("run", "int4.onnx", "-i", "int4.pb", cwd=here)["outputs"]["y"]["type"] == "int4"
    (here / "text.pb").write_bytes(helper.make_tensor("x", TensorProto.STRING, [2], [b"caf\xc3\xa9", b"\xff"]).SerializeToString())
    assert answer("run", "strings.onnx", "-i", "text.pb", cwd=here)["outputs"]["y"]["first"] == ["café", "\ufffd"]
    assert answer("run", "bfloat16.onnx", "-d", "N=3", cwd=here)["outputs"]["y"]["shape"] == [3]


def save(path, array):
    np.save(path, array, allow_pickle=array.dtype == object)


def write_hostile(here):
    save(here / "fortran.npy", np.asfortranarray(A))
    save(here / "double.npy", A.astype(np.float64))
    save(here / "big.npy", A.astype(">f4"))
    save(here / "text.npy", np.array(["a"]))
    save(here / "objects.npy", np.array(["a"], object))
    save(here / "four.npy", np.ones(4, np.float32))
    (here / "cut.npy").write_bytes((here / "a.npy").read_bytes()[:-5])
    (here / "header.npy").write_bytes((here / "a.npy").read_bytes()[:40])
    (here / "huge.npy").write_bytes(
        (here / "a.npy").read_bytes().replace(b"(2, 3), }" + b" " * 20, b"(999999999999999, 999999999), }"[:29])
    )
    (here / "cut.npz").write_bytes((here / "stored.npz").read_bytes()[:100])
    (here / "junk.npz").write_bytes(b"junk")
    damaged = bytearray((here / "compressed.npz").read_bytes())
    damaged[60:90] = b"\xff" * 30
    (here / "damaged.npz").write_bytes(damaged)
    (here / "junk.pb").write_bytes(b"\xff" * 20)
    (here / "a.txt").write_text("1 2 3")
    (here / "empty.npy").write_bytes(b"")


# Arguments after the model, and what the error must tell.
HOSTILE = {
    "missing file": (["-i", "nowhere.npy"], ["nowhere.npy", "No such file"]),
    "misspelt name": (["-i", "aa=a.npy"], ["no input 'aa'", "'a', 'b'"]),
    "given twice": (["-i", "a=a.npy", "-i", "a=a.npy"], ["'a'", "already"]),
    "too many": (["-i", "a.npy", "-i", "b.npy", "-i", "b.npy"], ["every input", "'a', 'b'"]),
    "type": (["-i", "double.npy"], ["double.npy", "double", "'a'", "float", "astype"]),
    "shape": (["-i", "b=four.npy"], ["'b'", "[4]", "[3]"]),
    "Fortran order": (["-i", "fortran.npy"], ["fortran.npy", "Fortran", "ascontiguousarray"]),
    "big-endian": (["-i", "big.npy"], ["big.npy", ">f4", "little-endian"]),
    "text": (["-i", "text.npy"], ["text.npy", ".pb"]),
    "objects": (["-i", "objects.npy"], ["objects.npy", ".pb"]),
    "cut .npy": (["-i", "cut.npy"], ["cut.npy", "19 bytes", "24"]),
    "cut header": (["-i", "header.npy"], ["header.npy", "truncated"]),
    "absurd shape": (["-i", "huge.npy"], ["huge.npy"]),
    "empty file": (["-i", "empty.npy"], ["empty.npy", "not a .npy"]),
    "cut .npz": (["-i", "cut.npz"], ["cut.npz", "truncated"]),
    "junk .npz": (["-i", "junk.npz"], ["junk.npz"]),
    "damaged .npz": (["-i", "damaged.npz"], ["damaged.npz"]),
    "junk .pb": (["-i", "junk.pb"], ["junk.pb"]),
    "ending": (["-i", "a.txt"], ["a.txt", ".npy, .npz or .pb, .json"]),
    "output": (["-o", "q"], ["no output 'q'", "'sum'"]),
    "dimension": (["-d", "M=3"], ["'M'", "'N'"]),
    "size": (["-d", "N=many"], ["many", "whole number"]),
    "no equals sign": (["-d", "N"], ["name=value"]),
    "configuration": (["--config", "key"], ["name=value"]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_run_says_what_is_wrong(name, here):
    write_hostile(here)
    arguments, wanted = HOSTILE[name]
    done = roundhouse("run", "add.onnx", *arguments, cwd=here)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("roundhouse: ") and done.stderr.count("\n") == 1
    for word in wanted:
        assert word in done.stderr
    as_json = roundhouse("run", "add.onnx", *arguments, "--json", cwd=here)
    assert (as_json.returncode, as_json.stdout) == (1, "")
    assert json.loads(as_json.stderr)["error"] == done.stderr.removeprefix("roundhouse: ").rstrip("\n")


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["run", "sequence.onnx"], "'x' is a sequence"),
        (["run", "int4.onnx"], "--input"),
        (["run", "strings.onnx", "--save", "out"], "--save"),
        (["run", "nowhere.onnx"], "nowhere.onnx"),
        (["inspect", "nowhere.onnx"], "nowhere.onnx"),
        (["bench", "nowhere.onnx"], "nowhere.onnx"),
        (["run", "cut.onnx"], "cut.onnx"),
        (["inspect", "cut.onnx"], "cut.onnx"),
        (["inspect", "a.npy"], "not an ONNX"),
        (["run", "."], "folder"),
    ],
)
def test_models_that_cannot_be_used(arguments, wanted, here):
    done = roundhouse(*arguments, "--json", cwd=here)
    assert done.returncode == 1
    assert wanted in json.loads(done.stderr)["error"]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ([], "no command"),
        (["frobnicate"], "no command 'frobnicate', expected one of: run, inspect, bench"),
        (["cmpare"], "the nearest is 'compare'"),
        (["run", "add.onnx", "--thread", "1"], "the nearest option is '--threads'"),
        (["compare", "add.onnx", "--color", "red"], "red"),
        (["run"], "model is required"),
        (["run", "add.onnx", "--strange"], "--strange"),
        (["run", "add.onnx", "-t", "-3"], "-3"),
        (["run", "add.onnx", "-O", "5"], "5"),
        (["bench", "add.onnx", "-n", "-5"], "-5"),
        (["bench", "add.onnx", "--warmup", "0"], "0"),
    ],
)
def test_usage_errors(arguments, wanted, here):
    done = roundhouse(*arguments, cwd=here)
    assert (done.returncode, done.stdout) == (2, "")
    assert wanted in done.stderr
    as_json = roundhouse("--json", *arguments, cwd=here)
    assert as_json.returncode == 2 and wanted in json.loads(as_json.stderr)["error"]


def test_inspect(here):
    report = answer("inspect", "add.onnx", cwd=here)
    assert report["opsets"] == {"": 18} or report["opsets"] == {"ai.onnx": 18}
    assert (report["ir_version"], report["nodes"], report["operators"], report["unsupported"]) == (9, 1, {"Add": 1}, [])
    assert report["inputs"] == [{"name": "a", "type": "tensor(float)[N, 3]"}, {"name": "b", "type": "tensor(float)[3]"}]
    done = roundhouse("inspect", "add.onnx", cwd=here)
    assert done.returncode == 0 and "every operator has a kernel" in done.stdout


def test_inspect_names_what_is_not_supported(here):
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("Strange", ["x"], ["t"]), helper.make_node("Strange", ["t"], ["y"])]
    write_model(here / "strange.onnx", nodes, [value("x", TensorProto.FLOAT, [1])], [value("y", TensorProto.FLOAT, [1])])
    [missing] = answer("inspect", "strange.onnx", cwd=here)["unsupported"]
    assert missing["count"] == 2 and "Strange" in missing["operator"] and missing["reason"]
    assert "Strange" in roundhouse("inspect", "strange.onnx", cwd=here).stdout
    done = roundhouse("run", "strange.onnx", cwd=here)
    assert done.returncode == 1 and "Strange" in done.stderr


@pytest.mark.parametrize(("isa", "told"), [("avx521", True), ("AVX2", True), ("avx2", False), ("native", False), ("", False)])
def test_an_unknown_instruction_set_is_a_warning(isa, told, here):
    done = roundhouse("run", "add.onnx", cwd=here, env={"ROUNDHOUSE_ISA": isa})
    assert done.returncode == 0, done.stderr
    words = [f"ROUNDHOUSE_ISA is '{isa}'", "expected sse2, avx2, avx512, amx or native"]
    assert all(word in done.stderr for word in words) if told else done.stderr == "", done.stderr


def test_version_and_help():
    assert roundhouse("--version").stdout.startswith("roundhouse ")
    for command in ([], ["run"], ["inspect"], ["bench"], ["compare"], ["profile"], ["completion"]):
        done = roundhouse(*command, "--help")
        assert done.returncode == 0 and "Usage" in done.stdout
