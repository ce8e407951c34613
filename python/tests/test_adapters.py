"""LoRA adapters: files that go to and come from the package onnxruntime, and runs with their parameters."""

import os
import random
import subprocess
import sys
import threading

import ml_dtypes
import models
import numpy as np
import onnxruntime
import pytest

import roundhouse

MODULES = pytest.mark.parametrize("module", [roundhouse, onnxruntime], ids=["roundhouse", "onnxruntime"])
WAYS = pytest.mark.parametrize(
    ("writer", "reader"),
    [(roundhouse, roundhouse), (roundhouse, onnxruntime), (onnxruntime, roundhouse)],
    ids=["ours", "ours_to_theirs", "theirs_to_ours"],
)
FEED = {"a": np.zeros((1, 3), np.float32)}

TYPES = ["float32", "float16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
SHAPES = [(1,), (5,), (7, 3), (2, 1, 3, 5), (0,), (3, 0, 2)]
ARRAYS = {f"{t}.{i}": (np.arange(np.prod(s)) % 100).reshape(s).astype(t) for t in TYPES for i, s in enumerate(SHAPES)}


def write(module, path, parameters, adapter_version=0, model_version=0):
    adapter = module.AdapterFormat()
    adapter.set_adapter_version(adapter_version)
    adapter.set_model_version(model_version)
    adapter.set_parameters({name: module.OrtValue.ortvalue_from_numpy(value) for name, value in parameters.items()})
    adapter.export_adapter(str(path))


@pytest.fixture
def files(tmp_path):
    for i in (1, 2):
        write(onnxruntime, tmp_path / f"{i}.onnx_adapter", {"w": np.array([10, 20, 30], np.float32) * 10 ** (i - 1)})
    return [str(tmp_path / f"{i}.onnx_adapter") for i in (1, 2)]


def session(module):
    options = module.SessionOptions()
    options.log_severity_level = 4
    return module.InferenceSession(models.add_with_default(), options, providers=["CPUExecutionProvider"])


def options_with(module, *paths):
    options = module.RunOptions()
    options.log_severity_level = 4
    for path in paths:
        adapter = module.LoraAdapter()
        adapter.Load(path)
        options.add_active_adapter(adapter)
        if module is onnxruntime:
            options_with.kept.append(adapter)  # it keeps none alive
    return options


options_with.kept = []


# --- files
@WAYS
def test_files_are_read_as_they_were_written(writer, reader, tmp_path):
    write(writer, tmp_path / "all.onnx_adapter", ARRAYS, 7, -3)
    adapter = reader.AdapterFormat.read_adapter(str(tmp_path / "all.onnx_adapter"))
    assert (adapter.get_format_version(), adapter.get_adapter_version(), adapter.get_model_version()) == (1, 7, -3)
    read = adapter.get_parameters()
    assert read.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert isinstance(read[name], reader.OrtValue)
        given = read[name].numpy()
        assert given.dtype == array.dtype, name
        np.testing.assert_array_equal(given, array, name)
    reader.LoraAdapter().Load(str(tmp_path / "all.onnx_adapter"))


@WAYS
def test_files_of_narrow_floats_keep_their_bits(writer, reader, tmp_path):
    numbers = {"bfloat16": 16, "float8_e4m3fn": 17, "float8_e5m2": 19}
    values = {}
    for name, number in numbers.items():
        bits = np.arange(5).astype(getattr(ml_dtypes, name)).view(np.uint16 if name == "bfloat16" else np.uint8)
        values[name] = writer.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, number)
    adapter = writer.AdapterFormat()
    adapter.set_parameters(values)
    adapter.export_adapter(str(tmp_path / "narrow.onnx_adapter"))
    read = reader.AdapterFormat.read_adapter(str(tmp_path / "narrow.onnx_adapter")).get_parameters()
    again = reader.AdapterFormat()
    again.set_parameters(read)
    again.export_adapter(str(tmp_path / "again.onnx_adapter"))
    for name, value in roundhouse.AdapterFormat.read_adapter(tmp_path / "again.onnx_adapter").get_parameters().items():
        assert value.element_type() == numbers[name]
        np.testing.assert_array_equal(value.numpy().astype(np.float32), np.arange(5, dtype=np.float32), name)


@WAYS
def test_files_without_parameters(writer, reader, tmp_path):
    write(writer, tmp_path / "none.onnx_adapter", {}, 1, 2)
    adapter = reader.AdapterFormat.read_adapter(str(tmp_path / "none.onnx_adapter"))
    assert (adapter.get_adapter_version(), adapter.get_model_version(), adapter.get_parameters()) == (1, 2, {})
    reader.LoraAdapter().Load(str(tmp_path / "none.onnx_adapter"))


@WAYS
@pytest.mark.parametrize("length", range(1, 18))
def test_names_of_every_length(writer, reader, length, tmp_path):
    parameters = {"é"[: length % 2] + "n" * length: np.arange(length, dtype=np.int8), "second": np.ones(3, np.float64)}
    write(writer, tmp_path / "names.onnx_adapter", parameters)
    read = reader.AdapterFormat.read_adapter(str(tmp_path / "names.onnx_adapter")).get_parameters()
    assert {name: value.numpy().tolist() for name, value in read.items()} == {name: value.tolist() for name, value in parameters.items()}


def test_types_and_shapes_that_onnxruntime_does_not_read(tmp_path):
    parameters = {"bool": np.array([True, False]), "scalar": np.array(3, np.float32)}
    write(roundhouse, tmp_path / "more.onnx_adapter", parameters)
    read = roundhouse.AdapterFormat.read_adapter(tmp_path / "more.onnx_adapter").get_parameters()
    assert (read["bool"].numpy().tolist(), read["scalar"].numpy().tolist()) == ([True, False], 3)


# --- the class
@MODULES
def test_a_new_adapter(module):
    adapter = module.AdapterFormat()
    found = adapter.get_format_version(), adapter.get_adapter_version(), adapter.get_model_version(), adapter.get_parameters()
    assert found == (1, 0, 0, {})
    native = adapter._adapter
    native.adapter_version, native.model_version = 5, 6
    assert (native.format_version, adapter.get_adapter_version(), adapter.get_model_version(), native.parameters) == (1, 5, 6, {})
    assert module.AdapterFormat(adapter=native).get_adapter_version() == 5


@MODULES
def test_parameters_share_memory(module):
    array = np.arange(3, dtype=np.float32)
    adapter = module.AdapterFormat()
    adapter.set_parameters({"p": module.OrtValue.ortvalue_from_numpy(array)})
    first = adapter.get_parameters()
    first["p"].update_inplace(np.full(3, 9, np.float32))
    del first
    assert adapter.get_parameters()["p"].numpy().tolist() == [9, 9, 9]


@MODULES
def test_values_outlive_their_adapter(module, files):
    value = module.AdapterFormat.read_adapter(files[0]).get_parameters()["w"]
    assert value.numpy().tolist() == [10, 20, 30]


@MODULES
@pytest.mark.parametrize("given", [[1], {"p": 1}, {"p": None}], ids=str)
def test_parameters_of_wrong_types(module, given):
    with pytest.raises((TypeError, AttributeError)):
        module.AdapterFormat().set_parameters(given)


@MODULES
@pytest.mark.parametrize("version", ["1", 1.5, 1 << 40, None], ids=str)
def test_versions_that_are_no_32_bit_integers(module, version):
    with pytest.raises(TypeError):
        module.AdapterFormat().set_adapter_version(version)
    with pytest.raises(TypeError):
        module.AdapterFormat().set_model_version(version)


@MODULES
def test_export_to_where_nothing_can_be_written(module):
    with pytest.raises(RuntimeError):
        module.AdapterFormat().export_adapter("/nowhere/at/all")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda: roundhouse.OrtValue.ortvalue_from_numpy(np.array(["a", "b"])), "'p' has elements of type string"),
        (
            lambda: roundhouse.OrtValue.ort_value_from_sparse_tensor(
                roundhouse.SparseTensor.sparse_coo_from_numpy(
                    np.array([3, 4]), np.ones(1, np.float32), np.array([0]), roundhouse.OrtDevice.make("cpu", 0)
                )
            ),
            "'p' is no tensor",
        ),
    ],
    ids=["strings", "sparse"],
)
def test_values_that_have_no_place_in_a_file(value, message, tmp_path):
    path = tmp_path / "kept.onnx_adapter"
    write(roundhouse, path, {"p": np.ones(2, np.float32)})
    before = path.read_bytes()
    adapter = roundhouse.AdapterFormat()
    adapter.set_parameters({"p": value()})
    with pytest.raises(roundhouse.InvalidArgument, match=message):
        adapter.export_adapter(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800"], ids=["empty", "null", "surrogate"])
def test_names_that_have_no_place_in_a_file(name, tmp_path):
    with pytest.raises((roundhouse.InvalidArgument, ValueError)):
        write(roundhouse, tmp_path / "names.onnx_adapter", {name: np.ones(2, np.float32)})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", [b"n\xff", b"\x00n", b"\xed\xa0\x80"], ids=["latin", "null", "surrogate"])
def test_names_that_are_no_text(name, tmp_path):
    path = tmp_path / "names.onnx_adapter"
    write(roundhouse, path, {"q" * len(name): np.ones(2, np.float32)})
    path.write_bytes(path.read_bytes().replace(b"q" * len(name), name))
    with pytest.raises(roundhouse.Fail, match="the name of a parameter is no UTF-8 text"):
        roundhouse.AdapterFormat.read_adapter(path)


# --- damaged files
def refused(path):
    """Whether reading and loading both raise; they agree."""
    results = []
    for read in (roundhouse.AdapterFormat.read_adapter, roundhouse.LoraAdapter().Load):
        try:
            read(path)
            results.append(False)
        except roundhouse.Fail as error:
            assert str(path) in str(error)
            results.append(True)
    assert results[0] == results[1]
    return results[0]


@MODULES
def test_files_that_are_missing_or_no_adapters(module, tmp_path):
    (tmp_path / "text").write_text("this is no adapter at all")
    (tmp_path / "empty").touch()
    for name in ("text", "empty", "missing", "."):
        with pytest.raises(RuntimeError):
            module.AdapterFormat.read_adapter(str(tmp_path / name))
        with pytest.raises(RuntimeError):
            module.LoraAdapter().Load(str(tmp_path / name))


def test_a_missing_file_has_its_own_error():
    with pytest.raises(roundhouse.NoSuchFile, match="/nowhere/at/all"):
        roundhouse.AdapterFormat.read_adapter("/nowhere/at/all")


@pytest.mark.parametrize("writer", [roundhouse, onnxruntime], ids=["ours", "theirs"])
def test_truncated_files(writer, tmp_path):
    path = tmp_path / "file.onnx_adapter"
    # Theirs puts the root at the end and the elements before the dimensions: any byte that is cut off is one that is needed.
    write(writer, path, {"first": np.arange(5, dtype=np.float32), "second": np.arange(9, dtype=np.int8).reshape(3, 3)})
    whole = path.read_bytes()
    assert not refused(path)
    needed = len(whole) if writer is roundhouse else len(whole) - 8  # the end of theirs may be a string's zero and padding
    for size in range(needed):
        path.write_bytes(whole[:size])
        assert refused(path), size


@pytest.mark.parametrize("writer", [roundhouse, onnxruntime], ids=["ours", "theirs"])
def test_mutated_files_are_errors_or_adapters(writer, tmp_path):
    path = tmp_path / "file.onnx_adapter"
    write(writer, path, {name: ARRAYS[name] for name in ("float32.2", "float16.1", "int8.3", "int64.5")})
    whole = path.read_bytes()
    rng = random.Random(20261127)
    count = 0
    for _ in range(3000):
        changed = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(changed))
            changed[at] = rng.choice((0, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        path.write_bytes(changed)
        count += refused(path)
    assert 300 < count < 3000


# --- runs
@MODULES
def test_parameters_apply_in_runs_with_the_adapter(module, files):
    target = session(module)
    options = options_with(module, files[0])
    assert target.run(None, FEED, options)[0].tolist() == [[10, 20, 30]]
    values = {"a": module.OrtValue.ortvalue_from_numpy(FEED["a"])}
    assert target.run_with_ort_values(None, values, options)[0].numpy().tolist() == [[10, 20, 30]]
    assert target.run(None, FEED)[0].tolist() == [[1, 2, 3]]
    assert target.run(None, {**FEED, "w": np.full(3, 5, np.float32)}, options)[0].tolist() == [[10, 20, 30]]


def test_runs_with_bindings_and_asynchronous_ones_take_parameters_too(files):
    target = session(roundhouse)
    options = options_with(roundhouse, files[0])
    binding = target.io_binding()
    binding.bind_cpu_input("a", FEED["a"])
    binding.bind_output("sum")
    for _ in range(2):
        target.run_with_iobinding(binding, options)
        assert binding.copy_outputs_to_cpu()[0].tolist() == [[10, 20, 30]]
    target.run_with_iobinding(binding)
    assert binding.copy_outputs_to_cpu()[0].tolist() == [[1, 2, 3]]

    finished, results = threading.Event(), []

    def callback(values, _, error):
        results.append((error, [value.tolist() for value in values]))
        finished.set()

    target.run_async(None, FEED, callback, None, options)
    del options
    assert finished.wait(60)
    assert results == [("", [[[10, 20, 30]]])]


@MODULES
def test_an_adapter_may_be_loaded_after_it_was_added(module, files, tmp_path):
    target = session(module)
    adapter, options = module.LoraAdapter(), module.RunOptions()
    options.add_active_adapter(adapter)
    assert target.run(None, FEED, options)[0].tolist() == [[1, 2, 3]]
    for path, expected in zip(files, ([10, 20, 30], [100, 200, 300]), strict=True):
        adapter.Load(path)
        assert target.run(None, FEED, options)[0].tolist() == [expected]
    with pytest.raises(RuntimeError):
        adapter.Load(str(tmp_path / "missing"))
    assert target.run(None, FEED, options)[0].tolist() == [[100, 200, 300]]


def test_the_last_of_several_adapters_counts(files):
    target = session(roundhouse)
    assert target.run(None, FEED, options_with(roundhouse, *files))[0].tolist() == [[100, 200, 300]]
    assert target.run(None, FEED, options_with(roundhouse, *files[::-1]))[0].tolist() == [[10, 20, 30]]


def test_loading_while_others_run(files):
    target = session(roundhouse)
    adapter, options = roundhouse.LoraAdapter(), roundhouse.RunOptions()
    adapter.Load(files[0])
    options.add_active_adapter(adapter)
    stop, seen = threading.Event(), set()

    def run():
        while not stop.is_set():
            seen.add(tuple(target.run(None, FEED, options)[0][0].tolist()))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(300):
        adapter.Load(files[i % 2])
    stop.set()
    for thread in threads:
        thread.join()
    assert seen <= {(10, 20, 30), (100, 200, 300)} and seen


@MODULES
@pytest.mark.parametrize("parameters", [{"q": np.ones(3, np.float32)}, {"w": np.ones(4, np.float32)}, {"w": np.ones(3, np.int64)}])
def test_parameters_that_the_model_has_not(module, parameters, tmp_path):
    write(roundhouse, tmp_path / "other.onnx_adapter", parameters)
    with pytest.raises(RuntimeError if module is roundhouse else Exception) as error:
        session(module).run(None, FEED, options_with(module, str(tmp_path / "other.onnx_adapter")))
    assert type(error.value).__name__ == "InvalidArgument"
    assert module is onnxruntime or f"'{next(iter(parameters))}'" in str(error.value)


@MODULES
def test_what_is_no_adapter_is_not_added(module):
    with pytest.raises(TypeError):
        module.RunOptions().add_active_adapter(module.AdapterFormat())


def test_programs_that_import_onnxruntime_have_the_classes(files):
    program = """
import roundhouse
roundhouse.install_as_onnxruntime()
import sys, onnxruntime as ort
from onnxruntime import AdapterFormat, LoraAdapter
from onnxruntime.capi.onnxruntime_inference_collection import AdapterFormat as Collected, ModelCompiler, SparseTensor
from onnxruntime.capi.onnxruntime_pybind11_state import AdapterFormat as Native, LoraAdapter as NativeLora
assert Collected is AdapterFormat and NativeLora is LoraAdapter
assert ModelCompiler is ort.ModelCompiler and SparseTensor is ort.SparseTensor
adapter = LoraAdapter()
adapter.Load(sys.argv[1])
ort.RunOptions().add_active_adapter(adapter)
print(Native.read_adapter(sys.argv[1]).parameters["w"].numpy().tolist())
"""
    done = subprocess.run([sys.executable, "-c", program, files[0]], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[10.0, 20.0, 30.0]\n", "")
